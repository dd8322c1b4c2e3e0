/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * libepoch beside liburcu, Concurrency Kit and DPDK, in one run.  Each
 * repetition takes every scheme in turn, so that a slow phase of the machine
 * falls on all of them; the tables show medians, and the bars at the end are
 * ratios within this run.  Pairs and packets are counted over CPU time, grace
 * periods and callbacks, which wait, over real time.
 *
 * The writer runs on the first CPU of those allowed, the reader on the
 * second.  Usage: bench_epoch [-q] [part...]; -q makes a quick run whose
 * figures say little, and parts are the numbers of the tables.
 */
#include <libgen.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench/epoch_smr.h"

#define	NSMR		8U
#define	NCOND		4U
#define	NBATCH		3U
#define	EXTRA_THREADS	62
#define	RING		(1U << 20)
#define	MAGIC		0x1234U

struct samples {
	double		*s_v;
	size_t		 s_n, s_room;
};

static const struct smr *const schemes[NSMR] = {
	&smr_none, &smr_epoch, &smr_epoch_asym, &smr_ck, &smr_urcu_memb,
	&smr_urcu_bp, &smr_urcu_qsbr, &smr_rte,
};
enum { NONE, EPOCH, ASYM, CK, MEMB, BP, QSBR, RTE };

struct smr_packet *smr_packets;
struct smr_table *smr_table;
uint64_t smr_flows[4096];

static struct smr_table *tables[2];
static int cpus[2];
static unsigned int scale = 10;		/* 1: quick */
static double cycles_per_us;
static unsigned int bars_met, bars;
static bool wanted[7];			/* parts, by number */
static char *program;

static double
now_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

/* CPU time of this thread: what others take from it does not count. */
static double
cpu_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

static void
add(struct samples *s, double x)
{
	if (s->s_n == s->s_room) {
		s->s_room = s->s_room != 0 ? 2 * s->s_room : 64;
		s->s_v = realloc(s->s_v, s->s_room * sizeof(*s->s_v));
		if (s->s_v == NULL)
			abort();
	}
	s->s_v[s->s_n++] = x;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return ((x > y) - (x < y));
}

static double
quantile(struct samples *s, double q)
{
	if (s->s_n == 0)
		return (0);
	qsort(s->s_v, s->s_n, sizeof(*s->s_v), compare);
	return (s->s_v[(size_t)(q * (double)(s->s_n - 1) + 0.5)]);
}

static double
median(struct samples *s)
{
	return (quantile(s, 0.5));
}

static void
bar(const char *what, double have, double limit, bool most)
{
	bool met = most ? have <= limit : have >= limit;

	if (have == 0 || limit == 0 || have != have)
		return;			/* of a part that did not run */
	bars++;
	bars_met += met;
	(void)printf("%-55s %10.3f %s %10.3f  %s\n", what, have,
	    most ? "<=" : ">=", limit, met ? "met" : "NOT MET");
}

static void
pin(int who)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus[who], &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

/* The first two CPUs we may use; one serves for both if it must. */
static void
cpus_find(void)
{
	cpu_set_t set;
	int cpu, n = 0;

	(void)sched_getaffinity(0, sizeof(set), &set);
	for (cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpus[n++] = cpu;
	}
	if (n == 1)
		cpus[1] = cpus[0];
}

static void
calibrate(void)
{
	double start = now_s();
	uint64_t tsc = smr_tsc();

	while (now_s() - start < 0.1)
		continue;
	cycles_per_us = (double)(smr_tsc() - tsc) / ((now_s() - start) * 1e6);
}

static void
spin_us(double us)
{
	uint64_t start = smr_tsc();

	while ((double)(smr_tsc() - start) < us * cycles_per_us)
		__builtin_ia32_pause();
}

/* A reader on the other CPU. */
struct reader {
	const struct smr *r_smr;
	double		 r_us;		/* length of sections; 0: asleep */
	int		 r_batch;	/* != 0: packets instead */
	uint64_t	 r_done;
	double		 r_seconds;	/* CPU time */
	pthread_t	 r_thread;
	int		 r_ready;
	int		 r_stop;
};

static void *
reader_main(void *arg)
{
	struct reader *r = arg;
	double start;

	pin(1);
	r->r_smr->s_thread_init();
	/* Present, as a thread that works: one section at least. */
	r->r_smr->s_pairs(1);
	__atomic_store_n(&r->r_ready, 1, __ATOMIC_SEQ_CST);
	start = cpu_s();
	if (r->r_batch != 0)
		r->r_done = r->r_smr->s_packets(r->r_batch, &r->r_stop);
	else if (r->r_us > 0)
		r->r_done = r->r_smr->s_sections(
		    (uint64_t)(r->r_us * cycles_per_us), &r->r_stop);
	else
		while (__atomic_load_n(&r->r_stop, __ATOMIC_SEQ_CST) == 0)
			(void)syscall(SYS_futex, &r->r_stop,
			    FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	r->r_seconds = cpu_s() - start;
	r->r_smr->s_thread_fini();
	return (NULL);
}

static void
reader_start(struct reader *r, const struct smr *smr, double us, int batch)
{
	(void)memset(r, 0, sizeof(*r));
	r->r_smr = smr;
	r->r_us = us;
	r->r_batch = batch;
	if (pthread_create(&r->r_thread, NULL, reader_main, r) != 0)
		abort();
	while (__atomic_load_n(&r->r_ready, __ATOMIC_SEQ_CST) == 0)
		(void)sched_yield();
	spin_us(200);
}

static void
reader_stop(struct reader *r)
{
	__atomic_store_n(&r->r_stop, 1, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &r->r_stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
	    0);
	(void)pthread_join(r->r_thread, NULL);
}

/* 1. Pairs. */
static struct samples pair[NSMR], nested[NSMR];

static void *
pairs_main(void *arg)
{
	const long n = 20000;
	unsigned int rep, i;
	double t0, t1, t2;

	(void)arg;
	pin(1);
	for (i = 0; i < NSMR; i++)
		schemes[i]->s_thread_init();
	for (rep = 0; rep < 20 * scale + 2; rep++) {
		for (i = 0; i < NSMR; i++) {
			t0 = cpu_s();
			schemes[i]->s_pairs(n);
			t1 = cpu_s();
			schemes[i]->s_nested(n);
			t2 = cpu_s();
			if (rep < 2)
				continue;
			add(&pair[i], (t1 - t0) * 1e9 / (double)n);
			add(&nested[i], (t2 - t1) * 1e9 / (double)n);
		}
	}
	for (i = 0; i < NSMR; i++)
		schemes[i]->s_thread_fini();
	return (NULL);
}

static void
part_pairs(void)
{
	pthread_t t;
	unsigned int i;

	if (pthread_create(&t, NULL, pairs_main, NULL) != 0)
		abort();
	(void)pthread_join(t, NULL);
	(void)printf("\n1. one pair, ns: median (p10-p90); qsbr schemes: one "
	    "report\n%-24s %8s %15s %8s\n", "", "flat", "", "nested");
	for (i = 0; i < NSMR; i++)
		(void)printf("%-24s %8.2f (%5.2f - %5.2f) %8.2f\n",
		    schemes[i]->s_name, median(&pair[i]),
		    quantile(&pair[i], 0.1), quantile(&pair[i], 0.9),
		    median(&nested[i]));
}

/* 2. Grace periods. */
static const double cond_us[NCOND] = { 0, 1, 10, 100 };
static const char *const cond_name[NCOND] = { "asleep", "1 us", "10 us",
	"100 us" };
static struct samples grace[NSMR][NCOND], barrier[NCOND];

static void
barrier_sync(void)
{
	(void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* Up to 50 grace periods, at random distances, within 40 ms. */
static void
grace_sample(void (*sync)(void), struct samples *s)
{
	double end = now_s() + 0.04;
	uint64_t start;
	int i;

	for (i = 0; i < 50 && now_s() < end; i++) {
		spin_us(2 + (double)(random() % 2000) / 100);
		start = smr_tsc();
		sync();
		if (i > 0)
			add(s, (double)(smr_tsc() - start) / cycles_per_us);
	}
}

static void
part_grace(void)
{
	unsigned int rep, c, i;
	struct reader r;

	pin(0);
	for (rep = 0; rep < scale; rep++)
		for (c = 0; c < NCOND; c++)
			for (i = EPOCH; i < NSMR; i++) {
				reader_start(&r, schemes[i], cond_us[c], 0);
				grace_sample(schemes[i]->s_sync, &grace[i][c]);
				if (i == ASYM)
					grace_sample(barrier_sync,
					    &barrier[c]);
				reader_stop(&r);
			}
	(void)printf("\n2. grace period, us: median (p99); reader asleep, or in "
	    "sections of\n%-24s", "");
	for (c = 0; c < NCOND; c++)
		(void)printf(" %20s", cond_name[c]);
	(void)printf("\n");
	for (i = EPOCH; i <= NSMR; i++) {
		(void)printf("%-24s", i < NSMR ? schemes[i]->s_name :
		    "membarrier(2) alone");
		for (c = 0; c < NCOND; c++) {
			struct samples *s = i < NSMR ? &grace[i][c] :
			    &barrier[c];

			(void)printf(" %9.3f (%8.1f)", median(s),
			    quantile(s, 0.99));
		}
		(void)printf("\n");
	}
}

/* 3. Callbacks. */
static const struct smr *const deferrers[] = { &smr_epoch, &smr_epoch_asym,
	&smr_ck, &smr_epoch_thread, &smr_urcu_memb, &smr_urcu_bp,
	&smr_urcu_qsbr, &smr_rte };
#define	NDEFER	(sizeof(deferrers) / sizeof(deferrers[0]))

static struct smr_node *ring;
static uint64_t consumed;
static bool use_malloc;
static struct samples rate[NDEFER][2], backlog[NDEFER][2];
static struct samples beside[NDEFER][2];	/* rates over that of ck_epoch */

void
smr_consume(struct smr_node *n)
{
	if (n->n_magic != MAGIC)
		abort();
	n->n_magic = 0;
	if (use_malloc)
		free(n);
	__atomic_store_n(&consumed,
	    __atomic_load_n(&consumed, __ATOMIC_RELAXED) + 1,
	    __ATOMIC_RELEASE);
}

static struct smr_node *
node_get(const struct smr *smr, uint64_t n)
{
	struct smr_node *node;

	if (use_malloc) {
		node = malloc(sizeof(*node));
		if (node == NULL)
			abort();
		return (node);
	}
	while (n - __atomic_load_n(&consumed, __ATOMIC_ACQUIRE) >= RING)
		smr->s_poll();
	return (&ring[n % RING]);
}

static void
defer_run(unsigned int i, double seconds)
{
	const struct smr *smr = deferrers[i];
	uint64_t behind, n = 0, peak = 0;
	struct smr_node *node;
	struct reader r;
	double start;

	consumed = 0;
	(void)malloc_trim(0);	/* not the heap that another one left */
	reader_start(&r, smr, 1, 0);
	start = now_s();
	for (;;) {
		node = node_get(smr, n);
		node->n_magic = MAGIC;
		smr->s_defer(node);
		if (++n % 1024 != 0)
			continue;
		smr->s_poll();
		behind = n - __atomic_load_n(&consumed, __ATOMIC_RELAXED);
		if (behind > peak)
			peak = behind;
		if (now_s() - start > seconds)
			break;
		while (n - __atomic_load_n(&consumed, __ATOMIC_RELAXED) >
		    4000000)
			(void)usleep(1000);
	}
	smr->s_barrier();
	add(&rate[i][use_malloc], (double)n / (now_s() - start) / 1e6);
	add(&backlog[i][use_malloc], (double)peak);
	if (consumed != n)
		(void)printf("%s: %lu of %lu callbacks ran\n", smr->s_name,
		    (unsigned long)consumed, (unsigned long)n);
	reader_stop(&r);
}

/* A new order of the schemes. */
static void
shuffle(unsigned int *order, unsigned int n)
{
	unsigned int i, j, t;

	for (i = n; i > 1; i--) {
		j = (unsigned int)random() % i;
		t = order[i - 1];
		order[i - 1] = order[j];
		order[j] = t;
	}
}

/*
 * One round: short, so that its ratios are of one phase of the machine.  In a
 * run whose reader lost its CPU, whoever bounds the backlog waits for it.
 */
static void
defer_round(unsigned int *order, int mode)
{
	double kit;
	unsigned int i;

	shuffle(order, NDEFER);
	use_malloc = mode != 0;
	for (i = 0; i < NDEFER; i++)
		defer_run(order[i], 0.03);
	kit = rate[2][mode].s_v[rate[2][mode].s_n - 1];
	for (i = 0; i < NDEFER; i++)
		add(&beside[i][mode],
		    rate[i][mode].s_v[rate[i][mode].s_n - 1] / kit);
}

static void
part_defer(void)
{
	unsigned int order[NDEFER], rep, i;

	ring = calloc(RING, sizeof(*ring));
	if (ring == NULL)
		abort();
	(void)memset(ring, 1, RING * sizeof(*ring));
	pin(0);
	for (i = 0; i < NDEFER; i++) {
		order[i] = i;
		deferrers[i]->s_thread_init();
	}
	for (rep = 0; rep < 4 * scale + 1; rep++) {
		defer_round(order, 0);
		defer_round(order, 1);
	}
	(void)printf("\n3. callbacks, reader in sections of 1 us: million a "
	    "second with the drain, over ck_epoch's\nof the same round, most "
	    "outstanding\n%-24s %26s %26s\n", "", "no allocation",
	    "malloc and free");
	for (i = 0; i < NDEFER; i++)
		(void)printf("%-24s %10.1f %6.3f %8.0f %10.1f %6.3f %8.0f\n",
		    deferrers[i]->s_name, median(&rate[i][0]),
		    median(&beside[i][0]), quantile(&backlog[i][0], 1),
		    median(&rate[i][1]), median(&beside[i][1]),
		    quantile(&backlog[i][1], 1));
	for (i = 0; i < NDEFER; i++)
		deferrers[i]->s_thread_fini();
	free(ring);
}

/* 4. Packets. */
static const int batches[NBATCH] = { SMR_BATCH_NESTED, 32, 1000 };
static struct samples packets[NSMR][NBATCH][2];

static void
packets_run(unsigned int i, unsigned int b, int busy)
{
	double end = now_s() + 0.006;
	struct reader r;
	int cur = 0;

	reader_start(&r, schemes[i], 0, batches[b]);
	while (now_s() < end) {
		if (busy == 0) {
			spin_us(50);
			continue;
		}
		cur ^= 1;
		__atomic_store_n(&smr_table, tables[cur], __ATOMIC_RELEASE);
		schemes[i]->s_sync();
	}
	reader_stop(&r);
	__atomic_store_n(&smr_table, tables[0], __ATOMIC_RELEASE);
	add(&packets[i][b][busy], (double)r.r_done / r.r_seconds / 1e6);
}

static void
packets_make(void)
{
	unsigned int i;

	smr_packets = aligned_alloc(4096, SMR_PACKETS * sizeof(*smr_packets));
	for (i = 0; i < 2; i++)
		tables[i] = calloc(1, sizeof(*tables[i]));
	if (smr_packets == NULL || tables[0] == NULL || tables[1] == NULL)
		abort();
	for (i = 0; i < SMR_ROUTES; i++)
		tables[0]->t_route[i] = tables[1]->t_route[i] =
		    (uint8_t)random();
	for (i = 0; i < SMR_PACKETS * 64; i++)
		smr_packets[i / 64].p_frame[i % 64] = (uint8_t)random();
	for (i = 0; i < SMR_PACKETS; i++)
		smr_packets[i].p_frame[14] = 0x45;
	smr_table = tables[0];
}

static void
part_packets(void)
{
	unsigned int rep, b, i;
	int busy;

	packets_make();
	pin(0);
	for (rep = 0; rep < 2 * scale + 1; rep++)
		for (b = 0; b < NBATCH; b++)
			for (busy = 0; busy < 2; busy++)
				for (i = 0; i < NSMR; i++) {
					if (i != NONE || busy == 0)
						packets_run(i, b, busy);
				}
	(void)printf("\n4. packet loop, million a second: sections of 32 and "
	    "1000 packets, and one a packet inside of those\n%-24s %26s %26s\n"
	    "%-24s %8s %8s %8s %8s %8s %8s\n", "", "writer quiet",
	    "writer waits back to back", "", "32", "1000", "nested", "32",
	    "1000", "nested");
	for (i = 0; i < NSMR; i++)
		(void)printf("%-24s %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f\n",
		    schemes[i]->s_name, median(&packets[i][1][0]),
		    median(&packets[i][2][0]), median(&packets[i][0][0]),
		    median(&packets[i][1][1]), median(&packets[i][2][1]),
		    median(&packets[i][0][1]));
}

/* 5. Many threads registered, two of them running. */
static struct samples few[2], many[2];

static void
part_threads(void)
{
	struct reader idle[EXTRA_THREADS], r;
	unsigned int rep, k;
	int i;

	pin(0);
	for (rep = 0; rep < scale; rep++)
		for (k = 0; k < 2; k++) {
			reader_start(&r, schemes[EPOCH + k], 1, 0);
			grace_sample(schemes[EPOCH + k]->s_sync, &few[k]);
			reader_stop(&r);
			for (i = 0; i < EXTRA_THREADS; i++)
				reader_start(&idle[i], schemes[EPOCH + k], 0,
				    0);
			reader_start(&r, schemes[EPOCH + k], 1, 0);
			grace_sample(schemes[EPOCH + k]->s_sync, &many[k]);
			reader_stop(&r);
			for (i = 0; i < EXTRA_THREADS; i++)
				reader_stop(&idle[i]);
		}
	(void)printf("\n5. grace period with 2 and with %d threads registered, "
	    "2 running, us\n", EXTRA_THREADS + 2);
	for (k = 0; k < 2; k++)
		(void)printf("%-24s %8.2f %8.2f\n",
		    schemes[EPOCH + k]->s_name, median(&few[k]),
		    median(&many[k]));
}

/* 6. The debug build, which is another program. */
static double debug_pair[2];

static void
part_debug(void)
{
	char path[4096], copy[2048];
	FILE *f;

	(void)snprintf(copy, sizeof(copy), "%s", program);
	(void)snprintf(path, sizeof(path), "taskset -c %d %s/bench_epoch_debug",
	    cpus[1], dirname(copy));
	f = popen(path, "r");
	if (f == NULL || fscanf(f, "%lf %lf", &debug_pair[0],
	    &debug_pair[1]) != 2)
		(void)printf("no bench_epoch_debug\n");
	if (f != NULL)
		(void)pclose(f);
	(void)printf("\n6. one pair of the debug build, ns\n%-24s %8.1f\n"
	    "%-24s %8.1f\n", "epoch", debug_pair[0], "epoch asymmetric",
	    debug_pair[1]);
}

static double
least(double a, double b)
{
	return (a < b ? a : b);
}

/* The best of the rivals in one condition. */
static double
grace_best(unsigned int c)
{
	double best = median(&grace[CK][c]);
	unsigned int i;

	for (i = CK + 1; i < NSMR; i++)
		best = least(best, median(&grace[i][c]));
	return (best);
}

static void
report(void)
{
	char name[80];
	unsigned int c;

	(void)printf("\nbars\n");
	bar("pair: ck_epoch", median(&pair[EPOCH]), median(&pair[CK]), true);
	bar("pair, asymmetric: urcu bp or memb", median(&pair[ASYM]),
	    least(median(&pair[BP]), median(&pair[MEMB])), true);
	bar("nested pair: ck_epoch", median(&nested[EPOCH]),
	    median(&nested[CK]), true);
	bar("nested a packet / batches of 1000, writer busy",
	    median(&packets[EPOCH][0][1]) / median(&packets[EPOCH][2][1]), 0.9,
	    false);
	for (c = 0; c < NCOND; c++) {
		(void)snprintf(name, sizeof(name),
		    "grace period, %s: best rival", cond_name[c]);
		bar(name, median(&grace[EPOCH][c]), grace_best(c), true);
	}
	for (c = 0; c < NCOND; c++) {
		(void)snprintf(name, sizeof(name),
		    "grace period, asymmetric, %s: urcu memb", cond_name[c]);
		bar(name, median(&grace[ASYM][c]), median(&grace[MEMB][c]),
		    true);
	}
	for (c = 0; c < 2; c++) {
		(void)snprintf(name, sizeof(name), "callbacks, %s / ck_epoch",
		    c == 0 ? "no allocation" : "malloc");
		bar(name, median(&beside[0][c]), 1, false);
		(void)snprintf(name, sizeof(name),
		    "callbacks, asymmetric, %s / ck_epoch",
		    c == 0 ? "no allocation" : "malloc");
		bar(name, median(&beside[1][c]), 1, false);
		bar("backlog", quantile(&backlog[0][c], 1), 16384, true);
		bar("backlog, asymmetric", quantile(&backlog[1][c], 1), 16384,
		    true);
		bar("backlog, reclaim thread", quantile(&backlog[3][c], 1),
		    16384, true);
	}
	bar("packets in batches of 32 / no section",
	    median(&packets[EPOCH][1][0]) / median(&packets[NONE][1][0]), 0.98,
	    false);
	bar("64 threads: grace period beyond that of 2, us",
	    median(&many[0]) - median(&few[0]), 2, true);
	bar("64 threads, asymmetric", median(&many[1]) - median(&few[1]), 2,
	    true);
	bar("debug pair / release pair", debug_pair[0] / median(&pair[EPOCH]),
	    10, true);
	bar("debug pair / release pair, asymmetric",
	    debug_pair[1] / median(&pair[ASYM]), 10, true);
	(void)printf("%u of %u bars met\n", bars_met, bars);
}

int
main(int argc, char **argv)
{
	bool all = true;
	unsigned int i;
	int arg;

	program = argv[0];
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	for (arg = 1; arg < argc; arg++) {
		if (strcmp(argv[arg], "-q") == 0) {
			scale = 1;
		} else if (argv[arg][0] >= '1' && argv[arg][0] <= '6') {
			wanted[argv[arg][0] - '0'] = true;
			all = false;
		} else {
			(void)fprintf(stderr,
			    "usage: bench_epoch [-q] [1-6...]\n");
			return (64);
		}
	}
	for (arg = 1; arg < 7; arg++)
		wanted[arg] |= all;
	cpus_find();
	calibrate();
	smr_epoch_init();
	smr_rte_init(argv[0]);
	for (i = 0; i < NSMR; i++)
		schemes[i]->s_thread_init();
	(void)printf("writer on CPU %d, reader on CPU %d, TSC %.0f MHz\n",
	    cpus[0], cpus[1], cycles_per_us);
	if (wanted[1])
		part_pairs();
	if (wanted[2])
		part_grace();
	if (wanted[4])
		part_packets();
	if (wanted[5])
		part_threads();
	for (i = 0; i < NSMR; i++)
		schemes[i]->s_thread_fini();
	if (wanted[3])
		part_defer();
	if (wanted[6])
		part_debug();
	report();
	return (0);
}
