# SPDX-License-Identifier: BSD-2-Clause
"""A node type from outside of the tree: built with nothing but what is
installed, loaded into a daemon, used by a program, unloaded.

A machine in memory only: no namespaces and no rights are needed.
"""

import ctypes
import errno
import json
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import unittest.mock

import pytest

import netns
from test_tools import Machines

EXAMPLE = pathlib.Path(__file__).parents[1] / "examples/netgraph-node"
MANUAL = pathlib.Path(__file__).parents[1] / "man/netgraph.9"
LIBRARY = netns.BUILD / "src/libnetgraph/libnetgraph.so.0"
HEADERS = ("netgraph/netgraph.h", "netgraph/ng_parse.h", "netepoch/mbuf.h",
           "netepoch/epoch.h")


@pytest.fixture(name="installed", scope="module")
def fixture_installed(tmp_path_factory):
    """The environment of an author: headers and pkg-config's files."""
    root = tmp_path_factory.mktemp("root")
    subprocess.run(["meson", "install", "-C", netns.BUILD, "--no-rebuild",
                    "--destdir", root, "--tags", "devel"], check=True,
                   stdout=subprocess.DEVNULL)
    pc = next(root.rglob("netepoch-node.pc"))
    return {**os.environ, "PKG_CONFIG_LIBDIR": str(pc.parent),
            "PKG_CONFIG_SYSROOT_DIR": str(root)}


@pytest.fixture(name="ms")
def fixture_ms(tmp_path, installed):
    """A machine whose modules are the example's, built for it."""
    modules = tmp_path / "modules"
    shutil.copytree(EXAMPLE, modules)
    subprocess.run(["make", "-s", "-C", modules], check=True, env=installed)
    (modules / "ng_text.so").write_text("no object at all\n")
    shutil.copy(modules / "ng_sample.so", modules / "ng_other.so")
    ms = Machines(tmp_path)
    ms.env["NETEPOCH_MODULES"] = str(modules)
    ms.env["NETEPOCH_MACHINE"] = "M1"
    ms.start()
    yield ms
    ms.close()


class Program:
    """A node of our own, through the library."""

    def __init__(self, ms, name):
        self.lib = ctypes.CDLL(LIBRARY, use_errno=True)
        cs, self.ds = ctypes.c_int(), ctypes.c_int()
        # The library finds the machine by its process's environment, which
        # is that of all other tests, too.
        where = {key: ms.env[key]
                 for key in ("NETEPOCH_RUNDIR", "NETEPOCH_MACHINE")}
        with unittest.mock.patch.dict(os.environ, where):
            assert self.lib.NgMkSockNode(name.encode(), ctypes.byref(cs),
                                         ctypes.byref(self.ds)) == 0
        self.cs = cs.value
        self.ds = self.ds.value

    def send(self, hook, data):
        return self.lib.NgSendData(self.ds, hook.encode(), data, len(data))

    def received(self):
        """All packets that have come: lists of data by hook."""
        got = {}
        while select.select([self.ds], [], [], 0.2)[0]:
            buf = ctypes.create_string_buffer(65536)
            hook = ctypes.create_string_buffer(32)
            n = self.lib.NgRecvData(self.ds, buf, len(buf), hook)
            assert n > 0
            got.setdefault(hook.value.decode(), []).append(buf.raw[:n])
        return got

    def close(self):
        os.close(self.cs)
        os.close(self.ds)


def loaded(ms):
    return {line.split()[-1]: int(line.split()[1])
            for line in ms.out("kldstat").splitlines()[1:]}


def call(ms, cmd, args):
    """A request as a program of one's own makes it."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f"{ms.env['NETEPOCH_RUNDIR']}/M1/ctl")
        s.sendall(json.dumps({"cmd": cmd, "args": args}).encode() + b"\n")
        return json.loads(s.makefile().readline())


def test_load_use_unload(ms):
    ngctl = "netepoch ngctl"
    assert "ng_sample.ko" not in loaded(ms)
    ms.out("kldload ng_sample")
    assert loaded(ms)["ng_sample.ko"] == 1
    ms.fails("kldload ng_sample", 1, "kldload: can't load ng_sample: module "
             "already loaded or in kernel\n")
    program = Program(ms, "p")
    ms.out(f"{ngctl} mkpeer p: sample l left")
    ms.out(f"{ngctl} name p:l s")
    ms.out(f"{ngctl} connect p: s: r right")
    ms.out(f"{ngctl} connect p: s: t tap")
    assert "1000" in ms.out(f"{ngctl} msg s: getevery")
    ms.out(f"{ngctl} msg s: setevery 3")
    assert ms.sh(f"{ngctl} msg s: setevery 0").returncode != 0
    for i in range(7):
        assert program.send("l", b"packet %d" % i) == 0
    assert program.send("r", b"back") == 0
    assert program.send("t", b"nowhere") == 0
    got = program.received()
    assert got == {"r": [b"packet %d" % i for i in range(7)],
                   "t": [b"packet 0", b"packet 3", b"packet 6"],
                   "l": [b"back"]}
    rows = ms.out("netstat -f netgraph").splitlines()[2:]
    assert [r.split()[0] for r in rows if r.endswith(" 3")] == \
        ["ctrl", "data"]
    assert loaded(ms)["ng_sample.ko"] == 2
    ms.fails("kldunload ng_sample", 1,
             "kldunload: can't unload file: Device busy\n")
    program.close()
    netns.wait_for(lambda: loaded(ms)["ng_sample.ko"] == 1)
    ms.out("kldunload ng_sample")
    assert "ng_sample.ko" not in loaded(ms)
    assert "sample" not in ms.out(f"{ngctl} types")
    # And again, by asking for a node.
    program = Program(ms, "p")
    ms.out(f"{ngctl} mkpeer p: sample l left")
    ms.out(f"{ngctl} connect p: p:l r right")
    assert program.send("l", b"once more") == 0
    assert program.received() == {"r": [b"once more"]}
    program.close()
    assert ms.processes["M1"].poll() is None


def test_manual_example(ms, installed):
    """The type in netgraph(9) is whole, and does what is said there."""
    modules = pathlib.Path(ms.env["NETEPOCH_MODULES"])
    text = MANUAL.read_text().split(".Bd -literal\n")[1].split("\n.Ed")[0]
    assert not re.search(r"^[.']|\\", text, re.M)  # nothing for roff
    (modules / "ng_count.c").write_text(text + "\n")
    subprocess.run(["sh", "-ec", "cc -Wall -Wextra -Werror $(pkg-config "
                    "--cflags netepoch-node) -shared -fPIC -o ng_count.so "
                    "ng_count.c"], cwd=modules, env=installed, check=True)
    ms.out("kldload ng_count")
    program = Program(ms, "p")
    ngctl = "netepoch ngctl"
    ms.out(f"{ngctl} mkpeer p: count l a")
    ms.out(f"{ngctl} connect p: p:l r b")
    for i in range(3):
        assert program.send("l", b"packet %d" % i) == 0
    assert program.send("r", b"back") == 0
    assert program.received() == {"r": [b"packet 0", b"packet 1",
                                        b"packet 2"], "l": [b"back"]}
    assert re.search(r"\b4$", ms.out(f"{ngctl} msg p:l getcount"), re.M)
    assert ms.sh(f"{ngctl} connect p: p:l x c").returncode != 0
    program.close()
    netns.wait_for(lambda: loaded(ms)["ng_count.ko"] == 1)
    ms.out("kldunload ng_count")


def test_what_is_no_module(ms):
    for name, why in (("ng_nosuch", "No such file or directory"),
                      ("'ng_a b'", "No such file or directory"),
                      ("sample", "No such file or directory"),
                      ("ng_", "No such file or directory"),
                      ("ng_text", "Exec format error"),
                      ("ng_other", "Exec format error")):
        plain = name.strip("'")
        ms.fails(f"kldload {name}", 1,
                 f"kldload: can't load {plain}: {why}\n")
        assert f"{plain}.ko" not in loaded(ms)
    # The tool takes a path's last part; the machine takes no path at all.
    for name in ("ng_../modules/ng_sample", "/tmp/ng_sample", "ng_" * 999):
        reply = call(ms, "kld.load", {"name": name})
        assert (reply["ok"], reply["errno"]) == (False, errno.ENOENT)
    for name in ("ng_socket", "netgraph"):
        ms.fails(f"kldload {name}", 1, f"kldload: can't load {name}: module "
                 "already loaded or in kernel\n")
        ms.fails(f"kldunload {name}", 1,
                 "kldunload: can't unload file: Device busy\n")


def test_daemon_has_what_headers_declare(installed, tmp_path):
    """Each function that an author may call is there to be called."""
    source = tmp_path / "all.c"
    source.write_text("".join(f"#include <{h}>\n" for h in HEADERS))
    flags = subprocess.run(["pkg-config", "--cflags", "netepoch-node"],
                           check=True, env=installed, text=True,
                           capture_output=True).stdout.split()
    subprocess.run(["gcc", *flags, "-fsyntax-only", "-aux-info",
                    tmp_path / "all.txt", source], check=True)
    declared = set()
    for line in (tmp_path / "all.txt").read_text().splitlines():
        m = re.match(r"/\* \S*?(\w+/\w+\.h):\d+:N[CF]? \*/ extern .*?(\w+) "
                     r"\(", line)
        if m and m.group(1) in HEADERS:
            declared.add(m.group(2))
    assert {"ng_fwd_item", "m_dup", "epoch_call", "ng_parse"} <= declared
    names = subprocess.run(
        ["nm", "-D", "--defined-only",
         netns.BUILD / "src/netepochd/netepochd"], check=True, text=True,
        capture_output=True).stdout
    missing = declared - {line.split()[-1] for line in names.splitlines()}
    # Those of the debug library are there in debug builds.
    assert not {n for n in missing if not n.endswith(("_debug", "_assert"))}
