# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Benchmarks that are one program each, with their peers inside."""

import time

from . import host as hostmod


def program(host, name, nrounds):
    """Run it; its output is its table."""
    path = host.program(f'bench/{name}')
    argv = [path] + (['--quick'] if host.quick else [])
    text = hostmod.run(argv, timeout=900)
    kept = host.build / 'rounds' / time.strftime(f'{name}-%Y%m%d-%H%M%S.txt')
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text, encoding='utf-8')
    return text.rstrip(), kept


def measure_epoch(host, nrounds):
    """libepoch beside liburcu and ck."""
    return program(host, 'bench_epoch', nrounds)


def measure_fib(host, nrounds):
    """Lookups and updates beside DPDK's tables."""
    return program(host, 'bench_fib', nrounds)
