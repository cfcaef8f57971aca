/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redirections: files, descriptors, heredocs and herestrings, and what flows out of them.
 */
#include "inspect/shell/run.h"

#include "base/str.h"

#include <string.h>

bool run_is_word(const struct shell_node *n)
{
	switch (n->kind) {
	case NODE_WORD:
	case NODE_STRING:
	case NODE_RAW_STRING:
	case NODE_ANSI_STRING:
	case NODE_TRANSLATED:
	case NODE_CONCATENATION:
	case NODE_SIMPLE_EXPANSION:
	case NODE_EXPANSION:
	case NODE_ARITHMETIC:
	case NODE_BRACE:
	case NODE_NUMBER:
	case NODE_EXTGLOB:
	case NODE_REGEX:
	case NODE_COMMAND_SUBSTITUTION:
	case NODE_PROCESS_SUBSTITUTION:
		return true;
	default:
		return false;
	}
}

static struct shell_redirect *run_redirect_new(struct run *r, struct run_call *call)
{
	return run_grow(r, (void **)&call->redirects, &call->n_redirects, &call->cap_redirects,
			sizeof(struct shell_redirect), LIMIT_SHELL_WORDS);
}

/* A number right before a redirection belongs to that; it is kept for it. */
bool run_is_descriptor(struct run *r, uint32_t node)
{
	const struct shell_node *n = &r->tree->nodes[node];

	if (n->end >= r->tree->len || !strchr("<>", r->tree->text[n->end]))
		return false;
	r->pending_fd = arena_copy(&r->m->arena, r->tree->text + n->start, n->end - n->start);
	return true;
}

void run_file_redirect(struct run *r, uint32_t node, struct run_call *call)
{
	const struct shell_node *nodes = r->tree->nodes;
	struct shell_redirect d = {.kind = REDIRECT_OUT, .target.s = ""};
	bool has_target = false, is_both = false, is_text = false;

	d.fd = r->pending_fd;
	r->pending_fd = NULL;

	for (uint32_t c = nodes[node].first; c; c = nodes[c].next) {
		/* The grammar knows no descriptor before <<<. */
		if (nodes[c].kind == NODE_FILE_DESCRIPTOR &&
		    str_starts(r->tree->text + nodes[c].end, "<<<"))
			is_text = true;
		if (nodes[c].kind == NODE_FILE_DESCRIPTOR)
			d.fd = arena_copy(&r->m->arena, r->tree->text + nodes[c].start,
					  nodes[c].end - nodes[c].start);
		else if (nodes[c].kind == NODE_LESS)
			d.kind = REDIRECT_IN;
		else if (nodes[c].kind == NODE_APPEND)
			d.kind = REDIRECT_APPEND;
		else if (nodes[c].kind == NODE_DUP_IN || nodes[c].kind == NODE_DUP_OUT)
			d.kind = REDIRECT_DUP;
		else if (nodes[c].kind == NODE_CLOSE_IN || nodes[c].kind == NODE_CLOSE_OUT)
			d.kind = REDIRECT_CLOSE;
		else if (nodes[c].kind == NODE_NUMBER && has_target && run_is_descriptor(r, c))
			continue;
		else if (run_is_word(&nodes[c]) && has_target)
			word_expand(r, c, &call->argv);
		else if (run_is_word(&nodes[c])) {
			d.target = word_one(r, c);
			has_target = true;
		}
		is_both = is_both || nodes[c].kind == NODE_BOTH ||
			  nodes[c].kind == NODE_BOTH_APPEND;
		if (nodes[c].kind == NODE_DUP_IN && !d.fd)
			d.fd = "0";
	}
	if (is_text)
		d.kind = REDIRECT_TEXT;
	if (!d.fd)
		d.fd = d.kind == REDIRECT_IN ? "0" : "1";
	/* >&word without a number is both streams to a file. */
	if (d.kind == REDIRECT_DUP && d.target.len > 1 && d.target.s[0] == '/')
		d.kind = REDIRECT_OUT;
	if (d.target.s) {
		struct shell_redirect *slot = run_redirect_new(r, call);

		if (slot)
			*slot = d;
	}
}

static void run_text_redirect(struct run *r, uint32_t node, struct shell_word text,
			      struct run_call *call)
{
	const struct shell_node *nodes = r->tree->nodes;
	struct shell_redirect *slot = run_redirect_new(r, call);

	if (!slot)
		return;
	*slot = (struct shell_redirect){
		.kind = REDIRECT_TEXT, .fd = r->pending_fd ? r->pending_fd : "0", .target = text};
	r->pending_fd = NULL;
	for (uint32_t c = nodes[node].first; c; c = nodes[c].next)
		if (nodes[c].kind == NODE_FILE_DESCRIPTOR)
			slot->fd = arena_copy(&r->m->arena, r->tree->text + nodes[c].start,
					      nodes[c].end - nodes[c].start);
}

void run_herestring(struct run *r, uint32_t node, struct run_call *call)
{
	const struct shell_node *nodes = r->tree->nodes;

	for (uint32_t c = nodes[node].first; c; c = nodes[c].next)
		if (run_is_word(&nodes[c]))
			run_text_redirect(r, node, word_one(r, c), call);
}

/* The text of a heredoc; what follows on its first line is left to the caller. */
void run_heredoc(struct run *r, uint32_t node, struct run_call *call)
{
	const struct shell_node *nodes = r->tree->nodes;
	struct shell_word w = {.s = ""};
	bool is_raw = false;

	for (uint32_t c = nodes[node].first; c; c = nodes[c].next) {
		if (nodes[c].kind == NODE_HEREDOC_START)
			is_raw = strpbrk(arena_copy(&r->m->arena, r->tree->text + nodes[c].start,
						    nodes[c].end - nodes[c].start),
					 "'\"\\") != NULL;
		else if (nodes[c].kind == NODE_FILE_REDIRECT)
			run_file_redirect(r, c, call);
		else if (run_is_word(&nodes[c]))
			word_expand(r, c, &call->argv);
		else if (nodes[c].kind == NODE_HEREDOC_BODY && is_raw)
			w = word_of(r, r->tree->text + nodes[c].start,
				    nodes[c].end - nodes[c].start);
		else if (nodes[c].kind == NODE_HEREDOC_BODY)
			w = word_heredoc(r, c, nodes[c].start, nodes[c].end);
	}
	run_text_redirect(r, node, w, call);
}

/* The fd that a target names: "3", "{name}", /dev/fd/3; NULL when it is a file. */
static const char *run_fd_key(struct run *r, const char *fd)
{
	struct buf b = BUF_INIT(256);
	const char *key;

	if (str_starts(fd, "/dev/fd/"))
		fd += strlen("/dev/fd/");
	else if (str_starts(fd, "/proc/self/fd/"))
		fd += strlen("/proc/self/fd/");
	buf_printf(&b, "&%.200s", fd);
	if (b.len > 1 && b.data[b.len - 1] == '-')
		buf_truncate(&b, b.len - 1);
	key = arena_copy(&r->m->arena, buf_cstr(&b), b.len);
	run_buf_done(r, &b);
	return key;
}

static bool run_is_network_path(const char *path)
{
	return str_starts(path, "/dev/tcp/") || str_starts(path, "/dev/udp/");
}

/* What would be read from a file of that name. */
struct shell_text exec_contents(struct run *r, const struct shell_word *w, bool *ret_network)
{
	const struct run_file *f = run_file(r, w->s);

	*ret_network = run_is_network_path(w->s);
	if (!f && (str_starts(w->s, "/dev/fd/") || str_starts(w->s, "/proc/self/fd/")))
		f = run_file(r, run_fd_key(r, w->s));
	if (f) {
		*ret_network = *ret_network || f->is_network;
		return f->value;
	}
	return (struct shell_text){
		.taint = (*ret_network ? (unsigned)TAINT_REMOTE : effect_file(r, w->s, w->flags)) |
			 w->taint};
}

/* Inputs of a call from its redirections; descriptors that they open are remembered. */
void run_inputs(struct run *r, struct run_call *call)
{
	for (size_t i = 0; i < call->n_redirects; i++) {
		struct shell_redirect *d = &call->redirects[i];
		bool is_network = false;
		struct shell_text v = {0};

		if (d->kind == REDIRECT_CLOSE)
			continue;
		if (d->kind == REDIRECT_TEXT) {
			v = word_value(&d->target);
		} else if (d->kind == REDIRECT_DUP) {
			const struct run_file *f = run_file(r, run_fd_key(r, d->target.s));

			if (!f)
				continue;
			v = f->value;
			is_network = f->is_network;
		} else {
			v = exec_contents(r, &d->target, &is_network);
		}
		if (strcmp(d->fd, "0") == 0) {
			call->in = v;
			call->has_in = true;
			call->in_is_network = call->in_is_network || is_network;
		} else if (strcmp(d->fd, "1") == 0) {
			call->out_is_network = call->out_is_network || is_network;
		} else {
			run_file_set(r, run_fd_key(r, d->fd), v, is_network);
		}
	}
}

static bool run_is_output(const struct shell_redirect *redirect)
{
	return (redirect->kind == REDIRECT_OUT || redirect->kind == REDIRECT_APPEND) &&
	       strcmp(redirect->target.s, "/dev/null") != 0;
}

/* The grammar hangs the redirection of `a && b > f` on the whole list, and that of `a | b > f` on the pipeline. */
void run_outputs(struct run *r, const struct run_call *call, size_t before)
{
	struct shell_redirect *all;
	struct shell_command *last;
	size_t n = 0, kept;

	for (size_t i = 0; i < call->n_redirects; i++)
		n += run_is_output(&call->redirects[i]);
	if (n == 0)
		return;
	n = call->n_redirects;
	kept = r->m->n > before ? r->m->commands[r->m->n - 1].n_redirects : 0;
	all = arena_take(&r->m->arena, (kept + n) * sizeof(*all));
	if (!all)
		return;
	if (kept > 0)
		memcpy(all, r->m->commands[r->m->n - 1].redirects, kept * sizeof(*all));
	n = kept;
	for (size_t i = 0; i < call->n_redirects; i++)
		/* and 0>&1, which makes the place where it writes the one where it reads */
		if (run_is_output(&call->redirects[i]) || call->redirects[i].kind == REDIRECT_DUP)
			all[n++] = call->redirects[i];
	if (r->m->n == before) {
		struct run_call one = {
			.redirects = all, .n_redirects = n, .line = call->line ? call->line : 1};

		(void)exec_call(r, &one);
		return;
	}
	last = &r->m->commands[r->m->n - 1];
	last->redirects = all;
	last->n_redirects = n;
}
