# SPDX-License-Identifier: BSD-2-Clause
"""ngctl and nghook against a machine: every command, what it prints to the
blank, every error and its exit code, files, the keyboard, pictures.

Machines in memory only: no namespaces and no rights are needed.
"""

import json
import os
import re
import shutil
import subprocess

import pytest

import netns
from test_tools import Machines, Screen

USAGE = "usage: ngctl [-d] [-f file] [-n name] [command [argument ...]]\n"


class Graph(Machines):
    """A machine that has only what a story makes in its graph."""

    def file(self, text, name="f"):
        """A file of commands, or of a graph; its path."""
        path = self.path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def run(self, *lines):
        """Lines that one ngctl runs; what it printed."""
        return self.out("ngctl -f -", "\n".join(lines) + "\n")

    def one(self, *words):
        """One command by words, not by a shell's: (status, out, err)."""
        p = subprocess.run(["ngctl", *words], env=self.env, text=True,
                           executable=self.path / "bin/ngctl",
                           capture_output=True, timeout=60, check=False,
                           stdin=subprocess.DEVNULL)
        return p.returncode, p.stdout, p.stderr

    def nodes(self):
        """Names (or addresses) and types of all nodes but ngctl's own."""
        rows = json.loads(self.out("ngctl -n me list -j"))["nodes"]
        return {r["name"] or r["address"]: r["type"] for r in rows
                if r["name"] != "me"}

    def links(self):
        """All edges as a set of "node:hook node:hook", each both ways."""
        rows = json.loads(self.out("ngctl -n me list -lj"))["nodes"]
        return {f"{r['name'] or r['address']}:{e['hook']} "
                f"{e['peer']['name'] or e['peer']['address']}:"
                f"{e['peerhook']}" for r in rows for e in r["links"]}

    def apply(self, text, *args):
        """(status, out, err) of applying a graph's text."""
        return self.one("apply", *args, str(self.file(text, "graph")))


@pytest.fixture(name="g")
def fixture_g(tmp_path):
    g = Graph(tmp_path)
    try:
        g.start()
        yield g
    finally:
        g.close()


# ---- Start ----

def test_start(tmp_path):
    g = Graph(tmp_path)
    try:
        no = ("ngctl: can't create node: Address family not supported by "
              "protocol (")
        status, out, err = g.one("list")
        assert (status, out) == (71, "") and err.startswith(no), err
        g.start("M1")
        g.start("M2")
        status, out, err = g.one("list")
        assert status == 71 and "M1" in err and "M2" in err, err
        assert g.one("-M", "M2", "-n", "x", "show", ".")[0] == 0
        assert g.out("netepoch -M M1 ngctl -n x show -n .") == (
            "  Name: x               Type: socket          ID: 00000001   "
            "Num hooks: 0\n")
        g.env["NETEPOCH_MACHINE"] = "M1"
        assert "ID: 00000002" in g.out("ngctl -n x show .")
    finally:
        g.close()


def test_options(g):
    g.fails("ngctl", 64, f"ngctl: no command specified\n{USAGE}")
    g.fails("ngctl -x", 64, f"ngctl: illegal option -- x\n{USAGE}")
    g.fails("ngctl -f", 64,
            f"ngctl: option requires an argument -- f\n{USAGE}")
    g.fails("ngctl -f /nowhere/f list", 66,
            "ngctl: /nowhere/f: No such file or directory\n")
    # A command wins over a file.
    f = g.file("help x\n")
    assert g.out(f"ngctl -f {f} debug") == "Current debug level is 0\n"
    assert g.out("ngctl -dd debug") == "Current debug level is 2\n"
    name = "a" * 31
    assert f"Name: {name} " in g.out(f"ngctl -n {name}b show .")
    g.fails("ngctl -n a.b list", 71,
            "ngctl: can't create node: Invalid argument\n")
    assert re.match(r"  Name: ngctl\d+ ", g.out("ngctl show ."))
    with Held(g, "-n", "taken"):
        g.fails("ngctl -n taken list", 71,
                "ngctl: can't create node: Address already in use\n")
    g.out("ngctl -n taken list")


class Held:
    """An ngctl that stays, with what it has made."""

    def __init__(self, g, *args):
        self.p = subprocess.Popen([g.path / "bin/ngctl", *args, "-f", "-"],
                                  env=g.env, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True,
                                  bufsize=1)
        self.do("debug")

    def do(self, *lines):
        """Run lines and wait until they have been run."""
        for line in lines:
            self.p.stdin.write(line + "\n")
        self.p.stdin.write("debug\n")
        self.p.stdin.flush()
        out = ""
        for row in self.p.stdout:
            if row.startswith("Current debug level"):
                return out
            out += row
        raise AssertionError(f"ngctl has ended after {out}")

    def __enter__(self):
        self.p.stdout.readline()
        return self

    def __exit__(self, *exc):
        self.p.stdin.close()
        self.p.wait(20)


def test_debug_says(g):
    """Levels: errors, messages, contents; on stderr."""
    p = g.sh("ngctl -d show nope:")
    assert p.returncode == 71
    assert p.stderr.endswith("ngctl: send msg: No such file or directory\n")
    assert p.stderr.count("\n") > 1
    p = g.sh("ngctl -ddd name . y")
    assert p.returncode == 0 and p.stdout == ""
    assert 'name="y"' in p.stderr
    assert g.out("ngctl -f -", "debug +\ndebug\ndebug -\ndebug -\ndebug"
                 ) == "Current debug level is 1\nCurrent debug level is 0\n"


# ---- What it prints ----

def test_list_show_types(g):
    with Held(g, "-n", "hold") as h:
        h.do("mkpeer hub x a", "name x a-rather-long-name-of-a-node",
             "mkpeer x hub b c")
        out = g.out("ngctl -n me list")
        rows = out.splitlines()
        assert rows[0] == "There are 4 total nodes:"
        assert set(rows[1:]) == {
            "  Name: hold            Type: socket          ID: 00000001   "
            "Num hooks: 1",
            "  Name: a-rather-long-name-of-a-node Type: hub             "
            "ID: 00000002   Num hooks: 2",
            "  Name: <unnamed>       Type: hub             ID: 00000003   "
            "Num hooks: 1",
            "  Name: me              Type: socket          ID: 00000004   "
            "Num hooks: 0"}
        out = g.out("ngctl -n me list -n")
        assert out.startswith("There are 3 total named nodes:\n")
        assert "<unnamed>" not in out
        assert g.out("ngctl show [2]:") == (
            "  Name: a-rather-long-name-of-a-node Type: hub             "
            "ID: 00000002   Num hooks: 2\n"
            "  Local hook      Peer name       Peer type    Peer ID         "
            "Peer hook      \n"
            "  ----------      ---------       ---------    -------         "
            "---------      \n"
            "  b               <unnamed>       hub          00000003        "
            "c              \n"
            "  a               hold            socket       00000001        "
            "x              \n")
        assert g.out("ngctl info -n [2]:").count("\n") == 1
        long = g.out("ngctl -n me ls -l")
        assert long.startswith("There are 4 total nodes:\n  Name: ")
        blocks = long.split("\n", 1)[1].split("\n\n")
        assert len(blocks) == 4
        assert g.out("ngctl show [2]:").rstrip("\n") in [
            b.rstrip("\n") for b in blocks]
        types = g.out("ngctl types").splitlines()
        assert re.fullmatch(r"There are \d+ total types:", types[0])
        assert types[1:3] == [
            "      Type name   Number of living nodes",
            "      ---------   ----------------------"]
        assert "            hub       2" in types
        assert "         socket       2" in types
        for line in ("list x", "types x", "show", "show a b", "list -x"):
            p = g.sh(f"ngctl {line}")
            assert p.returncode == 64, line
            assert p.stderr.startswith("ngctl: usage: ") and p.stdout == ""


def test_json(g):
    with Held(g, "-n", "hold") as h:
        h.do("mkpeer hub x a")
        rows = json.loads(g.out("ngctl -n me list -j"))["nodes"]
        assert {"name": None, "type": "hub", "id": 2, "address": "[2]:",
                "hooks": 1} in rows
        assert json.loads(g.out("ngctl show -j [2]:")) == {"node": {
            "name": None, "type": "hub", "id": 2, "address": "[2]:",
            "hooks": 1, "links": [{"hook": "a", "peerhook": "x", "peer": {
                "name": "hold", "type": "socket", "id": 1,
                "address": "[1]:"}}]}}
        assert g.json("ngctl show [2]:") == json.loads(
            g.out("ngctl show -j [2]:"))
        assert {"name": "hub", "nodes": 1} in json.loads(
            g.out("ngctl types -j"))["types"]
        m = json.loads(g.out("ngctl msg -j [2]: nodeinfo"))["message"]
        assert m["response"] and m["from"] == "[2]:"
        assert m["command"] == "nodeinfo" and m["cmd"] == 805306374
        assert m["value"] == {"type": "hub", "id": 2, "hooks": 1}
        # One line of JSON for each command that has something to say.
        out = g.out("ngctl --libxo json -f -", "types\nname . q\nshow .\n")
        assert [list(json.loads(row)) for row in out.splitlines()] == [
            ["types"], ["node"]]


def test_msg_output(g):
    with Held(g, "-n", "hold") as h:
        h.do("mkpeer hub x a")
        assert g.out("ngctl msg [2]: nodeinfo") == (
            'Rec\'d response "nodeinfo" (805306374) from "[2]:":\n'
            'Args:\t{ type="hub" id=0x2 hooks=1 }\n')
        # Words are joined by blanks, however the shell has split them.
        for args in (["{ name=\"q\" }"], ["{", "name=\"q\"", "}"]):
            assert g.one("msg", "[2]:", "name", *args) == (0, "", "")
            assert g.out("ngctl show -n q:").startswith("  Name: q ")


def test_status_config(g):
    out = g.run("mkpeer ksocket ks inet/dgram/udp", "status ks",
                "config ks", "config ks some words")
    assert re.fullmatch(r'Status for "ks":\nsent 0, .*\n'
                        r'(No config available for "ks"\n){2}', out)
    # One's own node has nothing to say, and says so at once.
    out = g.run("status .", "config .", "status .:", "show -n .")
    assert out.startswith('No status available for "."\n'
                          'No config available for "."\n'
                          'No status available for ".:"\n  Name: ')
    row = g.json("ngctl status .")
    assert row == {"status": {"path": "."}}


# ---- What goes wrong ----

ERRORS = [
    ("foo", 71, '"foo": unknown command'),
    ("s", 71, '"s": ambiguous command'),
    ("show nope:", 71, "send msg: No such file or directory"),
    ("show nope", 71, "send msg: No such file or directory"),
    ("show a:b:", 71, "send msg: Invalid argument"),
    ("show [0]:", 71, "send msg: No such file or directory"),
    ("mkpeer nosuch a b", 71, "send msg: No such file or directory"),
    ("mkpeer socket a b", 71, "send msg: Invalid argument"),
    ("mkpeer hold: hub x y", 71, "send msg: File exists"),
    ("mkpeer -N hold hub x y", 71, "send msg: Address already in use"),
    ("mkpeer -N a.b hub x y", 71, "send msg: Invalid argument"),
    ("connect hold: x y", 71, "send msg: File exists"),
    ("connect nope: x y", 71, "send msg: No such file or directory"),
    ("name . hold", 71, "send msg: Address already in use"),
    ("name . a:b", 71, "send msg: Invalid argument"),
    ("name nope: x", 71, "send msg: No such file or directory"),
    ("rmhook nope: x", 71, "send msg: No such file or directory"),
    ("shutdown nope:", 71, "shutdown: No such file or directory"),
    ("msg hold: nosuch", 71, "send msg: Function not implemented"),
    ("msg hold: name { nam=\"x\" }", 71,
     "send msg: No such file or directory"),
    ("msg hold: name { name= }", 71, "send msg: Invalid argument"),
    ("msg nope: nodeinfo", 71, "send msg: No such file or directory"),
    ("status nope:", 71, "send msg: No such file or directory"),
    ("config nope: x", 71, "send msg: No such file or directory"),
    ("write a 300", 71, 'invalid byte "300"'),
    ("write a -129", 71, 'invalid byte "-129"'),
    ("write a 1x", 71, 'invalid byte "1x"'),
    ("write a 1", 71, 'writing to hook "a": No route to host'),
    ("write a -f /nowhere", 71, "/nowhere: No such file or directory"),
    ("read /nowhere", 71, "/nowhere: No such file or directory"),
    ("apply /nowhere", 71, "/nowhere: No such file or directory"),
    ("dot /nowhere/x", 71,
     "Could not open /nowhere/x for writing: No such file or directory"),
    ("config", 64, "usage: config path [arguments ...]"),
    ("connect a b", 64, "usage: connect [path] relpath hook peerhook"),
    ("join a b c d e", 64, "usage: connect [path] relpath hook peerhook"),
    ("debug x", 64, "usage: debug [level]"),
    ("dot -x", 64, "usage: dot [-c] [outputfile]"),
    ("help a b", 64, "usage: help [command]"),
    ("ls -x", 64, "usage: list [-jln]"),
    ("mkpeer a b", 64,
     "usage: mkpeer [-N name] [path] type hook peerhook"),
    ("mkpeer -N x", 64,
     "usage: mkpeer [-N name] [path] type hook peerhook"),
    ("msg x:", 64, "usage: msg [-j] path command [args ...]"),
    ("name x:", 64, "usage: name path name"),
    ("read", 64, "usage: read filename"),
    ("rmhook", 64, "usage: rmhook [path] hook"),
    ("show", 64, "usage: show [-jn] path"),
    ("kill", 64, "usage: shutdown path"),
    ("status", 64, "usage: status path"),
    ("types x", 64, "usage: types [-j]"),
    ("w a", 64, "usage: write hook -f file | hook byte ..."),
    ("apply", 64, "usage: apply [-jn] file"),
]


def test_errors(g):
    """By words and as a line of a file, with the graph left as it was."""
    with Held(g, "-n", "hold") as h:
        h.do("connect . . x y")
        before = g.nodes(), g.links()
        for line, status, text in ERRORS:
            assert g.one(*line.split()) == (status, "", f"ngctl: {text}\n")
            p = g.sh("ngctl -f -", f"\n# a comment\n{line}\nname . never\n")
            assert (p.returncode, p.stdout, p.stderr) == (
                status, "", f"ngctl: {text}\nngctl: line 3: error in file\n")
        assert (g.nodes(), g.links()) == before
    assert g.one("status", ".") == (
        0, 'No status available for "."\n', "")
    assert g.one("config", ".", "x") == (
        0, 'No config available for "."\n', "")


def test_help(g):
    table = g.out("ngctl help").splitlines()
    assert table[0] == "Available commands:"
    names = [row.split()[0] for row in table[1:]]
    assert names == [
        "config", "connect", "debug", "dot", "help", "list", "mkpeer", "msg",
        "name", "read", "rmhook", "show", "shutdown", "status", "types",
        "write", "apply", "quit"]
    for row, name in zip(table[1:], names):
        assert row.startswith(f"  {name:10} ")
        text = g.out(f"ngctl help {name}").splitlines()
        assert text[0].startswith(f"usage:    {name} ")
        assert any(t.startswith("Summary:  ") for t in text)
        at = text.index("Description:")
        assert at + 1 < len(text)
        for t in text[at + 1:]:
            assert t.startswith("  ") and len(t) <= 64
    assert "Aliases:  kill, rmnode\n" in g.out("ngctl ? shutdown")
    # An unknown command is named, and that is all.
    p = g.sh("ngctl help foo")
    assert (p.returncode, p.stdout, p.stderr) == (
        0, "", 'ngctl: "foo": unknown command\n')


# ---- Files ----

def test_files(g):
    out = g.run("# a comment", "", "  \t ", "DEBUG\r", "\vdebug\f")
    assert out == "Current debug level is 0\n" * 2
    # quit ends a file with a word about the line and status 0.
    p = g.sh("ngctl -f -", "debug\nquit\nfoo\n")
    assert (p.returncode, p.stderr) == (0, "ngctl: line 2: error in file\n")
    p = g.sh("ngctl -f -", " # not a comment\n")
    assert p.returncode == 71 and '"#": unknown command' in p.stderr
    # No line end at the end; the longest line, and one byte more.
    assert g.out("ngctl -f -", "debug") == "Current debug level is 0\n"
    g.out("ngctl -f -", "debug" + " " * 2042 + "\n")
    p = g.sh("ngctl -f -", "debug" + " " * 2043 + "\n")
    assert p.returncode == 71
    assert p.stderr.startswith("ngctl: more than 2047 bytes in the line\n")
    g.out("ngctl -f -", "connect . . a b\nwrite a" + " 1" * 509 + "\n")
    p = g.sh("ngctl -f -", "connect . . a b\nwrite a" + " 1" * 510 + "\n")
    assert p.returncode == 71 and "more than 511 words" in p.stderr
    nul = g.file(b"debug\0\n")
    p = g.sh(f"ngctl -f {nul}")
    assert p.returncode == 71 and "a NUL byte" in p.stderr
    # Files in files.
    inner = g.file("debug\n", "inner")
    outer = g.file(f"read {inner}\nsource {inner}\n. {inner}\n", "outer")
    assert g.out(f"ngctl read {outer}") == "Current debug level is 0\n" * 3
    wrong = g.file("name\n", "wrong")
    p = g.sh(f"ngctl read {wrong}")
    assert (p.returncode, p.stderr) == (
        64, "ngctl: usage: name path name\nngctl: line 1: error in file\n")
    itself = g.path / "itself"
    g.file(f"read {itself}\n", "itself")
    p = g.sh(f"ngctl read {itself}")
    assert p.returncode == 71
    assert p.stderr.startswith("ngctl: more than 16 files read one another")
    p = g.sh("ngctl -f /")
    assert p.returncode == 71 and "cannot read: Is a directory" in p.stderr


# ---- Changing the graph ----

def test_own_node_ends(g):
    """What hangs on ngctl alone is gone when it ends."""
    g.out("ngctl mkpeer hub a b")
    assert g.nodes() == {}
    g.run("mkpeer -N keep hub a b", "msg .a setpersistent", "rmhook a")
    assert g.nodes() == {"keep": "hub"}
    # .p, p and .:p are one address.
    out = g.run("connect keep: p q", "name .p one", "show -n p",
                "show -n .:p", "show -n .p").splitlines()
    assert len(out) == 3 and len(set(out)) == 1
    assert out[0].startswith("  Name: one ")
    g.out("ngctl shutdown one:")
    assert g.nodes() == {}


def test_named_at_once(g):
    """mkpeer -N: with its name or not at all."""
    with Held(g, "-n", "hold") as h:
        h.do("mkpeer -N h hub a b")
        assert g.nodes() == {"hold": "socket", "h": "hub"}
        g.fails("ngctl mkpeer -N h h: hub c d", 71,
                "ngctl: send msg: Address already in use\n")
        g.fails(f"ngctl mkpeer -N {'x' * 32} h: hub c d", 71,
                "ngctl: send msg: Invalid argument\n")
        assert g.links() == {"hold:a h:b", "h:b hold:a"}
        g.out("ngctl mkpeer -N i h: hub c d")
        assert g.links() >= {"h:c i:d", "hold:a h:b"}
        g.out("ngctl rmhook h: c")
        assert g.nodes() == {"hold": "socket", "h": "hub"}
        g.out("ngctl connect h: hold: e f")
        g.out("ngctl kill h:")
        assert g.nodes() == {"hold": "socket"}


def test_write(g):
    text = g.file(bytes(range(256)), "bytes")
    with Screened(g, "ngctl -n left") as s:
        s.shows(r"^\+ ?$")
        g.run("connect . left: a b", "write a 1 -1 0x41 010 255",
              f"write a -f {text}")
        s.shows(r"^0000:  01 ff 41 08 ff {35}\.\.A\.\.$")
        s.shows(r"^0040:  40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f "
                r" @ABCDEFGHIJKLMNO$")
    big = g.file(bytes(8193), "big")
    p = g.sh("ngctl -f -", f"connect . . a b\nwrite a -f {big}\n")
    assert p.returncode == 71 and "more than 8192 bytes" in p.stderr
    os.truncate(big, 8192)
    g.run("connect . . a b", f"write a -f {big}")


def test_names_are_bytes(g):
    """A name may hold anything but a dot and a colon, also in JSON."""
    with Held(g, "-n", "hold") as h:
        h.do("mkpeer hub x a")
        for name, shown in ((b"test hub", "test hub"), (b"\xe4\xff", "äÿ"),
                            (b"\xc3\xa4", "ä"), (b"{ \"\\", '{ "\\')):
            p = subprocess.run([g.path / "bin/ngctl", "name", "[2]:", name],
                               env=g.env, check=False)
            assert p.returncode == 0
            assert g.nodes() == {"hold": "socket", shown: "hub"}
            p = subprocess.run([g.path / "bin/ngctl", "show", "-n",
                                name + b":"], env=g.env, check=False,
                               capture_output=True)
            assert p.stdout.startswith(b"  Name: " + name + b" ")
            m = json.loads(g.out("ngctl msg -j [2]: nodeinfo"))["message"]
            assert m["value"]["name"] == shown


# ---- nghook ----

def test_nghook(g):
    g.run("mkpeer -N h hub a b", "msg .a setpersistent")
    p = subprocess.Popen([g.path / "bin/nghook", "-an", "h:", "out"],
                         env=g.env, stdout=subprocess.PIPE, text=True)
    try:
        netns.wait_for(lambda: any("h:out" in e for e in g.links()), 10)
        g.out("nghook h: in", "one\ntwo\n")
        g.out("nghook -s h: in", "1\n2\n")
        g.out("nghook h:", "default hook, no newline")
        rows = [p.stdout.readline() for _ in range(5)]
        assert rows == [
            "0000:  6f 6e 65 0a                                      one.\n",
            "0000:  74 77 6f 0a                                      two.\n",
            "0000:  31 0a 32 0a                                      1.2.\n",
            "0000:  64 65 66 61 75 6c 74 20 68 6f 6f 6b 2c 20 6e 6f  "
            "default hook, no\n",
            "0010:  20 6e 65 77 6c 69 6e 65                          "
            " newline\n"]
        # The hook goes: nothing will come any more.
        g.out("ngctl rmhook h: out")
        assert p.wait(10) == 0
    finally:
        p.kill()
        p.wait()
    g.fails("nghook h: in in2 in3", 64,
            "usage: nghook [-adlns] [-m msg] path [hookname]\n")
    g.fails("nghook nope:", 71, "nghook: can't connect to \"nope:\", hook "
            "\"debug\": No such file or directory\n")
    g.fails("nghook -m 'nosuch 1' h:", 71,
            "nghook: send msg: Function not implemented\n")
    loop = subprocess.Popen([g.path / "bin/nghook", "-ln", "h:", "loop"],
                            env=g.env, stdout=subprocess.PIPE)
    try:
        netns.wait_for(lambda: any("h:loop" in e for e in g.links()), 10)
        q = g.sh("(echo ping; sleep 1) | nghook h: in")
        assert (q.returncode, q.stdout) == (0, "ping\n")
    finally:
        loop.terminate()
        loop.wait(10)
    assert loop.stdout.read() == b"ping\n"


# ---- Pictures ----

@pytest.mark.skipif(shutil.which("dot") is None, reason="no graphviz here")
def test_dot(g):
    with Held(g, "-n", "hold") as h:
        h.do("mkpeer hub x a", "mkpeer x hub b c", "name x h",
             "connect h: h: self1 self2")
        assert g.out("ngctl -n me dot") == """graph netgraph {
	edge [ weight = 1.0 ];
	node [ shape = record, fontsize = 12 ] {
			"1" [ label = "{hold:|{socket|[1]:}}" ];
			"2" [ label = "{h:|{hub|[2]:}}" ];
			"3" [ label = "{\\<unnamed\\>:|{hub|[3]:}}" ];
			"4" [ label = "{me:|{socket|[4]:}}" ];
	};
	subgraph cluster_disconnected {
		bgcolor = pink;
		"4";
	};
	node [ shape = octagon, fontsize = 10 ] {
		"1.x" [ label = "x" ];
	};
	{
		edge [ weight = 2.0, style = bold ];
		"1" -- "1.x";
	};
	node [ shape = octagon, fontsize = 10 ] {
		"2.self2" [ label = "self2" ];
		"2.self1" [ label = "self1" ];
		"2.b" [ label = "b" ];
		"2.a" [ label = "a" ];
	};
	{
		edge [ weight = 2.0, style = bold ];
		"2" -- "2.self2";
		"2" -- "2.self1";
		"2" -- "2.b";
		"2" -- "2.a";
	};
	"2.self2" -- "2.self1";
	"2.self1" -- "2.self2";
	"2.a" -- "1.x";
	node [ shape = octagon, fontsize = 10 ] {
		"3.c" [ label = "c" ];
	};
	{
		edge [ weight = 2.0, style = bold ];
		"3" -- "3.c";
	};
	"3.c" -- "2.b";
}
"""
        compact = g.out("ngctl -n me graphviz -c")
        assert compact.startswith("digraph netgraph {\n\tedge [ dir = "
                                  "\"none\", fontsize = 10 ];\n")
        assert ('\t"2" -> "3" [ headlabel = "c", taillabel = "b" ] ;\n'
                in compact)
        # Names with all that means something to graphviz.
        for path, name in (("[3]:", '"{<|>}\\ "'), ("h:", "<b>&amp; \\N")):
            assert g.one("name", path, name)[0] == 0
        g.one("connect", "[2]:", "[3]:", 'q"\\', "{|}")
        for args in ("", "-c"):
            svg = g.out(f"ngctl -n me dot {args} {g.path}/o && "
                        f"dot -Tsvg {g.path}/o")
            assert svg.count("<title>") > 4
            assert "&quot;{&lt;|&gt;}\\" in svg.replace("&#160;", " ")


# ---- The keyboard ----

class Screened(Screen):
    """A screen whose keys are sent as text, character by character."""

    def type(self, text, enter=True):
        self.tmux(f"send-keys -l -- '{text}'")
        if enter:
            self.tmux("send-keys Enter")


needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None,
                                reason="no tmux here")


@needs_tmux
def test_keyboard(g):
    g.run("mkpeer -N a-hub hub a b", "msg .a setpersistent",
          "name .a a-hub")
    with Screened(g, "ngctl -n me") as s:
        s.shows(r"^  quit       End the program\n\+ ?$")
        # Commands, nodes and hooks by the tabulator.
        s.type("mkp\thub mine theirs")
        s.type("shu\t", False)
        s.shows(r"^\+ shutdown ?$")
        s.tmux("send-keys C-u")
        s.type("show a-\t")
        s.shows(r"^  Name: a-hub ")
        s.type("show .:mi\t")
        s.shows(r"^\+ show \.:mine")
        s.shows(r"^  theirs +me +socket ")
        # Several: what they share, then the list of them.
        s.type("s\t", False)
        s.shows(r"^show +shutdown +status")
        s.tmux("send-keys C-u")
        # History.
        s.type("debug")
        s.shows(r"^Current debug level is 0$")
        s.type("debug 2")
        s.tmux("send-keys Up Up Enter")
        s.shows(r"Current debug level is 2$")
        s.type("debug 0")
        # Errors do not end it.
        s.type("foo")
        s.shows(r'"foo": unknown command$')
        # What arrives is shown above the line that is typed.
        s.type("show .", False)
        g.run("connect . me: x in", "write x 104 105")
        s.shows(r'^Rec.d data packet on hook "in":\n'
                r"0000:  68 69 +hi\n\+ show \.$")
        s.tmux("send-keys Enter")
        s.shows(r"^  Name: me ")
        # A message that nobody asked for: that o's link has come up.
        s.type("mkpeer -N o one2many up one")
        s.type("connect . o: down many0")
        s.shows(r'^Rec.d command 32 from "\[[0-9a-f]+\]:":\nNo arguments$')
        s.type("quit")
        s.shows(r"^status=0$")
    assert g.nodes() == {"a-hub": "hub"}


@needs_tmux
def test_keyboard_ends(g):
    with Screened(g, "ngctl -n me") as s:
        s.shows(r"^\+ ?$")
        s.type("foo")
        s.tmux("send-keys C-d")
        s.shows(r"^status=0$")
    with Screened(g, "ngctl -n me") as s:
        s.shows(r"^\+ ?$")
        g.out("ngctl shutdown me:")
        s.shows(r"^ngctl: the node has been shut down\nstatus=71$")


# ---- Sessions as users have them ----

SESSION = """\
mkpeer . eiface p1 ether
msg .p1 getifname
name .:p1 x
show x:
rmhook p1
quit
"""


def test_session(g):
    p = g.sh("ngctl -n me -f -", SESSION)
    assert p.returncode == 0
    assert p.stderr == "ngctl: line 6: error in file\n"
    assert p.stdout == (
        'Rec\'d response "getifname" (1) from "[2]:":\n'
        'Args:\t"ngeth0"\n'
        "  Name: x               Type: eiface          ID: 00000002   "
        "Num hooks: 1\n"
        "  Local hook      Peer name       Peer type    Peer ID         "
        "Peer hook      \n"
        "  ----------      ---------       ---------    -------         "
        "---------      \n"
        "  ether           me              socket       00000001        "
        "p1             \n")
    # An interface stays, and its node.
    assert g.nodes() == {"x": "eiface"}
    assert "ngeth0" in g.out("ifconfig -l").split()


def test_interfaces_come_and_go(g):
    """Interfaces named by awk, used and shut down at about the same time."""
    for i in range(10):
        name = g.out(
            f"printf 'mkpeer eiface path_{i} ether\\nmsg .path_{i} "
            "getifname\\n' | ngctl -f - | "
            "awk '$1 == \"Args:\" { print substr($2, 2, length($2) - 2) }'"
        ).strip()
        assert re.fullmatch(r"ngeth\d+", name)
        g.out(f"ifconfig {name}")
        use = subprocess.Popen(
            [g.path / "bin/ifconfig", name, "192.0.2.1/24", "up"],
            env=g.env, stderr=subprocess.DEVNULL)
        g.out(f"ngctl shutdown {name}:")
        use.wait(20)
        assert g.sh(f"ifconfig {name}").returncode == 1
    assert g.nodes() == {}


def test_graph_of_interfaces(g):
    """A switch with two interfaces of the machine's own, from a file."""
    text = ("node sw bridge\nnode host eiface\nnode guest eiface\n"
            "edge sw:link0 host:ether\nedge sw:link1 guest:ether\n"
            "msg host set 02:00:00:00:00:11\n")
    assert g.apply(text)[::2] == (0, "")
    assert g.apply(text) == (0, "nothing to change\n", "")
    names = [json.loads(g.out(f"ngctl msg -j {n}: getifname"))["message"][
        "value"] for n in ("host", "guest")]
    assert set(names) <= set(g.out("ifconfig -l").split())
    assert "ether 02:00:00:00:00:11" in g.out(f"ifconfig {names[0]}")
    # One of them stays when the switch goes.
    assert g.apply("absent sw\nnode host eiface\nabsent guest")[::2] == (
        0, "")
    assert g.nodes() == {"host": "eiface"}


def test_graph_of_the_documents(g):
    """docs/netgraph.md's graph file, on interfaces in memory."""
    doc = (netns.pathlib.Path(__file__).parent.parent /
           "docs/netgraph.md").read_text()
    text = re.search(r"```\n(# br\.graph.*?)```", doc, re.S)[1]
    for n in (0, 1):
        g.out(f"ifconfig epair create; ifconfig epair{n}a name tap{n}; "
              f"ifconfig tap{n} up")
    g.out("kldload ng_ether")
    status, out, err = g.apply(text)
    assert (status, err) == (0, "")
    assert out == ("""\
+ node br bridge
+ node host eiface
+ edge br:link0 tap0:lower
+ edge br:link1 tap1:lower
+ edge br:link2 host:ether
+ msg br setpersistent
- set tap0 setpromisc 0
+ set tap0 setpromisc 1
- set tap1 setpromisc 0
+ set tap1 setpromisc 1
""")
    assert g.apply(text) == (0, "nothing to change\n", "")
    for n in (0, 1):
        assert "PROMISC" in g.out(f"ifconfig tap{n}")
    # What has been added by hand goes; the rest is as it was.
    g.out("ngctl mkpeer br: hub link9 a")
    assert re.fullmatch(r"- edge br:link9 \[[0-9a-f]+\]:a\n",
                        g.apply(text)[1])
    # One that cannot be had: the promiscuous mode comes back, too.
    before = g.nodes(), g.links()
    status, out, err = g.apply(text.replace("setpromisc 1", "setpromisc 0") +
                               "edge br:link3 tap1:nosuch\n")
    assert status == 71 and err.endswith("nothing has been changed\n")
    assert (g.nodes(), g.links()) == before
    for n in (0, 1):
        assert "PROMISC" in g.out(f"ifconfig tap{n}")
