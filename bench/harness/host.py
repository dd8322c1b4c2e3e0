# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""The machine that measures: its CPUs, huge pages and scheduling."""

import os
import pathlib
import re
import shutil
import subprocess

HUGEPAGES = pathlib.Path('/proc/sys/vm/nr_hugepages')


class Missing(Exception):
    """Something a benchmark needs is not here; it is skipped, with this."""


def fields(text, word):
    """The key=value pairs of the line that starts with word."""
    for line in text.splitlines():
        if line.split(' ', 1)[0] == word:
            pairs = re.findall(r'(\w+)=(\S+)', line)
            return {k: float(v) if re.fullmatch(r'[\d.]+', v) else v
                    for k, v in pairs}
    raise RuntimeError(f'no line "{word}" in: {text.strip()!r}')


def run(argv, timeout=60, **options):
    """Run to the end; its output.  An error carries what it said."""
    done = subprocess.run([str(a) for a in argv], text=True, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, argv))}: exit "
                           f'{done.returncode}: {done.stdout.strip()}')
    return done.stdout


def pin(cpu):
    """The front of a command that is to run on one CPU.

    With RT=1 in the environment at real-time priority: on a machine that
    others use as well, they then wait instead of sharing the CPU.
    """
    front = ['taskset', '-c', str(cpu)]
    if os.environ.get('RT', '') not in ('', '0'):
        front += ['chrt', '--rr', '1']
    return front


def need(*tools):
    """Raise Missing unless every tool is on PATH."""
    for tool in tools:
        if shutil.which(tool) is None:
            raise Missing(f'{tool} is not installed')


def need_root():
    """Raise Missing unless this is root."""
    if os.geteuid() != 0:
        raise Missing('needs root')


class Host:
    """What all benchmarks of one run share."""

    def __init__(self, build, quick):
        self.build = pathlib.Path(build)
        self.quick = quick
        self.pages_before = None
        self.favour_session()

    def program(self, name):
        """A program of the build, by its path under bench/ or src/."""
        path = self.build / name
        if not path.exists():
            raise Missing(f'{name} was not built')
        return path

    def peer(self, name):
        """A program of bench/peers."""
        return self.program(f'bench/peers/{name}')

    @staticmethod
    def favour_session():
        """Weigh our session over others: autogroups ignore nice(1)."""
        try:
            pathlib.Path('/proc/self/autogroup').write_text('-20\n',
                                                            encoding='ascii')
        except OSError:
            pass

    @staticmethod
    def warn_if_busy():
        """Say so when others are at work: ratios hold, figures less so."""
        load = os.getloadavg()[0]
        if load > 1:
            print(f'bench: the load average is {load:.1f}: other programs '
                  'are running, and the figures will show it')

    def calibrate(self, cpu):
        """How fast this CPU is just now."""
        text = run(pin(cpu) + [self.peer('calib')])
        return {**fields(text, 'calib'), 'load': os.getloadavg()[0]}

    def pick_cpus(self):
        """The faster CPU just now, and another one (the same if alone)."""
        cpus = sorted(os.sched_getaffinity(0))[:4]
        speed = {c: self.calibrate(c)['pass256k_us'] for c in cpus}
        order = sorted(cpus, key=speed.get)
        return order[0], order[-1]

    def want_hugepages(self, pages):
        """DPDK's memory; given back by restore().  Raises Missing."""
        free = int(re.search(r'HugePages_Free:\s+(\d+)', pathlib.Path(
            '/proc/meminfo').read_text(encoding='ascii')).group(1))
        if free >= pages:
            return
        now = int(HUGEPAGES.read_text(encoding='ascii'))
        try:
            HUGEPAGES.write_text(f'{now + pages - free}\n', encoding='ascii')
        except OSError as error:
            raise Missing('DPDK wants huge pages, and only root can make '
                          'some') from error
        if self.pages_before is None:
            self.pages_before = now

    def restore(self):
        """Leave the machine as it was."""
        if self.pages_before is not None:
            HUGEPAGES.write_text(f'{self.pages_before}\n', encoding='ascii')
            self.pages_before = None
