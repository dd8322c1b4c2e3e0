# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Generation on one CPU: pkt-gen beside its rivals.

Into a veth frames are counted by the interface at the other end: by Linux's
stack, which drops them because they are for another station, or by an XDP
program that drops them at once.  In memory the programs' own figures count.
"""

import json
import re
import time

from . import host as hostmod
from . import lab as labmod
from . import report

MAC = '02:00:00:00:0a:99'       # not that of the other end
MEMORY_BAR = 60                 # million a second
DPDK = ['--in-memory', '--no-pci', '--no-telemetry', '--log-level=3']
VDEVS = {
    'xdp': 'net_af_xdp0,iface=g0,force_copy=1,busy_budget={budget}',
    'packet': 'net_af_packet0,iface=g0,qpairs=1,blocksz=65536,framesz=2048,'
              'framecnt=4096,qdisc_bypass=1',
    'null': 'net_null0,size=64,copy=1',
}
TRAFGEN = ('{{ {mac}, 0x02,0,0,0,0x0a,1, c16(0x0800), 0x45, 0, c16(46), '
           'c16(0), c16(0), 64, 17, c16(0x66bc), 10,0,0,1, 10,1,0,1, '
           'c16(1234), c16(1234), c16(26), c16(0), fill(0, 18) }}\n')


class Bench:
    """The lab, and what is started in it."""

    def __init__(self, host, lab):
        self.host = host
        self.lab = lab
        self.cpu, self.other = host.pick_cpus()
        self.secs = 0.6 if host.quick else 1.0

    def pktgen(self, *words):
        """netepoch-pkt-gen, sending until it is stopped."""
        return [self.host.program('src/pktgen/netepoch-pkt-gen'), '--libxo',
                'json', '-f', 'tx', '-w', 0, '-D', MAC, *words]

    def probe(self, *words):
        """The bare loop."""
        return [self.host.peer('gen_probe'), 'g0', MAC, 60, *words]

    def testpmd(self, kind, budget=0):
        """DPDK's generator: a thread that sends, one that prints."""
        hostmod.need('dpdk-testpmd')
        self.host.want_hugepages(200)
        return ['dpdk-testpmd', '-l', f'{self.cpu},{self.other}',
                '--main-lcore', self.other, *DPDK, '--vdev',
                VDEVS[kind].format(budget=budget), '--', '--auto-start',
                '--nb-cores=1', '--forward-mode=txonly', '--burst=64',
                '--txpkts=60', f'--eth-peer=0,{MAC}', '--stats-period=1']

    def trafgen(self):
        """netsniff-ng's generator."""
        hostmod.need('trafgen')
        path = self.host.build / 'trafgen.cfg'
        mac = ','.join(f'0x{b}' for b in MAC.split(':'))
        path.write_text(TRAFGEN.format(mac=mac), encoding='ascii')
        # It has children, and ends with them by SIGINT to all only.
        return ['timeout', '-s', 'INT', '-k', 1, 1.5 + self.secs, 'trafgen',
                '-o', 'g0', '-i', path, '-P', 1]

    def wire(self, argv, pinned=True):
        """wire_once(); again while the one before still holds the queue."""
        for attempt in range(5):
            try:
                return self.wire_once(argv, pinned)
            except RuntimeError as error:
                if 'busy' not in str(error) or attempt == 4:
                    raise
                time.sleep(0.3)
        raise AssertionError('not reached')

    def wire_once(self, argv, pinned):
        """Thousands a second that arrive at the other end."""
        child = self.lab.start(self.lab.gen, argv,
                               self.cpu if pinned else None)
        time.sleep(0.6 if pinned else 1.5)
        before, t0 = self.lab.packets(self.lab.router, 'r0'), time.monotonic()
        time.sleep(self.secs)
        after, t1 = self.lab.packets(self.lab.router, 'r0'), time.monotonic()
        if argv[0] == 'timeout':
            child.wait(10)
        said = self.lab.stop(child)
        if after == before:
            raise RuntimeError(f'{argv[0]}: nothing arrived: '
                               f'{said.strip()[-300:]}')
        return {'kpps': (after - before) / (t1 - t0) / 1e3}

    def memory(self, *words, count=None):
        """pkt-gen in memory: what it says itself."""
        count = count or (30000000 if self.host.quick else 60000000)
        text = hostmod.run([*hostmod.pin(self.cpu), *self.pktgen(*words),
                            '-n', count])
        last = [line for line in text.splitlines() if line.startswith('{')]
        done = json.loads(last[-1])['pkt-gen']['summary']
        if done.get('wrong-checksums', 0) or done.get('lost', 0):
            raise RuntimeError(f'wrong or lost frames: {last[-1]}')
        return {'kpps': done['sent']['packets-per-second'] / 1e3}

    def testpmd_memory(self):
        """testpmd into net_null: the best of its seconds."""
        child = self.lab.start(self.lab.gen, self.testpmd('null'))
        time.sleep(4)
        said = self.lab.stop(child)
        found = [int(n) for n in re.findall(r'Tx-pps:\s+(\d+)', said)]
        if not found or max(found) == 0:
            raise RuntimeError(f'testpmd: {said.strip()[-300:]}')
        return {'kpps': max(found) / 1e3}


def cases():
    """Heading, name, function, the name that it is compared with, bar."""
    memory, xdp, packet, live = (
        'in memory', "AF_XDP, the peer's stack drops",
        "AF_PACKET, the peer's stack drops", 'the peer drops by XDP')
    return [
        (memory, 'pkt-gen null', lambda b: b.memory('-i', 'null'), None,
         None),
        (memory, 'pkt-gen mem, measured', lambda b: b.memory('-i', 'mem'),
         None, None),
        (memory, 'testpmd net_null', Bench.testpmd_memory, None, None),
        (xdp, 'pkt-gen xdp', lambda b: b.wire(b.pktgen(
            '-i', 'xdp:g0', '--no-live')), 'bare AF_XDP', 1),
        (xdp, 'bare AF_XDP', lambda b: b.wire(b.probe(
            'xsk', 'batch=1024', 'txbudget=1024')), None, None),
        (xdp, 'bare AF_XDP, batch 64', lambda b: b.wire(b.probe(
            'xsk', 'batch=64')), 'bare AF_XDP', None),
        (xdp, 'testpmd net_af_xdp', lambda b: b.wire(
            b.testpmd('xdp'), False), 'bare AF_XDP', None),
        (packet, 'pkt-gen packet', lambda b: b.wire(b.pktgen(
            '-i', 'packet:g0')), 'bare sendmmsg', 1),
        (packet, 'bare sendmmsg', lambda b: b.wire(b.probe('mmsg')), None,
         None),
        (packet, 'testpmd net_af_packet', lambda b: b.wire(
            b.testpmd('packet'), False), 'bare sendmmsg', None),
        (packet, 'trafgen', lambda b: b.wire(b.trafgen()), 'bare sendmmsg',
         None),
        (live, 'pkt-gen, live frames', lambda b: b.wire(b.pktgen(
            '-i', 'xdp:g0')), 'xdpgen', 0.9),
        (live, 'xdpgen', lambda b: b.wire(
            [b.host.peer('xdpgen'), 'g0', MAC, 60]), None, None),
    ]


def table(rounds, todo):
    """The figures of all rounds."""
    out = report.Table('generation on one CPU, 60 bytes', 'kpps', 'low',
                       'high', 'ratio', '  bar')
    heading = None
    for head, name, _, other, bar in todo:
        if head != heading:
            out.add(f'- {head}')
            heading = head
        low, high = rounds.span(name, 'kpps') or (None, None)
        ratio = other and rounds.ratio(name, other, 'kpps')
        median, text = rounds.median(name, 'kpps'), ''
        if bar is not None:
            text = f'  {report.bar(ratio, bar, at_most=False)} x {other}'
        elif name == 'pkt-gen null':
            text = '  ' + report.bar(median and median / 1e3, MEMORY_BAR,
                                     at_most=False) + ' million'
        out.add(f'  {name}', report.number(median, 0), report.number(low, 0),
                report.number(high, 0), report.number(ratio or None, 2), text)
    return out


def verify(bench):
    """Every frame once with every sum looked at, in all three ways."""
    for words in ((), ('-6',), ('-l', 200, '-l', 60, '-z', '-Z')):
        figures = bench.memory('-i', 'mem', '--verify', '-R', 2000000, *words,
                               count=2000000)
        print(f"generate: {' '.join(map(str, words)) or 'plain'}: 2,000,000 "
              f"frames verified at {figures['kpps']:.0f} kpps")


def measure(host, nrounds):
    """Run it; the table."""
    hostmod.need_root()
    hostmod.need('ip', 'ethtool', 'taskset')
    rounds = report.Rounds(host.build / 'rounds', 'generate')
    todo = cases()
    with labmod.Lab() as lab:
        bench = Bench(host, lab)
        verify(bench)
        for n in range(nrounds):
            rounds.add(n, 'calib', host.calibrate(bench.cpu))
            for case in list(todo):
                head, name, run, _, _ = case
                sink = None
                try:
                    if head.endswith('XDP'):
                        sink = lab.start(lab.router,
                                         [host.peer('xdpsink'), 'r0'])
                        labmod.wait_line(sink, 'ready')
                    rounds.add(n, name, run(bench))
                except (hostmod.Missing, RuntimeError) as error:
                    print(f'generate: {name}: {error}')
                    if n == 0:
                        todo.remove(case)
                finally:
                    if sink is not None:
                        lab.stop(sink)
    return table(rounds, todo), rounds.path
