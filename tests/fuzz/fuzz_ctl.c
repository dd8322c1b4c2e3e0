/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Fuzzing the control socket's requests: an input is a conversation with a
 * machine in memory.
 *
 * An input that starts with '{' or '[' is lines as they come over the socket.
 * Any other is read as choices: commands, members and values from the tables
 * below, so that requests are well formed and reach the handlers' depths.
 *
 * Checked besides what the sanitizers see: each request gets a reply of the
 * protocol, and one that fails has changed neither interfaces nor routes.
 *
 * No real device is touched: a request to create an interface by another
 * driver than epair never reaches the machine.  Between inputs the machine is
 * put back to how it started.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ifnet/if_var.h"
#include "route/route_var.h"
#include "stack/machine.h"
#include "sys/defs.h"
#include "sys/log.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

#define	FUZZ_REQUESTS	32		/* in one conversation */
#define	FUZZ_ARGS	6		/* in one request */
#define	FUZZ_CHAIN	4		/* callbacks that make callbacks */

int	LLVMFuzzerInitialize(int *argc, char ***argv);
int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct machine *machine;
static struct ctl_command *commands;	/* the machine's, if.create guarded */
static json_t *sysctls;			/* as they were at the start */
static json_t *pristine;		/* interfaces and routes, likewise */
static bool tuned;			/* a sysctl may have been changed */

static const char *const members[] = {
	"name", "spec", "flags_set", "flags_clear", "mtu", "ether", "newname",
	"description", "metric", "cap_set", "cap_clear", "addr", "plen",
	"broadcast", "dst", "alias", "gateway", "interface", "blackhole",
	"reject", "static", "proto", "from", "limit", "temp", "pub", "all",
	"prefix", "value",
};

/* Values as JSON. */
static const char *const values[] = {
	"\"epair\"", "\"epair0a\"", "\"epair0b\"", "\"epair1\"",
	"\"epair1a\"", "\"lo0\"", "\"p1\"", "\"\"", "\"192.0.2.1\"",
	"\"192.0.2.2\"", "\"192.0.2.9\"", "\"192.0.2.255\"",
	"\"192.0.2.0\"", "\"198.51.100.1\"", "\"10.0.0.0\"", "\"0.0.0.0\"",
	"\"255.255.255.255\"", "\"224.0.0.1\"", "\"127.0.0.1\"",
	"\"02:00:00:00:00:01\"", "\"ff:ff:ff:ff:ff:ff\"", "true", "false",
	"null", "0", "1", "3", "8", "24", "25", "30", "31", "32", "72",
	"1500", "9000", "65535", "-1", "4294967295", "131073",
	"9223372036854775807", "1.5", "[]", "{}", "\"ip\"", "\"arp\"",
	"\"10.0.0.0/8\"", "\"hw.intr_epoch_batch\"",
	"\"net.inet.ip.forwarding\"", "\"net.link.ether.inet.max_age\"",
	"\"1000\"", "\"if_epair\"", "\"epair,cpu=0\"", "\"nope:x\"",
};

/* ---- The machine ---- */

/* Only pairs in memory are made here. */
static int
create_guarded(struct ctl_req *cr, void *arg)
{
	const char *name, *spec;
	size_t i;

	name = json_string_value(json_object_get(cr->cr_args, "name"));
	spec = json_string_value(json_object_get(cr->cr_args, "spec"));
	if (spec == NULL || spec[0] == '\0')
		spec = name;
	for (i = 0; spec != NULL && i < machine_ncommands; i++)
		if (strcmp(machine_commands[i].cc_name, "if.create") == 0 &&
		    strncmp(spec, "epair", 5) == 0)
			return (machine_commands[i].cc_fn(cr, arg));
	return (ctl_fail(cr, EPERM, "spec", "not while fuzzing"));
}

static int
set_noted(struct ctl_req *cr, void *arg)
{
	size_t i;

	tuned = true;
	for (i = 0; strcmp(machine_commands[i].cc_name, "sysctl.set") != 0;
	    i++)
		continue;
	return (machine_commands[i].cc_fn(cr, arg));
}

static int
first_route(const struct rt_info *ri, void *arg)
{
	struct rt_info *first = arg;

	*first = *ri;
	return (1);
}

static json_t *
call(const char *cmd)
{
	char line[64];
	int len;

	len = snprintf(line, sizeof(line), "{\"cmd\":\"%s\"}", cmd);
	return (ctl_dispatch(commands, machine_ncommands, machine, line,
	    (size_t)len));
}

/* A reply that is none ends the run. */
static bool
reply_ok(const json_t *reply)
{
	const json_t *ok;

	ok = json_object_get(reply, "ok");
	if (!json_is_boolean(ok) || json_object_get(reply, "id") == NULL)
		ne_panic(__FILE__, __LINE__, "no reply");
	if (json_is_true(ok)) {
		if (!json_is_object(json_object_get(reply, "result")))
			ne_panic(__FILE__, __LINE__, "no result");
		return (true);
	}
	if (json_integer_value(json_object_get(reply, "errno")) <= 0 ||
	    json_string_length(json_object_get(reply, "error")) == 0)
		ne_panic(__FILE__, __LINE__, "an error without a reason");
	return (false);
}

/* Interfaces and routes without what packets change. */
static json_t *
snapshot(void)
{
	json_t *elem, *ifs, *routes, *snap;
	size_t i;

	ifs = call("if.list");
	routes = call("route.list");
	json_array_foreach(json_object_get(json_object_get(ifs, "result"),
	    "interfaces"), i, elem) {
		json_object_del(elem, "counters");
		json_object_del(elem, "drops");
	}
	json_array_foreach(json_object_get(json_object_get(routes, "result"),
	    "routes"), i, elem) {
		json_object_del(elem, "packets");
		json_object_del(elem, "bytes");
	}
	snap = json_pack("[o,o]", ifs, routes);
	if (snap == NULL)
		ne_panic(__FILE__, __LINE__, "no memory");
	return (snap);
}

static void
request(const char *line, size_t len)
{
	json_t *after, *before, *reply;

	before = snapshot();
	reply = ctl_dispatch(commands, machine_ncommands, machine, line, len);
	if (!reply_ok(reply)) {
		after = snapshot();
		if (!json_equal(before, after))
			ne_panic(__FILE__, __LINE__, "%.*s failed and changed "
			    "something", (int)len, line);
		json_decref(after);
	}
	json_decref(before);
	json_decref(reply);
}

/* All interfaces but lo0 go, and its name comes back. */
static void
reset_interfaces(struct vnet *vnet)
{
	char err[256], name[IFNAMLEN];
	struct ifnet *ifp;

	for (;;) {
		CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
			if (ifp != vnet->v_loif)
				break;
		if (ifp == NULL)
			break;
		(void)snprintf(name, sizeof(name), "%s", ifp->if_name);
		if (machine_if_destroy(machine, name, err, sizeof(err)) != 0)
			ne_panic(__FILE__, __LINE__, "%s", err);
	}
	if (strcmp(vnet->v_loif->if_name, "lo0") != 0)
		(void)if_rename(vnet->v_loif, "lo0");
}

/* lo0 is up, plain, with 127.0.0.1/8 alone, and no other routes are there. */
static void
reset_network(struct vnet *vnet)
{
	const struct in_addr addr = { .s_addr = htonl(INADDR_LOOPBACK) };
	const struct in_addr none = { .s_addr = INADDR_ANY };
	struct ifnet *lo = vnet->v_loif;
	struct ifaddr *ifa;
	struct rt_info ri;

	while ((ifa = CK_STAILQ_FIRST(&lo->if_addrs)) != NULL)
		(void)if_addr_del(lo, ifa->ifa_addr);
	while (rt_walk(vnet, first_route, &ri) != 0)
		if (rt_delete(vnet, ri.ri_dst, ri.ri_plen) != 0)
			ne_panic(__FILE__, __LINE__, "a route stays");
	lo->if_metric = 0;
	lo->if_descr[0] = '\0';
	atomic_store_explicit(&lo->if_capenable, lo->if_capabilities,
	    memory_order_relaxed);
	if (if_setmtu(lo, lo->if_mtu_max) != 0 ||
	    if_setflags(lo, IFF_UP, IFF_USERFLAGS & ~IFF_UP) != 0 ||
	    if_addr_add(lo, addr, 8, none, none) != 0)
		ne_panic(__FILE__, __LINE__, "lo0 is not itself again");
}

/* Put the machine back, as far as the input changed it. */
static void
reset(void)
{
	struct vnet *vnet = machine->ma_vnet;
	json_t *now, *oid;
	char err[256];
	size_t i;

	VNET_CONFIG_LOCK(vnet);
	reset_interfaces(vnet);
	now = snapshot();
	if (!json_equal(now, pristine))
		reset_network(vnet);
	json_decref(now);
	VNET_CONFIG_UNLOCK(vnet);
	if (!tuned)
		return;
	json_array_foreach(sysctls, i, oid)
		(void)sysctl_set(vnet->v_sysctl, json_string_value(
		    json_object_get(oid, "name")), json_string_value(
		    json_object_get(oid, "value")), err, sizeof(err));
	tuned = false;
}

/*
 * What waits for a grace period hangs on memory that the leak checker does not
 * look at.  So it checks once, at the end, when that is over: a route's end
 * may be its address's, and that an interface's.
 */
static void
drain(void)
{
	int i;

	for (i = 0; i < FUZZ_CHAIN; i++)
		NET_EPOCH_DRAIN_CALLBACKS();
}

static void
no_leak_check_per_input(int *argc, char ***argv)
{
	static char flag[] = "-detect_leaks=0";
	char **args;

	args = calloc((size_t)*argc + 2, sizeof(*args));
	if (args == NULL)
		ne_panic(__FILE__, __LINE__, "no memory");
	memcpy(args, *argv, (size_t)*argc * sizeof(*args));
	args[(*argc)++] = flag;
	*argv = args;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct machine_config mc = { .mc_name = "fuzz", .mc_nmbufs = 4096,
	    .mc_ncpus = 1 };
	char err[256];
	json_t *elem, *reply;
	int cpus[1024];
	size_t i;

	(void)thread_cpus(cpus, (int)nitems(cpus));
	mc.mc_cpus = cpus;
	log_level(LOG_ERR);
	if (machine_start(&mc, &machine, err, sizeof(err)) != 0)
		ne_panic(__FILE__, __LINE__, "%s", err);
	commands = calloc(machine_ncommands, sizeof(*commands));
	if (commands == NULL)
		ne_panic(__FILE__, __LINE__, "no memory");
	for (i = 0; i < machine_ncommands; i++) {
		commands[i] = machine_commands[i];
		if (strcmp(commands[i].cc_name, "if.create") == 0)
			commands[i].cc_fn = create_guarded;
		if (strcmp(commands[i].cc_name, "sysctl.set") == 0)
			commands[i].cc_fn = set_noted;
	}
	sysctls = json_array();
	reply = call("sysctl.list");
	json_array_foreach(json_object_get(json_object_get(reply, "result"),
	    "oids"), i, elem)
		if (json_is_true(json_object_get(elem, "writable")))
			json_array_append(sysctls, elem);
	json_decref(reply);
	VNET_CONFIG_LOCK(machine->ma_vnet);
	reset_network(machine->ma_vnet);
	VNET_CONFIG_UNLOCK(machine->ma_vnet);
	pristine = snapshot();
	no_leak_check_per_input(argc, argv);
	return (atexit(drain));
}

/* ---- Inputs ---- */

/* Lines as they are. */
static void
converse_lines(const char *data, size_t size)
{
	const char *nl;
	size_t len;
	int i;

	for (i = 0; i < FUZZ_REQUESTS && size > 0; i++) {
		nl = memchr(data, '\n', size);
		len = nl != NULL ? (size_t)(nl - data) + 1 : size;
		request(data, len);
		data += len;
		size -= len;
	}
}

struct choices {
	const uint8_t	*ch_data;
	size_t		 ch_size;
};

static unsigned int
choose(struct choices *ch, size_t n)
{
	unsigned int c;

	if (ch->ch_size == 0)
		return (0);
	c = *ch->ch_data++;
	ch->ch_size--;
	return (c % (unsigned int)n);
}

/* Requests made of choices. */
static void
converse_choices(struct choices *ch)
{
	char line[1024];
	size_t off;
	unsigned int args, i, n;

	for (n = 0; n < FUZZ_REQUESTS && ch->ch_size > 0; n++) {
		off = (size_t)snprintf(line, sizeof(line), "{\"id\":%u,"
		    "\"cmd\":\"%s\",\"args\":{", n,
		    commands[choose(ch, machine_ncommands)].cc_name);
		args = choose(ch, FUZZ_ARGS + 1);
		for (i = 0; i < args; i++)
			off += (size_t)snprintf(line + off,
			    sizeof(line) - off, "%s\"%s\":%s",
			    i > 0 ? "," : "",
			    members[choose(ch, nitems(members))],
			    values[choose(ch, nitems(values))]);
		off += (size_t)snprintf(line + off, sizeof(line) - off, "}}");
		request(line, off);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct choices ch = { .ch_data = data, .ch_size = size };

	if (size > 0 && (data[0] == '{' || data[0] == '['))
		converse_lines((const char *)data, size);
	else
		converse_choices(&ch);
	reset();
	return (0);
}
