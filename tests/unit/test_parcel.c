/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as a block of bytes: what is written is read, and nothing else is. */
#include <jansson.h>

#include "backend/container/parcel.h"
#include "backend/container/spec.h"

#include "base/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char *const some_argv[] = {(char[]){"sh"}, (char[]){""}, (char[]){"a b\n\xff"}, NULL};
static char *const some_envp[] = {(char[]){"PATH=/bin"}, NULL};
static const uint16_t some_ports[] = {80, 65535};
static const struct plan_publish some_publish[] = {{.name = "8080", .port = 8080}};
static const struct callset some_calls = {.bits = {0, 0xff00ff}};
static const struct plan_terminal some_terminal = {
	.size = {.ws_row = 24, .ws_col = 80},
	.streams = {true, false, true},
	.is_foreground = true,
};
static const struct plan_op some_ops[] = {
	{.kind = PLAN_OP_SYSTEM, .path = "/usr", .is_public_only = true},
	{.kind = PLAN_OP_TMPFS,
	 .path = "/tmp",
	 .mode = 01777,
	 .size_bytes = 12345,
	 .is_noexec = true},
	{.kind = PLAN_OP_FILE, .path = "/f", .text = "a\0b", .text_len = 3, .mode = 0600},
	{.kind = PLAN_OP_SYMLINK, .path = "/bin", .text = "usr/bin"},
	{.kind = PLAN_OP_PROTECT,
	 .path = "/w/.git",
	 .except = "objects",
	 .is_dir = true,
	 .is_looked_for = true,
	 .is_missing = true,
	 .is_standard = true},
	{.kind = PLAN_OP_BIND_RW, .path = "/w", .is_sealed = true},
};

static struct mark some_mark[] = {{.target = "/w", .dev = 7, .ino = UINT64_C(1) << 40},
				  {.target = SPEC_ASIDE "/w", .dev = 8, .ino = 9}};
static const struct marks some_marks = {.v = some_mark, .n = ARRAY_LEN(some_mark)};

static const struct plan some_plan = {
	.id = "call-1",
	.argv = some_argv,
	.envp = some_envp,
	.cwd = "/w",
	.keeps_group = true,
	.terminal = &some_terminal,
	.memory_bytes = {true, 1 << 20},
	.cpu_shares = {true, 2},
	.cpu_percent = {true, 50},
	.max_processes = {true, 7},
	.max_open_files = {true, 99},
	.by_rlimit = 5,
	.ops = some_ops,
	.op_count = ARRAY_LEN(some_ops),
	.net = PLAN_NET_PROXY,
	.ports = some_ports,
	.n_ports = ARRAY_LEN(some_ports),
	.publish = some_publish,
	.n_publish = ARRAY_LEN(some_publish),
	.seals_unix = true,
	.separates_exec = true,
	.allows_ptrace = true,
	.denied_calls = &some_calls,
	.scratch_dir = "/state",
	.runtime = "second",
	.image = "img:1",
	.aside = "/aside",
	.watch = PLAN_WATCH_REFUSED,
	.serves = true,
	.needs = UINT64_C(1) << 33,
};

static void assert_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a)
		assert_string_equal(a, b);
}

static void assert_limit(struct plan_limit a, struct plan_limit b)
{
	assert_int_equal(a.is_given, b.is_given);
	assert_int_equal(a.value, b.value);
}

static void assert_same_op(const struct plan_op *a, const struct plan_op *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_text(a->path, b->path);
	assert_int_equal(a->text_len, b->text_len);
	if (a->text_len)
		assert_memory_equal(a->text, b->text, a->text_len);
	else
		assert_text(a->text, b->text);
	assert_text(a->except, b->except);
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->size_bytes, b->size_bytes);
	assert_int_equal(a->is_dir, b->is_dir);
	assert_int_equal(a->is_looked_for, b->is_looked_for);
	assert_int_equal(a->is_missing, b->is_missing);
	assert_int_equal(a->is_standard, b->is_standard);
	assert_int_equal(a->is_noexec, b->is_noexec);
	assert_int_equal(a->is_sealed, b->is_sealed);
	assert_int_equal(a->is_public_only, b->is_public_only);
}

static void test_round(void **state)
{
	struct buf b = BUF_INIT(PARCEL_MAX);
	struct parcel p;

	(void)state;
	assert_int_equal(parcel_write(&some_plan, &some_marks, 027, &b), 0);
	assert_int_equal(parcel_read(b.data, b.len, &p), 0);
	assert_int_equal(p.mask, 027);
	assert_text(p.plan.id, "call-1");
	for (size_t i = 0; some_argv[i]; i++)
		assert_text(p.plan.argv[i], some_argv[i]);
	assert_null(p.plan.argv[3]);
	assert_text(p.plan.envp[0], some_envp[0]);
	assert_null(p.plan.envp[1]);
	assert_text(p.plan.cwd, "/w");
	assert_text(p.plan.scratch_dir, "/state");
	assert_text(p.plan.aside, "/aside");
	assert_text(p.plan.runtime, "second");
	assert_text(p.plan.image, "img:1");
	assert_int_equal(p.plan.stdin_fd, -1);
	assert_true(p.plan.keeps_group && p.plan.seals_unix && p.plan.separates_exec &&
		    p.plan.allows_ptrace && p.plan.serves);
	assert_limit(p.plan.memory_bytes, some_plan.memory_bytes);
	assert_limit(p.plan.cpu_shares, some_plan.cpu_shares);
	assert_limit(p.plan.cpu_percent, some_plan.cpu_percent);
	assert_limit(p.plan.max_processes, some_plan.max_processes);
	assert_limit(p.plan.max_open_files, some_plan.max_open_files);
	assert_int_equal(p.plan.by_rlimit, 5);
	assert_int_equal(p.plan.needs, some_plan.needs);
	assert_int_equal(p.plan.net, PLAN_NET_PROXY);
	assert_int_equal(p.plan.watch, PLAN_WATCH_REFUSED);
	assert_int_equal(p.plan.terminal->size.ws_col, 80);
	assert_true(p.plan.terminal->streams[2] && p.plan.terminal->is_foreground);
	assert_false(p.plan.terminal->streams[1]);
	assert_int_equal(p.plan.n_ports, 2);
	assert_int_equal(p.plan.ports[1], 65535);
	assert_int_equal(p.plan.n_publish, 1);
	assert_int_equal(p.plan.publish[0].port, 8080);
	assert_memory_equal(p.plan.denied_calls, &some_calls, sizeof(some_calls));
	assert_int_equal(p.plan.op_count, ARRAY_LEN(some_ops));
	for (size_t i = 0; i < ARRAY_LEN(some_ops); i++)
		assert_same_op(&p.plan.ops[i], &some_ops[i]);
	assert_int_equal(p.n_marks, some_marks.n);
	for (size_t i = 0; i < some_marks.n; i++) {
		assert_text(p.marks[i].target, some_mark[i].target);
		assert_int_equal(p.marks[i].dev, some_mark[i].dev);
		assert_int_equal(p.marks[i].ino, some_mark[i].ino);
	}
	parcel_done(&p);
	buf_done(&b);
}

/* Every shorter block, a longer one, and every block with one byte changed: refused or read, never beyond its end. */
static void test_damaged(void **state)
{
	struct buf b = BUF_INIT(PARCEL_MAX);
	struct parcel p;

	(void)state;
	assert_int_equal(parcel_write(&some_plan, &some_marks, 0, &b), 0);
	for (size_t len = 0; len < b.len; len++) {
		char *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, b.data, len);
		assert_int_equal(parcel_read(copy, len, &p), -EINVAL);
		parcel_done(&p);
		free(copy);
	}
	assert_int_equal(parcel_read(b.data, b.len + 1, &p), -EINVAL);
	parcel_done(&p);
	for (size_t i = 0; i < b.len; i++) {
		char *copy = malloc(b.len);

		assert_non_null(copy);
		memcpy(copy, b.data, b.len);
		copy[i] = (char)~copy[i];
		assert_true(parcel_read(copy, b.len, &p) <= 0);
		parcel_done(&p);
		free(copy);
	}
	buf_done(&b);
}

/* The same thing, also under another path; not what took its place, with or without a link. */
static void test_mark(void **state)
{
	char top[] = "/tmp/cordon-mark-XXXXXX";
	char path[2][64];
	char link[64];
	struct marks marks = {0};

	(void)state;
	assert_non_null(mkdtemp(top));
	for (size_t i = 0; i < ARRAY_LEN(path); i++) {
		(void)snprintf(path[i], sizeof(path[i]), "%s/%zu", top, i);
		assert_int_equal(mkdir(path[i], 0700), 0);
	}
	(void)snprintf(link, sizeof(link), "%s/link", top);
	assert_int_equal(symlink(path[0], link), 0);
	assert_int_equal(marks_add(&marks, link, "/w"), -ELOOP);
	assert_int_equal(marks_add(&marks, "/cordon-not-there", "/w"), -ENOENT);
	assert_int_equal(marks_add(&marks, path[0], path[0]), 0);
	assert_int_equal(marks_add(&marks, path[0], path[1]), 0);
	assert_int_equal(marks_add(&marks, path[0], link), 0);
	assert_int_equal(marks.n, 3);
	assert_int_equal(mark_check(&marks.v[0]), 0);
	assert_int_equal(mark_check(&marks.v[1]), -ESTALE);
	assert_int_equal(mark_check(&marks.v[2]), -ESTALE);
	assert_int_equal(rmdir(path[0]), 0);
	assert_int_equal(mark_check(&marks.v[0]), -ESTALE);
	assert_int_equal(rename(path[1], path[0]), 0);
	assert_int_equal(mark_check(&marks.v[0]), -ESTALE);
	marks_done(&marks);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(path[0]), 0);
	assert_int_equal(rmdir(top), 0);
}

static json_t *spec_of(const struct plan *plan)
{
	const struct spec spec = {
		.plan = plan, .image = "i", .inside = "/opt/inside", .call_dir = "/tmp/call"};
	struct buf b = BUF_INIT(1 << 20);
	struct cordon_error err = {0};
	struct marks marks = {0};
	json_t *j;

	assert_int_equal(spec_write(&spec, &b, &marks, &err), 0);
	marks_done(&marks);
	j = json_loadb(b.data, b.len, 0, NULL);
	assert_non_null(j);
	buf_done(&b);
	return j;
}

static json_t *mount_of(json_t *spec, const char *target)
{
	json_t *mounts = json_object_get(json_object_get(spec, "HostConfig"), "Mounts");
	json_t *mount;
	size_t i;

	json_array_foreach(mounts, i,
			   mount) if (strcmp(json_string_value(json_object_get(mount, "Target")),
					     target) == 0) return mount;
	return NULL;
}

static bool is_listed(json_t *list, const char *text)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i,
			   item) if (strcmp(json_string_value(item), text) == 0) return true;
	return false;
}

static void test_spec(void **state)
{
	static const struct plan_op ops[] = {
		{.kind = PLAN_OP_SYSTEM, .path = "/usr"},
		{.kind = PLAN_OP_BIND_RO, .path = "/usr/bin"},
		{.kind = PLAN_OP_SYSTEM, .path = "/cordon-not-there"},
		{.kind = PLAN_OP_BIND_RW, .path = "/tmp"},
		{.kind = PLAN_OP_DENY, .path = "/tmp/x"},
	};
	const struct plan plan = {
		.net = PLAN_NET_NONE,
		.ops = ops,
		.op_count = ARRAY_LEN(ops),
		.memory_bytes = PLAN_LIMIT(1 << 26),
		.max_processes = PLAN_LIMIT(10),
		.cpu_percent = PLAN_LIMIT(50),
		.cpu_shares = PLAN_LIMIT(512),
	};
	json_t *j = spec_of(&plan);
	json_t *host = json_object_get(j, "HostConfig");
	json_t *security = json_object_get(host, "SecurityOpt");

	(void)state;
	assert_true(json_is_true(json_object_get(mount_of(j, "/usr"), "ReadOnly")));
	assert_true(json_is_false(json_object_get(mount_of(j, "/tmp"), "ReadOnly")));
	assert_true(json_is_true(json_object_get(mount_of(j, SPEC_CALL), "ReadOnly")));
	assert_true(json_is_true(json_object_get(mount_of(j, SPEC_INSIDE), "ReadOnly")));
	assert_null(mount_of(j, "/usr/bin")); /* it is there with /usr */
	assert_null(mount_of(j, "/cordon-not-there"));
	assert_int_equal(json_array_size(json_object_get(host, "Mounts")), 4);
	assert_string_equal(json_string_value(json_object_get(host, "NetworkMode")), "none");
	assert_true(json_is_true(json_object_get(host, "ReadonlyRootfs")));
	assert_true(json_is_true(json_object_get(host, "AutoRemove")));
	assert_true(is_listed(json_object_get(host, "CapDrop"), "ALL"));
	assert_int_equal(json_array_size(json_object_get(host, "CapAdd")) > 0, geteuid() == 0);
	assert_true(is_listed(security, "no-new-privileges"));
	assert_int_equal(json_integer_value(json_object_get(host, "Memory")), 1 << 26);
	assert_int_equal(json_integer_value(json_object_get(host, "MemorySwap")), 1 << 26);
	assert_int_equal(json_integer_value(json_object_get(host, "PidsLimit")), 11);
	assert_int_equal(json_integer_value(json_object_get(host, "CpuQuota")), 50000);
	assert_int_equal(json_integer_value(json_object_get(host, "CpuShares")), 512);
	json_decref(j);
}

/* What our own filter refuses the container's refuses too, but for what builds a view. */
static void test_profile(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	json_t *j;
	json_t *names;

	(void)state;
	assert_int_equal(spec_profile(&b), 0);
	j = json_loadb(b.data, b.len, 0, NULL);
	names = json_object_get(json_array_get(json_object_get(j, "syscalls"), 0), "names");
	assert_true(is_listed(names, "bpf") && is_listed(names, "keyctl") &&
		    is_listed(names, "io_uring_setup") && is_listed(names, "open_by_handle_at"));
	assert_false(is_listed(names, "mount") || is_listed(names, "unshare") ||
		     is_listed(names, "openat"));
	json_decref(j);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_mark),    cmocka_unit_test(test_spec),
		cmocka_unit_test(test_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
