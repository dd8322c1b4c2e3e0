# SPDX-License-Identifier: BSD-2-Clause
"""VLAN and priority tags look the same whichever driver brings them.

Linux gives packet sockets the outer tag beside the frame; AF_XDP and TAP
leave it in.  VID 0 is a priority and counts as no tag; a VID that no
interface has is dropped and counted.
"""

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether

import conftest
import netns
import rig


@pytest.fixture(scope="module", params=["packet-packet", "xdp-xdp", "generic",
                                        "tap-tap"])
def router(request, isolation):
    generic = request.param == "generic"
    pair = "xdp-xdp" if generic else request.param
    conftest.need(pair.split("-")[0])
    with netns.Lab() as lab:
        made = rig.Router(lab, pair,
                          options=[",mode=generic" * generic] * 2)
        yield made
        made.stop()


def tagged(frame, *tags):
    """The frame with these tags, the outer one first."""
    head = Ether(src=frame.src, dst=frame.dst)
    for tag in tags:
        head = head / tag
    return head / frame.payload


def echoes(router, *frames):
    """How many of these echo requests are answered."""
    back, _ = router.out(*frames)
    assert all(Dot1Q not in f and Dot1AD not in f for f in back)
    return len([f for f in back if ICMP in f and f[ICMP].type == 0])


@pytest.mark.parametrize("tags", [
    [Dot1Q(prio=7, id=1, vlan=0)], [Dot1Q(prio=3, vlan=0)],
    [Dot1AD(prio=3, vlan=0)]], ids=["prio7", "prio3", "88a8"])
def test_priority(router, tags):
    assert echoes(router, tagged(router.echo(), *tags)) == 1
    _, on = router.out(tagged(router.udp(b"has a priority"), *tags))
    assert len(on) == 1 and on[0].type == 0x0800
    assert on[0][IP].ttl == 63 and b"has a priority" in bytes(on[0])


def test_priority_arp(router):
    router.w0.flush()
    router.w0.send(tagged(rig.arp_request(rig.A_MAC, rig.A, rig.R0),
                          Dot1Q(prio=5, vlan=0)))
    reply = router.w0.wait(lambda f: ARP in f and f[ARP].op == 2 and
                           f[ARP].pdst == rig.A)
    assert reply[ARP].hwsrc == router.macs[0] and reply.type == 0x0806


@pytest.mark.parametrize("tags", [
    [Dot1Q(vlan=100)], [Dot1Q(prio=6, vlan=1)], [Dot1Q(vlan=4095)],
    [Dot1AD(vlan=10)], [Dot1AD(vlan=10), Dot1Q(vlan=100)],
    [Dot1Q(vlan=0), Dot1Q(vlan=100)], [Dot1Q(vlan=0), Dot1Q(vlan=0)]],
    ids=["100", "1", "4095", "88a8", "qinq", "behind-0", "0-twice"])
def test_unknown(router, tags):
    """No interface has that VID: nothing comes out, and it is counted."""
    before = router.drops("p0")
    back, on = router.out(tagged(router.echo(), *tags),
                          tagged(router.udp(), *tags))
    assert not back and not on
    lost = router.drops("p0") - before
    assert lost["no-vlan"] == 2, lost
    errors = router.m.tool("netstat -s")
    assert "for an unknown VLAN" in errors


def test_tag_alone(router):
    """A tag with nothing behind it is a runt; Linux, who takes it off for
    packet sockets, drops it itself there."""
    before = sum(router.drops("p0").values())
    head = Ether(src=rig.A_MAC, dst=router.macs[0], type=0x8100)
    back, on = router.out(bytes(head) + b"\0\0",
                          bytes(head) + b"\0\0\x08\0")
    assert not back and not on
    dropped = sum(router.drops("p0").values()) - before
    assert dropped == (0 if router.pair == "packet-packet" else 2)
