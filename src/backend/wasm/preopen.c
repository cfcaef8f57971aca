/* SPDX-License-Identifier: Apache-2.0 */
/* See preopen.h. */
#include "backend/wasm/preopen.h"

#include "backend/reach.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void wasm_preopens_done(struct wasm_preopens *p)
{
	free(p->v);
	strv_done(&p->strings);
	*p = (struct wasm_preopens){0};
}

/* Something that was granted, and not what programs of the machine need. */
static bool preopen_is_granted(enum plan_op_kind kind)
{
	return kind == PLAN_OP_BIND_RO || kind == PLAN_OP_CACHE || kind == PLAN_OP_TMPFS ||
	       plan_op_is_writable(kind);
}

static int preopen_add(struct wasm_preopens *p, const char *guest, const char *host,
		       bool is_read_only, struct cordon_error *err)
{
	void *v = p->v;

	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->v[i].guest, guest) != 0)
			continue;
		p->v[i].is_read_only = is_read_only; /* a later step covers an earlier one */
		return 0;
	}
	if (strchr(host, ':'))
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "backend 'wasm' cannot give a module '%s': engines take no "
				    "directory with a colon in its name",
				    host),
			"rename it, or work in another directory");
	if (mem_grow(&v, &p->cap, p->n + 1, sizeof(*p->v), LIMIT_PLAN_OPS) < 0)
		return cordon_nomem(err);
	p->v = v;
	p->v[p->n++] = (struct wasm_dir){guest, host, is_read_only};
	return 0;
}

/* The directory of a granted file, if nothing but grants can be seen in it. */
static const char *preopen_parent(const struct plan *plan, const char *file,
				  struct wasm_preopens *p)
{
	const char *slash = strrchr(file, '/');
	const struct plan_op *op;
	const char *parent;

	if (slash == file || strv_addf(&p->strings, "%.*s", (int)(slash - file), file) < 0)
		return NULL;
	parent = p->strings.v[p->strings.n - 1];
	(void)reach_of(plan, parent, &op);
	/* Only what leads to grants: no step stands above it. */
	return op && path_is_within(op->path, parent) && strcmp(op->path, parent) != 0 ? parent
										       : NULL;
}

static int preopen_op(const struct plan *plan, const struct plan_op *op, struct wasm_preopens *p,
		      struct cordon_error *err)
{
	const char *host = op->kind == PLAN_OP_CACHE ? op->text : op->path;
	const struct plan_op *last;
	const char *parent;
	struct stat st;

	/* What a later step denies or puts in its place is not this one's to give. */
	(void)reach_of(plan, op->path, &last);
	if (!last || !preopen_is_granted(last->kind))
		return last && last->kind == PLAN_OP_PROTECT && op->kind != PLAN_OP_TMPFS
			       ? preopen_add(p, op->path, op->path, /* is_read_only= */ true, err)
			       : 0;
	if (op->kind != PLAN_OP_TMPFS && stat(host, &st) == 0 && !S_ISDIR(st.st_mode)) {
		parent = preopen_parent(plan, op->path, p);
		return parent ? preopen_add(p, parent, parent, op->kind == PLAN_OP_BIND_RO, err)
			      : 0;
	}
	return preopen_add(p, op->path, op->path, op->kind == PLAN_OP_BIND_RO, err);
}

int wasm_preopens_of(const struct plan *plan, struct wasm_preopens *ret, struct cordon_error *err)
{
	const struct plan_op *op = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->op_count; i++)
		if (preopen_is_granted(plan->ops[i].kind))
			r = preopen_op(plan, &plan->ops[i], ret, err);
	if (r == 0 && plan->cwd) {
		(void)reach_of(plan, plan->cwd, &op);
		if (op && preopen_is_granted(op->kind) && path_is_within(plan->cwd, op->path))
			r = preopen_add(ret, ".", plan->cwd, op->kind == PLAN_OP_BIND_RO, err);
	}
	return r;
}
