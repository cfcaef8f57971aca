/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines: which one is on this machine, and what it is told.  In the order in which they are taken:
 *
 * WasmEdge's library, in a host program of ours (host.c); WasmEdge's program; wasmtime's program.  Looked for in the
 * system's own directories, or where CORDON_WASM_ENGINE says: the path of one of these files, or a directory that holds
 * a distribution's files (usr/lib, usr/bin, a loader), whose engine is then run by its own loader.  Used only when
 * nobody but root and the user can have written it.
 *
 * No option of an engine is what holds a policy: all of them run inside the same view as native's commands.
 */
#pragma once

#include "backend/plan.h"
#include "base/str.h"

#define WASM_ENGINE_VARIABLE "CORDON_WASM_ENGINE"
#define WASM_WHY_MAX 200

enum wasm_engine_kind {
	WASM_ENGINE_LIBRARY, /* WasmEdge's, in our host program */
	WASM_ENGINE_WASMEDGE,
	WASM_ENGINE_WASMTIME,
	WASM_ENGINE_KIND_COUNT
};

struct wasm_engine {
	enum wasm_engine_kind kind;
	char *path;   /* the library or program, canonical */
	char *root;   /* NULL, or the directory that has its loader and libraries */
	char *loader; /* in root, or NULL */
	char *libraries;
};

void wasm_engine_done(struct wasm_engine *e);
const char *wasm_engine_name(enum wasm_engine_kind kind);

/* 0 and *ret is given, or -errno and why, with what to do about it. */
CORDON_MUST_CHECK int wasm_engine_find(struct wasm_engine *ret, char ret_why[static WASM_WHY_MAX]);

/* A directory that a module sees. */
struct wasm_dir {
	const char *guest;
	const char *host;
	bool is_read_only;
};

struct wasm_request {
	const char *module; /* path */
	bool is_own_code;   /* it was compiled here */
	char *const *argv;  /* of the module, NULL-terminated; the first is its own name */
	char *const *envp;
	const struct wasm_dir *dirs;
	size_t n_dirs;
	struct plan_limit fuel;
	struct plan_limit memory_bytes;
};

/* Pages of memory that a limit leaves to a module: whole ones, at least one. */
uint64_t wasm_pages(uint64_t memory_bytes);
/* Appends the words of an engine's own program.  Pure.  0, -EINVAL for a kind that has none, or -ENOMEM. */
CORDON_MUST_CHECK int wasm_engine_words(enum wasm_engine_kind kind, const struct wasm_request *r,
					struct strv *out);
/* The same for our host program (call.h).  library: as dlopen() takes it. */
void wasm_engine_call(const char *library, const struct wasm_request *r, struct buf *out);
