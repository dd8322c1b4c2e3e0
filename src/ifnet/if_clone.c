/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Interface specs, "xdp:veth2,mode=generic": parsed in place, no state.
 */
#include "ifnet/if_clone.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int
spec_fail(char *err, size_t errlen, const char *what, const char *text)
{

	snprintf(err, errlen, "%s in '%s': expected "
	    "DRIVER[:DEVICE][,option[=value]]...", what, text);
	return (EINVAL);
}

int
if_spec_parse(const char *text, struct if_spec *sp, char *err, size_t errlen)
{
	char *p, *next, *eq;

	memset(sp, 0, sizeof(*sp));
	sp->sp_device = "";
	if (strlen(text) >= sizeof(sp->sp_text))
		return (spec_fail(err, errlen, "too long", text));
	for (const char *c = text; *c != '\0'; c++)
		if (!isgraph((unsigned char)*c))
			return (spec_fail(err, errlen,
			    "a blank or control character", text));
	strcpy(sp->sp_text, text);

	next = strchr(sp->sp_text, ',');
	if (next != NULL)
		*next++ = '\0';
	sp->sp_driver = sp->sp_text;
	p = strchr(sp->sp_text, ':');
	if (p != NULL) {
		*p++ = '\0';
		if (*p == '\0')
			return (spec_fail(err, errlen, "no device", text));
		sp->sp_device = p;
	}
	if (sp->sp_driver[0] == '\0')
		return (spec_fail(err, errlen, "no driver", text));
	while (next != NULL) {
		p = next;
		next = strchr(p, ',');
		if (next != NULL)
			*next++ = '\0';
		if (*p == '\0' || *p == '=')
			return (spec_fail(err, errlen, "an empty option",
			    text));
		if (sp->sp_nopt == IF_SPEC_OPTIONS)
			return (spec_fail(err, errlen, "too many options",
			    text));
		eq = strchr(p, '=');
		if (eq != NULL)
			*eq++ = '\0';
		sp->sp_opt[sp->sp_nopt].op_name = p;
		sp->sp_opt[sp->sp_nopt].op_value = eq != NULL ? eq : "";
		sp->sp_nopt++;
	}
	return (0);
}

const char *
if_spec_option(struct if_spec *sp, const char *name)
{

	for (int i = 0; i < sp->sp_nopt; i++)
		if (strcmp(sp->sp_opt[i].op_name, name) == 0) {
			sp->sp_opt[i].op_used = true;
			return (sp->sp_opt[i].op_value);
		}
	return (NULL);
}

int
if_spec_unused(const struct if_spec *sp, char *err, size_t errlen)
{

	for (int i = 0; i < sp->sp_nopt; i++)
		if (!sp->sp_opt[i].op_used) {
			snprintf(err, errlen, "driver %s has no option '%s'",
			    sp->sp_driver, sp->sp_opt[i].op_name);
			return (EINVAL);
		}
	return (0);
}
