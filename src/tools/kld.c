/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * kldstat, kldload, kldunload: the drivers and protocols that a machine has.
 * A module has no address of its own in a process, so that column has "-".
 */

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "tools/cmds.h"
#include "tools/out.h"
#include "tools/tool.h"

#define	KLD_NAME	64		/* bytes of a module's name */

/* A name as typed, without directory and ".ko". */
static void
kld_name(const char *arg, char name[KLD_NAME])
{
	const char *base;
	size_t len;

	base = strrchr(arg, '/');
	base = base != NULL ? base + 1 : arg;
	(void)snprintf(name, KLD_NAME, "%s", base);
	len = strlen(name);
	if (len > 3 && strcmp(name + len - 3, ".ko") == 0)
		name[len - 3] = '\0';
}

static const json_t *
kld_find(const json_t *mods, const char *arg, int64_t id)
{
	char want[KLD_NAME], have[KLD_NAME];
	const json_t *mod;
	size_t i;

	if (arg != NULL)
		kld_name(arg, want);
	json_array_foreach(mods, i, mod) {
		kld_name(js_str(mod, "name"), have);
		if (arg != NULL ? strcmp(want, have) == 0 :
		    js_int(mod, "id") == id)
			return (mod);
	}
	return (NULL);
}

struct kldstat {
	bool		 ks_human;
	bool		 ks_quiet;
	bool		 ks_verbose;
	const char	*ks_file;	/* -n */
	const char	*ks_mod;	/* -m */
	int64_t		 ks_id;		/* -i, -1: any */
};

static void
kldstat_row(struct tool_ctx *tc, const struct kldstat *ks, const json_t *mod)
{
	intmax_t bytes = (intmax_t)js_int(mod, "size");
	char name[KLD_NAME], size[24];
	struct out *o = tc->tc_o;
	bool kernel;

	kld_name(js_str(mod, "name"), name);
	kernel = strcmp(name, "kernel") == 0;
	if (ks->ks_human)
		out_human(size, sizeof(size), (uint64_t)bytes);
	else
		(void)snprintf(size, sizeof(size), "%jx", (uintmax_t)bytes);
	out_instance(o);
	out_int(o, "id", js_int(mod, "id"), "%2jd ",
	    (intmax_t)js_int(mod, "id"));
	out_int(o, "refs", js_int(mod, "refs"), "%4jd ",
	    (intmax_t)js_int(mod, "refs"));
	/* What is part of the daemon has no size of its own. */
	if (bytes != 0)
		out_int(o, "size", bytes, "%-18s %8s ", "-", size);
	else
		out_text(o, "%-18s %8s ", "-", "-");
	out_str(o, "name", name, "%s%s\n", name, kernel ? "" : ".ko");
	if (ks->ks_verbose)
		out_text(o, "\tContains modules:\n\t\t Id Name\n"
		    "\t\t%3jd %s\n", (intmax_t)js_int(mod, "id"), name);
	out_close(o);
}

static int
kldstat_one(struct tool_ctx *tc, const struct kldstat *ks, const json_t *mods)
{
	const char *name = ks->ks_mod != NULL ? ks->ks_mod : ks->ks_file;
	const json_t *mod;

	mod = kld_find(mods, name, ks->ks_id);
	if (mod == NULL && ks->ks_quiet)
		return (1);
	if (mod == NULL && name == NULL)
		return (tool_fail(tc, 1, "can't find file with id %jd",
		    (intmax_t)ks->ks_id));
	if (mod == NULL)
		return (tool_fail(tc, 1, "can't find %s %s: No such file or "
		    "directory", ks->ks_mod != NULL ? "module" : "file", name));
	if (ks->ks_quiet)
		return (0);
	if (ks->ks_mod == NULL) {
		out_text(tc->tc_o, "Id Refs Address                Size "
		    "    Name\n");
		kldstat_row(tc, ks, mod);
		return (0);
	}
	out_text(tc->tc_o, "Id  Refs Name\n");
	out_instance(tc->tc_o);
	out_int(tc->tc_o, "id", js_int(mod, "id"), "%3jd ",
	    (intmax_t)js_int(mod, "id"));
	out_int(tc->tc_o, "refs", js_int(mod, "refs"), "%4jd ",
	    (intmax_t)js_int(mod, "refs"));
	out_str(tc->tc_o, "name", js_str(mod, "name"), "%s\n",
	    js_str(mod, "name"));
	out_close(tc->tc_o);
	return (0);
}

static int
kldstat_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct kldstat ks = { .ks_id = -1 };
	const json_t *mods, *mod;
	json_t *res;
	long long id;
	int c, status;
	size_t i;

	while ((c = getopt(argc, argv, "+:dhi:m:n:qv")) != -1) {
		switch (c) {
		case 'd':
			break;		/* no module-specific data here */
		case 'h':
			ks.ks_human = true;
			break;
		case 'i':
			if (!tool_number(optarg, 0, INT32_MAX, &id))
				return (tool_fail(tc, EX_USAGE,
				    "-i %s: expected a number", optarg));
			ks.ks_id = id;
			break;
		case 'm':
			ks.ks_mod = optarg;
			break;
		case 'n':
			ks.ks_file = optarg;
			break;
		case 'q':
			ks.ks_quiet = true;
			break;
		case 'v':
			ks.ks_verbose = true;
			break;
		default:
			return (tool_badopt(tc, c));
		}
	}
	if (optind != argc)
		return (tool_usage(tc));
	if ((status = tool_do(tc, "kld.list", NULL, &res)) != 0)
		return (status);
	mods = js_get(res, "modules");
	out_open(tc->tc_o, "kldstat");
	out_list(tc->tc_o, "file");
	if (ks.ks_mod != NULL || ks.ks_file != NULL || ks.ks_id != -1)
		status = kldstat_one(tc, &ks, mods);
	else {
		out_text(tc->tc_o, "Id Refs Address                Size "
		    "    Name\n");
		json_array_foreach(mods, i, mod)
			kldstat_row(tc, &ks, mod);
	}
	out_close(tc->tc_o);
	out_close(tc->tc_o);
	json_decref(res);
	return (status);
}

static int
kldload_main(struct tool_ctx *tc, int argc, char **argv)
{
	bool ifnot = false, quiet = false, verbose = false;
	struct ctl_error ce;
	char name[KLD_NAME];
	json_t *res;
	int c, i, status = 0;

	while ((c = getopt(argc, argv, "+:nqv")) != -1) {
		switch (c) {
		case 'n':
			ifnot = true;
			break;
		case 'q':
			quiet = true;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return (tool_badopt(tc, c));
		}
	}
	if (optind == argc)
		return (tool_usage(tc));
	for (i = optind; i < argc; i++) {
		kld_name(argv[i], name);
		if (tool_call(tc, "kld.load", json_pack("{s:s}", "name", name),
		    &res, &ce) == 0) {
			if (verbose && !quiet)
				(void)fprintf(tc->tc_out, "Loaded %s, id=%jd\n",
				    argv[i], (intmax_t)js_int(res, "id"));
			json_decref(res);
			continue;
		}
		if (ce.ce_errno == EEXIST && ifnot)
			continue;
		if (ce.ce_errno == EEXIST)
			status = tool_fail(tc, 1, "can't load %s: module "
			    "already loaded or in kernel", argv[i]);
		else if (ce.ce_errno == ENOENT)
			status = tool_fail(tc, 1, "can't load %s: No such "
			    "file or directory", argv[i]);
		else
			status = tool_callfail(tc, &ce);
	}
	return (status);
}

/* Unload by name or id; the id is looked up for the name the call wants. */
static int
kldunload_one(struct tool_ctx *tc, const char *arg, int64_t id, bool verbose)
{
	struct ctl_error ce;
	char name[KLD_NAME];
	const json_t *mod;
	json_t *res;
	int status;

	if ((status = tool_do(tc, "kld.list", NULL, &res)) != 0)
		return (status);
	if ((mod = kld_find(js_get(res, "modules"), arg, id)) == NULL) {
		json_decref(res);
		if (arg == NULL)
			return (tool_fail(tc, 1, "can't find file with id %jd",
			    (intmax_t)id));
		return (tool_fail(tc, 1, "can't find file %s", arg));
	}
	(void)snprintf(name, sizeof(name), "%s", js_str(mod, "name"));
	id = js_int(mod, "id");
	json_decref(res);
	if (tool_call(tc, "kld.unload", json_pack("{s:s}", "name", name), &res,
	    &ce) == 0) {
		json_decref(res);
		if (verbose)
			(void)fprintf(tc->tc_out, "Unloading %s, id=%jd\n",
			    name, (intmax_t)id);
		return (0);
	}
	if (ce.ce_errno == EBUSY)
		return (tool_fail(tc, 1, "can't unload file: Device busy"));
	return (tool_callfail(tc, &ce));
}

static int
kldunload_main(struct tool_ctx *tc, int argc, char **argv)
{
	bool byid = false, verbose = false;
	int c, i, one, status = 0;
	long long id = -1;

	while ((c = getopt(argc, argv, "+:finv")) != -1) {
		switch (c) {
		case 'f':
			break;		/* nothing refuses but for use */
		case 'i':
			byid = true;
			break;
		case 'n':
			byid = false;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return (tool_badopt(tc, c));
		}
	}
	if (optind == argc)
		return (tool_usage(tc));
	/* All of them first: a line that is wrong changes nothing. */
	for (i = optind; byid && i < argc; i++)
		if (!tool_number(argv[i], 1, INT32_MAX, &id))
			return (tool_fail(tc, EX_USAGE,
			    "%s: expected an id", argv[i]));
	for (i = optind; i < argc; i++) {
		if (byid)
			(void)tool_number(argv[i], 1, INT32_MAX, &id);
		one = kldunload_one(tc, byid ? NULL : argv[i], id, verbose);
		if (one != 0)
			status = one;
	}
	return (status);
}

const struct tool tool_kldstat = {
	.tl_name = "kldstat",
	.tl_synopsis = "[-hqv] [-i id] [-n file]\n[-q] [-m module]",
	.tl_manual = "netepoch-kldstat(8)",
	.tl_descr = "show the modules of a machine",
	.tl_fn = kldstat_main,
};

const struct tool tool_kldload = {
	.tl_name = "kldload",
	.tl_synopsis = "[-nqv] file ...",
	.tl_manual = "netepoch-kldstat(8)",
	.tl_descr = "load modules",
	.tl_fn = kldload_main,
};

const struct tool tool_kldunload = {
	.tl_name = "kldunload",
	.tl_synopsis = "[-fv] [-n] name ...\n[-fv] -i id ...",
	.tl_manual = "netepoch-kldstat(8)",
	.tl_descr = "unload modules",
	.tl_fn = kldunload_main,
};
