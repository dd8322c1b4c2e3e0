# SPDX-License-Identifier: BSD-2-Clause
"""Network namespaces, veths and machines for stories and the lab.

The one place that makes and removes them.  Everything belongs to a Lab; when
it closes, also after a failure or a signal, it ends the processes that it
started, by id, and removes its namespaces.  Names carry the process id, so
several labs can run side by side.  Nothing outside the namespaces is touched.
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

BUILD = pathlib.Path(os.environ.get(
    "NETEPOCH_BUILD",
    pathlib.Path(__file__).resolve().parent.parent / "build/test/debug"))
CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWUSER = 0x20000, 0x40000000, 0x10000000


class Failed(Exception):
    """A command of the lab failed; the text says which and what it said."""


def _die_with_parent():
    """In a child: end when the lab's process dies, however that happens."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def command(argv, timeout=30, check=True, **kw):
    """Run argv; its standard output as text.  Failed if it fails."""
    argv = [str(a) for a in argv]
    try:
        p = subprocess.run(argv, capture_output=True, text=True,
                           timeout=timeout, stdin=subprocess.DEVNULL,
                           check=False, preexec_fn=_die_with_parent, **kw)
    except subprocess.TimeoutExpired as e:
        raise Failed(f"{' '.join(argv)}: no end after {timeout} s: "
                     f"{e.stdout}{e.stderr}") from e
    if check and p.returncode != 0:
        raise Failed(f"{' '.join(argv)}: exit {p.returncode}: "
                     f"{p.stdout}{p.stderr}")
    return p.stdout if check else p


def enter_userns():
    """Without root: become root of a user, mount and network namespace.

    OSError if the system forbids it.
    """
    uid, gid = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    pathlib.Path("/proc/self/setgroups").write_text("deny")
    pathlib.Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    pathlib.Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    # ip netns keeps its names in /run/netns, which is not ours.
    command(["mount", "-t", "tmpfs", "tmpfs", "/run"])


class Namespace:
    """A network namespace of a lab."""

    def __init__(self, lab, name):
        self.lab, self.short = lab, name
        self.name = f"{lab.prefix}-{name}"
        command(["ip", "netns", "add", self.name])
        lab.spaces.append(self)
        for key in ("all", "default"):
            self.run(["sysctl", "-qw",
                      f"net.ipv6.conf.{key}.disable_ipv6=1"])
        self.ip("link set lo up")

    def wrap(self, argv):
        return ["ip", "netns", "exec", self.name, *map(str, argv)]

    def run(self, argv, **kw):
        return command(self.wrap(argv), **kw)

    def ip(self, words, **kw):
        return command(["ip", "-n", self.name, *words.split()], **kw)

    def popen(self, argv, **kw):
        """Start a process that the lab ends at its close."""
        return self.lab.popen(self.wrap(argv), **kw)

    def call(self, fn, *args):
        """fn(*args) on a thread inside the namespace; what it returns.

        A socket made there stays in the namespace.
        """
        result, error = [], []

        def body():
            try:
                with open(f"/run/netns/{self.name}") as f:
                    if ctypes.CDLL(None).setns(f.fileno(), CLONE_NEWNET) != 0:
                        raise Failed(f"cannot enter {self.name}")
                result.append(fn(*args))
            except BaseException as e:
                error.append(e)

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        if error:
            raise error[0]
        return result[0]

    def socket(self, *args):
        """A socket of this namespace; the lab closes it."""
        s = self.call(socket.socket, *args)
        self.lab.sockets.append(s)
        return s

    def snmp(self, proto):
        """Linux's counters of a protocol, "Tcp" say, by name."""
        rows = [line.split()[1:] for line in
                self.run(["cat", "/proc/net/snmp"]).splitlines()
                if line.startswith(f"{proto}:")]
        return dict(zip(rows[0], map(int, rows[1])))

    def mac(self, dev):
        return json.loads(self.ip(f"-j link show {dev}"))[0]["address"]

    def counter(self, dev, name):
        """A counter of /sys/class/net/DEV/statistics."""
        path = f"/sys/class/net/{dev}/statistics/{name}"
        return int(self.run(["cat", path]))

    def delete(self):
        command(["ip", "netns", "del", self.name], check=False)


def sweep():
    """Remove namespaces whose maker was killed before it could."""
    for line in command(["ip", "netns", "list"], check=False).stdout.split("\n"):
        made = re.match(r"ne(\d+)[a-z]+-", line)
        if made and not os.path.exists(f"/proc/{made[1]}"):
            command(["ip", "netns", "del", line.split()[0]], check=False)


class Lab:
    """Owns namespaces, processes and a run directory; use with `with`."""

    def __init__(self, name="lab"):
        self.prefix = f"ne{os.getpid()}{name}"
        self.spaces, self.processes, self.machines = [], [], []
        self.sockets, self.callbacks = [], []
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="netepoch-"))
        self.env = {**os.environ, "NETEPOCH_RUNDIR": str(self.dir / "run"),
                    "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
        os.environ["PATH"] = self.env["PATH"]
        sweep()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def ns(self, name):
        return Namespace(self, name)

    def callback(self, fn):
        """Call fn at the close."""
        self.callbacks.append(fn)

    def popen(self, argv, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        kw.setdefault("env", self.env)
        p = subprocess.Popen([str(a) for a in argv], text=True,
                             preexec_fn=_die_with_parent, **kw)
        self.processes.append(p)
        return p

    def veth(self, ns1, dev1, ns2, dev2, *options):
        """A veth pair, one end in each namespace, both up."""
        command(["ip", "link", "add", dev1, "netns", ns1.name, *options,
                 "type", "veth", "peer", "name", dev2, "netns", ns2.name])
        ns1.ip(f"link set {dev1} up")
        ns2.ip(f"link set {dev2} up")

    def machine(self, ns, name="M1", **kw):
        m = Machine(self, ns, name, **kw)
        self.machines.append(m)
        return m

    def close(self):
        for s in self.sockets:
            s.close()
        for fn in self.callbacks:
            fn()
        # Later ones may stand on earlier ones: the last goes first.
        for p in reversed(self.processes):
            if p.poll() is None:
                p.terminate()
                try:
                    p.wait(5)
                except subprocess.TimeoutExpired:
                    p.kill()
                    p.wait()
            for stream in (p.stdout, p.stderr):
                if stream is not None:
                    stream.close()
        for ns in reversed(self.spaces):
            ns.delete()
        self.processes, self.spaces = [], []
        self.sockets, self.callbacks = [], []
        shutil.rmtree(self.dir, ignore_errors=True)


class Control:
    """A connection to a machine's control socket; a call is a request."""

    def __init__(self, path):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(30)
        self.s.connect(str(path))
        self.f = self.s.makefile()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.f.close()
        self.s.close()

    def __call__(self, cmd, **args):
        self.s.sendall(json.dumps({"cmd": cmd, "args": args}).encode() +
                       b"\n")
        reply = json.loads(self.f.readline())
        if not reply["ok"]:
            raise Failed(f"{cmd} {args}: {reply['error']}")
        return reply.get("result")


class Machine:
    """A netepochd in a namespace, and the tools that talk to it."""

    def __init__(self, lab, ns, name, config="", args=(), start=True):
        self.lab, self.ns, self.name, self.args = lab, ns, name, args
        self.config, self.process = config, None
        self.log = lab.dir / f"{name}.log"
        self.tools = BUILD / "src/tools/netepoch"
        self.daemon = BUILD / "src/netepochd/netepochd"
        if start:
            self.start()

    def start(self, config=None, wait=20):
        """Start the daemon; Failed, with what it said, if it does not."""
        argv = [self.daemon, "-M", self.name, *self.args]
        config = self.config if config is None else config
        if config:
            path = self.lab.dir / f"{self.name}.conf"
            path.write_text(config)
            argv += ["-f", path]
        with self.log.open("a") as log:
            self.process = self.ns.popen(argv, stdout=log, stderr=log)
        end = time.monotonic() + wait
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise Failed(f"netepochd ended with "
                             f"{self.process.returncode}: {self.text()}")
            if " is ready" not in self.text():
                time.sleep(0.02)
                continue
            if self.try_tool("sysctl", "-n", "hw.ncpu").returncode == 0:
                return self
            time.sleep(0.02)
        raise Failed(f"netepochd does not answer after {wait} s: "
                     f"{self.text()}")

    def text(self):
        """What the daemon has logged."""
        return self.log.read_text() if self.log.exists() else ""

    def try_tool(self, *words, timeout=30):
        """Run a tool; the completed process, whatever its exit status."""
        return command(self.ns.wrap([self.tools, "-M", self.name, *words]),
                       check=False, env=self.lab.env, timeout=timeout)

    def tool(self, line, **kw):
        """Run a tool's words; its output.  Failed if it fails."""
        words = line.split() if isinstance(line, str) else list(line)
        p = self.try_tool(*words, **kw)
        if p.returncode != 0:
            raise Failed(f"{' '.join(map(str, words))}: exit {p.returncode}: "
                         f"{p.stdout}{p.stderr}")
        return p.stdout

    def json(self, line, **kw):
        words = line.split()
        return json.loads(self.tool([words[0], "--libxo", "json",
                                     *words[1:]], **kw))

    def control(self):
        """A connection to the control socket; use with `with`."""
        return Control(self.lab.dir / "run" / self.name / "ctl")

    def call(self, cmd, args=None):
        """A request on the control socket itself; its result."""
        with self.control() as c:
            return c(cmd, **(args or {}))

    def sysctl(self, name):
        return int(self.tool(["sysctl", "-n", name]))

    def stop(self, timeout=20):
        """SIGTERM; the exit status."""
        self.process.terminate()
        return self.process.wait(timeout)

    def kill(self):
        self.process.kill()
        self.process.wait()


def wait_for(what, timeout=20, step=0.05):
    """Call what until it is true; Failed after timeout seconds."""
    end = time.monotonic() + timeout
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"not true after {timeout} s: "
                         f"{getattr(what, '__name__', what)}")
        time.sleep(step)


def privileged():
    """May this process load XDP programs?  (root outside a user namespace)"""
    return os.geteuid() == 0 and pathlib.Path(
        "/proc/self/uid_map").read_text().split()[2] == "4294967295"


def can_netns():
    """May this process make network namespaces as it is?"""
    name = f"ne{os.getpid()}-probe"
    try:
        command(["ip", "netns", "add", name])
        command(["ip", "netns", "del", name])
    except (OSError, Failed):
        return False
    return True


def isolate():
    """Go where namespaces can be made.  "root", "user namespace", or Failed.

    Root in a container often may not; then, and without root, a user
    namespace of our own is the place.
    """
    if os.geteuid() == 0 and can_netns():
        return "root"
    try:
        enter_userns()
    except OSError as e:
        raise Failed(f"no right to make network namespaces, and user "
                     f"namespaces are forbidden ({e.strerror})") from e
    return "user namespace"


def can_isolate():
    """None, or why namespaces cannot be made here; changes nothing."""
    pid = os.fork()
    if pid == 0:
        try:
            isolate()
        except Failed:
            os._exit(1)
        os._exit(0)
    return None if os.waitpid(pid, 0)[1] == 0 else \
        "no right to make network namespaces"
