/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A capture file as packets to send: read whole when a generator starts, by
 * the control thread, constant afterwards and read by the senders.  Times in
 * the file are not kept: a generator has a rate.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/gen_private.h"

#define	GEN_PCAP_MAX	(64u << 20)	/* bytes of all frames */
#define	GEN_PCAP_FRAME	9216u		/* bytes of one */

struct gen_pcap {
	char		*gp_data;	/* (c) frames, one behind the other */
	size_t		 gp_len;	/* (c) */
	size_t		 gp_size;	/* (c) */
	uint32_t	*gp_at;		/* (c) where they begin, gp_n + 1 */
	unsigned int	 gp_n;		/* (c) */
	unsigned int	 gp_max;	/* (c) */
};

static int
gen_pcap_grow(struct gen_pcap *gp, size_t len)
{
	uint32_t *at;
	char *data;

	if (gp->gp_len + len > gp->gp_size) {
		gp->gp_size = 2 * gp->gp_size + len + 65536;
		data = realloc(gp->gp_data, gp->gp_size);
		if (data == NULL)
			return (ENOMEM);
		gp->gp_data = data;
	}
	if (gp->gp_n + 2 > gp->gp_max) {
		gp->gp_max = 2 * gp->gp_max + 256;
		at = realloc(gp->gp_at, gp->gp_max * sizeof(*at));
		if (at == NULL)
			return (ENOMEM);
		gp->gp_at = at;
	}
	return (0);
}

static int
gen_pcap_add(struct gen_pcap *gp, const void *frame, uint32_t len)
{
	int error;

	if (len < ETHER_HDR_LEN || len > GEN_PCAP_FRAME)
		return (EBADMSG);
	if (gp->gp_len + len > GEN_PCAP_MAX)
		return (EFBIG);
	error = gen_pcap_grow(gp, len);
	if (error != 0)
		return (error);
	memcpy(gp->gp_data + gp->gp_len, frame, len);
	gp->gp_at[gp->gp_n++] = (uint32_t)gp->gp_len;
	gp->gp_len += len;
	gp->gp_at[gp->gp_n] = (uint32_t)gp->gp_len;
	return (0);
}

static int __attribute__((format(printf, 4, 5)))
gen_pcap_error(int error, char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return (error);
}

/* All frames of the file; err says what is wrong with it. */
static int
gen_pcap_read(struct gen_pcap *gp, const char *path, pcap_t *pc, char *err,
    size_t errlen)
{
	struct pcap_pkthdr *ph;
	const u_char *data;
	int error, n;

	if (pcap_datalink(pc) != DLT_EN10MB)
		return (gen_pcap_error(EINVAL, err, errlen, "%s: expected "
		    "Ethernet frames", path));
	while ((n = pcap_next_ex(pc, &ph, &data)) == 1) {
		if (ph->caplen != ph->len)
			return (gen_pcap_error(EINVAL, err, errlen, "%s: frame "
			    "%u was captured in part", path, gp->gp_n + 1));
		error = gen_pcap_add(gp, data, ph->caplen);
		if (error == EBADMSG)
			return (gen_pcap_error(EINVAL, err, errlen, "%s: frame "
			    "%u: expected %d to %u bytes, got %u", path,
			    gp->gp_n + 1, ETHER_HDR_LEN, GEN_PCAP_FRAME,
			    ph->caplen));
		if (error == EFBIG)
			return (gen_pcap_error(error, err, errlen, "%s: more "
			    "than %u MiB", path, GEN_PCAP_MAX >> 20));
		if (error != 0)
			return (gen_pcap_error(error, err, errlen, "%s: %s",
			    path, strerror(error)));
	}
	if (n == PCAP_ERROR)
		return (gen_pcap_error(EINVAL, err, errlen, "%s: %s", path,
		    pcap_geterr(pc)));
	if (gp->gp_n == 0)
		return (gen_pcap_error(EINVAL, err, errlen, "%s: no frames",
		    path));
	return (0);
}

int
gen_pcap_open(const char *path, struct gen_pcap **gpp, char *err,
    size_t errlen)
{
	char text[PCAP_ERRBUF_SIZE];
	struct gen_pcap *gp;
	pcap_t *pc;
	int error;

	pc = pcap_open_offline(path, text);
	if (pc == NULL)
		return (gen_pcap_error(ENOENT, err, errlen, "%s", text));
	gp = calloc(1, sizeof(*gp));
	if (gp == NULL)
		error = gen_pcap_error(ENOMEM, err, errlen, "no memory");
	else
		error = gen_pcap_read(gp, path, pc, err, errlen);
	pcap_close(pc);
	if (error == 0)
		*gpp = gp;
	else if (gp != NULL)
		gen_pcap_close(gp);
	return (error);
}

void
gen_pcap_close(struct gen_pcap *gp)
{

	free(gp->gp_at);
	free(gp->gp_data);
	free(gp);
}

unsigned int
gen_pcap_frames(const struct gen_pcap *gp)
{

	return (gp->gp_n);
}

struct mbuf *
gen_pcap_frame(const struct gen_pcap *gp, unsigned int i)
{

	return (m_devget(gp->gp_data + gp->gp_at[i],
	    gp->gp_at[i + 1] - gp->gp_at[i]));
}
