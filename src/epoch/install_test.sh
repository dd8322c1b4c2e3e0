#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
#
# libepoch as another project sees it: install the build into a directory,
# compile the example with nothing but pkg-config, run it against both
# libraries; compile the header alone as C and C++; look at the symbols.
# Usage: install_test.sh build-directory source-directory
set -eu
build=$1
source=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for tool in pkg-config make; do
	if ! command -v "$tool" >/dev/null; then
		echo "skipped: $tool is not installed"
		exit 77
	fi
done

meson install -C "$build" --no-rebuild --destdir "$tmp/root" \
    --tags devel,runtime >/dev/null
pc=$(dirname "$(find "$tmp/root" -name epoch.pc)")
lib=$(dirname "$pc")
export PKG_CONFIG_LIBDIR="$pc" PKG_CONFIG_SYSROOT_DIR="$tmp/root"
export LD_LIBRARY_PATH="$lib"

cp -r "$source/examples/epoch" "$tmp/example"
for name in epoch epoch_debug; do
	make -s -C "$tmp/example" clean all EPOCH="$name"
	"$tmp/example/words"
	(cd "$tmp/example" && ./host)
done

# The header alone, in each language and dialect, warnings as errors.
echo '#include <netepoch/epoch.h>' >"$tmp/h.c"
cp "$tmp/h.c" "$tmp/h.cc"
for name in epoch epoch_debug; do
	flags=$(pkg-config --cflags "$name")
	for std in c11 c17; do
		${CC:-cc} -std=$std -pedantic -Wall -Wextra -Wshadow -Werror \
		    -Wundef $flags -fsyntax-only "$tmp/h.c"
	done
	if command -v c++ >/dev/null; then
		for std in c++11 c++17; do
			c++ -std=$std -Wall -Wextra -Wshadow -Werror $flags \
			    -fsyntax-only "$tmp/h.cc"
		done
	fi
done

# Every exported symbol has a version, and is one of ours.
for name in epoch epoch_debug; do
	odd=$(nm -D --defined-only --with-symbol-versions "$lib/lib$name.so" |
	    grep -v -E '(in_epoch|epoch_|EPOCH_)[a-zA-Z_0-9.]*(@@EPOCH|$)' |
	    grep -v net_epoch_preempt@@EPOCH || true)
	if [ -n "$odd" ]; then
		echo "lib$name.so exports: $odd"
		exit 1
	fi
done
echo ok
