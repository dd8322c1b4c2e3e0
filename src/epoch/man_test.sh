#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
#
# epoch(9) against the library: every function that the library exports for
# programs is in the synopsis and in an example, and the examples compile
# with both libraries, and run.
# Usage: man_test.sh source-directory libepoch.a libepoch_debug.a
set -eu
source=$1
release=$2
debug=$3
page=$source/man/epoch.9
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$page" >"$tmp/synopsis"
sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE ALSO/p' "$page" |
    sed -n '/^\.Bd/,/^\.Ed/p' | sed '/^\.[BE]d/d; s/\\e/\\/g' >"$tmp/examples"

# What the header calls by itself is not for programs.
sed -n 's/^	\(.*\);$/\1/p' "$source/src/epoch/epoch.map" |
    grep -v -x -e epoch_enter_first -e epoch_call_slow -e epoch_call_stop \
    -e epoch_panic -e epoch_self >"$tmp/names"
grep -o -E '^#define	(NET_)?EPOCH_[A-Z_]+\(' \
    "$source/include/netepoch/epoch.h" | sed 's/^#define	//; s/($//' |
    grep -v EPOCH_PROBE1 >>"$tmp/names"
[ "$(wc -l <"$tmp/names")" -gt 30 ] || bad=1
while read -r name; do
	for part in synopsis examples; do
		if ! grep -q -w "$name" "$tmp/$part"; then
			echo "$name is not in the $part"
			bad=1
		fi
	done
done <"$tmp/names"

{
	for h in errno.h pthread.h stdbool.h stddef.h stdint.h stdio.h \
	    stdlib.h syslog.h netepoch/epoch.h; do
		echo "#include <$h>"
	done
	cat "$tmp/examples"
	cat <<-'END'
	static struct item *
	two(void)
	{
		static int n;

		return (n++ < 2 ? calloc(1, sizeof(struct item)) : NULL);
	}

	int
	main(void)
	{
		epoch_t e = epoch_alloc("examples", EPOCH_POLLED);
		epoch_t p = epoch_alloc("trackers", EPOCH_PREEMPT);
		struct item *i, *j;
		bool cancel = false;
		int bad = 0;

		log_init();
		watch(e, &cancel);
		items = calloc(1, sizeof(*items));
		bad += !item_known(0) || item_known(1);
		item_print(items);
		item_remove_first();
		bad += item_known(0);
		bad += limit_init() != 0 || limit_get() != 100;
		bad += limit_set(7) != 0 || limit_get() != 7;
		limit_fini();
		i = calloc(1, sizeof(*i));
		j = calloc(1, sizeof(*j));
		item_replace(p, &i, j);
		free(i);
		serve(e, two);
		epoch_enter(e);
		bad += item_count(e) != 0;
		epoch_exit(e);
		report(e);
		module_fini();
		epoch_free(e);
		epoch_free(p);
		return (bad);
	}
	END
} >"$tmp/examples.c"
compile="${CC:-cc} -Wall -Wextra -Werror -I$source/include -pthread"
$compile -o "$tmp/release" "$tmp/examples.c" "$release"
$compile -DINVARIANTS -o "$tmp/debug" "$tmp/examples.c" "$debug"
"$tmp/release" && "$tmp/debug" || bad=1
exit $bad
