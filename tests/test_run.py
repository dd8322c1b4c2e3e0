# SPDX-License-Identifier: BSD-2-Clause
"""What tests/run.py shows of a test that failed."""

import run


def test_reason():
    """The lines that say why stay, however many others there are."""
    cmocka = ["[==========] Running 900 test(s)."]
    for i in range(900):
        cmocka += [f"[ RUN      ] test_{i}"]
        if i == 450:
            cmocka += ["[  ERROR   ] --- 1 != 2", "[   LINE   ] --- x.c:7: "
                       "error: Failure!", "[  FAILED  ] test_450"]
        else:
            cmocka += [f"[       OK ] test_{i}"]
    cmocka += ["[==========] 900 test(s) run.", "[  PASSED  ] 899 test(s)."]
    assert run.reason("\n".join(cmocka)) == (
        "[  ERROR   ] --- 1 != 2\n[   LINE   ] --- x.c:7: error: Failure!\n"
        "[  FAILED  ] test_450")
    assert run.reason("[1/2] Compiling a\nFAILED: b\n[2/2] Linking c\n") == \
        "FAILED: b"


def test_reason_is_short():
    """Of more than fits, the beginning and the end."""
    text = run.reason("first\n" + "x" * 100000 + "\nlast")
    assert text.startswith("first\n") and text.endswith("\nlast")
    assert len(text) < 9000
