/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What ngctl reads of others: a graph file, as lines or JSON, which is then
 * planned for against a graph that has one of each; and the text of a node's
 * answer, made JSON.  Bytes behind the first 0 are the answer.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ngctl.h"
#include "tools/ngplan.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Half of the nodes that the file names are there, joined in a row. */
static bool
fuzz_tell(struct ngplan *np)
{
	struct ngp_node *nn, *last = NULL;
	int i = 0;

	for (nn = np->np_nodes; nn != NULL; nn = nn->nn_next) {
		if (i++ % 2 == 1)
			continue;
		if (!ngplan_found(np, nn, nn->nn_declared ? nn->nn_type :
		    "hub") || !ngplan_link(np, nn, "x", "[7]", "y"))
			return (false);
		if (last != NULL && (!ngplan_link(np, nn, "a", last->nn_name,
		    "b") || !ngplan_link(np, last, "b", nn->nn_name, "a")))
			return (false);
		last = nn;
	}
	return (true);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ngplan np;
	char *copy, *step;
	size_t n, i;

	if ((copy = malloc(len + 1)) == NULL)
		abort();
	memcpy(copy, data, len);
	copy[len] = '\0';
	n = strlen(copy);
	ngplan_init(&np);
	if (ngplan_text(&np, copy, n) && fuzz_tell(&np) && ngplan_make(&np))
		for (i = 0; i < np.np_nsteps; i++) {
			step = ngplan_step_text(&np.np_step[i]);
			if (step == NULL || (*step != '+' && *step != '-'))
				abort();
			free(step);
		}
	else if (np.np_err[0] == '\0')
		abort();		/* it has to say why */
	ngplan_fini(&np);
	if (n < len)
		json_decref(ngctl_parse(copy + n + 1));
	free(copy);
	return (0);
}
