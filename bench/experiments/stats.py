# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Raw runs as files, and what ministat(1) proves about them.

Nothing here compares numbers by itself: a difference is one that ministat
reports, with its confidence, and what it does not report is not there.
"""

import re
import statistics
import subprocess

CONFIDENCE = '95'
PROVEN = re.compile(r'^Difference at \S+ confidence\s+'
                    r'(\S+) \+/- (\S+)\s+(\S+)% \+/- (\S+)%', re.M)
NONE = re.compile(r'^No difference proven', re.M)
MARKS = 'x+*%#@O'


class Verdict:
    """What ministat says of one set beside the first."""

    def __init__(self, percent=None, margin=None):
        self.percent = percent      # None: no difference is proven
        self.margin = margin

    @property
    def proven(self):
        """Is there a difference?"""
        return self.percent is not None

    def text(self):
        """As a page says it."""
        if not self.proven:
            return 'no difference proven'
        return f'{self.percent:+.2f} % (± {self.margin:.2f})'


def verdicts(said, sets):
    """The verdicts in ministat's output: one for each set but the first."""
    found = []
    for mark in MARKS[1:sets]:
        part = re.search(rf'^{re.escape(mark)} +\d+ .*?\n(.*?)'
                         r'(?=^[x+*%#@O] +\d+ |\Z)', said, re.M | re.S)
        if part is None:
            raise RuntimeError(f'ministat said nothing of {mark}: {said}')
        proven = PROVEN.search(part.group(1))
        if proven is not None:
            found.append(Verdict(float(proven.group(3)),
                                 float(proven.group(4))))
        elif NONE.search(part.group(1)) is not None:
            found.append(Verdict())
        else:
            raise RuntimeError(f'ministat has no verdict on {mark}: {said}')
    return found


def ministat(directory, names, plot=True):
    """Compare files of one number a line; (what it said, the verdicts)."""
    argv = ['ministat', '-c', CONFIDENCE, '-w', '72']
    if not plot:
        argv.append('-A')
    done = subprocess.run(argv + names, cwd=directory, check=False, text=True,
                          capture_output=True, timeout=30)
    if done.returncode != 0:
        raise RuntimeError(f'{" ".join(argv + names)}: {done.stderr.strip()}')
    return done.stdout, verdicts(done.stdout, len(names))


class Raw:
    """The figures of variants, in files below a directory as they come."""

    def __init__(self, directory, prefix):
        self.directory = directory
        self.prefix = prefix
        self.values = {}
        directory.mkdir(parents=True, exist_ok=True)

    def name(self, variant):
        """The file of a variant."""
        return f'{self.prefix}-{variant}.txt'

    def add(self, variant, value):
        """One run."""
        first = variant not in self.values
        self.values.setdefault(variant, []).append(value)
        path = self.directory / self.name(variant)
        with path.open('w' if first else 'a', encoding='ascii') as out:
            out.write(f'{value:.4f}\n')

    def mean(self, variant):
        """The average of its runs."""
        return statistics.mean(self.values[variant])

    def relate(self, base, others):
        """In further files: each run in percent of base's in its round.

        The machine has fast and slow phases that last longer than a round, and
        are in all its runs alike.  That of base is 100 each time: to compare
        with it is Student's test of pairs.
        """
        for one, *rest in zip(*(self.values[v] for v in (base, *others))):
            self.add(f'{base}-as-100', 100)
            for variant, value in zip(others, rest):
                self.add(f'{variant}-percent', value / one * 100)

    def related(self, base, *others):
        """What relate() has made: the figures of each, base's being 100."""
        return [self.values[f'{base}-as-100'],
                *(self.values[f'{v}-percent'] for v in others)]

    def compare(self, *variants, plot=True):
        """ministat over variants; the first is what the others are beside."""
        return ministat(self.directory, [self.name(v) for v in variants],
                        plot)

    def compare_both(self, base, *others):
        """ministat of the runs as they are, and within rounds.

        What both said, the verdicts on the first, those on the second.
        """
        self.relate(base, others)
        plain, verdicts_plain = self.compare(base, *others)
        related, verdicts_related = self.compare(
            f'{base}-as-100', *(f'{v}-percent' for v in others))
        return plain + '\n' + related, verdicts_plain, verdicts_related

    def resolution(self, variant):
        """The smallest difference within rounds, in percent, that these runs
        could prove: about two deviations of their average."""
        values = self.values[f'{variant}-percent']
        return 2 * statistics.stdev(values) / len(values) ** 0.5
