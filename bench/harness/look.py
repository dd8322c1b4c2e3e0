#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""Look at forwarded frames: look.py interface to-mac from-mac ttl count.

Runs in the sink's namespace while traffic flows.  Takes so many IPv4 frames
off the interface and checks their addresses, TTL and header checksum; exits 1
with the first wrong one.
"""

import socket
import struct
import sys
import time

SECONDS = 3


def header_sum(header):
    """The ones' complement sum of an IPv4 header; 0xffff if it is right."""
    total = sum(struct.unpack(f'!{len(header) // 2}H', header))
    total = (total & 0xffff) + (total >> 16)
    return (total & 0xffff) + (total >> 16)


def wrong(frame, link, ttl):
    """What is wrong with a frame, or None."""
    if frame[:12] != link:
        return 'Ethernet addresses'
    header = frame[14:14 + 4 * (frame[14] & 15)]
    if header[8] != ttl:
        return f'TTL {header[8]}'
    if header_sum(header) != 0xffff:
        return 'header checksum'
    if header[16:18] != bytes((198, 18)):
        return 'destination'
    return None


def main(interface, to, source, ttl, count):
    """Look at count frames."""
    link = bytes.fromhex((to + source).replace(':', ''))
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(0x0800))
    sock.bind((interface, 0x0800))
    sock.settimeout(SECONDS)
    end, seen = time.monotonic() + SECONDS, 0
    while seen < int(count) and time.monotonic() < end:
        frame = sock.recv(2048)
        fault = wrong(frame, link, int(ttl))
        if fault is not None:
            sys.exit(f'a frame with a wrong {fault}: {frame.hex()}')
        seen += 1
    print(f'looked frames={seen}')


if __name__ == '__main__':
    main(*sys.argv[1:])
