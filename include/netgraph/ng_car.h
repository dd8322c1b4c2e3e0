/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The car node: a limit to the rate of each direction.  From lower to upper is
 * upstream.
 */
#ifndef NETGRAPH_NG_CAR_H
#define	NETGRAPH_NG_CAR_H

#include <netgraph/ng_message.h>

#define	NG_CAR_NODE_TYPE	"car"
#define	NGM_CAR_COOKIE		1173648034

#define	NG_CAR_HOOK_UPPER	"upper"
#define	NG_CAR_HOOK_LOWER	"lower"

/* Defaults. */
#define	NG_CAR_CBS_MIN		8192
#define	NG_CAR_EBS_MIN		8192
#define	NG_CAR_CIR_DFLT		10240

enum {
	NGM_CAR_GET_STATS = 1,		/* reply: struct ng_car_bulkstats */
	NGM_CAR_CLR_STATS = 2,
	NGM_CAR_GETCLR_STATS = 3,	/* reply: as GET_STATS */
	NGM_CAR_GET_CONF = 4,		/* reply: struct ng_car_bulkconf */
	NGM_CAR_SET_CONF = 5		/* the same */
};

/* What happens to a packet of each colour. */
enum {
	NG_CAR_ACTION_FORWARD = 1,
	NG_CAR_ACTION_DROP = 2,
	NG_CAR_ACTION_MARK = 3
};

/* mode */
enum {
	NG_CAR_SINGLE_RATE = 0,
	NG_CAR_DOUBLE_RATE = 1,
	NG_CAR_RED = 2,
	NG_CAR_SHAPE = 3
};

/* opt */
#define	NG_CAR_COLOR_AWARE	1
#define	NG_CAR_COUNT_PACKETS	2	/* instead of bytes */

struct ng_car_hookstats {
	uint64_t	passed_pkts;
	uint64_t	droped_pkts;	/* the field's spelling */
	uint64_t	green_pkts;
	uint64_t	yellow_pkts;
	uint64_t	red_pkts;
	uint64_t	errors;
};
NG_ASSERT_SIZE(struct ng_car_hookstats, 48);

struct ng_car_bulkstats {
	struct ng_car_hookstats	upstream;
	struct ng_car_hookstats	downstream;
};
NG_ASSERT_SIZE(struct ng_car_bulkstats, 96);

struct ng_car_hookconf {
	uint64_t	cbs;		/* committed burst, bytes */
	uint64_t	ebs;		/* excess burst, bytes */
	uint64_t	cir;		/* committed rate, bits a second */
	uint64_t	pir;		/* peak rate, bits a second */
	uint8_t		green_action;
	uint8_t		yellow_action;
	uint8_t		red_action;
	uint8_t		mode;
	uint8_t		opt;
};
NG_ASSERT_SIZE(struct ng_car_hookconf, 40);

struct ng_car_bulkconf {
	struct ng_car_hookconf	upstream;
	struct ng_car_hookconf	downstream;
};
NG_ASSERT_SIZE(struct ng_car_bulkconf, 80);

#endif /* NETGRAPH_NG_CAR_H */
