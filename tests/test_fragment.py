# SPDX-License-Identifier: BSD-2-Clause
"""Fragments: made on the way to a smaller MTU, put together for ourselves."""

import random

import pytest
from scapy.layers.inet import ICMP, IP, fragment
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import conftest
import netns
import rig

DATA = random.Random(7).randbytes(1472)


@pytest.fixture(scope="module", params=["packet-packet", "xdp-xdp"])
def router(request, isolation):
    conftest.need(request.param.split("-")[0])
    with netns.Lab() as lab:
        made = rig.Router(lab, request.param,
                          config="ifconfig p1 mtu 1000\n")
        made.sink.ip("link set s0 mtu 1000")
        yield made
        made.stop()


def pieces(router, frame):
    """(offset, more, data) of what comes out; each piece is well formed."""
    forwarded = router.stats()["forwarded"]
    back, on = router.out(frame)
    assert not back
    assert router.stats()["forwarded"] == forwarded + 2     # and the marker
    found = []
    for f in on:
        ip = f[IP]
        assert (ip.id, ip.ttl, ip.len <= 1000) == (frame[IP].id, 63, True)
        assert rig.sum16(bytes(ip)[:ip.ihl * 4]) == 0xffff
        found.append((ip.frag, int(ip.flags.MF),
                      bytes(ip)[ip.ihl * 4:ip.len]))
    return found


def test_split(router):
    sent = router.udp(DATA, id=0x1111)
    got = pieces(router, sent)
    assert [(o, more, len(d)) for o, more, d in got] == [
        (0, 1, 976), (122, 0, 504)]
    assert b"".join(d for _, _, d in got) == bytes(sent[IP].payload)


def test_do_not(router):
    """With DF its sender learns of the MTU instead."""
    back, on = router.out(router.udp(DATA, flags="DF"))
    assert not on
    assert [(f[ICMP].type, f[ICMP].code, f[ICMP].nexthopmtu)
            for f in back] == [(3, 4, 1000)]


def test_split_again(router):
    """What is a fragment already: offsets and the flag go on from there."""
    for frag, flags, want in ((185, "MF", [(185, 1), (307, 1)]),
                              (370, 0, [(370, 1), (492, 0)])):
        sent = router.a(id=0x1113, frag=frag, flags=flags, proto=17) / \
            Raw(DATA + bytes(8))
        got = pieces(router, sent)
        assert [(o, more) for o, more, _ in got] == want
        assert b"".join(d for _, _, d in got) == DATA + bytes(8)


def test_fits(router):
    assert [(o, more, len(d)) for o, more, d in
            pieces(router, router.udp(bytes(972), id=3))] == [(0, 0, 980)]
    assert [(o, more, len(d)) for o, more, d in
            pieces(router, router.udp(bytes(973), id=4))] == [
                (0, 1, 976), (122, 0, 5)]


def test_linux_puts_together(router):
    """A host gets what the other sent, in pieces and back."""
    rig.ping(router.gen, rig.SINK, "-s", "1472", "-M", "dont")


@pytest.mark.parametrize("order", ["in-order", "backwards", "shuffled"])
def test_for_us(router, order):
    """A large echo request in fragments gets one answer."""
    whole = Ether(src=rig.A_MAC, dst=router.macs[0]) / IP(
        src=rig.A, dst=rig.R0, id=hash(order) & 0xffff) / ICMP(
            id=9) / Raw(DATA + DATA)
    parts = fragment(whole, 600)
    if order == "backwards":
        parts.reverse()
    if order == "shuffled":
        random.Random(3).shuffle(parts)
    router.w0.flush()
    router.w0.send(*parts)
    data, end = {}, None
    while end is None or sum(map(len, data.values())) < end:
        f = router.w0.wait(lambda f: IP in f and f[IP].src == rig.R0 and
                           f[IP].proto == 1)
        data[f[IP].frag] = bytes(f[IP])[20:f[IP].len]
        if not f[IP].flags.MF:
            end = f[IP].frag * 8 + len(data[f[IP].frag])
    message = b"".join(data[k] for k in sorted(data))
    assert message[0] == 0 and message[8:] == DATA + DATA
    assert rig.sum16(message) == 0xffff


def test_overlap(router):
    """Fragments that overlap are no packet."""
    before = router.drops("p0")

    def part(frag, flags, size):
        return router.a(dst=rig.R0, proto=1, id=77, frag=frag, flags=flags) / \
            Raw(b"\x08" + bytes(size - 1))
    back, _ = router.out(part(0, "MF", 80), part(5, 0, 80))
    assert not back
    assert (router.drops("p0") - before)["ip-fragment"] >= 1


def test_bounded(router):
    """First fragments without the rest: memory for them has an end."""
    free = router.m.call("machine.info")["mbufs_free"]
    for base in range(0, 4000, 500):
        router.out_bytes(*(bytes(router.a(
            dst=rig.R0, proto=17, id=base + i, flags="MF") / Raw(bytes(64)))
            for i in range(500)))
    left = router.m.call("machine.info")["mbufs_free"]
    assert free - left < router.m.call("machine.info")["mbufs"] / 2
    assert router.drops()["ip-frag-limit"] > 0
    rig.ping(router.gen, rig.R0)
