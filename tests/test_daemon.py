# SPDX-License-Identifier: BSD-2-Clause
"""The daemon as a process: its start, its errors, its end, what it leaves.

Machines in memory only: no namespaces and no rights are needed.
"""

import contextlib
import json
import os
import pathlib
import resource
import signal
import socket
import stat
import subprocess
import time

import pytest

import netns

SOON = 5                        # seconds; to wait for a client takes 30
DAEMON = netns.BUILD / "src/netepochd/netepochd"
TOOLS = netns.BUILD / "src/tools/netepoch"


class Daemons:
    """Daemons and tools with a run directory of their own."""

    def __init__(self, path):
        self.run = path / "run"
        self.path = path
        self.env = {**os.environ, "NETEPOCH_RUNDIR": str(self.run)}
        self.env.pop("NETEPOCH_MACHINE", None)
        self.processes = []

    def popen(self, *args, env=None, **kw):
        p = subprocess.Popen([DAEMON, *map(str, args)], text=True,
                             stdin=subprocess.DEVNULL, env=env or self.env,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             **kw)
        self.processes.append(p)
        return p

    def start(self, name="M1", *args):
        p = self.popen("-M", name, *args)
        self.wait_ready(p, name)
        return p

    def wait_ready(self, p, name):
        end = time.monotonic() + 20
        while not (self.run / name / "ctl").exists():
            assert p.poll() is None, p.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.01)

    def fails(self, *args, **kw):
        """Exit status and standard error of a daemon that does not start."""
        p = self.popen(*args, **kw)
        _, err = p.communicate(timeout=20)
        return p.returncode, err

    def tool(self, *words):
        return subprocess.run([TOOLS, *words], env=self.env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=20, check=False)

    def config(self, text):
        path = self.path / "test.conf"
        path.write_text(text)
        return path

    def close(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
            p.wait()
            p.stdout.close()
            p.stderr.close()


@pytest.fixture
def daemons(tmp_path):
    d = Daemons(tmp_path)
    yield d
    d.close()


def request(path, *lines):
    """Replies of the control socket to these requests."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(str(path))
        s.sendall(b"".join(line.encode() + b"\n" for line in lines))
        with s.makefile() as f:
            return [json.loads(f.readline()) for _ in lines]


def nobody():
    """In a child: give up root's identity."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def open_up(path):
    """Let others pass to path, up to /tmp."""
    while path != pathlib.Path("/tmp") and path != path.parent:
        path.chmod(0o755)
        path = path.parent


def test_life(daemons):
    p = daemons.start()
    path = daemons.run / "M1/ctl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    info, bad = request(path, '{"id":1,"cmd":"machine.info"}', "what?")
    assert info["id"] == 1 and info["result"]["name"] == "M1"
    assert info["result"]["pid"] == p.pid
    assert not bad["ok"] and bad["errno"] == 22
    start = time.monotonic()
    p.terminate()
    assert p.wait(10) == 0
    assert time.monotonic() - start < SOON
    assert "Terminated: stopping" in p.stderr.read()
    assert list(daemons.run.iterdir()) == []


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGHUP])
def test_other_signals(daemons, sig):
    p = daemons.start()
    p.send_signal(signal.SIGPIPE)
    assert daemons.tool("netstat", "-rn").returncode == 0
    p.send_signal(sig)
    assert p.wait(10) == 0
    assert list(daemons.run.iterdir()) == []


def test_hangup_ignored(daemons):
    """Under nohup(1) a hangup is no reason to end; SIGTERM still is."""
    p = daemons.popen("-M", "M1", preexec_fn=lambda: signal.signal(
        signal.SIGHUP, signal.SIG_IGN))
    daemons.wait_ready(p, "M1")
    p.send_signal(signal.SIGHUP)
    p.terminate()
    assert p.wait(10) == 0
    err = p.stderr.read()
    assert "Terminated: stopping" in err and "Hangup" not in err


def test_nobody_reads_the_log(daemons):
    """A standard error that takes nothing more does not hold the end up."""
    r, w = os.pipe()
    os.set_blocking(w, False)
    for size in (4096, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(w, b"x" * size)
    os.set_blocking(w, True)
    p = subprocess.Popen([DAEMON, "-M", "M1"], env=daemons.env,
                         stdin=subprocess.DEVNULL, stderr=w)
    try:
        netns.wait_for(lambda: daemons.tool("ifconfig", "-l").stdout)
        p.terminate()
        assert p.wait(10) == 0
    finally:
        p.kill()
        p.wait()
        os.close(r)
        os.close(w)


def test_journal(daemons):
    """Levels are for the journal; not for a file, although what a service
    starts inherits the variable."""
    for ours in (True, False):
        r, w = os.pipe()
        sb = os.fstat(w if ours else 0)
        daemons.env["JOURNAL_STREAM"] = f"{sb.st_dev}:{sb.st_ino}"
        p = subprocess.Popen([DAEMON, "-M", "M1"], env=daemons.env, stderr=w)
        os.close(w)
        with open(r) as f:
            line = f.readline()
            p.terminate()
            assert p.wait(10) == 0
        assert line.startswith("<" if ours else "netepochd M1: ")


def test_closed_descriptors(daemons):
    """Started with 0, 1 and 2 closed, no file or socket of the machine is
    what it prints or logs to."""
    conf = daemons.config("ifconfig -l\n")
    p = subprocess.Popen(["/bin/sh", "-c", 'exec "$0" -M M1 -f "$1" '
                          "<&- >&- 2>&-", DAEMON, conf], env=daemons.env)
    try:
        netns.wait_for(lambda: daemons.tool("ifconfig", "-l").stdout)
        assert {os.readlink(f"/proc/{p.pid}/fd/{fd}") for fd in range(3)
                } == {"/dev/null"}
    finally:
        p.terminate()
        assert p.wait(10) == 0


def test_stop_under_clients(daemons):
    """Clients in every state do not hold the end up."""
    p = daemons.start()
    clients = [socket.socket(socket.AF_UNIX) for _ in range(20)]
    for i, s in enumerate(clients):
        s.connect(str(daemons.run / "M1/ctl"))
        if i % 3 == 1:
            s.sendall(b'{"half":')
        if i % 3 == 2:
            s.sendall(b'{"cmd":"sysctl.list"}\n' * 100)
    p.terminate()
    start = time.monotonic()
    assert p.wait(10) == 0
    assert time.monotonic() - start < SOON
    for s in clients:
        s.close()


def test_two_of_one_name(daemons):
    p = daemons.start("A")
    status, err = daemons.fails("-M", "A")
    assert status == os.EX_TEMPFAIL
    assert err == (f"netepochd: machine A is already running, pid {p.pid}\n")
    daemons.start("B")
    assert daemons.tool("-M", "A", "ifconfig", "-l").stdout == "lo0\n"
    assert daemons.tool("-M", "B", "ifconfig", "-l").stdout == "lo0\n"


def test_killed(daemons):
    """What a killed daemon leaves is no machine, and is taken over."""
    p = daemons.start()
    p.kill()
    p.wait()
    assert (daemons.run / "M1/ctl").exists()
    t = daemons.tool("ifconfig", "-l")
    assert t.returncode == os.EX_UNAVAILABLE
    assert "no machine is running; start one with netepochd -M NAME" in \
        t.stderr
    (daemons.run / "M1/ctl").rename(daemons.run / "M1/old")
    os.link(daemons.run / "M1/old", daemons.run / "M1/ctl")
    (daemons.run / "M1/old").unlink()
    p = daemons.popen("-M", "M1")
    netns.wait_for(lambda: daemons.tool("ifconfig", "-l").returncode == 0)
    p.terminate()
    assert p.wait(10) == 0
    assert list(daemons.run.iterdir()) == []


def test_machine_selection(daemons):
    daemons.start("M1")
    assert daemons.tool("ifconfig", "-l").stdout == "lo0\n"
    daemons.start("M2")
    t = daemons.tool("ifconfig", "-l")
    assert t.returncode == os.EX_UNAVAILABLE
    assert "several machines run: M1 M2; choose with -M" in t.stderr
    t = daemons.tool("-M", "M3", "ifconfig", "-l")
    assert t.returncode == os.EX_UNAVAILABLE
    assert "machine M3 is not running; running: M1 M2" in t.stderr
    daemons.env["NETEPOCH_MACHINE"] = "M2"
    assert daemons.tool("ifconfig", "-l").stdout == "lo0\n"


def test_file(daemons):
    conf = daemons.config("""\
# a pair, with an address

ifconfig epair create           # prints its name
ifconfig epair0a inet 192.0.2.1/24
   ifconfig epair0a description "to the \\"sink\\""
route add -net 10.0.0.0/8 192.0.2.9
sysctl net.inet.ip.forwarding=1
""")
    p = daemons.start("M1", "-f", conf)
    routes = daemons.tool("netstat", "-rn").stdout
    assert "10.0.0.0/8" in routes and "192.0.2.9" in routes
    ifc = daemons.tool("ifconfig", "epair0a").stdout
    assert 'description: to the "sink"' in ifc
    assert "inet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255" in ifc
    p.terminate()
    assert p.wait(10) == 0
    assert "epair0a" in p.stdout.read()
    assert f"{conf}: configuration read" in p.stderr.read()


def test_file_fails(daemons):
    conf = daemons.config("ifconfig epair create\n\n"
                          "ifconfig epair0a inet 192.0.2.300/24\n"
                          "ifconfig epair0a up\n")
    status, err = daemons.fails("-f", conf)
    assert status == os.EX_CONFIG
    assert "ifconfig: 192.0.2.300/24: bad value" in err
    assert f"{conf}:3: " in err
    assert list(daemons.run.iterdir()) == []

    conf = daemons.config("frobnicate epair0a\n")
    status, err = daemons.fails("-f", conf)
    assert status == os.EX_CONFIG
    assert f"{conf}:1: " in err and "frobnicate" in err

    conf = daemons.config('ifconfig "lo0\n')
    status, err = daemons.fails("-f", conf)
    assert status == os.EX_CONFIG and f"{conf}:1: " in err

    status, err = daemons.fails("-f", daemons.path / "none")
    assert status == os.EX_NOINPUT
    assert "none: No such file or directory" in err


def test_file_interrupted(daemons):
    """A line that does not end can be stopped, and the name is free."""
    conf = daemons.config("vmstat -i -w 1\n")
    p = daemons.popen("-f", conf)
    assert p.stdout.readline().startswith("interrupt")
    p.terminate()
    assert p.wait(10) == -signal.SIGTERM
    p = daemons.start()
    p.terminate()
    assert p.wait(10) == 0
    assert list(daemons.run.iterdir()) == []


def test_readiness(daemons):
    """systemd is told, after the file, and again before the end."""
    path = daemons.path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(path))
        s.settimeout(1)
        daemons.env["NOTIFY_SOCKET"] = str(path)
        p = daemons.start()
        try:
            said = s.recv(1000)
        except TimeoutError:
            pytest.skip("built without libsystemd")
        assert b"READY=1" in said.split(b"\n")
        p.terminate()
        assert s.recv(1000) == b"STOPPING=1"
        assert p.wait(10) == 0


@pytest.mark.parametrize("args,says", [
    (["-x"], "usage: netepochd"),
    (["extra"], "usage: netepochd"),
    (["-M", "a/b"], 'machine name "a/b": expected 1 to 31'),
    (["-M", ""], 'machine name "": expected 1 to 31'),
    (["-c", ""], "-c : expected a list of CPUs"),
    (["-c", "x"], "-c x: expected a list of CPUs"),
    (["-c", "1-0"], "-c 1-0: expected a list of CPUs"),
    (["-c", "0,"], "-c 0,: expected a list of CPUs"),
    (["-c", "0,0"], "-c 0,0: CPU 0 is not allowed to us, named twice"),
    (["-c", "1000000"], "CPU 1000000 is not allowed to us"),
    (["-m", "0"], "-m 0: expected 1..4095 MiB"),
    (["-m", "1x"], "-m 1x: expected 1..4095 MiB"),
    (["-m", "-5"], "-m -5: expected 1..4095 MiB"),
])
def test_usage(daemons, args, says):
    status, err = daemons.fails(*args)
    assert status == os.EX_USAGE
    assert says in err


def test_options(daemons):
    out = subprocess.run([DAEMON, "-V"], capture_output=True, text=True,
                         check=True).stdout
    assert out.startswith("netepochd ")
    cpu = min(os.sched_getaffinity(0))
    daemons.start("M1", "-F", "-v", "-c", str(cpu), "-m", "8")
    info, = request(daemons.run / "M1/ctl", '{"cmd":"machine.info"}')
    assert info["result"]["cpus"] == 1
    assert 8 * 512 <= info["result"]["mbufs"] <= 8 * 512 + 512


def sanitized():
    options = json.loads((netns.BUILD / "meson-info/intro-buildoptions.json"
                          ).read_text())
    return {o["name"]: o["value"] for o in options}["b_sanitize"] != "none"


def test_no_memory(daemons):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    if sanitized():
        pytest.skip("a sanitizer needs the address space")
    status, err = daemons.fails("-m", "3000", preexec_fn=limit)
    assert status == os.EX_OSERR
    assert "packet memory: Cannot allocate memory" in err
    assert list(daemons.run.iterdir()) == []


def test_run_directory(daemons):
    daemons.env["NETEPOCH_RUNDIR"] = "/proc/nothing/run"
    status, err = daemons.fails()
    assert status == os.EX_OSERR
    assert "cannot make the directory /proc/nothing/run: No such file" in err
    daemons.env["NETEPOCH_RUNDIR"] = str(daemons.path / ("x" * 120))
    status, err = daemons.fails()
    assert status == os.EX_USAGE
    assert "the run directory's name is too long" in err


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up root's identity")
def test_no_permission(daemons, tmp_path):
    """As nobody: neither may it make a machine there nor use one."""
    daemons.start()
    open_up(tmp_path)
    status, err = daemons.fails("-M", "M2", preexec_fn=nobody)
    assert status == os.EX_NOPERM
    assert "cannot make the directory" in err and "Permission denied" in err
    t = subprocess.run([TOOLS, "-M", "M1", "ifconfig", "-l"],
                       env=daemons.env, text=True, capture_output=True,
                       preexec_fn=nobody, check=False)
    assert t.returncode != 0
    assert f"no permission for {daemons.run}/M1/ctl: it is for the group " \
        in t.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs capabilities to lose")
def test_capabilities(daemons):
    """No thread of it keeps more than the manual page lists."""
    kept = {12, 13, 14, 23, 39}     # NET_ADMIN NET_RAW IPC_LOCK SYS_NICE BPF
    p = daemons.start()
    tasks = list(pathlib.Path(f"/proc/{p.pid}/task").iterdir())
    assert len(tasks) >= 4
    for task in tasks:
        lines = dict(line.split(":\t") for line in
                     (task / "status").read_text().splitlines()
                     if line.startswith("Cap"))
        for name in ("CapEff", "CapPrm", "CapBnd"):
            bits = int(lines[name], 16)
            assert {i for i in range(64) if bits >> i & 1} <= kept


def test_privileges_of_nobody(daemons, tmp_path):
    """Without any right a machine in memory works."""
    if os.geteuid() != 0:
        pytest.skip("the other tests are this one")
    open_up(tmp_path)
    mine = tmp_path / "mine"
    mine.mkdir()
    os.chown(mine, 65534, 65534)
    daemons.run = mine / "run"
    daemons.env["NETEPOCH_RUNDIR"] = str(daemons.run)
    p = daemons.popen("-M", "N", preexec_fn=nobody)
    daemons.wait_ready(p, "N")
    out = daemons.tool("ifconfig", "epair", "create")
    assert out.stdout == "epair0a\n"
    p.terminate()
    assert p.wait(10) == 0
    assert list(daemons.run.iterdir()) == []
