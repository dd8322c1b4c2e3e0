/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A graph as a file describes it, what there is of it, and the steps from the
 * one to the other.  None of this speaks to a machine: ngctl_apply.c fills in
 * what there is and takes the steps.
 */
#ifndef _TOOLS_NGPLAN_H_
#define	_TOOLS_NGPLAN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <netgraph/ng_message.h>

#include "sys/defs.h"

#define	NGP_ERRLEN	512
#define	NGP_FILE_MAX	(8u << 20)	/* bytes of a file */
#define	NGP_END		(NG_NODESIZ + NG_HOOKSIZ)	/* "node:hook" */

struct ngp_node;

/* A hook that a node has. */
struct ngp_link {
	char		 nl_hook[NG_HOOKSIZ];
	char		 nl_peerhook[NG_HOOKSIZ];
	char		 nl_peer[NG_NODESIZ];	/* name, or "[id]" */
	struct ngp_node	*nl_node;	/* the peer, if the file names it */
	bool		 nl_keep;	/* the file has this edge */
};

/* A node that the file names. */
struct ngp_node {
	char		 nn_name[NG_NODESIZ];
	char		 nn_type[NG_TYPESIZ];	/* "": not said, not found */
	int		 nn_line;	/* where it was named first */
	bool		 nn_declared;	/* with a type */
	bool		 nn_exclusive;	/* no hooks but the file's */
	bool		 nn_absent;
	bool		 nn_there;	/* it exists, before the first step */
	bool		 nn_hooked;	/* and has hooks */
	struct ngp_link	*nn_link;
	size_t		 nn_nlinks;
	struct ngp_node	*nn_next;	/* in the file's order */
};

enum ngp_kind { NGP_EDGE, NGP_MSG, NGP_SET, NGP_NOHOOK };

/* A line of the file that is not about a node. */
struct ngp_item {
	enum ngp_kind	 ni_kind;
	int		 ni_line;
	struct ngp_node	*ni_node[2];	/* an edge's ends; else [0] */
	char		 ni_hook[2][NG_HOOKSIZ];
	char		 ni_get[NG_CMDSTRSIZ];	/* NGP_SET: asks */
	char		*ni_getargs;
	char		 ni_cmd[NG_CMDSTRSIZ];	/* NGP_SET, NGP_MSG: sends */
	char		*ni_args;
	/* Of the one that takes the steps: */
	struct ng_mesg	*ni_bin;	/* a reply that holds the message */
	struct ng_mesg	*ni_old;	/* what the node answered, or NULL */
	char		*ni_oldtext;
	bool		 ni_same;	/* that is what the file wants */
	struct ngp_item	*ni_next;
};

enum ngp_do { NGP_MKNODE, NGP_RMHOOK, NGP_CONNECT, NGP_SEND, NGP_RMNODE };

struct ngp_step {
	enum ngp_do	 ns_do;
	struct ngp_node	*ns_node;
	char		 ns_hook[NG_HOOKSIZ];	/* of ns_node */
	char		 ns_peer[NG_NODESIZ];	/* name, or "[id]" */
	char		 ns_peerhook[NG_HOOKSIZ];
	struct ngp_item	*ns_item;	/* NGP_SEND */
	bool		 ns_final;	/* nothing can fail behind it */
};

struct ngplan {
	struct ngp_node	*np_nodes;
	struct ngp_node	**np_nodes_end;
	void		*np_tree;	/* tsearch(3): the same by name */
	struct ngp_item	*np_items;
	struct ngp_item	**np_items_end;
	struct ngp_step	*np_step;
	size_t		 np_nsteps;
	char		 np_err[NGP_ERRLEN];	/* the first error */
};

void	ngplan_init(struct ngplan *np);
void	ngplan_fini(struct ngplan *np);
/* Say what is wrong, with the line unless that is 0; returns false. */
bool	ngplan_fail(struct ngplan *np, int line, const char *fmt, ...)
	    __printflike(3, 4);

/*
 * Read a whole file: JSON if it starts with a brace, else lines.  Once for
 * each plan.  false: np_err says what is wrong and where.
 */
bool	ngplan_file(struct ngplan *np, FILE *f);
/* The same for text of len bytes with a NUL behind them; it is changed. */
bool	ngplan_text(struct ngplan *np, char *text, size_t len);

/* The node of that name, or NULL. */
struct ngp_node *ngplan_find(struct ngplan *np, const char *name);
/* nn exists and is of that type; false: which is not the file's. */
bool	ngplan_found(struct ngplan *np, struct ngp_node *nn,
	    const char *type);
/* A hook that nn has; false: no memory. */
bool	ngplan_link(struct ngplan *np, struct ngp_node *nn, const char *hook,
	    const char *peer, const char *peerhook);
/*
 * The steps from what there is (nn_there, nn_type, nn_link, ni_same) to what
 * the file says, in np_step.  false: it cannot be done, np_err says why.
 */
bool	ngplan_make(struct ngplan *np);
/*
 * A step in words, from malloc(3): "+ edge a:h b:k", without a newline at the
 * end; what is replaced comes on a line in front.  NULL: no memory.
 */
char	*ngplan_step_text(const struct ngp_step *ns);

#endif /* _TOOLS_NGPLAN_H_ */
