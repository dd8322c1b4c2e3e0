/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The steps from what there is of a graph to what a file says.
 *
 * New nodes come first, then edges and messages in the order of the file,
 * then what is to be absent.  All steps but the last kind can be taken back:
 * a node that is made is shut down, an edge is cut or joined again, a setting
 * is sent as it was.  What is to be absent cannot come back, so it goes when
 * everything else has succeeded, and nothing of it can fail.
 *
 * A node of most types ends when it loses its last hook and could not be
 * brought back as it was.  The hooks that each node has are followed step by
 * step, and a plan by which a node that the file names would end on the way is
 * refused.
 */

#include <stdlib.h>
#include <string.h>

#include "tools/ngplan.h"

/* ---- What there is, followed from step to step ---- */

bool
ngplan_found(struct ngplan *np, struct ngp_node *nn, const char *type)
{

	nn->nn_there = true;
	if (nn->nn_declared && strcmp(nn->nn_type, type) != 0)
		return (ngplan_fail(np, nn->nn_line, "node %s is of type %s",
		    nn->nn_name, type));
	(void)snprintf(nn->nn_type, sizeof(nn->nn_type), "%s", type);
	return (true);
}

bool
ngplan_link(struct ngplan *np, struct ngp_node *nn, const char *hook,
    const char *peer, const char *peerhook)
{
	struct ngp_link *nl;

	nl = reallocarray(nn->nn_link, nn->nn_nlinks + 1, sizeof(*nl));
	if (nl == NULL)
		return (ngplan_fail(np, 0, "out of memory"));
	nn->nn_link = nl;
	nl += nn->nn_nlinks++;
	memset(nl, 0, sizeof(*nl));
	(void)snprintf(nl->nl_hook, sizeof(nl->nl_hook), "%s", hook);
	(void)snprintf(nl->nl_peerhook, sizeof(nl->nl_peerhook), "%s",
	    peerhook);
	(void)snprintf(nl->nl_peer, sizeof(nl->nl_peer), "%s", peer);
	nl->nl_node = ngplan_find(np, peer);
	return (true);
}

static struct ngp_link *
ngplan_find_link(const struct ngp_node *nn, const char *hook)
{
	size_t i;

	for (i = 0; i < nn->nn_nlinks; i++)
		if (strcmp(nn->nn_link[i].nl_hook, hook) == 0)
			return (&nn->nn_link[i]);
	return (NULL);
}

static void
ngplan_unlink_half(struct ngp_node *nn, const char *hook)
{
	struct ngp_link *nl;

	if ((nl = ngplan_find_link(nn, hook)) != NULL)
		*nl = nn->nn_link[--nn->nn_nlinks];
}

/* Types whose nodes stay without hooks. */
static bool
ngplan_stays(const struct ngp_node *nn)
{
	static const char *const types[] = { "socket", "ether", "eiface",
	    "iface", "pipe" };
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(nn->nn_type, types[i]) == 0)
			return (true);
	return (false);
}

static bool
ngplan_ends(const struct ngp_node *nn)
{

	return (nn->nn_hooked && nn->nn_nlinks == 0 && !ngplan_stays(nn));
}

/* ---- Steps ---- */

static struct ngp_step *
ngplan_step(struct ngplan *np, enum ngp_do what, struct ngp_node *nn)
{
	struct ngp_step *ns;

	ns = reallocarray(np->np_step, np->np_nsteps + 1, sizeof(*ns));
	if (ns == NULL) {
		(void)ngplan_fail(np, 0, "out of memory");
		return (NULL);
	}
	np->np_step = ns;
	ns += np->np_nsteps++;
	memset(ns, 0, sizeof(*ns));
	ns->ns_do = what;
	ns->ns_node = nn;
	return (ns);
}

static bool
ngplan_step_edge(struct ngplan *np, enum ngp_do what, struct ngp_node *nn,
    const char *hook, const char *peer, const char *peerhook)
{
	struct ngp_step *ns;

	if ((ns = ngplan_step(np, what, nn)) == NULL)
		return (false);
	(void)snprintf(ns->ns_hook, sizeof(ns->ns_hook), "%s", hook);
	(void)snprintf(ns->ns_peer, sizeof(ns->ns_peer), "%s", peer);
	(void)snprintf(ns->ns_peerhook, sizeof(ns->ns_peerhook), "%s",
	    peerhook);
	return (true);
}

/* Cut an edge; both of its ends are free then. */
static bool
ngplan_cut(struct ngplan *np, struct ngp_node *nn, const struct ngp_link *nl,
    bool final)
{
	struct ngp_link old = *nl;

	if (!ngplan_step_edge(np, NGP_RMHOOK, nn, old.nl_hook, old.nl_peer,
	    old.nl_peerhook))
		return (false);
	np->np_step[np->np_nsteps - 1].ns_final = final;
	ngplan_unlink_half(nn, old.nl_hook);
	if (old.nl_node != NULL)
		ngplan_unlink_half(old.nl_node, old.nl_peerhook);
	return (true);
}

/* The end of an edge has to be free: cut what is there. */
static bool
ngplan_free_end(struct ngplan *np, const struct ngp_item *ni, int end)
{
	struct ngp_node *nn = ni->ni_node[end], *peer;
	const struct ngp_link *nl;

	if ((nl = ngplan_find_link(nn, ni->ni_hook[end])) == NULL)
		return (true);
	if (nl->nl_keep)
		return (ngplan_fail(np, ni->ni_line, "%s:%s has another edge "
		    "in the file", nn->nn_name, nl->nl_hook));
	if ((peer = nl->nl_node) == NULL)
		return (ngplan_fail(np, ni->ni_line, "%s:%s is joined to "
		    "%s:%s, a node that the file does not name", nn->nn_name,
		    nl->nl_hook, nl->nl_peer, nl->nl_peerhook));
	if (!ngplan_cut(np, nn, nl, false))
		return (false);
	if (ngplan_ends(peer) || ngplan_ends(nn))
		return (ngplan_fail(np, ni->ni_line, "node %s would lose its "
		    "last hook and end before it gets another",
		    ngplan_ends(peer) ? peer->nn_name : nn->nn_name));
	return (true);
}

/* A node that an edge or a message wants must be there by then. */
static bool
ngplan_usable(struct ngplan *np, int line, const struct ngp_node *nn)
{

	if (nn->nn_absent)
		return (ngplan_fail(np, line, "node %s is to be absent",
		    nn->nn_name));
	if (!nn->nn_there && !nn->nn_declared)
		return (ngplan_fail(np, line, "there is no node %s, and the "
		    "file gives it no type", nn->nn_name));
	return (true);
}

static bool
ngplan_make_edge(struct ngplan *np, const struct ngp_item *ni)
{
	struct ngp_node *a = ni->ni_node[0], *b = ni->ni_node[1];
	struct ngp_link *nl;

	if (!ngplan_usable(np, ni->ni_line, a) ||
	    !ngplan_usable(np, ni->ni_line, b))
		return (false);
	nl = ngplan_find_link(a, ni->ni_hook[0]);
	if (nl != NULL && nl->nl_node == b &&
	    strcmp(nl->nl_peerhook, ni->ni_hook[1]) == 0) {
		nl->nl_keep = true;
		nl = ngplan_find_link(b, ni->ni_hook[1]);
		if (nl != NULL)
			nl->nl_keep = true;
		return (true);
	}
	if (!ngplan_free_end(np, ni, 0) || !ngplan_free_end(np, ni, 1) ||
	    !ngplan_step_edge(np, NGP_CONNECT, a, ni->ni_hook[0], b->nn_name,
	    ni->ni_hook[1]) ||
	    !ngplan_link(np, a, ni->ni_hook[0], b->nn_name, ni->ni_hook[1]) ||
	    !ngplan_link(np, b, ni->ni_hook[1], a->nn_name, ni->ni_hook[0]))
		return (false);
	ngplan_find_link(a, ni->ni_hook[0])->nl_keep = true;
	ngplan_find_link(b, ni->ni_hook[1])->nl_keep = true;
	return (true);
}

/* A message goes to a node just made; a setting where it is another. */
static bool
ngplan_make_send(struct ngplan *np, struct ngp_item *ni)
{
	struct ngp_node *nn = ni->ni_node[0];
	struct ngp_step *ns;

	if (!ngplan_usable(np, ni->ni_line, nn))
		return (false);
	if (nn->nn_there && (ni->ni_kind == NGP_MSG || ni->ni_same))
		return (true);
	if ((ns = ngplan_step(np, NGP_SEND, nn)) == NULL)
		return (false);
	ns->ns_item = ni;
	return (true);
}

static bool
ngplan_make_nohook(struct ngplan *np, const struct ngp_item *ni)
{
	struct ngp_node *nn = ni->ni_node[0];
	const struct ngp_link *nl;

	if ((nl = ngplan_find_link(nn, ni->ni_hook[0])) == NULL)
		return (true);
	if (nl->nl_keep)
		return (ngplan_fail(np, ni->ni_line, "%s:%s is to be absent "
		    "and has an edge", nn->nn_name, nl->nl_hook));
	return (ngplan_cut(np, nn, nl, true));
}

static bool
ngplan_make_exclusive(struct ngplan *np, struct ngp_node *nn)
{
	size_t i = 0;

	if (!ngplan_usable(np, nn->nn_line, nn))
		return (false);
	while (i < nn->nn_nlinks)
		if (nn->nn_link[i].nl_keep)
			i++;
		else if (!ngplan_cut(np, nn, &nn->nn_link[i], true))
			return (false);
	return (true);
}

static bool
ngplan_make_absent(struct ngplan *np, struct ngp_node *nn)
{
	struct ngp_step *ns;
	size_t i;

	if (!nn->nn_there)
		return (true);
	if (strcmp(nn->nn_type, "ether") == 0)
		return (ngplan_fail(np, nn->nn_line, "node %s is an "
		    "interface's and cannot be absent", nn->nn_name));
	if ((ns = ngplan_step(np, NGP_RMNODE, nn)) == NULL)
		return (false);
	ns->ns_final = true;
	for (i = 0; i < nn->nn_nlinks; i++)
		if (nn->nn_link[i].nl_node != NULL &&
		    nn->nn_link[i].nl_node != nn)
			ngplan_unlink_half(nn->nn_link[i].nl_node,
			    nn->nn_link[i].nl_peerhook);
	nn->nn_nlinks = 0;
	return (true);
}

/* What goes: hooks first, so that no step finds its node gone. */
static bool
ngplan_make_gone(struct ngplan *np)
{
	struct ngp_item *ni;
	struct ngp_node *nn;

	for (ni = np->np_items; ni != NULL; ni = ni->ni_next)
		if (ni->ni_kind == NGP_NOHOOK && !ngplan_make_nohook(np, ni))
			return (false);
	for (nn = np->np_nodes; nn != NULL; nn = nn->nn_next)
		if (nn->nn_exclusive && !ngplan_make_exclusive(np, nn))
			return (false);
	for (nn = np->np_nodes; nn != NULL; nn = nn->nn_next)
		if (nn->nn_absent && !ngplan_make_absent(np, nn))
			return (false);
	return (true);
}

bool
ngplan_make(struct ngplan *np)
{
	struct ngp_item *ni;
	struct ngp_node *nn;
	bool ok = true;

	for (nn = np->np_nodes; nn != NULL; nn = nn->nn_next)
		nn->nn_hooked = nn->nn_there && nn->nn_nlinks > 0;
	for (nn = np->np_nodes; ok && nn != NULL; nn = nn->nn_next)
		if (nn->nn_declared && !nn->nn_there)
			ok = ngplan_step(np, NGP_MKNODE, nn) != NULL;
	for (ni = np->np_items; ok && ni != NULL; ni = ni->ni_next) {
		if (ni->ni_kind == NGP_EDGE)
			ok = ngplan_make_edge(np, ni);
		else if (ni->ni_kind != NGP_NOHOOK)
			ok = ngplan_make_send(np, ni);
	}
	if (!ok || !ngplan_make_gone(np))
		return (false);
	for (nn = np->np_nodes; nn != NULL; nn = nn->nn_next)
		if ((nn->nn_declared || nn->nn_exclusive) && ngplan_ends(nn))
			return (ngplan_fail(np, nn->nn_line, "node %s would "
			    "lose its last hook and end", nn->nn_name));
	return (true);
}

/* ---- In words ---- */

char *
ngplan_step_text(const struct ngp_step *ns)
{
	const struct ngp_node *nn = ns->ns_node;
	const struct ngp_item *ni = ns->ns_item;
	const char *sep, *old;
	char *text = NULL;
	int n = -1;

	switch (ns->ns_do) {
	case NGP_MKNODE:
	case NGP_RMNODE:
		n = asprintf(&text, "%c node %s %s",
		    ns->ns_do == NGP_MKNODE ? '+' : '-', nn->nn_name,
		    nn->nn_type);
		break;
	case NGP_CONNECT:
	case NGP_RMHOOK:
		n = asprintf(&text, "%c edge %s:%s %s:%s",
		    ns->ns_do == NGP_CONNECT ? '+' : '-', nn->nn_name,
		    ns->ns_hook, ns->ns_peer, ns->ns_peerhook);
		break;
	case NGP_SEND:
		sep = ni->ni_args[0] != '\0' ? " " : "";
		if ((old = ni->ni_oldtext) != NULL)
			n = asprintf(&text, "- set %s %s%s%s\n+ set %s %s%s%s",
			    nn->nn_name, ni->ni_cmd, old[0] != '\0' ? " " : "",
			    old, nn->nn_name, ni->ni_cmd, sep, ni->ni_args);
		else
			n = asprintf(&text, "+ %s %s %s%s%s",
			    ni->ni_kind == NGP_SET ? "set" : "msg",
			    nn->nn_name, ni->ni_cmd, sep, ni->ni_args);
		break;
	}
	return (n >= 0 ? text : NULL);
}
