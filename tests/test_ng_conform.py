# SPDX-License-Identifier: BSD-2-Clause
"""What FreeBSD's netgraph is known for, through ngctl: hubs, bridges, the own
node, vlan_rotate and ksocket.  macfilter and eiface have their own stories.

What passed is read off the counters of nodes.  Machines in memory only.
"""

import re
import socket

import pytest

import netns
from test_ngctl import Graph


@pytest.fixture(name="g")
def fixture_g(tmp_path):
    g = Graph(tmp_path)
    try:
        g.start()
        yield g
    finally:
        g.close()


def args(out):
    """The answers of one run, in turn."""
    return re.findall(r"^Args:\t(.*)$", out, re.M)


def number(text, field):
    found = re.search(rf"\b{field}=(\d+)", text)
    return int(found.group(1)) if found else 0


def fails(g, line, reason, *lines):
    """The last of the lines fails, and says so."""
    p = g.sh("ngctl -f -", "\n".join(lines) + "\n")
    assert p.returncode == 71, p.stderr
    assert p.stderr == f"ngctl: {line}: {reason}\n" \
                       f"ngctl: line {len(lines)}: error in file\n"
    return p.stdout


# ---- The own node, and hubs ----

def test_own_node(g):
    name = "x" * 31
    assert f"Name: {name} " in g.out(f"ngctl -n {name} show .")
    # Names may have blanks; a shell's words can tell.
    g.run("mkpeer hub a a", "name a hub", "msg hub: setpersistent")
    assert g.one("name", "hub:", "test hub") == (0, "", "")
    assert g.one("name", "test hub:", "test hub") == (0, "", "")
    assert g.nodes() == {"test hub": "hub"}
    assert g.one("shutdown", "test hub:") == (0, "", "")
    assert g.nodes() == {}
    fails(g, "send msg", "File exists", "mkpeer hub a a",
          "connect . . a b")
    fails(g, "send msg", "File exists", "mkpeer hub a a",
          "connect . . b b")
    fails(g, "send msg", "Address already in use", "mkpeer hub a a",
          "name a hub", "name . hub")


def test_queue_limit(g):
    """Nobody reads: after some hundred packets the sender is told."""
    p = g.sh("ngctl -f -", "connect . . a b\n" + "write a 1 2 3\n" * 1000)
    assert p.returncode == 71
    line = re.fullmatch(
        'ngctl: writing to hook "a": No buffer space available\n'
        r"ngctl: line (\d+): error in file\n", p.stderr)
    assert 102 < int(line.group(1)) < 1001


HUB = ["mkpeer tee t left", "name t tee", "mkpeer tee: hub right a",
       "name tee:right hub", "mkpeer hub: hole b x", "mkpeer hub: hole c x"]


def test_hub(g):
    out = g.run(*HUB, "write t 1 2 3 4 5", 'msg hub:b getstats "x"',
                'msg hub:c getstats "x"', "msg tee: getstats",
                "rmhook hub: b", "write t 1", 'msg hub:c getstats "x"')
    b, c, tee, later = args(out)
    assert b == c == "{ frames=1 octets=5 }"
    # None came back.
    right = re.search(r"right=\{ (.*?) \}", tee).group(1)
    assert (number(right, "outFrames"), number(right, "inFrames")) == (1, 0)
    assert later == "{ frames=2 octets=6 }"


def test_persistence(g):
    for kind, hook in (("hub", "a"), ("bridge", "link0")):
        g.run(f"mkpeer {kind} a {hook}", "name a stays",
              "msg stays: setpersistent", "rmhook a", "show stays:")
        assert g.nodes() == {"stays": kind}
        g.out("ngctl shutdown stays:")
        fails(g, "send msg", "No such file or directory",
              f"mkpeer {kind} a {hook}", "name a goes", "rmhook a",
              "show goes:")


def test_hub_loop(g):
    """A loop goes round and round, and its sender and its end are fine."""
    lines = ["mkpeer hub a a", "name a hub1", "mkpeer hub b b",
             "name b hub2", "connect hub1: hub2: xc1 xc1",
             "mkpeer hub2: hole h x"]
    for _ in range(5):
        g.run(*lines, "connect hub1: hub2: xc2 xc2", "write a 1",
              "shutdown hub1:", "shutdown hub2:")
    out = g.run(*lines, "write a 1", 'msg hub2:h getstats "x"',
                "connect hub1: hub2: xc2 xc2", "write a 1",
                'msg hub2:h getstats "x"', "shutdown hub1:",
                "shutdown hub2:")
    once, round_ = args(out)
    assert number(once, "frames") == 1
    assert number(round_, "frames") > 7
    assert g.nodes() == {}


# ---- bridge ----

MULTI, BROAD = "255 4 6 0 0 0", "255 255 255 255 255 255"


def frame(hook, src, dst):
    dst = dst if isinstance(dst, str) else f"2 4 6 0 0 {dst}"
    return f"write {hook} {dst} 2 4 6 0 0 {src} 8 0" + " 7" * 84


def sent(g, setup, frames, links):
    """How many frames left by each link, after each frame."""
    lines = list(setup)
    for f in frames:
        lines.append(f)
        lines += [f"msg br: getclrstats {n}" for n in links]
    found = [number(a, "xmitPackets") for a in args(g.run(*lines))]
    n = len(links)
    return [found[i:i + n] for i in range(0, len(found), n)]


BRIDGE = ["mkpeer bridge a link0", "name a br", "connect br: b link1",
          "connect br: c link2"]


def test_bridge(g):
    assert sent(g, BRIDGE, [frame("a", 1, 0), frame("b", 2, 0),
                            frame("c", 3, 0), frame("a", 1, 3)],
                [0, 1, 2]) == [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]]
    three, two = args(g.run(
        *BRIDGE, frame("a", 1, 0), frame("b", 2, 0), frame("c", 3, 0),
        "msg br: gettable", "rmhook b", "msg br: gettable"))
    assert number(three, "numHosts") == 3
    for n, link in ((1, 0), (2, 1), (3, 2)):
        assert f'{{ addr=02:04:06:00:00:0{n} hook="link{link}"' in three
    assert number(two, "numHosts") == 2 and "link1" not in two


def test_bridge_loop(g):
    lines = ["mkpeer bridge a link0", "name a br", "mkpeer bridge b link1",
             "name b br2", "connect br: br2: link11 link11",
             frame("a", 1, 0), "msg br2: getstats 1",
             "connect br: br2: link12 link12", frame("a", 1, 0)]
    out = fails(g, 'writing to hook "a"',
                "Too many levels of symbolic links", *lines)
    assert number(args(out)[0], "xmitPackets") == 1
    # They hold each other: one goes with the other.
    assert g.nodes() == {"br": "bridge", "br2": "bridge"}
    g.run("shutdown br:")
    assert g.nodes() == {}


# Entering at link0 (a), uplink1 (b), uplink2 (c), link3 (d): who gets it.
UPLINKS = [
    (("b", 1, 0), [0, 0, 1, 0], [1, 0, 1, 1]),
    (("a", 0, 2), [0, 1, 1, 0], [0, 1, 1, 1]),
    (("c", 2, 0), [1, 0, 0, 0], [1, 0, 0, 0]),
    (("d", 3, 0), [1, 0, 0, 0], [1, 0, 0, 0]),
    (("b", 1, 2), [0, 0, 1, 0], [1, 0, 1, 1]),
    (("a", 0, 2), [0, 1, 1, 0], [0, 1, 1, 1]),
    (("b", 1, MULTI), [1, 0, 1, 1], [1, 0, 1, 1]),
    (("a", 0, MULTI), [0, 1, 1, 1], [0, 1, 1, 1]),
    (("b", 1, BROAD), [1, 0, 1, 1], [1, 0, 1, 1]),
    (("a", 0, BROAD), [0, 1, 1, 1], [0, 1, 1, 1]),
]


@pytest.mark.parametrize("first", ["uplink1", "link0"])
def test_bridge_uplinks(g, first):
    """A bridge whose first hook is an uplink keeps what it does not know
    from its links."""
    hooks = {"link0": "a", "uplink1": "b", "uplink2": "c", "link3": "d"}
    setup = [f"mkpeer bridge {hooks[first]} {first}",
             f"name {hooks[first]} br"]
    setup += [f"connect br: {own} {link}" for link, own in hooks.items()
              if link != first]
    column = 1 if first == "uplink1" else 2
    assert sent(g, setup, [frame(*row[0]) for row in UPLINKS],
                [0, -1, -2, 3]) == [row[column] for row in UPLINKS]


# ---- vlan_rotate ----

def tagged(hook, n):
    """A frame with n tags, 1 and up."""
    tags = "".join(f" 0x81 0 0 {i + 1}" for i in range(n))
    return f"write {hook} 2 4 6 0 0 1 2 4 6 0 0 2{tags} 8 0" + " 7" * 46


def test_vlan_rotate(g):
    setup = ["mkpeer vlan_rotate a original", "name a vr"]
    setup += [f"mkpeer vr: hole {way} x"
              for way in ("ordered", "excessive", "incomplete")]
    lines = setup + ["msg vr: setconf { min=3 max=7 rot=0 }",
                     "msg vr: getconf"]
    lines += [tagged("a", n) for n in range(9, 0, -1)]
    conf, ordered, excessive, incomplete, stat = args(g.run(
        *lines, *(f'msg vr:{way} getstats "x"'
                  for way in ("ordered", "excessive", "incomplete")),
        "msg vr: getstat"))
    assert conf == "{ min=3 max=7 }"
    assert [number(a, "frames") for a in (ordered, excessive, incomplete)] \
        == [5, 2, 2]
    assert (number(stat, "excessive"), number(stat, "incomplete")) == (2, 2)
    for text in ("{ min=0 max=9 rot=-3 }", "{min=0 max=9 rot=3}"):
        g.out("ngctl shutdown vr:")
        out = args(g.run(*setup, f"msg vr: setconf {text}",
                         "msg vr: getconf"))
        assert number(out[0], "max") == 9
        assert ("rot=-3" in out[0]) == ("-3" in text)


# ---- ksocket ----

def test_ksocket(g):
    """A datagram of the graph's at a socket of the host's, and back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        s.settimeout(10)
        port = s.getsockname()[1]
        g.run("mkpeer ksocket ks inet/dgram/udp",
              f"msg ks connect inet/127.0.0.1:{port}", "write ks 1 2 3")
        assert s.recv(100) == b"\1\2\3"

        g.run("mkpeer hub a a", "name a hub", "msg hub: setpersistent")
        g.out("ngctl mkpeer hub: ksocket ks inet/dgram/udp")
        g.out("ngctl mkpeer hub: hole h x")
        g.out("ngctl msg hub:ks bind inet/127.0.0.1:0")
        name, = args(g.out("ngctl msg hub:ks getname"))
        s.sendto(b"thirteen byte",
                 ("127.0.0.1", int(name.removeprefix("inet/127.0.0.1:"))))
        netns.wait_for(lambda: args(g.out(
            "ngctl msg hub:h getstats '\"x\"'")) ==
            ["{ frames=1 octets=13 }"], 10)
