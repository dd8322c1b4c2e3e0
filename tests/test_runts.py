# SPDX-License-Identifier: BSD-2-Clause
"""Frames that are too short for what they say they are, and others that are
none of ours: nothing comes out but what is whole, and each is counted.

The daemon is best run with the address sanitizer here: frames lie in buffers
that begin with older data, so a read past the end is not seen by its effect.
"""

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

import conftest
import netns
import rig


@pytest.fixture(scope="module", params=["packet-packet", "xdp-xdp",
                                        "tap-tap"])
def router(request, isolation):
    conftest.need(request.param.split("-")[0])
    with netns.Lab() as lab:
        made = rig.Router(lab, request.param)
        yield made
        made.stop()


def counted(router, *frames):
    """Frames of which nothing comes out; how they were counted on p0."""
    before = router.drops("p0")
    back, on = router.out(*frames)
    assert not back and not on
    return router.drops("p0") - before


def interface_errors(router):
    return router.m.call("if.list", {"name": "p0"})["interfaces"][0][
        "counters"]["ierrors"]


def test_smallest(router):
    """A bare IP header is a whole packet; it leaves padded with zeros."""
    frame = bytes(router.a(proto=253))
    assert len(frame) == 34
    _, on = router.out_bytes(frame)
    assert len(on) == 1 and len(on[0]) == 60
    assert on[0][34:] == bytes(26)


def test_cut_everywhere(router):
    """A packet cut at every byte behind the Ethernet header."""
    whole = bytes(router.udp(b"0123456789"))
    cut = [whole[:n] for n in range(15, len(whole))]
    errors = interface_errors(router)
    lost = counted(router, *cut)
    assert sum(lost.values()) == len(cut), lost
    assert interface_errors(router) - errors == len(cut)
    assert set(lost) <= {"runt", "ip-too-small", "ip-short"}, lost


def test_bare_header(router):
    """An Ethernet header and nothing else."""
    for kind in (0x0800, 0x0806):
        frame = Ether(src=rig.A_MAC, dst=router.macs[0], type=kind)
        assert sum(counted(router, frame).values()) == 1


def test_short_arp(router):
    whole = bytes(rig.arp_request(rig.A_MAC, rig.A, rig.R0))
    cut = [whole[:n] for n in range(15, len(whole))]
    lost = counted(router, *cut)
    assert sum(lost.values()) == len(cut)
    assert set(lost) <= {"runt", "arp-bad"}, lost


def test_802_3(router):
    """A length instead of a type: LLC, of which there is none here."""
    frame = bytes(Ether(src=rig.A_MAC, dst=router.macs[0], type=3))
    assert counted(router, frame + b"\xaa\xaa\x03" + bytes(43))["llc"] == 1


def test_unknown_type(router):
    frame = bytes(Ether(src=rig.A_MAC, dst=router.macs[0], type=0x88b5))
    assert counted(router, frame + bytes(46))["ethertype"] == 1


def test_multicast_source(router):
    frame = router.udp()
    frame.src = "03:00:00:00:00:01"
    assert counted(router, frame)["bad-src-mac"] == 1


@pytest.mark.parametrize("reason,fields", [
    ("ip-version", {"version": 6}), ("ip-version", {"version": 0}),
    ("ip-hlen", {"ihl": 4}), ("ip-hlen", {"ihl": 0}),
    ("ip-length", {"len": 19}), ("ip-length", {"len": 0}),
    ("ip-short", {"len": 1000}), ("ip-short", {"len": 65535}),
    ("ip-checksum", {"chksum": 0x1234}),
    ("ip-martian", {"src": "127.0.0.1"}), ("ip-martian", {"src": "0.0.0.0"}),
    ("ip-martian", {"src": "224.0.0.5"}),
    ("ip-martian", {"src": "255.255.255.255"}),
    ("ip-martian", {"dst": "127.0.0.1"}), ("ip-martian", {"dst": "240.0.0.1"}),
    ("ip-martian", {"dst": "0.0.0.1"}),
], ids=lambda v: v if isinstance(v, str) else "-".join(
    f"{k}{x}" for k, x in v.items()))
def test_bad_header(router, reason, fields):
    """Dropped in silence, under the name that netstat has for it."""
    fields = dict(fields)
    src = fields.pop("src", rig.A)
    frame = router.udp(b"netepoch is a router", **fields)
    frame[IP].src = src
    assert counted(router, bytes(frame)) == {reason: 1}
