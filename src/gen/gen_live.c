/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Live frames: a BPF program makes frames in the kernel and redirects them to
 * the Linux device of an xdp interface (BPF_PROG_TEST_RUN with
 * BPF_F_TEST_XDP_LIVE_FRAMES, Linux 5.18), so that no frame becomes an skb and
 * none crosses a ring.  It needs CAP_BPF and CAP_NET_ADMIN, and a device that
 * takes redirected frames: a veth does if its peer has an XDP program or GRO.
 * What cannot be told beforehand is tried with the first frames.
 *
 * The program runs in system calls of a thread of its own, some LIVE_RUN_NS
 * long because each waits for a grace period of the kernel at its end, never
 * in the epoch; told to stop it does nothing for the rest of a call.  What was
 * sent is what the device has counted, for the kernel does not say how many it
 * dropped; other traffic on the device may hide such drops.  Stop joins the
 * thread.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/drv.h"
#include "drivers/linux_port.h"
#include "gen/gen_live.h"
#include "gen/gen_private.h"
#include "sys/thread.h"
#include "wire/in_cksum.h"

/* bpftool's loader casts const away. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "gen_live.skel.h"
#pragma GCC diagnostic pop

static_assert(LIVE_WORDS * 8 >= FRAME_MAX, "a whole frame");

#define	LIVE_BATCH	64u		/* frames redirected at once */
#define	LIVE_TRY	64u		/* frames that show if it works */
#define	LIVE_TRY_MS	200
#define	LIVE_RUN_NS	500000000u	/* a system call's time */
#define	LIVE_RUN_MIN	65536u
#define	LIVE_RUN_MAX	(1u << 24)

struct gen_live {
	struct gen	*gl_g;		/* (c) */
	struct gen_live_bpf *gl_bpf;	/* (c) program and its data */
	struct thread	*gl_thread;	/* (c) */
	char		 gl_dev[LINUX_IFNAMSIZ]; /* (c) */
	uint8_t		 gl_frame[FRAME_MAX]; /* (c) what the pages begin as */
	uint32_t	 gl_len;	/* (c) */
	uint64_t	 gl_before;	/* (c) what the device had sent */
	uint64_t	 gl_left;	/* thread: frames to the count */
	_Atomic bool	 gl_stop;	/* (a) relaxed */
	_Atomic bool	 gl_done;	/* (a) release: with the numbers */
	_Atomic uint64_t gl_first;	/* (a) relaxed, as below */
	_Atomic uint64_t gl_last;
};

/* Frames that the device has sent, as Linux counts; 0: there is none. */
static uint64_t
live_device_sent(const char *dev)
{
	char line[512], *p;
	uint64_t sent = 0;
	FILE *f;

	f = fopen("/proc/thread-self/net/dev", "re");
	if (f == NULL)
		return (0);
	while (fgets(line, sizeof(line), f) != NULL) {
		p = line + strspn(line, " ");
		if (strncmp(p, dev, strlen(dev)) == 0 &&
		    p[strlen(dev)] == ':' && sscanf(p + strlen(dev) + 1,
		    " %*u %*u %*u %*u %*u %*u %*u %*u %*u %ju", &sent) == 1)
			break;
	}
	(void)fclose(f);
	return (sent);
}

/* ---- The program ---- */

static void
live_end(const struct frame_end *fe, struct live_end *le)
{

	le->le_from = fe->fe_from;
	le->le_to = fe->fe_to;
	le->le_port_from = fe->fe_port_from;
	le->le_port_to = fe->fe_port_to;
	le->le_random = fe->fe_random;
}

/*
 * The first frame is the template; its sums without what the program writes
 * are those of the fields as they would be with zeros there.
 */
static void
live_configure(struct gen_live *gl, const struct frame_gen *fg,
    uint32_t ifindex)
{
	const struct frame_conf *fc = &fg->fg_conf;
	struct live_conf *lc = &gl->gl_bpf->rodata->live_conf;
	struct live_state *ls = &gl->gl_bpf->bss->live_state;
	uint16_t ulen = htons((uint16_t)(fc->fc_len - fg->fg_l4));

	lc->lc_ifindex = ifindex;
	lc->lc_len = fc->fc_len;
	lc->lc_l4 = fg->fg_l4;
	lc->lc_v6 = fc->fc_v6;
	lc->lc_flows = !fg->fg_plain;
	lc->lc_stamped = fg->fg_stamped;
	live_end(&fc->fc_src, &lc->lc_src);
	live_end(&fc->fc_dst, &lc->lc_dst);
	lc->lc_ipsum = fg->fg_ipsum + htons((uint16_t)(fc->fc_len -
	    ETHER_HDR_LEN));
	lc->lc_udpsum = fg->fg_plain ? fg->fg_plainsum : fg->fg_udpsum +
	    2 * (uint64_t)ulen + fg->fg_paysum[fc->fc_len];
	memcpy(lc->lc_frame, gl->gl_frame, fc->fc_len);
	ls->ls_random = fg->fg_random;
	ls->ls_src = fg->fg_src;
	ls->ls_dst = fg->fg_dst;
	ls->ls_sport = fg->fg_sport;
	ls->ls_dport = fg->fg_dport;
}

/* The template as a whole frame, number and time 0. */
static int
live_template(struct gen_live *gl, struct frame_gen *fg)
{
	const struct frame_gen saved = *fg;
	struct mbuf *m = m_gethdr();

	if (m == NULL)
		return (ENOBUFS);
	(void)frame_fill(fg, &m, 1, 0, 0);
	gl->gl_len = m->m_len;
	memcpy(gl->gl_frame, m->m_data, m->m_len);
	m_freem(m);
	*fg = saved;
	return (0);
}

static uint64_t
live_made(struct gen_live *gl)
{

	return (__atomic_load_n(&gl->gl_bpf->bss->live_state.ls_made,
	    __ATOMIC_RELAXED));
}

/* Run the program n times. */
static int
live_run(struct gen_live *gl, uint32_t n)
{
	struct xdp_md ctx = { .data_end = gl->gl_len, .ingress_ifindex = 1 };
	LIBBPF_OPTS(bpf_test_run_opts, opts,
	    .data_in = gl->gl_frame, .data_size_in = gl->gl_len,
	    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx),
	    .repeat = (int)n, .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
	    .batch_size = LIVE_BATCH);
	int error;

	error = -bpf_prog_test_run_opts(bpf_program__fd(
	    gl->gl_bpf->progs.gen_live), &opts);
	return (error == EINTR ? 0 : error);
}

/* ---- The thread ---- */

static void
live_thread(void *arg)
{
	struct gen_live *gl = arg;
	bool counted = gl->gl_g->g_conf.gc_count != 0;
	uint32_t n = LIVE_RUN_MIN, take;
	uint64_t now = time_ns(), then;

	while (!atomic_load_explicit(&gl->gl_stop, memory_order_relaxed) &&
	    (!counted || gl->gl_left != 0)) {
		take = counted && n > gl->gl_left ? (uint32_t)gl->gl_left : n;
		if (live_run(gl, take) != 0)
			break;
		if (counted)
			gl->gl_left -= take;
		then = now;
		now = time_ns();
		atomic_store_explicit(&gl->gl_last, now,
		    memory_order_relaxed);
		if (now - then < LIVE_RUN_NS / 2 && n < LIVE_RUN_MAX)
			n *= 2;
		else if (now - then > LIVE_RUN_NS && n > LIVE_RUN_MIN)
			n /= 2;
	}
	atomic_store_explicit(&gl->gl_done, true, memory_order_release);
}

/* ---- Start and stop ---- */

/* Send the first frames; ENODEV: the device did not. */
static int
live_try(struct gen_live *gl)
{
	uint32_t n = LIVE_TRY;
	int error;

	gl->gl_left = gl->gl_g->g_conf.gc_count;
	if (gl->gl_left != 0 && gl->gl_left < n)
		n = (uint32_t)gl->gl_left;
	if (gl->gl_left != 0)
		gl->gl_left -= n;
	gl->gl_before = live_device_sent(gl->gl_dev);
	atomic_init(&gl->gl_first, time_ns());
	error = live_run(gl, n);
	atomic_store_explicit(&gl->gl_last, time_ns(), memory_order_relaxed);
	for (int i = 0; error == 0 && i < LIVE_TRY_MS; i++) {
		/* All of them: a frame or two may be somebody else's. */
		if (live_device_sent(gl->gl_dev) - gl->gl_before >= n)
			return (0);
		usleep(1000);
	}
	return (error != 0 ? error : ENODEV);
}

static int
live_open(struct gen_live *gl, struct frame_gen *fg, uint32_t ifindex)
{
	int error;

	error = live_template(gl, fg);
	if (error != 0)
		return (error);
	gl->gl_bpf = gen_live_bpf__open();
	if (gl->gl_bpf == NULL)
		return (errno != 0 ? errno : ENOMEM);
	live_configure(gl, fg, ifindex);
	error = -gen_live_bpf__load(gl->gl_bpf);
	if (error == 0)
		error = live_try(gl);
	return (error);
}

int
gen_live_start(struct gen *g, struct frame_gen *fg)
{
	struct linux_port *lp = g->g_ifp->if_softc;
	struct gen_live *gl;
	int error;

	if (g->g_ifp->if_driver != &xdp_driver)
		return (EOPNOTSUPP);
	gl = calloc(1, sizeof(*gl));
	if (gl == NULL)
		return (ENOMEM);
	gl->gl_g = g;
	snprintf(gl->gl_dev, sizeof(gl->gl_dev), "%s", lp->lp_name);
	error = live_open(gl, fg, (uint32_t)lp->lp_index);
	if (error == 0)
		error = thread_create(&gl->gl_thread, "pkt-gen live",
		    THREAD_ANY_CPU, live_thread, gl);
	if (error != 0) {
		gen_live_bpf__destroy(gl->gl_bpf);
		free(gl);
		return (error);
	}
	g->g_live = gl;
	return (0);
}

void
gen_live_stop(struct gen_live *gl)
{

	if (gl->gl_thread == NULL)
		return;
	atomic_store_explicit(&gl->gl_stop, true, memory_order_relaxed);
	__atomic_store_n(&gl->gl_bpf->bss->live_state.ls_stop, 1,
	    __ATOMIC_RELAXED);
	thread_join(gl->gl_thread);
	gl->gl_thread = NULL;
}

void
gen_live_free(struct gen_live *gl)
{

	gen_live_stop(gl);
	gen_live_bpf__destroy(gl->gl_bpf);
	free(gl);
}

bool
gen_live_done(struct gen_live *gl)
{

	return (atomic_load_explicit(&gl->gl_done, memory_order_acquire));
}

void
gen_live_stats(struct gen_live *gl, struct gen_stats *st)
{
	uint64_t made = live_made(gl);
	uint64_t sent = live_device_sent(gl->gl_dev);

	sent = sent > gl->gl_before ? sent - gl->gl_before : 0;
	if (sent > made)
		sent = made;		/* the rest is somebody else's */
	st->gs_tx_packets = sent;
	st->gs_tx_bytes = sent * gl->gl_len;
	st->gs_tx_bursts = (sent + LIVE_BATCH - 1) / LIVE_BATCH;
	st->gs_tx_refused = made > sent && gen_live_done(gl) ? made - sent :
	    0;
	st->gs_tx_first = gen_read(&gl->gl_first);
	st->gs_tx_last = gen_live_done(gl) ? gen_read(&gl->gl_last) :
	    time_ns();
}
