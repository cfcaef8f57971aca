/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Malformed manifests: the rows of tests/data/policy/malformed.txt through policy_parse(), each with
 * the code, the place, and words of the message and of the hint.  The form of the file is told at its
 * top.  Whatever the row, the message is one line of printable text that starts with the place.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "policy_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define TABLE "tests/data/policy/malformed.txt"

enum { ROWS_MIN = 200, ROW_MS_MAX = 2000, PARTS = 5 };

struct bad_row {
	char *part[PARTS]; /* name, code, place, message, hint */
	struct buf text;
};

/* The value of a hexadecimal digit, or -1. */
static int row_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Appends what the notation `\xNN` and `@N:unit@` stands for. */
static void row_expand(struct buf *b, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		size_t digits = s[0] == '@' ? strspn(s + 1, "0123456789") : 0;

		if (end - s >= 4 && s[0] == '\\' && s[1] == 'x' && row_digit(s[2]) >= 0 &&
		    row_digit(s[3]) >= 0) {
			buf_char(b, (char)(row_digit(s[2]) << 4 | row_digit(s[3])));
			s += 4;
		} else if (digits && s[1 + digits] == ':') {
			const char *unit = s + digits + 2;
			const char *close = memchr(unit, '@', (size_t)(end - unit));
			size_t count = 0;

			assert_non_null(close);
			for (size_t i = 1; i <= digits; i++)
				count = count * 10 + (size_t)(s[i] - '0');
			while (count-- > 0)
				buf_add(b, unit, (size_t)(close - unit));
			s = close + 1;
		} else {
			buf_char(b, *s++);
		}
	}
}

/* Cuts "a | b | c" in place. */
static size_t row_split(char *line, char *part[static PARTS])
{
	size_t n = 0;

	while (n < PARTS) {
		char *bar = strstr(line, " | ");

		part[n++] = line;
		if (!bar || n == PARTS)
			break;
		*bar = '\0';
		line = bar + 3;
	}
	return n;
}

static bool text_is_plain(const char *s)
{
	if (utf8_check(s, strlen(s)) != strlen(s))
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

/* What is wrong with how the row was refused; empty when nothing is. */
static void row_judge(const struct bad_row *row, int got, const struct cordon_error *err,
		      struct buf *b)
{
	char place[64];

	(void)snprintf(place, sizeof(place), "m.yaml:%s: ", row->part[2]);
	if (got >= 0) {
		buf_str(b, "accepted");
		return;
	}
	if (got != err->code || strcmp(cordon_error_name(got) + strlen("CORDON_E_"), row->part[1]))
		buf_printf(b, "code %s; ", cordon_error_name(got));
	if (!str_starts(err->message, place))
		buf_str(b, "place; ");
	if (!strstr(err->message, row->part[3]))
		buf_str(b, "message; ");
	if (!strstr(err->hint, row->part[4]))
		buf_str(b, "hint; ");
	if (!text_is_plain(err->message) || !text_is_plain(err->hint))
		buf_str(b, "not one plain line; ");
}

static int row_parse(const struct bad_row *row, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *p = policy_new();

	assert_non_null(p);
	return policy_parse(&kit_context, buf_cstr(&row->text), row->text.len, "m.yaml", LAYER_FILE,
			    /* follow= */ false, p, /* ret_kinds= */ NULL, err);
}

static bool row_run(const struct bad_row *row)
{
	struct cordon_error err = {0};
	struct buf wrong = BUF_INIT(4096);
	int64_t start = clock_ms();
	int got = row_parse(row, &err);
	bool good;

	row_judge(row, got, &err, &wrong);
	if (clock_ms() - start > ROW_MS_MAX)
		buf_str(&wrong, "slow; ");
	good = wrong.len == 0;
	if (!good)
		print_error("%s: %s\n  got  %s\n  hint %s\n", row->part[0], buf_cstr(&wrong),
			    err.message, err.hint);
	buf_done(&wrong);
	return good;
}

/* Calls f for every row of the table; gives the number of rows. */
static size_t table_each(bool (*f)(const struct bad_row *), size_t *ret_failed)
{
	AUTO_FREE char *table = kit_read(kit_source(TABLE), NULL);
	size_t rows = 0;
	char *at;

	assert_non_null(table);
	at = strstr(table, "\n=== ");
	while (at) {
		struct bad_row row = {.text = BUF_INIT(4 << 20)};
		char *head = at + strlen("\n=== ");
		char *body = strchr(head, '\n');
		char *next;

		assert_non_null(body);
		*body++ = '\0';
		/* An empty body leaves the next header at once. */
		next = str_starts(body, "=== ") ? body - 1 : strstr(body, "\n=== ");
		if (row_split(head, row.part) != PARTS)
			fail_msg("row '%s' has not %d parts", head, PARTS);
		row_expand(&row.text, body, next ? (size_t)(next + 1 - body) : strlen(body));
		assert_int_equal(buf_error(&row.text), 0);
		rows++;
		*ret_failed += !f(&row);
		buf_done(&row.text);
		at = next;
	}
	return rows;
}

static void test_table(void **state)
{
	size_t failed = 0;
	size_t rows = table_each(row_run, &failed);

	(void)state;
	print_message("%zu rows\n", rows);
	assert_true(rows >= ROWS_MIN);
	assert_int_equal(failed, 0);
}

/* No refusal needs an error object. */
static bool row_quiet(const struct bad_row *row)
{
	struct cordon_error err = {0};
	int quiet = row_parse(row, NULL), loud = row_parse(row, &err);

	if (quiet == loud && err.message[0])
		return true;
	print_error("%s: %d without, %d with an error object\n", row->part[0], quiet, loud);
	return false;
}

static void test_without_error_object(void **state)
{
	size_t failed = 0;

	(void)state;
	assert_true(table_each(row_quiet, &failed) >= ROWS_MIN);
	assert_int_equal(failed, 0);
}

struct file_row {
	const char *what;
	int (*make)(const char *path);
	int code;
	const char *message;
};

static int make_huge(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char block[4096];
	int r = fd < 0 ? -1 : 0;

	memset(block, '#', sizeof(block));
	for (size_t i = 0; r == 0 && i < 100 * 1024 * 1024 / sizeof(block); i++)
		r = write(fd, block, sizeof(block)) == (ssize_t)sizeof(block) ? 0 : -1;
	if (fd >= 0)
		close(fd);
	return r;
}

static int make_sparse(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 ? -1 : ftruncate(fd, (off_t)1 << 40);

	if (fd >= 0)
		close(fd);
	return r;
}

static int make_fifo(const char *path)
{
	return mkfifo(path, 0600);
}

static int make_directory(const char *path)
{
	return mkdir(path, 0700);
}

static int make_zero(const char *path)
{
	return symlink("/dev/zero", path);
}

static int make_dangling(const char *path)
{
	return symlink("nowhere", path);
}

static int make_loop(const char *path)
{
	return symlink(path, path);
}

static int make_nothing(const char *path)
{
	(void)path;
	return 0;
}

static const struct file_row file_rows[] = {
	{"100 MB", make_huge, CORDON_E_LIMIT, ":1:1: larger than"},
	{"a terabyte of nothing", make_sparse, CORDON_E_LIMIT, ":1:1: larger than"},
	{"a FIFO", make_fifo, CORDON_E_POLICY, ":1:1: not a regular file"},
	{"a directory", make_directory, CORDON_E_POLICY, ":1:1: not a regular file"},
	{"/dev/zero", make_zero, CORDON_E_POLICY, ":1:1: not a regular file"},
	{"a dangling link", make_dangling, CORDON_E_NOT_FOUND, "No such file"},
	{"a link to itself", make_loop, CORDON_E_SYSTEM, "symbolic links"},
	{"nothing there", make_nothing, CORDON_E_NOT_FOUND, "No such file"},
};

static long peak_kb(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static void test_files(void **state)
{
	const char *tmp = secure_getenv("TMPDIR");
	char dir[256];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s/malformed-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < ARRAY_LEN(file_rows); i++) {
		const struct file_row *row = &file_rows[i];
		AUTO(policy_freep) struct policy *p = policy_new();
		struct cordon_error err = {0};
		char path[300];
		long before;
		int64_t start;
		int got;

		(void)snprintf(path, sizeof(path), "%s/p.yaml", dir);
		assert_int_equal(row->make(path), 0);
		before = peak_kb();
		start = clock_ms();
		got = policy_parse_file(&kit_context, path, LAYER_FILE, p, NULL, &err);
		if (got != row->code || !strstr(err.message, row->message) ||
		    !strstr(err.message, path) || !text_is_plain(err.message))
			fail_msg("%s: %s %s", row->what, cordon_error_name(got), err.message);
		if (clock_ms() - start > 100)
			fail_msg("%s: slow", row->what);
		if (peak_kb() - before > 8 * LIMIT_MANIFEST_BYTES / 1024)
			fail_msg("%s: %ld kB more", row->what, peak_kb() - before);
		if (row->make == make_directory)
			assert_int_equal(rmdir(path), 0);
		else
			(void)unlink(path); /* of nothing, there is nothing */
	}
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_without_error_object),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
