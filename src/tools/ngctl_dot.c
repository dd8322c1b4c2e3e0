/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The graph in the language of graphviz.  Names are written so that no
 * character of theirs is read as part of that language.
 */

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ngctl.h"
#include "tools/tool.h"

/* A name in quotes: what has a meaning in record labels is escaped. */
static void
dot_label(FILE *f, const char *s, const char *special)
{

	for (; *s != '\0'; s++) {
		if (strchr(special, *s) != NULL)
			(void)fputc('\\', f);
		(void)fputc(*s, f);
	}
}

#define	DOT_TEXT	"\"\\"
#define	DOT_RECORD	"\"\\{}|<> "

static void
dot_node(FILE *f, const struct nodeinfo *ni)
{

	(void)fprintf(f, "\t\t\t\"%x\" [ label = \"{", ni->id);
	if (ni->name[0] == '\0')
		(void)fputs("\\<unnamed\\>", f);
	dot_label(f, ni->name, DOT_RECORD);
	(void)fputs(":|{", f);
	dot_label(f, ni->type, DOT_RECORD);
	(void)fprintf(f, "|[%x]:}}\" ];\n", ni->id);
}

static void
dot_hook(FILE *f, uint32_t id, const char *hook)
{

	(void)fprintf(f, "\"%x.", id);
	dot_label(f, hook, DOT_TEXT);
	(void)fputc('"', f);
}

/* Hooks as nodes of their own. */
static void
dot_links(FILE *f, const struct hooklist *hl)
{
	uint32_t i, id = hl->nodeinfo.id;
	const struct linkinfo *li;

	(void)fputs("\tnode [ shape = octagon, fontsize = 10 ] {\n", f);
	for (i = 0; i < hl->nodeinfo.hooks; i++) {
		(void)fputs("\t\t", f);
		dot_hook(f, id, hl->link[i].ourhook);
		(void)fputs(" [ label = \"", f);
		dot_label(f, hl->link[i].ourhook, DOT_TEXT);
		(void)fputs("\" ];\n", f);
	}
	(void)fputs("\t};\n\t{\n\t\tedge [ weight = 2.0, style = bold ];\n",
	    f);
	for (i = 0; i < hl->nodeinfo.hooks; i++) {
		(void)fprintf(f, "\t\t\"%x\" -- ", id);
		dot_hook(f, id, hl->link[i].ourhook);
		(void)fputs(";\n", f);
	}
	(void)fputs("\t};\n", f);
	for (i = 0; i < hl->nodeinfo.hooks; i++) {
		li = &hl->link[i];
		if (li->nodeinfo.id > id)
			continue;
		(void)fputc('\t', f);
		dot_hook(f, id, li->ourhook);
		(void)fputs(" -- ", f);
		dot_hook(f, li->nodeinfo.id, li->peerhook);
		(void)fputs(";\n", f);
	}
}

/* Hooks as words at the ends of edges. */
static void
dot_links_compact(FILE *f, const struct hooklist *hl)
{
	const struct linkinfo *li;
	uint32_t i;

	for (i = 0; i < hl->nodeinfo.hooks; i++) {
		li = &hl->link[i];
		if (li->nodeinfo.id > hl->nodeinfo.id)
			continue;
		(void)fprintf(f, "\t\"%x\" -> \"%x\" [ headlabel = \"",
		    li->nodeinfo.id, hl->nodeinfo.id);
		dot_label(f, li->ourhook, DOT_TEXT);
		(void)fputs("\", taillabel = \"", f);
		dot_label(f, li->peerhook, DOT_TEXT);
		(void)fputs("\" ] ;\n", f);
	}
}

static enum ngctl_result
dot_print(struct ngctl *ng, FILE *f, bool compact)
{
	const struct namelist *nl;
	const struct hooklist *hl;
	struct ng_mesg *rep, *hooks;
	char addr[NGCTL_ID];
	uint32_t i;

	if ((nl = ngctl_nodes(ng, &rep)) == NULL)
		return (ngctl_sendfail(ng));
	(void)fputs(compact ? "digraph netgraph {\n"
	    "\tedge [ dir = \"none\", fontsize = 10 ];\n" :
	    "graph netgraph {\n\tedge [ weight = 1.0 ];\n", f);
	(void)fputs("\tnode [ shape = record, fontsize = 12 ] {\n", f);
	for (i = 0; i < nl->numnames; i++)
		dot_node(f, &nl->nodeinfo[i]);
	(void)fputs("\t};\n\tsubgraph cluster_disconnected {\n"
	    "\t\tbgcolor = pink;\n", f);
	for (i = 0; i < nl->numnames; i++)
		if (nl->nodeinfo[i].hooks == 0)
			(void)fprintf(f, "\t\t\"%x\";\n", nl->nodeinfo[i].id);
	(void)fputs("\t};\n", f);
	for (i = 0; i < nl->numnames; i++) {
		if (nl->nodeinfo[i].hooks == 0)
			continue;
		(void)snprintf(addr, sizeof(addr), "[%x]:",
		    nl->nodeinfo[i].id);
		if ((hl = ngctl_hooks(ng, addr, &hooks)) == NULL) {
			if (errno == ENOENT || errno == ENXIO)
				continue;	/* it has gone */
			free(rep);
			return (ngctl_sendfail(ng));
		}
		if (hl->nodeinfo.hooks > 0 && compact)
			dot_links_compact(f, hl);
		else if (hl->nodeinfo.hooks > 0)
			dot_links(f, hl);
		free(hooks);
	}
	(void)fputs("}\n", f);
	free(rep);
	return (NGCTL_OK);
}

static enum ngctl_result
ngctl_dot_fn(struct ngctl *ng, int argc, char **argv)
{
	FILE *f = ng->ng_tc->tc_out;
	enum ngctl_result res;
	const char *name = NULL;
	bool bad, compact = false;
	int c;

	while ((c = getopt(argc, argv, "+c")) != -1) {
		if (c != 'c')
			return (NGCTL_USAGE);
		compact = true;
	}
	if (optind < argc)
		name = argv[optind++];
	if (optind != argc)
		return (NGCTL_USAGE);
	if (name != NULL && (f = fopen(name, "we")) == NULL)
		return (ngctl_fail(ng, "Could not open %s for writing: %s",
		    name, strerror(errno)));
	res = dot_print(ng, f, compact);
	if (name == NULL)
		return (res);
	bad = ferror(f) != 0;
	if (fclose(f) != 0 || bad)
		return (ngctl_fail(ng, "%s: %s", name, strerror(errno)));
	return (res);
}

const struct ngctl_cmd ngctl_dot = {
	.nc_name = "dot",
	.nc_args = "[-c] [outputfile]",
	.nc_summary = "Print the graph for graphviz to draw",
	.nc_descr = "With -c hooks are words at the ends of edges, otherwise "
	    "they are drawn as nodes.",
	.nc_alias = { "graphviz", "confdot" },
	.nc_fn = ngctl_dot_fn,
};
