/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netstat -f netgraph: the sockets of programs with nodes.
 */

#include "tools/netstat.h"
#include "tools/out.h"
#include "tools/tool.h"

static void
netstat_graph_socket(struct out *o, const json_t *sk)
{
	const char *type = js_bool(sk, "data") ? "data" : "ctrl";
	char addr[64];

	(void)snprintf(addr, sizeof(addr), "[%jx]:%s",
	    (uintmax_t)js_int(sk, "id"), js_str(sk, "name"));
	out_instance(o);
	out_str(o, "type", type, "%-5s ", type);
	out_int(o, "receive-bytes-waiting", js_int(sk, "recvq"), "%6jd ",
	    (intmax_t)js_int(sk, "recvq"));
	out_int(o, "send-bytes-waiting", js_int(sk, "sendq"), "%6jd ",
	    (intmax_t)js_int(sk, "sendq"));
	out_str(o, "address", addr, "%-20s ", addr);
	out_int(o, "hooks", js_int(sk, "hooks"), "%5jd\n",
	    (intmax_t)js_int(sk, "hooks"));
	out_close(o);
}

int
netstat_graph(struct tool_ctx *tc)
{
	struct out *o = tc->tc_o;
	const json_t *sk;
	json_t *res;
	size_t i;
	int status;

	if ((status = tool_do(tc, "graph.sockets", NULL, &res)) != 0)
		return (status);
	out_open(o, "statistics");
	out_list(o, "socket");
	if (json_array_size(js_get(res, "sockets")) > 0)
		out_text(o, "Netgraph sockets\n%-5s %6s %6s %-20s %s\n",
		    "Type", "Recv-Q", "Send-Q", "Node Address", "#Hooks");
	json_array_foreach(js_get(res, "sockets"), i, sk)
		netstat_graph_socket(o, sk);
	out_close(o);
	out_close(o);
	json_decref(res);
	return (0);
}
