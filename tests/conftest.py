# SPDX-License-Identifier: BSD-2-Clause
"""What all stories share: a time limit for each, and a place to run in.

A story that needs namespaces asks for `lab`.  Without root the first of them
moves the whole run into a user namespace, which cannot be undone: so they run
last.  What cannot run there, as XDP programs cannot, is skipped.
"""

import os
import signal

import pytest

import netns

LIMIT = 60                      # seconds for one story


def pytest_configure(config):
    config.addinivalue_line("markers",
                            "limit(seconds): a story's own time limit")


def isolated(item):
    return "isolation" in item.fixturenames


def pytest_collection_modifyitems(items):
    items.sort(key=isolated)


def limited(item, seconds, what):
    def late(*_):
        pytest.fail(f"{what} did not end within {seconds} s", pytrace=True)

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def limit(item):
    mark = item.get_closest_marker("limit")
    return mark.args[0] if mark else LIMIT


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    yield from limited(item, limit(item), "set-up")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    yield from limited(item, limit(item), "the story")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    yield from limited(item, LIMIT, "cleaning up")


@pytest.fixture(scope="session")
def isolation():
    """A place where namespaces can be made, or a skip."""
    why = netns.can_isolate()
    if why is not None:
        pytest.skip(why)
    if os.geteuid() != 0:
        netns.enter_userns()


def need(driver):
    """Skip a story whose driver cannot be had here."""
    if driver == "xdp" and not netns.privileged():
        pytest.skip("XDP programs cannot be loaded in a user namespace")
    if driver == "tap" and not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("/dev/net/tun cannot be opened")


@pytest.fixture
def lab(isolation):
    with netns.Lab() as made:
        yield made


@pytest.fixture(scope="module")
def module_lab(isolation):
    with netns.Lab() as made:
        yield made
