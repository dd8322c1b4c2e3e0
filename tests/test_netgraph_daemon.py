# SPDX-License-Identifier: BSD-2-Clause
"""The graph's socket of a daemon: from its start to its end, for those who
may use it and those who may not, with too few descriptors.

Machines in memory only: no namespaces are needed.
"""

import os
import resource
import socket
import stat
import struct
import subprocess

import pytest

import netns
import test_daemon
from test_daemon import nobody, open_up

daemons = test_daemon.daemons
FEW = 100                       # descriptors, and some of them are taken


def ngctl(d, *words, **kw):
    return subprocess.run([test_daemon.TOOLS, "ngctl", *words], env=d.env,
                          text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=20, check=False, **kw)


def works(d, **kw):
    """Is a node made, named, seen and gone again?"""
    t = ngctl(d, "list", **kw)
    return t.returncode == 0 and "socket" in t.stdout


def make(path):
    """A node as the library makes one: its control end, or None."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(20)
        s.connect(str(path))
        s.send(struct.pack("III32s", 0x4e67536d, 1, 0, b""))
        data, fds, _, _ = socket.recv_fds(s, 8, 1)
        if len(data) != 8 or struct.unpack("iI", data)[0] != 0:
            return None
        return fds[0]


def test_life(daemons):
    p = daemons.start()
    path = daemons.run / "M1/netgraph"
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    assert stat.S_ISSOCK(path.stat().st_mode)
    assert works(daemons)
    assert not (daemons.run / "M1/netgraph.d").exists()
    end = make(path)
    p.terminate()
    assert p.wait(10) == 0
    assert list(daemons.run.iterdir()) == []
    # A program whose machine has gone is told, and does not wait.
    with socket.socket(fileno=end) as s:
        s.settimeout(20)
        assert s.recv(1) == b""


def test_killed(daemons):
    """What a killed daemon leaves is taken over by the next one."""
    p = daemons.start()
    assert works(daemons)
    p.kill()
    p.wait()
    assert sorted(f.name for f in (daemons.run / "M1").iterdir()) == [
        "ctl", "lock", "netgraph"]
    (daemons.run / "M1/ctl").unlink()
    assert not works(daemons)
    # One that was killed while it gave a program's end its name.
    (daemons.run / "M1/netgraph.d").mkdir()
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(daemons.run / "M1/netgraph.d/[1]"))
    p = daemons.start()
    assert works(daemons)
    p.terminate()
    assert p.wait(10) == 0
    assert list(daemons.run.iterdir()) == []


def test_in_the_way(daemons):
    """In the place of the socket is a file: told, and no machine."""
    (daemons.run / "M1").mkdir(parents=True)
    (daemons.run / "M1/netgraph").write_text("mine\n")
    status, err = daemons.fails("-M", "M1")
    assert status == os.EX_TEMPFAIL
    assert "cannot serve netgraph at" in err and "File exists" in err


def test_graph_from_file(daemons):
    """The file's lines may wire a graph: the socket is there before."""
    conf = daemons.config("kldload ng_hub\nifconfig epair create\n")
    daemons.start("M1", "-f", conf)
    assert "hub" in ngctl(daemons, "types").stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up root's identity")
def test_no_permission(daemons, tmp_path):
    daemons.start()
    open_up(tmp_path)
    t = ngctl(daemons, "list", preexec_fn=nobody)
    assert t.returncode != 0
    assert "ermi" in t.stderr       # Permission denied, not permitted
    assert works(daemons)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests are this one")
def test_of_nobody(daemons, tmp_path):
    """A daemon without any right serves its own user and root."""
    open_up(tmp_path)
    mine = tmp_path / "mine"
    mine.mkdir()
    os.chown(mine, 65534, 65534)
    daemons.run = mine / "run"
    daemons.env["NETEPOCH_RUNDIR"] = str(daemons.run)
    p = daemons.popen("-M", "M1", preexec_fn=nobody)
    daemons.wait_ready(p, "M1")
    assert works(daemons, preexec_fn=nobody)
    assert works(daemons)
    p.terminate()
    assert p.wait(10) == 0
    assert list(daemons.run.iterdir()) == []


def test_few_descriptors(daemons):
    """Out of descriptors: refused, alive, and well again afterwards."""

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (FEW // 2, FEW))

    p = daemons.popen("-M", "M1", preexec_fn=few)
    daemons.wait_ready(p, "M1")
    path = daemons.run / "M1/netgraph"
    ends = []
    while len(ends) < FEW:
        try:
            end = make(path)
        except (TimeoutError, ConnectionError):
            break
        if end is None:
            break
        ends.append(end)
    # The soft limit was half of that: it was raised.
    assert FEW // 2 < len(ends) < FEW
    for end in ends:
        os.close(end)
    netns.wait_for(lambda: works(daemons), 20)
    assert p.poll() is None
