#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
#
# libnetgraph as another project sees it: install the build into a directory,
# compile the example with nothing but pkg-config, shared and static, and run
# it where there is no machine and where there is one; compile each header
# alone as C and C++; look at the symbols.
# Usage: install_test.sh build-directory source-directory
set -eu
build=$1
source=$2
tmp=$(mktemp -d)
daemon=
trap 'test -z "$daemon" || kill "$daemon"; rm -rf "$tmp"' EXIT
for tool in pkg-config make; do
	if ! command -v "$tool" >/dev/null; then
		echo "skipped: $tool is not installed"
		exit 77
	fi
done

meson install -C "$build" --no-rebuild --destdir "$tmp/root" \
    --tags devel,runtime >/dev/null
pc=$(dirname "$(find "$tmp/root" -name netgraph.pc)")
lib=$(dirname "$pc")
export PKG_CONFIG_LIBDIR="$pc" PKG_CONFIG_SYSROOT_DIR="$tmp/root"
export LD_LIBRARY_PATH="$lib"

cp -r "$source/examples/netgraph" "$tmp/example"
make -s -C "$tmp/example" hello
mkdir "$tmp/run"
export NETEPOCH_RUNDIR="$tmp/run"
unset NETEPOCH_MACHINE
if "$tmp/example/hello" 2>"$tmp/err"; then
	echo "hello found a machine where there is none"
	exit 1
fi
grep -q 'no node: Address family not supported' "$tmp/err"

# Link statically what is ours, and run both against a machine.
${CC:-cc} -o "$tmp/static" "$tmp/example/hello.c" \
    $(pkg-config --cflags netgraph) "$lib/libnetgraph.a"
"$build/src/netepochd/netepochd" -M hello >"$tmp/daemon" 2>&1 &
daemon=$!
tries=0
until test -S "$tmp/run/hello/netgraph"; do
	tries=$((tries + 1))
	if test $tries = 100; then
		cat "$tmp/daemon"
		echo "no machine came up"
		exit 1
	fi
	sleep 0.1
done
for program in "$tmp/example/hello" "$tmp/static"; do
	"$program" >"$tmp/out"
	grep -q '^6 bytes on hook b: hello$' "$tmp/out"
	grep -q 'hello, a socket with 2 hooks$' "$tmp/out"
done

# Each header alone, in each language and dialect, warnings as errors.
# What is for authors of node types (ng_parse.h) is not for every program.
flags=$(pkg-config --cflags netgraph)
include=$(dirname "$(find "$tmp/root" -path '*/include/netgraph.h')")
headers=$(cd "$include" && ls netgraph.h netgraph/ng_*.h netgraph/netflow/*.h)
for header in $headers; do
	test "$header" != netgraph/ng_parse.h || continue
	echo "#include <$header>" >"$tmp/h.c"
	for std in c11 c17 gnu17; do
		${CC:-cc} -std=$std -pedantic -Wall -Wextra -Wshadow -Werror \
		    -Wundef $flags -fsyntax-only "$tmp/h.c"
	done
	if command -v c++ >/dev/null; then
		for std in c++11 c++17; do
			c++ -x c++ -std=$std -Wall -Wextra -Wshadow -Werror \
			    $flags -fsyntax-only "$tmp/h.c"
		done
	fi
done

test "$(echo "$headers" | wc -l)" -ge 25

# Only the functions are exported, and each has a version.
odd=$(nm -D --defined-only --with-symbol-versions "$lib/libnetgraph.so" |
    grep -v -E ' T Ng[A-Za-z]+@@NETGRAPH_0$| A NETGRAPH_0$' || true)
if [ -n "$odd" ]; then
	echo "libnetgraph.so exports: $odd"
	exit 1
fi
echo ok
