#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The router lab: gen -- router -- sink, three namespaces joined by veths,
netepochd between them; ping, TCP, pkt-gen at a rate and as fast as it can, a
live screen, a summary.

    tests/lab.py [--build DIR] [--driver xdp|packet] [--seconds N]

With root the router uses AF_XDP; without it the same lab runs in a user
namespace of its own with AF_PACKET, since XDP programs cannot be loaded
there; where even that is forbidden, on interfaces in memory.  Leaves nothing
behind, also when it is interrupted.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import netns

GEN, SINK = "192.0.2.10", "198.51.100.10"
RATE = 10000                    # packets a second, of the paced run


def say(text):
    print(text, flush=True)


def build_topology(lab, driver):
    """The namespaces, wired and addressed, and the machine between them."""
    gen, router, sink = (lab.ns(n) for n in ("gen", "router", "sink"))
    lab.veth(gen, "g0", router, "r0")
    lab.veth(router, "r1", sink, "s0")
    gen.ip(f"addr add {GEN}/24 dev g0")
    gen.ip("route add default via 192.0.2.1")
    sink.ip(f"addr add {SINK}/24 dev s0")
    sink.ip("route add default via 198.51.100.1")
    machine = lab.machine(router, "lab", config=f"""
ifconfig p0 create {driver}:r0
ifconfig p0 inet 192.0.2.1/24 up
ifconfig p1 create {driver}:r1
ifconfig p1 inet 198.51.100.1/24 up
sysctl net.inet.ip.forwarding=1
""")
    return gen, sink, machine


def run_ping(gen):
    out = gen.run(["ping", "-c", "5", "-i", "0.2", "-w", "10", SINK])
    lines = out.strip().splitlines()
    return lines[-2].split(", time")[0] + ", " + lines[-1]


def run_iperf(lab, gen, sink, seconds, reverse):
    """A TCP transfer; gigabits a second and retransmits."""
    server = sink.popen(["iperf3", "-s", "-1"], stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
    netns.wait_for(lambda: ":5201" in sink.run(["ss", "-ltn"]))
    argv = ["iperf3", "-c", SINK, "-t", seconds, "-J"]
    out = json.loads(gen.run(argv + (["-R"] if reverse else []),
                             timeout=seconds + 30))
    server.wait(10)
    return (out["end"]["sum_received"]["bits_per_second"] / 1e9,
            out["end"]["sum_sent"].get("retransmits", 0))


def counters(machine):
    """What the summary is made of."""
    stats = machine.call("stats.get")["protocols"]["ip"]
    names = {s["name"]: s["value"] for s in stats}
    intr = machine.call("intr.list")["totals"]
    drops = {}
    for d in machine.call("drops.list")["drops"]:
        key = (d["interface"], d["name"], d["text"])
        drops[key] = d["count"]
    return names, intr, drops


def pktgen(ns, *words):
    """Start pkt-gen on a device of ns; its reports are JSON lines."""
    return ns.popen([netns.BUILD / "src/pktgen/netepoch-pkt-gen", "--libxo",
                     "json", *words, "-w", 0], stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL)


def totals(process):
    """End a pkt-gen; its summary."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=30)[0].splitlines()
    if not out:
        raise netns.Failed(f"pkt-gen: exit {process.returncode}")
    return json.loads(out[-1])["pkt-gen"]["summary"]


def sender(machine):
    """Words of a pkt-gen beside the router that sends to the sink."""
    mac = machine.call("if.list", {"name": "p0"})["interfaces"][0]["ether"]
    return ["-i", "packet:g0", "-f", "tx", "-s", GEN, "-d", SINK, "-D", mac]


def run_measure(gen, sink, machine, rate, seconds):
    """Loss and latency through the router at a rate."""
    rx = pktgen(sink, "-i", "packet:s0", "-f", "rx")
    time.sleep(1)
    tx = pktgen(gen, *sender(machine), "-R", rate, "-n", rate * seconds)
    tx.wait(seconds + 30)
    time.sleep(0.5)
    return totals(tx)["sent"]["packets"], totals(rx)


def run_flood(gen, machine, seconds):
    """Flood the sink through the router while systat shows it."""
    words = sender(machine)
    before, t0 = counters(machine), time.monotonic()
    flood = pktgen(gen, *words)
    if sys.stdout.isatty():
        screen = machine.ns.popen(
            [machine.tools, "-M", machine.name, "systat", "-ifstat", "1"],
            stdin=sys.stdin)
        time.sleep(seconds)
        screen.terminate()
        screen.wait(5)
    else:
        time.sleep(seconds / 2)
        say(machine.tool(["systat", "-ifstat", "1"]).rstrip())
        time.sleep(seconds / 2)
    sent = totals(flood)["sent"]["packets"]
    t1 = time.monotonic()
    return before, counters(machine), t1 - t0, sent


def measured(result):
    """A line of run_measure()."""
    sent, rx = result
    t = rx.get("latency")
    if t is None:
        return f"{sent:,} packets sent, none came"
    return (f"{sent:,} packets, {sent - rx['sequence']['packets']:,} lost; "
            f"latency median {t['median-ns'] / 1e3:.0f} us, 99 % "
            f"{t['p99-ns'] / 1e3:.0f}, max {t['max-ns'] / 1e3:.0f}")


def summary(ping, tcp, paced, flood):
    before, after, seconds, sent = flood
    forwarded = after[0]["forwarded"] - before[0]["forwarded"]
    delta = {k: after[1][k] - before[1][k] for k in after[1]}
    say("\nSummary")
    say(f"  ping            {ping}")
    for direction, (gbits, again) in tcp.items():
        say(f"  TCP {direction:11} {gbits:.2f} Gbit/s, {again} retransmits")
    say(f"  paced           {measured(paced)}")
    say(f"  flood           {sent:,} packets sent in {seconds:.1f} s")
    say(f"  forwarded       {forwarded:,} packets, "
        f"{forwarded / seconds:,.0f} a second")
    say(f"  interrupts      {delta['interrupts']:,}; handler runs "
        f"{delta['runs']:,}; epoch entries {delta['entries']:,}, of these "
        f"{delta['reentries']:,} for hw.intr_epoch_batch")
    if delta["entries"]:
        say(f"  per entry       {delta['runs'] / delta['entries']:.1f} handler "
            f"runs, {forwarded / delta['entries']:.1f} packets")
    drops = {k: v - before[2].get(k, 0) for k, v in after[2].items()}
    drops = {k: v for k, v in drops.items() if v}
    say("  drops           " + ("none" if not drops else ""))
    for (ifname, name, text), count in sorted(drops.items()):
        say(f"    {ifname:6} {name:14} {count:,} packets {text}")


def run_lab(driver, seconds):
    with netns.Lab() as lab:
        say(f"lab: gen {GEN} -- p0 [netepochd, {driver}] p1 -- sink {SINK}")
        gen, sink, machine = build_topology(lab, driver)
        for line in machine.text().splitlines():
            say(f"  {line}")
        ping = run_ping(gen)
        say(f"ping: {ping}")
        tcp = {}
        for direction, reverse in (("gen->sink", False), ("sink->gen", True)):
            tcp[direction] = run_iperf(lab, gen, sink, seconds, reverse)
            say(f"TCP {direction}: {tcp[direction][0]:.2f} Gbit/s")
        say(f"{RATE:,} packets a second for {seconds} s, measured:")
        paced = run_measure(gen, sink, machine, RATE, seconds)
        say(f"  {measured(paced)}")
        say(f"flood for {seconds} s, seen by systat -ifstat:")
        flood = run_flood(gen, machine, seconds)
        summary(ping, tcp, paced, flood)
        status = machine.stop()
        if status != 0:
            raise netns.Failed(f"netepochd: exit {status}: {machine.text()}")


def run_in_memory(seconds):
    """The router between two epairs, flooded by a source in its process."""
    say("lab: source -- epair [machine] epair -- sink, 64-byte frames, "
        f"{seconds} s on one CPU; no ping and no TCP here: both need hosts")
    say(netns.command([netns.BUILD / "bench/bench_forward", "--verify",
                       "--secs", seconds], timeout=seconds + 60).rstrip())


def choose(args):
    """The driver to run with; None: in memory only."""
    try:
        where = netns.isolate()
    except netns.Failed as e:
        say(f"lab: {e}: the lab runs in memory")
        return None
    if where == "root":
        return args.driver or ("xdp" if netns.privileged() else "packet")
    say("lab: no root: running in a user namespace, with AF_PACKET")
    return "packet"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default=str(netns.BUILD))
    parser.add_argument("--driver", choices=("xdp", "packet"))
    parser.add_argument("--seconds", type=int, default=5)
    args = parser.parse_args()
    netns.BUILD = pathlib.Path(args.build).resolve()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, lambda *_: sys.exit(1))
    driver = choose(args)
    try:
        if driver is None:
            run_in_memory(args.seconds)
        else:
            run_lab(driver, args.seconds)
    except netns.Failed as e:
        say(f"lab: {e}")
        return 1
    except KeyboardInterrupt:
        say("lab: interrupted, everything is cleaned up")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
