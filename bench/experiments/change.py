# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Forwarding at full rate while everything changes, and while nothing does."""

import collections
import statistics

from . import plot
from .common import block, in_turns, machine

NAME = '4-change'
RATES = {'routes': 100000, 'neighbours': 1000, 'interfaces': 20, 'nodes': 20}
DONE = """\
One machine in memory forwards 64-byte packets, 16,384 flows of them, as fast
as one CPU can. **Quiet**: nothing changes. **Change**: threads on the other
CPU add and delete, each so many times a second:

- 100,000 routes of 24 bits, more specific than that of the traffic, which
  takes them while they are there;
- 1,000 neighbours; every fourth time a next hop of the traffic gets another
  MAC;
- 20 pairs of interfaces (epair), with an address;
- 20 graph nodes: a hub is put into the way of the traffic (from the receiving
  interface's `lower` to its `upper`), and taken out again.

In both, a thread waits for a grace period, pauses for 0.1 ms, and waits again.
Throughput is packets per second of wall-clock time. Each frame that goes in
must come out: what does not is lost, by a drop with a reason; without one it is
unaccounted, which ends the experiment as failed. Memory is read before the traffic and after it,
when all that was added is deleted and all callbacks have run. {runs} runs of
each, in turns, {secs} s a run, `hw.intr_epoch_batch` as it is by default."""


def total(runs, *path):
    """The sum of a figure over runs."""
    return sum(value(r, path) for r in runs)


def value(run, path):
    """A figure of a run."""
    for key in path:
        run = run[key]
    return run


def drops(runs):
    """All drops by reason."""
    count = collections.Counter()
    for run in runs:
        count.update(run['drops'])
    return count


def table(runs):
    """Quiet beside change."""
    rows = ['| | quiet | change |', '|---|---:|---:|']

    def row(name, figure):
        rows.append(f'| {name} | ' + ' | '.join(
            figure(runs[v]) for v in ('quiet', 'change')) + ' |')

    row('throughput, Mpps, average',
        lambda r: f'{statistics.mean(x["mpps"] for x in r):.3f}')
    row('packets in', lambda r: f'{total(r, "packets"):,}')
    row('packets out', lambda r: f'{total(r, "sunk"):,}')
    row('lost', lambda r: f'{total(r, "lost"):,}')
    row('drops counted, the machine\'s own ARP among them',
        lambda r: ', '.join(f'{n:,} {why}' for why, n in drops(r).items())
        or '0')
    row('unaccounted', lambda r: f'{total(r, "unaccounted"):,}')
    row('grace period, µs: median', lambda r: '{:.1f}'.format(
        statistics.median(x['grace_us']['median'] for x in r)))
    row('99th percentile', lambda r: '{:.1f}'.format(
        statistics.median(x['grace_us']['p99'] for x in r)))
    row('longest of all', lambda r: '{:.1f}'.format(
        max(x['grace_us']['max'] for x in r)))
    row('most callbacks in the backlog', lambda r: '{:,}'.format(
        max(x['backlog']['max'] for x in r)))
    for kind in RATES:
        row(f'{kind} added and deleted a second, average',
            lambda r, k=kind: f'{statistics.mean(x[k] for x in r):,.0f}')
    for what, text in (('resident', 'resident memory'), ('heap', 'heap in '
                                                         'use')):
        row(f'{text}, KiB, before and after, average',
            lambda r, w=what: ', '.join(
                f'{total(r, "memory", f"{w}_{t}") / len(r) / 1024:,.0f}'
                for t in ('before', 'after')))
    return '\n'.join(rows)


def meaning(runs, verdict, plain):
    """What the figures say."""
    lost = total(runs['change'], 'lost')
    lines = []
    if verdict.proven:
        lines.append(f'- Against the quiet runs the throughput is '
                     f'{verdict.text()} while everything changes.')
    else:
        lines.append('- That change makes a difference to the throughput is '
                     'not proven.')
    lines.append(f'- Of the runs as they are ministat says: {plain.text()}.')
    if lost:
        lines.append(f'- **{lost:,} packets were lost that should not be**; '
                     'the table has the reasons.')
    else:
        lines.append(f'- No packet was lost, of '
                     f'{total(runs["change"], "packets"):,}.')
    short = [k for k, rate in RATES.items()
             if statistics.mean(r[k] for r in runs['change']) < 0.95 * rate]
    if short:
        lines.append('- Not all that was asked for was reached: see the '
                     f'rates of {", ".join(short)}.')
    else:
        lines.append('- All rates of change were reached, within 5 %.')
    heap = [(r['memory']['heap_after'] - r['memory']['heap_before']) / 1024
            for r in runs['change']]
    gone = sum(r['routes'] * r['secs'] for r in runs['change']) / len(heap)
    lines.append('- When all was deleted again, '
                 f'{gone:,.0f} routes and all the others in a run, the heap '
                 f'held {min(heap):,.0f} to {max(heap):,.0f} KiB more than '
                 'before: '
                 f'{max(heap) * 1024 / gone:.2f} bytes a route at most.')
    return '\n'.join(lines)


def measure(ctx):
    """Run it; write the page."""
    conditions = machine(ctx.load)
    raw = ctx.figures('4')
    rounds, secs = ctx.rounds(20), ctx.secs(2.0, 0.5)
    runs = {'quiet': [], 'change': []}
    rates = [a for kind, rate in RATES.items() for a in (f'--{kind}', rate)]
    for n in range(rounds):
        for variant in in_turns(['quiet', 'change'], n):
            got = ctx.once('fence', '--wait', '--flows', 16384,
                           *(rates if variant == 'change' else []), secs=secs)
            runs[variant].append(got)
            raw.add(variant, got['mpps'])
            raw.add(f'{variant}-grace-max', got['grace_us']['max'])
            raw.add(f'{variant}-lost', got['lost'])
        ctx.progress('4', n + 1, rounds)
    said, (plain,), (verdict,) = raw.compare_both('quiet', 'change')
    plot.dots(ctx.out / f'{NAME}.svg', 'million packets a second',
              [('throughput', [(v, raw.values[v]) for v in runs])])
    lost = total(runs['change'], 'lost')
    ctx.page(
        NAME, title='Change at full rate',
        short=f'{lost:,} packets lost of {total(runs["change"], "packets"):,}'
              f' while everything changes; throughput against the quiet '
              f'runs: {verdict.text()}; longest grace period '
              f'{max(r["grace_us"]["max"] for r in runs["change"]):,.0f} µs '
              '(quiet: '
              f'{max(r["grace_us"]["max"] for r in runs["quiet"]):,.0f}).',
        done=DONE.format(runs=rounds, secs=secs), machine=conditions,
        out=table(runs), detail='ministat of the throughput, quiet first: the runs as they are, '
        'then in percent of the first in their round:\n\n'
        + block(said), means=meaning(runs, verdict, plain),
        picture_text='each run as a dot, the averages as lines')
