/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* What ifconfig's two files share: which to show and how, and flag names. */
#ifndef _TOOLS_IFCONFIG_H_
#define	_TOOLS_IFCONFIG_H_

#include <jansson.h>
#include <stdbool.h>

#include "tools/out.h"

/* Flags that the tool itself asks for or about. */
#define	IFCF_UP		0x1
#define	IFCF_BROADCAST	0x2
#define	IFCF_DEBUG	0x4
#define	IFCF_LOOPBACK	0x8
#define	IFCF_POINTOPOINT 0x10
#define	IFCF_NOARP	0x80
#define	IFCF_LINK0	0x1000
#define	IFCF_LINK1	0x2000
#define	IFCF_LINK2	0x4000
#define	IFCF_PPROMISC	0x20000
#define	IFCF_MONITOR	0x40000
#define	IFCF_STATICARP	0x80000

enum ifc_family { IFC_ALL, IFC_INET, IFC_INET6, IFC_ETHER };

struct ifc_show {
	bool		 is_list;	/* -l: names only */
	bool		 is_one;	/* named: its head is always shown */
	bool		 is_down;	/* -d: only those that are down */
	bool		 is_up;		/* -u: only those that are up */
	bool		 is_caps;	/* -m */
	bool		 is_verbose;	/* -v */
	bool		 is_dash;	/* -f ether:dash */
	bool		 is_cidr;	/* -f inet:cidr */
	bool		 is_dotted;	/* -f inet:dotted */
	bool		 is_names;	/* -f addr:host, fqdn */
	const char	*is_group;	/* -g: only its members, or NULL */
	const char	*is_notgroup;	/* -G: not its members, or NULL */
	enum ifc_family	 is_family;
};

/* options= and capabilities= of FreeBSD. */
extern const struct out_name ifc_capnames[];

/* Show the interfaces of if.list's answer that are wanted. */
void	ifc_print(struct out *o, const struct ifc_show *is,
	    const json_t *interfaces);

#endif /* _TOOLS_IFCONFIG_H_ */
