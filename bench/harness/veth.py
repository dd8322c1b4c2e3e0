# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Forwarding between two veth ports: netepochd beside its peers.

The generator has one CPU and the router the other; only Linux itself is also
measured with both on one, where nothing crosses between cores.  Frames are
counted by the sink's interface, the router's CPU time by the kernel's
schedstat of its threads.  The ports are the same for all: what differs is who
is between them.
"""

import pathlib
import re
import subprocess
import time

from . import host as hostmod
from . import lab as labmod
from . import report

BAR = 0.85      # x the faster bare probe
TTL = 64        # of the generator's frames
LOOK = 200      # frames checked of each router
CONFIG = """\
sysctl net.inet.ip.forwarding=1
ifconfig in0 create {driver}:r0{options}
ifconfig out0 create {driver}:r1{options}
ifconfig in0 inet 10.1.0.254/24 up
ifconfig out0 inet 10.2.0.254/24 up
route add -net {nets} {next_ip}
arp -s {next_ip} {next_mac}
"""
DPDK = ['--in-memory', '--no-pci', '--no-telemetry', '--log-level=3']
DPDK_PACKET = ('net_af_packet{n},iface=r{n},qpairs=1,blocksz=65536,'
               'framesz=2048,framecnt=4096,qdisc_bypass=1')
DPDK_XDP = 'net_af_xdp{n},iface=r{n},force_copy=1,busy_budget={budget}'


class Setup:
    """One router to be measured: how it starts, and what it needs."""

    def __init__(self, name, start, gro=False, defer=False, one_cpu=False):
        self.name = name
        self.start = start      # (bench) -> process, ready to forward
        self.gro = gro          # in the kernel's receive path
        self.defer = defer
        self.one_cpu = one_cpu  # generator and router share a CPU


class Bench:
    """The lab, and the pieces that routers are started from."""

    def __init__(self, host, lab):
        self.host = host
        self.lab = lab
        self.router_cpu, self.gen_cpu = host.pick_cpus()
        self.secs = 0.6 if host.quick else 1.0

    def ready(self, argv, word='ready'):
        """Start argv as the router; again if a port is still held."""
        for attempt in range(5):
            child = self.lab.start(self.lab.router, argv, self.router_cpu)
            try:
                labmod.wait_line(child, word)
                return child
            except RuntimeError as error:
                said = self.lab.stop(child) + str(error)
                if 'busy' not in said or attempt == 4:
                    raise RuntimeError(f'{argv[0]}: {said}') from error
                time.sleep(0.2)
        raise AssertionError('not reached')

    def probe(self, name, *options):
        """xsk_probe or packet_probe."""
        return self.ready([self.host.peer(name), 'r0', 'r1',
                           labmod.NEXT_MAC, 60, *options])

    def dpdk(self, *vdevs):
        """dpdk_l3 over two devices."""
        self.host.want_hugepages(80)
        devices = [a for v in vdevs for a in ('--vdev', v)]
        return self.ready(
            [self.host.peer('dpdk_l3_scalar'), '-l', self.router_cpu, *DPDK,
             *devices, '--', '--eth', '--secs', 60, '--map',
             f'{labmod.NETS},1,{labmod.NEXT_MAC}'])

    def netepochd(self, driver, options=''):
        """Our daemon, with a file of the commands an operator would type."""
        path = self.host.build / f'veth-{driver}{options}.conf'
        path.write_text(CONFIG.format(
            driver=driver, options=options, nets=labmod.NETS, next_ip=labmod.NEXT_IP,
            next_mac=labmod.NEXT_MAC), encoding='ascii')
        return self.ready([self.host.program('src/netepochd/netepochd'),
                           '-v', '-M', self.lab.router, '-c', self.router_cpu,
                           '-f', path], 'is ready')

    def linux(self):
        """The kernel forwards; nothing to start."""
        self.lab.kernel_routes(True)

    def linux_thread(self):
        """The kernel forwards in a thread of its own, on our CPU."""
        self.lab.kernel_routes(True)
        self.lab.device('r0', 'threaded', 1)
        done = subprocess.run(['pgrep', '-x', 'napi/r0-[0-9]+'], check=False,
                              stdout=subprocess.PIPE, text=True)
        threads = done.stdout.split()
        if len(threads) != 1:
            self.lab.device('r0', 'threaded', 0)
            raise RuntimeError(f'NAPI threads of an r0: {threads}')
        hostmod.run(['taskset', '-pc', self.router_cpu, threads[0]])
        return int(threads[0])

    def cpu_time(self, router):
        """Nanoseconds of CPU that the router's threads have used."""
        if router is None:
            return 0
        pid = router if isinstance(router, int) else router.pid
        total = 0
        for path in pathlib.Path(f'/proc/{pid}/task').glob('*/schedstat'):
            total += int(path.read_text(encoding='ascii').split()[0])
        return total

    def sample(self, router):
        """Packets at the sink, packets offered, router CPU, wall clock."""
        return (self.lab.packets(self.lab.sink, 's1'),
                self.lab.packets(self.lab.gen, 'g0', sent=True),
                self.cpu_time(router), time.monotonic_ns())

    def look(self):
        """Check some of the frames that arrive; raises if one is wrong."""
        hostmod.run(['ip', 'netns', 'exec', self.lab.sink, '/usr/bin/python3',
                     pathlib.Path(__file__).with_name('look.py'), 's1',
                     labmod.NEXT_MAC, labmod.OUT_MAC, TTL - 1, LOOK])

    def flow(self, router, one_cpu, look):
        """Send traffic; the figures of a slice of it."""
        gen = self.lab.start(
            self.lab.gen, [self.host.peer('xdpgen'), 'g0', labmod.IN_MAC, 30],
            self.router_cpu if one_cpu else self.gen_cpu)
        time.sleep(0.4)
        if look:
            self.look()
        before = self.sample(router)
        time.sleep(self.secs)
        after = self.sample(router)
        said = self.lab.stop(gen)
        sunk, offered, cpu, wall = (b - a for a, b in zip(before, after))
        if sunk == 0:
            raise RuntimeError(f'nothing arrived; generator: {said.strip()}')
        figures = {'kpps': sunk / wall * 1e6, 'offered': offered / wall * 1e6}
        if router is not None:
            figures['ns'] = cpu / sunk
        elif one_cpu:
            figures['ns'] = wall / sunk
        return figures

    def measure(self, setup, look):
        """One run of one router; look: at its frames, too."""
        lab = self.lab
        lab.offload(lab.router, 'r0', 'gro', setup.gro)
        lab.defer(setup.defer)
        router = None
        try:
            router = setup.start(self)
            return self.flow(router, setup.one_cpu, look)
        finally:
            if isinstance(router, subprocess.Popen):
                lab.stop(router)
            elif router is not None:
                lab.device('r0', 'threaded', 0)
            lab.kernel_routes(False)
            lab.detach()


def setups(quick):
    """The routers, in the order of the table."""
    def xdp(budget):
        return lambda b: b.dpdk(*(DPDK_XDP.format(n=n, budget=budget)
                                  for n in (0, 1)))
    fast = ('batch=256', 'txbudget=256')
    found = [
        Setup('netepochd xdp', lambda b: b.netepochd('xdp')),
        Setup('netepochd xdp, busy poll', lambda b: b.netepochd(
            'xdp', ',busypoll=256'), defer=True),
        Setup('bare AF_XDP', lambda b: b.probe('xsk_probe', *fast)),
        Setup('bare AF_XDP, busy poll', lambda b: b.probe(
            'xsk_probe', 'busy=256', *fast), defer=True),
        Setup('DPDK net_af_xdp', xdp(0)),
        Setup('netepochd packet', lambda b: b.netepochd('packet'), gro=True),
        Setup('bare AF_PACKET v2', lambda b: b.probe('packet_probe', 'v2'),
              gro=True),
        Setup('bare AF_PACKET v3', lambda b: b.probe('packet_probe', 'v3'),
              gro=True),
        Setup('DPDK net_af_packet', lambda b: b.dpdk(
            *(DPDK_PACKET.format(n=n) for n in (0, 1))), gro=True),
        Setup('Linux, one CPU', Bench.linux, gro=True, one_cpu=True),
    ]
    if not quick:
        found[5:5] = [Setup('DPDK net_af_xdp, busy poll', xdp(64),
                            defer=True)]
        found[-2:-2] = [Setup('bare AF_PACKET recvmmsg', lambda b: b.probe(
            'packet_probe', 'mmsg'), gro=True)]
        found.append(Setup('Linux, NAPI thread', Bench.linux_thread,
                           gro=True))
    return found


def table(rounds, names):
    """The figures of all rounds."""
    out = report.Table('between two veth ports, 64 bytes', 'kpps', 'low',
                       'high', 'offered', 'CPU ns', 'x probe', '  bar')
    for name in names:
        kind = 'AF_XDP' if 'xdp' in name.lower() else 'AF_PACKET'
        ratio = None
        if re.match('netepochd|DPDK', name):
            probes = [n for n in names if n.startswith(f'bare {kind}')]
            best = max(probes, default=None,
                       key=lambda n: rounds.median(n, 'kpps') or 0)
            ratio = rounds.ratio(name, best, 'kpps')
        low, high = rounds.span(name, 'kpps') or (None, None)
        out.add(f'  {name}', report.number(rounds.median(name, 'kpps'), 0),
                report.number(low, 0), report.number(high, 0),
                report.number(rounds.median(name, 'offered'), 0),
                report.number(rounds.median(name, 'ns'), 0),
                report.number(ratio, 2),
                f'  {report.bar(ratio, BAR, at_most=False)}'
                if name.startswith('netepochd') else '')
    return out


def measure(host, nrounds):
    """Run it; the table."""
    hostmod.need_root()
    hostmod.need('ip', 'ethtool', 'taskset', 'sysctl', 'pgrep')
    host.peer('xdpgen')
    rounds = report.Rounds(host.build / 'rounds', 'veth')
    todo = setups(host.quick)
    names = [s.name for s in todo]
    with labmod.Lab() as lab:
        bench = Bench(host, lab)
        for n in range(nrounds):
            rounds.add(n, 'calib', host.calibrate(bench.router_cpu))
            for setup in list(todo):
                try:
                    rounds.add(n, setup.name, bench.measure(setup, n == 0))
                except (hostmod.Missing, RuntimeError) as error:
                    print(f'veth: {setup.name}: {error}')
                    if n == 0:
                        todo.remove(setup)
    return table(rounds, names), rounds.path
