/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The pipe node's commands, and how their arguments read.  Constants.
 */
#include <netgraph/ng_pipe.h>

#include "netgraph/nodes/ng_pipe_private.h"

static const struct ng_parse_struct_field pipe_hookstat_fields[] = {
	{ "FwdOctets", &ng_parse_uint64_type, 0 },
	{ "FwdFrames", &ng_parse_uint64_type, 0 },
	{ "queueDropOctets", &ng_parse_uint64_type, 0 },
	{ "queueDropFrames", &ng_parse_uint64_type, 0 },
	{ "delayDropOctets", &ng_parse_uint64_type, 0 },
	{ "delayDropFrames", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type pipe_hookstat_type = {
	.supertype = &ng_parse_struct_type, .info = pipe_hookstat_fields,
};
static const struct ng_parse_struct_field pipe_stats_fields[] = {
	{ "downstream", &pipe_hookstat_type, 0 },
	{ "upstream", &pipe_hookstat_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type pipe_stats_type = {
	.supertype = &ng_parse_struct_type, .info = pipe_stats_fields,
};

static const struct ng_parse_struct_field pipe_hookrun_fields[] = {
	{ "queues", &ng_parse_uint32_type, 0 },
	{ "queuedOctets", &ng_parse_uint32_type, 0 },
	{ "queuedFrames", &ng_parse_uint32_type, 0 },
	{ "delayedOctets", &ng_parse_uint32_type, 0 },
	{ "delayedFrames", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type pipe_hookrun_type = {
	.supertype = &ng_parse_struct_type, .info = pipe_hookrun_fields,
};
static const struct ng_parse_struct_field pipe_run_fields[] = {
	{ "downstream", &pipe_hookrun_type, 0 },
	{ "upstream", &pipe_hookrun_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type pipe_run_type = {
	.supertype = &ng_parse_struct_type, .info = pipe_run_fields,
};

static const struct ng_parse_struct_field pipe_hookcfg_fields[] = {
	{ "bandwidth", &ng_parse_uint64_type, 0 },
	{ "BER", &ng_parse_uint64_type, 0 },
	{ "queuelen", &ng_parse_uint32_type, 0 },
	{ "delaylen", &ng_parse_uint32_type, 0 },
	{ "duplicate", &ng_parse_uint32_type, 0 },
	{ "fifo", &ng_parse_uint32_type, 0 },
	{ "drr", &ng_parse_uint32_type, 0 },
	{ "wfq", &ng_parse_uint32_type, 0 },
	{ "droptail", &ng_parse_uint32_type, 0 },
	{ "drophead", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type pipe_hookcfg_type = {
	.supertype = &ng_parse_struct_type, .info = pipe_hookcfg_fields,
};
static const struct ng_parse_struct_field pipe_cfg_fields[] = {
	{ "bandwidth", &ng_parse_uint64_type, 0 },
	{ "delay", &ng_parse_uint64_type, 0 },
	{ "header_offset", &ng_parse_uint32_type, 0 },
	{ "overhead", &ng_parse_uint32_type, 0 },
	{ "downstream", &pipe_hookcfg_type, 0 },
	{ "upstream", &pipe_hookcfg_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type pipe_cfg_type = {
	.supertype = &ng_parse_struct_type, .info = pipe_cfg_fields,
};

const struct ng_cmdlist ng_pipe_cmds[] = {
	{ NGM_PIPE_COOKIE, NGM_PIPE_GET_STATS, "getstats", NULL,
	    &pipe_stats_type },
	{ NGM_PIPE_COOKIE, NGM_PIPE_CLR_STATS, "clrstats", NULL, NULL },
	{ NGM_PIPE_COOKIE, NGM_PIPE_GETCLR_STATS, "getclrstats", NULL,
	    &pipe_stats_type },
	{ NGM_PIPE_COOKIE, NGM_PIPE_GET_RUN, "getrun", NULL, &pipe_run_type },
	{ NGM_PIPE_COOKIE, NGM_PIPE_GET_CFG, "getcfg", NULL, &pipe_cfg_type },
	{ NGM_PIPE_COOKIE, NGM_PIPE_SET_CFG, "setcfg", &pipe_cfg_type, NULL },
	{ .name = NULL },
};
