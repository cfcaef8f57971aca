/* SPDX-License-Identifier: Apache-2.0 */
/* See engine.h. */
#include "backend/wasm/engine.h"

#include "backend/wasm/call.h"
#include "base/env.h"
#include "base/limits.h"
#include "base/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENGINE_LIBRARY_NAME "libwasmedge.so.0"

#ifdef __aarch64__
#define ENGINE_TRIPLET "aarch64-linux-gnu"
#define ENGINE_LOADER "ld-linux-aarch64.so.1"
#else
#define ENGINE_TRIPLET "x86_64-linux-gnu"
#define ENGINE_LOADER "ld-linux-x86-64.so.2"
#endif

/* Below a root. */
static const struct {
	enum wasm_engine_kind kind;
	const char *path;
} engine_places[] = {
	{WASM_ENGINE_LIBRARY, "usr/lib/" ENGINE_TRIPLET "/" ENGINE_LIBRARY_NAME},
	{WASM_ENGINE_LIBRARY, "usr/lib64/" ENGINE_LIBRARY_NAME},
	{WASM_ENGINE_LIBRARY, "usr/local/lib/" ENGINE_LIBRARY_NAME},
	{WASM_ENGINE_WASMEDGE, "usr/bin/wasmedge"},
	{WASM_ENGINE_WASMEDGE, "usr/local/bin/wasmedge"},
	{WASM_ENGINE_WASMTIME, "usr/bin/wasmtime"},
	{WASM_ENGINE_WASMTIME, "usr/local/bin/wasmtime"},
};

static const char *const engine_names[WASM_ENGINE_KIND_COUNT] = {
	[WASM_ENGINE_LIBRARY] = "WasmEdge (library)",
	[WASM_ENGINE_WASMEDGE] = "WasmEdge (program)",
	[WASM_ENGINE_WASMTIME] = "wasmtime (program)",
};

void wasm_engine_done(struct wasm_engine *e)
{
	free(e->path);
	free(e->root);
	free(e->loader);
	free(e->libraries);
	*e = (struct wasm_engine){0};
}

const char *wasm_engine_name(enum wasm_engine_kind kind)
{
	return kind < WASM_ENGINE_KIND_COUNT ? engine_names[kind] : "?";
}

/* Can nobody but root and the user have written it? */
static int engine_check(const char *path, char why[static WASM_WHY_MAX])
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		(void)snprintf(why, WASM_WHY_MAX, "'%.120s' is not a file", path);
	else if (st.st_uid != 0 && st.st_uid != geteuid())
		(void)snprintf(why, WASM_WHY_MAX, "'%.120s' belongs to another user", path);
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		(void)snprintf(why, WASM_WHY_MAX, "'%.120s' can be written by others", path);
	else
		return 0;
	return -EPERM;
}

/* Takes the file, if it is one that may be used. */
static int engine_take(enum wasm_engine_kind kind, const char *path, struct wasm_engine *ret,
		       char why[static WASM_WHY_MAX])
{
	AUTO_FREE char *real = NULL;
	int r = access(path, F_OK) < 0 ? -errno : path_resolve(path, &real);

	if (r == 0)
		r = engine_check(real, why);
	if (r < 0)
		return r;
	ret->kind = kind;
	ret->path = TAKE_PTR(real);
	return 0;
}

/* The loader and the libraries of a root that is not the machine's own. */
static int engine_take_root(const char *root, struct wasm_engine *e, char why[static WASM_WHY_MAX])
{
	int r = path_resolve(root, &e->root);

	if (r == 0)
		r = path_join(e->root, "usr/lib/" ENGINE_TRIPLET, &e->libraries);
	if (r == 0)
		r = path_join(e->libraries, ENGINE_LOADER, &e->loader);
	return r == 0 ? engine_check(e->loader, why) : r;
}

/* The first of the places below root ("/" is the machine itself).  One that somebody else can write is not passed by: the
 * programs load the library. */
static int engine_find_in(const char *root, struct wasm_engine *ret, char why[static WASM_WHY_MAX])
{
	for (size_t i = 0; i < ARRAY_LEN(engine_places); i++) {
		AUTO_FREE char *path = NULL;
		int r = path_join(root, engine_places[i].path, &path);

		if (r == 0)
			r = engine_take(engine_places[i].kind, path, ret, why);
		if (r == 0 || r == -ENOMEM || r == -EPERM)
			return r;
	}
	return -ENOENT;
}

/* What the variable names. */
static int engine_find_named(const char *named, struct wasm_engine *ret,
			     char why[static WASM_WHY_MAX])
{
	const char *base = path_base(named);
	AUTO_FREE char *root = NULL;
	struct stat st;
	int r;

	if (named[0] != '/' || path_normalise(named, &root) < 0) {
		(void)snprintf(why, WASM_WHY_MAX, "it is not an absolute path");
		return -EINVAL;
	}
	if (stat(root, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode)) {
		r = engine_find_in(root, ret, why);
		return r == 0 ? engine_take_root(root, ret, why) : r;
	}
	if (str_starts(base, "libwasmedge.so"))
		return engine_take(WASM_ENGINE_LIBRARY, root, ret, why);
	if (strcmp(base, "wasmedge") == 0)
		return engine_take(WASM_ENGINE_WASMEDGE, root, ret, why);
	if (strcmp(base, "wasmtime") == 0)
		return engine_take(WASM_ENGINE_WASMTIME, root, ret, why);
	(void)snprintf(why, WASM_WHY_MAX,
		       "its name is none of wasmedge, wasmtime, libwasmedge.so.0");
	return -EINVAL;
}

int wasm_engine_find(struct wasm_engine *ret, char ret_why[static WASM_WHY_MAX])
{
	const char *named = env_get(WASM_ENGINE_VARIABLE);
	struct wasm_engine e = {0};
	char why[WASM_WHY_MAX] = "";
	int r = named ? engine_find_named(named, &e, why) : engine_find_in("/", &e, why);

	if (r == 0) {
		*ret = e;
		return 0;
	}
	wasm_engine_done(&e);
	if (named)
		(void)snprintf(ret_why, WASM_WHY_MAX,
			       WASM_ENGINE_VARIABLE " names no engine that can be used: %s",
			       why[0] ? why : strerrordesc_np(-r));
	else if (why[0])
		(void)snprintf(ret_why, WASM_WHY_MAX, "%s", why);
	else
		(void)snprintf(ret_why, WASM_WHY_MAX,
			       "no engine is installed; install WasmEdge (Debian 13: apt install "
			       "wasmedge) or wasmtime, or name one in " WASM_ENGINE_VARIABLE);
	return r;
}

uint64_t wasm_pages(uint64_t memory_bytes)
{
	uint64_t pages = memory_bytes / WASM_PAGE_BYTES;

	return pages == 0 ? 1 : pages > WASM_PAGE_BYTES ? WASM_PAGE_BYTES : pages;
}

static int engine_words_wasmedge(const struct wasm_request *q, struct strv *out)
{
	int r = strv_add(out, "run");

	/* Machine code in a module would run unmetered, and for this program nothing is compiled here. */
	if (r == 0)
		r = strv_add(out, "--force-interpreter");
	for (size_t i = 0; r == 0 && i < q->n_dirs; i++)
		r = strv_addf(out, "--dir=%s:%s%s", q->dirs[i].guest, q->dirs[i].host,
			      q->dirs[i].is_read_only ? ":readonly" : "");
	for (char *const *e = q->envp; r == 0 && *e; e++)
		r = strv_addf(out, "--env=%s", *e);
	if (r == 0 && q->fuel.is_given)
		r = strv_addf(out, "--gas-limit=%" PRIu64, q->fuel.value);
	if (r == 0 && q->memory_bytes.is_given)
		r = strv_addf(out, "--memory-page-limit=%" PRIu64,
			      wasm_pages(q->memory_bytes.value));
	return r == 0 ? strv_add(out, "--") : r;
}

/* It has no read-only directories: the view's mounts are. */
static int engine_words_wasmtime(const struct wasm_request *q, struct strv *out)
{
	int r = strv_add(out, "run");

	if (r == 0 && q->fuel.is_given)
		r = strv_addf(out, "-Wfuel=%" PRIu64, q->fuel.value);
	if (r == 0 && q->memory_bytes.is_given)
		r = strv_addf(out, "-Wmax-memory-size=%" PRIu64,
			      wasm_pages(q->memory_bytes.value) * WASM_PAGE_BYTES);
	for (size_t i = 0; r == 0 && i < q->n_dirs; i++)
		r = strv_addf(out, "--dir=%s::%s", q->dirs[i].host, q->dirs[i].guest);
	for (char *const *e = q->envp; r == 0 && *e; e++)
		r = strv_addf(out, "--env=%s", *e);
	return r == 0 ? strv_addf(out, "--argv0=%s", q->argv[0]) : r;
}

int wasm_engine_words(enum wasm_engine_kind kind, const struct wasm_request *q, struct strv *out)
{
	int r = -EINVAL;

	if (kind == WASM_ENGINE_WASMEDGE)
		r = engine_words_wasmedge(q, out);
	else if (kind == WASM_ENGINE_WASMTIME)
		r = engine_words_wasmtime(q, out);
	if (r == 0)
		r = strv_add(out, q->module);
	for (char *const *a = q->argv + 1; r == 0 && *a; a++)
		r = strv_add(out, *a);
	return r;
}

void wasm_engine_call(const char *library, const struct wasm_request *q, struct buf *out)
{
	wasm_call_add(out, WASM_KEY_LIBRARY, library);
	wasm_call_add(out, WASM_KEY_MODULE, q->module);
	if (q->is_own_code)
		wasm_call_add(out, WASM_KEY_OWN, "");
	if (q->fuel.is_given)
		wasm_call_number(out, WASM_KEY_FUEL, q->fuel.value);
	if (q->memory_bytes.is_given)
		wasm_call_number(out, WASM_KEY_PAGES, wasm_pages(q->memory_bytes.value));
	for (char *const *a = q->argv; *a; a++)
		wasm_call_add(out, WASM_KEY_ARG, *a);
	for (char *const *e = q->envp; *e; e++)
		wasm_call_add(out, WASM_KEY_ENV, *e);
	for (size_t i = 0; i < q->n_dirs; i++) {
		struct buf dir = BUF_INIT(3 * LIMIT_PATH_BYTES);

		buf_printf(&dir, "%s:%s%s", q->dirs[i].guest, q->dirs[i].host,
			   q->dirs[i].is_read_only ? ":readonly" : "");
		wasm_call_add(out, WASM_KEY_DIR, buf_cstr(&dir));
		buf_done(&dir);
	}
	wasm_call_add(out, WASM_KEY_END, "");
}
