# SPDX-License-Identifier: BSD-2-Clause
"""The experiments run, account for every packet, and write whole pages."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import netns

TOP = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = netns.BUILD / "bench/bench_experiment"
CHANGE = ["--wait", "--routes", "5000", "--neighbours", "500",
          "--interfaces", "20", "--nodes", "20"]
VARIANTS = {
    "interrupt": [],
    "one-by-one": ["--burst", "1"],
    "packet": ["--entry", "packet", "--burst", "1"],
    "eiface": ["--eiface", "--burst", "1"],
    "second-entry": ["--eiface", "--burst", "1", "--second-entry"],
    "batch": ["--batch", "8", "--run", "4", "--wait"],
    "change": CHANGE,
    "change-packet": ["--entry", "packet", "--burst", "1"] + CHANGE,
}


def run(*options):
    """One run of a fifth of a second; its figures."""
    said = netns.command([PROGRAM, "--secs", "0.2", *options])
    return json.loads(said[said.index('{"epoch"'):])


@pytest.mark.parametrize("variant", VARIANTS)
def test_accounts(variant):
    """What goes in comes out; nothing is lost, whatever changes."""
    got = run(*VARIANTS[variant])
    assert got["packets"] > 1000
    assert got["lost"] == got["unaccounted"] == 0, got["drops"]
    assert got["sunk"] == got["packets"]
    assert got["mpps"] > 0 and got["cpu_mpps"] > 0
    changed = variant.startswith("change")
    for kind in ("routes", "neighbours", "interfaces", "nodes"):
        assert (got[kind] > 0) == changed, kind
    assert ("grace_us" in got) == ("--wait" in VARIANTS[variant])
    if "grace_us" in got:
        assert got["grace_us"]["n"] > 0
        assert got["grace_us"]["max"] >= got["grace_us"]["median"]
    assert ("section_us" in got) == (variant == "batch")


def test_refusals():
    """What cannot be is said."""
    for options in (["--burst", "65"], ["--secs", "0"], ["--entry", "x"],
                    ["--second-entry"], ["--eiface", "--nodes", "1"]):
        p = netns.command([PROGRAM, *options], check=False)
        assert p.returncode == 64, options
        assert p.stderr.startswith("bench_experiment: ")


@pytest.fixture
def package():
    """The script's own modules."""
    sys.path.insert(0, str(TOP / "bench"))
    from experiments import stats
    yield stats
    sys.path.remove(str(TOP / "bench"))


def need_tools():
    for tool in ("ministat", "gnuplot"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def test_verdicts(package, tmp_path):
    """What ministat proves is read, for each set, and what it does not."""
    need_tools()
    raw = package.Raw(tmp_path, "t")
    for i in range(10):
        noise = (i * 7 % 10) / 100
        raw.add("a", 100 + noise)
        raw.add("b", 110 - noise)
        raw.add("c", 100.01 + noise)
    _, (b, c) = raw.compare("a", "b", "c")
    assert b.proven and 9.5 < b.percent < 10.5 and b.margin < 0.5
    assert not c.proven and c.text() == "no difference proven"
    _, (a,) = raw.compare("b", "a", plot=False)
    assert a.proven and a.percent < 0
    # A phase that is in all runs of a round hides nothing within rounds.
    for i in range(10):
        phase = 1 + (i % 2)
        raw.add("slow", (100 + i % 3 * 0.1) * phase)
        raw.add("fast", (105 - i % 3 * 0.1) * phase)
    _, (plain,), (within,) = raw.compare_both("slow", "fast")
    assert not plain.proven
    assert within.proven and 4 < within.percent < 6


@pytest.mark.limit(120)
def test_pages(tmp_path):
    """The script writes each page, its picture, its runs, and the index."""
    need_tools()
    p = subprocess.run(
        [TOP / "bench/experiments/run", "--smoke", "-o", tmp_path,
         "--tree", f"fence={netns.BUILD}", "--tree",
         f"membarrier={netns.BUILD}", "3", "4"], capture_output=True,
        text=True, timeout=100, check=False)
    assert p.returncode == 0, p.stdout + p.stderr
    index = (tmp_path / "README.md").read_text()
    for name in ("3-batch", "4-change"):
        page = (tmp_path / f"{name}.md").read_text()
        assert f"]({name}.md)" in index
        assert "A quick run" in page
        assert "95.0% confidence" in page
        for part in ("What was done", "On what", "The command",
                     "What came out", "What it means"):
            assert f"\n## {part}\n" in page
        assert re.search(r"^- Linux \d", page, re.M)
        assert "{" not in re.sub(r"```.*?```", "", page, flags=re.S)
        picture = (tmp_path / f"{name}.svg").read_text()
        assert picture.rstrip().endswith("</svg>")
    page = (tmp_path / "4-change.md").read_text()
    assert "- No packet was lost" in page
    runs = (tmp_path / "raw/4-quiet.txt").read_text().split()
    assert len(runs) == 3 and all(float(r) > 0 for r in runs)


def test_failure(tmp_path):
    """An experiment that fails says so and leaves the page that was there."""
    need_tools()
    (tmp_path / "1-d23242.md").write_text("as it was\n")
    p = subprocess.run(
        [TOP / "bench/experiments/run", "--smoke", "-o", tmp_path,
         "--tree", f"fence={netns.BUILD}", "--tree",
         f"membarrier={netns.BUILD}", "1"], capture_output=True, text=True,
        timeout=50, check=False)
    assert p.returncode == 1
    assert "experiment 1: failed" in p.stderr
    assert (tmp_path / "1-d23242.md").read_text() == "as it was\n"
