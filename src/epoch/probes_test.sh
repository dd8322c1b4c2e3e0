#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
#
# The static probes are in the notes of the libraries and of a program, and
# each is one no-op and no counter to look at, so that it costs nothing while
# it is off.
# Usage: probes_test.sh source-directory libepoch.so libepoch_debug.so
set -eu
source=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for tool in readelf objdump; do
	if ! command -v "$tool" >/dev/null; then
		echo "skipped: $tool is not installed"
		exit 77
	fi
done
if ! echo '#include <sys/sdt.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
	echo 'skipped: sys/sdt.h is not installed'
	exit 77
fi

# probes file name...: has these, each a no-op
probes()
{
	file=$1
	shift
	readelf -n "$file" >"$tmp/notes"
	grep -A 1 'Provider: epoch' "$tmp/notes" |
	    sed -n 's/^ *Name: //p' >"$tmp/have"
	for name in "$@"; do
		if ! grep -q -x "$name" "$tmp/have"; then
			echo "$file has no probe $name"
			exit 1
		fi
	done
	if grep 'Semaphore: ' "$tmp/notes" | grep -v 'Semaphore: 0x0*$'; then
		echo "$file has a probe with a counter"
		exit 1
	fi
	for at in $(sed -n 's/.*Location: \(0x[0-9a-f]*\),.*/\1/p' \
	    "$tmp/notes"); do
		if ! objdump -d --start-address="$at" \
		    --stop-address="$((at + 1))" "$file" |
		    grep -q -w -E 'nop|xchg +%ax,%ax'; then
			echo "$file at $at is no no-op"
			exit 1
		fi
	done
	echo "$file: $(wc -l <"$tmp/have") places"
}

all='enter exit call wait__start wait__end callback'
probes "$2" $all
probes "$3" $all
${CC:-cc} -O2 -DEPOCH_PROBES -I"$source/include" -pthread \
    -o "$tmp/words" "$source/examples/epoch/words.c" "$2"
probes "$tmp/words" enter exit call
