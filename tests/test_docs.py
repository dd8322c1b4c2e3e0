# SPDX-License-Identifier: BSD-2-Clause
"""What the documents name is there."""

import pathlib
import re

import pytest

TOP = pathlib.Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", ["README.md", "bench/README.md", *(
    str(p.relative_to(TOP)) for p in sorted((TOP / "docs").rglob("*.md")))])
def test_links(name):
    """Files that a document links to."""
    links = re.findall(r"\]\(([^)#:]+)", (TOP / name).read_text())
    gone = [x for x in links if not ((TOP / name).parent / x).exists()]
    assert not gone


def test_map():
    """README's map: each file, and names that follow one are beside it."""
    rows = (TOP / "README.md").read_text().split("## Finding things")[1]
    checked = 0
    for row in rows.splitlines():
        room = None
        for word in re.findall(r"`([^`]+)`", row.partition(" | ")[2]):
            if "/" in word:
                path = TOP / word
                room = path.parent
            elif room and word.endswith((".c", ".h")):
                path = room / word
            else:
                continue
            assert list(path.parent.glob(path.name)), f"{word}: {row}"
            checked += 1
    assert checked > 30


def test_manual_of_mbufs():
    """Each function of the header is in the synopsis and explained."""
    header = (TOP / "include/netepoch/mbuf.h").read_text()
    names = re.findall(r"^(?:[a-z][\w* \t]*[* \t])?(m_\w+)\(", header, re.M)
    names += re.findall(r"^#define\t(\w+)\(", header, re.M)
    synopsis, text = (TOP / "man/mbuf.9").read_text().split(
        ".Sh DESCRIPTION")
    for name in names:
        assert f".Fn {name} " in synopsis, name
        assert re.search(rf"^\.Fn {name}\b", text, re.M), name
    assert len(names) >= 19
