# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""D23242: the epoch entered for each packet, or once for a batch."""

from harness import host as hostmod
from harness import lab as labmod
from harness import veth

from . import plot
from .common import block, in_turns, machine

NAME = '1-d23242'
EPOCHS = ('fence', 'membarrier')
# Per packet is what the others are compared with.
VARIANTS = {
    'packet': ('per packet', ['--entry', 'packet', '--burst', 1],
               ',needsepoch,burst=1'),
    'interrupt': ('per interrupt', ['--burst', 1], ',burst=1'),
    'burst': ('whole bursts', ['--burst', 64], ''),
}
DONE = """\
The same router forwards 64-byte UDP packets of IPv4 in three ways:

- **per packet**: the interrupt handler is not of type NET, its interface is
  flagged IFF_NEEDSEPOCH, and packets are handed up one by one, so that
  `ether_input` enters and leaves the epoch for each;
- **per interrupt**: the ithread enters, for up to `hw.intr_epoch_batch` runs
  of handlers of 64 packets each; packets are still handed up one by one;
- **whole bursts**: as before, and up to 64 packets are handed up at a time,
  which is how the drivers do it.

*In memory* is one machine with a source and a sink, and the figure is packets
per second of CPU time of its ithread; the three ways run at the same time, as
processes that share one CPU. *On veth* is `netepochd` between two
AF_XDP interfaces (`needsepoch` and `burst=1` are options of its driver), with
a generator on another CPU that sends more than the router takes; the figure is
packets per second at the sink. Both with either kind of net epoch: a full
fence at entry, which is the default, and none there but a membarrier(2) for
each grace period (`-Dnet_epoch=asymmetric`). {runs} runs of each, on veth in
turns, forth and back; {secs} s a run in memory, {vsecs} s on veth.

In FreeBSD, a packet at a time on real cards, the reviewers saw +6.46 %, no
difference, and +4.3 % from the first to the second."""


def memory(ctx, raw, secs, rounds):
    """All runs in memory."""
    for n in range(rounds):
        for epoch in EPOCHS:
            variants = in_turns(list(VARIANTS), n)
            runs = ctx.together(epoch, [VARIANTS[v][1] for v in variants],
                                secs)
            for variant, got in zip(variants, runs):
                raw.add(f'memory-{epoch}-{variant}', got['cpu_mpps'])
        ctx.progress('1 in memory', n + 1, rounds)


def on_veth(ctx, raw, rounds):
    """All runs on veth, or why there are none."""
    try:
        hostmod.need_root()
        hostmod.need('ip', 'ethtool', 'taskset', 'sysctl')
        ctx.hosts['fence'].peer('xdpgen')
        if ctx.cpu == ctx.other:
            raise hostmod.Missing('needs two CPUs')
    except hostmod.Missing as missing:
        return str(missing)
    order = [(e, v) for e in EPOCHS for v in VARIANTS]
    with labmod.Lab() as lab:
        benches = {e: veth.Bench(ctx.hosts[e], lab) for e in EPOCHS}
        for bench in benches.values():
            bench.router_cpu, bench.gen_cpu = ctx.cpu, ctx.other
            bench.secs = ctx.secs(0.8, 0.3)
        for n in range(rounds):
            for epoch, variant in in_turns(order, n):
                setup = veth.Setup(variant, lambda b, o=VARIANTS[variant][2]:
                                   b.netepochd('xdp', o))
                got = benches[epoch].measure(setup, n == 0)
                raw.add(f'veth-{epoch}-{variant}', got['kpps'] / 1000)
            ctx.progress('1 on veth', n + 1, rounds)
    return None


def meaning(what, verdicts):
    """What the verdicts on one place and kind of epoch say."""
    single, burst = verdicts
    if not single.proven:
        text = (f'{what}: that entering once per interrupt instead of per '
                'packet makes a difference is not proven.')
    else:
        word = 'faster' if single.percent > 0 else 'slower'
        text = (f'{what}: entering once per interrupt is {word} than per '
                f'packet, {single.text()}.')
    if burst.proven:
        text += f' With whole bursts it is {burst.text()}.'
    else:
        text += (' Between whole bursts and an entry per packet no '
                 'difference is proven.')
    return '- ' + text


def in_short(label, verdict):
    """A cell of the summary."""
    return f'{label} {verdict.text()}'


def measure(ctx):
    """Run it; write the page."""
    conditions = machine(ctx.load)
    raw = ctx.figures('1')
    rounds, vrounds = ctx.rounds(30), ctx.rounds(15, 3)
    secs = ctx.secs(0.2)
    memory(ctx, raw, secs, rounds)
    missing = None if ctx.smoke else on_veth(ctx, raw, vrounds)
    places = ['memory'] + ([] if missing or ctx.smoke else ['veth'])
    out, means, shorts, groups = [], [], [], []
    rows = ['| | per packet | per interrupt | whole bursts | from per packet '
            'to per interrupt | the same, runs as they are |',
            '|---|---:|---:|---:|---|---|']
    for place in places:
        for epoch in EPOCHS:
            names = [f'{place}-{epoch}-{v}' for v in VARIANTS]
            said, plain, verdicts = raw.compare_both(*names)
            what = ('in memory' if place == 'memory' else 'on veth') + \
                f', {epoch}'
            out.append(f'**{what}**\n\n{block(said)}')
            means.append(meaning(what[0].upper() + what[1:], verdicts))
            shorts.append(in_short(f'{what}:', verdicts[0]))
            rows.append(f'| {what} | ' + ' | '.join(
                f'{raw.mean(n):.3f}' for n in names)
                + f' | {verdicts[0].text()} | {plain[0].text()} |')
            groups.append((what, list(zip(
                ('per\\npacket', 'per\\ninterrupt'),
                raw.related(*names[:2])))))
    if missing:
        means.append(f'- On veth nothing was measured: {missing}.')
    plot.dots(ctx.out / f'{NAME}.svg', '% of that per packet', groups)
    ctx.page(
        NAME, title='D23242: the epoch per packet, or per interrupt',
        short='from an entry per packet to one per interrupt, throughput: '
              + '; '.join(shorts) + '.',
        done=DONE.format(runs=f'{rounds} (on veth {vrounds})', secs=secs,
                         vsecs=ctx.secs(0.8, 0.3)),
        machine=conditions,
        out='Averages, in million packets a second:\n\n' + '\n'.join(rows),
        detail='ministat, with the entry per packet first: the runs as they are, '
               'then in percent of the first in their round:\n\n'
               + '\n\n'.join(out),
        means='\n'.join(means),
        picture_text='each run as a dot, in percent of that with an entry per '
                     'packet in the same round, the averages as lines; whole '
                     'bursts are not drawn')
