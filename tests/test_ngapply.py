# SPDX-License-Identifier: BSD-2-Clause
"""ngctl apply: a graph from a file, as a whole or not at all, once for ever.

Machines in memory only: no namespaces and no rights are needed.
"""

import json
import random
import signal
import subprocess

from test_ngctl import Graph, Held, fixture_g  # noqa: F401 (a fixture)

NOTHING = "nothing to change\n"
UNDONE = "ngctl: apply: nothing has been changed\n"

TWO = """
# two switches and a tap between them
node sw1 bridge
node sw2 bridge
node tap tee
edge sw1:link0 tap:left
edge sw2:link0 tap:right
msg sw1 setpersistent
set sw1 getconfig = setconfig { loopTimeout=90 maxStaleness=600 \
minStableAge=1 }
"""
STEPS = """\
+ node sw1 bridge
+ node sw2 bridge
+ node tap tee
+ edge sw1:link0 tap:left
+ edge sw2:link0 tap:right
+ msg sw1 setpersistent
+ set sw1 setconfig { loopTimeout=90 maxStaleness=600 minStableAge=1 }
"""


def state(g):
    """All that apply may touch: nodes, edges, and the switches' settings."""
    conf = {}
    for name, kind in g.nodes().items():
        if kind == "bridge":
            conf[name] = g.one("msg", f"{name}:", "getconfig")[1]
    return g.nodes(), g.links(), conf


def refuse(g, text, why, undone=False):
    """Applying text fails for that reason and leaves everything as it was."""
    before = state(g)
    status, out, err = g.apply(text)
    assert (status, out) == (71, ""), (out, err)
    if undone:
        assert err == f"ngctl: apply: {why}\n{UNDONE}"
    else:
        assert err == f"ngctl: apply: {g.path}/graph: {why}\n"
    assert state(g) == before


def test_apply(g):
    assert g.apply(TWO, "-n") == (0, STEPS, "")
    assert g.nodes() == {}
    assert g.apply(TWO) == (0, STEPS, "")
    assert g.nodes() == {"sw1": "bridge", "sw2": "bridge", "tap": "tee"}
    assert g.links() == {
        "sw1:link0 tap:left", "tap:left sw1:link0",
        "sw2:link0 tap:right", "tap:right sw2:link0"}
    assert "loopTimeout=90 maxStaleness=600" in g.out(
        "ngctl msg sw1: getconfig")
    for _ in range(2):
        assert g.apply(TWO) == (0, NOTHING, "")
        assert g.apply(TWO, "-n") == (0, NOTHING, "")
    # By words of a file on standard input, as JSON.
    g.out("ngctl msg sw1: setconfig { loopTimeout=7 maxStaleness=600 "
          "minStableAge=1 }")
    want = {"apply": {"applied": False, "changes": [
        "- set sw1 setconfig { loopTimeout=7 maxStaleness=600 minStableAge=1 "
        "}\n+ set sw1 setconfig { loopTimeout=90 maxStaleness=600 "
        "minStableAge=1 }"]}}
    assert json.loads(g.out("ngctl apply -nj -", TWO)) == want
    want["apply"]["applied"] = True
    assert json.loads(g.out("ngctl --libxo json apply -", TWO)) == want
    assert g.apply(TWO) == (0, NOTHING, "")
    # Only what is missing is made: sw2 has gone with its last hook.
    g.out("ngctl rmhook tap: right")
    assert g.apply(TWO) == (0, "+ node sw2 bridge\n"
                               "+ edge sw2:link0 tap:right\n", "")


def test_json_file(g):
    text = json.dumps({
        "nodes": [{"name": "test hub", "type": "hub"},
                  {"name": "sw", "type": "bridge", "exclusive": True}],
        "edges": [["test hub:a", "sw:link0"]],
        "messages": [
            {"node": "test hub", "msg": "setpersistent"},
            {"node": "sw", "get": "getconfig",
             "set": "setconfig { loopTimeout=60 maxStaleness=900 "
                    "minStableAge=2 }"}],
        "absent": ["old", "test hub:b"]})
    assert g.apply(text)[::2] == (0, "")
    assert g.apply(text) == (0, NOTHING, "")
    assert g.one("connect", "test hub:", "sw:", "b", "link5")[0] == 0
    assert g.apply(text) == (0, "- edge test hub:b sw:link5\n", "")
    assert g.nodes() == {"test hub": "hub", "sw": "bridge"}


def test_moves_and_removals(g):
    g.apply(TWO)
    # The tap goes, the switches are joined directly: first the new edge.
    direct = ("node sw1 bridge\nnode sw2 bridge\nedge sw1:link1 sw2:link1\n"
              "absent tap\nexclusive sw1 sw2\n")
    assert g.apply(direct) == (
        0, "+ edge sw1:link1 sw2:link1\n- edge sw1:link0 tap:left\n"
        "- edge sw2:link0 tap:right\n- node tap tee\n", "")
    assert g.nodes() == {"sw1": "bridge", "sw2": "bridge"}
    assert g.links() == {"sw1:link1 sw2:link1", "sw2:link1 sw1:link1"}
    assert g.apply(direct) == (0, NOTHING, "")
    # A hook is moved from one node of the file to another.
    g.apply("node hub hub\nedge hub:a sw1:link2\nedge hub:b sw2:link2\n"
            "msg hub setpersistent\n")
    moved = "node hub hub\nedge hub:b sw1:link3\nnode sw2 bridge\n"
    assert g.apply(moved) == (
        0, "- edge hub:b sw2:link2\n+ edge hub:b sw1:link3\n", "")
    assert g.links() == {
        "sw1:link1 sw2:link1", "sw2:link1 sw1:link1", "hub:a sw1:link2",
        "sw1:link2 hub:a", "hub:b sw1:link3", "sw1:link3 hub:b"}


def test_only_named_nodes(g):
    """What the file does not name stays as it is."""
    with Held(g, "-n", "hold") as h:
        h.do("mkpeer -N other hub x a", "mkpeer x hub b c")
        g.run("mkpeer -N sw bridge p link0", "msg .p setpersistent",
              "connect sw: other: link3 d")
        before = g.links()
        g.apply(TWO)
        assert g.links() > before
        refuse(g, "node sw bridge\nnode n hub\nedge sw:link3 n:a\n",
               "line 3: sw:link3 is joined to other:d, a node that the file "
               "does not name")
        g.apply("absent sw1 sw2 tap")
        assert g.links() == before


def test_refused(g):
    """What can be known before the first change is."""
    g.apply(TWO)
    refuse(g, "node x hub\nnode", 'line 2: "" is no name of a node')
    refuse(g, "node sw1 hub", "line 1: node sw1 is of type bridge")
    refuse(g, "node new hub\nedge new:a gone:b", "line 2: there is no node "
           "gone, and the file gives it no type")
    refuse(g, "node new hub\nedge new:a tap:left", "line 2: tap:left is "
           "joined to sw1:link0, a node that the file does not name")
    refuse(g, "absent sw1:link0\nnode sw1 bridge",
           "line 2: node sw1 would lose its last hook and end")
    # Text that is none of the node's language, and a command that is none.
    refuse(g, "node new hub\nmsg sw1 setconfig { loop=1 }", "line 2: sw1: "
           "setconfig { loop=1 }: No such file or directory")
    refuse(g, "node new hub\nmsg sw1 nosuch",
           "line 2: sw1: nosuch : Function not implemented")
    refuse(g, "node new bridge\nmsg new setconfig { loopTimeout= }",
           "line 2: new: setconfig { loopTimeout= }: Invalid argument")
    # An answer that could not be given back.
    refuse(g, "set sw1 getstats 0 = setconfig { loopTimeout=1 }",
           "line 1: sw1: what getstats answers is nothing for setconfig, so "
           "that could not be undone")
    refuse(g, "set sw1 nosuch = setconfig { loopTimeout=1 }",
           "line 1: sw1: nosuch: Function not implemented")
    status, out, err = g.apply("node a hub\n", "-x")
    assert (status, out, err) == (64, "", "ngctl: usage: apply [-jn] file\n")


def test_undone(g):
    """What fails on the way is taken back, whatever came before it."""
    g.apply(TWO)
    many = ("node a hub\nnode b hub\nnode c tee\nedge a:1 b:1\nedge a:2 b:2\n"
            "edge c:left a:3\nmsg a setpersistent\nnode sw1 bridge\n"
            "node tap tee\nedge sw1:link5 b:9\n"
            "set sw1 getconfig = setconfig { loopTimeout=5 maxStaleness=6 "
            "minStableAge=7 }\n")
    refuse(g, many + "edge sw1:nosuch a:7", "+ edge sw1:nosuch a:7: Invalid "
           "argument", undone=True)
    refuse(g, many + "node d nosuch", "+ node d nosuch: No such file or "
           "directory", undone=True)
    refuse(g, many + "node d socket", "+ node d socket: Invalid argument",
           undone=True)
    refuse(g, many + "node sw2 bridge\nedge sw2:link9 tap:left\n"
           "edge c:nosuch a:8\n", "+ edge c:nosuch a:8: Invalid argument",
           undone=True)
    # A type of which there was no node is asked when there is one.
    refuse(g, many + "node o one2many\nmsg o setconfig { x=1 }",
           "line 13: o: setconfig { x=1 }: No such file or directory",
           undone=True)
    # A message that the node does not like.
    refuse(g, many + "node o one2many\nedge o:one a:o\n"
           "msg o setconfig { xmitAlg=99 failAlg=1 }", "+ msg o setconfig { "
           "xmitAlg=99 failAlg=1 }: Invalid argument", undone=True)
    # And what is to go is still there.
    refuse(g, many + "absent sw2\nedge a:x c:nosuch",
           "+ edge a:x c:nosuch: Invalid argument", undone=True)


def test_random_undone(g):
    """Files of random steps with one that fails somewhere among them."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    r = random.Random(seed)
    g.apply(TWO)
    for _ in range(25):
        names = [f"n{i}" for i in range(r.randrange(1, 6))]
        lines = [f"node {n} {r.choice(('hub', 'bridge'))}" for n in names]
        lines += ["node sw1 bridge", "node sw2 bridge", "node tap tee"]
        kinds = dict(line.split()[1:] for line in lines)
        steps, used = [], set()
        for _ in range(r.randrange(8)):
            ends = []
            while len(ends) < 2:
                n = r.choice([*kinds][:-1])
                hook = f"link{r.randrange(1, 40)}"
                if (n, hook) not in used and n not in [e[0] for e in ends]:
                    used.add((n, hook))
                    ends.append((n, hook))
            steps.append("edge " + " ".join(":".join(e) for e in ends))
        bad = r.choice(("edge tap:wrong sw1:link50", "edge sw1:x sw2:link50",
                        "edge tap:left2right sw1:wrong"))
        steps.insert(r.randrange(len(steps) + 1), bad)
        before = state(g)
        status, out, err = g.apply("\n".join(lines + steps))
        assert status == 71 and out == "" and err.endswith(UNDONE), err
        assert state(g) == before
        steps.remove(bad)
        good = "\n".join(lines + steps)
        assert g.apply(good)[::2] == (0, ""), good
        assert g.apply(good) == (0, NOTHING, "")
        assert g.apply("absent " + " ".join(names))[::2] == (0, "")
        g.apply("absent " + " ".join(
            f"{n}:{h}" for n, h in used if n in ("sw1", "sw2")))
        assert state(g)[1] == before[1]


def test_setting_that_does_not_stay(g):
    """A node that answers otherwise than it was told is told every time, and
    that is said."""
    text = ("node o one2many\nnode h hub\nedge o:one h:a\n"
            "edge o:many0 h:b\n"
            "set o getconfig = setconfig { xmitAlg=1 failAlg=1 "
            "enabledLinks=[ 7 ] }\n")
    warn = ("ngctl: apply: o: getconfig does not answer what was set, so it "
            "will be set every time\n")
    assert g.apply(text)[::2] == (0, warn)
    status, out, err = g.apply(text)
    assert status == 0 and err == warn and out.startswith("- set o setconfig")


def test_settings_of_types(g):
    """Settings of several types, one with a getter that wants a word."""
    text = ("node vr vlan_rotate\nnode b bpf\nnode v vlan\nnode h hub\n"
            "edge vr:original h:a\nedge vr:ordered h:b\nedge b:in h:c\n"
            "edge v:downstream h:d\n"
            "set vr getconf = setconf { min=1 max=9 rot=-3 }\n"
            "set v getencapproto = setencapproto 0x88a8\n"
            "set b getprogram \"in\" = setprogram { thisHook=\"in\" "
            "ifMatch=\"out\" bpf_prog_len=1 bpf_prog=[ { code=6 k=96 } ] "
            "}\n")
    assert g.apply(text)[::2] == (0, "")
    assert g.apply(text) == (0, NOTHING, "")
    other = text.replace("k=96", "k=10").replace("rot=-3", "rot=2")
    assert g.apply(other)[::2] == (0, "")
    assert "k=10" in g.out("ngctl msg b: getprogram '\"in\"'")
    # Refused on the way: program and rotation come back.
    refuse(g, text + "edge v:nomatch h:e\nedge vr:wrong h:f\n",
           "+ edge vr:wrong h:f: Invalid argument", undone=True)
    assert g.apply(other) == (0, NOTHING, "")


def test_signal_waits(g):
    """Ctrl-C in the middle: the whole graph is there, or nothing of it."""
    lines = [f"node n{i} hub" for i in range(300)]
    lines += [f"edge n{i}:a n{i + 1}:b" for i in range(299)]
    path = g.file("\n".join(lines), "big")
    counts = set()
    for delay in (0.002, 0.004, 0.008, 0.016, 0.03):
        p = subprocess.Popen([g.path / "bin/ngctl", "apply", str(path)],
                             env=g.env, stdout=subprocess.DEVNULL)
        try:
            p.wait(delay)
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGINT)
        p.wait(20)
        counts.add((len(g.nodes()), len(g.links())))
        g.apply("absent " + " ".join(f"n{i}" for i in range(300)))
        assert g.nodes() == {}
    assert counts <= {(0, 0), (300, 598)}, counts


def test_in_configuration(tmp_path):
    """A machine's file of commands may bring its graph along."""
    g = Graph(tmp_path)
    graph = g.file(TWO, "graph")
    conf = g.file(f"ngctl apply {graph}\nngctl mkpeer -N more sw1: hub link7 "
                  "a\n", "conf")
    try:
        g.start("M1", conf)
        assert g.nodes() == {"sw1": "bridge", "sw2": "bridge", "tap": "tee",
                             "more": "hub"}
    finally:
        g.close()
