/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A graph's description, in lines or in JSON, as a plan.  The words are the
 * same in both; netepoch-ngctl(8) has them.  Names are checked here, so that
 * no step fails for a name that could never be.
 */

#include <errno.h>
#include <jansson.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ngplan.h"

#define	NGP_BLANKS	" \t\r\v\f"

/* ---- The plan ---- */

bool
ngplan_fail(struct ngplan *np, int line, const char *fmt, ...)
{
	size_t off = 0;
	va_list ap;

	if (np->np_err[0] != '\0')
		return (false);
	if (line != 0)
		off = (size_t)snprintf(np->np_err, sizeof(np->np_err),
		    "line %d: ", line);
	va_start(ap, fmt);
	(void)vsnprintf(np->np_err + off, sizeof(np->np_err) - off, fmt, ap);
	va_end(ap);
	return (false);
}

void
ngplan_init(struct ngplan *np)
{

	memset(np, 0, sizeof(*np));
	np->np_nodes_end = &np->np_nodes;
	np->np_items_end = &np->np_items;
}

static void
ngplan_tree_free(void *node)
{

	(void)node;			/* np_nodes has it too */
}

void
ngplan_fini(struct ngplan *np)
{
	struct ngp_node *nn;
	struct ngp_item *ni;

	tdestroy(np->np_tree, ngplan_tree_free);
	while ((nn = np->np_nodes) != NULL) {
		np->np_nodes = nn->nn_next;
		free(nn->nn_link);
		free(nn);
	}
	while ((ni = np->np_items) != NULL) {
		np->np_items = ni->ni_next;
		free(ni->ni_getargs);
		free(ni->ni_args);
		free(ni->ni_bin);
		free(ni->ni_old);
		free(ni->ni_oldtext);
		free(ni);
	}
	free(np->np_step);
}

static int
ngplan_compare(const void *a, const void *b)
{

	return (strcmp(((const struct ngp_node *)a)->nn_name,
	    ((const struct ngp_node *)b)->nn_name));
}

struct ngp_node *
ngplan_find(struct ngplan *np, const char *name)
{
	struct ngp_node key;
	void *found;

	if (strlen(name) >= sizeof(key.nn_name))
		return (NULL);
	memcpy(key.nn_name, name, strlen(name) + 1);
	found = tfind(&key, &np->np_tree, ngplan_compare);
	return (found != NULL ? *(struct ngp_node **)found : NULL);
}

/* A node's name: none that reads as an address. */
static bool
ngplan_node_ok(const char *name)
{
	size_t len = strlen(name), hex;

	if (len == 0 || len >= NG_NODESIZ || strpbrk(name, ".:") != NULL)
		return (false);
	hex = name[0] == '[' ? strspn(name + 1, "0123456789abcdefABCDEF") : 0;
	return (hex == 0 || strcmp(name + 1 + hex, "]") != 0);
}

static bool
ngplan_hook_ok(const char *name)
{
	size_t len = strlen(name);

	return (len > 0 && len < NG_HOOKSIZ && strpbrk(name, ".:") == NULL);
}

/* The node of that name, new if the file has not named it before. */
static struct ngp_node *
ngplan_node(struct ngplan *np, int line, const char *name)
{
	struct ngp_node *nn;

	if (!ngplan_node_ok(name)) {
		(void)ngplan_fail(np, line, "\"%s\" is no name of a node",
		    name);
		return (NULL);
	}
	if ((nn = ngplan_find(np, name)) != NULL)
		return (nn);
	if ((nn = calloc(1, sizeof(*nn))) == NULL)
		goto nomem;
	memcpy(nn->nn_name, name, strlen(name) + 1);
	nn->nn_line = line;
	if (tsearch(nn, &np->np_tree, ngplan_compare) == NULL) {
		free(nn);
		goto nomem;
	}
	*np->np_nodes_end = nn;
	np->np_nodes_end = &nn->nn_next;
	return (nn);
nomem:
	(void)ngplan_fail(np, line, "out of memory");
	return (NULL);
}

static struct ngp_item *
ngplan_item(struct ngplan *np, int line, enum ngp_kind kind)
{
	struct ngp_item *ni;

	if ((ni = calloc(1, sizeof(*ni))) == NULL) {
		(void)ngplan_fail(np, line, "out of memory");
		return (NULL);
	}
	ni->ni_kind = kind;
	ni->ni_line = line;
	*np->np_items_end = ni;
	np->np_items_end = &ni->ni_next;
	return (ni);
}

/* ---- What a file can say ---- */

static bool
ngplan_declare(struct ngplan *np, int line, const char *name,
    const char *type)
{
	struct ngp_node *nn;

	if ((nn = ngplan_node(np, line, name)) == NULL)
		return (false);
	if (*type == '\0' || strlen(type) >= sizeof(nn->nn_type))
		return (ngplan_fail(np, line, "\"%s\" is no name of a type",
		    type));
	if (nn->nn_declared)
		return (ngplan_fail(np, line, "node %s is there twice",
		    name));
	if (nn->nn_absent)
		return (ngplan_fail(np, line, "node %s is to be absent",
		    name));
	nn->nn_declared = true;
	nn->nn_line = line;
	memcpy(nn->nn_type, type, strlen(type) + 1);
	return (true);
}

/* "node:hook" as one end of ni; which one, end says. */
static bool
ngplan_end(struct ngplan *np, struct ngp_item *ni, int end, const char *word)
{
	char name[NG_NODESIZ];
	const char *colon;

	colon = strchr(word, ':');
	if (colon == NULL || (size_t)(colon - word) >= sizeof(name) ||
	    !ngplan_hook_ok(colon + 1))
		return (ngplan_fail(np, ni->ni_line, "\"%s\": expected "
		    "node:hook", word));
	memcpy(name, word, (size_t)(colon - word));
	name[colon - word] = '\0';
	ni->ni_node[end] = ngplan_node(np, ni->ni_line, name);
	memcpy(ni->ni_hook[end], colon + 1, strlen(colon + 1) + 1);
	return (ni->ni_node[end] != NULL);
}

static bool
ngplan_edge(struct ngplan *np, int line, const char *one, const char *two)
{
	struct ngp_item *ni;

	if ((ni = ngplan_item(np, line, NGP_EDGE)) == NULL ||
	    !ngplan_end(np, ni, 0, one) || !ngplan_end(np, ni, 1, two))
		return (false);
	if (ni->ni_node[0] == ni->ni_node[1] &&
	    strcmp(ni->ni_hook[0], ni->ni_hook[1]) == 0)
		return (ngplan_fail(np, line, "\"%s\" cannot be its own peer",
		    one));
	return (true);
}

/* A command and its arguments, parted by blanks, as they are sent. */
static bool
ngplan_command(struct ngplan *np, int line, const char *text,
    char cmd[NG_CMDSTRSIZ], char **args)
{
	size_t len, n;

	text += strspn(text, NGP_BLANKS);
	len = strcspn(text, NGP_BLANKS);
	if (len == 0 || len >= NG_CMDSTRSIZ)
		return (ngplan_fail(np, line, "\"%.*s\" is no command",
		    (int)len, text));
	memcpy(cmd, text, len);
	cmd[len] = '\0';
	text += len;
	text += strspn(text, NGP_BLANKS);
	for (n = strlen(text); n > 0; n--)
		if (strchr(NGP_BLANKS, text[n - 1]) == NULL)
			break;
	if ((*args = strndup(text, n)) == NULL)
		return (ngplan_fail(np, line, "out of memory"));
	return (true);
}

/* get NULL: a message for a node that has just been made. */
static bool
ngplan_message(struct ngplan *np, int line, const char *name,
    const char *get, const char *text)
{
	struct ngp_item *ni;

	ni = ngplan_item(np, line, get != NULL ? NGP_SET : NGP_MSG);
	if (ni == NULL ||
	    (ni->ni_node[0] = ngplan_node(np, line, name)) == NULL)
		return (false);
	if (get != NULL && !ngplan_command(np, line, get, ni->ni_get,
	    &ni->ni_getargs))
		return (false);
	return (ngplan_command(np, line, text, ni->ni_cmd, &ni->ni_args));
}

static bool
ngplan_exclusive(struct ngplan *np, int line, const char *name)
{
	struct ngp_node *nn;

	if ((nn = ngplan_node(np, line, name)) == NULL)
		return (false);
	nn->nn_exclusive = true;
	return (true);
}

/* A node, or one hook of a node. */
static bool
ngplan_absent(struct ngplan *np, int line, const char *word)
{
	struct ngp_node *nn;
	struct ngp_item *ni;

	if (strchr(word, ':') != NULL)
		return ((ni = ngplan_item(np, line, NGP_NOHOOK)) != NULL &&
		    ngplan_end(np, ni, 0, word));
	if ((nn = ngplan_node(np, line, word)) == NULL)
		return (false);
	if (nn->nn_declared)
		return (ngplan_fail(np, line, "node %s is to be there", word));
	nn->nn_absent = true;
	return (true);
}

/* ---- Lines ---- */

/* Take a word off *textp; "" at the end. */
static char *
ngplan_word(char **textp)
{
	char *word;

	word = *textp + strspn(*textp, NGP_BLANKS);
	*textp = word + strcspn(word, NGP_BLANKS);
	if (**textp != '\0')
		*(*textp)++ = '\0';
	return (word);
}

/* "getter [args] = setter [args]": the word "=" parts them. */
static bool
ngplan_line_set(struct ngplan *np, int line, const char *name, char *text)
{
	char *eq;

	for (eq = text; (eq = strchr(eq, '=')) != NULL; eq++)
		if (eq > text && strchr(NGP_BLANKS, eq[-1]) != NULL &&
		    (eq[1] == '\0' || strchr(NGP_BLANKS, eq[1]) != NULL))
			break;
	if (eq == NULL)
		return (ngplan_fail(np, line, "expected: set node getter = "
		    "setter [args ...]"));
	*eq = '\0';
	return (ngplan_message(np, line, name, text, eq + 1));
}

/* Words to the end of the line, each for fn. */
static bool
ngplan_line_each(struct ngplan *np, int line, char *text,
    bool (*fn)(struct ngplan *np, int line, const char *word))
{
	char *word;

	word = ngplan_word(&text);
	if (*word == '\0')
		return (ngplan_fail(np, line, "a name is missing"));
	for (; *word != '\0'; word = ngplan_word(&text))
		if (!fn(np, line, word))
			return (false);
	return (true);
}

static bool
ngplan_line(struct ngplan *np, int line, char *text)
{
	char *verb, *one, *two;

	verb = ngplan_word(&text);
	if (*verb == '\0' || *verb == '#')
		return (true);
	if (strcmp(verb, "exclusive") == 0)
		return (ngplan_line_each(np, line, text, ngplan_exclusive));
	if (strcmp(verb, "absent") == 0)
		return (ngplan_line_each(np, line, text, ngplan_absent));
	one = ngplan_word(&text);
	if (strcmp(verb, "set") == 0)
		return (ngplan_line_set(np, line, one, text));
	if (strcmp(verb, "msg") == 0)
		return (ngplan_message(np, line, one, NULL, text));
	two = ngplan_word(&text);
	if (*ngplan_word(&text) != '\0')
		return (ngplan_fail(np, line, "too many words"));
	if (strcmp(verb, "node") == 0)
		return (ngplan_declare(np, line, one, two));
	if (strcmp(verb, "edge") == 0)
		return (ngplan_edge(np, line, one, two));
	return (ngplan_fail(np, line, "\"%s\": expected node, edge, msg, set, "
	    "exclusive or absent", verb));
}

static bool
ngplan_lines(struct ngplan *np, char *text)
{
	int line = 1;
	char *next;
	bool ok = true;

	for (; ok && text != NULL; text = next, line++) {
		if ((next = strchr(text, '\n')) != NULL)
			*next++ = '\0';
		ok = ngplan_line(np, line, text);
	}
	return (ok);
}

/* ---- JSON ---- */

/* Every member of obj is one of names; what is wrong with it otherwise. */
static bool
ngplan_json_members(struct ngplan *np, json_t *obj, const char *what,
    const char *const names[])
{
	const char *key;
	json_t *val;
	int i;

	if (!json_is_object(obj))
		return (ngplan_fail(np, 0, "%s: expected an object", what));
	json_object_foreach(obj, key, val) {
		for (i = 0; names[i] != NULL; i++)
			if (strcmp(names[i], key) == 0)
				break;
		if (names[i] == NULL)
			return (ngplan_fail(np, 0, "%s: there is no member "
			    "\"%s\"", what, key));
	}
	return (true);
}

/* A string, "" if it is something else: which is then no name. */
static const char *
ngplan_json_text(const json_t *val)
{
	const char *s;

	s = json_string_value(val);
	return (s != NULL ? s : "");
}

static bool
ngplan_json_node(struct ngplan *np, json_t *val)
{
	static const char *const names[] = { "name", "type", "exclusive",
	    NULL };
	const char *name;
	json_t *excl;

	if (!ngplan_json_members(np, val, "nodes", names))
		return (false);
	name = ngplan_json_text(json_object_get(val, "name"));
	excl = json_object_get(val, "exclusive");
	if (excl != NULL && !json_is_boolean(excl))
		return (ngplan_fail(np, 0, "nodes: exclusive: expected true "
		    "or false"));
	if (!ngplan_declare(np, 0, name,
	    ngplan_json_text(json_object_get(val, "type"))))
		return (false);
	return (!json_is_true(excl) || ngplan_exclusive(np, 0, name));
}

static bool
ngplan_json_edge(struct ngplan *np, json_t *val)
{

	if (json_array_size(val) != 2)
		return (ngplan_fail(np, 0, "edges: expected two ends"));
	return (ngplan_edge(np, 0, ngplan_json_text(json_array_get(val, 0)),
	    ngplan_json_text(json_array_get(val, 1))));
}

static bool
ngplan_json_message(struct ngplan *np, json_t *val)
{
	static const char *const names[] = { "node", "msg", "get", "set",
	    NULL };
	json_t *msg, *get, *set;

	if (!ngplan_json_members(np, val, "messages", names))
		return (false);
	msg = json_object_get(val, "msg");
	get = json_object_get(val, "get");
	set = json_object_get(val, "set");
	if ((msg != NULL) == (set != NULL) || (set != NULL) != (get != NULL))
		return (ngplan_fail(np, 0, "messages: expected msg, or get "
		    "and set"));
	return (ngplan_message(np, 0,
	    ngplan_json_text(json_object_get(val, "node")),
	    get != NULL ? ngplan_json_text(get) : NULL,
	    ngplan_json_text(msg != NULL ? msg : set)));
}

static bool
ngplan_json_absent(struct ngplan *np, json_t *val)
{

	return (ngplan_absent(np, 0, ngplan_json_text(val)));
}

static bool
ngplan_json(struct ngplan *np, const char *text, size_t len)
{
	static const char *const names[] = { "nodes", "edges", "messages",
	    "absent", NULL };
	bool (*const fn[])(struct ngplan *, json_t *) = { ngplan_json_node,
	    ngplan_json_edge, ngplan_json_message, ngplan_json_absent };
	json_t *root, *list, *val;
	json_error_t je;
	bool ok;
	size_t i;
	int k;

	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
	if (root == NULL)
		return (ngplan_fail(np, je.line, "%s", je.text));
	ok = ngplan_json_members(np, root, "the file", names);
	for (k = 0; ok && names[k] != NULL; k++) {
		list = json_object_get(root, names[k]);
		if (list != NULL && !json_is_array(list))
			ok = ngplan_fail(np, 0, "%s: expected a list",
			    names[k]);
		json_array_foreach(list, i, val)
			if (ok && !fn[k](np, val))
				ok = false;
	}
	json_decref(root);
	return (ok);
}

/* ---- The file ---- */

bool
ngplan_text(struct ngplan *np, char *text, size_t len)
{

	if (memchr(text, '\0', len) != NULL)
		return (ngplan_fail(np, 0, "a NUL byte in it"));
	if (text[strspn(text, " \t\r\n")] == '{')
		return (ngplan_json(np, text, len));
	return (ngplan_lines(np, text));
}

bool
ngplan_file(struct ngplan *np, FILE *f)
{
	size_t len = 0, n, size = 0;
	char *text = NULL, *more;
	bool ok = false;

	do {
		if (len + 1 >= size) {
			size = size * 2 + 4096;
			if ((more = realloc(text, size)) == NULL) {
				(void)ngplan_fail(np, 0, "out of memory");
				goto out;
			}
			text = more;
		}
		n = fread(text + len, 1, size - len - 1, f);
		len += n;
	} while (n > 0 && len <= NGP_FILE_MAX);
	text[len] = '\0';
	if (ferror(f) != 0)
		(void)ngplan_fail(np, 0, "cannot read: %s", strerror(errno));
	else if (len > NGP_FILE_MAX)
		(void)ngplan_fail(np, 0, "more than %u bytes", NGP_FILE_MAX);
	else
		ok = ngplan_text(np, text, len);
out:
	free(text);
	return (ok);
}
