#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
#
# libepoch as another project sees it: install it alone into a directory,
# compile the examples and the page for beginners with nothing but pkg-config,
# run them against both libraries; compile the header alone as C and C++; use
# it from C++ and from Python; look at the symbols.
# Usage: install_test.sh build-directory source-directory
set -eu
build=$1
source=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for tool in pkg-config make meson ninja; do
	if ! command -v "$tool" >/dev/null; then
		echo "skipped: $tool is not installed"
		exit 77
	fi
done

# The router's build installs it, and so does a build of the library alone.
meson install -C "$build" --no-rebuild --destdir "$tmp/all" \
    --tags devel,runtime >/dev/null
meson setup -Depoch_only=true -Dtests=disabled "$tmp/build" "$source" \
    >/dev/null
meson install -C "$tmp/build" --destdir "$tmp/root" >/dev/null
for file in $(cd "$tmp/root" && find . -name '*epoch*' ! -path '*/man/*' \
    ! -type d); do
	if [ ! -e "$tmp/all/$file" ]; then
		echo "$file is installed by the library's build only"
		exit 1
	fi
done
if find "$tmp/root" -type f | grep -v -E \
    '/(epoch\.h|epoch\.9|(lib)?epoch(_debug)?\.(pc|a|so[.0-9]*))$'; then
	echo 'is installed besides the library'
	exit 1
fi
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

# Linked with the archive, and nothing shared at all.
${CC:-cc} -O2 -static $(pkg-config --cflags epoch) -o "$tmp/static" \
    "$source/examples/epoch/words.c" "$lib/libepoch.a" -pthread
"$tmp/static"

# The page for beginners: its program, and its example of a mistake.
awk '/^```c$/ { c = 1; next } /^```/ { c = 0 } c' \
    "$source/docs/libepoch.md" >"$tmp/first.c"
awk '/^```$/ { c = !c; next } /^```c/ { getline; while ($0 != "```") getline;
    next } c' "$source/docs/libepoch.md" >"$tmp/first.ok"
for name in epoch epoch_debug; do
	${CC:-cc} -O2 -Wall -Wextra -Werror "$tmp/first.c" -pthread \
	    $(pkg-config --cflags --libs $name) -o "$tmp/first"
	"$tmp/first" | diff "$tmp/first.ok" -
done
sed 's/epoch_exit(e);.*/&\n&/' "$tmp/first.c" >"$tmp/wrong.c"
(cd "$tmp" && ${CC:-cc} -g wrong.c -pthread \
    $(pkg-config --cflags --libs epoch_debug) -o wrong)
said=$(sed -n 's/^    epoch: \(.*\) at first.c.*/\1/p' \
    "$source/docs/libepoch.md")
if (ulimit -c 0; "$tmp/wrong") 2>"$tmp/wrong.err" || [ -z "$said" ] ||
    ! grep -q -F "$said at wrong.c:48" "$tmp/wrong.err"; then
	cat "$tmp/wrong.err"
	echo 'is not what docs/libepoch.md says'
	exit 1
fi

# The header alone, in each language and dialect, warnings as errors.
echo '#include <netepoch/epoch.h>' >"$tmp/h.c"
cp "$tmp/h.c" "$tmp/h.cc"
for name in epoch epoch_debug; do
	flags=$(pkg-config --cflags "$name")
	for std in c11 c17; do
		${CC:-cc} -std=$std -pedantic -Wall -Wextra -Wshadow -Werror \
		    -Wundef $flags -fsyntax-only "$tmp/h.c"
		${CC:-cc} -std=$std -pedantic -Wall -Wextra -Werror \
		    -DEPOCH_EXTERN $flags -fsyntax-only "$tmp/h.c"
	done
	if command -v c++ >/dev/null; then
		for std in c++11 c++17; do
			c++ -std=$std -Wall -Wextra -Wpedantic -Wshadow \
			    -Werror $flags -fsyntax-only "$tmp/h.cc"
			c++ -std=$std -Wall -Wextra -Wpedantic -Werror \
			    -DEPOCH_EXTERN $flags -fsyntax-only "$tmp/h.cc"
		done
	fi
done

# From C++, inline and by symbol, and from Python.
cat >"$tmp/use.cc" <<'END'
#include <memory>
#include <thread>

#include <netepoch/epoch.h>

struct object {
	epoch_context ctx {};
	std::shared_ptr<int> held = std::make_shared<int>(7);
};

int
main()
{
	std::weak_ptr<int> weak;
	epoch_t e = epoch_alloc("c++", 0);
	object *o = new object;
	bool early;

	weak = o->held;
	epoch_enter(e);
	std::thread([&] {
		epoch_call(e, [](epoch_context_t ctx) {
			delete reinterpret_cast<object *>(ctx);
		}, &o->ctx);
	}).join();
	early = weak.expired() || !in_epoch(e);
	epoch_exit(e);
	epoch_drain_callbacks(e);
	epoch_free(e);
	return (early || !weak.expired());
}
END
for name in epoch epoch_debug; do
	if command -v c++ >/dev/null; then
		for how in INLINE EXTERN; do
			c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror \
			    -DEPOCH_$how "$tmp/use.cc" -pthread \
			    $(pkg-config --cflags --libs $name) -o "$tmp/use"
			"$tmp/use"
		done
	fi
	if command -v python3 >/dev/null; then
		python3 "$source/src/epoch/ffi_test.py" "$lib/lib$name.so"
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
