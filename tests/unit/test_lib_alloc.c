/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcordon when memory runs out: fails the Nth allocation for every N.  Each job either succeeds or
 * says CORDON_E_NOMEM, gives nothing when it fails, and leaks nothing of what was allocated through the
 * wrapped functions (other libraries and libc itself allocate past them; ASan looks after those).  The parsers of
 * languages end the process when memory runs out, and keep what they have for the next text: they are given
 * the real functions.
 */
#include "lib_helper.h"

#include <tree_sitter/api.h>
#include "inspect/shell/tree.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void __wrap_free(void *p);
void *__real_tree_sitter_bash_external_scanner_create(void);
void *__wrap_tree_sitter_bash_external_scanner_create(void);

enum { NOTED_MAX = 1 << 16 };

static bool counting;
static size_t calls, fail_at;
static const void *noted[NOTED_MAX]; /* allocated here and not freed, by hash */
static size_t living;

static size_t noted_slot(const void *p)
{
	return ((uintptr_t)p >> 4) * 2654435761u % NOTED_MAX;
}

static void *note(void *p)
{
	size_t i = noted_slot(p);

	if (!counting || !p)
		return p;
	assert_true(living < NOTED_MAX / 2);
	while (noted[i] && noted[i] != (const void *)noted)
		i = (i + 1) % NOTED_MAX;
	noted[i] = p;
	living++;
	return p;
}

/* A mark stays in the place of what is gone, so that searches go on over it. */
static bool unnote(const void *p)
{
	for (size_t i = noted_slot(p); noted[i]; i = (i + 1) % NOTED_MAX) {
		if (noted[i] == p) {
			noted[i] = noted;
			living--;
			return true;
		}
	}
	return false;
}

static bool fails(void)
{
	return counting && ++calls == fail_at;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : note(__real_malloc(size));
}

/* The one place in a grammar that allocates with no regard to tree-sitter's functions, or to failure. */
void *__wrap_tree_sitter_bash_external_scanner_create(void)
{
	bool was = counting;
	void *scanner;

	counting = false;
	scanner = __real_tree_sitter_bash_external_scanner_create();
	counting = was;
	return scanner;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : note(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	uintptr_t old = (uintptr_t)p;
	void *moved;

	if (fails())
		return NULL;
	moved = __real_realloc(p, size);
	if (moved && (!old || unnote((const void *)old)))
		(void)note(moved);
	return moved;
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : note(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : note(__real_strndup(s, n));
}

void __wrap_free(void *p)
{
	if (counting && p)
		(void)unnote(p);
	__real_free(p);
}

static const char manifest[] =
	"claw: 0.3.0\nkind: Sandbox\nmetadata: {name: x}\nspec:\n  level: none\n  capabilities:\n"
	"    network: {mode: allow-all}\n"
	"    filesystem: {mode: full, mount_paths: [{path: /usr, permissions: ro}]}\n"
	"    shell: {mode: restricted, blocked_commands: [a b], blocked_patterns: [\"x+y\"]}\n"
	"  resource_limits: {timeout_ms: 5000}\n---\n"
	"claw: 0.3.0\nkind: Policy\nmetadata: {name: y}\nspec:\n  rules:\n"
	"    - {id: all, action: allow, scope: all}\n";

static int job_options(void)
{
	struct cordon_policy_options *o = NULL;
	char **argv = NULL;
	int r = cordon_policy_options_new(place_ws, &o, NULL);

	if (r == 0)
		r = cordon_policy_options_mode(o, "workspace", NULL);
	if (r == 0)
		r = cordon_policy_options_env(o, "A", "b", NULL);
	if (r == 0)
		r = cordon_policy_options_set(o, "secret", "T@example.com", NULL);
	if (r == 0)
		r = cordon_policy_options_backend(o, "noop", NULL);
	if (r == 0)
		r = cordon_wrap_command("true", o, &argv, NULL);
	cordon_free(argv);
	cordon_policy_options_free(o);
	return r;
}

static int make_policy(struct cordon_policy **ret)
{
	const struct cordon_policy_places places = {
		.struct_size = sizeof(places),
		.workspace = place_ws,
		.config_dir = place_config,
		.state_dir = place_state,
	};
	struct cordon_policy_options *o = NULL;
	int r = cordon_policy_options_new_at(&places, &o, NULL);

	if (r == 0)
		r = cordon_policy_options_text(o, manifest, sizeof(manifest) - 1, "m", NULL);
	if (r == 0)
		r = cordon_policy_options_read(o, "/opt", NULL);
	if (r == 0)
		r = cordon_policy_load(o, ret, NULL);
	cordon_policy_options_free(o);
	return r;
}

static int job_load(void)
{
	struct cordon_policy *p = NULL;
	int r = make_policy(&p);

	cordon_policy_free(p);
	return r;
}

static struct cordon_policy *policy;   /* made without failures */
static struct cordon_request *request; /* likewise */
static struct cordon_report *report;

static int job_ask(void)
{
	char *text = NULL;
	int r = cordon_policy_get(policy, "sandbox.level", &text, NULL);

	cordon_free(text);
	text = NULL;
	if (r == 0)
		r = cordon_policy_show_json(policy, &text, NULL, NULL);
	cordon_free(text);
	return r;
}

static int job_request(void)
{
	static const char *const argv[] = {"echo", "x", NULL};
	const struct cordon_request_options o = {
		.struct_size = sizeof(o), .tool = "T", .agent = "a", .session = "s"};
	struct cordon_request *q = NULL;
	int r = cordon_request_argv(argv, &o, &q, NULL);

	cordon_request_free(q);
	return r;
}

static int job_findings(void)
{
	const struct cordon_finding finding = {
		.struct_size = sizeof(finding), .rule = "r", .type = "egress"};
	struct cordon_findings *f = NULL;
	int r = cordon_findings_new(&f, NULL);

	for (int i = 0; r == 0 && i < 20; i++)
		r = cordon_findings_add(f, &finding, NULL);
	cordon_findings_free(f);
	return r;
}

static int job_run(void)
{
	struct cordon_report *own = NULL;
	char *json = NULL;
	int r = cordon_run(policy, request, NULL, &own, NULL);

	if (r == 0)
		r = cordon_report_json(own, &json, NULL, NULL);
	cordon_free(json);
	cordon_report_free(own);
	return r;
}

static int job_json(void)
{
	char *json = NULL;
	int r = cordon_report_json(report, &json, NULL, NULL);

	assert_true(r == 0 ? json != NULL : json == NULL);
	cordon_free(json);
	return r;
}

static void test_every_allocation(void **state)
{
	static const struct {
		const char *what;
		int (*job)(void);
	} rows[] = {
		{"options", job_options},  {"load", job_load}, {"ask", job_ask},
		{"request", job_request},  {"run", job_run},   {"findings", job_findings},
		{"report JSON", job_json},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t failed = 0;

		for (fail_at = 1;; fail_at++) {
			int r;

			memset(noted, 0, sizeof(noted));
			calls = 0;
			living = 0;
			counting = true;
			r = rows[i].job();
			shell_tree_release(); /* kept for the next command */
			counting = false;
			if (living != 0)
				fail_msg("%s: %zu left after failure %zu", rows[i].what, living,
					 fail_at);
			if (calls < fail_at) {
				if (r != 0)
					fail_msg("%s: %d without a failure", rows[i].what, r);
				break;
			}
			if (r != CORDON_E_NOMEM)
				fail_msg("%s: %s after failure %zu", rows[i].what,
					 r ? cordon_error_name(r) : "success", fail_at);
			failed++;
		}
		assert_true(failed > 0);
		print_message("# %s: %zu allocations\n", rows[i].what, failed);
	}
}

static int setup(void **state)
{
	const struct cordon_request_options o = {.struct_size = sizeof(o), .cwd = place_ws};

	return place_setup(state) || make_policy(&policy) ||
	       cordon_request_shell("echo \"out\"", &o, &request, NULL) ||
	       cordon_run(policy, request, NULL, &report, NULL);
}

static int teardown(void **state)
{
	cordon_report_free(report);
	cordon_request_free(request);
	cordon_policy_free(policy);
	return place_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_allocation),
	};

	ts_set_allocator(__real_malloc, __real_calloc, __real_realloc, __real_free);
	return cmocka_run_group_tests(tests, setup, teardown);
}
