/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * A first program for the graph of a machine: make a node, join two of its
 * hooks, send a packet from one to the other, and list all nodes.
 *
 *	make && NETEPOCH_MACHINE=M1 ./hello
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <netgraph.h>

static void
list_nodes(int cs)
{
	const struct namelist *list;
	struct ng_mesg *reply;
	uint32_t i;

	if (NgSendMsg(cs, ".:", NGM_GENERIC_COOKIE, NGM_LISTNODES, NULL, 0) ==
	    -1 || NgAllocRecvMsg(cs, &reply, NULL) == -1)
		err(1, "listnodes");
	list = (const struct namelist *)(const void *)reply->data;
	for (i = 0; i < list->numnames; i++)
		printf("[%x]: %s, a %s with %u hooks\n",
		    list->nodeinfo[i].id, list->nodeinfo[i].name,
		    list->nodeinfo[i].type, list->nodeinfo[i].hooks);
	free(reply);
}

int
main(void)
{
	static const unsigned char text[] = "hello";
	struct ngm_connect con = {
		.path = ".:",
		.ourhook = "a",
		.peerhook = "b",
	};
	char hook[NG_HOOKSIZ];
	unsigned char *packet;
	int cs, ds, len;

	if (NgMkSockNode("hello", &cs, &ds) == -1)
		err(1, "no node");
	if (NgSendMsg(cs, ".:", NGM_GENERIC_COOKIE, NGM_CONNECT, &con,
	    sizeof(con)) == -1)
		err(1, "connect");
	if (NgSendData(ds, "a", text, sizeof(text)) == -1)
		err(1, "send");
	len = NgAllocRecvData(ds, &packet, hook);
	if (len == -1)
		err(1, "receive");
	printf("%d bytes on hook %s: %s\n", len, hook, (char *)packet);
	free(packet);
	list_nodes(cs);
	return (0);			/* the node goes with its descriptors */
}
