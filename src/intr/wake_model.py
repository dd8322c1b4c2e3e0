#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Search the model of the wake-up protocol: wake_model.py wake.pml

The protocol as it is must have no error; without any one of the parts that
the proof in ithread.c needs, spin must find one.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

PARTS = ["NO_P2", "NO_S1", "NO_S2", "NO_PENDING_ORDER"]


def errors(model, defines):
    """How many errors spin finds."""
    with tempfile.TemporaryDirectory() as top:
        for command in (["spin", *defines, "-a", model],
                        ["cc", "-O0", "-DSAFETY", "-w", "-o", "pan", "pan.c"]):
            subprocess.run(command, cwd=top, check=True,
                           stdout=subprocess.DEVNULL)
        out = subprocess.run(["./pan", "-m1000000"], cwd=top, check=True,
                             capture_output=True, text=True).stdout
    if "max search depth too small" in out:
        sys.exit("wake_model: the search was cut short")
    return int(re.search(r"errors: (\d+)", out).group(1))


def main():
    model = pathlib.Path(sys.argv[1]).resolve()
    if errors(model, []) != 0:
        sys.exit("wake_model: a wake-up can be lost")
    for part in PARTS:
        if errors(model, [f"-D{part}"]) == 0:
            sys.exit(f"wake_model: no error found with {part}")
    print(f"wake_model: no error; one without each of {', '.join(PARTS)}")


if __name__ == "__main__":
    main()
