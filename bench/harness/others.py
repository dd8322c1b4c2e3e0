# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Benchmarks that are one program each, with their peers inside."""

import time

from . import host as hostmod


def program(host, name, quickly):
    """Run it, with the arguments quickly if so asked; its output is its table.
    """
    argv = [host.program(f'bench/{name}')] + (quickly if host.quick else [])
    text = hostmod.run(argv, timeout=1800)
    kept = host.build / 'rounds' / time.strftime(f'{name}-%Y%m%d-%H%M%S.txt')
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text, encoding='utf-8')
    return text.rstrip(), kept


def measure_epoch(host, _nrounds):
    """libepoch beside liburcu, ck and DPDK's rte_rcu."""
    return program(host, 'bench_epoch', ['-q'])


def measure_fib(host, _nrounds):
    """Lookups and updates beside DPDK's tables."""
    return program(host, 'bench_fib', ['--quick'])


def measure_intr(host, _nrounds):
    """The loop of an ithread."""
    return program(host, 'bench_intr', ['3'])


def measure_netgraph(host, _nrounds):
    """Hops through the graph, and making nodes."""
    return program(host, 'bench_netgraph', ['3'])
