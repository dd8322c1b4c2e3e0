/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Addresses as people type them.  Names are looked up in hosts(5) only: the
 * way to a name server may be the very route that is being asked about.
 */
#ifndef _TOOLS_ADDR_H_
#define	_TOOLS_ADDR_H_

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define	MAC_STRLEN	18		/* "02:00:00:00:00:01" and NUL */

/* A dotted quad or a name of hosts(5); network order. */
bool	addr_parse(const char *s, struct in_addr *addr);
/* "10.0.0.0/8", "10/8": host bits are kept.  false: not of this form. */
bool	addr_prefix_parse(const char *s, struct in_addr *addr, int *plen);
/* "0xffffff00", "255.255.255.0": contiguous masks only. */
bool	addr_mask_parse(const char *s, int *plen);
struct in_addr addr_mask(int plen);	/* plen 0..32; beyond: clamped */
/* The name of an address, NULL if hosts(5) has none; until the next call. */
const char *addr_name(const char *addr);

/* Six bytes in hex, parted by ':' or '-', one or two digits each. */
bool	mac_parse(const char *s, uint8_t mac[6]);
void	mac_format(const uint8_t mac[6], char sep, char buf[MAC_STRLEN]);

#endif /* _TOOLS_ADDR_H_ */
