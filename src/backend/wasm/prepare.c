/* SPDX-License-Identifier: Apache-2.0 */
/* See prepare.h. */
#include "backend/wasm/prepare.h"

#include "backend/launch/tool.h"
#include "backend/native/native.h"
#include "backend/reach.h"
#include "backend/scratch.h"
#include "backend/trial.h"
#include "backend/wasm/cache.h"
#include "backend/wasm/call.h"
#include "backend/wasm/files.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREPARE_MS 120000 /* for a converter or a compiler */
#define PREPARE_SAID 400  /* bytes of what it says about its failure */
#define PREPARE_OPS 10

enum prepare_kind { PREPARE_TEXT, PREPARE_CODE };

struct prepare {
	const struct plan *plan;
	const struct wasm_engine *engine;
	enum prepare_kind kind;
	const char *module; /* for messages */
	const char *data;   /* what it is made from */
	size_t len;
};

/* What the tool said first, for a message. */
static void prepare_said(int fd, struct buf *out)
{
	char text[PREPARE_SAID + 1];
	ssize_t n = pread(fd, text, PREPARE_SAID, 0);

	text[n > 0 ? n : 0] = '\0';
	str_escape(out, text, strcspn(text, "\n"));
}

/* The steps of a sandbox that has the machine's programs, the engine and a place for the result. */
static size_t prepare_steps(const struct prepare *p, const char *place, const struct buf *call,
			    struct plan_op ops[static PREPARE_OPS])
{
	const struct plan_op steps[] = {
		{.kind = PLAN_OP_SYSTEM, .path = "/usr"},
		{.kind = PLAN_OP_SYMLINK, .path = "/lib", .text = "usr/lib"},
		{.kind = PLAN_OP_SYMLINK, .path = "/lib64", .text = "usr/lib64"},
		{.kind = PLAN_OP_DEV, .path = "/dev"},
		{.kind = PLAN_OP_TMPFS, .path = WASM_DIR},
		{.kind = PLAN_OP_FILE, .path = WASM_MADE, .text = p->data, .text_len = p->len},
		{.kind = PLAN_OP_BIND_RW, .path = place},
		{.kind = PLAN_OP_FILE,
		 .path = WASM_HOST,
		 .text = wasm_program,
		 .text_len = (size_t)(wasm_program_end - wasm_program),
		 .mode = 0555},
		{.kind = PLAN_OP_FILE, .path = WASM_CALL, .text = call->data, .text_len = call->len},
		{.kind = PLAN_OP_BIND_RO, .path = p->engine->root},
	};
	size_t n = p->kind == PREPARE_TEXT ? 7 : p->engine->root ? 10 : 9;

	memcpy(ops, steps, n * sizeof(*ops));
	return n;
}

/* Runs it.  0 when it ended well. */
static int prepare_run(const struct prepare *p, const char *place, char *const *argv,
		       const struct buf *call, struct cordon_error *err)
{
	static char *const no_environment[] = {NULL};
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_CLOSE int said = memfd_create("cordon-said", MFD_CLOEXEC);
	struct spawn_result spawned = {.proc = PROC_NONE, .status_fd = -1};
	struct plan_op ops[PREPARE_OPS];
	struct plan plan = *p->plan;
	struct buf text = BUF_INIT(PREPARE_SAID * 4);
	struct proc_exit end = {0};
	int r;

	if (null < 0 || said < 0)
		return cordon_fail_errno(err, errno, "prepare a module");
	plan.op_count = prepare_steps(p, place, call, ops);
	plan.ops = ops;
	plan.argv = argv;
	plan.envp = no_environment;
	plan.cwd = place;
	plan.stdin_fd = null;
	plan.stdout_fd = said;
	plan.stderr_fd = said;
	plan.keeps_group = false;
	plan.terminal = NULL;
	plan.net = PLAN_NET_NONE;
	plan.n_ports = plan.n_publish = 0;
	plan.watch = PLAN_WATCH_NONE;
	r = native_backend.spawn(&plan, &spawned, err);
	if (r < 0)
		return cordon_wrap(err, r, "prepare a module");
	r = trial_end(&spawned, PREPARE_MS, &end);
	if (r == 0 && end.code == 0)
		return 0;
	prepare_said(said, &text);
	r = cordon_fail(err, CORDON_E_REFUSED, "'%s' cannot be made ready to run: %s", p->module,
			r < 0          ? "it takes too long"
			: text.len > 0 ? buf_cstr(&text)
				       : "the tool was ended");
	buf_done(&text);
	return r;
}

/* The command line of the tool, and the call of the host program. */
static int prepare_words(const struct prepare *p, const char *result, struct strv *words,
			 struct buf *call, struct cordon_error *err)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	const struct wasm_engine *e = p->engine;
	int r = 0;

	if (p->kind == PREPARE_TEXT) {
		AUTO_CLOSE int tool = tool_open("wat2wasm", path, why);

		if (tool < 0)
			return cordon_hint(
				err,
				cordon_fail(err, CORDON_E_NO_BACKEND,
					    "'%s' is a module in its text form, which %s does "
					    "not read: %s",
					    p->module, wasm_engine_name(e->kind), why),
				"install wabt (apt install wabt), or convert it yourself");
		if (strv_add(words, path) < 0 || strv_add(words, WASM_MADE) < 0 ||
		    strv_add(words, "-o") < 0 || strv_add(words, result) < 0)
			return cordon_nomem(err);
		return 0;
	}
	if (e->root && (strv_add(words, e->loader) < 0 || strv_add(words, "--library-path") < 0 ||
			strv_add(words, e->libraries) < 0))
		return cordon_nomem(err);
	if (strv_add(words, WASM_HOST) < 0 || strv_add(words, WASM_CALL) < 0)
		return cordon_nomem(err);
	wasm_call_add(call, WASM_KEY_LIBRARY, e->path);
	wasm_call_add(call, WASM_KEY_MODULE, WASM_MADE);
	if (p->plan->fuel.is_given)
		wasm_call_number(call, WASM_KEY_FUEL, p->plan->fuel.value);
	wasm_call_add(call, WASM_KEY_COMPILE, result);
	wasm_call_add(call, WASM_KEY_END, "");
	r = buf_error(call);
	return r < 0 ? cordon_fail_leaf(err, r, "the call of the compiler") : 0;
}

static int prepare_make(const struct prepare *p, struct buf *out, struct cordon_error *err)
{
	struct scratch place = SCRATCH_NONE;
	AUTO(strv_done) struct strv words = {0};
	AUTO_FREE char *made = NULL;
	struct buf call = BUF_INIT(WASM_CALL_MAX);
	char result[LIMIT_PATH_BYTES];
	size_t len = 0;
	int r = scratch_make(p->plan->scratch_dir, p->plan->scratch_dir, &place);

	if (r < 0)
		return cordon_fail_leaf(err, r, "make a place for what is made of a module");
	(void)snprintf(result, sizeof(result), "%s/result", place.path);
	r = prepare_words(p, result, &words, &call, err);
	if (r == 0)
		r = prepare_run(p, place.path, words.v, &call, err);
	if (r == 0) {
		r = io_read_file_at(place.fd, "result", WASM_MODULE_MAX, &made, &len);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "read what was made of '%s'", p->module);
	}
	if (r == 0)
		buf_add(out, made, len);
	if (r == 0 && buf_error(out) < 0)
		r = cordon_nomem(err);
	scratch_done(&place);
	buf_done(&call);
	return r;
}

/* From the cache, or made now. */
static int prepare_get(const struct prepare *p, struct buf *out, struct cordon_error *err)
{
	const char *tool = p->kind == PREPARE_TEXT ? "/usr/bin/wat2wasm" : p->engine->path;
	char content[SHA256_HEX_LEN];
	char name[SHA256_HEX_LEN];
	char identity[128] = "";
	struct stat st = {0};
	int r;

	if (!p->plan->scratch_dir)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "there is no state directory for what is made of a module");
	if (stat(tool, &st) == 0)
		(void)snprintf(identity, sizeof(identity), "%lld %lld %lld %llu",
			       (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			       (long long)st.st_mtim.tv_nsec, (unsigned long long)st.st_ino);
	sha256_hex(p->data, p->len, content);
	wasm_cache_name((const char *const[]){"1", p->kind == PREPARE_TEXT ? "text" : "code", tool,
					      identity, p->plan->fuel.is_given ? "fuel" : "",
					      content},
			6, name);
	r = wasm_cache_get(p->plan->scratch_dir, name, out, err);
	if (r != 0)
		return r < 0 ? r : 0;
	r = prepare_make(p, out, err);
	if (r == 0)
		wasm_cache_put(p->plan->scratch_dir, name, out->data, out->len);
	return r;
}

/* Does the view show the host's own file under this path?  Of a change set that is not known. */
static bool prepare_is_shown(const struct plan *plan, const char *real)
{
	const struct plan_op *op;
	enum reach reach = reach_of(plan, real, &op);

	return (reach == REACH_READ || reach == REACH_WRITE || reach == REACH_PROTECTED) && op &&
	       op->kind != PLAN_OP_COW && path_is_within(real, op->path);
}

bool wasm_compiles(const struct plan *plan, const struct wasm_engine *engine)
{
	return plan->compiles && engine->kind == WASM_ENGINE_LIBRARY;
}

int wasm_prepare_module(const struct plan *plan, const struct wasm_engine *engine,
			const char *module, struct buf *out, struct cordon_error *err)
{
	bool is_text = str_ends(module, ".wat") && engine->kind != WASM_ENGINE_WASMTIME;
	bool is_compiled = wasm_compiles(plan, engine);
	AUTO_FREE char *real = NULL;
	AUTO_FREE char *data = NULL;
	struct buf bytes = BUF_INIT(WASM_MODULE_MAX);
	struct prepare p = {.plan = plan, .engine = engine, .module = module};
	int r;

	if (!is_text && !is_compiled)
		return 0;
	if (path_resolve(module, &real) < 0)
		return cordon_nomem(err);
	if (!prepare_is_shown(plan, real))
		return is_text ? cordon_hint(
					 err,
					 cordon_fail(err, CORDON_E_UNSUPPORTED,
						     "'%s' cannot be converted: it is not a file of "
						     "the host's that the call sees",
						     module),
					 "convert it first (wat2wasm)")
			       : 0; /* it runs as it is */
	r = io_read_file_at(AT_FDCWD, real, WASM_MODULE_MAX, &data, &p.len);
	if (r < 0)
		return cordon_fail_leaf(err, r, "read '%s'", module);
	p.data = data;
	if (is_text) {
		r = prepare_get(&p, is_compiled ? &bytes : out, err);
		p.data = bytes.data;
		p.len = bytes.len;
	}
	if (r == 0 && is_compiled) {
		p.kind = PREPARE_CODE;
		r = prepare_get(&p, out, err);
	}
	buf_done(&bytes);
	return r;
}
