/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See wasm.h.  The plan is changed into one for the engine and given to native.  What is changed:
 *
 * - The words are the engine's; its environment is empty, because a loader obeys variables.
 * - /proc is empty: through /proc/self/mem an engine's memory could be written, should a module reach it.
 * - The engine's own files are there, read-only, and what our host program needs in a private directory.
 */
#include "backend/wasm/wasm.h"

#include "backend/native/native.h"
#include "backend/restrict.h"
#include "backend/trial.h"
#include "backend/wasm/call.h"
#include "backend/wasm/files.h"
#include "backend/wasm/module.h"
#include "backend/wasm/preopen.h"
#include "backend/wasm/prepare.h"
#include "backend/wasm/probe.h"
#include "base/path.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WASM_OPS_MORE 5 /* of our own, at the end of a plan */

/* What native's plan borrows, for as long as the call is watched. */
struct wasm_held {
	struct plan plan;
	struct plan_op *ops;
	struct strv words;
	struct buf call;
	struct buf made; /* what runs instead of the module; empty: itself */
	struct wasm_engine engine;
	struct wasm_preopens preopens;
	char *module;
	struct notify_handler watch; /* native's */
};

static char *const wasm_no_environment[] = {NULL};

static void wasm_held_free(struct wasm_held *h)
{
	if (!h)
		return;
	free(h->ops);
	free(h->module);
	strv_done(&h->words);
	buf_done(&h->call);
	buf_done(&h->made);
	wasm_engine_done(&h->engine);
	wasm_preopens_done(&h->preopens);
	free(h);
}
DEFINE_FREEP(struct wasm_held, wasm_held_free)

/* Could a call have changed it?  Then it is no engine. */
static int wasm_check_engine(const struct plan *plan, const struct wasm_engine *e,
			     struct cordon_error *err)
{
	const char *path = e->root ? e->root : e->path;

	for (size_t i = 0; i < plan->op_count; i++)
		if (plan_op_is_writable(plan->ops[i].kind) &&
		    path_is_within(path, plan->ops[i].path))
			return cordon_hint(
				err,
				cordon_fail(
					err, CORDON_E_NO_BACKEND,
					"the engine '%s' stands in '%s', which the call can write",
					path, plan->ops[i].path),
				"install it in a directory that no call can write");
	return 0;
}

/* What can be known of a module before the sandbox is there.  In a change set it may be another one than on the
 * host, so what is missing here may be there. */
static int wasm_check_module(const struct plan *plan, const char *path, struct cordon_error *err)
{
	for (size_t i = 0; i < plan->op_count; i++)
		if ((plan->ops[i].kind == PLAN_OP_COW || plan->ops[i].kind == PLAN_OP_FILE) &&
		    path_is_within(path, plan->ops[i].path))
			return 0;
	if (access(path, F_OK) < 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_NOT_FOUND, "'%s': %s", path,
					       strerrordesc_np(errno)),
				   "a module is named by its path; PATH is not searched for it");
	if (!wasm_is_module(path, plan->cwd))
		return cordon_fail(err, CORDON_E_REFUSED, "'%s' is not a WebAssembly module", path);
	return 0;
}

static int wasm_words(struct wasm_held *h, const struct wasm_request *q)
{
	const struct wasm_engine *e = &h->engine;
	int r = 0;

	if (e->root) {
		r = strv_add(&h->words, e->loader);
		if (r == 0)
			r = strv_add(&h->words, "--library-path");
		if (r == 0)
			r = strv_add(&h->words, e->libraries);
	}
	if (r == 0)
		r = strv_add(&h->words, e->kind == WASM_ENGINE_LIBRARY ? WASM_HOST : e->path);
	if (r < 0)
		return r;
	if (e->kind != WASM_ENGINE_LIBRARY)
		return wasm_engine_words(e->kind, q, &h->words);
	wasm_engine_call(e->path, q, &h->call);
	r = buf_error(&h->call);
	return r == 0 ? strv_add(&h->words, WASM_CALL) : r;
}

/* The steps of the plan, and ours. */
static int wasm_steps(struct wasm_held *h, const struct plan *plan)
{
	const struct wasm_engine *e = &h->engine;
	size_t n = plan->op_count;

	h->ops = calloc(n + WASM_OPS_MORE, sizeof(*h->ops));
	if (!h->ops)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		h->ops[i] = plan->ops[i];
		if (h->ops[i].kind == PLAN_OP_PROC)
			h->ops[i] = (struct plan_op){
				.kind = PLAN_OP_TMPFS,
				.path = "/proc",
				.is_noexec = true,
			};
	}
	if (e->root || !str_starts(e->path, "/usr/"))
		h->ops[n++] = (struct plan_op){
			.kind = PLAN_OP_BIND_RO,
			.path = e->root ? e->root : e->path,
		};
	h->ops[n++] = (struct plan_op){.kind = PLAN_OP_TMPFS, .path = WASM_DIR};
	if (h->made.len > 0)
		h->ops[n++] = (struct plan_op){
			.kind = PLAN_OP_FILE,
			.path = WASM_MADE,
			.text = h->made.data,
			.text_len = h->made.len,
		};
	if (e->kind == WASM_ENGINE_LIBRARY) {
		h->ops[n++] = (struct plan_op){
			.kind = PLAN_OP_FILE,
			.path = WASM_HOST,
			.text = wasm_program,
			.text_len = (size_t)(wasm_program_end - wasm_program),
			.mode = 0555,
		};
		h->ops[n++] = (struct plan_op){
			.kind = PLAN_OP_FILE,
			.path = WASM_CALL,
			.text = h->call.data,
			.text_len = h->call.len,
			.mode = 0444,
		};
	}
	h->plan = *plan;
	h->plan.ops = h->ops;
	h->plan.op_count = n;
	h->plan.argv = h->words.v;
	h->plan.envp = wasm_no_environment;
	return 0;
}

static int wasm_prepare(const struct plan *plan, struct wasm_held *h, struct cordon_error *err)
{
	char why[WASM_WHY_MAX];
	struct wasm_request q = {
		.argv = plan->argv,
		.envp = plan->envp,
		.fuel = plan->fuel,
		.memory_bytes = plan->memory_bytes,
	};
	int r;

	if (wasm_engine_find(&h->engine, why) < 0)
		return cordon_fail(err, CORDON_E_NO_BACKEND, "wasm: %s", why);
	r = wasm_check_engine(plan, &h->engine, err);
	if (r == 0 && wasm_module_path(plan->argv[0], plan->cwd, &h->module) < 0)
		r = cordon_nomem(err);
	if (r == 0)
		r = wasm_check_module(plan, h->module, err);
	if (r == 0)
		r = wasm_preopens_of(plan, &h->preopens, err);
	h->made = BUF_INIT(WASM_MODULE_MAX);
	if (r == 0)
		r = wasm_prepare_module(plan, &h->engine, h->module, &h->made, err);
	if (r < 0)
		return r;
	q.module = h->made.len > 0 ? WASM_MADE : h->module;
	/* Other products are of the text form. */
	q.is_own_code = h->made.len > 0 && wasm_compiles(plan, &h->engine);
	q.dirs = h->preopens.v;
	q.n_dirs = h->preopens.n;
	h->call = BUF_INIT(WASM_CALL_MAX);
	r = wasm_words(h, &q);
	if (r == 0)
		r = wasm_steps(h, plan);
	return r < 0 ? cordon_fail_leaf(err, r, "the call of a module") : 0;
}

static int wasm_watch_handle(void *data, int fd)
{
	struct wasm_held *h = data;

	return h->watch.handle(h->watch.data, fd);
}

static void wasm_watch_done(void *data)
{
	struct wasm_held *h = data;

	if (h->watch.done)
		h->watch.done(h->watch.data);
	wasm_held_free(h);
}

int wasm_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	AUTO(wasm_held_freep) struct wasm_held *h = NULL;
	int r;

	if (plan->entry || plan->serves || !plan->argv || !plan->argv[0] || !plan->envp)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'wasm' cannot carry out this plan");
	h = calloc(1, sizeof(*h));
	if (!h)
		return cordon_nomem(err);
	r = wasm_prepare(plan, h, err);
	if (r == 0)
		r = native_backend.spawn(&h->plan, ret, err);
	if (r < 0 || !ret->notify.handle)
		return r;
	h->watch = ret->notify;
	ret->notify = (struct notify_handler){wasm_watch_handle, wasm_watch_done, TAKE_PTR(h)};
	return 0;
}

const struct cordon_backend wasm_backend = {
	.info = &backend_infos[BACKEND_WASM],
	.summary = "a WebAssembly module in WasmEdge or wasmtime, and that in native's sandbox",
	.takes_cgroup = true,
	.is_engine = true,
	.terminal = BACKEND_TERMINAL_OWN,
	.probe = wasm_probe,
	.spawn = wasm_spawn,
	.restrict_filesystem = restrict_filesystem,
	.restrict_network = restrict_network,
	.restrict_syscalls = backend_default_restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = restrict_audit_log,
};
