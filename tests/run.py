#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""All tests of the project, in stages, with one closing count.

    tests/run.py [--build DIR] [--only STAGE[,STAGE...]] [--fuzz SECONDS]

Stages, in order: check (include graph, shell syntax, manual pages), debug and
release (gcc), asan and tsan (clang), each a build and its unit tests, stories
(real interfaces in namespaces), fuzz (in asan's tree).  Every build treats
warnings as errors; a build that fails counts as one failed test and its stage
ends.

The last line is "N passed, N failed, N skipped"; the exit status is 1 when
anything failed or nothing passed.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parent.parent
MESON = "/usr/bin/meson"
# How each tree is set up.  Meson takes the compiler from CC.
CLANG = {"CC": "clang"}
BUILDS = {
    "debug": ({}, ["-Dinvariants=true"]),
    "release": ({}, []),
    "asan": (CLANG, ["-Dinvariants=true", "-Dfuzz=true",
                     "-Db_sanitize=address,undefined", "-Db_lundef=false",
                     "-Doptimization=1"]),
    "tsan": (CLANG, ["-Dinvariants=true", "-Db_sanitize=thread",
                     "-Db_lundef=false", "-Doptimization=1"]),
}
SANITIZER_ENV = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    # A child of fork may start threads, libepoch says; and a process ends
    # when it is done, not a second later.
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:"
                    "die_after_fork=0:atexit_sleep_ms=0",
}


class Count:
    """What has passed, failed and been skipped so far."""

    def __init__(self):
        self.n = collections.Counter()
        self.failures = []

    def add(self, result, name, why=""):
        self.n[result] += 1
        if result == "failed":
            self.failures.append(name)
            print(f"FAILED  {name}{': ' + why if why else ''}", flush=True)
        elif result == "skipped":
            print(f"skipped {name}{': ' + why if why else ''}", flush=True)


# What went well: cmocka's lines of a test that passes, ninja's of a step.
WELL = re.compile(r"\[ +(RUN|OK|PASSED) +\]|\[=+\]|\[\d+/\d+\] ")
SHOWN = 4000                    # characters of either end of an output


def reason(output):
    """An output without what went well, and its middle if it is long."""
    lines = [s for s in output.splitlines() if not WELL.match(s)]
    text = "\n".join(lines)
    if len(text) > 2 * SHOWN:
        text = f"{text[:SHOWN]}\n[...]\n{text[-SHOWN:]}"
    return text


def run(argv, count, name, timeout, **kw):
    """Run one command as one test, its output shown only if it fails."""
    try:
        p = subprocess.run(argv, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True,
                           timeout=timeout, stdin=subprocess.DEVNULL,
                           errors="replace", **kw)
        output, code = p.stdout, p.returncode
    except subprocess.TimeoutExpired as e:
        output, code = str(e.stdout or ""), f"no end after {timeout} s"
    if code == 0:
        count.add("passed", name)
        return True
    print(reason(output))
    count.add("failed", name, f"exit {code}")
    return False


def stage_check(args, count):
    py = sys.executable
    run([py, "tests/check_includes.py", "--self"], count,
        "check_includes fires", 60, cwd=TOP)
    run([py, "tests/check_includes.py", "."], count, "include graph", 60,
        cwd=TOP)
    scripts = subprocess.run(
        ["git", "grep", "-lE", r"^#!/bin/(ba)?sh"], cwd=TOP,
        capture_output=True, text=True, check=False).stdout.split()
    for script in scripts:
        shell = (TOP / script).read_text().split("\n")[0][2:]
        run([shell, "-n", script], count, f"syntax of {script}", 10, cwd=TOP)
    for page in sorted((TOP / "man").glob("*.[1-9]")):
        run(["mandoc", "-T", "lint", "-W", "warning,stop", page.name], count,
            f"manual page {page.name}", 10, cwd=page.parent)


def build(args, count, name):
    """Configure and build one tree; its path, or None."""
    env, options = BUILDS[name]
    tree = pathlib.Path(args.build).resolve() / name
    env = {**os.environ, **env}
    if not (tree / "build.ninja").exists() and not run(
            [MESON, "setup", *options, tree, TOP], count, f"setup {name}",
            300, env=env):
        shutil.rmtree(tree, ignore_errors=True)
        return None
    if not run(["ninja", "-C", tree], count, f"build {name}", 900, env=env):
        return None
    return tree


def stage_build(args, count, name):
    tree = build(args, count, name)
    if tree is None:
        return
    argv = [MESON, "test", "-C", tree, "--no-rebuild", "-t", "3"]
    argv += ["--no-suite", "man"]  # stage check has them
    if name != "debug":
        argv += ["--no-suite", "models"]  # the same in every tree
    log = tree / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    p = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False,
                       stderr=subprocess.STDOUT, errors="replace",
                       env={**os.environ, **SANITIZER_ENV})
    results = []
    if log.exists():
        results = [json.loads(line) for line in log.open()]
    for t in results:
        word = {"OK": "passed", "SKIP": "skipped"}.get(t["result"], "failed")
        why = "" if word == "passed" else t["result"].lower()
        said = [t.get("stdout") or "", t.get("stderr") or ""]
        if word == "skipped":
            why = (said[0] or said[1]).strip()[-200:]
        elif word == "failed":
            print(reason("\n".join(said)))
        count.add(word, f"{name}: {t['name'].split(' / ')[-1]}", why)
    if not results or (p.returncode != 0 and not count.failures):
        count.add("failed", f"{name}: unit tests", "meson test gave no result")
        print(reason(p.stdout))


def stage_stories(args, count):
    tree = build(args, count, "debug")
    if tree is None:
        return
    report = tree / "stories.xml"
    report.unlink(missing_ok=True)
    env = {**os.environ, "NETEPOCH_BUILD": str(tree)}
    p = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short",
         "-p", "no:cacheprovider", f"--junitxml={report}", "tests"],
        cwd=TOP, env=env, stdin=subprocess.DEVNULL, check=False)
    if not report.exists():
        count.add("failed", "stories", f"pytest ended with {p.returncode}")
        return
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = f"story: {case.get('classname')}.{case.get('name')}"
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            count.add("failed", name)
        elif skip is not None:
            count.add("skipped", name, skip.get("message", ""))
        else:
            count.add("passed", name)


def stage_fuzz(args, count):
    tree = build(args, count, "asan")
    if tree is None:
        return
    targets = sorted((tree / "tests/fuzz").glob("fuzz_*"))
    targets = [t for t in targets if t.is_file() and os.access(t, os.X_OK)]
    if not targets:
        count.add("failed", "fuzz", "no target was built")
    for target in targets:
        work = tree / "corpus" / target.name
        work.mkdir(parents=True, exist_ok=True)
        kept = TOP / "tests/corpus" / target.name.removeprefix("fuzz_")
        run([target, f"-max_total_time={args.fuzz}", "-print_final_stats=1",
             "-rss_limit_mb=4096", f"-artifact_prefix={work}/", work, kept],
            count, f"fuzz: {target.name}", args.fuzz + 120,
            env={**os.environ, **SANITIZER_ENV})


def main():
    stages = {"check": stage_check}
    for name in BUILDS:
        stages[name] = (lambda n: lambda a, c: stage_build(a, c, n))(name)
    stages["stories"] = stage_stories
    stages["fuzz"] = stage_fuzz
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default=str(TOP / "build/test"))
    parser.add_argument("--only", default=",".join(stages))
    parser.add_argument("--fuzz", type=int, default=25)
    args = parser.parse_args()
    wanted = args.only.split(",")
    for name in wanted:
        if name not in stages:
            parser.error(f"no stage {name}; there are: {', '.join(stages)}")

    # A stopped run ends like a failed one, so that stories clean up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    count = Count()
    for name in wanted:
        start, before = time.monotonic(), count.n.copy()
        stages[name](args, count)
        new = count.n - before
        print(f"{name:8} {new['passed']} passed, {new['failed']} failed, "
              f"{new['skipped']} skipped in {time.monotonic() - start:.0f} s",
              flush=True)
    for name in count.failures:
        print(f"failed: {name}")
    print(f"{count.n['passed']} passed, {count.n['failed']} failed, "
          f"{count.n['skipped']} skipped", flush=True)
    return 1 if count.n["failed"] or not count.n["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
