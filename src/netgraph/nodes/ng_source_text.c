/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The source node's commands, and how their arguments read.  Constants.
 */
#include <netgraph/ng_source.h>

#include "netgraph/nodes/ng_source_private.h"

static const struct ng_parse_struct_field source_time_fields[] = {
	{ "tv_sec", &ng_parse_int64_type, 0 },
	{ "tv_usec", &ng_parse_int64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type source_time_type = {
	.supertype = &ng_parse_struct_type, .info = source_time_fields,
};
static const struct ng_parse_struct_field source_stats_fields[] = {
	{ "outOctets", &ng_parse_uint64_type, 0 },
	{ "outFrames", &ng_parse_uint64_type, 0 },
	{ "queueOctets", &ng_parse_uint32_type, 0 },
	{ "queueFrames", &ng_parse_uint32_type, 0 },
	{ "maxPps", &ng_parse_uint32_type, 0 },
	{ "startTime", &source_time_type, 0 },
	{ "endTime", &source_time_type, 0 },
	{ "elapsedTime", &source_time_type, 0 },
	{ "lastTime", &source_time_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type source_stats_type = {
	.supertype = &ng_parse_struct_type, .info = source_stats_fields,
};
static const struct ng_parse_struct_field source_embed_fields[] = {
	{ "offset", &ng_parse_hint16_type, 0 },
	{ "flags", &ng_parse_hint8_type, 0 },
	{ "spare", &ng_parse_uint8_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type source_embed_type = {
	.supertype = &ng_parse_struct_type, .info = source_embed_fields,
};
static const struct ng_parse_struct_field source_counter_fields[] = {
	{ "offset", &ng_parse_hint16_type, 0 },
	{ "flags", &ng_parse_hint8_type, 0 },
	{ "width", &ng_parse_uint8_type, 0 },
	{ "next_val", &ng_parse_uint32_type, 0 },
	{ "min_val", &ng_parse_uint32_type, 0 },
	{ "max_val", &ng_parse_uint32_type, 0 },
	{ "increment", &ng_parse_int32_type, 0 },
	{ "index", &ng_parse_uint8_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type source_counter_type = {
	.supertype = &ng_parse_struct_type, .info = source_counter_fields,
};

const struct ng_cmdlist ng_source_cmds[] = {
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_GET_STATS, "getstats", NULL,
	    &source_stats_type },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_CLR_STATS, "clrstats", NULL, NULL },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_GETCLR_STATS, "getclrstats", NULL,
	    &source_stats_type },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_START, "start",
	    &ng_parse_uint64_type, NULL },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_STOP, "stop", NULL, NULL },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_CLR_DATA, "clrdata", NULL, NULL },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_SETIFACE, "setiface",
	    &ng_parse_string_type, NULL },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_SETPPS, "setpps",
	    &ng_parse_uint32_type, NULL },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_SET_TIMESTAMP, "settimestamp",
	    &source_embed_type, NULL },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_GET_TIMESTAMP, "gettimestamp", NULL,
	    &source_embed_type },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_SET_COUNTER, "setcounter",
	    &source_counter_type, NULL },
	{ NGM_SOURCE_COOKIE, NGM_SOURCE_GET_COUNTER, "getcounter",
	    &ng_parse_uint8_type, &source_counter_type },
	{ .name = NULL },
};
