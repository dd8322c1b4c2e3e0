/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * No wake-up is lost: work is handed to ithreads that fall asleep all the
 * time, and nothing but its own wake-up may bring it to the end.
 */
#include "intr/intr_test.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <netepoch/epoch.h>

#include "intr/intr_var.h"
#include "sys/defs.h"
#include "sys/random_testlib.h"

#define	PRODUCERS	3
#define	PRODUCE_NS	200000000u	/* a busy machine makes fewer rounds */

static struct intr_domain *id;

static int
setup(void **state)
{
	int cpus[2];

	if (thread_cpus(cpus, 2) == 1)
		cpus[1] = cpus[0];
	return (intr_domain_alloc(cpus, 2, &id));
}

static int
teardown(void **state)
{

	intr_domain_free(id);
	return (0);
}

/* Something like a ring: what was put in, what a handler took out. */
struct box {
	_Atomic unsigned int waiting;
	_Atomic unsigned int taken;
	_Atomic bool	 armed;		/* the producer must write the fd */
	int		 fd;
	struct intr_event *ie;
	struct intr_handler *ih;
	struct box	*peer;		/* what we take goes there */
	_Atomic unsigned int limit;
};

static void
box_put(struct box *b, unsigned int n)
{

	atomic_fetch_add_explicit(&b->waiting, n, memory_order_release);
	intr_event_schedule(b->ie);
}

static enum intr_more
box_intr(void *arg)
{
	struct box *b = arg;
	unsigned int n;

	n = atomic_load_explicit(&b->waiting, memory_order_acquire);
	if (n == 0)
		return (INTR_DONE);
	atomic_fetch_sub_explicit(&b->waiting, n, memory_order_relaxed);
	if (b->peer != NULL && atomic_load(&b->taken) + n <= b->limit)
		box_put(b->peer, n);
	atomic_fetch_add(&b->taken, n);
	return (INTR_DONE);
}

static void
box_init(struct box *b, int cpu, int flags)
{

	memset(b, 0, sizeof(*b));
	b->fd = -1;
	assert_int_equal(intr_event_create(id, "box", cpu, -1, 0, &b->ie), 0);
	assert_int_equal(intr_handler_add(b->ie, flags, box_intr, NULL, b,
	    &b->ih), 0);
}

static void
box_fini(struct box *b)
{

	intr_handler_remove(b->ih);
	intr_event_destroy(b->ie);
}

/* Two ithreads throw one thing to each other. */
static void
ping_pong(int flags)
{
	uint64_t begin = time_ns();
	struct box a, b;
	unsigned int n;

	box_init(&a, 0, flags);
	box_init(&b, 1, flags);
	a.peer = &b;
	b.peer = &a;
	a.limit = b.limit = UINT32_MAX;
	box_put(&a, 1);
	while ((n = atomic_load(&a.taken)) < 5000 &&
	    time_ns() - begin < PRODUCE_NS)
		wait_at_least(&a.taken, n + 1);
	a.limit = b.limit = 0;
	box_fini(&a);
	box_fini(&b);
}

static void
test_ping_pong(void **state)
{

	ping_pong(INTR_TYPE_NET);
	ping_pong(INTR_TYPE_NET | INTR_POLL);
	ping_pong(0);
}

struct producer {
	pthread_t	 thread;
	struct box	*box;
	unsigned int	 seed;
	unsigned int	 rounds;	/* at most; how many it made */
	void		(*put)(struct box *b, unsigned int n);
};

static void
delay(unsigned int ns)
{
	uint64_t end = time_ns() + ns;

	while (time_ns() < end)
		continue;
}

/*
 * Put one in, see it taken, and put in the next about when the ithread goes
 * to sleep: it gets there within 2 us.  We watch without sleeping ourselves,
 * for as long as the other CPU answers.
 */
static void *
producer_main(void *arg)
{
	struct producer *p = arg;
	uint64_t begin = time_ns(), end;
	unsigned int before, i;

	for (i = 0; i < p->rounds && time_ns() - begin < PRODUCE_NS; i++) {
		before = atomic_load(&p->box->taken);
		p->put(p->box, 1);
		end = time_ns() + 50000;
		/* Others add as well: at least one more, ours or not. */
		while (atomic_load(&p->box->taken) == before)
			if (time_ns() > end)
				wait_at_least(&p->box->taken, before + 1);
		delay((unsigned int)rand_r(&p->seed) % 2000);
	}
	p->rounds = i;
	return (NULL);
}

static void
produce(struct box *b, unsigned int s, unsigned int rounds,
    void (*put)(struct box *, unsigned int), unsigned int nproducers)
{
	struct producer p[PRODUCERS];
	unsigned int total = 0;

	for (unsigned int i = 0; i < nproducers; i++) {
		p[i] = (struct producer){ .box = b, .seed = s + i,
		    .rounds = rounds, .put = put };
		assert_int_equal(pthread_create(&p[i].thread, NULL,
		    producer_main, &p[i]), 0);
	}
	for (unsigned int i = 0; i < nproducers; i++) {
		pthread_join(p[i].thread, NULL);
		total += p[i].rounds;
	}
	wait_at_least(&b->taken, total);
	assert_int_equal(atomic_load(&b->taken), total);
	assert_true(total > 10);
}

static void
test_producers(void **state)
{
	unsigned int s = (unsigned int)test_seed();
	struct box b;

	for (unsigned int n = 1; n <= PRODUCERS; n += 2) {
		box_init(&b, 0, INTR_TYPE_NET);
		produce(&b, s, 20000 / n, box_put, n);
		box_fini(&b);
		box_init(&b, 0, INTR_TYPE_NET | INTR_POLL);
		produce(&b, s, 20000 / n, box_put, n);
		box_fini(&b);
	}
}

static enum intr_more
idle_intr(void *arg)
{

	return (INTR_DONE);
}

struct churn {
	struct box	*box;
	_Atomic bool	 stop;
	_Atomic unsigned int rounds;
};

/* Turn the event from polled to not polled and back. */
static void *
churn_main(void *arg)
{
	struct churn *c = arg;
	struct intr_handler *ih;

	while (!atomic_load(&c->stop)) {
		if (intr_handler_add(c->box->ie, INTR_POLL, idle_intr, NULL,
		    NULL, &ih) != 0)
			break;
		intr_handler_remove(ih);
		atomic_fetch_add(&c->rounds, 1);
		usleep(20);
	}
	return (NULL);
}

/* A schedule is not lost where the event changes its kind meanwhile. */
static void
test_churn(void **state)
{
	struct churn c = { .stop = false };
	unsigned int s = (unsigned int)test_seed();
	pthread_t thread;
	struct box b;

	box_init(&b, 0, INTR_TYPE_NET);
	c.box = &b;
	assert_int_equal(pthread_create(&thread, NULL, churn_main, &c), 0);
	wait_at_least(&c.rounds, 1);
	produce(&b, s, 10000, box_put, 1);
	wait_at_least(&c.rounds, 10);
	atomic_store(&c.stop, true);
	pthread_join(thread, NULL);
	box_fini(&b);
}

/* The protocol of a ring whose fd is written only when the reader armed. */
static bool
armed_arm(void *arg)
{
	struct box *b = arg;

	atomic_store(&b->armed, true);
	return (atomic_load(&b->waiting) != 0);
}

static void
armed_put(struct box *b, unsigned int n)
{
	const uint64_t one = 1;

	atomic_fetch_add(&b->waiting, n);
	if (atomic_exchange(&b->armed, false))
		assert_int_equal(write(b->fd, &one, sizeof(one)),
		    sizeof(one));
}

static enum intr_more
armed_intr(void *arg)
{
	struct box *b = arg;
	uint64_t value;

	if (atomic_load(&b->waiting) == 0) {
		/* Only then, so that the fd is not read on each pass. */
		(void)!read(b->fd, &value, sizeof(value));
		return (INTR_DONE);
	}
	return (box_intr(arg));
}

static void
test_armed(void **state)
{
	unsigned int s = (unsigned int)test_seed();
	struct box b;

	memset(&b, 0, sizeof(b));
	b.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert_true(b.fd >= 0);
	assert_int_equal(intr_event_create(id, "armed", 1, b.fd, EPOLLIN,
	    &b.ie), 0);
	assert_int_equal(intr_handler_add(b.ie, INTR_TYPE_NET | INTR_POLL,
	    armed_intr, armed_arm, &b, &b.ih), 0);
	produce(&b, s, 10000, armed_put, 1);
	box_fini(&b);
	close(b.fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ping_pong),
		cmocka_unit_test(test_producers),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_armed),
	};

	return (cmocka_run_group_tests(tests, setup, teardown));
}
