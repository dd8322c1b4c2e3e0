/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of the control commands share: a machine in memory with a
 * client in its process, calls that must succeed and calls that must fail,
 * and a pair of interfaces.
 */
#ifndef _STACK_CTL_TEST_H_
#define	_STACK_CTL_TEST_H_

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctl/ctl.h"
#include "ifnet/if_var.h"
#include "stack/machine.h"
#include "sys/thread.h"

static struct machine *machine;
static struct ctl_client *client;

static inline int
group_setup(void **state)
{
	struct machine_config mc = { .mc_name = "T1", .mc_nmbufs = 4096 };
	char err[256];
	int cpu[8];

	(void)thread_cpus(cpu, (int)nitems(cpu));
	mc.mc_cpus = cpu;
	mc.mc_ncpus = 1;
	if (machine_start(&mc, &machine, err, sizeof(err)) != 0) {
		(void)fprintf(stderr, "%s\n", err);
		return (-1);
	}
	client = ctl_connect_local(machine_commands, machine_ncommands,
	    machine);
	return (client != NULL ? 0 : -1);
}

static inline int
group_teardown(void **state)
{

	ctl_close(client);
	machine_stop(machine);
	return (0);
}

/* ---- Calling ---- */

/* Call, expect success; the result is the caller's. */
static inline json_t *
ok(const char *cmd, const char *fmt, ...)
{
	struct ctl_error ce;
	json_t *args, *result;
	va_list ap;

	va_start(ap, fmt);
	args = json_vpack_ex(NULL, 0, fmt, ap);
	va_end(ap);
	assert_non_null(args);
	if (ctl_call(client, cmd, args, &result, &ce) != 0)
		fail_msg("%s: %s", cmd, ce.ce_text);
	return (result);
}

/* The same for its effect only. */
#define	DO(...)		json_decref(ok(__VA_ARGS__))

/* Call, expect an error, the member it names, and words of its text. */
static inline void
bad(int error, const char *field, const char *words, const char *cmd,
    const char *fmt, ...)
{
	struct ctl_error ce;
	json_t *args, *result;
	va_list ap;

	va_start(ap, fmt);
	args = json_vpack_ex(NULL, 0, fmt, ap);
	va_end(ap);
	assert_non_null(args);
	if (ctl_call(client, cmd, args, &result, &ce) == 0)
		fail_msg("%s: no error, wanted \"%s\"", cmd, words);
	if (strstr(ce.ce_text, words) == NULL)
		fail_msg("%s: \"%s\" is not in \"%s\"", cmd, words,
		    ce.ce_text);
	assert_string_equal(ce.ce_field, field);
	assert_int_equal(ce.ce_errno, error);
	assert_null(result);
}

static inline const char *
str(const json_t *obj, const char *name)
{

	assert_true(json_is_string(json_object_get(obj, name)));
	return (json_string_value(json_object_get(obj, name)));
}

static inline json_int_t
num(const json_t *obj, const char *name)
{

	assert_true(json_is_integer(json_object_get(obj, name)));
	return (json_integer_value(json_object_get(obj, name)));
}

/* An interface's object; the caller's. */
static inline json_t *
ifobj(const char *name)
{
	json_t *obj, *result;

	result = ok("if.list", "{ss}", "name", name);
	assert_int_equal(json_array_size(json_object_get(result,
	    "interfaces")), 1);
	obj = json_incref(json_array_get(json_object_get(result,
	    "interfaces"), 0));
	json_decref(result);
	return (obj);
}

static inline json_int_t
ifnum(const char *name, const char *member)
{
	json_t *obj;
	json_int_t n;

	obj = ifobj(name);
	n = num(obj, member);
	json_decref(obj);
	return (n);
}

static inline void
expect_ifstr(const char *name, const char *member, const char *wanted)
{
	json_t *obj;

	obj = ifobj(name);
	assert_string_equal(str(obj, member), wanted);
	json_decref(obj);
}

/* The addresses of an interface as "A/L A/L". */
static inline void
expect_addrs(const char *name, const char *wanted)
{
	char buf[256] = "", one[32];
	json_t *a, *obj;
	size_t i;

	obj = ifobj(name);
	json_array_foreach(json_object_get(obj, "addrs"), i, a) {
		(void)snprintf(one, sizeof(one), "%s%s/%d", i > 0 ? " " : "",
		    str(a, "addr"), (int)num(a, "plen"));
		(void)strcat(buf, one);
	}
	assert_string_equal(buf, wanted);
	json_decref(obj);
}

static inline bool
has_route(const char *dst, int plen)
{
	struct ctl_error ce;
	json_t *result;

	if (ctl_call(client, "route.get", json_pack("{sssi}", "addr", dst,
	    "plen", plen), &result, &ce) != 0)
		return (false);
	json_decref(result);
	return (true);
}

static inline struct ifnet *
ifnet_of(const char *name)
{
	struct ifnet *ifp;

	VNET_CONFIG_LOCK(machine->ma_vnet);
	ifp = if_byname(machine->ma_vnet, name);
	VNET_CONFIG_UNLOCK(machine->ma_vnet);
	assert_non_null(ifp);
	return (ifp);
}

static inline int
refuse_init(struct ifnet *ifp)
{

	return (EIO);
}

/* ---- A pair for a test: epair0a, epair0b ---- */

static inline int
pair_setup(void **state)
{

	DO("if.create", "{ss}", "name", "epair0");
	return (0);
}

static inline int
pair_teardown(void **state)
{

	DO("if.destroy", "{ss}", "name", "epair0a");
	return (0);
}

#define	PAIR(fn)							\
	cmocka_unit_test_setup_teardown(fn, pair_setup, pair_teardown)

#endif /* _STACK_CTL_TEST_H_ */
