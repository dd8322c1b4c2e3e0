# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""hw.intr_epoch_batch from 1 to 1000: throughput, sections, grace periods."""

import re
import statistics

from . import plot
from .common import TOP, block, in_turns, machine

NAME = '3-batch'
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 1000)
LOSS = 1.0              # percent that may be proven and still not matter
RESOLUTION = 5.0        # percent that the runs must be able to prove
RUNS = (64, 1)          # packets a handler run
CHURN = ['--routes', 20000, '--neighbours', 2000]
DONE = """\
One machine in memory forwards 64-byte packets as fast as one CPU can, while a
thread on the other adds and deletes 20,000 routes and 2,000 neighbours a
second (some of them the traffic's own), and another waits for a grace period,
pauses for 0.1 ms, and waits again. `hw.intr_epoch_batch`, the number of
handler runs in a section, goes from 1 to 1000 (FreeBSD's default). A handler
run brings 64 packets, a full burst, or 1, which is the worst case for a small
batch: an entry for each packet.

- *Throughput*: packets per second of CPU time of the ithread, with routes and
  neighbours changing and nobody waiting. A batch and 1000 run at the same time,
  as processes that share one CPU, {pairs} times; {psecs} s a run.
- *Section*: how long as many runs in a row as the batch has take, timed now
  and then; the longest is also that which libepoch saw while it waited.
- *Grace period*: from the call of `NET_EPOCH_WAIT` to its return.
- *Backlog*: callbacks queued and not yet run, looked at after each wait.

For these three {runs} more runs of each, one at a time, in turns, up and down,
{secs} s a run. Medians and 99th percentiles are the median over the runs of
those of a run, the longest is the longest of all."""
RULE = f"""\
The rule, which was there before the figures: the default is the smallest
batch with which, in runs of 64 packets and in runs of one, ministat proves no
loss of more than {LOSS:g} % against a batch of 1000, if the runs are steady
enough to prove one of {RESOLUTION:g} %. Grace periods get longer with the
batch, so that nothing speaks for a larger one."""


def default():
    """What the project has, from its source."""
    text = (TOP / 'src/intr/intr_private.h').read_text(encoding='utf-8')
    return int(re.search(r'^#define\tINTR_EPOCH_BATCH\t(\d+)$', text,
                         re.M).group(1))


def acceptable(verdict):
    """No loss that matters?"""
    return not verdict.proven or verdict.percent > -LOSS


class Sweep:
    """The runs and what they give."""

    def __init__(self, ctx):
        self.ctx = ctx
        self.raw = ctx.figures('3')
        self.all = {}
        self.verdicts = {}
        self.seen = {}
        self.said = []

    def throughput(self, rounds, secs):
        """Each batch beside the largest."""
        order = [(r, b) for r in RUNS for b in BATCHES[:-1]]
        for n in range(rounds):
            for run, batch in in_turns(order, n):
                pair = in_turns([batch, BATCHES[-1]], n)
                runs = self.ctx.together('fence', [
                    ['--run', run, '--batch', b, *CHURN] for b in pair], secs)
                for b, got in zip(pair, runs):
                    self.raw.add(f'run{run}-batch{batch}' + (
                        '' if b == batch else '-beside'), got['cpu_mpps'])
            self.ctx.progress('3 throughput', n + 1, rounds)

    def latency(self, rounds, secs):
        """Sections, grace periods, backlog."""
        order = [(r, b) for r in RUNS for b in BATCHES]
        for n in range(rounds):
            for run, batch in in_turns(order, n):
                got = self.ctx.once('fence', '--run', run, '--batch', batch,
                                    '--wait', *CHURN, secs=secs)
                self.all.setdefault((run, batch), []).append(got)
            self.ctx.progress('3 latency', n + 1, rounds)
        self.save()

    def save(self):
        """What is not compared, in one file."""
        columns = [(key, part) for key in ('section_us', 'grace_us')
                   for part in ('median', 'p99', 'max')]
        columns += [('backlog', 'mean'), ('backlog', 'max')]
        lines = ['# run batch ' + ' '.join('-'.join(c) for c in columns)]
        for (run, batch), runs in sorted(self.all.items()):
            lines += [f'{run} {batch} ' + ' '.join(
                str(got[key][part]) for key, part in columns)
                      for got in runs]
        path = self.raw.directory / self.raw.name('figures')
        path.write_text('\n'.join(lines) + '\n', encoding='ascii')

    def compare(self):
        """Each batch against the largest."""
        for run in RUNS:
            for batch in BATCHES[:-1]:
                one = f'run{run}-batch{batch}'
                last = f'{one}-beside'
                self.raw.relate(last, [one])
                said, (verdict,) = self.raw.compare(
                    f'{last}-as-100', f'{one}-percent', plot=False)
                self.seen[run, batch] = self.raw.resolution(one)
                self.verdicts[run, batch] = verdict
                self.said.append(said)

    def figure(self, run, batch, key, part):
        """A median over the runs; of the longest, the longest."""
        values = [g[key][part] for g in self.all[run, batch]]
        return max(values) if part == 'max' else statistics.median(values)

    def mpps(self, run, batch):
        """The average; of the largest, of all beside the others."""
        if batch != BATCHES[-1]:
            return self.raw.mean(f'run{run}-batch{batch}')
        return statistics.mean(self.raw.mean(f'run{run}-batch{b}-beside')
                               for b in BATCHES[:-1])

    def chosen(self):
        """By the rule; None: the runs are not steady enough."""
        for batch in BATCHES[:-1]:
            if any(self.seen[r, batch] > RESOLUTION for r in RUNS):
                return None
            if all(acceptable(self.verdicts[r, batch]) for r in RUNS):
                return batch
        return BATCHES[-1]

    def table(self, run):
        """The figures of one kind of run."""
        rows = ['| batch | Mpps | against 1000 | section, µs: median, p99, '
                'longest | grace period, µs: median, p99, longest | backlog: '
                'mean, max |', '|---:|---:|---|---:|---:|---:|']
        for batch in BATCHES:
            verdict = self.verdicts.get((run, batch))
            times = [', '.join(f'{self.figure(run, batch, key, part):.1f}'
                               for part in ('median', 'p99', 'max'))
                     for key in ('section_us', 'grace_us')]
            rows.append(
                f'| {batch} | {self.mpps(run, batch):.3f} '
                f'| {verdict.text() if verdict else "-"} | {times[0]} '
                f'| {times[1]} '
                f'| {self.figure(run, batch, "backlog", "mean"):.1f}, '
                f'{self.figure(run, batch, "backlog", "max")} |')
        return '\n'.join(rows)

    def draw(self, path, chosen):
        """Throughput beside sections and grace periods."""
        left = []
        for run in RUNS:
            points = []
            for b in BATCHES[:-1]:
                name = f'run{run}-batch{b}-percent'
                points.append((b, self.raw.mean(name),
                               self.seen[run, b]))
            points.append((BATCHES[-1], 100, 0))
            left.append((f'throughput, {run} a run', points))
        right = [(title, [(b, max(self.figure(64, b, key, part), 0.001), None)
                          for b in BATCHES])
                 for title, key, part in (
                     ('section, median', 'section_us', 'median'),
                     ('grace period, median', 'grace_us', 'median'),
                     ('grace period, 99th percentile', 'grace_us', 'p99'))]
        plot.curves(path, 'hw.intr_epoch_batch, handler runs in a section',
                    ('throughput, % of that at 1000', left),
                    ('µs, 64 packets a run', right), chosen)


def meaning(sweep, chosen):
    """What follows."""
    lines = []
    for run in RUNS:
        lost = [b for b in BATCHES[:-1]
                if not acceptable(sweep.verdicts[run, b])]
        kind = f'With {run} packet{"s" if run > 1 else ""} a run '
        lines.append('- ' + kind + (
            f'a loss of more than {LOSS:g} % against 1000 is proven for '
            f'{", ".join(map(str, lost))}.' if lost else
            f'no loss of more than {LOSS:g} % against 1000 is proven for any '
            'batch.'))
    finest, coarsest = min(sweep.seen.values()), max(sweep.seen.values())
    lines.append('- The smallest difference that these runs could prove is '
                 f'{finest:.1f} to {coarsest:.1f} %, by the batch and kind of '
                 'run.')
    now = default()
    if chosen is None:
        lines.append('- **The runs were not steady enough to choose by**: the '
                     f'default of the project stays {now}.')
        return RULE + '\n\n' + '\n'.join(lines)
    for word, key in (('section', 'section_us'), ('grace period',
                                                  'grace_us')):
        low, high = (sweep.figure(64, b, key, 'median')
                     for b in (chosen, BATCHES[-1]))
        lines.append(f'- The median {word}, with 64 packets a run, is '
                     f'{low:.1f} µs with a batch of {chosen} and '
                     f'{high:.1f} µs with {BATCHES[-1]}.')
    lines.append(f'- The rule gives **{chosen}**; ' + (
        'that is the default of the project.' if now == chosen else
        f'the default of the project is {now}, for which the table shows '
        'what it gains and costs.'))
    return RULE + '\n\n' + '\n'.join(lines)


def measure(ctx):
    """Run it; write the page."""
    conditions = machine(ctx.load)
    pairs, psecs = ctx.rounds(15, 3), ctx.secs(0.2)
    rounds, secs = ctx.rounds(10, 3), ctx.secs(0.25)
    sweep = Sweep(ctx)
    sweep.throughput(pairs, psecs)
    sweep.latency(rounds, secs)
    sweep.compare()
    chosen = sweep.chosen()
    shown = default() if chosen is None else chosen
    sweep.draw(ctx.out / f'{NAME}.svg', shown)
    ctx.page(
        NAME, title='The open question: hw.intr_epoch_batch',
        short=(f'{chosen} is the smallest batch without a proven loss of '
               f'more than {LOSS:g} % against 1000; ' if chosen is not None
               else 'the runs were not steady enough to choose by; ')
              + 'the median grace period is '
              f'{sweep.figure(64, shown, "grace_us", "median"):.1f} µs with '
              f'{shown}, and '
              f'{sweep.figure(64, BATCHES[-1], "grace_us", "median"):.1f} µs '
              'with 1000.',
        done=DONE.format(pairs=pairs, psecs=psecs, runs=rounds, secs=secs),
        machine=conditions,
        out='\n\n'.join(f'**{r} packet{"s" if r > 1 else ""} a run**\n\n'
                        + sweep.table(r) for r in RUNS),
        detail='What is said against 1000 is of runs in percent of that with '
               '1000 at the same time; the bars in the picture are what a '
               'difference must exceed to be proven. The average for 1000 is '
               'of the runs beside all others.\n\n'
               '<details><summary>ministat of those, a batch of 1000 first, '
               'each other against it</summary>\n\n'
               + block('\n'.join(sweep.said)) + '\n\n</details>',
        means=meaning(sweep, chosen),
        picture_text='throughput, sections and grace periods by the batch; '
                     'the broken line is the batch that the rule gives, or '
                     'the default if it gives none')
