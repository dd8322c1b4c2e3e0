/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The place where some programs look for <netgraph/ng_netflow.h>.
 */
#ifndef NETGRAPH_NETFLOW_NG_NETFLOW_H
#define	NETGRAPH_NETFLOW_NG_NETFLOW_H

#include <netgraph/ng_netflow.h>

#endif /* NETGRAPH_NETFLOW_NG_NETFLOW_H */
