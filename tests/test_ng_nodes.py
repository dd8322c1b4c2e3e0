# SPDX-License-Identifier: BSD-2-Clause
"""Nodes that sort and change Ethernet frames, with real ones.

Two hosts on the wires of p0 and p1, a graph between them in place of a stack.
And macfilter's configuration as scripts write it and read it back.
"""

import itertools
import random
import re
import struct

import pytest
from scapy.all import ARP, ICMP, IP, UDP, Dot1Q, Ether

import netns
import rig

A_MAC, B_MAC, C_MAC = (f"02:00:00:00:00:0{x}" for x in "abc")
serial = itertools.count(1)


class Graph:
    """A machine with two interfaces whose frames all go into the graph."""

    def __init__(self, lab):
        self.hosts = {}
        router = lab.ns("router")
        for i in (0, 1):
            ns = lab.ns(f"host{i}")
            lab.veth(ns, "h0", router, f"r{i}")
            self.hosts[i] = ns
        self.m = lab.machine(router, config="".join(
            f"ifconfig p{i} create packet:r{i}\nifconfig p{i} up\n"
            for i in (0, 1)))
        self.m.tool("kldload ng_ether")
        self.p0, self.p1 = (rig.Wire(self.hosts[i], "h0") for i in (0, 1))
        self.run("msg p0: setpromisc 1", "msg p1: setpromisc 1")

    def run(self, *lines):
        """Lines for one ngctl; what it printed."""
        path = self.m.lab.dir / "graph"
        path.write_text("\n".join(lines) + "\n")
        return self.m.tool(["ngctl", "-f", str(path)])

    def text(self, line):
        """The text behind Args: of the answer to a message."""
        return self.run(f"msg {line}").split("Args:\t")[1].strip()

    def build(self, kind, hook0, hook1, rest=None):
        """p0 and p1 on two hooks of a node n, an eiface on a third."""
        self.run(f"mkpeer p0: {kind} lower {hook0}", "name p0:lower n",
                 f"connect p1: n: lower {hook1}")
        if rest:
            self.run(f"mkpeer n: eiface {rest} ether")
            self.m.tool("ifconfig ngeth0 up")

    def rest(self):
        """Packets that left by the third hook."""
        return self.m.call("if.list", {"name": "ngeth0"})["interfaces"][0][
            "counters"]["ipackets"]

    def goes(self, frame, wire, to, want=None):
        """A frame sent on one wire comes on the other, as it is or as want;
        want may look at it itself."""
        frame, token = bytes(frame), frame_token(frame)
        wire.send(frame)
        got = []
        to.until_bytes(lambda f: token in f and not got.append(f))
        if callable(want):
            want(got[0])
        else:
            assert got[0] == (frame if want is None else want)

    def goes_elsewhere(self, frame):
        """A frame from p0 goes by the third hook."""
        before = self.rest()
        self.p0.send(bytes(frame))
        netns.wait_for(lambda: self.rest() > before)
        token = frame_token(frame)
        while True:
            seen = self.p1.receive()
            if seen is None:
                return
            assert token not in seen

    def stop(self):
        assert self.m.stop(60) == 0, self.m.text()
        for word in ("Sanitizer", "runtime error", "panic", "assertion"):
            assert word not in self.m.text(), self.m.text()


def frame_token(frame):
    return re.search(rb"token[0-9]{8}", bytes(frame))[0]


def token():
    return b"token%08d" % next(serial)


def raw(tags=(), kind=0x0800, src=A_MAC):
    """A frame with (TPID, tag) pairs, like no other."""
    mac = bytes.fromhex(B_MAC.replace(":", "") + src.replace(":", ""))
    return mac + b"".join(struct.pack("!HH", *t) for t in tags) + \
        struct.pack("!H", kind) + token().ljust(60, b"\0")


def udp(port, src=A_MAC):
    return Ether(dst=B_MAC, src=src) / IP(
        src="192.0.2.1", dst="198.51.100.1") / UDP(
            sport=4000, dport=port) / (token() + bytes(40))


def arp():
    return Ether(dst=B_MAC, src=A_MAC) / ARP(
        psrc="192.0.2.1", pdst="192.0.2.2") / (token() + bytes(40))


@pytest.fixture(name="g")
def fixture_g(isolation):
    with netns.Lab() as lab:
        graph = Graph(lab)
        yield graph
        graph.stop()


def test_vlan(g):
    g.build("vlan", "downstream", "vlan123", "nomatch")
    g.run('msg n: addfilter { vlan=123 hook="vlan123" }')
    f = raw()
    tagged = f[:12] + b"\x81\0\0\x7b" + f[12:]
    g.goes(tagged, g.p0, g.p1, f)
    f = raw()
    g.goes(f, g.p1, g.p0, f[:12] + b"\x81\0\0\x7b" + f[12:])
    g.goes_elsewhere(raw())
    g.goes_elsewhere(raw([(0x8100, 124)]))
    # A customer's tag within.
    f = raw([(0x8100, 5)])
    g.goes(f[:12] + b"\x81\0\0\x7b" + f[12:], g.p0, g.p1, f)
    # Tags beside the frames, which the driver writes into them.
    g.run("msg n: setencap 0")
    f = raw()
    g.goes(f, g.p1, g.p0, f[:12] + b"\x81\0\0\x7b" + f[12:])
    assert g.text("n: gettable") == \
        '{ n=1 filter=[ { hook="vlan123" vlan=123 vid=123 } ] }'


def test_vlan_beside_the_stack(g):
    """The recipe: VLAN 123 is an interface, the card's stack has the rest."""
    m, host = g.m, g.hosts[0]
    m.tool("ifconfig p0 inet 192.0.2.1/24")
    host.ip("addr add 192.0.2.2/24 dev h0")
    g.run("mkpeer p0: vlan lower downstream", "name p0:lower v",
          "connect p0: v: upper nomatch", "mkpeer v: eiface vlan123 ether",
          'msg v: addfilter { vlan=123 hook="vlan123" }')
    m.tool("ifconfig ngeth0 inet 198.51.100.1/24 up")
    rig.ping(host, "192.0.2.1")
    who = ARP(hwsrc=A_MAC, psrc="198.51.100.2", pdst="198.51.100.1")
    g.p0.send(bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src=A_MAC) /
                    Dot1Q(vlan=123) / who))
    reply = g.p0.wait(lambda f: ARP in f and f[ARP].op == 2 and
                      f[ARP].psrc == "198.51.100.1")
    assert reply[Dot1Q].vlan == 123
    g.p0.send(bytes(Ether(dst=reply.src, src=A_MAC) / Dot1Q(vlan=123) /
                    IP(src="198.51.100.2", dst="198.51.100.1") / ICMP()))
    echo = g.p0.wait(lambda f: ICMP in f and f[IP].dst == "198.51.100.2")
    assert (echo[Dot1Q].vlan, echo[ICMP].type) == (123, 0)


def test_vlan_rotate(g):
    g.build("vlan_rotate", "original", "ordered")
    g.run("msg n: setconf { min=0 max=9 rot=1 }")
    tags = [(0x88a8, 1), (0x8100, 2), (0x9100, 3)]
    f = raw(tags)
    head = b"".join(struct.pack("!HH", *tags[i]) for i in (2, 0, 1))
    g.goes(f, g.p0, g.p1, f[:12] + head + f[24:])
    g.goes(f[:12] + head + f[24:], g.p1, g.p0, f)
    assert g.text("n: getstat") == "{ histogram=[ 3=2 ] }"


def test_bpf(g):
    g.build("bpf", "in", "yes", "no")
    code = g.hosts[0].run(["tcpdump", "-i", "h0", "-ddd", "udp port 53"])
    insns = [line.split() for line in code.splitlines()[1:]]
    program = " ".join(f"{{ code={c} jt={t} jf={f} k={k} }}"
                       for c, t, f, k in insns)
    g.run(f'msg n: setprogram {{ thisHook="in" ifMatch="yes" '
          f'ifNotMatch="no" bpf_prog_len={len(insns)} '
          f'bpf_prog=[ {program} ] }}')
    g.goes(udp(53), g.p0, g.p1)
    g.goes_elsewhere(udp(54))
    g.goes_elsewhere(raw())
    assert 'recvMatchFrames=1 ' in g.text('n: getstats "in"')


def test_etf(g):
    g.build("etf", "downstream", "arp", "nomatch")
    g.run('msg n: setfilter { matchhook="arp" ethertype=0x806 }')
    g.goes(arp(), g.p0, g.p1)
    g.goes_elsewhere(udp(53))
    g.goes(arp(), g.p1, g.p0)
    # Not by this hook: the next one comes, this does not.
    g.p0.flush()
    wrong = udp(53)
    g.p1.send(bytes(wrong))
    last = bytes(arp())
    g.p1.send(last)
    seen = g.p0.until_bytes(lambda f: frame_token(last) in f)
    assert not [f for f in seen if frame_token(wrong) in f]


def test_macfilter(g):
    g.build("macfilter", "ether", "out1", "default")
    g.run(f'msg n: direct {{ hookname="out1" ether={A_MAC} }}')
    g.goes(raw(), g.p0, g.p1)
    g.goes_elsewhere(raw(src=C_MAC))
    g.goes(raw(src=C_MAC), g.p1, g.p0)
    assert f"ether={A_MAC} hookid=1 packets_in=1" in g.text("n: getmacs")


def test_patch(g):
    g.build("patch", "in", "out")
    g.run("msg n: setdlt 1",
          "msg n: setconfig { count=1 csum_flags=1 relative_offset=1 "
          "ops=[ { mode=3 value=1 length=1 offset=8 } ] }")

    def check(data):
        ip = Ether(data)[IP]
        stored = ip.chksum
        del ip.chksum
        assert (ip.ttl, stored) == (63, IP(bytes(ip)).chksum)

    g.goes(udp(53), g.p0, g.p1, check)
    g.goes(udp(53), g.p1, g.p0)
    # The host's own packets come through as well.
    assert re.fullmatch(r"\{ Received=\d+ Patched=\d+ \}",
                        g.text("n: getstats"))


class Filter:
    """macfilter below, one2many above, and what a script keeps of them."""

    def __init__(self, g):
        self.g, self.where = g, {}
        for line in (
                "mkpeer p0: macfilter lower ether", "name p0:lower MF",
                "mkpeer p0: one2many upper one", "name p0:upper O2M",
                "connect MF: O2M: default many0",
                *(f"connect MF: O2M: out{i} many{i}" for i in (1, 2, 3))):
            g.m.tool(f"ngctl {line}")
        g.m.tool(["ngctl", "msg", "O2M:", "setconfig",
                  "{ xmitAlg=3 failAlg=1 enabledLinks=[ 1 1 ] }"])

    def hooks(self):
        return re.findall(r'hookname="(.*?)"',
                          self.g.m.tool("ngctl msg MF: gethooks"))

    def counts(self):
        text = self.g.m.tool("ngctl msg MF: gethooks")
        found = re.findall(
            r'hookname="(out\d)" hookid=\d+(?: maccnt=(\d+))?', text)
        return {name: int(n or 0) for name, n in found}

    def direct(self, *pairs):
        lines = []
        for hook, mac in pairs:
            lines.append(f'msg MF: direct {{ hookname="{hook}" ether={mac} }}')
            self.where[mac] = hook
        self.g.run(*lines)

    def check(self):
        hooks = list(self.where.values())
        assert self.counts() == {h: hooks.count(h)
                                 for h in ("out1", "out2", "out3")}


def test_macfilter_configuration(g):
    """What FreeBSD's shell test of the node asserts, in its own words."""
    f = Filter(g)
    names = ["default", "out1", "out2", "out3"]
    assert sorted(f.hooks()) == names
    # A hook that is there, and one that one2many does not have.
    assert g.m.try_tool("ngctl", "connect", "MF:", "O2M:", "default",
                        "many99").returncode != 0
    assert sorted(f.hooks()) == names
    for i in (1, 2, 3):
        g.m.tool(f"ngctl connect MF: O2M: xxx{i} many{i + 3}")
        names.append(f"xxx{i}")
        assert sorted(f.hooks()) == sorted(names)
    for i in (1, 2, 3):
        g.m.tool(f"ngctl rmhook MF: xxx{i}")
        names.remove(f"xxx{i}")
        assert sorted(f.hooks()) == sorted(names)
    more = [f"xxx{i}" for i in range(10, 43)]
    for name in more:
        g.m.tool(f"ngctl connect MF: O2M: {name} many{name[3:]}")
    assert sorted(f.hooks()) == sorted(names + more)
    for name in more:
        g.m.tool(f"ngctl rmhook MF: {name}")
    assert sorted(f.hooks()) == names

    macs = [f"00:00:00:00:{j:02x}:{i:02x}"
            for j in range(7) for i in range(72)]
    for mac in macs[:24]:
        g.m.tool(["ngctl", "msg", "MF:", "direct", "{", 'hookname="out1"',
                  f"ether={mac}", "}"])
        f.where[mac] = "out1"
    f.check()
    f.direct(*(("out1", mac) for mac in macs[:432]))
    f.direct(*(("out2", mac) for mac in macs[432:]))
    assert f.counts() == {"out1": 432, "out2": 72, "out3": 0}
    f.direct(*(("out3", mac) for mac in macs[:72]))
    f.check()
    f.direct(*(("default", mac) for mac in macs[72:144]))
    f.check()
    f.direct(*(("default", mac) for mac in macs))
    assert f.counts() == {"out1": 0, "out2": 0, "out3": 0}
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for _ in range(8):
        f.direct(*((rng.choice(["default", "out1", "out2", "out3"]), mac)
                   for mac in rng.sample(macs, len(macs))))
        f.check()
    g.m.tool("ngctl msg MF: reset")
    assert f.counts() == {"out1": 0, "out2": 0, "out3": 0}
    assert g.text("MF: getmacs") == "{}"
    # The nodes outlived every ngctl.
    assert g.m.tool("ngctl list").count("MF") == 1
