/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Control messages: one JSON object a line, a request and its reply.
 *
 *	{"id":1,"cmd":"if.create","args":{"name":"ixl2","spec":"xdp:veth2"}}
 *	{"id":1,"ok":true,"result":{"name":"ixl2"}}
 *	{"id":1,"ok":false,"errno":17,"error":"interface ixl2 already exists",
 *	 "field":"name"}
 *
 * docs/control.md lists the commands.  This room knows none of them: the
 * server is given a table.  Everything that comes over the socket is hostile
 * until checked: lines are at most CTL_LINE_MAX bytes, JSON is decoded with
 * duplicate keys refused, unknown members of args are an error that names
 * them (ctl_args_done).
 *
 * The server runs on its own thread, never in the epoch.  One slow or silent
 * client does not hold the others up.
 */
#ifndef _CTL_CTL_H_
#define	_CTL_CTL_H_

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define	CTL_LINE_MAX	(4u << 20)	/* bytes, a request or a reply */
#define	CTL_CLIENTS_MAX	256

/* ---- A request being worked on ---- */

struct ctl_req {
	json_t		*cr_args;	/* borrowed; an object */
	json_t		*cr_result;	/* an object to fill in */
	int		 cr_errno;	/* 0, or why it failed */
	char		 cr_error[256];
	char		 cr_field[32];	/* which member was wrong, or "" */
	unsigned int	 cr_used;	/* members taken so far */
};

/*
 * Fail the request: returns error, so that a handler can say
 * return (ctl_fail(cr, EINVAL, "mtu", "expected 72..9000, got %ld", n)).
 */
int	ctl_fail(struct ctl_req *cr, int error, const char *field,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/*
 * Members of args, checked.  Required ones fail the request with EINVAL when
 * they are absent or of another type; the _opt ones give the default.
 */
int	ctl_arg_string(struct ctl_req *cr, const char *name, const char **val);
int	ctl_arg_string_opt(struct ctl_req *cr, const char *name,
	    const char *def, const char **val);
int	ctl_arg_int_opt(struct ctl_req *cr, const char *name, long min,
	    long max, long def, long *val);
int	ctl_arg_bool_opt(struct ctl_req *cr, const char *name, bool def,
	    bool *val);
bool	ctl_arg_present(const struct ctl_req *cr, const char *name);
/* EINVAL, naming it, if args has a member that no ctl_arg_ call asked for. */
int	ctl_args_done(struct ctl_req *cr);

/* 0 and cr_result filled, or ctl_fail(). */
typedef int ctl_handler_fn(struct ctl_req *cr, void *arg);

struct ctl_command {
	const char	*cc_name;
	ctl_handler_fn	*cc_fn;
};

/* ---- Server ---- */

struct ctl_server;

/*
 * Listen on path (a Unix stream socket, mode 0660), serve the n commands.
 * A socket left over by a dead process is replaced; the caller holds the
 * machine's lock, so nobody alive owns it.
 */
int	ctl_server_start(const char *path, const struct ctl_command *cmds,
	    size_t n, void *arg, struct ctl_server **csp, char *err,
	    size_t errlen);
void	ctl_server_stop(struct ctl_server *cs);
/* One request, as decoded, to its reply; for in-process callers and tests. */
json_t	*ctl_dispatch(const struct ctl_command *cmds, size_t n, void *arg,
	    const char *line, size_t len);

/* ---- Client ---- */

struct ctl_client;

/*
 * Connect to the machine: name, else $NETEPOCH_MACHINE, else the only one
 * running.  NULL with err saying what is wrong and, for none or several,
 * listing them; *error is the errno value.
 */
struct ctl_client *ctl_connect(const char *machine, int *error, char *err,
	    size_t errlen);
/* A client that calls a table in this process (netepochd -f). */
struct ctl_client *ctl_connect_local(const struct ctl_command *cmds, size_t n,
	    void *arg);
const char *ctl_client_machine(const struct ctl_client *cl);
void	ctl_close(struct ctl_client *cl);

struct ctl_error {
	int	 ce_errno;
	char	 ce_text[256];
	char	 ce_field[32];
};
/*
 * Call cmd with args (consumed; NULL: none).  0 and *result (a new
 * reference), or an errno value and ce.  EPIPE: the daemon has gone.
 */
int	ctl_call(struct ctl_client *cl, const char *cmd, json_t *args,
	    json_t **result, struct ctl_error *ce);

/* ---- Where machines live ---- */

#define	CTL_NAME_MAX	32
/* 1..31 characters of [A-Za-z0-9_-]. */
bool	ctl_machine_name_ok(const char *name);
/* $NETEPOCH_RUNDIR, else /run/netepoch for root, else
 * $XDG_RUNTIME_DIR/netepoch, else /tmp/netepoch-UID. */
int	ctl_rundir(char *buf, size_t len);
/* Names of the machines that are alive (their lock is held). */
int	ctl_machines(char (*names)[CTL_NAME_MAX], int max);
/*
 * Take the machine's name: makes the directory, locks its "lock" file
 * (flock), writes the pid.  Returns the fd that holds it, or -1: EEXIST (a
 * daemon of that name runs, err has its pid), EACCES, ...
 */
int	ctl_machine_lock(const char *name, int *error, char *err,
	    size_t errlen);
void	ctl_machine_unlock(const char *name, int fd);
int	ctl_socket_path(const char *name, char *buf, size_t len);

#endif /* _CTL_CTL_H_ */
