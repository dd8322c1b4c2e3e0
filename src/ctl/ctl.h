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
 * until checked: a request has at most CTL_REQUEST_MAX bytes, JSON is decoded
 * with duplicate keys refused, unknown members of args are an error that names
 * them (ctl_args_done).
 *
 * The server runs on its own thread, never in the epoch, and so do the
 * handlers of its table.  One slow or silent client does not hold the others
 * up: what it may make the server keep is one request and one reply, and a
 * client that reads nothing of its reply for CTL_STALL_S is cut off.
 *
 * All functions here may block and are for the control plane: outside the
 * epoch, no mtx held.
 */
#ifndef _CTL_CTL_H_
#define	_CTL_CTL_H_

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define	CTL_REQUEST_MAX	(64u << 10)	/* bytes of a request, newline too */
#define	CTL_LINE_MAX	(4u << 20)	/* bytes of a reply, newline too */
#define	CTL_CLIENTS_MAX	256
#define	CTL_STALL_S	30		/* seconds a reply may lie unread */
#define	CTL_CALL_S	60		/* seconds a client waits for a reply */

/* ---- A request being worked on ---- */

/*
 * Who asks.  A handler that makes something which must not outlive the asker's
 * connection sets cp_gone, which is called once, on the server's thread, when
 * the connection has closed.
 */
struct ctl_peer {
	uint64_t	 cp_id;		/* of the connection, never 0 */
	void		(*cp_gone)(void *arg, uint64_t id); /* or NULL */
	void		*cp_arg;
};

struct ctl_req {
	json_t		*cr_args;	/* borrowed; an object */
	json_t		*cr_result;	/* an object to fill in */
	int		 cr_errno;	/* 0, or why it failed */
	char		 cr_error[256];
	char		 cr_field[32];	/* which member was wrong, or "" */
	struct ctl_peer	*cr_peer;	/* NULL: asked within this process */
	uint32_t	 cr_used;	/* bit i: member i of args was taken */
};

/*
 * Fail the request: returns error, so that a handler can say
 * return (ctl_fail(cr, EINVAL, "mtu", "expected 72..9000, got %ld", n)).
 */
int	ctl_fail(struct ctl_req *cr, int error, const char *field,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/*
 * Members of args, checked.  Required ones fail the request with EINVAL when
 * they are absent; all do when the member is of another type or, for
 * integers, outside min..max.  The _opt ones give the default when it is
 * absent.  A string lives as long as the request.
 */
int	ctl_arg_string(struct ctl_req *cr, const char *name, const char **val);
int	ctl_arg_string_opt(struct ctl_req *cr, const char *name,
	    const char *def, const char **val);
int	ctl_arg_int(struct ctl_req *cr, const char *name, long min, long max,
	    long *val);
int	ctl_arg_int_opt(struct ctl_req *cr, const char *name, long min,
	    long max, long def, long *val);
int	ctl_arg_bool_opt(struct ctl_req *cr, const char *name, bool def,
	    bool *val);
bool	ctl_arg_present(const struct ctl_req *cr, const char *name);
/* EINVAL, naming it, if args has a member that no ctl_arg_ call asked for. */
int	ctl_args_done(struct ctl_req *cr);
/*
 * Put val (consumed; NULL: there was no memory for it) into the result.
 * 0, or ENOMEM and the request has failed.
 */
int	ctl_result(struct ctl_req *cr, const char *name, json_t *val);
/* A JSON string of text that may hold anything: what is not UTF-8 is '?'. */
json_t	*ctl_text(const char *text);

/* 0 and cr_result filled, or ctl_fail(). */
typedef int ctl_handler_fn(struct ctl_req *cr, void *arg);

struct ctl_command {
	const char	*cc_name;
	ctl_handler_fn	*cc_fn;
};

/* ---- Server ---- */

struct ctl_server;

/*
 * Listen on path (a Unix stream socket, mode 0660), serve the n commands,
 * each handler called with arg on the server's thread.  A socket left over by
 * a dead process is replaced; the caller holds the machine's lock, so nobody
 * alive owns it.  An errno value, and then err says what failed: EEXIST
 * (something else than a socket is in the way), ENAMETOOLONG, EACCES, ...
 */
int	ctl_server_start(const char *path, const struct ctl_command *cmds,
	    size_t n, void *arg, struct ctl_server **csp, char *err,
	    size_t errlen);
/*
 * Finishes the request in work, closes all clients, removes the socket, joins
 * the thread, frees cs.  Not from a handler.
 */
void	ctl_server_stop(struct ctl_server *cs);
/*
 * One request (len bytes, with or without its newline) to its reply, a new
 * reference; for in-process callers and tests.  NULL: no memory.
 */
json_t	*ctl_dispatch(const struct ctl_command *cmds, size_t n, void *arg,
	    const char *line, size_t len);

/* ---- Client ---- */

struct ctl_client;

/*
 * Connect to the machine: name, else $NETEPOCH_MACHINE, else the only one
 * running.  NULL with err saying what is wrong and, for none or several,
 * listing them; *error is the errno value: ENOENT (it, or none at all, is
 * running), ENOTUNIQ (several are), EACCES, EINVAL (no machine name), ...
 */
struct ctl_client *ctl_connect(const char *machine, int *error, char *err,
	    size_t errlen);
/*
 * A client that calls a table in this process (netepochd -f): the same
 * encoding and checks, on the caller's thread.  NULL: no memory.
 */
struct ctl_client *ctl_connect_local(const struct ctl_command *cmds, size_t n,
	    void *arg);
/* The machine's name; "" for a client within the process. */
const char *ctl_client_machine(const struct ctl_client *cl);
void	ctl_close(struct ctl_client *cl);

struct ctl_error {
	int	 ce_errno;
	char	 ce_text[256];
	char	 ce_field[32];
};
/*
 * Call cmd with args (consumed; NULL: none).  0 and *result (a new
 * reference; result may be NULL), or an errno value and ce.  EPIPE: the
 * daemon has gone; ETIMEDOUT: it does not answer; EPROTO: it sent no reply of
 * this protocol.  After these three only ctl_close() is of use.
 */
int	ctl_call(struct ctl_client *cl, const char *cmd, json_t *args,
	    json_t **result, struct ctl_error *ce);

/* ---- A machine's directory; sys/rundir.h has more ---- */

/*
 * Take the machine's name: makes the directory, locks its "lock" file (an
 * open file description lock, fcntl(2)), writes the pid.  Returns the fd that
 * holds it, or -1: EEXIST (a daemon of that name runs, err has its pid),
 * EINVAL (no machine name), EACCES, ...
 */
int	ctl_machine_lock(const char *name, int *error, char *err,
	    size_t errlen);
/* Give it up: removes the files and the directory, closes fd. */
void	ctl_machine_unlock(const char *name, int fd);
/* RUNDIR/NAME/ctl.  ENAMETOOLONG: longer than a socket's path may be. */
int	ctl_socket_path(const char *name, char *buf, size_t len);

#endif /* _CTL_CTL_H_ */
