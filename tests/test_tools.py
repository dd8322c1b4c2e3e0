# SPDX-License-Identifier: BSD-2-Clause
"""The tools against a daemon: what they print is what scripts match, what
they change is there afterwards, what is wrong is refused with its status.

Machines in memory only: no namespaces and no rights are needed.
"""

import itertools
import json
import os
import re
import shutil
import subprocess

import pytest

import netns

DAEMON = netns.BUILD / "src/netepochd/netepochd"
NETEPOCH = netns.BUILD / "src/tools/netepoch"
TOOLS = ("ifconfig", "route", "arp", "netstat", "sysctl", "vmstat", "systat",
         "kldstat", "kldload", "kldunload", "ngctl", "nghook")


class Machines:
    """Daemons in a directory of their own, and the tools by link."""

    def __init__(self, path):
        self.path, self.processes = path, {}
        links = path / "bin"
        links.mkdir()
        for tool in ("netepoch", *TOOLS):
            (links / tool).symlink_to(NETEPOCH)
        self.env = {**os.environ, "NETEPOCH_RUNDIR": str(path / "run"),
                    "PATH": f"{links}:{os.environ['PATH']}"}
        self.env.pop("NETEPOCH_MACHINE", None)

    def start(self, name="M1", config=None):
        args = ["-f", str(config)] if config else []
        p = subprocess.Popen([DAEMON, "-M", name, *args], env=self.env,
                             stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.processes[name] = p
        netns.wait_for(lambda: p.poll() is not None or self.sh(
            f"netepoch -M {name} sysctl hw.ncpu").returncode == 0, 20)
        assert p.poll() is None
        return p

    def sh(self, line, stdin=""):
        """A line of shell, as a user types it."""
        return subprocess.run(["/bin/sh", "-c", line], env=self.env,
                              input=stdin, text=True, capture_output=True,
                              timeout=60, check=False)

    def out(self, line, stdin=""):
        p = self.sh(line, stdin)
        assert p.returncode == 0, f"{line}: {p.returncode}: {p.stderr}"
        assert p.stderr == "", f"{line}: {p.stderr}"
        return p.stdout

    def fails(self, line, status, text):
        p = self.sh(line)
        assert (p.returncode, p.stderr) == (status, text), line

    def json(self, line):
        tool, _, rest = line.partition(" ")
        return json.loads(self.out(f"{tool} --libxo json {rest}"))

    def close(self):
        for p in self.processes.values():
            p.terminate()
            p.wait(20)


@pytest.fixture(name="ms")
def fixture_ms(tmp_path):
    ms = Machines(tmp_path)
    yield ms
    ms.close()


@pytest.fixture(name="m")
def fixture_m(ms):
    """A machine with one epair: epair0a has 192.0.2.1/24."""
    ms.start()
    assert ms.out("ifconfig epair create") == "epair0a\n"
    assert ms.out("ifconfig epair0a inet 192.0.2.1/24") == ""
    return ms


def test_ifconfig_block(m):
    mac = m.out("ifconfig epair0a ether | awk '/ether/{print $2}'").strip()
    assert re.fullmatch("([0-9a-f]{2}:){5}[0-9a-f]{2}", mac)
    head, *rest = m.out("ifconfig epair0a").splitlines()
    assert head == ("epair0a: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,"
                    "MULTICAST> metric 0 mtu 1500")
    assert re.match(r"\toptions=[0-9a-f]+<\w+(,\w+)*>$", rest[0])
    assert rest[1:] == [
        f"\tether {mac}",
        "\tinet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255",
        "\tgroups: epair", "\tmedia: pair in memory", "\tstatus: active"]
    assert m.out("ifconfig -l") == "lo0 epair0a epair0b\n"
    assert m.out("ifconfig -u -l ether") == "epair0a\n"
    assert m.out("ifconfig -d -l") == "epair0b\n"
    assert "epair" in m.out("ifconfig -C").split()


def test_ifconfig_changes(m):
    def flags():
        return m.json("ifconfig epair0a")["ifconfig"]["interface"][0]["flags"]

    m.out("ifconfig epair0a -arp debug link1 monitor promisc staticarp")
    assert set(flags()) >= {"NOARP", "DEBUG", "LINK1", "MONITOR", "PPROMISC",
                            "PROMISC", "STATICARP"}
    m.out("ifconfig epair0a arp -debug -link1 -monitor -promisc -staticarp")
    assert flags() == ["UP", "BROADCAST", "RUNNING", "SIMPLEX", "MULTICAST"]
    m.out("ifconfig epair0a mtu 1400 metric 5 description 'to the lab'")
    text = m.out("ifconfig epair0a")
    assert " metric 5 mtu 1400\n\tdescription: to the lab\n" in text
    burnt = m.json("ifconfig epair0a")["ifconfig"]["interface"][0]["ether"]
    m.out("ifconfig epair0a ether 02:00:00:00:00:07")
    assert (f"\tether 02:00:00:00:00:07\n\thwaddr {burnt}\n" in
            m.out("ifconfig epair0a"))
    assert m.out("ifconfig epair0a name wan0") == "wan0\n"
    assert m.out("ifconfig -l") == "lo0 wan0 epair0b\n"
    m.out("ifconfig wan0 destroy")
    assert m.out("ifconfig -l") == "lo0\n"


def test_ifconfig_addresses(m):
    def inet():
        return re.findall(r"inet (.*)", m.out("ifconfig epair0a"))

    m.out("ifconfig epair0a 192.0.2.2/25")
    assert inet() == ["192.0.2.2 netmask 0xffffff80 broadcast 192.0.2.127"]
    m.out("ifconfig epair0a inet 198.51.100.1 netmask 255.255.255.0 alias")
    m.out("ifconfig epair0a inet 198.51.100.9/32 alias")
    assert len(inet()) == 3
    m.out("ifconfig epair0a inet 198.51.100.1 -alias")
    m.out("ifconfig epair0a delete")
    assert inet() == ["198.51.100.9 netmask 0xffffffff"]
    # Setting an address brings the interface up.
    assert m.out("ifconfig -d -l") == "epair0b\n"
    m.out("ifconfig epair0b 203.0.113.1/24")
    assert m.out("ifconfig -d -l") == "\n"


def test_ifconfig_refusals(m):
    m.fails("ifconfig em7", 1, "ifconfig: interface em7 does not exist\n")
    m.fails("ifconfig em7 up", 1, "ifconfig: interface em7 does not exist\n")
    m.fails("ifconfig epair0a blah", 1, "ifconfig: blah: bad value\n")
    m.fails("ifconfig epair0 create", 1,
            "ifconfig: interface epair0 already exists\n")
    p = m.sh("ifconfig epair0a mtu 1 description never")
    assert p.returncode == 1
    assert p.stderr.startswith(
        "ifconfig: ioctl SIOCSIFMTU (set mtu): Invalid argument")
    assert "never" not in m.out("ifconfig epair0a")
    p = m.sh("ifconfig lo0 destroy")
    assert (p.returncode, p.stdout) == (1, "")
    assert p.stderr.startswith("ifconfig: SIOCIFDESTROY: Invalid argument")
    p = m.sh("ifconfig epair0b name epair0a")
    assert p.returncode == 1 and "File exists" in p.stderr


def test_routes(m):
    assert (m.out("route add -net 10.0.0.0/8 192.0.2.2") ==
            "add net 10.0.0.0/8: gateway 192.0.2.2\n")
    assert (m.out("route add default 192.0.2.3") ==
            "add net default: gateway 192.0.2.3\n")
    m.out("route add 203.0.113.7 -iface epair0a")
    m.out("route add 100.64.0.0/10 -blackhole")
    table = m.out("netstat -rn")
    head = table.splitlines()[:4]
    assert head == ["Routing tables", "", "Internet:",
                    "Destination        Gateway            Flags     Netif "
                    "Expire"]
    for shape in (r"^192.0.2.1 +link#\d+ +UHS +lo0$",
                  r"^192.0.2.0/24 +link#\d+ +U +epair0a$",
                  r"^10.0.0.0/8 +192.0.2.2 +UGS +epair0a$",
                  r"^default +192.0.2.3 +UGS +epair0a$",
                  r"^203.0.113.7 +link#\d+ +UHS +epair0a$",
                  r"^100.64.0.0/10 .*\bUSB +"):
        assert re.search(shape, table, re.M), shape
    text = m.out("route -n get 10.1.2.3")
    assert re.search(r"destination: 10.0.0.0\n +mask: 255.0.0.0\n"
                     r" +gateway: 192.0.2.2\n +fib: 0\n"
                     r" +interface: epair0a\n"
                     r" +flags: <UP,GATEWAY,DONE,STATIC>\n", text)
    text = m.out("route -n get 192.0.2.1")
    assert "interface: lo0" in text and "destination: 192.0.2.1" in text
    assert (m.out("route change 10.0.0.0/8 192.0.2.9") ==
            "change net 10.0.0.0/8: gateway 192.0.2.9\n")
    assert "gateway: 192.0.2.9\n" in m.out("route -n get 10.1.2.3")
    assert (m.out("route delete 10.0.0.0/8") == "delete net 10.0.0.0/8\n")
    assert (m.out("route flush") ==
            f"{'default':20} {'192.0.2.3':20} -fib 0   done\n")


def test_route_refusals(m):
    p = m.sh("route add 10.0.0.0/8 198.51.100.1")
    assert p.returncode == 1
    assert p.stdout == ("add net 10.0.0.0/8: gateway 198.51.100.1 fib 0: "
                        "Network is unreachable\n")
    assert p.stderr == ("route: writing to routing socket: Network is "
                        "unreachable\n")
    m.out("route add 10.0.0.0/8 192.0.2.2")
    p = m.sh("route add 10.0.0.0/8 192.0.2.2")
    assert (p.returncode, p.stderr) == (1, "")
    assert p.stdout.endswith(" fib 0: route already in table\n")
    p = m.sh("route delete 11.0.0.0/8")
    assert (p.returncode, p.stderr) == (
        1, "route: route has not been found\n")
    assert p.stdout == "delete net 11.0.0.0/8 fib 0: not in table\n"
    m.fails("route -n get 203.0.113.1", 255,
            "route: route has not been found\n")
    m.fails("route add 10.0.0.0/8 -iface em7", 65,
            "route: interface 'em7' does not exist\n")
    m.fails("route add 10.0.0.0/8 nowhere.", 68,
            "route: bad address: nowhere.\n")
    m.fails("netstat -rn -F 3", 64, "netstat: 3: invalid fib\n")


def test_arp(m):
    m.out("arp -s 192.0.2.2 90:10:00:01:02:03")
    line = m.out("arp -n 192.0.2.2")
    assert line.startswith(
        "? (192.0.2.2) at 90:10:00:01:02:03 on epair0a permanent")
    # A MAC of zeros is what an operator may want to pin.
    assert m.out("arp -S 192.0.2.2 0:0:0:0:0:0") == (
        "192.0.2.2 (192.0.2.2) deleted\n")
    assert " at 00:00:00:00:00:00 on " in m.out("arp -n 192.0.2.2")
    m.out("arp -s 192.0.2.3 90:10:00:01:02:04 temp")
    assert re.fullmatch(
        r"\? \(192.0.2.3\) at 90:10:00:01:02:04 on epair0a expires in "
        r"1(199|200) seconds \[ethernet\]\n", m.out("arp -n 192.0.2.3"))
    assert (m.out("arp -nd 192.0.2.2") ==
            "192.0.2.2 (192.0.2.2) deleted\n")
    p = m.sh("arp -n 192.0.2.2")
    assert (p.returncode, p.stdout) == (
        1, "192.0.2.2 (192.0.2.2) -- no entry\n")
    m.fails("arp -d 192.0.2.2", 1, "arp: delete: cannot locate 192.0.2.2\n")
    m.fails("arp -s 198.51.100.2 2:0:0:0:0:1", 1, "arp: cannot intuit "
            "interface index and type for 198.51.100.2\n")
    (m.path / "arps").write_text("192.0.2.4 90:10:00:01:02:05\n")
    m.out(f"arp -f {m.path}/arps")
    cache = m.json("arp -an")["arp"]["arp-cache"]
    assert [e["ip-address"] for e in cache if "expires" in e] == ["192.0.2.3"]
    assert m.out("arp -d -a").count(" deleted\n") == 2


def test_sysctl(m):
    assert m.out("sysctl kern.features.inet") == "kern.features.inet: 1\n"
    old = m.out("sysctl -n hw.intr_epoch_batch").strip()
    assert (m.out("sysctl hw.intr_epoch_batch=32") ==
            f"hw.intr_epoch_batch: {old} -> 32\n")
    assert m.out("sysctl -x hw.intr_epoch_batch") == (
        "hw.intr_epoch_batch: 0x20\n")
    names = m.out("sysctl -aN").split()
    assert names == sorted(names) and "net.inet.ip.forwarding" in names
    for name, text in m.json("sysctl -ad")["sysctl"].items():
        assert text, f"{name} has no description"
    m.fails("sysctl a.b c.d", 2,
            "sysctl: unknown oid 'a.b'\nsysctl: unknown oid 'c.d'\n")
    m.fails("sysctl hw.ncpu=7", 1, "sysctl: oid 'hw.ncpu' is read only\n")
    m.fails("sysctl net.inet.ip.ttl=x", 1, "sysctl: invalid integer 'x'\n")
    m.fails("sysctl net.inet=1", 1,
            "sysctl: oid 'net.inet' isn't a leaf node\n")
    p = m.sh("sysctl net.inet.ip.ttl=1000")
    assert p.returncode == 1
    assert p.stderr.startswith(
        "sysctl: net.inet.ip.ttl=1000: Invalid argument (expected ")


def test_netstat_and_vmstat(m):
    m.out("ifconfig epair0b up")
    # An address is announced by ARP: a packet that the other end counts.
    m.out("ifconfig epair0a inet 192.0.2.77/32 alias")
    netns.wait_for(lambda: m.out(
        "netstat -Wf link -I epair0b | awk 'NR==2{print $5}'") != "0\n")
    sent = m.out("netstat -Wf link -I epair0a | awk 'NR==2{print $8}'")
    assert int(sent) >= 1
    assert re.search(r"\n\t[1-9]\d* ARP requests? sent\n",
                     m.out("netstat -s -p arp"))
    m.out("netstat -sz -p arp")
    assert "\t0 ARP requests sent\n" in m.out("netstat -s -p arp")
    assert ("\t0 packets forwarded (0 packets fast forwarded)\n" in
            m.out("netstat -s -p ip"))
    rows = m.out("netstat -w 1 -q 2 -I epair0a").splitlines()
    assert rows[1].split() == ["packets", "errs", "idrops", "bytes",
                               "packets", "errs", "bytes", "colls"]
    assert len(rows) == 4 and len(rows[3].split()) == 8
    m.fails("netstat -I em7", 65, "netstat: unknown interface em7\n")
    head, *rest = m.out("vmstat -ia").splitlines()
    assert head.split() == ["interrupt", "total", "rate"]
    assert rest[-1].startswith("Total ")
    assert sum(int(r.split()[-2]) for r in rest[:-1]) == int(
        rest[-1].split()[1])


def test_kld(m):
    # Parts of the daemon, which have no address and no size of their own.
    for name in ("if_epair", "if_lo"):
        assert re.search(rf"^ *\d+ +\d+ - +- {name}.ko$",
                         m.out("kldstat"), re.M)
    assert "\tgroups: lo\n" in m.out("ifconfig lo0")
    m.out("kldstat -q -m if_epair")
    m.fails("kldstat -q -m ng_nothing", 1, "")
    m.fails("kldload nothing", 1,
            "kldload: can't load nothing: No such file or directory\n")
    m.fails("kldload if_epair.ko", 1, "kldload: can't load if_epair.ko: "
            "module already loaded or in kernel\n")
    m.out("kldload -n if_epair")
    m.fails("kldunload nothing", 1, "kldunload: can't find file nothing\n")


def test_json_of_every_tool(m):
    assert {i["name"] for i in m.json("ifconfig")["ifconfig"]["interface"]
            } == {"lo0", "epair0a", "epair0b"}
    table = m.json("netstat -rn")["statistics"]["route-information"]
    entries = table["route-table"][0]["rt-entry"]
    assert "192.0.2.0/24" in [e["destination"] for e in entries]
    assert m.json("netstat -i")["statistics"]["interface"]
    assert "ip" in m.json("netstat -s")["statistics"]
    assert m.json("vmstat -i")["interrupt-statistics"]["totals"]
    assert m.json("kldstat")["kldstat"]["file"]
    assert m.json("route -n get 192.0.2.9")["route"]["interface"] == "epair0a"
    assert "ifstat" in m.json("systat -ifstat 0.1")
    epoch = m.json("systat -epoch 0.1")["epoch"]
    assert "entries" in [c["name"] for c in epoch["counter"]]
    assert epoch["records"] > 0 and "backlog" in epoch
    assert m.json("systat -intr 0.1")["intr"]["totals"]["runs"] > 0
    assert m.json("systat -graph 0.1")["graph"] == []
    (one,) = json.loads(m.out("netepoch list -j"))["machines"]
    assert one["name"] == "M1"
    assert one["pid"] == m.processes["M1"].pid


def test_machines(ms):
    p = ms.sh("ifconfig")
    assert p.returncode == 69 and "no machine is running" in p.stderr
    ms.start("M1")
    ms.start("M2")
    p = ms.sh("ifconfig -l")
    assert p.returncode == 69 and "M1" in p.stderr and "M2" in p.stderr
    ms.out("ifconfig -M M2 epair create")
    assert ms.out("netepoch -M M2 ifconfig -l") == "lo0 epair0a epair0b\n"
    assert ms.out("NETEPOCH_MACHINE=M1 ifconfig -l") == "lo0\n"
    assert ms.out("netepoch shell M2 sh -c 'ifconfig -l; exit 0'") == (
        "lo0 epair0a epair0b\n")
    assert ms.sh("netepoch shell M2 sh -c 'exit 5'").returncode == 5
    names = [r.split()[0] for r in ms.out("netepoch list").splitlines()]
    assert names == ["Machine", "M1", "M2"]
    ms.processes["M1"].kill()
    ms.processes["M1"].wait()
    assert ms.out("ifconfig -l") == "lo0 epair0a epair0b\n"


def test_batch(m):
    lines = ("# a comment\n"
             "ifconfig epair0b inet 198.51.100.1/24\n"
             "netepoch route add default 198.51.100.2\n")
    assert (m.out("netepoch batch", lines) ==
            "add net default: gateway 198.51.100.2\n")
    p = m.sh("netepoch batch", "ifconfig epair0b up\nifconfig em7 up\n"
             "ifconfig epair0b down\n")
    assert p.returncode == 1
    assert p.stderr == ("ifconfig: interface em7 does not exist\n"
                        "stdin:2: failed\n")
    assert m.out("ifconfig -u -l") == "lo0 epair0a epair0b\n"


class Screen:
    """A program on a terminal of tmux's, of 80 by 24.

    Each has a server of its own: that of the one before may not be gone yet.
    """
    numbers = itertools.count()

    def __init__(self, ms, line):
        self.ms, self.line = ms, line
        self.server = f"{ms.path}/tmux{next(Screen.numbers)}"

    def tmux(self, words):
        return self.ms.sh(f"tmux -f /dev/null -S {self.server} {words}")

    def __enter__(self):
        # The shell stays, so that what is left on the screen can be seen.
        p = self.tmux("new-session -d -x 80 -y 24 "
                      f"\"sh -c '{self.line}; echo status=\\$?; cat'\"")
        assert p.returncode == 0, p.stderr
        return self

    def __exit__(self, *exc):
        self.tmux("kill-server")

    def text(self):
        return self.tmux("capture-pane -p").stdout

    def shows(self, shape):
        try:
            netns.wait_for(lambda: re.search(shape, self.text(), re.M), 15)
        except netns.Failed:
            pytest.fail(f"{shape} is not on the screen:\n{self.text()}")

    def keys(self, *keys):
        for key in keys:
            self.tmux(f"send-keys '{key}'")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
def test_systat_screen(m):
    m.out("ifconfig epair0b up")
    m.out("ifconfig epair0a inet 192.0.2.77/32 alias")
    with Screen(m, "systat -ifstat 0.2") as s:
        s.shows(r"^ {20}/0   /1   /2   /3 .* /10$")
        s.shows(r"^ {5}Load Average")
        s.shows(r"^ {6}Interface {11}Traffic {15}Peak {16}Total$")
        s.shows(r"^ {8}epair0b  in  +\d+\.\d{3} KB/s +\d+\.\d{3} KB/s"
                r" +\d+\.\d{3} KB\n {17}out +\d+\.\d{3} KB/s")
        assert "lo0" not in s.text()
        s.keys(":all", "Enter")
        s.shows(r"^ {12}lo0  in ")
        s.keys(":match lo*,x", "Enter")
        netns.wait_for(lambda: "epair0b" not in s.text())
        s.keys(":scale bushel", "Enter")
        s.shows("^what scale\\? byte, kbyte, mbyte,")
        s.keys(":scale kbit", "Enter", ":match", "Enter")
        s.shows(r"epair0b  in  +\d+\.\d{3} Kb/s")
        s.keys(":pps", "Enter", ":0.5", "Enter", "C-g")
        s.shows(r"epair0b  in  +\d+\.\d{3} p/s")
        s.shows(r"^Showing ifstat, refresh every 0.5 seconds\.$")
        # Interfaces come and go, and the window changes its size.
        m.out("ifconfig epair create")
        s.shows(r"^ {8}epair1b  in ")
        m.out("ifconfig epair1a destroy")
        netns.wait_for(lambda: "epair1b" not in s.text())
        s.tmux("resize-window -x 50 -y 9")
        s.shows(r"more: enlarge, or choose")
        s.keys(":quit", "Enter")
        s.shows("^status=0$")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
def test_systat_pages(m):
    m.out("ifconfig epair0b up")
    with Screen(m, "systat -epoch 0.2") as s:
        s.shows(r"^  net epoch +per second +total$")
        s.shows(r"^  sections of interrupt threads +\d+ +[1-9]\d*$")
        s.shows(r"^  callbacks waiting +\d+ +\d+$")
        s.shows(r"^  longest grace period, us +\d+\.\d$")
        s.shows(r"^  records of threads +[1-9]")
        s.keys(":intr", "Enter", "C-g")
        s.shows(r"^interrupt +cpu +rate +runs/s +total +storms$")
        s.shows(r"^epair0[ab]\S* +\d+ +\d+ +\d+ +\d+ +\d+$")
        s.shows(r"^Showing intr, refresh every 0.2 seconds\.$")
        s.keys(":graph", "Enter")
        s.shows(r"^Name +Type +ID +Hooks +p/s +packets$")
        m.sh("ngctl -n probe -f - <<'X'\nmkpeer . hub a b\nname a busy\n"
             "msg a setpersistent\nX")
        s.shows(r"^busy +hub +\w+ +0 +0 +0$")
        s.keys(":epoch", "Enter")
        s.tmux("resize-window -x 80 -y 12")
        s.shows(r"^ +9 more: enlarge the window")
        # The epoch's 16 lines but 7, and what is shown are the first of them.
        assert "callbacks run" in s.text()
        s.keys(":ifstat", "Enter")
        s.shows(r"^ {6}Interface {11}Traffic {15}Peak {16}Total$")
        s.keys("q")
        s.shows("^status=0$")
    assert "longest section seen" in m.out("systat -epoch 0.1")
    p = m.sh("systat -vmstat 0.1")
    assert p.returncode == 64 and "no such display" in p.stderr


def test_output_that_cannot_be_written(m):
    """The reason is said; a closed output is not the machine's socket."""
    for line in ("ifconfig", "ifconfig --libxo json", "netstat -rn",
                 "netepoch list", "vmstat -i -w 1", "netstat -w 1"):
        tool = line.split()[-1 if "list" in line else 0]
        m.fails(f"{line} >/dev/full", os.EX_IOERR,
                f"{tool}: cannot write: No space left on device\n")
        m.fails(f"{line} >&-", os.EX_IOERR,
                f"{tool}: cannot write: Bad file descriptor\n")
    m.fails("ngctl list >&-", os.EX_IOERR,
            "ngctl: cannot write: Bad file descriptor\n")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
def test_systat_when_the_machine_goes(m):
    with Screen(m, "systat -ifstat 0.2 2>&1") as s:
        s.shows("Interface +Traffic")
        m.processes["M1"].kill()
        s.shows("^systat: ")
        s.shows("^status=69$")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
def test_shell_prompt(m):
    tmp = m.path / "tmp"
    tmp.mkdir()
    m.env.update(SHELL="/bin/sh", TMPDIR=str(tmp))
    with Screen(m, "netepoch shell M1") as s:
        s.shows(r"^\(M1\) \$")
        s.keys("ifconfig -l", "Enter")
        s.shows("^lo0 epair0a epair0b$")
        assert [f.name.startswith("netepoch-shell-") for f in tmp.iterdir()
                ] == [True]
        s.keys("exit 3", "Enter")
        s.shows("^status=3$")
    assert not list(tmp.iterdir())
