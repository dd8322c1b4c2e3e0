/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * pkt-gen's options.  Letters are those of netmap's pkt-gen; what cannot mean
 * anything here is refused with a word why.  No state.
 */
#include <netinet/in.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pktgen.h"

/* Options that netmap's has and that have no meaning here. */
static const struct {
	char		 pm_opt;
	const char	*pm_why;
} pktgen_meaningless[] = {
	{ 'C', "there are no rings to be sized" },
	{ 'F', "a frame is one piece" },
	{ 'I', "buffers are always passed on, never copied" },
	{ 'M', "a frame is one piece" },
	{ 'o', "how frames are copied cannot be chosen" },
	{ 'r', "every frame is a valid packet" },
};

bool
pktgen_is_device(const char *ifname)
{
	size_t n = strcspn(ifname, ":,");
	static const char *const kinds[] = { "xdp", "packet", "tap", "mem",
	    "null" };

	for (size_t i = 0; i < nitems(kinds); i++)
		if (strlen(kinds[i]) == n &&
		    strncmp(ifname, kinds[i], n) == 0)
			return (true);
	return (false);
}

/* One address with or without a port: "A", "A:P", "[A6]:P". */
static bool
pktgen_addr(const char *text, size_t len, char *addr, size_t size, long *port)
{
	const char *colon = NULL, *begin = text, *end = text + len;
	char *stop;

	*port = -1;
	if (len > 0 && *text == '[') {
		begin++;
		end = memchr(text, ']', len);
		if (end == NULL)
			return (false);
		if (end + 1 < text + len) {
			if (end[1] != ':')
				return (false);
			colon = end + 1;
		}
	} else {
		colon = memchr(text, ':', len);
		/* Two colons: an IPv6 address without a port. */
		if (colon != NULL && memchr(colon + 1, ':',
		    len - (size_t)(colon + 1 - text)) != NULL)
			colon = NULL;
		if (colon != NULL)
			end = colon;
	}
	if (end == begin || (size_t)(end - begin) >= size)
		return (false);
	memcpy(addr, begin, (size_t)(end - begin));
	addr[end - begin] = '\0';
	if (colon == NULL)
		return (true);
	if (colon[1] < '0' || colon[1] > '9')
		return (false);
	*port = strtol(colon + 1, &stop, 10);
	return (stop == text + len && *port <= 65535);
}

static bool
pktgen_put(json_t *args, const char *end, const char *what, json_t *val)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%s%s", end, what);
	return (json_object_set_new(args, name, val) == 0);
}

bool
pktgen_range(json_t *args, const char *end, const char *text)
{
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	size_t n = strcspn(text, "-");
	long port, port_to;

	if (!pktgen_addr(text, n, from, sizeof(from), &port) ||
	    !pktgen_put(args, end, "", json_string(from)) ||
	    (port >= 0 && !pktgen_put(args, end, "_port",
	    json_integer(port))))
		return (false);
	if (text[n] == '\0')
		return (true);
	text += n + 1;
	if (!pktgen_addr(text, strlen(text), to, sizeof(to), &port_to) ||
	    !pktgen_put(args, end, "_to", json_string(to)))
		return (false);
	return (port_to < 0 || (port_to >= port && pktgen_put(args, end,
	    "_port_to", json_integer(port_to))));
}

static int
pktgen_mode(struct tool_ctx *tc, struct pktgen_opts *po, const char *word)
{
	static const struct {
		const char	*pw_word;
		enum pktgen_mode pw_mode;
	} words[] = {
		{ "tx", PKTGEN_TX }, { "rx", PKTGEN_RX },
		{ "ping", PKTGEN_PING }, { "pong", PKTGEN_PONG },
		/* All frames carry numbers here. */
		{ "txseq", PKTGEN_TX }, { "rxseq", PKTGEN_RX },
	};

	for (size_t i = 0; i < nitems(words); i++)
		if (strcmp(word, words[i].pw_word) == 0) {
			po->po_mode = words[i].pw_mode;
			return (0);
		}
	if (strcmp(word, "rfc2544") == 0) {
		po->po_mode = PKTGEN_TX;
		po->po_throughput = true;
		return (0);
	}
	return (tool_fail(tc, EX_USAGE, "-f %s: expected tx, rx, ping, pong, "
	    "txseq, rxseq or rfc2544", word));
}

static int
pktgen_interface(struct tool_ctx *tc, struct pktgen_opts *po,
    const char *ifname)
{

	if (strncmp(ifname, "netmap:", 7) == 0)
		return (tool_fail(tc, EX_USAGE, "-i %s: netmap is not used "
		    "here; xdp:%s is the Linux device", ifname, ifname + 7));
	if (strncmp(ifname, "vale", 4) == 0)
		return (tool_fail(tc, EX_USAGE, "-i %s: there are no VALE "
		    "switches; mem is a pair of interfaces in memory",
		    ifname));
	if (strncmp(ifname, "pcap:", 5) == 0)
		return (tool_fail(tc, EX_USAGE, "-i %s: use packet:%s; a "
		    "file is replayed with -P", ifname, ifname + 5));
	if (po->po_nif == 2)
		return (tool_fail(tc, EX_USAGE, "-i %s: one interface, or "
		    "one that sends and one that receives", ifname));
	po->po_if[po->po_nif++] = ifname;
	return (0);
}

/* A number of an option, or the status. */
static int
pktgen_number(struct tool_ctx *tc, int c, const char *text, long long min,
    long long max, long long *val)
{

	if (tool_number(text, min, max, val))
		return (0);
	return (tool_fail(tc, EX_USAGE, "-%c %s: expected a number, %lld to "
	    "%lld", c, text, min, max));
}

/* Packets, with or without a unit: "14880000", "14.88M". */
static int
pktgen_amount(struct tool_ctx *tc, int c, const char *text, long long min,
    long long *val)
{
	static const char units[] = "KMG";
	const char *unit;
	double number;
	char *end;

	if (tool_number(text, min, INT64_MAX, val))
		return (0);
	errno = 0;
	number = strtod(text, &end);
	if (text[0] >= '0' && text[0] <= '9' && errno == 0 && end[0] != '\0' &&
	    end[1] == '\0' && (unit = strchr(units, end[0])) != NULL) {
		for (long k = 0; k <= unit - units; k++)
			number *= 1000;
		number = floor(number + 0.5);
		if (number >= (double)min && number < 9.2e18) {
			*val = (long long)number;
			return (0);
		}
	}
	return (tool_fail(tc, EX_USAGE, "-%c %s: expected a number of at "
	    "least %lld, with or without K, M or G", c, text, min));
}

static int
pktgen_length(struct tool_ctx *tc, struct pktgen_opts *po, const char *text)
{
	long long val;
	int status;

	if ((status = pktgen_number(tc, 'l', text, 16, 65535, &val)) != 0)
		return (status);
	if (po->po_len == 0)
		po->po_len = val;
	else if (val > po->po_len)
		return (tool_fail(tc, EX_USAGE, "-l %s: the second length is "
		    "the least of random ones, expected at most %lld", text,
		    po->po_len));
	else
		po->po_minlen = val;
	return (0);
}

static int
pktgen_seconds(struct tool_ctx *tc, const char *name, const char *text,
    double min, double max, double *val)
{
	char *end;

	errno = 0;
	*val = strtod(text, &end);
	if (errno == 0 && end != text && *end == '\0' && *val >= min &&
	    *val <= max)
		return (0);
	return (tool_fail(tc, EX_USAGE, "--%s %s: expected a number, %g to "
	    "%g", name, text, min, max));
}

static int
pktgen_pcap(struct tool_ctx *tc, struct pktgen_opts *po, const char *file)
{

	free(po->po_pcap);
	/* The machine may have another directory. */
	po->po_pcap = realpath(file, NULL);
	if (po->po_pcap == NULL)
		return (tool_fail(tc, EX_NOINPUT, "-P %s: %s", file,
		    strerror(errno)));
	return (0);
}

enum { PKTGEN_CSV = 256, PKTGEN_VERIFY, PKTGEN_THROUGHPUT, PKTGEN_TRIAL,
    PKTGEN_LOSS, PKTGEN_NOLIVE };

/* Those with a value of their own kind. */
static int
pktgen_option(struct tool_ctx *tc, struct pktgen_opts *po, int c)
{

	switch (c) {
	case 'f':
		return (pktgen_mode(tc, po, optarg));
	case 'i':
		return (pktgen_interface(tc, po, optarg));
	case 'l':
		return (pktgen_length(tc, po, optarg));
	case 'P':
		return (pktgen_pcap(tc, po, optarg));
	case 'n':
		return (pktgen_amount(tc, c, optarg, 0, &po->po_count));
	case 'b':
		return (pktgen_number(tc, c, optarg, 1, 4096, &po->po_burst));
	case 'a':
		return (pktgen_number(tc, c, optarg, 0, 1023, &po->po_cpu));
	case 'c':
		return (pktgen_number(tc, c, optarg, 1, 1024, &po->po_cpus));
	case 'p':
		return (pktgen_number(tc, c, optarg, 1, 16, &po->po_threads));
	case 'T':
		return (pktgen_number(tc, c, optarg, 1, 3600000,
		    &po->po_report_ms));
	case 'w':
		return (pktgen_number(tc, c, optarg, 0, 3600, &po->po_wait_s));
	case 'R':
		return (pktgen_amount(tc, c, optarg, 1, &po->po_rate));
	case PKTGEN_TRIAL:
		return (pktgen_seconds(tc, "trial", optarg, 0.1, 3600,
		    &po->po_trial_s));
	case PKTGEN_LOSS:
		return (pktgen_seconds(tc, "loss", optarg, 0, 1,
		    &po->po_loss));
	default:
		return (-1);
	}
}

/* Those that only say yes, and texts; false: it is none of them. */
static bool
pktgen_flag(struct pktgen_opts *po, int c)
{

	switch (c) {
	case '4':	po->po_v6 = false; break;
	case '6':	po->po_v6 = true; break;
	case 's':	po->po_src = optarg; break;
	case 'd':	po->po_dst = optarg; break;
	case 'S':	po->po_smac = optarg; break;
	case 'D':	po->po_dmac = optarg; break;
	case 'z':	po->po_srcrandom = true; break;
	case 'Z':	po->po_dstrandom = true; break;
	case 'N':	po->po_raw = true; break;
	case 'W':	po->po_silence = true; break;
	case 'A':	po->po_window = true; break;
	case 'B':	po->po_framing = true; break;
	case 'X':	po->po_dump = true; break;
	case 'v':	po->po_verbose++; break;
	case PKTGEN_CSV: po->po_csv = optarg; break;
	case PKTGEN_NOLIVE: po->po_nolive = true; break;
	case PKTGEN_VERIFY: po->po_verify = true; break;
	case PKTGEN_THROUGHPUT:
		po->po_throughput = true;
		po->po_mode = PKTGEN_TX;
		break;
	default:
		return (false);
	}
	return (true);
}

static int
pktgen_refuse(struct tool_ctx *tc, int c)
{

	for (size_t i = 0; i < nitems(pktgen_meaningless); i++)
		if (pktgen_meaningless[i].pm_opt == c)
			return (tool_fail(tc, EX_USAGE, "-%c has no meaning "
			    "here: %s", c, pktgen_meaningless[i].pm_why));
	return (tool_badopt(tc, c));
}

/* What options say together. */
static int
pktgen_check(struct tool_ctx *tc, const struct pktgen_opts *po)
{

	if (po->po_nif == 0)
		return (tool_fail(tc, EX_USAGE, "missing interface: -i IF"));
	if (po->po_nif == 2 && po->po_mode != PKTGEN_TX)
		return (tool_fail(tc, EX_USAGE, "a second -i receives what "
		    "-f tx sends"));
	if (po->po_throughput && po->po_nif == 1 &&
	    strcmp(po->po_if[0], "mem") != 0)
		return (tool_fail(tc, EX_USAGE, "a search for the throughput "
		    "needs an interface to send and one to receive: -i IF "
		    "-i IF"));
	if (po->po_pcap != NULL && po->po_mode != PKTGEN_TX)
		return (tool_fail(tc, EX_USAGE, "-P: a file is what -f tx "
		    "sends"));
	return (0);
}

int
pktgen_options(struct tool_ctx *tc, struct pktgen_opts *po, int argc,
    char **argv)
{
	static const struct option longopts[] = {
		{ "csv", required_argument, NULL, PKTGEN_CSV },
		{ "verify", no_argument, NULL, PKTGEN_VERIFY },
		{ "throughput", no_argument, NULL, PKTGEN_THROUGHPUT },
		{ "trial", required_argument, NULL, PKTGEN_TRIAL },
		{ "no-live", no_argument, NULL, PKTGEN_NOLIVE },
		{ "loss", required_argument, NULL, PKTGEN_LOSS },
		{ NULL, 0, NULL, 0 }
	};
	int c, status;

	*po = (struct pktgen_opts){ .po_mode = PKTGEN_RX, .po_burst = -1,
	    .po_threads = 1, .po_cpu = -1, .po_cpus = -1,
	    .po_report_ms = 1000, .po_wait_s = -1, .po_trial_s = 2 };
	while ((c = getopt_long(argc, argv,
	    "+:46a:Ab:Bc:C:d:D:f:F:hH:i:I:l:M:n:No:p:P:rR:s:S:T:vw:WXzZ",
	    longopts, NULL)) != -1) {
		if (c == 'h') {
			(void)tool_usage(tc);
			return (-1);
		}
		if (c == 'H') {
			if (strcmp(optarg, "0") == 0)
				continue;
			return (tool_fail(tc, EX_USAGE, "-H %s: frames go "
			    "without a virtio header", optarg));
		}
		if (pktgen_flag(po, c))
			continue;
		status = pktgen_option(tc, po, c);
		if (status == -1)
			status = pktgen_refuse(tc, c);
		if (status != 0)
			return (status);
	}
	if (optind != argc) {
		tool_warn(tc, "%s: expected options only", argv[optind]);
		return (tool_usage(tc));
	}
	return (pktgen_check(tc, po));
}
