# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""D39369: an eiface that enters the epoch once more, or does not."""

from . import plot
from .common import block, in_turns, machine

NAME = '2-d39369'
EPOCHS = ('fence', 'membarrier')
BURSTS = (1, 64)
DONE = """\
Packets are received by an Ethernet interface whose `ether` node hands all of
them to an `eiface` (hook `lower` to hook `ether`); that one's interface,
ngeth0, is their input, and IPv4 forwards them from there. The ithread is in
the epoch already. **Second entry**: ngeth0 is flagged IFF_NEEDSEPOCH
(`sysctl net.graph.eiface.needsepoch=1`), so that `ether_input` enters once
more; **single**: it is not, as always in this program. In memory, 64-byte
packets of UDP; the figure is packets per second of CPU time of the ithread.
One by one, as in FreeBSD's kernel, and in bursts of 64, for each of which
there is one entry; with either kind of net epoch. {runs} runs of each, {secs} s
a run; with and without run at the same time, as processes that share one CPU.

The reviewer saw 3.289 Mpps become 3.489 without the second entry: +6.1 %."""


def meaning(what, verdict):
    """What a verdict says."""
    if not verdict.proven:
        return (f'- {what}: that the second entry costs anything is not '
                'proven.')
    if verdict.percent > 0:
        return (f'- {what}: the second entry costs; without it the '
                f'throughput is {verdict.text()}.')
    return (f'- {what}: without the second entry the throughput is '
            f'{verdict.text()}, which is not what the review saw.')


def measure(ctx):
    """Run it; write the page."""
    conditions = machine(ctx.load)
    raw = ctx.figures('2')
    rounds, secs = ctx.rounds(40), ctx.secs(0.2)
    entries = {'second': ['--second-entry'], 'single': []}
    for n in range(rounds):
        for epoch, burst in ((e, b) for e in EPOCHS for b in BURSTS):
            order = in_turns(list(entries), n)
            runs = ctx.together(epoch, [
                ['--eiface', '--burst', burst, *entries[e]] for e in order],
                                secs)
            for entry, got in zip(order, runs):
                raw.add(f'{epoch}-burst{burst}-{entry}', got['cpu_mpps'])
        ctx.progress('2', n + 1, rounds)
    out, means, shorts, groups = [], [], [], []
    rows = ['| | second entry | single | from second entry to single | the '
            'same, runs as they are |', '|---|---:|---:|---|---|']
    for epoch in EPOCHS:
        for burst in BURSTS:
            names = [f'{epoch}-burst{burst}-{s}'
                     for s in ('second', 'single')]
            said, (plain,), (verdict,) = raw.compare_both(*names)
            what = ('one by one' if burst == 1 else f'bursts of {burst}') + \
                f', {epoch}'
            out.append(f'**{what}**\n\n{block(said)}')
            means.append(meaning(what[0].upper() + what[1:], verdict))
            shorts.append(f'{what}: {verdict.text()}')
            rows.append(f'| {what} | ' + ' | '.join(
                f'{raw.mean(n):.3f}' for n in names)
                + f' | {verdict.text()} | {plain.text()} |')
            groups.append((what, list(zip(('second\\nentry', 'single'),
                                          raw.related(*names)))))
    plot.dots(ctx.out / f'{NAME}.svg', '% of that with a second entry',
              groups)
    ctx.page(
        NAME, title='D39369: one entry too many in eiface',
        short='without the second entry, throughput: ' + '; '.join(shorts)
              + '.',
        done=DONE.format(runs=rounds, secs=secs), machine=conditions,
        out='Averages, in million packets a second:\n\n' + '\n'.join(rows),
        detail='ministat, with the second entry first: the runs as they are, '
               'then in percent of the first in their round:\n\n'
               + '\n\n'.join(out),
        means='\n'.join(means),
        picture_text='each run as a dot, in percent of that with a second '
                     'entry in the same round, the averages as lines')
