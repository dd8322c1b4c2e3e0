# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Rounds, medians, ratios, and the one table that is printed.

A run of a program gives figures.  A round is one run of each program, so
that a ratio between two programs of one round does not depend on how fast the
machine is just then.  A ratio in the table is the median of the ratios of the
rounds, not the ratio of two medians.
"""

import json
import pathlib
import statistics
import time


class Rounds:
    """Figures by round and case; each is also kept in a file as it comes."""

    def __init__(self, directory, name):
        stamp = time.strftime('%Y%m%d-%H%M%S')
        self.path = pathlib.Path(directory) / f'{name}-{stamp}.jsonl'
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.values = {}

    def add(self, number, case, figures):
        """Keep one run's figures: a dict of numbers and texts."""
        self.values[number, case] = figures
        with self.path.open('a', encoding='ascii') as f:
            f.write(json.dumps({'round': number, 'case': case, **figures}))
            f.write('\n')

    def series(self, case, figure):
        """One figure of one case, by round."""
        return {number: figures[figure]
                for (number, c), figures in self.values.items()
                if c == case and figure in figures}

    def median(self, case, figure):
        """The median over the rounds, or None."""
        series = self.series(case, figure)
        return statistics.median(series.values()) if series else None

    def span(self, case, figure):
        """Lowest and highest, or None."""
        series = self.series(case, figure)
        if not series:
            return None
        return min(series.values()), max(series.values())

    def ratio(self, case, other, figure):
        """The median of case / other within a round, or None."""
        a, b = self.series(case, figure), self.series(other, figure)
        both = [a[n] / b[n] for n in a if n in b and b[n]]
        return statistics.median(both) if both else None


class Table:
    """Rows of text; a column of figures is flushed right."""

    def __init__(self, *heads):
        self.rows = [heads]

    def add(self, *cells):
        """A row; a single cell is a heading of its own line."""
        self.rows.append(cells)

    def __str__(self):
        full = [r for r in self.rows if len(r) == len(self.rows[0])]
        widths = [max(len(r[i]) for r in full)
                  for i in range(len(self.rows[0]))]
        lines = []
        for row in self.rows:
            if len(row) != len(widths):
                lines.append(' '.join(row))
                continue
            cells = [row[0].ljust(widths[0])]
            cells += [c.rjust(w) for c, w in zip(row[1:-1], widths[1:-1])]
            lines.append('  '.join(cells + [row[-1]]).rstrip())
        return '\n'.join(lines)


def number(value, digits=1):
    """A figure as the table prints it; '-' for none."""
    return '-' if value is None else f'{value:.{digits}f}'


def bar(value, limit, at_most=True):
    """The bar beside a figure, and whether it is met."""
    text = f"{'<=' if at_most else '>='} {limit:g}"
    if value is None:
        return f'{text} not measured'
    met = value <= limit if at_most else value >= limit
    return f"{text} {'met' if met else 'MISSED'}"
