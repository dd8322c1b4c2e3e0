/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The netflow node's commands, and how their arguments read.  Constants.  The
 * names of info have blanks in them: they can be printed, not parsed.
 */
#include <netgraph/ng_netflow.h>

#include "netgraph/nodes/ng_netflow_private.h"

static const struct ng_parse_struct_field nf_info_fields[] = {
	{ "IPv4 bytes", &ng_parse_uint64_type, 0 },
	{ "IPv4 packets", &ng_parse_uint32_type, 0 },
	{ "IPv6 bytes", &ng_parse_uint64_type, 0 },
	{ "IPv6 packets", &ng_parse_uint32_type, 0 },
	{ "IPv4 skipped bytes", &ng_parse_uint64_type, 0 },
	{ "IPv4 skipped packets", &ng_parse_uint32_type, 0 },
	{ "IPv6 skipped bytes", &ng_parse_uint64_type, 0 },
	{ "IPv6 skipped packets", &ng_parse_uint32_type, 0 },
	{ "active expiries", &ng_parse_uint64_type, 0 },
	{ "inactive expiries", &ng_parse_uint64_type, 0 },
	{ "IPv4 records used", &ng_parse_uint32_type, 0 },
	{ "IPv6 records used", &ng_parse_uint32_type, 0 },
	{ "failed allocations", &ng_parse_uint32_type, 0 },
	{ "V5 failed exports", &ng_parse_uint32_type, 0 },
	{ "V9 failed exports", &ng_parse_uint32_type, 0 },
	{ "mbuf reallocations", &ng_parse_uint32_type, 0 },
	{ "fibs allocated", &ng_parse_uint32_type, 0 },
	{ "Inactive timeout", &ng_parse_uint32_type, 0 },
	{ "Active timeout", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nf_info_type = {
	.supertype = &ng_parse_struct_type, .info = nf_info_fields,
};
static const struct ng_parse_struct_field nf_ifinfo_fields[] = {
	{ "packets", &ng_parse_uint32_type, 0 },
	{ "data link type", &ng_parse_uint8_type, 0 },
	{ "index", &ng_parse_uint16_type, 0 },
	{ "conf", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nf_ifinfo_type = {
	.supertype = &ng_parse_struct_type, .info = nf_ifinfo_fields,
};
static const struct ng_parse_struct_field nf_setdlt_fields[] = {
	{ "iface", &ng_parse_uint16_type, 0 },
	{ "dlt", &ng_parse_uint8_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nf_setdlt_type = {
	.supertype = &ng_parse_struct_type, .info = nf_setdlt_fields,
};
static const struct ng_parse_struct_field nf_setifindex_fields[] = {
	{ "iface", &ng_parse_uint16_type, 0 },
	{ "index", &ng_parse_uint16_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nf_setifindex_type = {
	.supertype = &ng_parse_struct_type, .info = nf_setifindex_fields,
};
static const struct ng_parse_struct_field nf_settimeouts_fields[] = {
	{ "inactive", &ng_parse_uint32_type, 0 },
	{ "active", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nf_settimeouts_type = {
	.supertype = &ng_parse_struct_type, .info = nf_settimeouts_fields,
};
static const struct ng_parse_struct_field nf_setconfig_fields[] = {
	{ "iface", &ng_parse_uint16_type, 0 },
	{ "conf", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nf_setconfig_type = {
	.supertype = &ng_parse_struct_type, .info = nf_setconfig_fields,
};
static const struct ng_parse_struct_field nf_settemplate_fields[] = {
	{ "time", &ng_parse_uint16_type, 0 },
	{ "packets", &ng_parse_uint16_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nf_settemplate_type = {
	.supertype = &ng_parse_struct_type, .info = nf_settemplate_fields,
};
static const struct ng_parse_struct_field nf_setmtu_fields[] = {
	{ "mtu", &ng_parse_uint16_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nf_setmtu_type = {
	.supertype = &ng_parse_struct_type, .info = nf_setmtu_fields,
};
static const struct ng_parse_struct_field nf_v9info_fields[] = {
	{ "v9 template packets", &ng_parse_uint16_type, 0 },
	{ "v9 template time", &ng_parse_uint16_type, 0 },
	{ "v9 MTU", &ng_parse_uint16_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nf_v9info_type = {
	.supertype = &ng_parse_struct_type, .info = nf_v9info_fields,
};

const struct ng_cmdlist ng_netflow_cmds[] = {
	{ NGM_NETFLOW_COOKIE, NGM_NETFLOW_INFO, "info", NULL, &nf_info_type },
	{ NGM_NETFLOW_COOKIE, NGM_NETFLOW_IFINFO, "ifinfo",
	    &ng_parse_uint16_type, &nf_ifinfo_type },
	{ NGM_NETFLOW_COOKIE, NGM_NETFLOW_SETDLT, "setdlt", &nf_setdlt_type,
	    NULL },
	{ NGM_NETFLOW_COOKIE, NGM_NETFLOW_SETIFINDEX, "setifindex",
	    &nf_setifindex_type, NULL },
	{ NGM_NETFLOW_COOKIE, NGM_NETFLOW_SETTIMEOUTS, "settimeouts",
	    &nf_settimeouts_type, NULL },
	{ NGM_NETFLOW_COOKIE, NGM_NETFLOW_SETCONFIG, "setconfig",
	    &nf_setconfig_type, NULL },
	{ NGM_NETFLOW_COOKIE, NGM_NETFLOW_SETTEMPLATE, "settemplate",
	    &nf_settemplate_type, NULL },
	{ NGM_NETFLOW_COOKIE, NGM_NETFLOW_SETMTU, "setmtu", &nf_setmtu_type,
	    NULL },
	{ NGM_NETFLOW_COOKIE, NGM_NETFLOW_V9INFO, "v9info", NULL,
	    &nf_v9info_type },
	{ .name = NULL },
};
