# SPDX-License-Identifier: BSD-2-Clause
"""What routers got wrong elsewhere: addresses that come and go, links that
come back, routes that lead nowhere, and frames meant for somebody else."""

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

import netns
import rig

H, H_MAC, NEW_MAC = "192.0.2.70", "02:00:00:00:0d:01", "02:00:00:00:0d:02"
D, D_MAC = "198.51.100.70", "02:00:00:00:0f:01"


@pytest.fixture(scope="module")
def router(isolation):
    with netns.Lab() as lab:
        made = rig.Router(lab, "packet-packet", config="""
ifconfig p0 inet 10.0.0.1/24 alias
arp -s 10.0.0.66 02:00:00:00:0a:02
sysctl net.inet.icmp.icmplim=0
sysctl net.link.ether.inet.maxtries=1
""")
        yield made
        made.stop()


def told(router, frame):
    """What its sender hears about a packet that goes nowhere."""
    back, on = router.out(frame)
    assert not on
    return [(f[ICMP].type, f[ICMP].code, f[IP].src) for f in back]


def goes(router, **ip):
    """Does a datagram of A's leave by p1?"""
    back, on = router.out(router.udp(b"does it go?", **ip))
    return len(on) == 1 and not back and on[0][IP].ttl == 63


MANY = "01:00:5e:00:00:05"


@pytest.mark.parametrize("dst,mac,why", [
    (rig.FAR, MANY, "ip-broadcast"), (rig.FAR, rig.BROADCAST, "ip-broadcast"),
    (rig.FAR, "02:00:00:00:77:77", "other-mac"),
    (rig.R0, MANY, "icmp-ignored"), (rig.R0, rig.BROADCAST, "icmp-ignored"),
    (rig.R0, "02:00:00:00:77:77", "other-mac"),
    ("224.0.0.5", None, "ip-multicast"), ("192.0.2.0", None, "icmp-ignored"),
    ("198.51.100.0", None, "ip-broadcast"),
    ("127.0.0.1", None, "ip-martian"), ("169.254.9.9", None, "ip-martian")])
def test_not_meant(router, dst, mac, why):
    """IP and link address do not agree, or it is to all of a network: neither
    passed on nor answered, and counted as what it is."""
    frame = router.echo(dst=dst, ttl=5)
    if mac:
        frame.dst = mac
    before = router.drops("p0")
    assert told(router, frame) == []
    assert router.drops("p0") - before == {why: 1}


@pytest.mark.parametrize("src", ["192.0.2.255", "192.0.2.0", rig.R0, rig.R1,
                                 "198.51.100.255", "10.0.0.255"])
def test_false_source(router, src):
    """A ping from everybody, or from ourselves, is not answered."""
    frame = router.echo()
    frame[IP].src = src
    before = router.drops("p0")["ip-martian"]
    router.w1.flush()
    assert told(router, frame) == []
    assert router.drops("p0")["ip-martian"] == before + 1


def test_error_source(router):
    """An error comes from our address in the network of who hears it."""
    frame = router.udp(ttl=1)
    assert told(router, frame) == [(11, 0, rig.R0)]
    frame[IP].src = "10.0.0.66"
    assert told(router, frame) == [(11, 0, "10.0.0.1")]


def test_arp_of_the_other_side(router):
    """Our address on p1 is none of p0's: not answered there."""
    router.w0.flush()
    router.w0.send(rig.arp_request(H_MAC, H, rig.R1),
                   rig.arp_request(H_MAC, H, rig.R0))
    reply = router.w0.wait(lambda f: ARP in f and f[ARP].op == 2)
    assert reply[ARP].psrc == rig.R0


@pytest.mark.parametrize("words,want", [
    ("-blackhole", []), ("-reject", [(3, 1, rig.R0)]), (None, [(3, 0, rig.R0)])
], ids=["blackhole", "reject", "none"])
def test_nowhere(router, words, want):
    if words:
        router.m.tool(f"route add -net 198.18.5.0/24 127.0.0.1 {words}")
    assert told(router, router.udp(dst="198.18.5.5")) == want
    if words:
        router.m.tool("route delete -net 198.18.5.0/24")


@pytest.mark.parametrize("words", [
    f"-net 198.18.6.0/24 {rig.R0}", f"-net 198.18.6.0/24 {rig.R1}",
    "-net 198.18.6.0/24 203.0.113.9", "-net 198.18.6.0/24 192.0.2.255",
    "-net 198.18.6.0/24 198.18.6.1"],
    ids=["ourselves", "other-side", "not-on-a-link", "broadcast", "itself"])
def test_bad_gateway(router, words):
    """A gateway that cannot be one is refused, and nothing changes."""
    routes = router.m.tool("netstat -rn")
    p = router.m.try_tool("route", "add", *words.split())
    assert p.returncode != 0 and p.stdout + p.stderr != ""
    assert router.m.tool("netstat -rn") == routes


def test_route_mtu(router):
    """The MTU that a sender is told is the smaller of route and link."""
    router.m.tool("ifconfig p1 mtu 1400")
    for mtu, want in ((1300, 1300), (9000, 1400)):
        router.m.tool(f"route add -net 198.18.8.0/24 {rig.C} -mtu {mtu}")
        back, on = router.out(router.udp(bytes(1400), flags="DF",
                                         dst="198.18.8.1"))
        assert not on and [f[ICMP].nexthopmtu for f in back] == [want]
        router.m.tool("route delete -net 198.18.8.0/24")
    router.m.tool("ifconfig p1 mtu 1500")


def test_point_to_point_networks(router):
    """In a /31 there is no broadcast, and a /32 is its host alone."""
    router.m.tool("ifconfig p1 inet 198.18.9.0/31 alias")
    router.m.tool("ifconfig p1 inet 198.18.9.8/32 alias")
    router.m.tool(f"arp -s 198.18.9.1 {rig.C_MAC}")
    assert goes(router, dst="198.18.9.1")
    for dst in ("198.18.9.0", "198.18.9.8"):
        assert told(router, router.echo(dst=dst)) == [(0, 0, dst)]
    assert told(router, router.udp(dst="198.18.9.9")) == [(3, 0, rig.R0)]
    router.m.tool("ifconfig p1 inet 198.18.9.0 delete")
    router.m.tool("ifconfig p1 inet 198.18.9.8 delete")
    assert told(router, router.echo(dst="198.18.9.0")) == [(3, 0, rig.R0)]


def test_second_address(router):
    """Of two addresses in one network either may go; the network stays."""
    second = "198.51.100.2"
    router.m.tool(f"ifconfig p1 inet {second}/24 alias")
    router.m.tool(f"ifconfig p1 inet {rig.R1} delete")
    assert goes(router, dst=rig.C) and goes(router)
    assert told(router, router.echo(dst=second)) == [(0, 0, second)]
    router.m.tool(f"ifconfig p1 inet {rig.R1}/24 alias")
    router.m.tool(f"ifconfig p1 inet {second} delete")
    assert goes(router, dst=rig.C) and goes(router)


def test_down_and_up(router):
    """While p1 is down its hosts are unreachable; when it is up again, so are
    they, also those that were asked for in vain."""
    answer = rig.arp_request(D_MAC, D, rig.R1)
    router.m.tool(f"route add -host 198.18.9.9 {D}")
    router.m.tool("ifconfig p1 down")
    router.w0.flush()
    router.w0.send(router.udp(dst="198.18.9.9"))
    router.w0.wait(lambda f: ICMP in f and
                   (f[ICMP].type, f[ICMP].code) == (3, 1))
    router.w0.send(router.udp(dst=rig.C))
    router.w0.wait(lambda f: ICMP in f and
                   (f[ICMP].type, f[ICMP].code) == (3, 0))
    router.m.tool("ifconfig p1 up")
    router.w1.flush()
    router.w0.send(router.udp(dst="198.18.9.9"))
    router.w1.wait(lambda f: ARP in f and f[ARP].pdst == D)
    router.w1.send(answer)
    router.w1.wait(lambda f: UDP in f and f.dst == D_MAC)
    assert goes(router, dst=rig.C)
    router.m.tool("route delete -host 198.18.9.9")


def test_peer_moves(router):
    """A host changes its MAC in the middle of a flow: announced once, the
    very next packet goes there."""
    router.w0.send(rig.arp_request(H_MAC, H, rig.R0))
    for mac in (H_MAC, NEW_MAC, H_MAC):
        router.w0.flush()
        router.w0.send(Ether(src=mac, dst=rig.BROADCAST) / ARP(
            op=1, hwsrc=mac, psrc=H, pdst=H))
        router.w0.send(*(router.udp(b"%d" % i, dst=H) for i in range(5)))
        got = []
        router.w0.until(lambda f: UDP in f and f[IP].dst == H and
                        got.append(f.dst) or len(got) == 5)
        assert got == [mac] * 5
    router.m.tool(f"arp -d {H}")


def test_trailing_bytes(router):
    """What stands behind ip_len is no part of it: not passed on, and not
    summed up by who finishes a checksum for its sender."""
    frame = bytes(router.a() / UDP(sport=1, dport=2) / Raw(b"x" * 60))
    _, on = router.out_bytes(frame + b"\xee" * 40)
    assert [len(f) for f in on] == [len(frame)]
