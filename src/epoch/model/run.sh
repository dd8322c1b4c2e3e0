#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
#
# Check the model: the real algorithm must hold, each broken one must fail.
# Usage: run.sh [directory of epoch.pml].  Exit 77 (skipped) without spin.
set -u
dir=$(cd "${1:-$(dirname "$0")}" && pwd)
for tool in spin gcc; do
	if ! command -v "$tool" >/dev/null; then
		echo "skipped: $tool is not installed"
		exit 77
	fi
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
cd "$tmp" || exit 1
bad=0

# check holds|fails FLAGS: build the checker for these and run it
check()
{
	want=$1
	shift
	if ! spin -a "$@" "$dir/epoch.pml" >spin.out 2>&1 ||
	    ! gcc -O1 -w -DSAFETY -DCOLLAPSE -DMEMLIM=2048 -o pan pan.c \
	    >>spin.out 2>&1; then
		cat spin.out
		bad=1
		return
	fi
	# A broken one may also hang; what is wanted of it is the assertion.
	ignore=
	[ "$want" = holds ] || ignore=-E
	./pan -m200000 $ignore >pan.out 2>&1
	if grep -q 'errors: 0' pan.out && ! grep -q 'max search depth' pan.out
	then
		have=holds
	elif grep -q 'assertion violated' pan.out; then
		have=fails
	else
		have='is not decided'
	fi
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out)
	verdict=ok
	if [ "$have" != "$want" ]; then
		verdict=WRONG
		bad=1
	fi
	printf '%-55s %-6s %10s states  %s\n' "$(echo "$@" | sed 's/-D//g')" \
	    "$have" "$states" "$verdict"
}

echo 'fenced, a waiting writer, unless named otherwise:'
check holds -DFENCE
check holds -DMEMBARRIER
check holds -DCALL
check holds -DMEMBARRIER -DCALL

check fails -DNO_READER_FENCE
check fails -DNO_READER_FENCE -DCALL
check fails -DMEMBARRIER -DNO_MEMBARRIER
check fails -DMEMBARRIER -DCALL -DNO_MEMBARRIER
check fails -DNO_WRITER_BARRIER
check fails -DMEMBARRIER -DNO_WRITER_BARRIER
check fails -DNO_EXIT_RELEASE
check fails -DMEMBARRIER -DNO_EXIT_RELEASE
check fails -DNO_SCAN_ACQUIRE
check fails -DCALL -DNO_SCAN_ACQUIRE
check fails -DMEMBARRIER -DNO_VALUE_ACQUIRE
check fails -DCALL -DNO_TAIL_RELEASE
check fails -DMEMBARRIER -DCALL -DNO_TAIL_RELEASE
check fails -DCALL -DMARK_AFTER_BUMP
check fails -DNO_NESTING
check fails -DMEMBARRIER -DNO_NESTING
check fails -DEARLY_NESTED
exit $bad
