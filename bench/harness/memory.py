# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Forwarding in memory, one core: bench_forward beside dpdk_l3.

Both take a packet buffer, write one 64-byte frame into it, do the whole work
of a router on it and free it, in bursts of 64.  The base of each is the same
without the router.
"""

from . import host as hostmod
from . import report

SHAPES = (('1 route, 1 flow', ['--routes', 1, '--flows', 1]),
          ('1k routes, 64k flows', ['--routes', 1000, '--flows', 65536]))
BAR = 2.5       # x dpdk_l3's scalar loop


def eal(cpu):
    """DPDK's arguments: one core, nothing on disk, no devices."""
    return ['-l', cpu, '--in-memory', '--no-pci', '--no-telemetry',
            '--log-level=3']


def cases(host, cpu):
    """Name, word of the output line and command of each program."""
    found = []
    try:
        ours = hostmod.pin(cpu) + [host.program('bench/bench_forward')]
        found.append(('netepoch', 'bench_forward', ours))
        found.append(('netepoch base', 'bench_forward', ours + ['--base']))
    except hostmod.Missing as missing:
        print(f'memory: no netepoch: {missing}')
    for name, binary, extra in (
            ('dpdk_l3 scalar', 'dpdk_l3_scalar', []),
            ('dpdk_l3 avx512', 'dpdk_l3_avx512', []),
            ('dpdk_l3 base', 'dpdk_l3_scalar', ['--base'])):
        try:
            host.want_hugepages(48)
            argv = [*hostmod.pin(cpu), host.peer(binary), *eal(cpu), '--',
                    *extra]
            found.append((name, 'dpdk_l3', argv))
        except hostmod.Missing as missing:
            print(f'memory: no {name}: {missing}')
    return found


def check(host, programs):
    """A run of each router with every frame verified, and bad ones in it."""
    for name, word, argv in programs:
        if name.endswith('base'):
            continue
        text = hostmod.run(argv + ['--secs', 0.1, '--verify', '--bad-every',
                                   7, *SHAPES[1][1]])
        got = hostmod.fields(text, word)
        if got['wrong'] != 0 or got['verified'] == 0 or got['drops'] == 0:
            raise RuntimeError(f'{name} forwards wrongly: {text}')
        print(f"memory: {name}: {got['verified']:.0f} frames verified, "
              f"{got['drops']:.0f} bad ones dropped")


def table(rounds, programs):
    """The figures of all rounds."""
    names = [p[0] for p in programs]
    out = report.Table('in memory, one core, 64 bytes', 'ns/pkt', 'low',
                       'high', 'x scalar', '  bar')
    for shape, _ in SHAPES:
        out.add(f'- {shape}')
        for name in names:
            case = f'{name}, {shape}'
            low, high = rounds.span(case, 'ns') or (None, None)
            ratio = rounds.ratio(case, f'dpdk_l3 scalar, {shape}', 'ns')
            out.add(f'  {name}', report.number(rounds.median(case, 'ns'), 2),
                    report.number(low, 2), report.number(high, 2),
                    report.number(ratio, 2),
                    f'  {report.bar(ratio, BAR)}' if name == 'netepoch'
                    else '')
    return out


def measure(host, nrounds):
    """Run it; the table."""
    hostmod.need('taskset')
    cpu, _ = host.pick_cpus()
    programs = cases(host, cpu)
    if not programs:
        raise hostmod.Missing('nothing of it was built')
    check(host, programs)
    rounds = report.Rounds(host.build / 'rounds', 'memory')
    secs = 0.15 if host.quick else 0.3
    for n in range(nrounds):
        rounds.add(n, 'calib', host.calibrate(cpu))
        for shape, arguments in SHAPES:
            for name, word, argv in programs:
                text = hostmod.run(argv + ['--secs', secs, *arguments])
                rounds.add(n, f'{name}, {shape}', hostmod.fields(text, word))
    return table(rounds, programs), rounds.path
