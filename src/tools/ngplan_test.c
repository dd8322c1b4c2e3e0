/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What a file says, and the steps to it.  Random files against random graphs:
 * the steps, taken in a model of the graph where a node ends with its last
 * hook, must lead to what the file says, each of them possible when its turn
 * comes, and a second plan must be empty.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "sys/random_testlib.h"
#include "tools/ngplan.h"

#define	RUNS	20000
#define	NODES	6
#define	HOOKS	4
#define	TEXT	8192

/* ---- Files ---- */

/* The error of reading text, "" if there is none. */
static const char *
reads(const char *text)
{
	static char err[NGP_ERRLEN];
	struct ngplan np;
	char copy[TEXT];
	bool ok;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	ngplan_init(&np);
	ok = ngplan_text(&np, copy, strlen(copy));
	assert_int_equal(ok, np.np_err[0] == '\0');
	(void)snprintf(err, sizeof(err), "%s", np.np_err);
	ngplan_fini(&np);
	return (err);
}

static void
test_lines(void **state)
{
	assert_string_equal(reads(""), "");
	assert_string_equal(reads("# nothing\n\n \t \n"), "");
	assert_string_equal(reads("node br bridge\nedge br:link0 em0:lower\n"
	    "msg br setpersistent\nset vr getconf = setconf { rot=1 }\n"
	    "exclusive br vr\nabsent old br:link7"), "");
	assert_string_equal(reads("\nnodes a b"), "line 2: \"nodes\": expected "
	    "node, edge, msg, set, exclusive or absent");
	assert_string_equal(reads("node a"),
	    "line 1: \"\" is no name of a type");
	assert_string_equal(reads("node a.b hub"),
	    "line 1: \"a.b\" is no name of a node");
	assert_string_equal(reads("node [1f] hub"),
	    "line 1: \"[1f]\" is no name of a node");
	assert_string_equal(reads("node [1g] hub"), "");
	assert_string_equal(
	    reads("node a23456789012345678901234567890123 hub"),
	    "line 1: \"a23456789012345678901234567890123\" is no name of a "
	    "node");
	assert_string_equal(reads("node a hub x"), "line 1: too many words");
	assert_string_equal(reads("node a hub\nnode a hub"),
	    "line 2: node a is there twice");
	assert_string_equal(reads("node a hub\nabsent a"),
	    "line 2: node a is to be there");
	assert_string_equal(reads("absent a\nnode a hub"),
	    "line 2: node a is to be absent");
	assert_string_equal(reads("edge a b:c"),
	    "line 1: \"a\": expected node:hook");
	assert_string_equal(reads("edge a:b c:d.e"),
	    "line 1: \"c:d.e\": expected node:hook");
	assert_string_equal(reads("edge a:b a:b"),
	    "line 1: \"a:b\" cannot be its own peer");
	assert_string_equal(reads("msg a"), "line 1: \"\" is no command");
	assert_string_equal(reads("set a getconf setconf { a=1 }"),
	    "line 1: expected: set node getter = setter [args ...]");
	assert_string_equal(reads("absent"), "line 1: a name is missing");
}

static void
test_json(void **state)
{
	assert_string_equal(reads("{}"), "");
	assert_string_equal(reads(" {\"nodes\":[{\"name\":\"test hub\","
	    "\"type\":\"hub\",\"exclusive\":true}],"
	    "\"edges\":[[\"test hub:a\",\"em0:lower\"]],"
	    "\"messages\":[{\"node\":\"test hub\",\"msg\":\"setpersistent\"},"
	    "{\"node\":\"vr\",\"get\":\"getconf\",\"set\":\"setconf {}\"}],"
	    "\"absent\":[\"old\",\"x:y\"]}"), "");
	assert_string_equal(reads("{\"node\":[]}"),
	    "the file: there is no member \"node\"");
	assert_string_equal(reads("{\"nodes\":1}"), "nodes: expected a list");
	assert_string_equal(reads("{\"nodes\":[1]}"),
	    "nodes: expected an object");
	assert_string_equal(reads("{\"nodes\":[{\"name\":\"a\"}]}"),
	    "\"\" is no name of a type");
	assert_string_equal(reads("{\"edges\":[[\"a:b\"]]}"),
	    "edges: expected two ends");
	assert_string_equal(reads("{\"edges\":[[\"a:b\",2]]}"),
	    "\"\": expected node:hook");
	assert_string_equal(reads("{\"messages\":[{\"node\":\"a\","
	    "\"set\":\"x\"}]}"),
	    "messages: expected msg, or get and set");
	assert_string_equal(reads("{\"absent\":[null]}"),
	    "\"\" is no name of a node");
	assert_memory_equal(reads("{\n\"nodes\":\n}"), "line 3: ", 8);
}

/* ---- Plans ---- */

/*
 * The plan for text where there are nodes ("name type" lines) and edges
 * ("a:h b:k" lines): its steps, or the error.
 */
static const char *
plan(const char *text, const char *have)
{
	static char buf[TEXT];
	char copy[TEXT], a[32], h[32], b[32], k[32], *line, *save, *step;
	struct ngplan np;
	struct ngp_node *nn;
	bool ok;
	size_t i;

	ngplan_init(&np);
	(void)snprintf(copy, sizeof(copy), "%s", text);
	ok = ngplan_text(&np, copy, strlen(copy));
	(void)snprintf(copy, sizeof(copy), "%s", have);
	for (line = strtok_r(copy, "\n", &save); ok && line != NULL;
	    line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%31[^: ]:%31s %31[^: ]:%31s", a, h, b, k)
		    == 4) {
			if ((nn = ngplan_find(&np, a)) != NULL)
				ok = ngplan_link(&np, nn, h, b, k);
			if (ok && (nn = ngplan_find(&np, b)) != NULL)
				ok = ngplan_link(&np, nn, k, a, h);
		} else {
			assert_int_equal(sscanf(line, "%31s %31s", a, b), 2);
			if ((nn = ngplan_find(&np, a)) != NULL)
				ok = ngplan_found(&np, nn, b);
		}
	}
	ok = ok && ngplan_make(&np);
	(void)snprintf(buf, sizeof(buf), "%s", ok ? "" : np.np_err);
	for (i = 0; ok && i < np.np_nsteps; i++) {
		step = ngplan_step_text(&np.np_step[i]);
		(void)strcat(strcat(buf, step), "\n");
		free(step);
	}
	ngplan_fini(&np);
	return (buf);
}

static void
test_plan(void **state)
{
	const char file[] = "node br bridge\nmsg br setpersistent\n"
	    "edge br:link0 em0:lower\nedge br:link1 em0:upper\n"
	    "set vr getconf = setconf { rot=1 }\n";

	assert_string_equal(plan(file, "em0 ether\nvr vlan_rotate"),
	    "+ node br bridge\n+ msg br setpersistent\n"
	    "+ edge br:link0 em0:lower\n+ edge br:link1 em0:upper\n"
	    "+ set vr setconf { rot=1 }\n");
	assert_string_equal(plan(file, "em0 ether\nbr bridge\n"
	    "vr vlan_rotate\nem0:lower br:link0"),
	    "+ edge br:link1 em0:upper\n+ set vr setconf { rot=1 }\n");
	assert_string_equal(plan(file, "em0 ether"), "line 5: there is no "
	    "node vr, and the file gives it no type");
	assert_string_equal(plan(file, "em0 ether\nbr hub"),
	    "line 1: node br is of type hub");
	assert_string_equal(plan("edge a:h b:k\nedge b:k c:l",
	    "a hub\nb hub\nc hub"),
	    "line 2: b:k has another edge in the file");
	assert_string_equal(plan("edge a:h b:k", "a hub\nb hub\na:h [7]:x"),
	    "line 1: a:h is joined to [7]:x, a node that the file does not "
	    "name");
	assert_string_equal(plan("msg old x\nabsent old", "old hub"),
	    "line 1: node old is to be absent");
}

static void
test_moves(void **state)
{
	const char have[] = "a hub\nb hub\nc eiface\na:h c:ether\na:i b:i";

	/* c stays without a hook, a has another one. */
	assert_string_equal(plan("edge b:k c:ether\nedge a:i b:i\n"
	    "exclusive a b", "a hub\nb hub\nc eiface\na:h c:ether\na:i b:i\n"
	    "a:j [9]:x\nb:j z:x"), "- edge c:ether a:h\n+ edge b:k c:ether\n"
	    "- edge b:j z:x\n- edge a:j [9]:x\n");
	assert_string_equal(plan("edge b:k c:ether\nexclusive a", have),
	    "line 2: node a would lose its last hook and end");
	assert_string_equal(plan("node a hub\nedge b:k c:ether", have),
	    "- edge c:ether a:h\n+ edge b:k c:ether\n");
	assert_string_equal(plan("node a hub\nedge b:i c:x\n",
	    "a hub\nb hub\nc eiface\na:h b:i"),
	    "line 2: node a would lose its last hook and end before it gets "
	    "another");
	assert_string_equal(plan("node a hub\nabsent a:h a:i b:nothere",
	    have), "line 1: node a would lose its last hook and end");
	assert_string_equal(plan("absent a:h a:i", have),
	    "- edge a:h c:ether\n- edge a:i b:i\n");
	assert_string_equal(plan("absent a b none", have),
	    "- node a hub\n- node b hub\n");
	assert_string_equal(plan("node b hub\nabsent a", have),
	    "line 1: node b would lose its last hook and end");
	assert_string_equal(plan("absent em0", "em0 ether"),
	    "line 1: node em0 is an interface's and cannot be absent");
	assert_string_equal(plan("edge a:h c:ether\nabsent a:h", have),
	    "line 2: a:h is to be absent and has an edge");
}

/* ---- At random ---- */

struct model {
	char	mo_type[NODES][8];	/* "": not there */
	int	mo_peer[NODES][HOOKS];	/* node * HOOKS + hook, -1: none */
};

static const char *const model_types[] = { "hub", "eiface" };

static int
model_hooks(const struct model *mo, int n)
{
	int h, sum = 0;

	for (h = 0; h < HOOKS; h++)
		sum += mo->mo_peer[n][h] != -1;
	return (sum);
}

static void
model_cut(struct model *mo, int n, int h)
{
	int peer = mo->mo_peer[n][h];

	mo->mo_peer[n][h] = -1;
	mo->mo_peer[peer / HOOKS][peer % HOOKS] = -1;
	if (model_hooks(mo, n) == 0 && mo->mo_type[n][0] == 'h')
		mo->mo_type[n][0] = '\0';
	n = peer / HOOKS;
	if (model_hooks(mo, n) == 0 && mo->mo_type[n][0] == 'h')
		mo->mo_type[n][0] = '\0';
}

static void
model_random(struct model *mo, unsigned int *seed)
{
	int n, h, i, a, b;

	for (n = 0; n < NODES; n++) {
		mo->mo_type[n][0] = '\0';
		if (rand_r(seed) % 3 > 0)
			(void)strcpy(mo->mo_type[n],
			    model_types[rand_r(seed) % 2]);
		for (h = 0; h < HOOKS; h++)
			mo->mo_peer[n][h] = -1;
	}
	for (i = 0; i < 8; i++) {
		a = rand_r(seed) % (NODES * HOOKS);
		b = rand_r(seed) % (NODES * HOOKS);
		if (a == b || mo->mo_type[a / HOOKS][0] == '\0' ||
		    mo->mo_type[b / HOOKS][0] == '\0' ||
		    mo->mo_peer[a / HOOKS][a % HOOKS] != -1 ||
		    mo->mo_peer[b / HOOKS][b % HOOKS] != -1)
			continue;
		mo->mo_peer[a / HOOKS][a % HOOKS] = b;
		mo->mo_peer[b / HOOKS][b % HOOKS] = a;
	}
}

static void
model_file(unsigned int *seed, char *text, size_t len)
{
	size_t off = 0;
	int i, n = rand_r(seed) % 8;

	text[0] = '\0';
	for (i = 0; i < NODES; i++)
		if (rand_r(seed) % 2 == 0)
			off += (size_t)snprintf(text + off, len - off,
			    "node n%d %s\n", i, model_types[i % 2]);
	for (i = 0; i < n; i++) {
		switch (rand_r(seed) % 8) {
		case 0:
			off += (size_t)snprintf(text + off, len - off,
			    "absent n%d:h%d\n", rand_r(seed) % NODES,
			    rand_r(seed) % HOOKS);
			break;
		case 1:
			off += (size_t)snprintf(text + off, len - off,
			    "exclusive n%d\n", rand_r(seed) % NODES);
			break;
		case 2:
			off += (size_t)snprintf(text + off, len - off,
			    "absent n%d\n", rand_r(seed) % NODES);
			break;
		default:
			off += (size_t)snprintf(text + off, len - off,
			    "edge n%d:h%d n%d:h%d\n", rand_r(seed) % NODES,
			    rand_r(seed) % HOOKS, rand_r(seed) % NODES,
			    rand_r(seed) % HOOKS);
		}
	}
}

/* Tell the plan what the model has.  A type that differs fails it. */
static bool
model_tell(const struct model *mo, struct ngplan *np)
{
	char name[16], hook[16], peer[16], peerhook[16];
	struct ngp_node *nn;
	int n, h;

	for (n = 0; n < NODES; n++) {
		(void)snprintf(name, sizeof(name), "n%d", n);
		if (mo->mo_type[n][0] == '\0' ||
		    (nn = ngplan_find(np, name)) == NULL)
			continue;
		if (!ngplan_found(np, nn, mo->mo_type[n]))
			return (false);
		for (h = 0; h < HOOKS; h++) {
			if (mo->mo_peer[n][h] == -1)
				continue;
			(void)snprintf(hook, sizeof(hook), "h%d", h);
			(void)snprintf(peer, sizeof(peer), "n%d",
			    mo->mo_peer[n][h] / HOOKS);
			(void)snprintf(peerhook, sizeof(peerhook), "h%d",
			    mo->mo_peer[n][h] % HOOKS);
			assert_true(ngplan_link(np, nn, hook, peer, peerhook));
		}
	}
	return (true);
}

static void
model_step(struct model *mo, const struct ngp_step *ns)
{
	int n = ns->ns_node->nn_name[1] - '0', h = ns->ns_hook[1] - '0';
	int pn = ns->ns_peer[1] - '0', ph = ns->ns_peerhook[1] - '0', i;

	switch (ns->ns_do) {
	case NGP_MKNODE:
		assert_int_equal(mo->mo_type[n][0], '\0');
		(void)strcpy(mo->mo_type[n], ns->ns_node->nn_type);
		return;
	case NGP_CONNECT:
		assert_int_not_equal(mo->mo_type[n][0], '\0');
		assert_int_not_equal(mo->mo_type[pn][0], '\0');
		assert_int_equal(mo->mo_peer[n][h], -1);
		assert_int_equal(mo->mo_peer[pn][ph], -1);
		mo->mo_peer[n][h] = pn * HOOKS + ph;
		mo->mo_peer[pn][ph] = n * HOOKS + h;
		return;
	case NGP_RMHOOK:
		if (mo->mo_type[n][0] == '\0') {
			assert_true(ns->ns_final);
			return;
		}
		assert_int_equal(mo->mo_peer[n][h], pn * HOOKS + ph);
		model_cut(mo, n, h);
		return;
	case NGP_RMNODE:
		for (i = 0; i < HOOKS; i++)
			if (mo->mo_peer[n][i] != -1)
				model_cut(mo, n, i);
		mo->mo_type[n][0] = '\0';
		return;
	default:
		fail_msg("a step that the file has not asked for");
	}
}

/* Everything that the file says is so. */
static void
model_check(const struct model *mo, const struct ngplan *np)
{
	const struct ngp_node *nn;
	const struct ngp_item *ni;
	int a, b, n;

	for (nn = np->np_nodes; nn != NULL; nn = nn->nn_next) {
		n = nn->nn_name[1] - '0';
		if (nn->nn_declared)
			assert_string_equal(mo->mo_type[n], nn->nn_type);
		if (nn->nn_absent)
			assert_int_equal(mo->mo_type[n][0], '\0');
	}
	for (ni = np->np_items; ni != NULL; ni = ni->ni_next) {
		a = (ni->ni_node[0]->nn_name[1] - '0') * HOOKS +
		    ni->ni_hook[0][1] - '0';
		if (ni->ni_kind == NGP_EDGE) {
			b = (ni->ni_node[1]->nn_name[1] - '0') * HOOKS +
			    ni->ni_hook[1][1] - '0';
			assert_int_equal(mo->mo_peer[a / HOOKS][a % HOOKS],
			    b);
		} else
			assert_int_equal(mo->mo_peer[a / HOOKS][a % HOOKS],
			    -1);
	}
}

/* Plan text for mo and take the steps; their number, or -1: refused. */
static int
model_apply(struct model *mo, const char *text)
{
	struct ngplan np;
	char copy[TEXT];
	size_t i;
	int n = -1;

	ngplan_init(&np);
	(void)snprintf(copy, sizeof(copy), "%s", text);
	if (ngplan_text(&np, copy, strlen(copy)) && model_tell(mo, &np) &&
	    ngplan_make(&np)) {
		n = (int)np.np_nsteps;
		for (i = 0; i < np.np_nsteps; i++)
			model_step(mo, &np.np_step[i]);
		model_check(mo, &np);
	} else
		assert_string_not_equal(np.np_err, "");
	ngplan_fini(&np);
	return (n);
}

static void
test_random(void **state)
{
	unsigned int seed = (unsigned int)test_seed();
	int n, run, done = 0;
	struct model mo;
	char text[TEXT];

	for (run = 0; run < RUNS; run++) {
		model_random(&mo, &seed);
		model_file(&seed, text, sizeof(text));
		n = model_apply(&mo, text);
		if (n == -1)
			continue;
		done += n > 0;
		n = model_apply(&mo, text);
		if (n != 0)
			fail_msg("again %d steps for\n%s", n, text);
	}
	/* Most are refused, but enough are not. */
	assert_true(done > RUNS / 50);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_random),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
