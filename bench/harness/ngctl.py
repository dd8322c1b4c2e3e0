# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""ngctl from exec to exit, as scripts call it thousands of times.

A round runs each command some times against a graph of ten nodes and one of
ten thousand; its figure is the median.  /bin/true beside it is what starting
any program costs.
"""

import os
import statistics
import subprocess
import tempfile
import time

from . import host as hostmod
from . import report

SMALL, LARGE = 10, 10000
CALLS = 20                      # of a command in a round


def wall_ms(argv, env, calls=CALLS):
    """Median of some runs, in milliseconds from exec to exit."""
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        done = subprocess.run(argv, env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
        times.append((time.perf_counter() - start) * 1e3)
        if done.returncode != 0:
            raise RuntimeError(f'{argv}: {done.stderr}')
    return statistics.median(times)


def chain(nodes):
    """A file of that many hubs in a row."""
    lines = [f'node n{i} hub' for i in range(nodes)]
    lines += [f'edge n{i}:a n{i + 1}:b' for i in range(nodes - 1)]
    return '\n'.join(lines) + '\n'


class Machine:
    """A machine with that many nodes."""

    def __init__(self, host, nodes):
        self.dir = tempfile.TemporaryDirectory(prefix='ngctl-bench-')
        self.env = {**os.environ, 'NETEPOCH_RUNDIR': self.dir.name,
                    'NETEPOCH_MACHINE': 'bench'}
        self.ngctl = [host.program('src/tools/netepoch'), 'ngctl']
        self.daemon = subprocess.Popen(
            [host.program('src/netepochd/netepochd'), '-M', 'bench'],
            env=self.env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.nodes = nodes

    def __enter__(self):
        end = time.monotonic() + 20
        while subprocess.run([*self.ngctl, 'list'], env=self.env,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL,
                             check=False).returncode != 0:
            if time.monotonic() > end or self.daemon.poll() is not None:
                self.__exit__()
                raise RuntimeError('netepochd did not start')
            time.sleep(0.05)
        path = os.path.join(self.dir.name, 'graph')
        with open(path, 'w', encoding='ascii') as f:
            f.write(chain(self.nodes))
        start = time.perf_counter()
        hostmod.run([*self.ngctl, 'apply', path], env=self.env)
        self.apply_ms = (time.perf_counter() - start) * 1e3
        return self

    def __exit__(self, *exc):
        self.daemon.terminate()
        self.daemon.wait(30)
        self.dir.cleanup()

    def measure(self):
        """Figures of one round."""
        figures = {'apply_ms': self.apply_ms}
        figures['mkpeer_ms'] = self.mkpeer_ms()
        for name, words in (('list_ms', 'list'), ('show_ms', 'show n5:'),
                            ('msg_ms', 'msg n5: nodeinfo')):
            figures[name] = wall_ms([*self.ngctl, *words.split()], self.env)
        return figures

    def mkpeer_ms(self):
        """mkpeer alone, the node it made taken away in between."""
        times = []
        for _ in range(CALLS):
            times.append(wall_ms([*self.ngctl, 'mkpeer', 'n5:', 'hub',
                                  'peer', 'a'], self.env, 1))
            wall_ms([*self.ngctl, 'rmhook', 'n5:', 'peer'], self.env, 1)
        return statistics.median(times)


def measure(host, nrounds):
    """Rounds on both graphs; the table and its file."""
    rounds = report.Rounds(host.build / 'rounds', 'ngctl')
    for number in range(nrounds):
        rounds.add(number, 'true', {'show_ms': wall_ms(['/bin/true'], None)})
        for nodes in (SMALL, LARGE):
            with Machine(host, nodes) as machine:
                rounds.add(number, nodes, machine.measure())
    table = report.Table('ngctl, exec to exit', 'ms', 'range', 'bar')

    def row(text, case, figure, limit=None):
        value = rounds.median(case, figure)
        low, high = rounds.span(case, figure)
        table.add(text, report.number(value, 2),
                  f'{report.number(low, 2)}..{report.number(high, 2)}',
                  '' if limit is None else report.bar(value, limit))

    row('/bin/true', 'true', 'show_ms')
    row(f'show a node, of {SMALL}', SMALL, 'show_ms', 5)
    row(f'show a node, of {LARGE}', LARGE, 'show_ms', 5)
    row(f'msg with an answer, {LARGE} nodes', LARGE, 'msg_ms', 5)
    row(f'mkpeer, {SMALL} nodes', SMALL, 'mkpeer_ms', 5)
    row(f'mkpeer, {LARGE} nodes', LARGE, 'mkpeer_ms', 5)
    row(f'list of {LARGE} nodes', LARGE, 'list_ms', 100)
    row(f'apply, {LARGE} nodes, {LARGE - 1} edges', LARGE, 'apply_ms')
    return str(table), rounds.path
