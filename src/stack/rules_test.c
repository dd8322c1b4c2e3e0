/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The rules of the epoch, each broken on purpose: the check, which only debug
 * builds have, must stop the program and name the offence.  Every case runs in
 * a child of its own, which starts a machine, breaks one rule and must not
 * survive; the same case with the rule kept must.  (That a run remembers its
 * own entry and leaves after hw.intr_epoch_batch runs is shown in
 * intr_epoch_test.c.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <netepoch/epoch.h>

#include "ifnet/if_var.h"
#include "ip/ip_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "route/route_var.h"
#include "stack/machine.h"
#include "stack/stack_private.h"

static struct machine *ma;
static struct vnet *vnet;
static struct ifnet *ifp;

static void
no_callback(epoch_context_t ctx)
{
}

/* The cases: keep is true in the run that keeps the rule. */

static void
rule1_transmit(bool keep)
{
	struct epoch_tracker et;
	struct mbuf *m = m_gethdr();

	m->m_len = m->m_pkthdr.len = 60;
	if (keep) {
		NET_EPOCH_ENTER(et);
		if_transmit(ifp, &m, 1);
		NET_EPOCH_EXIT(et);
	} else
		if_transmit(ifp, &m, 1);
}

static void
rule1_ip_input(bool keep)
{
	struct epoch_tracker et;
	struct mbuf *m = m_gethdr();

	m->m_pkthdr.rcvif = ifp;
	if (keep) {
		NET_EPOCH_ENTER(et);
		ip_input(ifp, &m, 1);
		NET_EPOCH_EXIT(et);
	} else
		ip_input(ifp, &m, 1);
}

static void
rule1_lookup(bool keep)
{
	struct epoch_tracker et;
	struct in_addr addr = { .s_addr = htonl(0xc0000201) };

	if (keep) {
		NET_EPOCH_ENTER(et);
		(void)lla_lookup(ifp, addr);
		NET_EPOCH_EXIT(et);
	} else
		(void)lla_lookup(ifp, addr);
}

/* epair0a's node with an eiface at its lower hook. */
static node_p
graph(void)
{
	struct ngm_mkpeer mp = { .type = "eiface", .ourhook = "lower",
	    .peerhook = "ether" };
	struct ng_mesg *msg;
	node_p node;

	if (kld_ng_load(vnet, "ng_ether") != 0 ||
	    kld_ng_load(vnet, "ng_eiface") != 0)
		exit(2);
	ng_ctl_enter(vnet);
	node = ng_findnode(vnet, "epair0a");
	msg = ng_mkmessage(NGM_GENERIC_COOKIE, NGM_MKPEER, &mp, sizeof(mp));
	if (node == NULL || msg == NULL ||
	    ng_send_msg_path(node, msg, ".:") != 0)
		exit(2);
	ng_ctl_exit(vnet);
	return (node);
}

/* Data for a node's hook, past the base, which asserts the same. */
static void
graph_data(const struct ng_type *type, hook_p hook, bool keep)
{
	struct epoch_tracker et;
	struct ng_item it = { .it_n = 1, .it_m[0] = m_gethdr() };

	it.it_m[0]->m_len = it.it_m[0]->m_pkthdr.len = 60;
	memset(it.it_m[0]->m_data, 0, 60);
	if (keep) {
		NET_EPOCH_ENTER(et);
		(void)type->rcvdata(hook, &it);
		NET_EPOCH_EXIT(et);
	} else
		(void)type->rcvdata(hook, &it);
}

static void
rule1_eiface(bool keep)
{

	graph_data(&ng_eiface_type,
	    ng_hook_peer(ng_findhook(graph(), "lower")), keep);
}

static void
rule1_ether(bool keep)
{

	graph_data(&ng_ether_type, ng_findhook(graph(), "lower"), keep);
}

static void
rule2_sleepable_lock(bool keep)
{
	struct epoch_tracker et;

	if (keep)
		VNET_CONFIG_LOCK(vnet);
	NET_EPOCH_ENTER(et);
	if (!keep)
		VNET_CONFIG_LOCK(vnet);
	NET_EPOCH_EXIT(et);
	VNET_CONFIG_UNLOCK(vnet);
}

static void
rule3_configure(bool keep)
{
	struct epoch_tracker et;

	VNET_CONFIG_LOCK(vnet);
	if (!keep)
		NET_EPOCH_ENTER(et);
	(void)if_setflags(ifp, IFF_UP, 0);
	if (!keep)
		NET_EPOCH_EXIT(et);
	VNET_CONFIG_UNLOCK(vnet);
}

static void
rule3_detach(bool keep)
{
	struct epoch_tracker et;
	char err[256];

	VNET_CONFIG_LOCK(vnet);
	if (!keep)
		NET_EPOCH_ENTER(et);
	(void)machine_if_destroy(ma, "epair0a", err, sizeof(err));
	if (!keep)
		NET_EPOCH_EXIT(et);
	VNET_CONFIG_UNLOCK(vnet);
}

static void
rule6_wait_inside(bool keep)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	if (!keep)
		NET_EPOCH_WAIT();
	NET_EPOCH_EXIT(et);
	NET_EPOCH_WAIT();
}

static void
rule6_queued_twice(bool keep)
{
	static struct epoch_context ctx;
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	NET_EPOCH_CALL(no_callback, &ctx);
	if (!keep)
		NET_EPOCH_CALL(no_callback, &ctx);
	NET_EPOCH_EXIT(et);
}

static void
rule6_unlocked_writer(bool keep)
{

	if (keep)
		VNET_CONFIG_LOCK(vnet);
	(void)if_setmtu(ifp, 1000);
	if (keep)
		VNET_CONFIG_UNLOCK(vnet);
}

/* The reference of a dead interface cannot be taken, only tried. */
static void
rule7_from_zero(bool keep)
{
	struct epoch_tracker et;
	struct ifnet *dead;

	VNET_CONFIG_LOCK(vnet);
	if (if_alloc(vnet, IFT_ETHER, "dead", &dead) != 0)
		exit(2);
	NET_EPOCH_ENTER(et);
	if_free(dead);
	if (keep)
		exit(if_try_ref(dead) ? 2 : 0);
	if_ref(dead);
	NET_EPOCH_EXIT(et);
	VNET_CONFIG_UNLOCK(vnet);
}

static const struct rule {
	const char	*name;
	void		(*fn)(bool keep);
	const char	*says;		/* a word of the report */
} rules[] = {
	{ "1: transmit outside", rule1_transmit, "if_output.c" },
	{ "1: input outside", rule1_ip_input, "ip_input.c" },
	{ "1: neighbour lookup outside", rule1_lookup, "lltable" },
	{ "1: eiface input outside", rule1_eiface, "ng_eiface.c" },
	{ "1: ether node's input outside", rule1_ether, "ng_ether.c" },
	{ "2: sleepable lock inside", rule2_sleepable_lock,
	    "configuration lock" },
	{ "3: configuration inside", rule3_configure, "if.c" },
	{ "3: destroy inside", rule3_detach, "configuration lock" },
	{ "6: wait inside", rule6_wait_inside, "inside a section" },
	{ "6: context queued twice", rule6_queued_twice, "queued" },
	{ "6: writer without its lock", rule6_unlocked_writer,
	    "configuration lock" },
	{ "7: reference from zero", rule7_from_zero,
	    "reference taken from zero" },
};

static void
child(const struct rule *r, bool keep)
{
	const struct machine_config mc = { .mc_name = "rules",
	    .mc_nmbufs = 1024 };
	char err[256], made[IFNAMLEN];

	alarm(20);
	if (machine_start(&mc, &ma, err, sizeof(err)) != 0 ||
	    machine_if_create(ma, "epair", "", made, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		exit(2);
	}
	vnet = ma->ma_vnet;
	VNET_CONFIG_LOCK(vnet);
	ifp = if_byname(vnet, "epair0a");
	if (if_setflags(ifp, IFF_UP, 0) != 0)
		exit(2);
	VNET_CONFIG_UNLOCK(vnet);
	r->fn(keep);
	machine_stop(ma);
	exit(0);
}

/* Run one case; its exit status, and what it said on stderr. */
static int
run(const struct rule *r, bool keep, char *said, size_t len)
{
	int fds[2], status;
	size_t at = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		child(r, keep);
	}
	close(fds[1]);
	while (at < len - 1 && (n = read(fds[0], said + at, len - 1 - at)) > 0)
		at += (size_t)n;
	said[at] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return (status);
}

static void
test_rules(void **state)
{
	static char said[65536];
	int status;

	for (size_t i = 0; i < nitems(rules); i++) {
		status = run(&rules[i], true, said, sizeof(said));
		if (status != 0)
			fail_msg("rule %s, kept: status %#x: %s",
			    rules[i].name, status, said);
		status = run(&rules[i], false, said, sizeof(said));
		if (!WIFSIGNALED(status) && WEXITSTATUS(status) == 0)
			fail_msg("rule %s, broken: nobody noticed",
			    rules[i].name);
		if (strstr(said, rules[i].says) == NULL)
			fail_msg("rule %s, broken: the report does not say "
			    "'%s': %s", rules[i].name, rules[i].says, said);
		print_message("rule %s: %s", rules[i].name,
		    strtok(said, "\n"));
		print_message("\n");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
