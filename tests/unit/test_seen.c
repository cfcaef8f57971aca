/* SPDX-License-Identifier: Apache-2.0 */
/* The store of facts, what a plan makes of a path, names that look like secrets, and how refused calls are called. */
#include "backend/confine/watch.h"
#include "backend/reach.h"
#include "backend/seen.h"
#include "base/limits.h"
#include "base/mem.h"
#include "workspace/sensitive.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cmocka.h>

static bool add(struct seen *s, enum seen_kind kind, enum seen_want want, const char *text)
{
	struct seen_event *event = NULL;

	return seen_add(s, &(struct seen_event){.kind = kind, .want = want}, text, strlen(text),
			&event);
}

static void test_once(void **state)
{
	struct seen s = {0};
	struct seen_event *event = NULL;

	(void)state;
	assert_true(add(&s, SEEN_PATH, SEEN_READ, "/a"));
	assert_false(add(&s, SEEN_PATH, SEEN_READ, "/a"));
	assert_true(add(&s, SEEN_PATH, SEEN_WRITE, "/a"));
	assert_true(add(&s, SEEN_SOCKET, SEEN_READ, "/a"));
	assert_true(add(&s, SEEN_PATH, SEEN_READ, "/ab"));
	assert_false(add(&s, SEEN_PATH, SEEN_READ, ""));
	assert_false(seen_add(&s, &(struct seen_event){.kind = SEEN_PATH}, "a\0b", 3, &event));
	assert_int_equal(s.n, 4);
	assert_int_equal(s.events[0].count, 2);
	assert_int_equal(s.dropped, 0);
	seen_done(&s);
	seen_done(&s);
	seen_done(NULL);
}

/* Beyond the limit new facts are counted, known ones still are. */
static void test_limit(void **state)
{
	struct seen s = {0};
	char text[32];

	(void)state;
	for (int i = 0; i < LIMIT_SEEN + 100; i++) {
		(void)snprintf(text, sizeof(text), "/%d", i);
		assert_int_equal(add(&s, SEEN_PATH, SEEN_READ, text), i < LIMIT_SEEN);
	}
	assert_false(add(&s, SEEN_PATH, SEEN_READ, "/7"));
	assert_int_equal(s.n, LIMIT_SEEN);
	assert_int_equal(s.dropped, 100);
	assert_int_equal(s.lost, 100);
	assert_int_equal(s.events[7].count, 2);
	seen_done(&s);
}

/* Messages fill no more than their part, and none speaks for what the kernel tells. */
static void test_inferred(void **state)
{
	struct seen s = {0};
	struct seen_event *event = NULL;
	struct seen_event told = {
		.kind = SEEN_PATH, .want = SEEN_WRITE, .cause = SEEN_CAUSE_EXISTS};
	char text[32];

	(void)state;
	assert_true(seen_add(&s, &told, "/a", 2, &event));
	assert_false(seen_add(&s, &told, "/a", 2, &event));
	event = NULL;
	assert_true(seen_add(&s, &(struct seen_event){.kind = SEEN_PATH, .want = SEEN_WRITE}, "/a",
			     2, &event));
	assert_ptr_equal(event, &s.events[0]);
	assert_int_equal(event->cause, SEEN_CAUSE_NONE);
	assert_int_equal(event->count, 3);
	assert_false(add(&s, SEEN_PATH, SEEN_WRITE, "/a"));
	assert_false(seen_add(&s, &told, "/a", 2, &event));
	assert_int_equal(s.events[0].cause, SEEN_CAUSE_NONE);
	for (int i = 1; i < LIMIT_SEEN; i++) {
		(void)snprintf(text, sizeof(text), "/%d", i);
		assert_int_equal(i % 2 ? add(&s, SEEN_NAME, SEEN_READ, text)
				       : seen_add(&s, &told, text, strlen(text), &event),
				 i < LIMIT_SEEN_INFERRED);
	}
	assert_int_equal(s.n, LIMIT_SEEN_INFERRED);
	assert_int_equal(s.dropped, LIMIT_SEEN - LIMIT_SEEN_INFERRED);
	assert_int_equal(s.lost, 0);
	assert_true(add(&s, SEEN_OPENED, SEEN_READ, "/secret"));
	seen_done(&s);
}

static const struct plan_op ops[] = {
	{.kind = PLAN_OP_SYSTEM, .path = "/usr"},
	{.kind = PLAN_OP_SYMLINK, .path = "/bin", .text = "usr/bin"},
	{.kind = PLAN_OP_DEV, .path = "/dev"},
	{.kind = PLAN_OP_PROC, .path = "/proc"},
	{.kind = PLAN_OP_TMPFS, .path = "/tmp"},
	{.kind = PLAN_OP_TMPFS, .path = "/home/u"},
	{.kind = PLAN_OP_BIND_RW, .path = "/home/u/w"},
	{.kind = PLAN_OP_BIND_RO, .path = "/tmp/data"},
	{.kind = PLAN_OP_DEVICE, .path = "/dev/kvm"},
	{.kind = PLAN_OP_DENY, .path = "/home/u/w/secret"},
	{.kind = PLAN_OP_PROTECT, .path = "/home/u/w/.git/hooks"},
	{.kind = PLAN_OP_PROTECT, .path = "/home/u/w/secret/x"},
};

static void test_reach(void **state)
{
	static const struct {
		const char *path;
		enum reach want;
	} table[] = {
		{"/", REACH_READ},
		{"/home", REACH_READ},
		{"/home/u", REACH_PRIVATE},
		{"/home/v", REACH_NONE},
		{"/home/u/.bashrc", REACH_PRIVATE},
		{"/home/u/w", REACH_WRITE},
		{"/home/u/w2", REACH_PRIVATE},
		{"/home/u/w/a/b", REACH_WRITE},
		{"/home/u/w/.git/hooks/pre-commit", REACH_PROTECTED},
		{"/home/u/w/.git/config", REACH_WRITE},
		{"/home/u/w/secret", REACH_DENIED},
		{"/home/u/w/secret/x", REACH_DENIED},
		{"/usr/lib/x", REACH_READ},
		{"/bin/sh", REACH_READ},
		{"/tmp/x", REACH_PRIVATE},
		{"/tmp/data/x", REACH_READ},
		{"/dev", REACH_PRIVATE},
		{"/dev/null", REACH_PRIVATE},
		{"/dev/shm/x", REACH_PRIVATE},
		{"/dev/sda", REACH_NONE},
		{"/dev/kvm", REACH_WRITE},
		{"/proc/self", REACH_PRIVATE},
		{"/srv", REACH_NONE},
		{"/usrx", REACH_NONE},
	};
	const struct plan plan = {.ops = ops, .op_count = ARRAY_LEN(ops)};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct plan_op *op = NULL;
		enum reach got = reach_of(&plan, table[i].path, &op);

		if (got != table[i].want)
			fail_msg("%s: want %d, got %d", table[i].path, table[i].want, got);
		assert_int_equal(op == NULL, got == REACH_NONE);
	}
}

static void test_sensitive(void **state)
{
	static const char *const yes[] = {".env",    ".env.local",       "server.pem",
					  "id_rsa",  "credentials.json", "tls.key",
					  ".netrc",  "x.kdbx",           "secrets.yml",
					  "a.b.p12", ".env.production",  "prod.tfstate"};
	static const char *const no[] = {
		".env.example", "env",    ".environment", "main.c", "key", "pem",
		"id_rsa.pub",   "a.keys", "x.",           ".",      "",    "secrets.md",
		"package.json", "test.py"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (!sensitive_name(yes[i]))
			fail_msg("%s is one", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (sensitive_name(no[i]))
			fail_msg("%s is none", no[i]);
}

static void test_call_text(void **state)
{
	static const struct {
		const char *name;
		uint64_t args[3];
		const char *want;
	} table[] = {
		{"ptrace", {0}, "ptrace"},
		{"socket", {AF_ALG, SOCK_SEQPACKET}, "socket AF_ALG"},
		{"socket",
		 {AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1},
		 "socket AF_INET SOCK_RAW protocol 1"},
		{"socket", {AF_UNIX, SOCK_STREAM}, "socket AF_UNIX SOCK_STREAM"},
		{"socket", {99}, "socket 0x63"},
		{"ioctl", {0, TIOCSTI | 1ull << 32}, "ioctl TIOCSTI"},
		{"unshare", {CLONE_NEWUSER | CLONE_NEWNS}, "unshare CLONE_NEWUSER CLONE_NEWNS"},
		{"personality", {0x400000}, "personality 0x400000"},
		{"fchmodat", {0}, "fchmodat set-id"},
		{"mknod", {0}, "mknod device or set-id"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf b = BUF_INIT(256);
		struct seccomp_data d = {
			.args = {table[i].args[0], table[i].args[1], table[i].args[2]}};

		watch_call_text(&d, table[i].name, &b);
		assert_string_equal(buf_cstr(&b), table[i].want);
		buf_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),      cmocka_unit_test(test_limit),
		cmocka_unit_test(test_inferred),  cmocka_unit_test(test_reach),
		cmocka_unit_test(test_sensitive), cmocka_unit_test(test_call_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
