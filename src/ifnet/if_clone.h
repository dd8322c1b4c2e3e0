/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Making interfaces by name: "ifconfig ixl2 create xdp:veth2,mode=generic".
 * The table of drivers is the stack room's; this is what an entry looks like.
 *
 * A spec is DRIVER[:DEVICE][,option[=value]]... .  A driver that opens a
 * device can be handed the open file descriptor instead ("fd=N"), so that a
 * small privileged process can do the opening.
 */
#ifndef _IFNET_IF_CLONE_H_
#define	_IFNET_IF_CLONE_H_

#include <stdbool.h>
#include <stddef.h>

struct ifnet;
struct vnet;

#define	IF_SPEC_OPTIONS	12

struct if_spec {
	char	 sp_text[128];		/* cut up in place */
	const char *sp_driver;		/* "xdp" */
	const char *sp_device;		/* "veth2", "" if none */
	int	 sp_nopt;
	struct {
		const char *op_name;
		const char *op_value;	/* "" if without = */
		bool	 op_used;
	}	 sp_opt[IF_SPEC_OPTIONS];
};

/* EINVAL with err telling what was expected. */
int	if_spec_parse(const char *text, struct if_spec *sp, char *err,
	    size_t errlen);
/* The option's value, marked as used; NULL if it is not there. */
const char *if_spec_option(struct if_spec *sp, const char *name);
/* EINVAL naming the first option that nobody asked for. */
int	if_spec_unused(const struct if_spec *sp, char *err, size_t errlen);

struct if_driver {
	const char	*drv_name;	/* "xdp" */
	const char	*drv_descr;	/* a line for kldstat -v and list */
	bool		 drv_device;	/* needs a DEVICE */
	/*
	 * Make and attach the interface called name.  Configuration lock held,
	 * outside the epoch.  0 or an errno value; then err says in one line
	 * what failed, on which device, and what to do; nothing is left behind.
	 */
	int	(*drv_create)(struct vnet *vnet, const char *name,
		    struct if_spec *sp, struct ifnet **ifpp, char *err,
		    size_t errlen);
	/* Detach order: unlink, quiesce events, wait, close, free. */
	void	(*drv_destroy)(struct ifnet *ifp);
};

#endif /* _IFNET_IF_CLONE_H_ */
