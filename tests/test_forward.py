# SPDX-License-Identifier: BSD-2-Clause
"""Forwarding, the same stories on every driver and pair of drivers."""

import struct

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Padding, Raw

import conftest
import netns
import rig


@pytest.fixture(scope="module", params=rig.PAIRS)
def router(request, isolation):
    for driver in request.param.split("-"):
        conftest.need(driver)
    with netns.Lab() as lab:
        made = rig.Router(lab, request.param)
        yield made
        made.stop()


def payload(frame):
    """What is behind the UDP header, without padding."""
    return bytes(frame[UDP].payload)[:frame[UDP].len - 8]


def check_header(frame):
    """The IP header's checksum is right."""
    header = bytes(frame[IP])[:frame[IP].ihl * 4]
    assert rig.sum16(header) == 0xffff


def test_ping(router):
    """Linux hosts reach each other, and the machine at both its addresses."""
    for ns, dst in ((router.sink, rig.GEN), (router.gen, rig.R0),
                    (router.gen, rig.R1)):
        rig.ping(ns, dst)
    assert "ttl=63" in rig.ping(router.gen, rig.SINK)
    # The largest that a wire takes, not to be split.
    rig.ping(router.gen, rig.SINK, "-M", "do", "-s", "1472")


def test_frame(router):
    """What leaves: new MACs, one hop less, all else as it came."""
    sent = router.udp(b"a message of 32 bytes, no more.\n", id=77, tos=0x48)
    back, on = router.out(sent)
    assert not back and len(on) == 1
    frame = on[0]
    assert (frame.dst, frame.src) == (rig.C_MAC, router.macs[1])
    want = sent[IP].copy()
    want.ttl = 63
    del want.chksum
    assert bytes(frame[IP]) == bytes(want)


@pytest.mark.parametrize("burst", [1, 2, 3, 4, 256])
def test_time_to_live(router, burst):
    """A hop less, and who has none left is told about; also in bursts."""
    router.m.tool("sysctl net.inet.icmp.icmplim=0")
    for ttl, goes in ((64, True), (2, True), (1, False), (0, False)):
        sent = bytes(router.udp(struct.pack("!H", burst), ttl=ttl))
        back, on = router.out_bytes(*[sent] * burst)
        assert len(on) == (burst if goes else 0)
        assert len(back) == (0 if goes else burst)
        # All alike: one is looked at closely.
        assert len(set(on)) <= 1
        for frame in map(Ether, on[:1]):
            assert frame[IP].ttl == ttl - 1
            assert payload(frame) == struct.pack("!H", burst)
            check_header(frame)
        assert {f[34:36] for f in back} <= {b"\x0b\0"}
        for frame in map(Ether, back[:1]):
            assert (frame[IP].src, frame[IP].dst) == (rig.R0, rig.A)
            assert frame.dst == rig.A_MAC
            # Header and at least eight bytes, as they came.
            quote = bytes(frame[ICMP].payload)
            assert quote.startswith(sent[14:42])


def test_hop_limit_to_the_router(router):
    """A packet for the machine itself needs no hop."""
    back, _ = router.out(router.echo(ttl=1),
                         router.udp(dst=rig.R1, dport=9, ttl=1))
    assert [(f[ICMP].type, f[ICMP].code) for f in back] == [(0, 0), (3, 3)]


def test_unreachable(router):
    """No route: network unreachable; a closed port here: port."""
    back, on = router.out(router.udp(dst="198.18.0.1"),
                          router.udp(dst=rig.R0))
    assert not on
    assert [(f[ICMP].type, f[ICMP].code) for f in back] == [(3, 0), (3, 3)]
    assert all(f[IP].src == rig.R0 for f in back)


def test_checksums_kept(router):
    """Right, wrong or missing: a router does not touch the transport."""
    frames = [router.udp(bytes(range(n))) for n in (0, 1, 17, 63)]
    frames += [router.a() / UDP(sport=1, dport=2, chksum=c) / Raw(b"wrong")
               for c in (0, 0xbaad, 0xffff)]
    back, on = router.out(*frames)
    assert not back and len(on) == len(frames)
    for sent, frame in zip(frames, on):
        assert bytes(frame[IP].payload)[:frame[UDP].len] == bytes(
            sent[IP].payload)
        check_header(frame)


def test_two_zeros(router):
    """Both forms of a zero header checksum are right, and are updated."""
    packet = router.udp(id=0)
    header = bytearray(bytes(packet[IP]))
    # An identification that makes the sum of all other words 0xffff.
    header[4:6] = header[10:12]
    body = bytes(packet[IP].payload)
    for zero in (b"\0\0", b"\xff\xff"):
        header[10:12] = zero
        frame = Ether(bytes(packet)[:14] + bytes(header[:20]) + body)
        _, on = router.out(frame)
        assert len(on) == 1
        assert on[0][IP].ttl == 63
        check_header(on[0])


def test_padding(router):
    """What a sender put behind the packet stays behind."""
    frame = bytes(router.udp(b"0123456789"))
    _, on = router.out(frame + b"\xee" * (60 - len(frame)))
    assert len(on) == 1 and payload(on[0]) == b"0123456789"
    assert b"\xee" not in bytes(on[0])[12:]     # behind random addresses
    if Padding in on[0]:
        assert bytes(on[0][Padding]).strip(b"\0") == b""


def test_order(router):
    """A flow stays in order, and nothing of it gets lost."""
    start = bytes(router.a() / UDP(sport=7, dport=7, chksum=0) / Raw(b"1234"))
    for first in range(0, 1000, 200):
        numbers = [struct.pack("!I", first + i) for i in range(200)]
        _, on = router.out_bytes(*(start[:42] + n for n in numbers))
        assert [f[42:46] for f in on] == numbers


def test_back_out_the_same_way(router):
    """Towards a gateway on the sender's own wire: forwarded, and the sender
    told of the better way."""
    gateway, mac = "192.0.2.254", "02:00:00:00:0b:01"
    router.m.tool(f"arp -s {gateway} {mac}")
    router.m.tool(f"route add -net 198.18.7.0/24 {gateway}")
    router.w0.flush()
    router.w0.send(router.udp(b"round trip", dst="198.18.7.7"))
    out = []
    router.w0.until(lambda f: IP in f and out.append(f) or len(out) == 2)
    (on,), (told,) = ([f for f in out if (ICMP in f) == icmp]
                      for icmp in (False, True))
    assert (on.dst, on[IP].ttl, payload(on)) == (mac, 63, b"round trip")
    assert (told[ICMP].type, told[ICMP].code, told[ICMP].gw) == (5, 1, gateway)
    router.m.tool("route delete -net 198.18.7.0/24")


def test_not_for_us(router):
    """Frames to other stations are none of the machine's business."""
    frame = router.udp()
    frame.dst = "02:00:00:00:99:99"
    back, on = router.out(frame)
    assert not back and not on
    assert router.drops("p0")["other-mac"] >= 1


def test_broadcast_and_multicast(router):
    """Counted, never forwarded, and never answered with an error."""
    before = router.drops("p0")
    link = router.udp()
    link.dst = rig.BROADCAST
    many = router.udp(dst="224.0.0.251")
    many.dst = "01:00:5e:00:00:fb"
    back, on = router.out(link, many, router.udp(dst="198.51.100.255"),
                          router.udp(dst="255.255.255.255"))
    assert not back and not on
    lost = router.drops("p0") - before
    assert lost["ip-multicast"] == 1 and lost["ip-broadcast"] >= 2


def test_unknown_station(router):
    """A host that does not exist is asked for; the sender learns that it is
    not there, and the next packet for it is refused at once."""
    router.m.tool("sysctl net.link.ether.inet.maxtries=2")
    router.w0.flush()
    router.w1.flush()
    router.w0.send(router.udp(dst="198.51.100.99"))
    asked = router.w1.wait(lambda f: ARP in f and f[ARP].op == 1)
    assert asked[ARP].pdst == "198.51.100.99"
    assert asked[ARP].psrc == rig.R1 and asked.dst == rig.BROADCAST
    told = router.w0.wait(lambda f: ICMP in f and f[ICMP].type == 3)
    assert told[ICMP].code == 1
    router.w0.send(router.udp(dst="198.51.100.99"))
    router.w0.wait(lambda f: ICMP in f and f[ICMP].type == 3 and
                   f[ICMP].code == 1)


def test_counted(router):
    """What is forwarded is counted once, on both interfaces."""
    def interfaces():
        return [router.m.call("if.list", {"name": n})["interfaces"][0][
            "counters"] for n in ("p0", "p1")]

    before, forwarded = interfaces(), router.stats()["forwarded"]
    router.out(*(router.udp() for _ in range(50)))
    # 50, and one marker.
    assert router.stats()["forwarded"] - forwarded == 51
    after = interfaces()
    assert after[0]["ipackets"] - before[0]["ipackets"] >= 52
    assert after[1]["opackets"] - before[1]["opackets"] >= 51
