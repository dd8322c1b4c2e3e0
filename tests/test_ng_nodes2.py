# SPDX-License-Identifier: BSD-2-Clause
"""Nodes at the edges of a graph and ones that keep time, with real packets.

Sockets of the host, a slow line, a rate limit, a generator, an accountant; the
hosts and the graph between them are those of test_ng_nodes.
"""

import re
import socket
import struct
import time

import netns
from test_ng_nodes import Graph, fixture_g, frame_token, udp  # noqa: F401


def host_udp(g):
    """A UDP socket beside the machine, and its port."""
    ns = g.m.ns
    ns.ip("link set lo up")
    s = ns.socket(socket.AF_INET, socket.SOCK_DGRAM, 0)
    s.settimeout(20)
    s.bind(("127.0.0.1", 0))
    return s, s.getsockname()[1]


def stat(g, node, way, name):
    """A statistic of one direction, 0 if the text leaves it out."""
    text = re.search(way + r"={ ([^}]*)}", g.text(f"{node}: getstats"))
    found = re.search(rf"\b{name}=(\d+)", text[1]) if text else None
    return int(found[1]) if found else 0


def test_ksocket(g):
    """Two nodes are an echo server, for whoever writes to it."""
    s, _ = host_udp(g)
    g.run("mkpeer echo a x", "name .:a e",
          "mkpeer e: ksocket y inet/dgram/udp", "name e:y k",
          "msg k: bind inet/127.0.0.1")
    port = int(g.text("k: getname").rsplit(":", 1)[1])
    for i in range(100):
        data = b"%d" % i * 20
        s.sendto(data, ("127.0.0.1", port))
        assert s.recvfrom(4096) == (data, ("127.0.0.1", port))
    g.run("shutdown k:")
    # Its socket is closed: the port is free.
    g.m.ns.socket(socket.AF_INET, socket.SOCK_DGRAM, 0).bind(
        ("127.0.0.1", port))


def test_pipe(g):
    g.run("mkpeer p0: pipe lower upper", "name p0:lower n",
          "connect p1: n: lower lower", "msg n: setcfg { delay=300000 }")
    for wire, to in ((g.p0, g.p1), (g.p1, g.p0)):
        before = time.monotonic()
        g.goes(udp(1), wire, to)
        assert time.monotonic() - before >= 0.3
    # 20 frames of 100 bytes and more at 80 kbit/s: 10 ms each.
    g.run("msg n: setcfg { delay=-1 bandwidth=80000 }")
    frames = [udp(2) for _ in range(20)]
    before = time.monotonic()
    g.p0.send(*frames)
    token = frame_token(frames[-1])
    g.p1.until_bytes(lambda f: token in f)
    assert time.monotonic() - before >= 20 * len(frames[0]) * 8 / 80000
    # Without the pipe its neighbours are joined.
    g.run("shutdown n:")
    g.goes(udp(3), g.p0, g.p1)


def test_car(g):
    g.run("mkpeer p0: car lower upper", "name p0:lower n",
          "connect p1: n: lower lower")
    frame = udp(1)
    # Tokens for three frames, and never another.
    one = "ebs=0 cir=0 greenAction=1 yellowAction=2 redAction=2"
    g.run(f"msg n: setconf {{ upstream={{ cbs=8192 {one} }} "
          f"downstream={{ cbs={3 * len(frame)} {one} }} }}")
    frames = [udp(1) for _ in range(10)]
    g.p0.send(*frames)
    netns.wait_for(lambda: stat(g, "n", "downstream", "red") == 7)
    assert stat(g, "n", "downstream", "green") == 3
    assert stat(g, "n", "downstream", "passed") == 3
    assert stat(g, "n", "downstream", "dropped") == 7
    token = frame_token(frames[2])
    seen = g.p1.until_bytes(lambda f: token in f)
    assert any(frame_token(frames[0]) in f for f in seen)
    g.goes(udp(2), g.p1, g.p0)


def test_source(g):
    """A frame from one wire leaves by the other a thousand times."""
    g.run("mkpeer p1: source orphans output", "name p1:orphans n",
          "connect p0: n: lower input",
          "msg n: setcounter { offset=0x2e flags=1 width=4 max_val=100000 "
          "increment=1 }")
    frame = bytes(udp(1))
    g.p0.send(frame)
    netns.wait_for(lambda: "queueFrames=" in g.text("n: getstats"))
    # Other frames may have come as well: what Linux says of itself.
    kept = int(re.search(r"queueFrames=(\d+)", g.text("n: getstats"))[1])
    g.run("msg n: start 1000")
    netns.wait_for(lambda: "endTime=" in g.text("n: getstats"))
    assert "outFrames=1000" in g.text("n: getstats")
    # Our frame is one of those in the list; the counter, in the four bytes
    # behind "toke", is of all frames.
    seen = []

    def last(f):
        if f[:42] == frame[:42]:
            seen.append(struct.unpack_from("!I", f, 46)[0])
        return bool(seen) and seen[-1] >= 1000 - kept
    g.p1.until_bytes(last)
    assert seen == list(range(seen[0], 1000, kept))


def test_netflow(g):
    """Both versions arrive at collectors on the host."""
    five, port5 = host_udp(g)
    nine, port9 = host_udp(g)
    g.run("mkpeer p0: netflow lower iface0", "name p0:lower n",
          "connect p1: n: lower out0",
          "mkpeer n: ksocket export inet/dgram/udp",
          "mkpeer n: ksocket export9 inet/dgram/udp",
          f"msg n:export connect inet/127.0.0.1:{port5}",
          f"msg n:export9 connect inet/127.0.0.1:{port9}",
          "msg n: settimeouts { inactive=1 active=1800 }")
    for _ in range(5):
        frame = udp(53)
        g.goes(frame, g.p0, g.p1)
    want = socket.inet_aton("192.0.2.1") + socket.inet_aton("198.51.100.1")
    octets = 5 * (len(frame) - 14)
    while True:
        data = five.recv(2000)
        version, count = struct.unpack_from("!HH", data)
        assert version == 5 and len(data) == 24 + 48 * count
        records = [data[i:i + 48] for i in range(24, len(data), 48)]
        mine = [r for r in records if r[:8] == want]
        if mine:
            break
    assert struct.unpack_from("!IIIIHH", mine[0], 16)[:2] == (5, octets)
    assert struct.unpack_from("!HH", mine[0], 32) == (4000, 53)
    while True:
        data = nine.recv(2000)
        assert struct.unpack_from("!H", data) == (9,)
        if want in data:
            break
    assert "IPv4 packets=" in g.text("n: info")
