# SPDX-License-Identifier: BSD-2-Clause
"""Graphs with interfaces in them, as users write them down.

The test plan of review D39369 as it stands: frames that ixl2 receives go into
an eiface.  An interface node between the stack and the card.  A point-to-point
interface between two machines.
"""

import json
import subprocess

import pytest

import conftest
import netns
import rig


@pytest.fixture
def lab(isolation):
    with netns.Lab() as made:
        yield made


def ngctl(m, *lines):
    for line in lines:
        m.tool(f"ngctl {line}")


def args(m, line):
    """The text behind Args: of the answer to an ngctl msg."""
    out = m.tool(f"ngctl {line}")
    return out.split("Args:\t")[1].strip()


def counters(m, name):
    ifp = m.call("if.list", {"name": name})["interfaces"][0]
    return {**ifp["counters"], "drops": ifp["drops"]}


def stop(m):
    assert m.stop(60) == 0, m.text()
    for word in ("Sanitizer", "runtime error", "panic", "assertion"):
        assert word not in m.text(), m.text()


class Flood:
    """Frames from dev to a MAC, until the end of the `with`."""

    def __init__(self, ns, dev, mac, rate=20000):
        self.ns, self.dev, self.mac, self.rate = ns, dev, mac, rate

    def __enter__(self):
        self.process = self.ns.popen(
            [netns.BUILD / "tests/flood", self.dev, self.mac, "192.0.2.10",
             "198.51.100.10", 60, self.rate], stdout=subprocess.PIPE)
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.communicate(timeout=20)


def test_plan(lab):
    """D39369: ngctl mkpeer ixl2: eiface lower ether, under traffic."""
    gen, router = lab.ns("gen"), lab.ns("router")
    lab.veth(gen, "g0", router, "r0")
    m = lab.machine(router)
    m.tool("ifconfig ixl2 create packet:r0")
    m.tool("ifconfig ixl2 up")
    with Flood(gen, "g0", router.mac("r0")):
        m.tool("kldload ng_ether")
        ngctl(m, "mkpeer ixl2: eiface lower ether")
        m.tool("ifconfig ngeth0 up")
        netns.wait_for(lambda: counters(m, "ngeth0")["ipackets"] > 1000, 20)
        text = m.tool("systat -ifstat 0.5")
        assert "ngeth0" in text and "ixl2" in text, text
        rates = {r["name"]: r["in"]["packets-per-second"]
                 for r in m.json("systat -ifstat 0.5")["ifstat"]}
        assert rates["ngeth0"] > 0 and rates["ixl2"] > 0, rates
        # It cannot be destroyed like an interface of a driver.
        p = m.try_tool("ifconfig", "ngeth0", "destroy")
        assert p.returncode != 0 and "node" in p.stderr, p.stderr
        # The second entry of the review's measurement, switched on and off.
        for value in "10":
            m.tool(f"sysctl net.graph.eiface.needsepoch={value}")
            before = counters(m, "ngeth0")["ipackets"]
            netns.wait_for(
                lambda: counters(m, "ngeth0")["ipackets"] > before + 1000)
        # Its node goes under full traffic, and nothing else does.
        ngctl(m, "shutdown ngeth0:")
        assert m.try_tool("ifconfig", "ngeth0").returncode != 0
        before = counters(m, "ixl2")["ipackets"]
        netns.wait_for(
            lambda: counters(m, "ixl2")["ipackets"] > before + 1000)
        assert args(m, "msg ixl2: getifname") == '"ixl2"'
        m.tool("ifconfig ixl2 destroy")
        assert m.try_tool("ngctl", "msg", "ixl2:",
                          "getifname").returncode != 0
    stop(m)


def test_eiface_shut_down_in_use(lab):
    """Ten times: an eiface outlives the ngctl that made it, and its node is
    shut down by three at once while others work on the interface."""
    m = lab.machine(lab.ns("router"))
    base = m.ns.wrap([m.tools, "-M", m.name])
    for i in range(10):
        out = subprocess.run(
            [*base, "ngctl", "-f", "-"], env=lab.env, text=True, check=True,
            input=f"mkpeer eiface path_{i} ether\nmsg .path_{i} getifname\n",
            capture_output=True, timeout=30).stdout
        name = [line.split()[1].strip('"') for line in out.splitlines()
                if line.startswith("Args:")][0]
        assert name == "ngeth0", out
        m.tool(f"ifconfig {name}")
        busy = [subprocess.Popen([*base, *words.split()], env=lab.env,
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
                for words in (f"ifconfig {name} inet 192.0.2.1/24 up",
                              f"ngctl shutdown {name}:",
                              f"ifconfig {name} name lan{i}",
                              f"ngctl shutdown {name}:",
                              "netstat -i", f"ngctl shutdown {name}:")]
        codes = [p.wait(30) for p in busy]
        assert 0 in (codes[1], codes[3], codes[5]), codes
        for gone in (name, f"lan{i}"):
            assert m.try_tool("ifconfig", gone).returncode != 0
    stop(m)


def test_eiface_is_an_interface(lab):
    """Addresses, ARP and ping on ngeth0; status and media; a rename."""
    host, router = lab.ns("host"), lab.ns("router")
    lab.veth(host, "h0", router, "r0")
    host.ip("addr add 192.0.2.2/24 dev h0")
    m = lab.machine(router, config="ifconfig ixl2 create packet:r0\n"
                                   "ifconfig ixl2 up\n")
    m.tool("kldload ng_ether")
    ngctl(m, "mkpeer ixl2: eiface lower ether", "msg ixl2: setpromisc 1")
    m.tool("ifconfig ngeth0 inet 192.0.2.1/24 up")
    rig.ping(host, "192.0.2.1")
    assert "58:9c:fc" in host.ip("neigh show 192.0.2.1")
    block = m.tool("ifconfig ngeth0")
    assert "media: Ethernet autoselect (1000baseT <full-duplex>)" in block
    assert "status: active" in block
    m.tool("ifconfig ngeth0 name lan0")
    assert args(m, "msg ngeth0: getifname") == '"lan0"'
    rig.ping(host, "192.0.2.1")
    ngctl(m, "msg ngeth0: set 02:11:22:33:44:55")
    host.ip("neigh flush all")
    rig.ping(host, "192.0.2.1")
    assert "02:11:22:33:44:55" in host.ip("neigh show 192.0.2.1")
    count = counters(m, "lan0")
    assert count["ipackets"] >= 9 and count["opackets"] >= 9, count
    ngctl(m, "rmhook ngeth0: ether")
    assert "status: no carrier" in m.tool("ifconfig lan0")
    stop(m)


def test_node_between_card_and_stack(lab):
    """lower and upper joined by nothing but each other: as if not there."""
    host, router = lab.ns("host"), lab.ns("router")
    lab.veth(host, "h0", router, "r0")
    host.ip("addr add 192.0.2.2/24 dev h0")
    m = lab.machine(router, config="ifconfig p0 create packet:r0\n"
                                   "ifconfig p0 inet 192.0.2.1/24 up\n")
    m.tool("kldload ng_ether")
    rig.ping(host, "192.0.2.1")
    ngctl(m, "connect p0: p0: lower upper")
    rig.ping(host, "192.0.2.1")
    with Flood(host, "h0", router.mac("r0")):
        for _ in range(10):
            ngctl(m, "rmhook p0: lower", "connect p0: p0: upper lower",
                  "shutdown p0:", "connect p0: p0: lower upper")
    rig.ping(host, "192.0.2.1")
    ngctl(m, "shutdown p0:")
    rig.ping(host, "192.0.2.1")
    stop(m)


def test_tee_on_a_card(lab):
    """A tee between card and stack; nghook sees what comes in."""
    host, router = lab.ns("host"), lab.ns("router")
    lab.veth(host, "h0", router, "r0")
    host.ip("addr add 192.0.2.2/24 dev h0")
    m = lab.machine(router, config="ifconfig ixl2 create packet:r0\n"
                                   "ifconfig ixl2 inet 192.0.2.1/24 up\n")
    m.tool("kldload ng_ether")
    ngctl(m, "mkpeer ixl2: tee lower left",
          "connect ixl2: ixl2:lower upper right")
    hook = router.popen([m.tools, "-M", m.name, "nghook", "-na",
                         "ixl2:lower", "left2right"],
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    netns.wait_for(lambda: "left2right" in m.tool("ngctl show ixl2:lower"))
    rig.ping(host, "192.0.2.1", "-p", "6e65746570")
    hook.terminate()
    assert "netep" in hook.communicate(timeout=20)[0]
    ngctl(m, "shutdown ixl2:lower")
    rig.ping(host, "192.0.2.1")
    stop(m)


def test_card_and_stack_on_a_bridge(lab):
    """Two cards and the stack on one bridge: the hosts reach each other and
    the machine, also when a card goes and when its name changes."""
    one, two, router = lab.ns("one"), lab.ns("two"), lab.ns("router")
    lab.veth(one, "h0", router, "r0")
    lab.veth(two, "h0", router, "r1")
    for i, ns in enumerate((one, two)):
        ns.ip(f"addr add 192.0.2.{i + 1}/24 dev h0")
    m = lab.machine(router, config="ifconfig em0 create packet:r0\n"
                                   "ifconfig em0 inet 192.0.2.254/24 up\n"
                                   "ifconfig em1 create packet:r1\n"
                                   "ifconfig em1 up\n")
    m.tool("kldload ng_ether")
    ngctl(m, "mkpeer em0: bridge lower link0", "name em0:lower br",
          "connect em0: br: upper link1", "connect em1: br: lower link2",
          "msg em0: setpromisc 1", "msg em1: setpromisc 1",
          "msg em0: setautosrc 0", "msg em1: setautosrc 0")
    rig.ping(one, "192.0.2.2")
    rig.ping(one, "192.0.2.254")
    rig.ping(two, "192.0.2.254")
    m.tool("ifconfig em0 name wan.0")
    assert args(m, "msg wan_0: getifname") == '"wan.0"'
    rig.ping(one, "192.0.2.2")
    m.tool("ifconfig em1 destroy")
    rig.ping(one, "192.0.2.254")
    # Off the bridge again; its last link is gone and so is it.
    ngctl(m, "shutdown wan_0:")
    assert m.try_tool("ngctl", "show", "br:").returncode != 0
    rig.ping(one, "192.0.2.254")
    stop(m)


def test_iface_out_and_in(lab):
    """What leaves by ng0 comes back from an echo node, and is sent there once
    more, until its time to live is over: the host hears of that."""
    host, router = lab.ns("host"), lab.ns("router")
    lab.veth(host, "h0", router, "r0")
    host.ip("addr add 192.0.2.2/24 dev h0")
    host.ip("route add default via 192.0.2.1")
    m = lab.machine(router, config="ifconfig p0 create packet:r0\n"
                                   "ifconfig p0 inet 192.0.2.1/24 up\n"
                                   "sysctl net.inet.ip.forwarding=1\n")
    ngctl(m, "mkpeer iface x inet")
    block = m.tool("ifconfig ng0")
    assert "POINTOPOINT" in block and "NOARP" in block, block
    # An address brings it up; the peer is behind the graph.
    m.tool("ifconfig ng0 inet 10.0.0.1 10.0.0.2")
    block = m.tool("ifconfig ng0")
    assert "UP" in block and "--> 10.0.0.2" in block, block
    ping = ["ping", "-c", 3, "-i", "0.05", "-W", "5", "-t", "8", "10.0.0.2"]
    host.run(ping, check=False)
    count = counters(m, "ng0")
    assert count["drops"].get("graph") == 3, count
    ngctl(m, "mkpeer ng0: echo inet x")
    text = host.run(ping, check=False).stdout
    assert "Time to live exceeded" in text, text
    count = counters(m, "ng0")
    assert count["opackets"] == count["ipackets"] == 3 * 7, count
    stop(m)


@pytest.mark.limit(120)
def test_hosts_on_a_bridge(lab):
    """Containers on a graph: TAP devices in two namespaces, ng_bridge between
    them, an eiface on it for the machine itself.  As in docs/netgraph.md."""
    conftest.need("tap")
    one, two, router = lab.ns("one"), lab.ns("two"), lab.ns("router")
    m = lab.machine(router)
    for i, ns in enumerate((one, two)):
        m.tool(f"ifconfig tap{i} create tap:tap{i}")
        m.tool(f"ifconfig tap{i} up")
        router.ip(f"link set tap{i} netns {ns.name}")
        ns.ip(f"addr add 192.0.2.{i + 1}/24 dev tap{i}")
        ns.ip(f"link set tap{i} up")
    m.tool("kldload ng_ether")
    ngctl(m, "mkpeer tap0: bridge lower link0", "name tap0:lower br",
          "connect tap1: br: lower link1")
    rig.ping(one, "192.0.2.2")
    ngctl(m, "mkpeer br: eiface link2 ether")
    m.tool("ifconfig ngeth0 inet 192.0.2.254/24 up")
    rig.ping(one, "192.0.2.254")
    rig.ping(two, "192.0.2.254")
    table = m.tool("ngctl msg br: gettable")
    for ns, dev in ((one, "tap0"), (two, "tap1")):
        assert f"addr={ns.mac(dev)}" in table, table
    # TCP with the offloads that the devices come with, both ways.
    server = two.popen(["iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
    netns.wait_for(lambda: ":5201" in two.run(["ss", "-ltn"]))
    report = json.loads(one.run(["iperf3", "-c", "192.0.2.2", "-t", "2",
                                 "-J"], timeout=60))
    server.wait(20)
    assert report["end"]["sum_received"]["bytes"] > 1 << 20, report["end"]
    for ns in (one, two):
        assert ns.snmp("Tcp")["InCsumErrors"] == 0
    # A host goes; the other still reaches the machine.
    m.tool("ifconfig tap1 destroy")
    rig.ping(one, "192.0.2.254")
    assert one.run(["ping", "-c", "1", "-W", "1", "192.0.2.2"],
                   check=False).returncode != 0
    stop(m)
