# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""What all experiments share: builds, runs in turns, the machine, pages."""

import concurrent.futures
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

from harness import host as hostmod

from .stats import Raw

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
MESON = '/usr/bin/meson'
EPOCHS = {'fence': [], 'membarrier': ['-Dnet_epoch=asymmetric']}
SETUP = ['-Dbench=enabled', '-Dcpu=native', '-Dtests=disabled',
         '--buildtype=release']
PROGRAMS = ['bench/bench_experiment', 'bench/peers/calib',
            'bench/peers/xdpgen', 'src/netepochd/netepochd']

PAGE = """\
# {title}

**In short:** {short}

{quick}## What was done

{done}

## On what

{machine}

## The command

    {command}

## What came out

{out}

![{picture_text}]({picture})

{detail}

## What it means

{means}

The raw runs are in [raw/](raw), one number a line, in the order they were
made; `percent`: of the run of the first in the same round, which is then a
column of 100.
"""
QUICK = """\
> A quick run: few and short runs, to see that the experiment works. Its
> figures are not for quoting.

"""
INDEX = """\
# Experiments

The measurements of the reviews behind the network epoch, repeated with this
program, and two that they left open. `make experiments` makes all of it anew,
pages included, in under 20 minutes; `make experiments QUICK=1` in under three,
to see that it works. A page says what was done, on what machine, what came
out, and what it means; a difference is one that ministat proves, at 95 %
confidence, from runs that took turns (A B A B …), each in percent of what it is
compared with in the same round. A virtual machine has fast and slow phases,
here of a factor of two, which come and go within seconds. Where the figure is
packets per second of CPU time, the runs of a round therefore take turns on one
CPU every few milliseconds: they are processes that run at the same time, and
the phases are in all of them alike. What ministat says of the runs as they are
stands beside it.

| | experiment | in short |
|---|---|---|
{rows}

How to run one alone, and what the runs are:
[bench/README.md](../../bench/README.md).
"""


def build(directory, epoch):
    """A tree for this CPU with a kind of epoch, and what is run of it."""
    if not (directory / 'build.ninja').exists():
        hostmod.run([MESON, 'setup', directory, TOP, *SETUP, *EPOCHS[epoch]],
                    timeout=300)
    # A tree that was there already follows what is asked for.
    kind = 'asymmetric' if EPOCHS[epoch] else 'fence'
    hostmod.run([MESON, 'configure', directory, f'-Dnet_epoch={kind}'],
                timeout=120)
    known = hostmod.run(['ninja', '-C', directory, '-t', 'targets', 'all'],
                        timeout=120)
    todo = [p for p in PROGRAMS if f'\n{p}: ' in f'\n{known}']
    hostmod.run(['ninja', '-C', directory, *todo], timeout=1200)


def first_line(argv):
    """What a program says first, or 'unknown'."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True,
                              check=False, timeout=10, cwd=TOP)
        return done.stdout.splitlines()[0].strip() if done.stdout else \
            'unknown'
    except OSError:
        return 'unknown'


def commit():
    """Of what the programs are built; the pages themselves do not count."""
    changed = first_line(['git', 'status', '--porcelain', '-uno', '--', '.',
                          ':!docs/experiments'])
    name = first_line(['git', 'rev-parse', '--short', 'HEAD'])
    return name + (', changed' if changed != 'unknown' else '')


def machine(load):
    """The machine and the build, as a page says it.

    load: the load average before anything of ours ran.
    """
    info = pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8')
    model = re.search(r'^model name\s*: (.*)$', info, re.M)
    virtual = re.search(r'^flags\s*:.*\bhypervisor\b', info, re.M)
    return '\n'.join((
        f'- CPU: {model.group(1) if model else platform.machine()}, '
        f'{len(os.sched_getaffinity(0))} CPUs'
        f'{", a virtual machine" if virtual else ""}',
        f'- Linux {platform.release()}',
        f'- {first_line(["cc", "--version"])}, `{" ".join(SETUP)}`',
        f'- netepoch at {commit()}',
        f'- {time.strftime("%Y-%m-%d %H:%M", time.gmtime())} UTC, load '
        f'average {load:.1f} before the experiments'
        + (': **other programs were running**' if load > 1 else '')))


class Context:
    """One run of the script: trees, machine, output, how much to do."""

    def __init__(self, args, trees):
        self.quick = args.quick
        self.smoke = args.smoke
        self.out = args.out
        self.raw = args.out / 'raw'
        self.trees = trees
        self.hosts = {epoch: hostmod.Host(tree, args.quick)
                      for epoch, tree in trees.items()}
        self.command = args.command
        self.load = args.load
        self.cpu, self.other = self.pick_cpus()
        self.started = time.monotonic()

    def pick_cpus(self):
        """The router's CPU and the other one."""
        try:
            return self.hosts['fence'].pick_cpus()
        except hostmod.Missing:
            cpus = sorted(os.sched_getaffinity(0))
            return cpus[0], cpus[-1]

    def rounds(self, full, quick=4):
        """How many runs of each variant."""
        return 3 if self.smoke else quick if self.quick else full

    def secs(self, full, quick=0.1):
        """How long one run counts."""
        return 0.05 if self.smoke else quick if self.quick else full

    def progress(self, name, done, of):
        """The progress line."""
        if sys.stderr.isatty() or done == of:
            print(f'\r{name}: {done} of {of} rounds, '
                  f'{time.monotonic() - self.started:.0f} s',
                  end='\n' if done == of else '', file=sys.stderr, flush=True)

    def once(self, epoch, *options, secs):
        """One run of bench_experiment; its JSON.  An error if it is wrong."""
        argv = [self.hosts[epoch].program('bench/bench_experiment'),
                '--secs', secs, '--cpu', self.cpu, '--helper', self.other,
                *options]
        said = hostmod.run(argv, timeout=30 + 10 * secs)
        figures = json.loads(said[said.index('{"epoch"'):])
        if figures['epoch'] != epoch:
            raise RuntimeError(f'{argv[0]}: its epoch is a '
                               f'{figures["epoch"]} one, not {epoch}')
        return figures

    def together(self, epoch, runs, secs):
        """Runs of bench_experiment at the same time, on the same CPU; their
        JSON.

        The scheduler has them take turns every few milliseconds.  Each runs
        for secs as if it were alone; figures of CPU time are its own.
        """
        with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
            return list(pool.map(lambda options: self.once(
                epoch, *options, secs=secs * len(runs)), runs))

    def figures(self, prefix):
        """Where the raw runs of an experiment go; older ones are removed."""
        for old in self.raw.glob(f'{prefix}-*.txt'):
            old.unlink()
        return Raw(self.raw, prefix)

    def page(self, name, **parts):
        """Write an experiment's page and the index."""
        (self.out / f'{name}.md').write_text(
            PAGE.format(quick=QUICK if self.quick else '',
                        command=f'{self.command} {name.split("-")[0]}',
                        picture=f'{name}.svg', **parts), encoding='utf-8')
        self.index()

    def index(self):
        """The page that leads to the others: those that are there."""
        rows = []
        for path in sorted(self.out.glob('[0-9]-*.md')):
            text = path.read_text(encoding='utf-8')
            head = re.match(r'# (.*)\n\n\*\*In short:\*\* (.*)\n', text)
            if head is None:
                continue
            quick = ' (a quick run)' if QUICK in text else ''
            rows.append(f'| {path.name[0]} | [{head.group(1)}]({path.name}) '
                        f'| {head.group(2)}{quick} |')
        (self.out / 'README.md').write_text(
            INDEX.format(rows='\n'.join(rows)), encoding='utf-8')


def block(said):
    """A program's words, verbatim."""
    return f'```\n{said.rstrip()}\n```'


def in_turns(order, number):
    """The variants of a round: forth, and back in the next one."""
    return order if number % 2 == 0 else order[::-1]
