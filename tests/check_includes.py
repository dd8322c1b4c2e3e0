#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The rooms' order: which room may include which, and who enters the epoch.

check_includes.py TOP    checks the tree at TOP; exit status 1 and one line
                         for each offence
check_includes.py --self shows that the check fires on broken trees
"""

import pathlib
import re
import sys
import tempfile

# A room includes itself and rooms of a lower level; ctl and libnetgraph
# stand beside the levels and include only what is named here.
LEVEL = {
    "sys": 0, "wire": 0,
    "epoch": 1, "mbuf": 1,
    "intr": 2, "ifnet": 2,
    "drivers": 3, "ether": 3, "route": 3,
    "ip": 4, "netgraph": 4, "gen": 4,
    "stack": 5,
    "tools": 6,
    "netepochd": 7, "pktgen": 7,
}
ONLY = {"ctl": {"sys"}, "libnetgraph": {"sys", "wire"},
        "epoch": set(), "tools": {"ctl", "sys", "wire"}}
ALSO = {"stack": {"ctl"}, "netepochd": {"ctl"},
        "pktgen": {"ctl"}}

# Whoever calls NET_EPOCH_ENTER, by file; tests may.  ng_data.c: ng_net_run(),
# for packets that come from a socket and not from an interrupt.
ENTERS = {
    "src/intr/ithread.c", "src/intr/taskqueue.c", "src/intr/callout.c",
    "src/ether/ether.c", "src/netgraph/ng_data.c",
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z0-9_]+)/[^"]+"', re.M)
ENTER = re.compile(r"\bNET_EPOCH_ENTER\s*\(")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def allowed(room, other):
    if room == other:
        return True
    if room in ONLY:
        return other in ONLY[room]
    if other in ALSO.get(room, ()):
        return True
    return LEVEL.get(other, 99) < LEVEL[room]


def check(top):
    """All offences below top, as text."""
    bad = []
    for path in sorted(pathlib.Path(top, "src").rglob("*.[ch]")):
        name = path.relative_to(top).as_posix()
        room = name.split("/")[1]
        test = path.stem.endswith(("_test", "_bpf", "testlib"))
        text = path.read_text()
        if room not in LEVEL and room not in ONLY:
            bad.append(f"{name}: {room} is no room of ours")
            continue
        if not test:
            for other in INCLUDE.findall(text):
                if not allowed(room, other):
                    bad.append(f"{name}: {room} must not include {other}")
            if name not in ENTERS and ENTER.search(COMMENT.sub("", text)):
                bad.append(f"{name}: a new caller of NET_EPOCH_ENTER")
    return bad


def self_test():
    cases = [
        ("src/sys/a.c", '#include "ifnet/if_var.h"\n', True),
        ("src/ip/a.c", '#include "ifnet/if_var.h"\n', False),
        ("src/ip/a.c", ' #  include "netgraph/x.h"\n', True),
        ("src/drivers/a.h", '#include "ether/ether_var.h"\n', True),
        ("src/tools/a.c", '#include "stack/machine.h"\n', True),
        ("src/netepochd/a.c", '#include "tools/tool.h"\n', False),
        ("src/attic/a.c", "", True),
        ("src/ip/a.c", "/* NET_EPOCH_ENTER(et) is not for us */\n", False),
        ("src/ip/a.c", "\tNET_EPOCH_ENTER(et);\n", True),
        ("src/ip/a_test.c", "\tNET_EPOCH_ENTER(et);\n", False),
        ("src/ether/ether.c", "\tNET_EPOCH_ENTER(et);\n", False),
    ]
    for name, text, fires in cases:
        with tempfile.TemporaryDirectory() as top:
            path = pathlib.Path(top, name)
            path.parent.mkdir(parents=True)
            path.write_text(text)
            if bool(check(top)) != fires:
                sys.exit(f"check_includes: wrong about {name}: {text!r}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self"]:
        self_test()
        sys.exit(0)
    offences = check(sys.argv[1] if len(sys.argv) > 1 else ".")
    for line in offences:
        print(line)
    sys.exit(1 if offences else 0)
