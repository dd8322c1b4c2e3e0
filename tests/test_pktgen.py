# SPDX-License-Identifier: BSD-2-Clause
"""pkt-gen on real interfaces: against itself, against tcpdump and scapy, over
a wire that loses, doubles and swaps packets; rates, round trips, errors, and
that no traffic outlives it.
"""

import json
import os
import re
import signal
import socket
import statistics
import struct
import subprocess
import threading
import time

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import PcapReader, wrpcap

import conftest
import netns
import rig

ALONE = "src/pktgen/netepoch-pkt-gen"
TOOL = "src/tools/netepoch"


def wait_ready(rx):
    """Until a receiver says, as it does once a second, that nothing came."""
    while True:
        line = rx.stderr.readline()
        assert line, "the receiver ended"
        if "waiting for initial packets" in line:
            return


class Wire:
    """Two devices joined by a veth, and pkt-gens on them."""

    def __init__(self, lab):
        self.lab = lab
        self.ns = lab.ns("wire")
        lab.veth(self.ns, "v0", self.ns, "v1")
        self.ns.run(["ethtool", "-K", "v1", "gro", "off"])

    def popen(self, *words, ns=None, **kw):
        kw.setdefault("stdout", subprocess.PIPE)
        kw.setdefault("stderr", subprocess.PIPE)
        return (ns or self.ns).popen([netns.BUILD / ALONE, *words], **kw)

    def run(self, *words, timeout=50):
        """Run one to its end; the completed process."""
        return netns.command(self.ns.wrap([netns.BUILD / ALONE, *words]),
                             check=False, timeout=timeout)

    def receiver(self, *words, ns=None):
        """A receiver that is ready, with JSON."""
        rx = self.popen("--libxo", "json", "-f", "rx", *words, ns=ns)
        wait_ready(rx)
        return rx


def documents(text):
    return [json.loads(line)["pkt-gen"] for line in text.splitlines()]


def summary(text):
    return documents(text)[-1]["summary"]


def finish(process):
    """SIGINT: the totals, and status 0."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0, out + err
    return summary(out)


def sent(process):
    """A --libxo json run that ended by itself: its totals."""
    assert process.returncode == 0, process.stdout + process.stderr
    return summary(process.stdout)


@pytest.fixture
def wire(lab):
    return Wire(lab)


def drivers(*names):
    return pytest.mark.parametrize("driver", names)


# ---- Against itself ----

@drivers("packet", "xdp")
@pytest.mark.parametrize("frame", ["", "-6", "-l 200 -l 60", "-z -Z"])
def test_itself(wire, driver, frame):
    """Everything that is sent comes, once, in order, with right sums."""
    conftest.need(driver)
    rx = wire.receiver("-i", f"{driver}:v1", "--verify", "-n", 20000)
    tx = sent(wire.run("--libxo", "json", "-i", f"{driver}:v0", "-f", "tx",
                       "-n", 20000, "-R", 20000, "-w", 0, "--no-live",
                       *frame.split()))
    out, err = rx.communicate(timeout=20)
    assert rx.returncode == 0, out + err
    got = summary(out)
    assert tx["sent"]["packets"] == 20000
    assert got["received"]["packets"] == 20000
    assert got["received"]["bytes"] == tx["sent"]["bytes"]
    assert got["wrong-checksums"] == 0
    seq = got["sequence"]
    assert (seq["packets"], seq["lost"], seq["reordered"],
            seq["duplicates"]) == (20000, 0, 0, 0)
    t = got["latency"]
    assert 0 < t["min-ns"] <= t["median-ns"] <= t["p99-ns"] <= \
        t["p999-ns"] <= t["max-ns"] < 5e9


@drivers("packet", "xdp")
def test_both_ends(wire, driver):
    """One pkt-gen with two interfaces knows what was lost: nothing."""
    conftest.need(driver)
    got = sent(wire.run("--libxo", "json", "-i", f"{driver}:v0", "-i",
                        f"{driver}:v1", "-f", "tx", "-n", 5000, "-R", 5000,
                        "-w", 0))
    assert got["sent"]["packets"] == got["received"]["packets"] == 5000
    assert got["lost"] == 0


@pytest.mark.parametrize("words,lost", [
    ("-i null -i null", 100),       # none comes
    ("-i mem -l 42", 0),            # they carry no number
    ("-i mem -l 200 -l 42", 0)])
def test_both_ends_count(wire, words, lost):
    """What was lost is also said where no number came."""
    out = wire.run("-f", "tx", "-n", 100, *words.split())
    assert out.returncode == 0, out.stderr
    assert f"Lost {lost} of 100 packets ({lost}.0000 %)" in out.stdout
    assert ("Received nothing." if lost else "Received 100 packets ") in \
        out.stdout
    assert "reordered" not in out.stdout


def test_no_link(wire):
    """An interface that takes nothing: that is said, and SIGINT ends it."""
    tx = wire.popen("-i", "tap:pg0", "-f", "tx", "-n", 5, "-w", 0, "-T", 100)
    while "tap:pg0 takes no packet" not in tx.stderr.readline():
        assert tx.poll() is None
    tx.send_signal(signal.SIGINT)
    assert "Sent nothing." in tx.communicate(timeout=20)[0]
    assert tx.returncode == 0


# ---- Against tcpdump ----

def captured(wire, count, *words):
    """What pkt-gen sends, as tcpdump has it from the other end."""
    path = wire.lab.dir / "frames.pcap"
    dump = wire.ns.popen(["tcpdump", "-i", "v1", "-Q", "in", "-w", path, "-U",
                          "-s", 0, "-B", 8192, "-c", count, "udp"],
                         stderr=subprocess.PIPE)
    while "listening on" not in dump.stderr.readline():
        assert dump.poll() is None
    out = wire.run("-w", 0, *words)
    assert out.returncode == 0, out.stderr
    dump.wait(20)
    return out, list(PcapReader(str(path)))


def check_frame(frame, v6, number, size):
    """Every field of a frame; its flow."""
    mac, l3 = frame[Ether], frame[IPv6 if v6 else IP]
    raw = bytes(frame)
    assert len(raw) == max(size, 60)
    assert mac.dst == "02:00:00:00:00:99" and mac.src == "02:00:00:00:00:88"
    udp = l3[UDP]
    if v6:
        assert (l3.version, l3.tc, l3.fl, l3.nh, l3.hlim) == (6, 0, 0, 17, 64)
        assert l3.plen == size - 54
        head = socket.inet_pton(socket.AF_INET6, l3.src) + \
            socket.inet_pton(socket.AF_INET6, l3.dst)
        at = 54
    else:
        assert (l3.version, l3.ihl, l3.tos, l3.id, l3.flags, l3.frag, l3.ttl,
                l3.proto) == (4, 5, 0, 0, 0, 0, 64, 17)
        assert l3.len == size - 14
        assert rig.sum16(raw[14:34]) == 0xffff
        head = socket.inet_aton(l3.src) + socket.inet_aton(l3.dst)
        at = 34
    assert udp.len == size - at and udp.chksum != 0
    assert rig.sum16(head + struct.pack("!HH", 17, udp.len) +
                     raw[at:size]) == 0xffff
    if size >= at + 8 + 18:
        seq, _, nsec, magic, _ = struct.unpack_from("!IIIIH", raw, at + 8)
        assert (seq, magic) == (number, 0x6e65674e) and nsec < 10 ** 9
    return l3.src, udp.sport, l3.dst, udp.dport


@pytest.mark.parametrize("how", ["packet", "xdp", "live"])
@pytest.mark.parametrize("v6", [False, True])
def test_every_field(wire, how, v6):
    """Headers, sums and ranges as scapy reads them; also of frames that the
    kernel makes."""
    conftest.need("packet" if how == "packet" else "xdp")
    if how == "live":
        wire.ns.run(["ethtool", "-K", "v1", "gro", "on"])
    form = "[fd00::{}]:{}" if v6 else "10.0.0.{}:{}"
    size = 90 if v6 else 60
    words = ["-i", f"{'packet' if how == 'packet' else 'xdp'}:v0", "-f", "tx",
             "-n", 60, "-l", size, "-D", "02:00:00:00:00:99", "-S",
             "02:00:00:00:00:88", *(["-6"] if v6 else []),
             "-s", form.format(1, 7) + "-" + form.format(2, 8),
             "-d", form.format(5, 100) + "-" + form.format(6, 102)]
    if how == "xdp":
        words.append("--no-live")
    out, frames = captured(wire, 60, *words)
    assert ("live frames" in out.stderr) == (how == "live")
    flows = [check_frame(f, v6, i, size) for i, f in enumerate(frames)]
    name = (lambda i: f"fd00::{i}") if v6 else (lambda i: f"10.0.0.{i}")
    want = [(name(s), sp, name(d), dp) for d in (5, 6)
            for dp in (100, 101, 102) for s in (1, 2) for sp in (7, 8)]
    assert len(frames) == 60
    assert flows == [want[i % len(want)] for i in range(60)]


def test_short_frames(wire):
    """Padding is not part of the packet; no room for number and time."""
    _, frames = captured(wire, 10, "-i", "packet:v0", "-f", "tx", "-n", 10,
                         "-l", 42, "-D", "02:00:00:00:00:99", "-S",
                         "02:00:00:00:00:88")
    for frame in frames:
        check_frame(frame, False, 0, 42)
        assert bytes(frame)[42:] == bytes(18)


def test_replay(wire):
    """Frames of a file leave as they are, in turn."""
    path = wire.lab.dir / "replay.pcap"
    frames = [Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") /
              IP(dst="10.9.8.7", id=i) / UDP(sport=i, dport=9) /
              bytes([i] * (30 + 400 * i)) for i in range(4)]
    wrpcap(str(path), frames)
    _, got = captured(wire, 10, "-i", "packet:v0", "-f", "tx", "-n", 10,
                      "-P", path, "-R", 1000)
    assert [bytes(f) for f in got] == [bytes(frames[i % 4])
                                       for i in range(10)]


# ---- A bad wire ----

class BadWire:
    """A relay between two wires: loses each tenth of the packets, doubles
    each thirteenth, and swaps each seventh with the one behind it.
    """

    LOSE, DOUBLE, SWAP = 10, 13, 7

    def __init__(self, lab):
        self.ns = {name: lab.ns(name) for name in ("left", "mid", "right")}
        lab.veth(self.ns["left"], "a0", self.ns["mid"], "a1")
        lab.veth(self.ns["mid"], "b0", self.ns["right"], "b1")
        self.socks = []
        for dev in ("a1", "b0"):
            s = self.ns["mid"].socket(socket.AF_PACKET, socket.SOCK_RAW,
                                      socket.htons(3))
            s.setsockopt(rig.SOL_PACKET, rig.PACKET_IGNORE_OUTGOING, 1)
            s.bind((dev, 3))
            s.settimeout(0.2)
            self.socks.append(s)
        self.seen = self.lost = self.doubled = self.swapped = 0
        self.stop = False
        self.thread = threading.Thread(target=self.relay)
        lab.callback(self.end)
        self.thread.start()

    def end(self):
        self.stop = True
        self.thread.join()

    def relay(self):
        rx, tx = self.socks
        held = None
        while not self.stop:
            try:
                frame = rx.recv(2048)
            except (TimeoutError, socket.timeout, OSError):
                continue
            if frame[12:14] != b"\x08\x00":
                continue
            self.seen += 1
            if held is not None:
                tx.send(frame)
                tx.send(held)
                held = None
                self.swapped += 1
            elif self.seen % self.SWAP == 0:
                held = frame
            elif self.seen % self.LOSE == 0:
                self.lost += 1
            else:
                tx.send(frame)
                if self.seen % self.DOUBLE == 0:
                    tx.send(frame)
                    self.doubled += 1


def test_bad_wire(lab):
    """Loss, reordering and duplicates are counted to the packet."""
    bad, wire = BadWire(lab), Wire(lab)
    rx = wire.receiver("-i", "packet:b1", ns=bad.ns["right"])
    tx = wire.popen("--libxo", "json", "-i", "packet:a0", "-f", "tx", "-n",
                    3001, "-R", 1500, "-w", 0, ns=bad.ns["left"])
    out, err = tx.communicate(timeout=30)
    assert tx.returncode == 0, out + err
    netns.wait_for(lambda: bad.seen == 3001)
    time.sleep(1)               # the receiver has a last look by itself
    got = finish(rx)["sequence"]
    assert bad.lost > 200 and bad.swapped > 300 and bad.doubled > 100
    assert (got["lost"], got["reordered"], got["duplicates"]) == \
        (bad.lost, bad.swapped, bad.doubled)


# ---- Rates ----

def keeps_rate(wire, dev, rate, secs):
    """A run at a rate: is it kept within 1 %, by pkt-gen's word and by its
    times?  It is never exceeded."""
    n = int(rate * secs)
    total = sent(wire.run("--libxo", "json", "-i", dev, "-f", "tx", "-n", n,
                          "-R", rate, "-w", 0, "--no-live"))
    got, asked = total["sent"], total["rate"]
    assert got["packets"] == n and asked["asked-packets-per-second"] == rate
    # From the first packet to the last burst, when its first is due.
    due = (n - min(max(rate // 300, 1), 512)) / rate
    late = got["seconds"] - due
    assert late > -0.01 * due, "faster than it should be"
    assert asked["kept"] == (asked["behind-seconds"] <=
                             got["seconds"] / 100)
    return asked["kept"] and late <= 0.01 * due


@pytest.mark.limit(120)
@pytest.mark.parametrize("rate", [1000, 100000])
@pytest.mark.parametrize("dev", ["null", "packet:v0"])
def test_rate(wire, rate, dev):
    """A try more for a machine that has other work: the last packet is late
    by what the thread had to wait then."""
    assert any(keeps_rate(wire, dev, rate, 3) for _ in range(5))


def most(wire, dev, secs):
    """Packets a second without a rate."""
    tx = wire.popen("--libxo", "json", "-i", dev, "-f", "tx", "-w", 0,
                    "--no-live")
    time.sleep(secs)
    return finish(tx)["sent"]["packets-per-second"]


# Of what it sends without a rate; lower where a machine's speed changes.
PARTS = (0.95, 0.94, 0.92, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)


@pytest.mark.limit(180)
@pytest.mark.parametrize("dev", ["null", "mem", "packet:v0", "xdp:v0"])
def test_highest_rate(wire, dev):
    """The highest rate that is sustained, as a run at it shows, is kept in
    the next, longer one."""
    conftest.need(dev.split(":")[0] if ":" in dev else "packet")
    full = most(wire, dev, 0.7)
    for part in PARTS:
        rate = int(full * part)
        if keeps_rate(wire, dev, rate, 0.5) and \
                keeps_rate(wire, dev, rate, 2):
            print(f"{dev}: {full:,.0f} pps, keeps {part:.0%}")
            return
    pytest.fail(f"{dev} sends {full:,.0f} packets a second and keeps none "
                "of the rates below")


def test_too_high_a_rate(wire):
    """A rate that nobody can keep is not kept, and that is said."""
    out = wire.run("-i", "null", "-f", "tx", "-n", "50M", "-R", "1G")
    assert out.returncode == 0
    assert "The rate of 1.000 Gpps was not kept: " in out.stdout
    assert "Sent 50000000 packets " in out.stdout


def test_held_up(lab):
    """A sender that was stopped makes up for it, and for a second at most."""
    wire = Wire(lab)
    tx = wire.popen("--libxo", "json", "-i", "null", "-f", "tx", "-R", 10000,
                    "-T", 100)
    reports = iter(tx.stdout.readline, "")
    json.loads(next(reports))
    tx.send_signal(signal.SIGSTOP)
    time.sleep(2.5)
    tx.send_signal(signal.SIGCONT)
    next(reports)
    next(reports)
    got = finish(tx)
    behind = got["rate"]["behind-seconds"]
    assert behind > 1 and not got["rate"]["kept"]
    assert abs(got["sent"]["packets"] / 10000 + behind -
               got["sent"]["seconds"]) < 0.1


# ---- Ping ----

@drivers("packet", "xdp")
def test_ping_pong(wire, driver):
    conftest.need(driver)
    pong = wire.popen("-i", f"{driver}:v1", "-f", "pong")
    assert "Working on" in pong.stdout.readline()
    out = wire.run("-i", f"{driver}:v0", "-f", "ping", "-n", 300, "-w", 0)
    assert out.returncode == 0, out.stderr
    assert "RTT over 300 packets: min " in out.stderr
    assert " RTT: min " in out.stderr and "k: " in out.stderr
    assert "Sent 300 packets" in out.stdout
    assert "Received 300 packets" in out.stdout
    words = out.stdout.split("latency ")[1].split()
    least, median, most = (float(words[i]) for i in (1, 3, 9))
    assert 0.5 < least <= median <= most < 1e6
    pong.send_signal(signal.SIGINT)
    assert "Received 300 packets" in pong.communicate(timeout=10)[0]
    assert pong.returncode == 0


# ---- The end of it ----

def test_interrupt(wire):
    """SIGINT: totals that agree with the device, and status 0."""
    before = wire.ns.counter("v0", "tx_packets")
    tx = wire.popen("-i", "packet:v0", "-f", "tx", "-R", 1000, "-w", 0,
                    "-T", 200)
    assert tx.stdout.readline().startswith("Sending on packet:v0: 1 queues, ")
    assert "10.0.0.1 -> 10.1.0.1 (" in tx.stdout.readline()
    speed = re.compile(
        r"\d{3}\.\d{6} main_thread \[\d+\] \d+\.\d{3} [KM]?pps "
        r"\(\d+\.\d{3} [KM]?pkts \d+\.\d{3} [KM]?bps in \d+ usec\) "
        r"\d+\.\d{2} avg_batch 0 min_space\n")
    while not speed.fullmatch(line := tx.stderr.readline()):
        assert " main [" in line
    tx.send_signal(signal.SIGINT)
    out = tx.communicate(timeout=10)[0].splitlines()
    assert tx.returncode == 0
    words = out[-2].split()
    assert words[0] == "Sent" and words[6:9] == ["events", "60", "bytes"]
    assert out[-1].startswith("Speed: ") and "Average batch: " in out[-1]
    assert int(words[1]) > 0
    assert wire.ns.counter("v0", "tx_packets") - before == int(words[1])


def test_interrupted_receiver(wire):
    rx = wire.popen("-i", "packet:v1", "-f", "rx")
    assert rx.stdout.readline().startswith("Receiving from packet:v1: ")
    rx.send_signal(signal.SIGINT)
    assert "Received nothing." in rx.communicate(timeout=10)[0]
    assert rx.returncode == 0


def test_speed_lines(wire):
    """-A, -B and -N: the last reports, framing, plain numbers."""
    out = wire.run("-i", "null", "-f", "tx", "-n", "120K", "-R", "0.2M",
                   "-T", 100, "-A", "-B", "-N")
    assert out.returncode == 0, out.stderr
    speed = re.compile(
        r"main_thread \[\d+\] (\d+) pps \[avg/std (\d+) /(\d+) pps\] "
        r"\((\d+) pkts (\d+) bps in (\d+) usec\) \S+ avg_batch 0 min_space$",
        re.M)
    lines = [[int(n) for n in found] for found in speed.findall(out.stderr)]
    assert len(lines) >= 5
    assert lines[0][0] == lines[0][1] and lines[0][2] == 0
    for i, (pps, avg, std, packets, bps, usec) in enumerate(lines):
        assert abs(pps - packets * 1e6 / usec) < 2 + pps / 1000
        assert abs(bps - pps * 8 * 84) <= 8 * 84
        window = [line[0] for line in lines[:i + 1]][-15:]
        assert abs(avg - sum(window) / len(window)) < 2
        assert abs(std - statistics.pstdev(window)) < 2
    assert re.search(r"^Speed: \d+ pps Bandwidth: (\d+) bps "
                     r"\(raw (\d+) bps\)\. Average batch: \S+ pkts$",
                     out.stdout, re.M)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU")
def test_threads(wire):
    """A count and a rate are shared by threads, and those by CPUs."""
    out = wire.run("-i", "null", "-f", "tx", "-n", 1000, "-R", 2000, "-p", 3,
                   "-c", 2, "-b", 1)
    assert out.returncode == 0, out.stderr
    assert "Sending on null: 1 queues, 3 threads and 2 cpus." in out.stdout
    assert "Sent 1000 packets " in out.stdout
    assert "Average batch: 1.00 pkts" in out.stdout


def test_silence(wire):
    """-W: a receiver ends when nothing came for a second."""
    rx = wire.popen("-i", "packet:v1", "-f", "rx", "-W")
    wait_ready(rx)
    assert wire.run("-i", "packet:v0", "-f", "tx", "-n", 50, "-w",
                    0).returncode == 0
    assert "Received 50 packets " in rx.communicate(timeout=20)[0]
    assert rx.returncode == 0


def test_dump(wire):
    """-X: the bytes of the frames, also as JSON."""
    words = ["-i", "mem", "-f", "tx", "-n", 2, "-X", "-S",
             "02:00:00:00:00:88"]
    out = wire.run(*words)
    assert out.returncode == 0, out.stderr
    assert out.stdout.count("sent 60 bytes\n") == 2
    assert ("    0: ff ff ff ff ff ff 02 00 00 00 00 88 08 00 45 00  "
            "..............E.\n") in out.stdout
    frames = [f for d in documents(wire.run("--libxo", "json", *words).stdout)
              for f in d.get("frames", [])]
    sent_ones = [bytes.fromhex(f["data"]) for f in frames if f["sent"]]
    assert len(sent_ones) == 2 and len(frames) == 4
    assert rig.sum16(sent_ones[0][14:34]) == 0xffff


def test_csv(wire):
    """A line a report, there at once."""
    path = wire.lab.dir / "log.csv"
    tx = wire.popen("-i", "mem", "-f", "tx", "-R", 10000, "-T", 100, "--csv",
                    path)
    netns.wait_for(lambda: path.exists() and
                   len(path.read_text().splitlines()) > 5)
    tx.send_signal(signal.SIGINT)
    tx.communicate(timeout=10)
    head, *rows = [r.split(",") for r in path.read_text().splitlines()]
    assert head[0] == "time" and head[-1] == "latency_max_ns"
    assert all(len(r) == len(head) for r in rows)
    times = [float(r[0]) for r in rows]
    assert times == sorted(times) and times[0] > 0
    assert sum(int(r[1]) for r in rows) == sum(int(r[4]) for r in rows) > 0
    assert all(int(r[7]) == 0 for r in rows)


def test_csv_is_whole(wire):
    """The lines add up to the totals, also of a run shorter than a report."""
    for count in (10, 300000):
        path = wire.lab.dir / "whole.csv"
        out = wire.run("--libxo", "json", "-i", "mem", "-f", "tx", "-n",
                       count, "-T", 50, "-R", "1M", "--csv", path)
        assert sent(out)["sent"]["packets"] == count
        _, *rows = [r.split(",") for r in path.read_text().splitlines()]
        assert sum(int(r[1]) for r in rows) == count
        assert sum(d["report"]["sent"]["packets"] for d in
                   documents(out.stdout) if "report" in d) == count


@pytest.mark.limit(120)
def test_throughput(wire):
    """A search ends, with a rate at which nothing was lost."""
    out = wire.run("-i", "packet:v0", "-i", "packet:v1", "-f", "rfc2544",
                   "-R", 4000, "--trial", 0.5, "-w", 0, timeout=100)
    assert out.returncode == 0, out.stderr
    lines = out.stdout.splitlines()
    assert lines[0].startswith("Trial 1: offered 4.000 Kpps, sent ")
    assert any("passed" in line for line in lines)
    assert any(line.startswith("Throughput: ") for line in lines)
    documents = [json.loads(line)["pkt-gen"] for line in wire.run(
        "--libxo", "json", "-i", "mem", "--throughput", "--trial",
        0.3).stdout.splitlines()]
    assert documents[0]["trial"]["lost"] == 0
    assert documents[-1]["throughput"]["packets-per-second"] > 100000


# ---- On a machine ----

def machine(lab, config=""):
    ns = lab.ns("m")
    return lab.machine(ns, "M1", config="""
ifconfig epair0 create
ifconfig epair0a up
ifconfig epair0b up
""" + config)


def test_machine(lab):
    """Interfaces of a running machine, several generators at a time."""
    m = machine(lab)
    rx = m.ns.popen([netns.BUILD / TOOL, "-M", "M1", "pkt-gen", "--libxo",
                     "json", "-i", "epair0b", "-f", "rx", "-n", 3000],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_ready(rx)
    tx = [m.ns.popen([netns.BUILD / TOOL, "-M", "M1", "pkt-gen", "-i",
                      "epair0a", "-f", "tx", "-n", 1500, "-R", 3000],
                     stdout=subprocess.PIPE) for _ in range(2)]
    for p in tx:
        assert "Sent 1500 packets" in p.communicate(timeout=20)[0]
        assert p.returncode == 0
    got = summary(rx.communicate(timeout=20)[0])
    assert rx.returncode == 0
    assert got["received"]["packets"] == 3000
    assert got["sequence"]["lost"] == 0
    assert got["sequence"]["packets"] == 3000


def opackets(m, name):
    return m.call("if.list", {"name": name})["interfaces"][0]["counters"][
        "opackets"]


@pytest.mark.parametrize("how", ["killed", "destroyed"])
def test_no_orphans(lab, how):
    """Traffic ends with the tool that started it, and with its interface."""
    m = machine(lab, "ifconfig epair1 create\nifconfig epair1a up\n"
                "ifconfig epair1b up\n")
    tx = m.ns.popen([netns.BUILD / TOOL, "-M", "M1", "pkt-gen", "-i",
                     "epair1a", "-f", "tx", "-R", 2000],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    netns.wait_for(lambda: opackets(m, "epair1a") > 100)
    if how == "killed":
        tx.kill()
        tx.wait()

        def still():
            before = opackets(m, "epair1a")
            time.sleep(0.2)
            return opackets(m, "epair1a") == before
        netns.wait_for(still)
    else:
        m.tool("ifconfig epair1a destroy")
        out, err = tx.communicate(timeout=20)
        assert tx.returncode == 0 and "epair1a went away" in err
        assert "Sent " in out
    events = [e["name"] for e in m.call("intr.list")["events"]]
    assert not [e for e in events if e.startswith("pkt-gen")]


def test_others_keep_off(lab):
    """A connection cannot stop what another one started."""
    m = machine(lab)
    with m.control() as one, m.control() as two:
        gen = one("gen.start", interface="epair0a", mode="tx", rate=1000)["id"]
        with pytest.raises(netns.Failed, match="no generator"):
            two("gen.stop", id=gen)
        one("gen.stop", id=gen)


# ---- Errors ----

@drivers("packet", "xdp")
def test_no_permission(wire, driver):
    """Without the right to it, an error that says which is needed."""
    p = subprocess.run(
        [str(w) for w in wire.ns.wrap(["setpriv", "--bounding-set",
         "-net_raw,-net_admin,-sys_admin,-bpf", netns.BUILD / ALONE, "-i",
         f"{driver}:v0", "-f", "tx", "-n", 1, "-w", 0])],
        capture_output=True, text=True, timeout=30, check=False)
    assert p.returncode == 1, p.stdout + p.stderr
    assert "permission" in p.stderr and "v0" in p.stderr


@pytest.mark.parametrize("words,status,text", [
    ("", 64, "missing interface"),
    ("-i", 64, "requires an argument"),
    ("-i packet:nope -f tx", 1, "no Linux device nope"),
    ("-i epair9z -f tx", 1, "epair9z does not exist"),
    ("-i packet:v0 -f up", 64, "expected tx, rx"),
    ("-i packet:v0 -f tx -l 1515 -w 0", 1, "too long for"),
    ("-i packet:v0 -f tx -l 41 -w 0", 1, "length"),
    ("-i packet:v0 -f tx -l 60 -l 70", 64, "the least of random"),
    ("-i packet:v0 -f tx -s 10.0.0 -w 0", 1, "expected an IPv4"),
    ("-i packet:v0 -f tx -s 10.0.0.1:x -w 0", 64, "-s 10.0.0.1:x"),
    ("-i packet:v0 -f tx -d 10.0.0.9-10.0.0.1 -w 0", 1, "not below"),
    ("-i packet:v0 -f tx -D 1:2:3 -w 0", 1, "expected a MAC"),
    ("-i packet:v0 -f tx -R 0", 64, "-R 0"),
    ("-i packet:v0 -f tx -R 1x", 64, "-R 1x"),
    ("-i packet:v0 -f tx -R 0.1m", 64, "-R 0.1m"),
    ("-i packet:v0 -f tx -R 99999999999G", 64, "-R 9"),
    ("-i packet:v0 -f tx -n -1K", 64, "-n -1K"),
    ("-i packet:v0 -f tx -n nank", 64, "-n nank"),
    ("-i packet:v0 -f tx -P /nonexistent", 66, "No such file"),
    ("-i packet:v0 -P /dev/null", 64, "-P:"),
    ("-i netmap:em0", 64, "xdp:em0"),
    ("-i vale0:1", 64, "VALE"),
    ("-i packet:v0 -r", 64, "-r has no meaning here"),
    ("-i packet:v0 -F 2", 64, "-F has no meaning here"),
    ("-i packet:v0 -H 10", 64, "-H 10"),
    ("-i packet:v0 -i packet:v1 -f rx", 64, "a second -i"),
    ("-i packet:v0 --throughput", 64, "-i IF -i IF"),
    ("-i packet:v0 --csv /nonexistent/x", 73, "--csv"),
    ("-i packet:v0 -f tx more", 64, "expected options only"),
    ("-i packet:v0 -q", 64, "illegal option -- q"),
])
def test_errors(wire, words, status, text):
    p = wire.run(*words.split())
    assert p.returncode == status, p.stdout + p.stderr
    assert text in p.stderr
    assert "Sent" not in p.stdout


def test_no_machine(lab):
    """An interface of a machine, and no machine."""
    ns = lab.ns("alone")
    p = netns.command(ns.wrap([netns.BUILD / TOOL, "pkt-gen", "-i", "ixl2",
                               "-f", "tx"]), check=False, env=lab.env)
    assert p.returncode == 69 and "no machine is running" in p.stderr


def test_tool_finds_it(wire):
    """`netepoch pkt-gen -i DRIVER:DEVICE` is netepoch-pkt-gen."""
    p = netns.command(wire.ns.wrap([
        netns.BUILD / TOOL, "pkt-gen", "--libxo", "json", "-i", "packet:v0",
        "-f", "tx", "-n", 7, "-w", 0]), check=False, env=wire.lab.env)
    assert sent(p)["sent"]["packets"] == 7
