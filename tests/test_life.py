# SPDX-License-Identifier: BSD-2-Clause
"""Machines on real devices that are stopped, killed, started, and several."""

import os

import pytest

import conftest
import netns
import rig


@pytest.fixture(params=["packet-packet", "xdp-xdp", "tap-tap"])
def router(request, lab):
    conftest.need(request.param.split("-")[0])
    made = rig.Router(lab, request.param)
    yield made
    made.stop()


def again(router):
    """Start it once more; TAP devices are new ones, for the hosts too."""
    router.m.start()
    if "tap" in router.drivers:
        router.hosts()
    rig.ping(router.gen, rig.SINK)


def test_restart(router):
    """After a stop nothing is left, and the same file works again."""
    rig.ping(router.gen, rig.SINK)
    assert router.m.stop(20) == 0
    assert os.listdir(router.lab.dir / "run") == []
    if "tap" in router.drivers:
        assert "g0" not in router.gen.ip("-br link")
    else:
        assert "r0" in router.router.ip("-br link show up")
        assert "xdp" not in router.router.ip("link show r0")
        assert "PROMISC" not in router.router.ip("link show r0")
    again(router)


def test_killed(router):
    """Killed under traffic: Linux takes away what was its; the directory is
    no machine, and is taken over by the next."""
    with rig.Flow(router, 2000):
        router.m.kill()
    p = router.m.try_tool("ifconfig", "-l")
    assert p.returncode == os.EX_UNAVAILABLE
    assert "M1 is not running" in p.stderr
    if "tap" in router.drivers:
        netns.wait_for(lambda: "g0" not in router.gen.ip("-br link"))
    else:
        netns.wait_for(lambda: "xdp" not in router.router.ip("link show r0"))
    again(router)


def test_two_machines(lab):
    """Two machines in a row route for each other; tools want to be told
    which one is meant."""
    router = rig.Router(lab, "packet-packet")
    second, far = lab.ns("second"), lab.ns("far")
    lab.veth(router.router, "r9", second, "q0")
    lab.veth(second, "q1", far, "f0")
    far.ip("addr add 203.0.114.10/24 dev f0")
    far.ip("route add default via 203.0.114.1")
    other = lab.machine(second, "M2", config="""
ifconfig p0 create packet:q0
ifconfig p0 inet 10.99.0.2/24
ifconfig p1 create packet:q1
ifconfig p1 inet 203.0.114.1/24
route add default 10.99.0.1
sysctl net.inet.ip.forwarding=1
""")
    router.m.tool("ifconfig p9 create packet:r9")
    router.m.tool("ifconfig p9 inet 10.99.0.1/24")
    router.m.tool("route add -net 203.0.114.0/24 10.99.0.2")
    assert "ttl=62" in rig.ping(router.gen, "203.0.114.10")
    words = [netns.BUILD / "src/tools/netepoch", "ifconfig", "-l"]
    env = {k: v for k, v in lab.env.items() if k != "NETEPOCH_MACHINE"}
    p = netns.command(words, check=False, env=env)
    assert p.returncode == os.EX_UNAVAILABLE
    assert "several machines run: M1 M2; choose with -M" in p.stderr
    out = netns.command(words, env={**env, "NETEPOCH_MACHINE": "M1"})
    assert out == "lo0 p0 p1 p9\n"
    assert other.stop(20) == 0
    assert netns.command(words, env=env) == "lo0 p0 p1 p9\n"
    rig.ping(router.gen, rig.SINK)
    router.stop()
