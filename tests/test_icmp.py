# SPDX-License-Identifier: BSD-2-Clause
"""ICMP of the router: what is answered, what must not be, and how often."""

import pytest
from scapy.layers.inet import ICMP, IP, UDP, IPOption_NOP, IPOption_RR
from scapy.packet import Raw

import netns
import rig


@pytest.fixture(scope="module")
def router(isolation):
    with netns.Lab() as lab:
        made = rig.Router(lab, "packet-packet",
                          config="sysctl net.inet.icmp.icmplim=0\n")
        yield made
        made.stop()


def answers(router, frame):
    """Types and codes of what comes back; nothing may go on."""
    back, on = router.out(frame)
    assert not on
    return [(f[ICMP].type, f[ICMP].code) for f in back]


@pytest.mark.parametrize("size", [0, 1, 56, 1472])
def test_echo(router, size):
    """The data comes back as it is, from the address that was asked."""
    for dst in (rig.R0, rig.R1):
        data = bytes(i % 251 for i in range(size))
        back, _ = router.out(router.a(dst=dst, id=99) /
                             ICMP(id=7, seq=3) / Raw(data))
        reply, = back
        assert (reply[IP].src, reply[IP].dst) == (dst, rig.A)
        assert (reply[ICMP].type, reply[ICMP].id, reply[ICMP].seq) == (0, 7, 3)
        message = bytes(reply[IP].payload)[:reply[IP].len - 20]
        assert message[8:] == data and rig.sum16(message) == 0xffff
        assert reply[IP].ttl == 64


def test_bad_echo(router):
    """A wrong ICMP checksum: counted, not answered."""
    before = router.drops("p0")["icmp-bad"]
    assert answers(router, router.a(dst=rig.R0) / ICMP(chksum=1)) == []
    assert router.drops("p0")["icmp-bad"] == before + 1


def test_quote(router):
    """An error quotes as much as goes into 576 bytes, and is well formed."""
    sent = router.udp(bytes(1400), ttl=1, tos=4)
    back, _ = router.out(sent)
    error, = back
    assert error[IP].len <= 576
    message = bytes(error[IP].payload)[:error[IP].len - 20]
    assert rig.sum16(message) == 0xffff
    quote = message[8:]
    assert len(quote) >= 28 and bytes(sent[IP]).startswith(quote)


# Each would earn an error, were it not for what it is.
SILENT = {
    "icmp-error": dict(ttl=1, proto=1),
    "later-fragment": dict(ttl=1, frag=185, proto=17),
    "from-broadcast": dict(ttl=1, src="192.0.2.255"),
    "from-nobody": dict(ttl=1, src="0.0.0.0"),
    "from-multicast": dict(ttl=1, src="224.0.0.5"),
    "from-loopback": dict(ttl=1, src="127.0.0.1"),
    "from-everybody": dict(ttl=1, src="255.255.255.255"),
    "to-multicast": dict(ttl=1, dst="224.0.0.251"),
}


@pytest.mark.parametrize("name", SILENT)
def test_silent(router, name):
    """No error about it; a drop that is counted."""
    frame = router.udp()
    if name == "icmp-error":
        frame = router.a() / ICMP(type=3, code=1) / IP(
            src=rig.FAR, dst=rig.A) / UDP() / Raw(b"12345678")
    for field, value in SILENT[name].items():
        setattr(frame[IP], field, value)
    if name == "to-multicast":
        frame.dst = "01:00:5e:00:00:fb"
    before = sum(router.drops("p0").values())
    assert answers(router, frame) == []
    assert sum(router.drops("p0").values()) == before + 1


def test_silent_by_link(router):
    """Nor about what came as a broadcast of the link."""
    frame = router.udp(ttl=1)
    frame.dst = rig.BROADCAST
    assert answers(router, frame) == []


def test_control(router):
    """And the same without any of that is answered."""
    assert answers(router, router.a(ttl=1) / ICMP()) == [(11, 0)]


def test_broadcast_echo(router):
    """Pings to everybody are ignored, unless switched on."""
    asked = router.a(dst="192.0.2.255") / ICMP(id=5)
    asked.dst = rig.BROADCAST
    assert answers(router, asked) == []
    router.m.tool("sysctl net.inet.icmp.bmcastecho=1")
    back, _ = router.out(asked)
    router.m.tool("sysctl net.inet.icmp.bmcastecho=0")
    assert [f[IP].src for f in back] == [rig.R0]


def test_limit(router):
    """Errors above the rate are not sent, and counted."""
    router.m.tool("sysctl net.inet.icmp.icmplim=10 "
                  "net.inet.icmp.icmplim_jitter=0")
    before = router.stats("icmp")
    frame = bytes(router.udp(ttl=1))
    back, _ = router.out_bytes(*[frame] * 300)
    after = router.stats("icmp")
    router.m.tool("sysctl net.inet.icmp.icmplim=0")
    sent = after["errors"] - before["errors"]
    assert len(back) == sent
    assert after["errors-limited"] - before["errors-limited"] == 300 - sent > 0


def options(router, *opts, **ip):
    return router.out(router.udp(b"with options", options=list(opts), **ip))


def raw_options(router, opts, **ip):
    """The same with the bytes of the options, right or wrong."""
    frame = bytearray(bytes(router.udp(
        b"with options", options=[IPOption_NOP()] * len(opts), **ip)))
    frame[34:34 + len(opts)] = opts
    frame[24:26] = bytes(2)
    header = bytes(frame[14:34 + len(opts)])
    frame[24:26] = (~rig.sum16(header) & 0xffff).to_bytes(2, "big")
    return router.out(bytes(frame))


def test_record_route(router):
    """The machine writes its own address of the way out, and moves the
    pointer; a full list passes as it is."""
    back, on = options(router, IPOption_RR(length=15, pointer=4,
                                           routers=["0.0.0.0"] * 3),
                       IPOption_NOP())
    assert not back
    rr = on[0][IP].options[0]
    assert rr.routers == [rig.R1, "0.0.0.0", "0.0.0.0"] and rr.pointer == 8
    _, on = options(router, IPOption_RR(length=7, pointer=8,
                                        routers=[rig.A]), IPOption_NOP())
    assert on[0][IP].options[0].routers == [rig.A]


@pytest.mark.parametrize("text", ["1e04abcd", "01010100", "94040000"],
                         ids=["unknown", "nops", "router-alert"])
def test_options_kept(router, text):
    """What a router has no part in goes on as it came."""
    opts = bytes.fromhex(text)
    _, on = raw_options(router, opts)
    assert bytes(on[0][IP])[20:20 + len(opts)] == opts
    assert rig.sum16(bytes(on[0][IP])[:on[0][IP].ihl * 4]) == 0xffff


@pytest.mark.parametrize("text,at", [
    ("07000400", 21), ("070b040000000000", 21), ("0707030000000000", 22),
    ("440809f000000001", 22)],
    ids=["no-length", "too-long", "pointer-too-small", "timestamp-pointer"])
def test_options_wrong(router, text, at):
    """Parameter problem, with the place of the wrong byte."""
    back, on = raw_options(router, bytes.fromhex(text))
    assert not on
    assert [(f[ICMP].type, f[ICMP].code, f[ICMP].ptr) for f in back] == [
        (12, 0, at)]


@pytest.mark.parametrize("dst", [rig.R0, rig.FAR])
def test_source_route(router, dst):
    """Refused, and the log says so, but not for each packet."""
    route = bytes.fromhex("830704") + bytes([203, 0, 113, 9]) + b"\0"
    before = router.m.text().count("source route from")
    for _ in range(3):
        back, on = raw_options(router, route, dst=dst)
        assert not on
        assert [(f[ICMP].type, f[ICMP].code) for f in back] == [(3, 5)]
    assert router.m.text().count("source route from") - before <= 3
    assert f"source route from {rig.A} to" in router.m.text()


def test_options_ignored(router):
    router.m.tool("sysctl net.inet.ip.process_options=0")
    try:
        _, on = options(router, IPOption_RR(length=7, pointer=4,
                                            routers=["0.0.0.0"]),
                        IPOption_NOP())
        assert on[0][IP].options[0].routers == ["0.0.0.0"]
    finally:
        router.m.tool("sysctl net.inet.ip.process_options=1")


def test_options_rejected(router):
    router.m.tool("sysctl net.inet.ip.process_options=2")
    try:
        router.w0.flush()
        router.w0.send(router.udp(options=rig.NOPS))
        router.w0.wait(lambda f: ICMP in f and
                       (f[ICMP].type, f[ICMP].code) == (3, 13))
    finally:
        router.m.tool("sysctl net.inet.ip.process_options=1")
