# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Three network namespaces in a row: generator, router, sink.

	gen g0 --- r0 router r1 --- s1 sink

The veth pairs, addresses and neighbours are made here and go with the
namespaces, whose names carry our process number.  A sleeping process in each
namespace lends its /proc/PID/net/dev, so that counters are read without a
fork.
"""

import os
import pathlib
import select
import subprocess
import time

from . import host

GEN_MAC = '02:00:00:00:0a:01'
IN_MAC = '02:00:00:00:0a:02'
OUT_MAC = '02:00:00:00:0b:01'
# The next hop: not an address of the sink, whose stack then drops at once.
NEXT_MAC = '02:00:00:00:0b:99'
NEXT_IP = '10.2.0.1'
NETS = '198.18.0.0/15'


def ip(*arguments):
    """One ip(8) command."""
    return host.run(['ip', *arguments])


class Lab:
    """Use as a context: made on entry, gone on exit."""

    def __init__(self):
        pid = os.getpid()
        self.gen, self.router, self.sink = (
            f'nb{pid}{end}' for end in ('g', 'r', 's'))
        self.holders = {}
        self.running = []

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_exc):
        self.remove()

    def make(self):
        """Namespaces, cables, addresses, routes."""
        for ns in (self.gen, self.router, self.sink):
            ip('netns', 'add', ns)
            self.holders[ns] = self.start(ns, ['sleep', 'infinity'])
            self.sysctl(ns, 'net.ipv6.conf.all.disable_ipv6', 1)
            self.sysctl(ns, 'net.ipv6.conf.default.disable_ipv6', 1)
            ip('-n', ns, 'link', 'set', 'lo', 'up')
        self.cable((self.gen, 'g0', GEN_MAC), (self.router, 'r0', IN_MAC))
        self.cable((self.router, 'r1', OUT_MAC),
                   (self.sink, 's1', '02:00:00:00:0b:02'))
        for key in ('all', 'default', 'r0', 'r1'):
            self.sysctl(self.router, f'net.ipv4.conf.{key}.rp_filter', 0)

    def cable(self, one, other):
        """A veth pair, up, without generic receive offload."""
        (ns, name, mac), (pns, pname, pmac) = one, other
        ip('link', 'add', name, 'netns', ns, 'address', mac, 'type', 'veth',
           'peer', 'name', pname, 'netns', pns, 'address', pmac)
        for where, end in ((ns, name), (pns, pname)):
            ip('-n', where, 'link', 'set', end, 'up')
            self.offload(where, end, 'gro', False)

    def kernel_routes(self, on):
        """Let Linux be the router, or not: addresses, routes, neighbour."""
        self.sysctl(self.router, 'net.ipv4.ip_forward', int(on))
        verb = 'replace' if on else 'flush'
        for name, addr in (('r0', '10.1.0.254/24'), ('r1', '10.2.0.254/24')):
            ip('-n', self.router, 'addr', verb,
               *([addr, 'dev', name] if on else ['dev', name]))
        if on:
            ip('-n', self.router, 'neigh', 'replace', NEXT_IP, 'lladdr',
               NEXT_MAC, 'nud', 'permanent', 'dev', 'r1')
            ip('-n', self.router, 'route', 'replace', NETS, 'via', NEXT_IP)

    def sysctl(self, ns, name, value):
        """Set one."""
        host.run(['ip', 'netns', 'exec', ns, 'sysctl', '-qw',
                  f'{name}={value}'])

    def offload(self, ns, name, what, on):
        """Set one offload of an interface."""
        host.run(['ip', 'netns', 'exec', ns, 'ethtool', '-K', name, what,
                  'on' if on else 'off'])

    def device(self, name, attribute, value):
        """Write /sys/class/net/NAME/ATTRIBUTE in the router."""
        host.run(['ip', 'netns', 'exec', self.router, 'sh', '-c',
                  f'echo {value} > /sys/class/net/{name}/{attribute}'])

    def defer(self, on):
        """Let a busy-polling socket keep its interrupts away, or not."""
        for name in ('r0', 'r1'):
            self.device(name, 'napi_defer_hard_irqs', 2 if on else 0)
            self.device(name, 'gro_flush_timeout', 200000 if on else 0)

    def detach(self):
        """Take off an XDP program that a killed router left."""
        for name in ('r0', 'r1'):
            ip('-n', self.router, 'link', 'set', name, 'xdp', 'off')

    def start(self, ns, argv, cpu=None, **options):
        """Start a program in a namespace, on a CPU; it goes with the lab."""
        pin = [] if cpu is None else host.pin(cpu)
        child = subprocess.Popen(
            ['ip', 'netns', 'exec', ns, *pin, *map(str, argv)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.running.append(child)
        return child

    def stop(self, child, timeout=5):
        """End a program that start() started; what it said."""
        if child.poll() is None:
            child.terminate()
        try:
            out, _ = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            out, _ = child.communicate()
        if child in self.running:
            self.running.remove(child)
        return out

    def packets(self, ns, name, sent=False):
        """Packets an interface has received, or sent."""
        dev = pathlib.Path(f'/proc/{self.holders[ns].pid}/net/dev')
        for line in dev.read_text(encoding='ascii').splitlines():
            label, _, rest = line.partition(':')
            if label.strip() == name:
                return int(rest.split()[9 if sent else 1])
        raise RuntimeError(f'{name} has gone')

    def remove(self):
        """Everything that was started or made."""
        for child in list(self.running):
            self.stop(child)
        self.holders.clear()
        for ns in (self.gen, self.router, self.sink):
            subprocess.run(['ip', 'netns', 'del', ns], check=False,
                           stderr=subprocess.DEVNULL)


def wait_line(child, word, timeout=10):
    """Read a program's output until word is in it."""
    seen, end = '', time.monotonic() + timeout
    while time.monotonic() < end:
        if not select.select([child.stdout], [], [], 0.1)[0]:
            continue
        chunk = os.read(child.stdout.fileno(), 4096).decode()
        seen += chunk
        if word in seen:
            return
        if not chunk:
            raise RuntimeError(f'ended at once: {seen.strip()}')
    raise RuntimeError(f'not ready in {timeout} s: {seen.strip()}')
