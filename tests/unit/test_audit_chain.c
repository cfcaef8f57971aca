/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit trail as files: what writers leave, what verify says of each kind of damage, repair,
 * rotation, retention, full disks, and files that are not what they should be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/query.h"
#include "audit/store.h"
#include "audit/verify.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"

static char dir[64];
static int dirfd_ = -1;

static int set_up(void **state)
{
	const char *tmp = env_get("TMPDIR");

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%.40s/trail-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dirfd_ < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	struct audit_files files = {0};

	(void)state;
	if (audit_store_list(dirfd_, &files, NULL) == 0)
		for (size_t i = 0; i < files.n; i++)
			(void)unlinkat(dirfd_, files.v[i].name, 0);
	audit_files_done(&files);
	(void)unlinkat(dirfd_, AUDIT_FILE, 0);
	(void)unlinkat(dirfd_, AUDIT_TORN_FILE, 0);
	(void)unlinkat(dirfd_, "elsewhere", 0);
	dirfd_ = fd_close(dirfd_);
	return rmdir(dir);
}

static struct audit *open_with(struct audit_options options)
{
	struct audit *a = NULL;

	options.struct_size = sizeof(options);
	options.dir = dir;
	assert_int_equal(audit_open(&options, &a, NULL), 0);
	return a;
}

static int append(struct audit *a, const char *body, struct audit_receipt *ret,
		  struct cordon_error *err)
{
	struct audit_event ev = {
		.type = AUDIT_EVENT_CALL,
		.call_id = "c1",
		.decision = "allow",
		.body = body,
		.body_len = strlen(body),
	};

	return audit_append(a, &ev, ret, err);
}

/* n records of ours behind the audit.open. */
static void write_log(size_t n)
{
	AUTO(audit_closep) struct audit *a = open_with((struct audit_options){0});
	char body[32];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(body, sizeof(body), "\"n\":%zu", i);
		assert_int_equal(append(a, body, NULL, NULL), 0);
	}
}

static struct audit_verify_result verify(const struct audit_head *want)
{
	struct audit_verify_result result = {0};
	struct cordon_error err = {0};

	if (audit_verify(dir, want, &result, &err) < 0)
		fail_msg("%s", err.message);
	return result;
}

static char *load(const char *name, size_t *ret_len)
{
	char *text = NULL;

	assert_int_equal(io_read_file_at(dirfd_, name, 1 << 26, &text, ret_len), 0);
	return text;
}

static void store(const char *name, const char *text, size_t len)
{
	assert_int_equal(io_write_file_at(dirfd_, name, text, len, 0600), 0);
}

static void test_append(void **state)
{
	AUTO(audit_closep)
	struct audit *a = open_with((struct audit_options){.exe = "/bin/cordon"});
	struct audit_verify_result result;
	struct audit_receipt receipt = {0};
	struct audit_head head = {0};
	struct stat st;

	(void)state;
	/* Opening touched nothing. */
	assert_int_equal(faccessat(dirfd_, AUDIT_FILE, F_OK, 0), -1);
	for (uint64_t i = 0; i < 50; i++) {
		assert_int_equal(append(a, "\"x\":{\"y\":[1,2]}", &receipt, NULL), 0);
		assert_int_equal(receipt.seq, i + 2);
	}
	assert_int_equal(fstatat(dirfd_, AUDIT_FILE, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	head.seq = receipt.seq;
	memcpy(head.hash, receipt.hash, sizeof(head.hash));
	result = verify(&head);
	assert_int_equal(result.damage, AUDIT_DAMAGE_NONE);
	assert_true(result.is_intact);
	assert_int_equal(result.records, 51);
	assert_string_equal(result.head.hash, receipt.hash);
}

static void test_sync(void **state)
{
	AUTO(audit_closep)
	struct audit *a = open_with(
		(struct audit_options){.flags = AUDIT_SYNC, .max_file_bytes = 2000, .kept = 2});

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_int_equal(append(a, "", NULL, NULL), 0);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_NONE);
}

static void test_options(void **state)
{
	const struct audit_options rows[] = {
		{.struct_size = 0},
		{.struct_size = sizeof(struct audit_options) + 8},
		{.struct_size = sizeof(struct audit_options), .flags = 1U << 5},
		{.struct_size = sizeof(struct audit_options), .kept = LIMIT_AUDIT_FILES},
		{.struct_size = sizeof(struct audit_options), .retention_ms = -1},
	};
	struct audit *a = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(audit_open(&rows[i], &a, NULL), CORDON_E_INVALID);
}

static void test_empty(void **state)
{
	struct audit_verify_result result = verify(NULL);

	(void)state;
	assert_true(result.is_intact);
	assert_int_equal(result.records, 0);
	assert_int_equal(audit_verify("/nonexistent/trail", NULL, &result, NULL), 0);
	assert_int_equal(result.records, 0);
}

struct body_row {
	const char *what;
	const char *body;
	int want;
};

static const struct body_row body_rows[] = {
	{"none", "", 0},
	{"UTF-8", "\"a\":\"h\xc3\xa9\"", 0},
	{"reserved name", "\"seq\":5", CORDON_E_INVALID},
	{"the chain's names", "\"prev_hash\":\"\"", CORDON_E_INVALID},
	{"own duplicate", "\"a\":1,\"a\":2", CORDON_E_INVALID},
	{"not JSON", "a:1", CORDON_E_INVALID},
	{"closes the object", "\"a\":1}", CORDON_E_INVALID},
	{"a second record", "\"a\":1}\n{\"b\":2", CORDON_E_INVALID},
	{"newline between members", "\"a\":1,\n\"b\":2", CORDON_E_INVALID},
	{"invalid UTF-8", "\"a\":\"\xff\"", CORDON_E_INVALID},
	{"raw control", "\"a\":\"\x01\"", CORDON_E_INVALID},
};

static void test_bodies(void **state)
{
	AUTO(audit_closep) struct audit *a = open_with((struct audit_options){0});
	struct audit_event own = {.type = AUDIT_EVENT_AUDIT_ROTATE};
	char *big = malloc(LIMIT_AUDIT_RECORD + 16);
	uint64_t good = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(body_rows); i++) {
		int r = append(a, body_rows[i].body, NULL, NULL);

		if (r != body_rows[i].want)
			fail_msg("%s: %d", body_rows[i].what, r);
		good += r == 0;
	}
	assert_int_equal(audit_append(a, &own, NULL, NULL), CORDON_E_INVALID);
	assert_non_null(big);
	memset(big, 'x', LIMIT_AUDIT_RECORD);
	memcpy(big, "\"a\":\"", 5);
	memcpy(big + LIMIT_AUDIT_RECORD - 1, "\"", 2);
	assert_int_equal(append(a, big, NULL, NULL), CORDON_E_LIMIT);
	memcpy(big + LIMIT_AUDIT_RECORD - 601, "\"", 2);
	assert_int_equal(append(a, big, NULL, NULL), 0);
	assert_int_equal(append(a, "", NULL, NULL), 0);
	free(big);
	assert_int_equal(verify(NULL).records, good + 2);
	assert_true(verify(NULL).is_intact);
}

/* A copy of the log's text that a row damages; grows in place. */
struct text {
	char *data;
	size_t len;
};

/* Start and length (newline included) of line n, from 1. */
static char *line_at(const struct text *t, size_t n, size_t *ret_len)
{
	char *p = t->data;

	for (size_t i = 1; i < n; i++)
		p = strchr(p, '\n') + 1;
	*ret_len = (size_t)(strchr(p, '\n') + 1 - p);
	return p;
}

static void insert(struct text *t, size_t at, const char *bytes, size_t len)
{
	char *data = realloc(t->data, t->len + len + 1);

	assert_non_null(data);
	memmove(data + at + len, data + at, t->len - at);
	memcpy(data + at, bytes, len);
	t->data = data;
	t->len += len;
	data[t->len] = '\0';
}

static void cut(struct text *t, size_t at, size_t len)
{
	memmove(t->data + at, t->data + at + len, t->len - at - len + 1);
	t->len -= len;
}

static void edit_byte(struct text *t)
{
	char *n = strstr(t->data, "\"n\":4");

	n[4] = '5';
}

static void edit_hash(struct text *t)
{
	size_t len = 0;
	char *p = line_at(t, 4, &len);

	p[len - 5] = p[len - 5] == '0' ? '1' : '0';
}

static void remove_line(struct text *t)
{
	size_t len = 0;
	char *p = line_at(t, 5, &len);

	cut(t, (size_t)(p - t->data), len);
}

static void swap_lines(struct text *t)
{
	size_t len = 0;
	char *p = line_at(t, 5, &len);
	char *copy = strndup(p, len);
	size_t at = (size_t)(p - t->data);

	cut(t, at, len);
	p = line_at(t, 5, &len);
	insert(t, (size_t)(p - t->data) + len, copy, strlen(copy));
	free(copy);
}

static void duplicate_line(struct text *t)
{
	size_t len = 0;
	char *p = line_at(t, 5, &len);
	char *copy = strndup(p, len);

	insert(t, (size_t)(p - t->data), copy, len);
	free(copy);
}

static void cut_tail_bytes(struct text *t)
{
	cut(t, t->len - 20, 20);
}

static void cut_head(struct text *t)
{
	size_t len = 0;

	(void)line_at(t, 1, &len);
	cut(t, 0, len);
	(void)line_at(t, 1, &len);
	cut(t, 0, len);
}

/* Appends a record with a right hash of its own. */
static void forge(struct text *t, uint64_t seq, const char *prev)
{
	struct buf out = BUF_INIT(4096), middle = BUF_INIT(4096);
	struct audit_event ev = {.type = AUDIT_EVENT_CALL};
	struct audit_head head = {.seq = seq - 1};

	memcpy(head.hash, prev, sizeof(head.hash));
	audit_line_middle(&middle, &ev, "0123456789abcdef", NULL);
	audit_line_seal(&out, "2026-01-02T03:04:05.678Z", &middle, &head);
	insert(t, t->len, out.data, out.len);
	buf_done(&out);
	buf_done(&middle);
}

static void forge_next(struct text *t)
{
	forge(t, 12, "1111111111111111111111111111111111111111111111111111111111111111");
}

static void forge_start(struct text *t)
{
	t->len = 0;
	forge(t, 1, "1111111111111111111111111111111111111111111111111111111111111111");
}

static void second_log(struct text *t)
{
	forge(t, 1, AUDIT_ZERO_HASH);
}

static void long_line(struct text *t)
{
	char *big = malloc(LIMIT_AUDIT_RECORD + 1);

	assert_non_null(big);
	memset(big, 'x', LIMIT_AUDIT_RECORD);
	big[LIMIT_AUDIT_RECORD] = '\n';
	insert(t, t->len, big, LIMIT_AUDIT_RECORD + 1);
	free(big);
}

static void endless_line(struct text *t)
{
	char *big = calloc(1, 2000000);

	assert_non_null(big);
	insert(t, t->len, big, 2000000);
	free(big);
}

static void bad_utf8(struct text *t)
{
	*strstr(t->data, "\"n\":4") = (char)0xff;
}

static void nul_byte(struct text *t)
{
	*strstr(t->data, "\"n\":4") = '\0';
}

static void empty_line(struct text *t)
{
	size_t len = 0;
	char *p = line_at(t, 7, &len);

	insert(t, (size_t)(p - t->data), "\n", 1);
}

static void carriage_return(struct text *t)
{
	size_t len = 0;
	char *p = line_at(t, 7, &len);

	insert(t, (size_t)(p - t->data) + len - 1, "\r", 1);
}

struct damage_row {
	const char *what;
	void (*damage)(struct text *t);
	enum audit_damage want;
	uint64_t line;
	int append; /* what the next writer says */
};

/* The log has audit.open and n = 0 to 9 in lines 2 to 11. */
static const struct damage_row damage_rows[] = {
	{"one byte edited", edit_byte, AUDIT_DAMAGE_EDITED, 6, 0},
	{"hash edited", edit_hash, AUDIT_DAMAGE_EDITED, 4, 0},
	{"line removed", remove_line, AUDIT_DAMAGE_REMOVED, 5, 0},
	{"lines swapped", swap_lines, AUDIT_DAMAGE_REORDERED, 5, 0},
	{"line doubled", duplicate_line, AUDIT_DAMAGE_REORDERED, 6, 0},
	{"tail cut", cut_tail_bytes, AUDIT_DAMAGE_TORN, 11, 0},
	{"head cut", cut_head, AUDIT_DAMAGE_HEAD_MISSING, 1, 0},
	{"forged with the right number", forge_next, AUDIT_DAMAGE_FORGED, 12, 0},
	{"forged start", forge_start, AUDIT_DAMAGE_FORGED, 1, 0},
	{"another log behind", second_log, AUDIT_DAMAGE_REORDERED, 12, 0},
	{"line too long", long_line, AUDIT_DAMAGE_MALFORMED, 12, CORDON_E_CORRUPT},
	{"line without end", endless_line, AUDIT_DAMAGE_MALFORMED, 12, CORDON_E_CORRUPT},
	{"invalid UTF-8", bad_utf8, AUDIT_DAMAGE_MALFORMED, 6, 0},
	{"NUL", nul_byte, AUDIT_DAMAGE_MALFORMED, 6, 0},
	{"empty line", empty_line, AUDIT_DAMAGE_MALFORMED, 7, 0},
	{"carriage return", carriage_return, AUDIT_DAMAGE_MALFORMED, 7, 0},
};

static void test_damage(void **state)
{
	struct text good = {0};

	(void)state;
	write_log(10);
	good.data = load(AUDIT_FILE, &good.len);
	for (size_t i = 0; i < ARRAY_LEN(damage_rows); i++) {
		const struct damage_row *row = &damage_rows[i];
		AUTO(audit_closep) struct audit *a = open_with((struct audit_options){0});
		struct audit_verify_result result;
		struct text t = {.data = malloc(good.len + 1), .len = good.len};
		int r;

		assert_non_null(t.data);
		memcpy(t.data, good.data, good.len + 1);
		row->damage(&t);
		store(AUDIT_FILE, t.data, t.len);
		result = verify(NULL);
		if (result.damage != row->want || result.line != row->line ||
		    result.is_intact != (row->want == AUDIT_DAMAGE_TORN) ||
		    strcmp(result.file, AUDIT_FILE) != 0)
			fail_msg("%s: %s in line %llu of '%s'", row->what,
				 audit_damage_word(result.damage), (unsigned long long)result.line,
				 result.file);
		r = append(a, "", NULL, NULL);
		if (r != row->append)
			fail_msg("%s: append %d", row->what, r);
		free(t.data);
	}
	/* The control: untouched it is whole. */
	store(AUDIT_FILE, good.data, good.len);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_NONE);
	assert_int_equal(verify(NULL).records, 11);
	free(good.data);
}

/* Complete records missing at the end show only against a head noted elsewhere. */
static void test_want_head(void **state)
{
	struct audit_head head;
	struct text t = {0};
	size_t len = 0;
	char *p;

	(void)state;
	write_log(10);
	head = verify(NULL).head;
	t.data = load(AUDIT_FILE, &t.len);
	p = line_at(&t, 11, &len);
	cut(&t, (size_t)(p - t.data), len);
	store(AUDIT_FILE, t.data, t.len);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_NONE);
	assert_int_equal(verify(&head).damage, AUDIT_DAMAGE_TAIL_MISSING);
	assert_false(verify(&head).is_intact);
	/* A head that is inside of the log is enough: it grew since. */
	head = verify(NULL).head;
	write_log(3);
	assert_int_equal(verify(&head).damage, AUDIT_DAMAGE_NONE);
	head.hash[0] = head.hash[0] == '0' ? '1' : '0';
	assert_int_equal(verify(&head).damage, AUDIT_DAMAGE_TAIL_MISSING);
	free(t.data);
}

struct last_row {
	const char *what;
	const char *line; /* NULL: the right one with an edited byte */
};

static const struct last_row last_rows[] = {
	{"edited", NULL},
	{"not JSON", "hello\n"},
	{"JSON, but no record", "{\"a\":1}\n"},
	{"empty", "\n"},
};

/* A complete last line that no writer wrote is not repaired. */
static void test_bad_last_line(void **state)
{
	struct text good = {0};

	(void)state;
	write_log(3);
	good.data = load(AUDIT_FILE, &good.len);
	for (size_t i = 0; i < ARRAY_LEN(last_rows); i++) {
		AUTO(audit_closep) struct audit *a = open_with((struct audit_options){0});
		struct text t = {.data = strdup(good.data), .len = good.len};
		struct cordon_error err = {0};
		char *now;
		size_t len = 0;

		if (last_rows[i].line)
			insert(&t, t.len, last_rows[i].line, strlen(last_rows[i].line));
		else
			*strstr(t.data, "\"n\":2") = '\'';
		store(AUDIT_FILE, t.data, t.len);
		assert_int_equal(append(a, "", NULL, &err), CORDON_E_CORRUPT);
		assert_non_null(strstr(err.hint, "cordon audit verify"));
		assert_non_null(strstr(err.hint, "aside"));
		now = load(AUDIT_FILE, &len);
		assert_int_equal(len, t.len);
		assert_memory_equal(now, t.data, len);
		free(now);
		free(t.data);
	}
	free(good.data);
}

static void test_repair(void **state)
{
	AUTO(audit_closep) struct audit *a = open_with((struct audit_options){0});
	struct text t = {0};
	char *torn, hash[SHA256_HEX_LEN], want[128];
	size_t whole, len = 0;

	(void)state;
	write_log(5);
	t.data = load(AUDIT_FILE, &t.len);
	whole = t.len;
	/* Every length of a torn record, the whole of it without its newline included; so also tails
	 * that are shorter and longer than the records that replace them. */
	for (size_t n = 1; n < 1200; n += n < 40 ? 1 : 97) {
		struct audit_verify_result result;
		char part[1200];

		memset(part, 'z', sizeof(part));
		memcpy(part, t.data, n < whole / 8 ? n : whole / 8);
		(void)unlinkat(dirfd_, AUDIT_TORN_FILE, 0);
		insert(&t, whole, part, n);
		store(AUDIT_FILE, t.data, t.len);
		cut(&t, whole, n);
		assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_TORN);
		assert_int_equal(verify(NULL).torn_bytes, n);
		assert_int_equal(append(a, "", NULL, NULL), 0);
		result = verify(NULL);
		assert_int_equal(result.damage, AUDIT_DAMAGE_NONE);
		assert_int_equal(result.records, 8);
		assert_int_equal(result.repairs, 1);
		torn = load(AUDIT_TORN_FILE, &len);
		sha256_hex(part, n, hash);
		(void)snprintf(want, sizeof(want),
			       "\"offset\":%zu,\"length\":%zu,\"sha256\":\"%s\"}\n", whole, n,
			       hash);
		assert_non_null(strstr(torn, want));
		assert_memory_equal(torn + len - 1 - n, part, n);
		free(torn);
	}
	free(t.data);
}

/* The very first write was torn, then the second repair too. */
static void test_repair_first(void **state)
{
	AUTO(audit_closep) struct audit *a = open_with((struct audit_options){0});
	struct audit_verify_result result;

	(void)state;
	store(AUDIT_FILE, "{\"ts\":", 6);
	store(AUDIT_TORN_FILE, "unfinished", 10);
	assert_int_equal(append(a, "", NULL, NULL), 0);
	result = verify(NULL);
	assert_int_equal(result.damage, AUDIT_DAMAGE_NONE);
	assert_int_equal(result.records, 3);
	assert_int_equal(result.first_seq, 1);
	assert_int_equal(result.repairs, 1);
}

static size_t count_files(void)
{
	struct audit_files files = {0};
	size_t n;

	assert_int_equal(audit_store_list(dirfd_, &files, NULL), 0);
	n = files.n;
	audit_files_done(&files);
	return n;
}

static void test_rotation(void **state)
{
	AUTO(audit_closep)
	struct audit *a = open_with((struct audit_options){.max_file_bytes = 2000, .kept = 100});
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_filter rotates = {.type = "audit.rotate"};
	struct audit_verify_result result;
	struct audit_line line;
	struct audit_files files = {0};
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 60; i++)
		assert_int_equal(append(a, "\"pad\":\"xxxxxxxxxxxxxxxxxxxx\"", NULL, NULL), 0);
	result = verify(NULL);
	assert_int_equal(result.damage, AUDIT_DAMAGE_NONE);
	assert_true(result.files > 10);
	assert_int_equal(count_files() + 1, result.files);
	assert_int_equal(result.head.seq, result.records);
	/* Each rotation names the file that is there and its head. */
	assert_int_equal(audit_store_list(dirfd_, &files, NULL), 0);
	assert_int_equal(audit_reader_open(dir, NULL, &reader, NULL), 0);
	while (audit_query_next(reader, &rotates, &line, NULL) > 0) {
		int64_t last = 0;

		assert_string_equal(audit_line_str(&line, "file"), files.v[n].name);
		assert_string_equal(audit_line_str(&line, "head"), line.prev_hash);
		assert_true(audit_line_int(&line, "last_seq", &last));
		assert_int_equal((uint64_t)last + 1, line.head.seq);
		audit_line_done(&line);
		n++;
	}
	assert_int_equal(n, files.n);
	/* Removing or renaming one is seen. */
	assert_int_equal(unlinkat(dirfd_, files.v[3].name, 0), 0);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_REMOVED);
	assert_int_equal(unlinkat(dirfd_, files.v[0].name, 0), 0);
	assert_int_equal(unlinkat(dirfd_, files.v[1].name, 0), 0);
	assert_int_equal(unlinkat(dirfd_, files.v[2].name, 0), 0);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_HEAD_MISSING);
	assert_int_equal(renameat(dirfd_, files.v[4].name, dirfd_, "audit-000000000009.ndjson"), 0);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_FILE_NAME);
	audit_files_done(&files);
}

/* Killed between the rename and the new file, and between creating and writing it. */
static void test_half_rotation(void **state)
{
	struct audit_verify_result result;

	(void)state;
	write_log(4);
	assert_int_equal(renameat(dirfd_, AUDIT_FILE, dirfd_, "audit-000000000001.ndjson"), 0);
	assert_int_equal(verify(NULL).records, 5);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_NONE);
	write_log(1);
	result = verify(NULL);
	assert_int_equal(result.damage, AUDIT_DAMAGE_NONE);
	assert_int_equal(result.records, 7);
	assert_int_equal(renameat(dirfd_, AUDIT_FILE, dirfd_, "audit-000000000006.ndjson"), 0);
	store(AUDIT_FILE, "", 0);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_NONE);
	write_log(1);
	result = verify(NULL);
	assert_int_equal(result.damage, AUDIT_DAMAGE_NONE);
	assert_int_equal(result.records, 9);
	assert_int_equal(result.files, 3);
	/* A torn tail in a rotated file is no writer's work. */
	assert_int_equal(unlinkat(dirfd_, AUDIT_FILE, 0), 0);
	{
		size_t len = 0;
		char *text = load("audit-000000000006.ndjson", &len);
		struct cordon_error err = {0};
		AUTO(audit_closep) struct audit *a = open_with((struct audit_options){0});

		store("audit-000000000006.ndjson", text, len - 4);
		assert_int_equal(append(a, "", NULL, &err), CORDON_E_CORRUPT);
		assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_MALFORMED);
		free(text);
	}
}

static void test_expiry(void **state)
{
	AUTO(audit_closep)
	struct audit *a = open_with((struct audit_options){.max_file_bytes = 2000, .kept = 3});
	struct audit_verify_result result;

	(void)state;
	for (int i = 0; i < 80; i++) {
		assert_int_equal(append(a, "\"pad\":\"xxxxxxxxxxxxxxxxxxxx\"", NULL, NULL), 0);
		result = verify(NULL);
		if (result.damage != AUDIT_DAMAGE_NONE)
			fail_msg("after %d: %s", i, audit_damage_word(result.damage));
	}
	assert_int_equal(count_files(), 3);
	assert_true(result.first_seq > 1);
	assert_true(result.expired > 0);
}

static void test_expiry_by_age(void **state)
{
	const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	AUTO(audit_closep)
	struct audit *a = open_with((struct audit_options){
		.max_file_bytes = 2000, .kept = 100, .retention_ms = 3600000});
	struct audit_files files = {0};

	(void)state;
	for (int i = 0; i < 30; i++)
		assert_int_equal(append(a, "\"pad\":\"xxxxxxxxxxxxxxxxxxxx\"", NULL, NULL), 0);
	assert_int_equal(audit_store_list(dirfd_, &files, NULL), 0);
	assert_true(files.n > 4);
	assert_int_equal(audit_expire(a, NULL), 0);
	assert_int_equal(utimensat(dirfd_, files.v[0].name, old, 0), 0);
	assert_int_equal(utimensat(dirfd_, files.v[1].name, old, 0), 0);
	assert_int_equal(audit_expire(a, NULL), 2);
	assert_int_equal(count_files(), files.n - 2);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_NONE);
	assert_int_equal(verify(NULL).expired, 2);
	audit_files_done(&files);
}

/* A write that fails half way leaves the file as it was. */
static void test_full(void **state)
{
	AUTO(audit_closep) struct audit *a = open_with((struct audit_options){0});
	struct rlimit old, small;
	struct cordon_error err = {0};
	size_t before = 0, after = 0;
	char *text;
	void (*handler)(int);
	int r;

	(void)state;
	write_log(3);
	free(load(AUDIT_FILE, &before));
	handler = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = before + 50;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	r = append(a, "", NULL, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	(void)signal(SIGXFSZ, handler);
	assert_int_equal(r, CORDON_E_SYSTEM);
	assert_int_equal(err.sys_errno, EFBIG);
	text = load(AUDIT_FILE, &after);
	assert_int_equal(before, after);
	free(text);
	assert_int_equal(append(a, "", NULL, NULL), 0);
	assert_int_equal(verify(NULL).damage, AUDIT_DAMAGE_NONE);
	assert_int_equal(verify(NULL).records, 5);
	assert_int_equal(verify(NULL).repairs, 0);
}

static void make_symlink(void)
{
	store("elsewhere", "", 0);
	assert_int_equal(symlinkat("elsewhere", dirfd_, AUDIT_FILE), 0);
}

static void make_fifo(void)
{
	assert_int_equal(mkfifoat(dirfd_, AUDIT_FILE, 0600), 0);
}

static void make_writable(void)
{
	store(AUDIT_FILE, "", 0);
	assert_int_equal(fchmodat(dirfd_, AUDIT_FILE, 0666, 0), 0);
}

static void make_foreign(void)
{
	store(AUDIT_FILE, "", 0);
	if (geteuid() == 0)
		assert_int_equal(fchownat(dirfd_, AUDIT_FILE, 65534, 65534, 0), 0);
	else
		make_writable(); /* another owner cannot be had */
}

struct file_row {
	const char *what;
	void (*make)(void);
};

static const struct file_row file_rows[] = {
	{"symbolic link", make_symlink},
	{"FIFO", make_fifo},
	{"writable by all", make_writable},
	{"of another user", make_foreign},
};

static void test_strange_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(file_rows); i++) {
		AUTO(audit_closep) struct audit *a = open_with((struct audit_options){0});
		struct audit_verify_result result;

		file_rows[i].make();
		if (append(a, "", NULL, NULL) != CORDON_E_CORRUPT)
			fail_msg("append: %s", file_rows[i].what);
		if (audit_verify(dir, NULL, &result, NULL) != CORDON_E_CORRUPT)
			fail_msg("verify: %s", file_rows[i].what);
		assert_int_equal(unlinkat(dirfd_, AUDIT_FILE, 0), 0);
	}
}

static void test_busy(void **state)
{
	AUTO(audit_closep) struct audit *a = open_with((struct audit_options){.lock_ms = 50});
	struct cordon_error err = {0};
	AUTO_CLOSE int fd = -1;

	(void)state;
	write_log(1);
	fd = openat(dirfd_, AUDIT_FILE, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(append(a, "", NULL, &err), CORDON_E_BUSY);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	assert_int_equal(append(a, "", NULL, &err), 0);
}

static int count_visit(void *userdata, const struct audit_line *line)
{
	(void)line;
	++*(int *)userdata;
	return 0;
}

static int walk(struct audit_position *position, const struct audit_filter *filter)
{
	struct cordon_error err = {0};
	int n = 0;

	if (audit_walk(dir, position, filter, count_visit, &n, &err) < 0)
		fail_msg("%s", err.message);
	return n;
}

static void test_query(void **state)
{
	AUTO(audit_closep)
	struct audit *a = open_with((struct audit_options){.max_file_bytes = 2500, .kept = 100});
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_event refused = {
		.type = AUDIT_EVENT_REFUSED,
		.call_id = "c2",
		.session_id = "s",
		.decision = "block",
		.body = "\"verdict\":{\"verdict\":\"MALICIOUS\",\"findings\":[]}",
	};
	struct audit_position position = {0}, from_start;
	struct audit_line line;
	int64_t n = 0, at = 0;

	(void)state;
	refused.body_len = strlen(refused.body);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(append(a, "\"verdict\":\"SAFE\"", NULL, NULL), 0);
		assert_int_equal(audit_append(a, &refused, NULL, NULL), 0);
	}
	assert_int_equal(walk(&position, NULL), (int)verify(NULL).records);
	/* Following across rotations loses and repeats nothing. */
	for (int i = 0; i < 15; i++) {
		int want = 1 + i % 9;

		for (int k = 0; k < want; k++)
			assert_int_equal(append(a, "\"verdict\":\"safe\"", NULL, NULL), 0);
		assert_int_equal(audit_wait(dir, &position, clock_deadline(5000), NULL), 1);
		assert_int_equal(walk(&position, &(struct audit_filter){.type = "call"}), want);
		n += want;
	}
	assert_int_equal(audit_wait(dir, &position, clock_deadline(10), NULL), 0);
	from_start = (struct audit_position){0};
	assert_int_equal(walk(&from_start, &(struct audit_filter){.verdict = "safe"}), n + 3);
	from_start = (struct audit_position){0};
	assert_int_equal(walk(&from_start, &(struct audit_filter){.verdict = "malicious"}), 3);
	from_start = (struct audit_position){0};
	assert_int_equal(walk(&from_start, &(struct audit_filter){.call_id = "c2"}), 3);
	from_start = (struct audit_position){0};
	assert_int_equal(walk(&from_start, &(struct audit_filter){.session_id = "x"}), 0);
	from_start = (struct audit_position){0};
	assert_int_equal(walk(&from_start, &(struct audit_filter){.decision = "block"}), 3);
	from_start = (struct audit_position){0};
	assert_true(walk(&from_start, &(struct audit_filter){.type = "audit."}) > 3);
	from_start = (struct audit_position){0};
	assert_int_equal(
		walk(&from_start, &(struct audit_filter){.since_ms = clock_wall_ms() + 60000}), 0);
	/* The last lines, over the border of files. */
	assert_int_equal(audit_reader_open(dir, NULL, &reader, NULL), 0);
	for (uint64_t want = 1; want < 40; want += 3) {
		assert_int_equal(audit_reader_seek_last(reader, want, NULL), 0);
		for (at = 0; audit_reader_next(reader, &line, NULL) > 0; at++)
			audit_line_done(&line);
		assert_int_equal(at, want);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_append), T(test_sync),          T(test_options),   T(test_empty),
		T(test_bodies), T(test_damage),        T(test_want_head), T(test_bad_last_line),
		T(test_repair), T(test_repair_first),  T(test_rotation),  T(test_half_rotation),
		T(test_expiry), T(test_expiry_by_age), T(test_full),      T(test_strange_files),
		T(test_busy),   T(test_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
