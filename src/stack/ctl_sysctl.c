/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The sysctl.* commands.  The tree has its own lock; the configuration lock
 * is not needed.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ifnet/vnet.h"
#include "stack/ctl_cmds.h"
#include "stack/machine.h"
#include "sys/sysctl.h"

#define	SYSCTL_VALUELEN	1024		/* bytes of a value as text */

struct sysctl_list {
	struct sysctl_tree *sl_tree;
	json_t		*sl_oids;	/* borrowed */
};

static const char *
sysctl_type_text(enum sysctl_type type)
{

	switch (type) {
	case SYSCTL_INT:
		return ("int");
	case SYSCTL_COUNTER:
		return ("counter");
	case SYSCTL_U64:
		return ("u64");
	case SYSCTL_STRING:
		break;
	}
	return ("string");
}

static int
sysctl_list_cb(const struct sysctl_info *si, void *arg)
{
	struct sysctl_list *sl = arg;
	char value[SYSCTL_VALUELEN];

	if (sysctl_get(sl->sl_tree, si->si_name, value, sizeof(value)) != 0)
		return (0);		/* left out: it cannot be read */
	return (cmd_append(sl->sl_oids, json_pack("{ss so ss ss sb sb}",
	    "name", si->si_name,
	    "value", ctl_text(value),
	    "type", sysctl_type_text(si->si_type),
	    "descr", si->si_descr,
	    "writable", (si->si_flags & CTLFLAG_WR) != 0,
	    "tunable", (si->si_flags & CTLFLAG_TUN) != 0)));
}

int
cmd_sysctl_list(struct ctl_req *cr, void *arg)
{
	const struct machine *ma = arg;
	struct sysctl_list sl;
	const char *prefix;
	int error;

	if ((error = ctl_arg_string_opt(cr, "prefix", "", &prefix)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	sl.sl_tree = ma->ma_vnet->v_sysctl;
	sl.sl_oids = cmd_array(cr, "oids");
	if (sl.sl_oids == NULL)
		return (ENOMEM);
	if (sysctl_walk(sl.sl_tree, prefix, sysctl_list_cb, &sl) != 0)
		return (cmd_nomem(cr));
	if (prefix[0] != '\0' && json_array_size(sl.sl_oids) == 0)
		return (ctl_fail(cr, ENOENT, "prefix", "unknown oid '%s'",
		    prefix));
	return (0);
}

int
cmd_sysctl_set(struct ctl_req *cr, void *arg)
{
	char err[160] = "", new[SYSCTL_VALUELEN], old[SYSCTL_VALUELEN];
	const struct machine *ma = arg;
	struct sysctl_tree *tree = ma->ma_vnet->v_sysctl;
	const char *name, *value;
	int error;

	if ((error = ctl_arg_string(cr, "name", &name)) != 0 ||
	    (error = ctl_arg_string(cr, "value", &value)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	if (sysctl_get(tree, name, old, sizeof(old)) != 0)
		return (ctl_fail(cr, ENOENT, "name", "unknown oid '%s'",
		    name));
	error = sysctl_set(tree, name, value, err, sizeof(err));
	switch (error) {
	case 0:
		break;
	case EPERM:
		return (ctl_fail(cr, error, "name", "oid '%s' is read only",
		    name));
	default:
		return (ctl_fail(cr, error, "value", "%s", err[0] != '\0' ?
		    err : strerror(error)));
	}
	if (sysctl_get(tree, name, new, sizeof(new)) != 0)
		(void)snprintf(new, sizeof(new), "%s", value);
	if ((error = ctl_result(cr, "old", ctl_text(old))) != 0)
		return (error);
	return (ctl_result(cr, "new", ctl_text(new)));
}
