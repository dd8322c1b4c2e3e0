#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""libepoch's shared library used from another language, by its symbols.

    ffi_test.py libepoch.so
"""

import ctypes
import os
import sys
import threading

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
EPOCH_POLLED = 0x08

lib = ctypes.CDLL(sys.argv[1])
lib.epoch_alloc.restype = ctypes.c_void_p
lib.epoch_alloc.argtypes = [ctypes.c_char_p, ctypes.c_uint]
lib.epoch_name.restype = ctypes.c_char_p
lib.epoch_poll.restype = ctypes.c_size_t
lib.epoch_call.argtypes = [ctypes.c_void_p, CALLBACK, ctypes.c_void_p]
for name in ("epoch_enter", "epoch_exit", "in_epoch", "epoch_wait",
             "epoch_poll", "epoch_name", "epoch_drain_callbacks",
             "epoch_free"):
    getattr(lib, name).argtypes = [ctypes.c_void_p]

ran = []
callback = CALLBACK(ran.append)
epoch = lib.epoch_alloc(b"python", EPOCH_POLLED)
assert epoch and lib.epoch_name(epoch) == b"python"

# A context is two words, and lies in the object.
objects = [ctypes.create_string_buffer(64) for _ in range(100)]
lib.epoch_enter(epoch)
assert lib.in_epoch(epoch) == 1
for o in objects:
    lib.epoch_call(epoch, callback, ctypes.addressof(o))
assert lib.epoch_poll(epoch) == 0 and not ran

# Another thread waits until this one leaves.
waited = threading.Event()


def wait():
    lib.epoch_wait(epoch)
    waited.set()


thread = threading.Thread(target=wait)
thread.start()
assert not waited.wait(0.05)
lib.epoch_exit(epoch)
assert lib.in_epoch(epoch) == 0
thread.join()
assert waited.is_set()

lib.epoch_drain_callbacks(epoch)
assert sorted(ran) == sorted(ctypes.addressof(o) for o in objects)
lib.epoch_free(epoch)

# With polled epochs only, the library starts no thread.
assert len(os.listdir("/proc/self/task")) == 1
