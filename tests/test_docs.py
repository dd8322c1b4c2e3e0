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


def explained(name, text):
    return re.search(rf"^\.(It )?Fn {name}\b", text, re.M)


@pytest.mark.parametrize("header,page,prefix,least", [
    ("netepoch/mbuf.h", "mbuf.9", "m_", 19),
    ("netgraph/netgraph.h", "netgraph.9", "ng_", 54),
])
def test_manual(header, page, prefix, least):
    """Each function and macro of the header is in the synopsis and explained,
    can be looked up by its name, and nothing else is in the synopsis."""
    header = (TOP / "include" / header).read_text()
    functions = re.findall(
        rf"^(?!typedef)(?:[a-z][\w* \t]*[* \t])?({prefix}\w+)\(", header, re.M)
    macros = re.findall(r"^#define\t(\w+)\(", header, re.M)
    synopsis, text = (TOP / "man" / page).read_text().split(
        ".Sh DESCRIPTION")
    said = re.findall(r"^\.F[no] (\w+)", synopsis, re.M)
    assert sorted(said) == sorted({*functions, *macros})
    links = (TOP / "man/meson.build").read_text()
    for name in said:
        assert explained(name, text), name
        assert name not in functions or f"'{name}'" in links, name
    assert len(said) >= least


def test_manual_of_node_types():
    """Each method and flag of a node type is explained."""
    header = (TOP / "include/netgraph/netgraph.h").read_text()
    text = (TOP / "man/netgraph.9").read_text()
    methods = re.findall(r"^\tng_\w+_t[ \t]\*(\w+);", header, re.M)
    for name in methods:
        assert re.search(rf"^\.It Fn {name} ", text, re.M), name
    for name in re.findall(r"^#define\t(NGTF_\w+)", header, re.M):
        assert re.search(rf"^\.Dv {name} :", text, re.M) or \
            f"\n.Dv {name}\n" in text, name
    assert len(methods) >= 11


def test_manual_pages():
    """Each page is installed, and named by another one."""
    pages = {p.name: p.read_text() for p in (TOP / "man").glob("*.[1-9]")}
    listed = (TOP / "man/meson.build").read_text()
    for page in pages:
        name, section = page.rsplit(".", 1)
        assert f"'{page}'" in listed, page
        assert any(f".Xr {name} {section}" in text
                   for other, text in pages.items() if other != page), page
    assert len(pages) >= 20
