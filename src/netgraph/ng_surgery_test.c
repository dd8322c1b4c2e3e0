/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Random surgery on a graph under traffic, beside a model.
 *
 * Two threads send into a graph of hubs, tees and bridges while the test makes
 * and ends nodes, hooks and names at random.  A model that knows the rules
 * predicts the result of each step and the graph after it: nodes, names,
 * hooks in their order, peers.  Hubs in loops multiply packets, so a part of
 * the graph has one loop at most.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "netgraph/nodes/ng_node_testlib.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/counter.h"
#include "sys/thread.h"

#define	STEPS		1500
#define	NODES_MAX	20
#define	HOOKS_MAX	12
#define	TIME_MAX	UINT64_C(30000000000)	/* ns, on a slow machine */

struct mhook {
	char		 mh_name[NG_HOOKSIZ];
	struct mnode	*mh_node;	/* NULL: a free place */
	struct mhook	*mh_peer;
	unsigned int	 mh_age;	/* larger is newer */
};

struct mnode {
	const char	*mn_type;	/* NULL: a free place */
	uint32_t	 mn_id;
	char		 mn_name[NG_NODESIZ];
	unsigned int	 mn_part;	/* scratch: connected part */
	struct mhook	 mn_hook[HOOKS_MAX];
};

static struct mnode nodes[NODES_MAX];	/* the first is the probe */
static unsigned int hook_age, steps, oks;
static uint64_t deadline;
static counter_t lowest;		/* a counter older than all others */

static int
start(void **state)
{
	static const struct ng_type *const types[] = { &ng_hub_type,
		&ng_tee_type, &ng_bridge_type, &ng_hole_type,
		&ng_one2many_type, &ng_split_type, &ng_echo_type, NULL };

	assert_int_equal(counter_alloc(1, &lowest), 0);
	ngt_start(types);
	return (0);
}

static int
stop(void **state)
{

	ngt_stop();
	return (0);
}

static int
reset(void **state)
{

	ngt_reset();
	return (0);
}

/* ---- The model ---- */

static unsigned int
pick(unsigned int n)
{

	return ((unsigned int)(ngt_random() >> 20) % n);
}

static struct mhook *
model_hook(struct mnode *mn, const char *name)
{

	for (int i = 0; i < HOOKS_MAX; i++)
		if (mn->mn_hook[i].mh_node != NULL &&
		    strcmp(mn->mn_hook[i].mh_name, name) == 0)
			return (&mn->mn_hook[i]);
	return (NULL);
}

static unsigned int
model_nhooks(const struct mnode *mn)
{
	unsigned int n = 0;

	for (int i = 0; i < HOOKS_MAX; i++)
		n += mn->mn_hook[i].mh_node != NULL;
	return (n);
}

static struct mhook *
model_add(struct mnode *mn, const char *name)
{
	struct mhook *mh = mn->mn_hook;

	while (mh->mh_node != NULL)
		mh++;
	snprintf(mh->mh_name, sizeof(mh->mh_name), "%s", name);
	mh->mh_node = mn;
	mh->mh_age = ++hook_age;
	return (mh);
}

/* Does the type have such a hook? */
static bool
model_allows(const struct mnode *mn, const char *name)
{

	if (strcmp(mn->mn_type, "tee") == 0)
		return (strcmp(name, "left") == 0 ||
		    strcmp(name, "right") == 0 ||
		    strcmp(name, "left2right") == 0 ||
		    strcmp(name, "right2left") == 0);
	if (strcmp(mn->mn_type, "bridge") == 0)
		return (strncmp(name, "link", 4) == 0 ||
		    strncmp(name, "uplink", 6) == 0);
	return (true);
}

static int
model_connect_error(struct mnode *one, const char *hook1, struct mnode *two,
    const char *hook2)
{

	if (model_hook(two, hook2) != NULL || model_hook(one, hook1) != NULL)
		return (EEXIST);
	if (!model_allows(one, hook1))
		return (EINVAL);
	if (one == two && strcmp(hook1, hook2) == 0)
		return (EEXIST);
	if (!model_allows(two, hook2))
		return (EINVAL);
	return (one == two && strcmp(one->mn_type, "bridge") == 0 ? ELOOP : 0);
}

static void
model_connect(struct mnode *one, const char *hook1, struct mnode *two,
    const char *hook2)
{
	struct mhook *near, *far;

	near = model_add(one, hook1);
	far = model_add(two, hook2);
	near->mh_peer = far;
	far->mh_peer = near;
}

/* A node dies with its last hook; the probe does not. */
static void
model_reap(struct mnode *mn)
{

	if (mn != &nodes[0] && model_nhooks(mn) == 0)
		mn->mn_type = NULL;
}

static void
model_rmhook(struct mhook *mh)
{
	struct mnode *one = mh->mh_node, *two = mh->mh_peer->mh_node;

	mh->mh_peer->mh_node = NULL;
	mh->mh_node = NULL;
	model_reap(one);
	model_reap(two);
}

/* A tee first joins the peers of left and right. */
static void
model_shutdown(struct mnode *mn)
{
	struct mhook *left = NULL, *right = NULL;

	if (strcmp(mn->mn_type, "tee") == 0) {
		left = model_hook(mn, "left");
		right = model_hook(mn, "right");
	}
	if (left != NULL && right != NULL && left->mh_peer != right) {
		left->mh_peer->mh_peer = right->mh_peer;
		right->mh_peer->mh_peer = left->mh_peer;
		left->mh_node = right->mh_node = NULL;
	}
	for (int i = 0; i < HOOKS_MAX; i++)
		if (mn->mn_hook[i].mh_node != NULL)
			model_rmhook(&mn->mn_hook[i]);
	mn->mn_type = NULL;
}

static void
model_paint(struct mnode *mn, unsigned int part, int *vertices, int *ends)
{

	if (mn == &nodes[0] || mn->mn_part == part)
		return;
	mn->mn_part = part;
	++*vertices;
	for (int i = 0; i < HOOKS_MAX; i++) {
		if (mn->mn_hook[i].mh_node == NULL ||
		    mn->mn_hook[i].mh_peer->mh_node == &nodes[0])
			continue;
		++*ends;
		model_paint(mn->mn_hook[i].mh_peer->mh_node, part, vertices,
		    ends);
	}
}

/* Would an edge between them make a second loop?  The probe passes nothing. */
static bool
model_loops(struct mnode *one, struct mnode *two)
{
	static unsigned int part;
	int vertices = 0, ends = 0;

	if (one == &nodes[0] || two == &nodes[0])
		return (false);
	part++;
	model_paint(one, part, &vertices, &ends);
	model_paint(two, part, &vertices, &ends);
	return (ends / 2 + 1 - vertices + 1 > 1);
}

/* ---- The graph beside the model ---- */

static const char *
path(const struct mnode *mn)
{
	static char buf[2][NG_PATHSIZ];
	static int i;

	i = !i;
	snprintf(buf[i], sizeof(buf[i]), "[%x]:", mn->mn_id);
	return (buf[i]);
}

static void
compare_node(struct mnode *mn)
{
	const struct hooklist *hl;
	const struct linkinfo *li;
	struct mhook *mh, *next;
	unsigned int age = UINT32_MAX;

	assert_int_equal(ngt_msg(path(mn), NGM_GENERIC_COOKIE, NGM_LISTHOOKS,
	    NULL, 0), 0);
	hl = (const void *)ngt_reply()->data;
	assert_string_equal(hl->nodeinfo.type, mn->mn_type);
	assert_string_equal(hl->nodeinfo.name, mn->mn_name);
	assert_int_equal(hl->nodeinfo.id, mn->mn_id);
	assert_int_equal(hl->nodeinfo.hooks, model_nhooks(mn));
	for (unsigned int n = 0; n < hl->nodeinfo.hooks; n++) {
		next = NULL;		/* the newest that is older than age */
		for (int i = 0; i < HOOKS_MAX; i++) {
			mh = &mn->mn_hook[i];
			if (mh->mh_node != NULL && mh->mh_age < age &&
			    (next == NULL || mh->mh_age > next->mh_age))
				next = mh;
		}
		assert_non_null(next);
		age = next->mh_age;
		li = &hl->link[n];
		assert_string_equal(li->ourhook, next->mh_name);
		assert_string_equal(li->peerhook, next->mh_peer->mh_name);
		assert_int_equal(li->nodeinfo.id,
		    next->mh_peer->mh_node->mn_id);
		assert_string_equal(li->nodeinfo.name,
		    next->mh_peer->mh_node->mn_name);
	}
}

static void
compare(void)
{
	const struct namelist *nl;
	unsigned int n = 0, found = 0;

	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_LISTNODES, NULL,
	    0), 0);
	nl = (const void *)ngt_reply()->data;
	for (int i = 0; i < NODES_MAX; i++) {
		if (nodes[i].mn_type == NULL)
			continue;
		n++;
		for (uint32_t j = 0; j < nl->numnames; j++)
			found += nl->nodeinfo[j].id == nodes[i].mn_id;
	}
	assert_int_equal(nl->numnames, n);
	assert_int_equal(found, n);
	for (int i = 0; i < NODES_MAX; i++)
		if (nodes[i].mn_type != NULL)
			compare_node(&nodes[i]);
}

/* ---- Steps ---- */

static struct mnode *
pick_node(void)
{
	struct mnode *mn;

	do
		mn = &nodes[pick(NODES_MAX)];
	while (mn->mn_type == NULL);
	return (mn);
}

/* A name that fits in nine of ten cases, and is often taken. */
static void
pick_hook(const char *type, char *name)
{
	static const char *const tee[] = { "left", "right", "left2right",
		"right2left" };

	if (pick(10) == 0)
		strcpy(name, "misfit");
	else if (strcmp(type, "tee") == 0)
		strcpy(name, tee[pick(4)]);
	else if (strcmp(type, "bridge") == 0)
		snprintf(name, NG_HOOKSIZ, "%slink%u", pick(4) == 0 ? "up" :
		    "", 1 + pick(5));
	else
		snprintf(name, NG_HOOKSIZ, "s%u", 1 + pick(6));
}

static int
step_mkpeer(void)
{
	static const char *const types[] = { "hub", "tee", "bridge" };
	struct mnode *mn = pick_node(), *new = nodes, probe;
	char ours[NG_HOOKSIZ], theirs[NG_HOOKSIZ], at[NG_PATHSIZ];
	const char *type = types[pick(3)];
	struct nodeinfo ni;
	int error;

	while (new < &nodes[NODES_MAX] && new->mn_type != NULL)
		new++;
	if (new == &nodes[NODES_MAX] || model_nhooks(mn) == HOOKS_MAX)
		return (0);
	pick_hook(mn->mn_type, ours);
	pick_hook(type, theirs);
	memset(&probe, 0, sizeof(probe));
	probe.mn_type = type;
	error = model_connect_error(mn, ours, &probe, theirs);
	assert_int_equal(ngt_mkpeer(path(mn), type, ours, theirs), error);
	if (error != 0)
		return (error);
	*new = probe;
	model_connect(mn, ours, new, theirs);
	snprintf(at, sizeof(at), "%s%s", path(mn), ours);
	assert_int_equal(ngt_nodeinfo(at, &ni), 0);
	new->mn_id = ni.id;
	return (0);
}

static int
step_connect(void)
{
	struct mnode *one = pick_node(), *two = pick_node();
	char ours[NG_HOOKSIZ], theirs[NG_HOOKSIZ];
	int error;

	if (model_nhooks(one) + 2 > HOOKS_MAX ||
	    model_nhooks(two) + 2 > HOOKS_MAX || model_loops(one, two))
		return (0);
	pick_hook(one->mn_type, ours);
	pick_hook(two->mn_type, theirs);
	error = model_connect_error(one, ours, two, theirs);
	assert_int_equal(ngt_connect(path(one), path(two), ours, theirs),
	    error);
	if (error == 0)
		model_connect(one, ours, two, theirs);
	return (error);
}

static int
step_rmhook(void)
{
	struct mnode *mn = pick_node();
	char name[NG_HOOKSIZ];
	struct mhook *mh;

	pick_hook(mn->mn_type, name);
	mh = model_hook(mn, name);
	assert_int_equal(ngt_rmhook(path(mn), name), 0);
	if (mh != NULL)
		model_rmhook(mh);
	return (0);
}

static int
step_shutdown(void)
{
	struct mnode *mn = pick_node();

	if (mn == &nodes[0])
		return (0);
	assert_int_equal(ngt_shutdown(path(mn)), 0);
	model_shutdown(mn);
	return (0);
}

static int
step_name(void)
{
	struct mnode *mn = pick_node();
	char name[NG_NODESIZ];
	int error = 0;

	if (mn == &nodes[0])
		return (0);
	snprintf(name, sizeof(name), "n%u", pick(12));
	for (int i = 0; i < NODES_MAX; i++)
		if (&nodes[i] != mn && nodes[i].mn_type != NULL &&
		    strcmp(nodes[i].mn_name, name) == 0)
			error = EADDRINUSE;
	assert_int_equal(ngt_name(path(mn), name), error);
	if (error == 0)
		strcpy(mn->mn_name, name);
	return (error);
}

static void
step(unsigned int round)
{
	int error;

	if (time_ns() > deadline)
		return;
	switch (pick(10)) {
	case 0: case 1: case 2:
		error = step_mkpeer();
		break;
	case 3: case 4: case 5:
		error = step_connect();
		break;
	case 6: case 7:
		error = step_rmhook();
		break;
	case 8:
		error = step_shutdown();
		break;
	default:
		error = step_name();
		break;
	}
	compare();
	steps++;
	oks += error == 0;
}

static void
test_surgery(void **state)
{

	memset(nodes, 0, sizeof(nodes));
	nodes[0].mn_type = "probe";
	nodes[0].mn_id = ng_node_id(ngt_probe());
	strcpy(nodes[0].mn_name, "probe");
	deadline = time_ns() + TIME_MAX;
	ngt_race_unsettled("s1", "s2", step, STEPS);
	printf("%u steps, %u of them successful\n", steps, oks);
	assert_true(oks > steps / 3);
}

/* ---- Ten thousand nodes, one after the other ---- */

/* Where the first 1,000 counters in a row are free. */
static counter_t
free_cells(void)
{
	counter_t c;

	/* A search begins behind the last one, or at what was freed. */
	counter_free(lowest, 1);
	assert_int_equal(counter_alloc(1, &lowest), 0);
	assert_int_equal(counter_alloc(1000, &c), 0);
	counter_free(c, 1000);
	return (c);
}

static void
test_leak(void **state)
{
	static const char *const types[][3] = {
		{ "hub", "a", "b" }, { "tee", "left", "right" },
		{ "bridge", "link0", "uplink1" }, { "hole", "a", "b" },
		{ "one2many", "one", "many7" }, { "split", "mixed", "out" },
		{ "echo", "a", "b" },
	};
	counter_t before = free_cells();

	for (unsigned int i = 0; i < 10000; i++) {
		const char *const *t = types[i % 7];

		assert_int_equal(ngt_mkpeer(".", t[0], "x", t[1]), 0);
		assert_int_equal(ngt_connect(".", "x", "y", t[2]), 0);
		(void)ngt_send_frame("x", NGT_HOST(1), NGT_HOST(i));
		if (i % 2 == 0)
			assert_int_equal(ngt_shutdown("x"), 0);
		assert_int_equal(ngt_rmhook(".", "x"), 0);
		assert_int_equal(ngt_rmhook(".", "y"), 0);
	}
	ngt_reset();
	assert_int_equal(free_cells(), before);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_surgery, reset),
		cmocka_unit_test_teardown(test_leak, reset),
	};

	return (cmocka_run_group_tests(tests, start, stop));
}
