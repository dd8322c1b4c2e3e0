/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The netepoch binary: a tool by the name it is called as (a link named
 * ifconfig), else by its first word.
 */

#include <locale.h>
#include <string.h>

#include "sys/stdfd.h"
#include "tools/tool.h"

int
main(int argc, char **argv)
{
	const char *base, *machine = NULL;
	char help[] = "help", *words[] = { help, NULL };

	if (argc < 1 || stdfd_open(false) != 0)
		return (EX_USAGE);
	(void)setlocale(LC_CTYPE, "");
	base = strrchr(argv[0], '/');
	base = base != NULL ? base + 1 : argv[0];
	if (strcmp(base, "netepoch") != 0 && tool_find(base) != NULL)
		return (tool_run_to(NULL, NULL, stdout, stderr, argc, argv));
	argc--;
	argv++;
	while (argc > 0 && strncmp(argv[0], "-M", 2) == 0) {
		machine = argv[0][2] != '\0' ? argv[0] + 2 : argv[1];
		if (machine == NULL) {
			(void)fprintf(stderr, "netepoch: option requires an "
			    "argument -- M\n");
			return (EX_USAGE);
		}
		argc -= argv[0][2] != '\0' ? 1 : 2;
		argv += argv[0][2] != '\0' ? 1 : 2;
	}
	if (argc == 0) {
		(void)tool_run_to(NULL, machine, stderr, stderr, 1, words);
		return (EX_USAGE);
	}
	if (strcmp(argv[0], "-h") == 0 || strcmp(argv[0], "--help") == 0)
		argv[0] = help;
	return (tool_run_to(NULL, machine, stdout, stderr, argc, argv));
}
