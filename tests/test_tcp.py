# SPDX-License-Identifier: BSD-2-Clause
"""TCP and UDP between Linux hosts with the offloads that they come with.

Nobody runs ethtool here.  Hosts leave transport checksums unfinished and
segments uncut where the device lets them; behind the router every checksum is
right, as the receiving Linux counts, and every byte as it was sent.
"""

import hashlib
import json
import os
import random
import socket
import subprocess
import threading

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.packet import Raw

import conftest
import netns
import rig

UDP_SEGMENT = 103               # linux/udp.h
SEED = int(os.environ.get("NETEPOCH_SEED", "20231114"), 0)


@pytest.fixture(scope="module", params=rig.PAIRS)
def router(request, isolation):
    for driver in request.param.split("-"):
        conftest.need(driver)
    with netns.Lab() as lab:
        made = rig.Router(lab, request.param)
        yield made
        made.stop()


def errors(router):
    """Checksum errors that both hosts have counted so far."""
    return [ns.snmp(proto)["InCsumErrors"]
            for ns in (router.gen, router.sink) for proto in ("Tcp", "Udp")]


def connect(router, server, client, address, mss=None):
    """A TCP connection: its two ends, the client's first."""
    listener = server.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.settimeout(30)
    listener.bind((address, 0))
    listener.listen(1)
    near = client.socket(socket.AF_INET, socket.SOCK_STREAM)
    near.settimeout(30)
    if mss is not None:
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
    near.connect(listener.getsockname())
    far, _ = listener.accept()
    far.settimeout(30)
    router.lab.sockets.append(far)
    return near, far


def transfer(src, dst, data):
    """Send data from one socket to the other; a digest of what arrives."""
    def send():
        src.sendall(data)
        src.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    got, count = hashlib.sha256(), 0
    while chunk := dst.recv(1 << 20):
        got.update(chunk)
        count += len(chunk)
    sender.join(30)
    assert count == len(data)
    return got.digest()


@pytest.mark.parametrize("up", [True, False], ids=["to-sink", "to-gen"])
def test_transfer(router, up):
    """10 MB arrive as they were sent, and no checksum is wrong."""
    data = random.Random(SEED).randbytes(10_000_000)
    before = errors(router)
    near, far = connect(router, router.sink, router.gen, rig.SINK)
    src, dst = (near, far) if up else (far, near)
    assert transfer(src, dst, data) == hashlib.sha256(data).digest()
    assert errors(router) == before


@pytest.mark.parametrize("mss", [89, 537, 1447])
def test_odd_segments(router, mss):
    """Segments of odd lengths, which do not end on a word."""
    data = random.Random(SEED + mss).randbytes(300_001)
    before = errors(router)
    near, far = connect(router, router.sink, router.gen, rig.SINK, mss)
    for src, dst in ((near, far), (far, near)):
        assert transfer(src, dst, data) == hashlib.sha256(data).digest()
    assert errors(router) == before


@pytest.mark.parametrize("size", [1, 537, 1472])
def test_udp_segments(router, size):
    """One send, many datagrams: QUIC's way, left to the device to cut."""
    data = random.Random(SEED + size).randbytes(size * 7 + size // 2)
    want = [data[i:i + size] for i in range(0, len(data), size)]
    before = errors(router)
    far = router.sink.socket(socket.AF_INET, socket.SOCK_DGRAM)
    far.settimeout(20)
    far.bind((rig.SINK, 0))
    near = router.gen.socket(socket.AF_INET, socket.SOCK_DGRAM)
    near.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, size)
    near.sendto(data, far.getsockname())
    assert [far.recv(9000) for _ in want] == want
    assert errors(router) == before


@pytest.fixture
def tunnel(router):
    """A VXLAN between the hosts; the address of its end at sink."""
    ends = ((router.gen, "g0", rig.GEN, rig.SINK, "10.77.0.1"),
            (router.sink, "s0", rig.SINK, rig.GEN, "10.77.0.2"))
    for ns, dev, here, there, addr in ends:
        try:
            ns.ip(f"link add vx0 type vxlan id 7 local {here} "
                  f"remote {there} dstport 4789 dev {dev}")
        except netns.Failed as e:
            pytest.skip(str(e))
        ns.ip(f"addr add {addr}/24 dev vx0")
        ns.ip("link set vx0 up")
    yield ends[1][4]
    for ns, *_ in ends:
        ns.ip("link del vx0")


def test_tunnel(router, tunnel):
    """TCP in a VXLAN: hosts leave its checksums and cutting to us as well."""
    data = random.Random(SEED + 2).randbytes(4_000_000)
    before = errors(router)
    near, far = connect(router, router.sink, router.gen, tunnel)
    for src, dst in ((near, far), (far, near)):
        # The answer's connection is the same one, half closed.
        assert transfer(src, dst, data) == hashlib.sha256(data).digest()
    assert errors(router) == before


def test_both_ways_at_once(router):
    data = random.Random(SEED + 1).randbytes(2_000_000)
    before = errors(router)
    near, far = connect(router, router.gen, router.sink, rig.GEN)
    digests = []
    other = threading.Thread(
        target=lambda: digests.append(transfer(far, near, data)), daemon=True)
    other.start()
    digests.append(transfer(near, far, data))
    other.join(30)
    assert digests == [hashlib.sha256(data).digest()] * 2
    assert errors(router) == before


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM],
                         ids=["tcp", "udp"])
def test_refused(router, kind):
    """Nobody listens on the router itself: a program is told at once."""
    for ns, dst in ((router.gen, rig.R0), (router.gen, rig.R1),
                    (router.sink, rig.R1)):
        s = ns.socket(socket.AF_INET, kind)
        s.settimeout(20)
        with pytest.raises(ConnectionRefusedError):
            s.connect((dst, 22))
            s.send(b"anybody here?")
            s.recv(1)


@pytest.mark.parametrize("size", [0, 1, 2, 17, 1472, 4000])
def test_datagrams(router, size):
    """UDP of any size, also one that its host has to send in fragments."""
    data = random.Random(SEED + size).randbytes(size)
    before = errors(router)
    far = router.sink.socket(socket.AF_INET, socket.SOCK_DGRAM)
    far.settimeout(20)
    far.bind((rig.SINK, 0))
    near = router.gen.socket(socket.AF_INET, socket.SOCK_DGRAM)
    near.settimeout(20)
    near.sendto(data, far.getsockname())
    got, peer = far.recvfrom(9000)
    assert got == data
    far.sendto(got, peer)
    assert near.recvfrom(9000)[0] == data
    assert errors(router) == before


def test_iperf(router):
    """What people try first."""
    server = router.sink.popen(["iperf3", "-s", "-1"],
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    netns.wait_for(lambda: ":5201" in router.sink.run(["ss", "-ltn"]), 20)
    before = errors(router)
    out = json.loads(router.gen.run(["iperf3", "-c", rig.SINK, "-t", "1",
                                     "-J"], timeout=40))
    assert out["end"]["sum_received"]["bytes"] > 100_000
    assert server.wait(20) == 0
    assert errors(router) == before


def transport_sum(frame, proto):
    """0xffff if the transport checksum of an IP packet is right."""
    segment = bytes(frame[IP])[20:frame[IP].len]
    return rig.sum16(rig.pseudo(frame[IP].src, frame[IP].dst, proto,
                                len(segment)).to_bytes(2, "big") + segment)


LAYERS = [pytest.param(TCP(sport=4000, dport=80, flags="S"), 6, 16, id="tcp"),
          pytest.param(UDP(sport=4000, dport=5000), 17, 6, id="udp")]


@pytest.mark.parametrize("layer,proto,offset", LAYERS)
def test_unfinished(router, layer, proto, offset):
    """A checksum left to the hardware is right on the wire behind us."""
    frame = router.a() / layer / Raw(b"sent with an unfinished sum")
    frame[layer.name].chksum = rig.pseudo(
        rig.A, rig.FAR, proto, len(bytes(frame[IP].payload)))
    _, on = router.out(
        send=lambda: router.w0.send_offload(frame, 34, offset))
    assert len(on) == 1
    assert transport_sum(on[0], proto) == 0xffff
    assert bytes(on[0][IP].payload).find(b"unfinished sum") > 0


def crc32c(data):
    """The checksum of SCTP, bit by bit (RFC 9260, appendix A)."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return (crc ^ 0xffffffff).to_bytes(4, "little")


# What Linux gives to a TAP device it has finished itself.
@pytest.mark.parametrize("router", [
    p for p in rig.PAIRS if not p.startswith("tap-")], indirect=True)
def test_sctp(router):
    """SCTP's checksum is no sum: finished as what it is; one that is there is
    kept, right or wrong."""
    header, chunk = bytes.fromhex("0fa01388 00000001"), b"\0\3\0\x14" * 5
    sctp = header + bytes(4) + chunk
    want = header + crc32c(sctp) + chunk
    wrong = header + b"\xba\xad\xba\xad" + chunk
    frames = [router.a(proto=132) / Raw(s) for s in (sctp, want, wrong)]
    _, on = router.out(*frames[1:], send=lambda: router.w0.send_offload(
        frames[0], 34, 8))
    assert [bytes(f[IP])[20:f[IP].len] for f in on] == [want, want, wrong]


@pytest.mark.parametrize("layer,proto,offset", LAYERS)
def test_wrong_is_kept(router, layer, proto, offset):
    """A wrong checksum is passed on as it came: nobody repairs it."""
    wrong = router.a() / layer / Raw(b"sent with a wrong sum")
    wrong[layer.name].chksum = 0xbaad
    right = router.a() / layer / Raw(b"sent with a right sum")
    _, on = router.out(wrong, right)
    assert len(on) == 2
    assert on[0][layer.name].chksum == 0xbaad
    assert transport_sum(on[0], proto) != 0xffff
    assert transport_sum(on[1], proto) == 0xffff


def test_large_segment(router):
    """A frame far above the MTU, as segmentation offload sends it: cut into
    packets that fit, with right checksums, or dropped and counted; never cut
    short and passed on."""
    data = random.Random(SEED).randbytes(20 * 1448)
    frame = router.a() / TCP(sport=4000, dport=80, flags="A", seq=1000) / \
        Raw(data)
    frame[TCP].chksum = rig.pseudo(rig.A, rig.FAR, 6, 20 + len(data))
    before = router.drops()
    _, on = router.out(send=lambda: router.w0.send_offload(
        frame, 34, 16, mss=1448, headers=54))
    if not on:
        # In one piece it fits no frame of an AF_XDP socket.
        netns.wait_for(lambda: router.drops() != before)
        return
    got, seq = b"", 1000
    for f in on:
        assert f[IP].len <= 1500 and f[TCP].seq == seq
        assert transport_sum(f, 6) == 0xffff
        piece = bytes(f[TCP].payload)[:f[IP].len - 40]
        got, seq = got + piece, seq + len(piece)
    assert got == data
