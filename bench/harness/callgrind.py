# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Instructions per forwarded packet, counted by valgrind's callgrind.

The count is exact and does not depend on how fast the machine is.  Two runs
of different length differ by the packets alone, so their difference leaves
out what starting and stopping costs.  Valgrind knows no AVX-512: this is a
build of its own, for x86-64-v3.
"""

import re
import subprocess

from . import host as hostmod
from . import memory
from . import report

FEW, MANY = 64 * 200, 64 * 1200


def instructions(directory, argv, packets):
    """All instructions of one run."""
    out = directory / f'callgrind.{packets}'
    text = hostmod.run(['valgrind', '--tool=callgrind',
                        f'--callgrind-out-file={out}', *argv, '--packets',
                        packets], timeout=600)
    found = re.search(r'Collected : (\d+)', text)
    if found is None:
        raise RuntimeError(f'callgrind counted nothing: {text}')
    return int(found.group(1))


def build(host):
    """The same tree for a CPU that valgrind knows."""
    directory = host.build.parent / f'{host.build.name}-v3'
    root = hostmod.pathlib.Path(__file__).resolve().parents[2]
    if not (directory / 'build.ninja').exists():
        subprocess.run(['meson', 'setup', directory, root, '-Dbench=enabled',
                        '-Dcpu=x86-64-v3', '-Dtests=disabled',
                        '--buildtype=release', '--debug'], check=True,
                       stdout=subprocess.DEVNULL)
    hostmod.run(['ninja', '-C', directory, 'bench/bench_forward'],
                timeout=600)
    return directory


def measure(host, _nrounds):
    """Run it; the table."""
    hostmod.need('valgrind')
    host.program('bench/bench_forward')
    directory = build(host)
    table = report.Table('callgrind, instructions a packet', 'all', 'base',
                         'router')
    for shape, arguments in memory.SHAPES:
        counts = []
        for extra in ([], ['--base']):
            argv = [directory / 'bench/bench_forward', *extra, *arguments]
            few = instructions(directory, argv, FEW)
            many = instructions(directory, argv, MANY)
            counts.append((many - few) / (MANY - FEW))
        table.add(f'  netepoch, {shape}', report.number(counts[0]),
                  report.number(counts[1]),
                  report.number(counts[0] - counts[1]))
    return table, directory / f'callgrind.{MANY}'
