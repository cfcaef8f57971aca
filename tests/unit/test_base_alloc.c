/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fails the Nth allocation for every N.  Linked with --wrap for the allocating functions that base/
 * calls.  Each job either succeeds or says -ENOMEM, gives nothing when it fails, and leaks nothing: what
 * is allocated and not freed is counted here, so that the plain build sees it too.
 */
#include "base/buf.h"
#include "base/env.h"
#include "base/glob.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
void __wrap_free(void *p);

static bool counting;
static size_t calls, fail_at; /* the call with this number fails */
static long living;
static bool searching; /* for a secret in what is given back */
static size_t moved, left;

#define SECRET "a secret in memory"

static bool alloc_fails(void)
{
	return counting && ++calls == fail_at;
}

static void *alloc_note(void *p)
{
	if (counting && p)
		living++;
	return p;
}

void *__wrap_malloc(size_t size)
{
	return alloc_fails() ? NULL : alloc_note(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return alloc_fails() ? NULL : alloc_note(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	if (alloc_fails())
		return NULL;
	if (p && searching)
		moved++; /* nobody knows whether the old bytes are still somewhere */
	return p ? __real_realloc(p, size) : alloc_note(__real_realloc(p, size));
}

char *__wrap_strdup(const char *s)
{
	return alloc_fails() ? NULL : alloc_note(__real_strdup(s));
}

void __wrap_free(void *p)
{
	if (counting && p)
		living--;
	if (p && searching && memmem(p, malloc_usable_size(p), SECRET, strlen(SECRET)))
		left++;
	__real_free(p);
}

static int job_buf(void)
{
	struct buf b = BUF_INIT(100000);
	AUTO_FREE char *out = NULL;
	int r;

	for (int i = 0; i < 500; i++)
		buf_printf(&b, "%d ", i);
	str_shell_quote(&b, "it's");
	str_escape(&b, "\033", 1);
	r = buf_take(&b, &out, NULL);
	buf_done(&b);
	return r;
}

static int job_buf_empty(void)
{
	struct buf b = BUF_INIT(10);
	AUTO_FREE char *out = NULL;
	int r = buf_take(&b, &out, NULL);

	buf_done(&b);
	return r;
}

static int job_json(void)
{
	struct buf b = BUF_INIT(100000);
	struct json j = JSON_INIT(&b);
	int r;

	json_object(&j, NULL);
	for (int i = 0; i < 100; i++)
		json_double(&j, "key", i, 3);
	json_end_object(&j);
	r = buf_error(&b);
	buf_done(&b);
	return r;
}

static int job_strv(void)
{
	struct strv s = {0};
	int r = 0;

	for (int i = 0; i < 20 && r == 0; i++)
		r = i % 2 ? strv_add(&s, "plain") : strv_addf(&s, "number %d", i);
	strv_done(&s);
	return r;
}

static int job_path(void)
{
	AUTO_FREE char *joined = NULL;
	AUTO_FREE char *real = NULL;
	int r = path_join("/usr/lib/..", "bin/./x", &joined);

	if (r == 0)
		r = path_resolve(joined, &real);
	return r;
}

static int job_private_dir(void)
{
	return path_make_private_dir("/", 0755) == -ENOMEM ? -ENOMEM : 0;
}

static int job_env(void)
{
	AUTO_FREE char *config = NULL;
	AUTO_FREE char *state_dir = NULL;
	int r = env_config_dir(&config);

	return r < 0 ? r : env_state_dir(&state_dir);
}

static int job_read(void)
{
	AUTO_FREE char *data = NULL;
	size_t len = 0;

	return io_read_file_at(AT_FDCWD, "/proc/self/maps", 1 << 22, &data, &len);
}

/* A matcher that allocates would answer "no" when it may not, and a deny pattern would not deny. */
static int job_glob(void)
{
	return glob_match("/**/*.key", "/a/b/c.key") && calls == 0 ? 0 : -EIO;
}

static void test_every_allocation(void **state)
{
	static const struct {
		const char *what;
		int (*job)(void);
	} rows[] = {
		{"buf", job_buf},   {"empty buf", job_buf_empty}, {"json", job_json},
		{"strv", job_strv}, {"path", job_path},           {"private dir", job_private_dir},
		{"env", job_env},   {"read a file", job_read},    {"glob", job_glob},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t failed = 0;
		int r;

		for (fail_at = 1;; fail_at++) {
			calls = 0;
			living = 0;
			counting = true;
			r = rows[i].job();
			counting = false;
			if (living != 0)
				fail_msg("%s: %ld left after failure %zu", rows[i].what, living,
					 fail_at);
			if (calls < fail_at)
				break; /* one whole run without a failure */
			if (r != -ENOMEM)
				fail_msg("%s: %d after failure %zu", rows[i].what, r, fail_at);
			failed++;
		}
		if (r != 0)
			fail_msg("%s: %d without a failure", rows[i].what, r);
		if ((failed == 0) != (rows[i].job == job_glob))
			fail_msg("%s: %zu allocations", rows[i].what, failed);
	}
}

/* However a buffer with secrets grows, nothing of it stays behind. */
static void test_secret(void **state)
{
	struct buf plain = BUF_INIT(100000);
	struct buf b = BUF_SECRET(100000);

	(void)state;
	searching = true;
	for (int i = 0; i < 1000; i++)
		buf_str(&plain, SECRET);
	buf_done(&plain);
	assert_true(moved > 0 && left > 0); /* it can be seen */
	moved = left = 0;
	for (int i = 0; i < 1000; i++)
		buf_str(&b, SECRET);
	assert_int_equal(buf_error(&b), 0);
	assert_int_equal(b.len, 1000 * strlen(SECRET));
	assert_string_equal(b.data + b.len - strlen(SECRET), SECRET);
	buf_done(&b);
	searching = false;
	assert_int_equal(moved, 0);
	assert_int_equal(left, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_allocation),
		cmocka_unit_test(test_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
