# SPDX-License-Identifier: BSD-2-Clause
"""What Linux does to the devices under a machine, and a machine in want."""

import os
import subprocess

import pytest
from scapy.layers.inet import ICMP

import conftest
import netns
import rig


@pytest.fixture(params=["packet-packet", "xdp-xdp"])
def router(request, lab):
    conftest.need(request.param.split("-")[0])
    made = rig.Router(lab, request.param)
    yield made
    made.stop()


def interface(router, name):
    return router.m.call("if.list", {"name": name})["interfaces"][0]


def test_device_vanishes(router):
    """The interface stays, without a link, and counts what it is asked to
    send; the others work on; once destroyed it can be made anew."""
    router.sink.ip("link del s0")
    netns.wait_for(lambda: interface(router, "p1")["gone"])
    netns.wait_for(lambda: "status: no carrier" in
                   router.m.tool("ifconfig p1"))
    assert "Linux device r1 has vanished" in router.m.text()
    before = sum(router.drops().values())
    router.w0.send(*(router.udp() for _ in range(5)))
    netns.wait_for(lambda: sum(router.drops().values()) >= before + 5)
    rig.ping(router.gen, rig.R0)

    # A new device of that name is another one.
    router.lab.veth(router.sink, "s0", router.router, "r1")
    router.sink.ip("addr add 198.51.100.10/24 dev s0")
    router.sink.ip("route add default via 198.51.100.1")
    assert interface(router, "p1")["gone"]
    router.m.tool("ifconfig p1 destroy")
    router.m.tool(f"ifconfig p1 create {router.spec(1)}")
    router.m.tool("ifconfig p1 inet 198.51.100.1/24")
    rig.ping(router.gen, rig.SINK)


def test_link(router):
    """Linux takes the link down and up: shown, logged, and used again."""
    router.router.ip("link set r1 down")
    netns.wait_for(lambda: "status: no carrier" in
                   router.m.tool("ifconfig p1"))
    netns.wait_for(lambda: "p1: link state changed to DOWN" in
                   router.m.text())
    router.router.ip("link set r1 up")
    netns.wait_for(lambda: "status: active" in router.m.tool("ifconfig p1"))
    rig.ping(router.gen, rig.SINK)


def test_mtu(router):
    """Our MTU is Linux's as well."""
    router.m.tool("ifconfig p1 mtu 1300")
    assert "mtu 1300" in router.router.ip("link show r1")
    _, on = router.out(router.udp(bytes(1400)))
    assert len(on) == 2
    back, _ = router.out(router.udp(bytes(1400), flags="DF"))
    assert back[0][ICMP].nexthopmtu == 1300
    p = router.m.try_tool("ifconfig", "p1", "mtu", "10")
    assert p.returncode != 0 and "mtu" in p.stderr


def test_full_ring(router):
    """More than anybody carries: what the ring cannot take is counted, and
    what comes afterwards passes."""
    flood = router.gen.run([netns.BUILD / "tests/flood", "g0",
                            router.macs[0], rig.GEN, rig.SINK, "1"])
    sent = int(flood.split()[1])
    assert sent > 0
    rig.ping(router.gen, rig.SINK)
    assert interface(router, "p0")["counters"]["ipackets"] <= sent + 100


def test_few_mbufs(lab):
    """With one MiB for packets: what finds no buffer is counted, and it
    recovers."""
    router = rig.Router(lab, "packet-packet", args=["-m", "1"])
    router.gen.run([netns.BUILD / "tests/flood", "g0", router.macs[0],
                    rig.GEN, rig.SINK, "1"])
    rig.ping(router.gen, rig.SINK)
    info = router.m.call("machine.info")
    netns.wait_for(lambda: router.m.call("machine.info")["mbufs_free"] >=
                   info["mbufs"] * 3 // 4)
    router.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up root's identity")
@pytest.mark.parametrize("spec,says", [
    ("packet:r0", "CAP_NET_RAW is needed"),
    ("tap:t0", "CAP_NET_ADMIN"),
    ("xdp:r0", "packet:r0")])
def test_no_permission(lab, spec, says):
    """As an ordinary user: the message says what is missing."""
    gen, ns = lab.ns("gen"), lab.ns("router")
    lab.veth(gen, "g0", ns, "r0")
    lab.dir.chmod(0o755)
    run = lab.dir / "nobody"
    run.mkdir()
    os.chown(run, 65534, 65534)
    conf = lab.dir / "conf"
    conf.write_text(f"ifconfig p0 create {spec}\n")
    p = subprocess.run(
        ns.wrap(["setpriv", "--reuid=65534", "--regid=65534",
                 "--clear-groups", "env", f"NETEPOCH_RUNDIR={run}/run",
                 netns.BUILD / "src/netepochd/netepochd", "-f", conf]),
        capture_output=True, text=True, timeout=30, check=False)
    assert p.returncode == os.EX_CONFIG, p.stderr
    assert says in p.stderr and "permi" in p.stderr, p.stderr
    assert f"{conf}:1:" in p.stderr


def test_tap_in_a_container(lab):
    """A TAP device works on from another namespace, until it is deleted
    there."""
    conftest.need("tap")
    router = rig.Router(lab, "tap-tap")
    rig.ping(router.gen, rig.SINK)
    assert not interface(router, "p0")["gone"]
    router.gen.ip("link del g0")
    netns.wait_for(lambda: interface(router, "p0")["gone"])
    netns.wait_for(lambda: "status: no carrier" in
                   router.m.tool("ifconfig p0"))
    rig.ping(router.sink, rig.R1)
    router.stop()
