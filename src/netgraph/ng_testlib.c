/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The graph and the probe of unit tests; see the header.  The probe's data
 * method runs on workers as well, so its counters have a lock.
 */
#include "netgraph/ng_testlib.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ifnet/if_var.h"
#include "intr/callout.h"
#include "intr/intr_var.h"
#include "netgraph/ng_private.h"
#include "netgraph/ng_var.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

#define	NGT_MBUFS	8192

struct ngt_hook {
	struct ngt_hook	*th_next;
	char		 th_name[NG_HOOKSIZ];
	unsigned int	 th_count;
	struct mbuf	*th_last;
};

static struct {
	struct vnet	*vnet;
	node_p		 probe;
	pthread_mutex_t	 mtx;
	struct ngt_hook	*hooks;		/* by mtx */
	struct ng_mesg	*reply;		/* by the configuration lock */
	char		*text;
	uint32_t	 mbufs;
} ngt = { .mtx = PTHREAD_MUTEX_INITIALIZER };

static struct ngt_hook *
ngt_hook(const char *name)
{
	struct ngt_hook *th;

	for (th = ngt.hooks; th != NULL; th = th->th_next)
		if (strcmp(th->th_name, name) == 0)
			return (th);
	if ((th = calloc(1, sizeof(*th))) == NULL)
		abort();
	snprintf(th->th_name, sizeof(th->th_name), "%s", name);
	th->th_next = ngt.hooks;
	ngt.hooks = th;
	return (th);
}

static int
probe_rcvdata(hook_p hook, item_p it)
{
	struct ngt_hook *th;

	NET_EPOCH_ASSERT();

	pthread_mutex_lock(&ngt.mtx);
	th = ngt_hook(ng_hook_name(hook));
	for (unsigned int i = 0; i < it->it_n; i++) {
		m_freem(th->th_last);
		th->th_last = it->it_m[i];
		th->th_count++;
	}
	pthread_mutex_unlock(&ngt.mtx);
	return (0);
}

static int
probe_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	size_t len = sizeof(*msg) + msg->header.arglen;

	(void)node;
	(void)lasthook;
	free(ngt.reply);
	ngt.reply = calloc(1, len + 1);
	if (ngt.reply == NULL)
		return (ENOMEM);
	memcpy(ngt.reply, msg, len);
	return (0);
}

static const struct ng_type probe_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_PERSISTENT,
	.name = "probe",
	.rcvmsg = probe_rcvmsg,
	.rcvdata = probe_rcvdata,
};

struct vnet *
ngt_vnet(void)
{

	return (ngt.vnet);
}

node_p
ngt_probe(void)
{

	return (ngt.probe);
}

static void
ngt_make_probe(void)
{

	ng_ctl_enter(ngt.vnet);
	assert_int_equal(ng_make_node(ngt.vnet, "probe", &ngt.probe), 0);
	assert_int_equal(ng_name_node(ngt.probe, "probe"), 0);
	ng_ctl_exit(ngt.vnet);
}

void
ngt_start(const struct ng_type *const *types)
{
	int cpus[2], n, error;

	error = mbuf_init(NGT_MBUFS);
	assert_true(error == 0 || error == EALREADY);
	ngt.vnet = vnet_alloc();
	assert_non_null(ngt.vnet);
	ngt.vnet->v_sysctl = sysctl_tree_alloc();
	assert_non_null(ngt.vnet->v_sysctl);
	n = thread_cpus(cpus, 2);
	assert_int_equal(intr_domain_alloc(cpus, n, &ngt.vnet->v_intr), 0);
	assert_int_equal(callout_wheel_create("callout",
	    &ngt.vnet->v_callouts), 0);
	assert_int_equal(ng_vnet_init(ngt.vnet), 0);
	assert_int_equal(ng_type_register(ngt.vnet, &probe_type, NULL), 0);
	for (; types != NULL && *types != NULL; types++)
		assert_int_equal(ng_type_register(ngt.vnet, *types, NULL), 0);
	ngt_make_probe();
	m_cache_drain();
	ngt.mbufs = mbuf_nfree();
}

void
ngt_stop(void)
{

	ngt_clear();
	ng_vnet_fini(ngt.vnet);
	callout_wheel_free(ngt.vnet->v_callouts);
	intr_domain_free(ngt.vnet->v_intr);
	sysctl_tree_free(ngt.vnet->v_sysctl);
	vnet_free(ngt.vnet);
	free(ngt.reply);
	free(ngt.text);
	ngt.reply = NULL;
	ngt.text = NULL;
}

bool
ngt_idle(void)
{
	struct netgraph *ng = ngt.vnet->v_netgraph;

	return (atomic_load(&ng->ng_queued) == 0 &&
	    atomic_load(&ng->ng_njobs) == 0);
}

void
ngt_settle(void)
{
	uint64_t end = time_ns() + UINT64_C(20000000000);

	while (!ngt_idle()) {
		assert_true(time_ns() < end);
		sched_yield();
	}
	/* A worker takes a burst off the queue before it delivers it. */
	NET_EPOCH_WAIT();
}

void
ngt_reset(void)
{
	struct netgraph *ng = ngt.vnet->v_netgraph;
	node_p node, next;

	ng_ctl_enter(ngt.vnet);
	for (node = TAILQ_FIRST(&ng->ng_nodes); node != NULL;
	    node = next) {
		next = TAILQ_NEXT(node, nd_link);
		if (node != ngt.probe) {
			ng_node_set_must_die(node);
			ng_rmnode_self(node);
		}
	}
	ng_ctl_exit(ngt.vnet);
	/* A node that joined its neighbours may have left us to ourselves. */
	ng_ctl_enter(ngt.vnet);
	ng_hooks_destroy(ngt.probe);
	ng_ctl_exit(ngt.vnet);
	ngt_settle();
	ngt_clear();
	NET_EPOCH_DRAIN_CALLBACKS();
	assert_int_equal(ng->ng_nnodes, 1);
	assert_int_equal(mbuf_nfree(), ngt.mbufs);
}

/* ---- Control ---- */

int
ngt_msg(const char *path, uint32_t cookie, uint32_t cmd, const void *arg,
    size_t len)
{
	struct ng_mesg *msg;
	int error;

	msg = ng_mkmessage(cookie, cmd, arg, len);
	assert_non_null(msg);
	ng_ctl_enter(ngt.vnet);
	free(ngt.reply);
	ngt.reply = NULL;
	error = ng_send_msg_path(ngt.probe, msg, path);
	ng_ctl_exit(ngt.vnet);
	return (error);
}

int
ngt_ascii(const char *path, const char *text)
{
	size_t word = strcspn(text, " "), len;
	const char *args = text + word;
	struct ng_mesg *in, *bin;
	int error;

	args += strspn(args, " ");
	len = strlen(args) + 1;
	assert_true(word < NG_CMDSTRSIZ);
	in = ng_mkmessage(0, 0, args, len);
	assert_non_null(in);
	memcpy(in->header.cmdstr, text, word);
	error = ngt_msg(path, NGM_GENERIC_COOKIE, NGM_ASCII2BINARY, in,
	    sizeof(*in) + len);
	free(in);
	if (error != 0)
		return (error);
	assert_non_null(ngt.reply);
	len = ngt.reply->header.arglen;
	bin = malloc(len);
	assert_non_null(bin);
	memcpy(bin, ngt.reply->data, len);
	error = ngt_msg(path, bin->header.typecookie, bin->header.cmd,
	    bin->data, bin->header.arglen);
	free(bin);
	if (error != 0 || ngt.reply == NULL)
		return (error);
	/* Text of the reply, from the node that the path means. */
	in = ng_mkmessage(NGM_GENERIC_COOKIE, NGM_BINARY2ASCII, ngt.reply,
	    sizeof(*in) + ngt.reply->header.arglen);
	assert_non_null(in);
	bin = ngt.reply;
	ngt.reply = NULL;
	ng_ctl_enter(ngt.vnet);
	free(ngt.text);
	ngt.text = NULL;
	if (ng_send_msg_path(ngt.probe, in, path) == 0 && ngt.reply != NULL)
		ngt.text = strdup(
		    ((const struct ng_mesg *)(void *)ngt.reply->data)->data);
	ng_ctl_exit(ngt.vnet);
	free(ngt.reply);
	ngt.reply = bin;
	return (0);
}

const struct ng_mesg *
ngt_reply(void)
{

	return (ngt.reply);
}

const char *
ngt_reply_text(void)
{

	return (ngt.text);
}

int
ngt_mkpeer(const char *path, const char *type, const char *ourhook,
    const char *peerhook)
{
	struct ngm_mkpeer mp = { 0 };

	snprintf(mp.type, sizeof(mp.type), "%s", type);
	snprintf(mp.ourhook, sizeof(mp.ourhook), "%s", ourhook);
	snprintf(mp.peerhook, sizeof(mp.peerhook), "%s", peerhook);
	return (ngt_msg(path, NGM_GENERIC_COOKIE, NGM_MKPEER, &mp,
	    sizeof(mp)));
}

int
ngt_connect(const char *path, const char *to, const char *ourhook,
    const char *peerhook)
{
	struct ngm_connect con = { 0 };

	snprintf(con.path, sizeof(con.path), "%s", to);
	snprintf(con.ourhook, sizeof(con.ourhook), "%s", ourhook);
	snprintf(con.peerhook, sizeof(con.peerhook), "%s", peerhook);
	return (ngt_msg(path, NGM_GENERIC_COOKIE, NGM_CONNECT, &con,
	    sizeof(con)));
}

int
ngt_name(const char *path, const char *name)
{
	struct ngm_name nm = { 0 };

	snprintf(nm.name, sizeof(nm.name), "%s", name);
	return (ngt_msg(path, NGM_GENERIC_COOKIE, NGM_NAME, &nm, sizeof(nm)));
}

int
ngt_rmhook(const char *path, const char *hook)
{
	struct ngm_rmhook rm = { 0 };

	snprintf(rm.ourhook, sizeof(rm.ourhook), "%s", hook);
	return (ngt_msg(path, NGM_GENERIC_COOKIE, NGM_RMHOOK, &rm,
	    sizeof(rm)));
}

int
ngt_shutdown(const char *path)
{

	return (ngt_msg(path, NGM_GENERIC_COOKIE, NGM_SHUTDOWN, NULL, 0));
}

/* ---- Data ---- */

static int
ngt_send_item(const char *name, item_p it)
{
	struct epoch_tracker et;
	hook_p hook;
	int error;

	NET_EPOCH_ENTER(et);
	hook = ng_findhook(ngt.probe, name);
	error = ng_fwd_item(it, hook);
	NET_EPOCH_EXIT(et);
	return (error);
}

int
ngt_send_burst(const char *hook, const void *data, size_t len, unsigned int n)
{
	struct ng_item it;

	assert_true(n >= 1 && n <= NG_BURST);
	for (it.it_n = 0; it.it_n < n; it.it_n++) {
		it.it_m[it.it_n] = m_devget(data, (uint32_t)len);
		assert_non_null(it.it_m[it.it_n]);
	}
	return (ngt_send_item(hook, &it));
}

int
ngt_send(const char *hook, const void *data, size_t len)
{

	return (ngt_send_burst(hook, data, len, 1));
}

int
ngt_send_mbuf(const char *hook, struct mbuf *m)
{
	struct ng_item it;

	it.it_n = 1;
	it.it_m[0] = m;
	return (ngt_send_item(hook, &it));
}

unsigned int
ngt_count(const char *hook)
{
	unsigned int n;

	pthread_mutex_lock(&ngt.mtx);
	n = ngt_hook(hook)->th_count;
	pthread_mutex_unlock(&ngt.mtx);
	return (n);
}

const struct mbuf *
ngt_last(const char *hook)
{
	const struct mbuf *m;

	pthread_mutex_lock(&ngt.mtx);
	m = ngt_hook(hook)->th_last;
	pthread_mutex_unlock(&ngt.mtx);
	return (m);
}

void
ngt_clear(void)
{
	struct ngt_hook *th;

	pthread_mutex_lock(&ngt.mtx);
	while ((th = ngt.hooks) != NULL) {
		ngt.hooks = th->th_next;
		m_freem(th->th_last);
		free(th);
	}
	pthread_mutex_unlock(&ngt.mtx);
}
