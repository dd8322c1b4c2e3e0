# SPDX-License-Identifier: BSD-2-Clause
"""A macfilter between a card and the stack, driven as scripts drive it: every
message is an ngctl of its own, and answers are cut up by sed and awk.
"""

import collections
import random
import re

import pytest

from test_ngctl import fixture_g  # noqa: F401 (a fixture)

OUTS = ("out1", "out2", "out3")


@pytest.fixture(name="mf")
def fixture_mf(g):
    """The card is epair0a: MF on its lower hook, O2M on its upper one."""
    g.out("ifconfig epair create; ifconfig epair0a up; kldload ng_ether")
    g.out("ngctl mkpeer epair0a: macfilter lower ether")
    g.out("ngctl name epair0a:lower MF")
    g.out("ngctl mkpeer epair0a: one2many upper one")
    g.out("ngctl name epair0a:upper O2M")
    g.out('ngctl msg O2M: setconfig "{ xmitAlg=3 failAlg=1 '
          'enabledLinks=[ 1 1 ] }"')
    g.out("ngctl connect MF: O2M: default many0")
    for i, out in enumerate(OUTS, 1):
        g.out(f"ngctl connect MF: O2M: {out} many{i}")
    return g


def hooks(g):
    """Names that gethooks prints, sorted, as a script gets at them."""
    return sorted(re.findall(r'hookname="([^"]*)"',
                             g.out("ngctl msg MF: gethooks")))


def counts(g):
    """MACs by hook; a hook without any has no maccnt= in the text."""
    text = g.out("ngctl msg MF: gethooks")
    rows = re.findall(r'hookname="(\w+)" hookid=\d+ maccnt=(\d+)', text)
    assert len(rows) == text.count("maccnt=")
    return {name: int(n) for name, n in rows}


def direct(g, mac, hook):
    g.out("ngctl msg MF: direct '{ hookname=\"%s\" ether=%s }'" % (hook, mac))


def test_wiring(mf):
    """Each step was a process of its own, and nodes outlive them."""
    assert mf.nodes() == {"epair0a": "ether", "epair0b": "ether",
                          "MF": "macfilter", "O2M": "one2many"}
    # A hook that is there already.
    p = mf.sh("ngctl connect MF: O2M: default many99")
    assert p.returncode == 71 and p.stderr.startswith("ngctl: send msg: ")
    assert hooks(mf) == ["default", *OUTS]
    # The card goes with its node, not with what was joined to it.
    mf.out("ifconfig epair0a destroy")
    assert mf.nodes() == {"MF": "macfilter", "O2M": "one2many"}
    assert len(mf.links()) == 8


def test_hooks_come_and_go(mf):
    base = ["default", *OUTS]
    want = list(base)
    for i in (1, 2, 3):
        mf.out(f"ngctl connect MF: O2M: xxx{i} many{i + 9}")
        want.append(f"xxx{i}")
        assert hooks(mf) == sorted(want)
    for i in (2, 1, 3):
        mf.out(f"ngctl rmhook MF: xxx{i}")
        want.remove(f"xxx{i}")
        assert hooks(mf) == sorted(want)
    for i in range(10, 43):
        mf.out(f"ngctl connect MF: O2M: xxx{i} many{i}")
    assert hooks(mf) == sorted(base + [f"xxx{i}" for i in range(10, 43)])
    mf.run(*(f"rmhook MF: xxx{i}" for i in range(10, 43)))
    assert hooks(mf) == base


def test_macs(mf):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    r = random.Random(seed)
    macs = [f"00:00:00:00:{j:02x}:{i:02x}" for j in range(1, 7)
            for i in range(1, 13)]
    for mac in macs:
        direct(mf, mac, "out1")
    assert counts(mf) == {"out1": 72}
    # Another hook takes them over; the default hook is to have none.
    for mac in macs[:36]:
        direct(mf, mac, "out2")
    assert counts(mf) == {"out1": 36, "out2": 36}
    for mac in macs[30:40]:
        direct(mf, mac, "default")
    assert counts(mf) == {"out1": 32, "out2": 30}
    # At random, in one run and then some by runs of their own.
    have = {}
    for _ in range(3):
        for mac in macs:
            have[mac] = r.choice(OUTS)
        mf.run(*("msg MF: direct { hookname=\"%s\" ether=%s }" %
                 (have[mac], mac) for mac in macs))
        for mac in r.sample(macs, 10):
            have[mac] = r.choice(OUTS)
            direct(mf, mac, have[mac])
        assert counts(mf) == collections.Counter(have.values())
    # A hook takes its MACs along; reset takes them all.
    mf.out("ngctl rmhook MF: out2")
    left = collections.Counter(v for v in have.values() if v != "out2")
    assert counts(mf) == left
    text = mf.out("ngctl msg MF: getmacs")
    assert text.count("ether=") == left.total()
    mf.out("ngctl msg MF: reset")
    assert counts(mf) == {}
