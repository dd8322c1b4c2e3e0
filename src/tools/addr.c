/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Addresses as people type them, to bytes and back.  No state. */

#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "tools/addr.h"

bool
addr_parse(const char *s, struct in_addr *addr)
{
	struct hostent *he;
	bool found = false;

	if (inet_pton(AF_INET, s, addr) == 1)
		return (true);
	if (!isalpha((unsigned char)*s))
		return (false);
	sethostent(1);
	while (!found && (he = gethostent()) != NULL) {
		if (he->h_addrtype != AF_INET || strcasecmp(he->h_name, s) != 0)
			continue;
		memcpy(addr, he->h_addr_list[0], sizeof(*addr));
		found = true;
	}
	endhostent();
	return (found);
}

const char *
addr_name(const char *text)
{
	static char name[256];
	struct hostent *he;
	struct in_addr addr;
	const char *found = NULL;

	if (inet_pton(AF_INET, text, &addr) != 1)
		return (NULL);
	sethostent(1);
	while (found == NULL && (he = gethostent()) != NULL) {
		if (he->h_addrtype != AF_INET ||
		    memcmp(he->h_addr_list[0], &addr, sizeof(addr)) != 0)
			continue;
		(void)snprintf(name, sizeof(name), "%s", he->h_name);
		found = name;
	}
	endhostent();
	return (found);
}

/* A decimal number of at most three digits; moves *sp behind it. */
static bool
addr_octet(const char **sp, unsigned int max, unsigned int *val)
{
	const char *s = *sp;
	int n;

	for (n = 0, *val = 0; n < 3 && isdigit((unsigned char)*s); n++, s++)
		*val = *val * 10 + (unsigned int)(*s - '0');
	*sp = s;
	return (n > 0 && *val <= max);
}

bool
addr_prefix_parse(const char *s, struct in_addr *addr, int *plen)
{
	uint32_t ip = 0;
	unsigned int val;
	int n = 0;

	for (;;) {
		if (!addr_octet(&s, 255, &val) || n == 4)
			return (false);
		ip |= val << (24 - 8 * n++);
		if (*s != '.')
			break;
		s++;
	}
	if (*s++ != '/' || !addr_octet(&s, 32, &val) || *s != '\0')
		return (false);
	addr->s_addr = htonl(ip);
	*plen = (int)val;
	return (true);
}

struct in_addr
addr_mask(int plen)
{
	struct in_addr mask;

	if (plen <= 0)
		mask.s_addr = 0;
	else
		mask.s_addr = htonl(UINT32_MAX << (plen < 32 ? 32 - plen : 0));
	return (mask);
}

bool
addr_mask_parse(const char *s, int *plen)
{
	struct in_addr in;
	uint32_t mask = 0;
	int n = 0;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		for (s += 2; isxdigit((unsigned char)*s); s++, n++) {
			if (n == 8)
				return (false);
			mask = mask << 4 | (uint32_t)(isdigit((unsigned char)*s)
			    ? *s - '0' : tolower((unsigned char)*s) - 'a' + 10);
		}
		if (n == 0 || *s != '\0')
			return (false);
	} else {
		if (inet_pton(AF_INET, s, &in) != 1)
			return (false);
		mask = ntohl(in.s_addr);
	}
	if ((~mask & (~mask + 1)) != 0)
		return (false);
	*plen = __builtin_popcount(mask);
	return (true);
}

bool
mac_parse(const char *s, uint8_t mac[6])
{
	unsigned int val;
	int i, n;

	for (i = 0; i < 6; i++) {
		val = 0;
		for (n = 0; n < 2 && isxdigit((unsigned char)*s); n++, s++)
			val = val << 4 | (unsigned int)(isdigit(
			    (unsigned char)*s) ? *s - '0' :
			    tolower((unsigned char)*s) - 'a' + 10);
		if (n == 0)
			return (false);
		mac[i] = (uint8_t)val;
		if (i < 5 && *s != ':' && *s != '-')
			return (false);
		if (i < 5)
			s++;
	}
	return (*s == '\0');
}

void
mac_format(const uint8_t mac[6], char sep, char buf[MAC_STRLEN])
{
	(void)snprintf(buf, MAC_STRLEN, "%02x%c%02x%c%02x%c%02x%c%02x%c%02x",
	    mac[0], sep, mac[1], sep, mac[2], sep, mac[3], sep, mac[4], sep,
	    mac[5]);
}
