# SPDX-License-Identifier: BSD-2-Clause
"""The XDP program on a device: there while the machine uses it, in the mode
that was asked for, gone afterwards however the machine ended; another's
program is left alone.
"""

import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import struct

import pytest

import conftest
import netns
import rig

LIBBPF = ctypes.CDLL("libbpf.so.1")


@pytest.fixture
def router(lab):
    conftest.need("xdp")
    return rig.Router(lab, "xdp-xdp")


def attached(ns, dev):
    """The XDP program on a device as (mode, id), or None."""
    link = json.loads(ns.ip(f"-j -d link show {dev}"))[0]
    if "xdp" not in link:
        return None
    modes = {1: "native", 2: "generic", 3: "offload"}
    return modes[link["xdp"]["mode"]], link["xdp"]["prog"]["id"]


def mode(ns, dev):
    found = attached(ns, dev)
    return found and found[0]


def media(router, name):
    return router.m.call("if.list", {"name": name})["interfaces"][0]["media"]


def test_clean_stop(router):
    """After a clean stop nothing of ours is on the devices."""
    ns = router.router
    assert mode(ns, "r0") == mode(ns, "r1") == "native"
    assert "xdp native" in media(router, "p0")
    router.stop()
    assert attached(ns, "r0") is None and attached(ns, "r1") is None


def test_destroy(router):
    """Nor when one interface is destroyed and the machine lives on."""
    router.m.tool("ifconfig p1 destroy")
    assert attached(router.router, "r1") is None
    assert mode(router.router, "r0") == "native"
    rig.ping(router.gen, rig.R0)


@pytest.mark.parametrize("how", ["native", "generic"])
def test_mode_asked_for(lab, how):
    """It is the mode that was asked for, and the tools and the log say so."""
    conftest.need("xdp")
    router = rig.Router(lab, "xdp-xdp", options=[f",mode={how}"] * 2)
    for dev, name in (("r0", "p0"), ("r1", "p1")):
        assert mode(router.router, dev) == how
        assert f"xdp {how} copy" in media(router, name)
        assert f"{name}: xdp {how} copy, 1 queue on {dev}" in router.m.text()
        assert f"xdp {how} copy" in router.m.tool(f"ifconfig -m {name}")
    rig.ping(router.gen, rig.SINK)
    router.stop()


def test_killed_and_started(router):
    """Killed, started, stopped, killed, started in generic mode: each start
    ends in its mode, each end leaves the devices free."""
    ns = router.router
    generic = router.config.replace("xdp:r0", "xdp:r0,mode=generic").replace(
        "xdp:r1", "xdp:r1,mode=generic")
    for config, want in ((router.config, "native"), (generic, "generic")):
        router.m.kill()
        netns.wait_for(lambda: attached(ns, "r0") is None and
                       attached(ns, "r1") is None, 20)
        router.m.start(config)
        assert mode(ns, "r0") == mode(ns, "r1") == want
        rig.ping(router.gen, rig.SINK)
        router.m.stop()
        assert attached(ns, "r0") is None and attached(ns, "r1") is None
        router.m.start(config)


def test_killed_and_started_at_once(router):
    """The next start does not wait for a human either: the kernel takes the
    dead one's program and sockets away while it starts."""
    for _ in range(5):
        router.m.process.kill()
        router.m.process.wait()
        router.m.start()
        assert mode(router.router, "r0") == "native"
    rig.ping(router.gen, rig.SINK)


def test_in_use(router, lab):
    """A second machine does not take a device from under the first."""
    other = lab.machine(router.router, "M2")
    p = other.try_tool("ifconfig", "q0", "create", "xdp:r0")
    assert p.returncode != 0
    assert "in use by another process" in p.stderr
    assert f"id {attached(router.router, 'r0')[1]}" in p.stderr
    assert "packet:r0" in p.stderr
    assert mode(router.router, "r0") == "native"
    rig.ping(router.gen, rig.R0)


def test_in_use_here(router):
    """Nor does the same machine take it twice: it names the interface."""
    for option in ("", ",force"):
        p = router.m.try_tool("ifconfig", "q0", "create", "xdp:r0" + option)
        assert p.returncode != 0
        assert "r0 is already attached as p0" in p.stderr
    rig.ping(router.gen, rig.R0)


def test_asker(foreign, lab):
    """The child that may ask for programs' names may do nothing else, holds
    nothing of its parent's, and goes with it, however that ends."""
    m = lab.machine(foreign)
    for end in (m.stop, m.kill):
        pid = m.process.pid
        child = pathlib.Path("/proc", pathlib.Path(
            f"/proc/{pid}/task/{pid}/children").read_text().strip())
        status = dict(line.split(":\t") for line in
                      (child / "status").read_text().splitlines())
        for name in ("CapEff", "CapPrm", "CapBnd"):
            assert int(status[name], 16) == 1 << 21     # SYS_ADMIN
        assert len(list((child / "fd").iterdir())) == 1
        end()
        netns.wait_for(lambda child=child: not child.exists())
        m.start()


def test_without_asker(foreign, lab):
    """Where the child has been killed, a program is refused by its id."""
    attach_directly(lab, foreign, "r0")
    m = lab.machine(foreign)
    pid = m.process.pid
    os.kill(int(pathlib.Path(
        f"/proc/{pid}/task/{pid}/children").read_text()), signal.SIGKILL)
    p = m.try_tool("ifconfig", "p0", "create", "xdp:r0")
    assert p.returncode != 0
    assert f"id {attached(foreign, 'r0')[1]})" in p.stderr
    assert "may not be asked" in p.stderr


def strange_program(lab):
    """An XDP program, called stranger, that lets all pass; its fd."""
    # r0 = XDP_PASS; exit
    code = struct.pack("=BBhiBBhi", 0xb7, 0, 0, 2, 0x95, 0, 0, 0)
    fd = LIBBPF.bpf_prog_load(6, b"stranger", b"GPL", code, 2, None)
    assert fd >= 0
    lab.callback(lambda: os.close(fd))
    return fd


def attach_directly(lab, ns, dev):
    fd = strange_program(lab)
    assert ns.call(lambda: LIBBPF.bpf_xdp_attach(
        socket.if_nametoindex(dev), fd, 0, None)) == 0


def attach_by_link(lab, ns, dev):
    fd = strange_program(lab)
    link = ns.call(lambda: LIBBPF.bpf_link_create(
        fd, socket.if_nametoindex(dev), 37, None))      # BPF_XDP
    assert link >= 0
    lab.callback(lambda: os.close(link))


@pytest.fixture
def foreign(lab):
    """A namespace with a veth r0."""
    conftest.need("xdp")
    gen, ns = lab.ns("gen"), lab.ns("router")
    lab.veth(gen, "g0", ns, "r0")
    return ns


@pytest.mark.parametrize("attach", [attach_directly, attach_by_link])
def test_foreign_program(foreign, lab, attach):
    """Another program is refused by name and id, and stays."""
    attach(lab, foreign, "r0")
    before = attached(foreign, "r0")
    m = lab.machine(foreign)
    for option in ("", ",mode=generic"):
        p = m.try_tool("ifconfig", "p0", "create", f"xdp:r0{option}")
        assert p.returncode != 0
        assert f"another XDP program, stranger (id {before[1]})" in \
            p.stderr, p.stderr
        assert "xdp:r0,force" in p.stderr and "packet:r0" in p.stderr
        assert attached(foreign, "r0") == before
    # The way that the message names does work beside it.
    m.tool("ifconfig p0 create packet:r0")
    m.tool("ifconfig p0 destroy")
    assert attached(foreign, "r0") == before
    assert m.stop() == 0


def test_force(foreign, lab):
    """With force it is replaced, and the log says what was removed."""
    attach_directly(lab, foreign, "r0")
    number = attached(foreign, "r0")[1]
    m = lab.machine(foreign)
    m.tool("ifconfig p0 create xdp:r0,force")
    assert re.search(rf"removed the XDP program \w+ \(id {number}\)", m.text())
    assert attached(foreign, "r0")[1] != number
    m.tool("ifconfig p0 destroy")
    assert attached(foreign, "r0") is None
    assert m.stop() == 0


def test_force_against_a_link(foreign, lab):
    """What a living process holds by a link stays: the message says so."""
    attach_by_link(lab, foreign, "r0")
    before = attached(foreign, "r0")
    m = lab.machine(foreign)
    p = m.try_tool("ifconfig", "p0", "create", "xdp:r0,force")
    assert p.returncode != 0
    assert "a process holds it by a link" in p.stderr
    assert attached(foreign, "r0") == before
    assert m.stop() == 0


def test_without_bpffs(lab):
    """No bpffs need be mounted, and nothing is pinned."""
    conftest.need("xdp")
    gen, ns = lab.ns("gen"), lab.ns("router")
    lab.veth(gen, "g0", ns, "r0")
    gen.ip("addr add 192.0.2.10/24 dev g0")
    # A mount namespace of the daemon's own, without /sys/fs/bpf.
    log, conf = lab.dir / "bare.log", lab.dir / "bare.conf"
    conf.write_text("ifconfig p0 create xdp:r0\n"
                    "ifconfig p0 inet 192.0.2.1/24 up\n")
    with log.open("w") as f:
        p = ns.popen(["unshare", "-m", "sh", "-c",
                      "mount -t tmpfs none /sys/fs && "
                      f"exec {netns.BUILD}/src/netepochd/netepochd "
                      f"-M bare -f {conf}"], stdout=f, stderr=f)
    netns.wait_for(lambda: " is ready" in log.read_text() or
                   p.poll() is not None, 20)
    assert p.poll() is None, log.read_text()
    assert mode(ns, "r0") == "native"
    rig.ping(gen, "192.0.2.1")
    p.terminate()
    assert p.wait(20) == 0
    assert attached(ns, "r0") is None


def test_large_mtu(lab):
    """A device whose MTU AF_XDP cannot have: the message names the largest
    that it can, and the driver that can have any."""
    conftest.need("xdp")
    gen, ns = lab.ns("gen"), lab.ns("router")
    lab.veth(gen, "g0", ns, "r0")
    ns.ip("link set r0 mtu 9000")
    m = lab.machine(ns)
    p = m.try_tool("ifconfig", "p0", "create", "xdp:r0")
    assert p.returncode != 0
    assert re.search(r"MTU of 9000 is too large for AF_XDP, which takes "
                     r"\d+ at most", p.stderr)
    assert "packet:r0" in p.stderr
    assert attached(ns, "r0") is None
    m.tool("ifconfig p0 create packet:r0")
    assert "mtu 9000" in m.tool("ifconfig p0")


@pytest.mark.parametrize("spec,says", [
    ("xdp:none", "there is no Linux device none"),
    ("xdp:lo", "not an Ethernet device"),
    ("xdp:r0,mode=fast", 'expected native or generic, got "fast"'),
    ("xdp:r0,copy,zerocopy", "exclude each other"),
    ("xdp:r0,queues=0", "queues"),
    ("xdp:r0,queues=64", "queues: expected at most 1, got 64"),
    ("xdp:r0,zerocopy", "zero-copy"),
    ("xdp:r0,colour=red", "colour"),
])
def test_wrong_words(lab, spec, says):
    conftest.need("xdp")
    gen, ns = lab.ns("gen"), lab.ns("router")
    lab.veth(gen, "g0", ns, "r0")
    m = lab.machine(ns)
    p = m.try_tool("ifconfig", "p0", "create", spec)
    assert p.returncode != 0 and says in p.stderr, p.stderr
    assert attached(ns, "r0") is None
    assert m.tool("ifconfig -l") == "lo0\n"
