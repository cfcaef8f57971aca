/* SPDX-License-Identifier: Apache-2.0 */
/* The pure parts of the backend wasm: what engines are told, what a module is given, and what its bytes say. */
#include "backend/wasm/call.h"
#include "backend/wasm/engine.h"
#include "backend/wasm/imports.h"
#include "backend/wasm/module.h"
#include "backend/wasm/preopen.h"
#include "base/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *const no_words[] = {NULL};

static void join(const struct strv *v, struct buf *out)
{
	for (size_t i = 0; i < v->n; i++)
		buf_printf(out, "%s[%s]", i ? " " : "", v->v[i]);
}

static void test_words(void **state)
{
	char name[] = "m.wasm";
	char one[] = "--dir=/";
	char two[] = "";
	char *argv[] = {name, one, two, NULL};
	char env[] = "A=b c";
	char *envp[] = {env, NULL};
	const struct wasm_dir dirs[] = {
		{"/w", "/w", false}, {".", "/w", false}, {"/r", "/r", true}};
	const struct wasm_request full = {
		.module = "/w/m.wasm",
		.argv = argv,
		.envp = envp,
		.dirs = dirs,
		.n_dirs = ARRAY_LEN(dirs),
		.fuel = PLAN_LIMIT(1000),
		.memory_bytes = PLAN_LIMIT(100 * 65536 + 1),
	};
	const struct wasm_request bare = {.module = "/m.wasm", .argv = argv + 2, .envp = no_words};
	const struct {
		enum wasm_engine_kind kind;
		const struct wasm_request *request;
		const char *want;
	} rows[] = {
		{WASM_ENGINE_WASMEDGE, &full,
		 "[run] [--force-interpreter] [--dir=/w:/w] [--dir=.:/w] [--dir=/r:/r:readonly] "
		 "[--env=A=b c] [--gas-limit=1000] [--memory-page-limit=100] [--] [/w/m.wasm] [--dir=/] []"},
		{WASM_ENGINE_WASMTIME, &full,
		 "[run] [-Wfuel=1000] [-Wmax-memory-size=6553600] [--dir=/w::/w] [--dir=/w::.] "
		 "[--dir=/r::/r] [--env=A=b c] [--argv0=m.wasm] [/w/m.wasm] [--dir=/] []"},
		{WASM_ENGINE_WASMEDGE, &bare, "[run] [--force-interpreter] [--] [/m.wasm]"},
		{WASM_ENGINE_WASMTIME, &bare, "[run] [--argv0=] [/m.wasm]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strv words = {0};
		struct buf text = BUF_INIT(4096);

		assert_int_equal(wasm_engine_words(rows[i].kind, rows[i].request, &words), 0);
		join(&words, &text);
		assert_string_equal(buf_cstr(&text), rows[i].want);
		buf_done(&text);
		strv_done(&words);
	}
	assert_int_equal(wasm_engine_words(WASM_ENGINE_LIBRARY, &full, &(struct strv){0}), -EINVAL);
}

static void test_call(void **state)
{
	char name[] = "m.wasm";
	char *argv[] = {name, NULL};
	char env[] = "A=b\nc";
	char *envp[] = {env, NULL};
	const struct wasm_dir dirs[] = {{"/r", "/r", true}};
	const struct wasm_request request = {
		.module = "/w/m.wasm",
		.argv = argv,
		.envp = envp,
		.dirs = dirs,
		.n_dirs = 1,
		.fuel = PLAN_LIMIT(7),
		.memory_bytes = PLAN_LIMIT(65536),
	};
	const struct {
		enum wasm_key key;
		const char *value;
	} want[] = {
		{WASM_KEY_LIBRARY, "/l.so"},
		{WASM_KEY_MODULE, "/w/m.wasm"},
		{WASM_KEY_FUEL, "7"},
		{WASM_KEY_PAGES, "1"},
		{WASM_KEY_ARG, "m.wasm"},
		{WASM_KEY_ENV, "A=b\nc"},
		{WASM_KEY_DIR, "/r:/r:readonly"},
	};
	struct buf call = BUF_INIT(4096);
	enum wasm_key key;
	const char *value;
	const char *at;

	(void)state;
	wasm_engine_call("/l.so", &request, &call);
	assert_int_equal(buf_error(&call), 0);
	at = call.data;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(wasm_call_next(&at, call.data + call.len, &key, &value), 1);
		assert_int_equal(key, want[i].key);
		assert_string_equal(value, want[i].value);
	}
	assert_int_equal(wasm_call_next(&at, call.data + call.len, &key, &value), 0);
	/* Cut anywhere it is no call. */
	for (size_t len = 0; len < call.len; len++) {
		int r = 1;

		at = call.data;
		while (r > 0)
			r = wasm_call_next(&at, call.data + len, &key, &value);
		assert_int_equal(r, -EINVAL);
	}
	buf_done(&call);
}

static void test_pages(void **state)
{
	(void)state;
	assert_int_equal(wasm_pages(0), 1);
	assert_int_equal(wasm_pages(65535), 1);
	assert_int_equal(wasm_pages(64 << 20), 1024);
	assert_int_equal(wasm_pages(UINT64_MAX), 65536);
}

#define HEAD "\0asm\1\0\0\0"

static void test_imports(void **state)
{
	static const struct {
		const char *what;
		const char *data;
		size_t len;
		const char *want;
	} rows[] = {
#define BYTES(s) (s), sizeof(s) - 1
		{"nothing", BYTES(""), NULL},
		{"only a header", BYTES(HEAD), NULL},
		{"a function", BYTES(HEAD "\2\13\1\3env\3foo\0\0"), "'env' 'foo'"},
		{"after a section", BYTES(HEAD "\1\4\1\140\0\0\2\13\1\3env\3foo\0\0"),
		 "'env' 'foo'"},
		{"WASI only", BYTES(HEAD "\2\44\1\26wasi_snapshot_preview1\11proc_exit\0\1"), NULL},
		{"WASI first",
		 BYTES(HEAD "\2\56\2\26wasi_snapshot_preview1\11proc_exit\0\1\3env\3foo\0\0"),
		 "'env' 'foo'"},
		{"another version of WASI", BYTES(HEAD "\2\24\1\15wasi_unstable\2fd\0\0"),
		 "'wasi_unstable' 'fd'"},
		{"a memory before it",
		 BYTES(HEAD "\2\46\2\26wasi_snapshot_preview1\1m\2\1\1\2\3env\1g\3\177\0"),
		 "'env' 'g'"},
		{"an escape sequence", BYTES(HEAD "\2\13\1\3\33[m\3foo\0\0"), "'?[m' 'foo'"},
		{"a section that is too long", BYTES(HEAD "\2\377\1\1\3env"), NULL},
		{"a number without end", BYTES(HEAD "\2\377\377\377\377\377\377\377"), NULL},
#undef BYTES
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char got[WASM_IMPORT_MAX] = "";
		bool found = wasm_foreign_import(rows[i].data, rows[i].len, got);

		if (found != (rows[i].want != NULL) || (found && strcmp(got, rows[i].want) != 0))
			fail_msg("%s: %s", rows[i].what, found ? got : "none");
	}
}

static void test_module(void **state)
{
	char *path = NULL;

	(void)state;
	assert_true(wasm_has_module_name("a.wasm") && wasm_has_module_name("/x/a.wat"));
	assert_false(wasm_has_module_name("wasm") || wasm_has_module_name("a.wasm.sh"));
	assert_int_equal(wasm_module_path("a.wasm", "/w", &path), 0);
	assert_string_equal(path, "/w/a.wasm");
	free(path);
	assert_int_equal(wasm_module_path("../a.wasm", "/w/d", &path), 0);
	assert_string_equal(path, "/w/a.wasm");
	free(path);
	assert_false(wasm_is_module("/bin/sh", "/"));
	assert_false(wasm_is_module("/", "/"));
}

static void test_preopens(void **state)
{
	static const struct {
		const char *what;
		const char *cwd;
		struct plan_op ops[6];
		const char *want; /* or NULL: refused */
	} rows[] = {
		{"the system is not given",
		 "/",
		 {{.kind = PLAN_OP_SYSTEM, .path = "/usr"},
		  {.kind = PLAN_OP_DEV, .path = "/dev"},
		  {.kind = PLAN_OP_PROC, .path = "/proc"}},
		 ""},
		{"grants and private directories",
		 "/tmp",
		 {{.kind = PLAN_OP_TMPFS, .path = "/tmp"},
		  {.kind = PLAN_OP_BIND_RO, .path = "/usr/lib"}},
		 "/tmp=/tmp /usr/lib=/usr/lib:ro .=/tmp"},
		{"a workspace that is read-only",
		 "/usr/lib",
		 {{.kind = PLAN_OP_BIND_RO, .path = "/usr/lib"}},
		 "/usr/lib=/usr/lib:ro .=/usr/lib:ro"},
		{"a directory in it",
		 "/usr/lib/x",
		 {{.kind = PLAN_OP_COW, .path = "/usr/lib"}},
		 "/usr/lib=/usr/lib .=/usr/lib/x"},
		{"what is denied",
		 "/tmp",
		 {{.kind = PLAN_OP_BIND_RW, .path = "/tmp"},
		  {.kind = PLAN_OP_DENY, .path = "/tmp"}},
		 ""},
		{"a directory that is protected",
		 NULL,
		 {{.kind = PLAN_OP_BIND_RW, .path = "/tmp"},
		  {.kind = PLAN_OP_PROTECT, .path = "/tmp"}},
		 "/tmp=/tmp:ro"},
		{"a file alone in a directory of the view",
		 NULL,
		 {{.kind = PLAN_OP_BIND_RO, .path = "/etc/passwd"}},
		 "/etc=/etc:ro"},
		{"a file of the system's",
		 NULL,
		 {{.kind = PLAN_OP_SYSTEM, .path = "/etc"},
		  {.kind = PLAN_OP_BIND_RO, .path = "/etc/passwd"}},
		 ""},
		{"the same twice: the later one counts",
		 NULL,
		 {{.kind = PLAN_OP_BIND_RW, .path = "/tmp"},
		  {.kind = PLAN_OP_BIND_RO, .path = "/tmp"}},
		 "/tmp=/tmp:ro"},
		{"a colon", NULL, {{.kind = PLAN_OP_TMPFS, .path = "/a:b"}}, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct plan plan = {.ops = rows[i].ops, .cwd = rows[i].cwd};
		struct wasm_preopens p = {0};
		struct buf got = BUF_INIT(4096);
		struct cordon_error err = {0};
		int r;

		while (plan.op_count < ARRAY_LEN(rows[i].ops) && rows[i].ops[plan.op_count].path)
			plan.op_count++;
		r = wasm_preopens_of(&plan, &p, &err);
		for (size_t j = 0; j < p.n; j++)
			buf_printf(&got, "%s%s=%s%s", j ? " " : "", p.v[j].guest, p.v[j].host,
				   p.v[j].is_read_only ? ":ro" : "");
		if (!rows[i].want ? r != CORDON_E_UNSUPPORTED
				  : r != 0 || strcmp(buf_cstr(&got), rows[i].want) != 0)
			fail_msg("%s: %d, %s", rows[i].what, r, buf_cstr(&got));
		buf_done(&got);
		wasm_preopens_done(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),  cmocka_unit_test(test_call),
		cmocka_unit_test(test_pages),  cmocka_unit_test(test_imports),
		cmocka_unit_test(test_module), cmocka_unit_test(test_preopens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
