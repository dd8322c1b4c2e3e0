# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Pictures, drawn by gnuplot(1) as SVG."""

import statistics
import subprocess

HEAD = """\
set encoding utf8
set terminal svg size {width},{height} noenhanced \\
    font 'sans-serif,13' background '#ffffff'
set output '{path}'
set border 3 lc rgb '#444444'
set tics nomirror
set grid ytics lc rgb '#dddddd'
"""
COLOURS = ('#c0504d', '#1f77b4', '#2e8b57', '#8064a2', '#e08a1e')


def gnuplot(script):
    """Run it; an error carries what gnuplot said."""
    done = subprocess.run(['gnuplot'], input=script, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f'gnuplot: {done.stdout.strip()}')


def dots(path, ylabel, groups):
    """Every run as a dot, the average as a line.

    groups: of (title, [(label, values)]), side by side, each with a scale of
    its own, since only what is in one group is to be compared.
    """
    rows, columns = (len(groups) + 1) // 2, min(2, len(groups))
    script = HEAD.format(width=100 + 360 * columns, height=50 + 300 * rows,
                         path=path)
    script += (f"set multiplot layout {rows},{columns}\n"
               "set key off\nset bmargin 3.5\nset lmargin 9\n")
    for n, (title, variants) in enumerate(groups):
        tics = ', '.join(f'"{label}" {i}'
                         for i, (label, _) in enumerate(variants))
        script += (f"set title '{title}'\n"
                   f"set xtics ({tics})\n"
                   f"set xrange [-0.6:{len(variants) - 0.4}]\n"
                   "set offsets 0, 0, graph 0.05, graph 0.05\n"
                   f"set ylabel '{ylabel if n % columns == 0 else ''}'\n")
        parts, data = [], ''
        for i, (_, values) in enumerate(variants):
            colour = COLOURS[i]
            parts += [f"'-' using 1:2 with points pt 7 ps 0.5 lc rgb "
                      f"'{colour}'",
                      f"'-' using 1:2 with lines lw 2 lc rgb '{colour}'"]
            spread = 0.4 / max(1, len(values) - 1)
            data += ''.join(f'{i - 0.2 + k * spread:.3f} {v}\n'
                            for k, v in enumerate(values)) + 'e\n'
            mean = statistics.mean(values)
            data += f'{i - 0.35} {mean}\n{i + 0.35} {mean}\ne\n'
        script += f"plot {', '.join(parts)}\n{data}"
    gnuplot(script + 'unset multiplot\n')


def curves(path, xlabel, left, right, marked):
    """Two scales over one logarithmic axis.

    left and right: (label of the axis, [(title, [(x, y, error or None)])]),
    whose points with errors are drawn beside each other;
    the right one is logarithmic.  marked: an x with a line through it.
    """
    script = HEAD.format(width=820, height=480, path=path) + (
        f"set logscale x 2\nset xlabel '{xlabel}'\n"
        f"set ylabel '{left[0]}'\nset y2label '{right[0]}'\n"
        "set border 11\nset y2tics\nset logscale y2\n"
        "set key outside top center horizontal maxcols 3\n"
        "set offsets graph 0.02, graph 0.02, graph 0.1, graph 0.1\n")
    points = [p for _, series in left[1] for p in series]
    script += ('set xtics (' + ', '.join(
        f"'{x}' {x}" for x in sorted({p[0] for p in points})) + ')\n')
    script += (f"set arrow from {marked}, graph 0 to {marked}, graph 1 nohead "
               "dt 2 lc rgb '#888888'\n")
    parts, data, colour = [], '', 0
    for axes, scale in (('x1y1', left[1]), ('x1y2', right[1])):
        for n, (title, series) in enumerate(scale):
            style = f"lc rgb '{COLOURS[colour]}'"
            dash = '' if axes == 'x1y1' else ' dt 3'
            bars = series[0][2] is not None
            shift = 2 ** (0.08 * (n - (len(scale) - 1) / 2)) if bars else 1
            if bars:
                parts.append(f"'-' using 1:2:3 axes {axes} with yerrorbars "
                             f"pt 7 ps 0.6 lw 1.5 {style} notitle")
                data += ''.join(f'{x * shift} {y} {e}\n'
                                for x, y, e in series) + 'e\n'
            parts.append(f"'-' using 1:2 axes {axes} with linespoints pt 7 "
                         f"ps 0.6 lw 2{dash} {style} title '{title}'")
            data += ''.join(f'{x * shift} {y}\n'
                            for x, y, _ in series) + 'e\n'
            colour += 1
    gnuplot(script + f"plot {', '.join(parts)}\n{data}")
