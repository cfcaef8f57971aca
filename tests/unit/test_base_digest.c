/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against FIPS 180-4 and sha256sum; UTF-8 against every boundary of RFC 3629. */
#include "base/fd.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_vectors(void **state)
{
	static const struct {
		const char *in;
		const char *want;
	} rows[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
		 "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		 "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char hex[SHA256_HEX_LEN];

		sha256_hex(rows[i].in, strlen(rows[i].in), hex);
		assert_string_equal(hex, rows[i].want);
	}
}

/* A million times 'a', in pieces of every size that meets a block's edges. */
static void test_million(void **state)
{
	static const size_t pieces[] = {1, 3, 55, 56, 63, 64, 65, 127, 1000, 1000000};
	static char data[1000000];

	(void)state;
	memset(data, 'a', sizeof(data));
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		uint8_t digest[SHA256_LEN];
		char hex[SHA256_HEX_LEN];
		struct sha256 s;

		sha256_init(&s);
		for (size_t at = 0; at < sizeof(data); at += pieces[i]) {
			size_t left = sizeof(data) - at;

			sha256_add(&s, data + at, left < pieces[i] ? left : pieces[i]);
		}
		sha256_add(&s, NULL, 0);
		sha256_finish(&s, digest);
		sha256_to_hex(digest, hex);
		assert_string_equal(
			hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	}
}

/* Lengths 0 to 200 in files that sha256sum reads, all in one call. */
static void test_sha256sum(void **state)
{
	enum { LENGTHS = 201 };
	static char names[LENGTHS][8], data[LENGTHS];
	char dir[] = "/tmp/cordon-sha-XXXXXX";
	char *argv[LENGTHS + 3];
	AUTO_FREE char *out = NULL;
	AUTO_CLOSE int dir_fd = -1;
	int p[2], status = -1;
	const char *line;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir_fd >= 0);
	argv[0] = (char[]){"sha256sum"};
	argv[1] = (char[]){"--"};
	for (size_t i = 0; i < LENGTHS; i++) {
		data[i] = (char)(i * 7 + 1);
		(void)snprintf(names[i], sizeof(names[i]), "%03zu", i);
		argv[i + 2] = names[i];
		assert_int_equal(io_write_file_at(dir_fd, names[i], data, i, 0600), 0);
	}
	argv[LENGTHS + 2] = NULL;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (fchdir(dir_fd) < 0 || dup2(p[1], 1) < 0)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	(void)fd_close(p[1]);
	assert_int_equal(io_read_all(p[0], 65536, INT64_MAX, &out, NULL), 0);
	(void)fd_close(p[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (size_t i = 0; i < LENGTHS; i++)
		(void)unlinkat(dir_fd, names[i], 0);
	(void)rmdir(dir);
	assert_int_equal(status, 0);
	line = out;
	for (size_t i = 0; i < LENGTHS; i++) {
		char hex[SHA256_HEX_LEN];

		sha256_hex(data, i, hex);
		if (strncmp(line, hex, SHA256_HEX_LEN - 1) != 0)
			fail_msg("length %zu: %s", i, hex);
		line = strchr(line, '\n');
		assert_non_null(line);
		line++;
	}
}

static void test_utf8_rows(void **state)
{
	static const struct {
		const char *what, *in;
		size_t len, want; /* length of the first character, 0 when not valid */
		uint32_t code;
	} rows[] = {
		{"nothing", "", 0, 0, 0},
		{"NUL", "\0", 1, 1, 0},
		{"ASCII", "a", 1, 1, 'a'},
		{"last of one byte", "\x7f", 1, 1, 0x7f},
		{"first of two", "\xc2\x80", 2, 2, 0x80},
		{"last of two", "\xdf\xbf", 2, 2, 0x7ff},
		{"first of three", "\xe0\xa0\x80", 3, 3, 0x800},
		{"last before surrogates", "\xed\x9f\xbf", 3, 3, 0xd7ff},
		{"first after surrogates", "\xee\x80\x80", 3, 3, 0xe000},
		{"last of three", "\xef\xbf\xbf", 3, 3, 0xffff},
		{"first of four", "\xf0\x90\x80\x80", 4, 4, 0x10000},
		{"last of all", "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff},
		{"beyond", "\xf4\x90\x80\x80", 4, 0, 0},
		{"five bytes", "\xf8\x88\x80\x80\x80", 5, 0, 0},
		{"overlong 2", "\xc0\x80", 2, 0, 0},
		{"overlong 2, high", "\xc1\xbf", 2, 0, 0},
		{"overlong 3", "\xe0\x9f\xbf", 3, 0, 0},
		{"overlong 4", "\xf0\x8f\xbf\xbf", 4, 0, 0},
		{"first surrogate", "\xed\xa0\x80", 3, 0, 0},
		{"last surrogate", "\xed\xbf\xbf", 3, 0, 0},
		{"continuation alone", "\x80", 1, 0, 0},
		{"cut 2", "\xc3", 1, 0, 0},
		{"cut 3", "\xe2\x82", 2, 0, 0},
		{"cut 4", "\xf0\x9f\x98", 3, 0, 0},
		{"bad second", "\xe2\x28\xa1", 3, 0, 0},
		{"bad last", "\xf0\x9f\x98\x28", 4, 0, 0},
		{"FE", "\xfe", 1, 0, 0},
		{"FF", "\xff", 1, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t code = 0;
		size_t n = utf8_decode(rows[i].in, rows[i].len, &code);

		if (n != rows[i].want || code != rows[i].code)
			fail_msg("%s: %zu U+%04X", rows[i].what, n, (unsigned)code);
		if (rows[i].len > 0 && utf8_is_valid(rows[i].in, rows[i].len) != (n > 0))
			fail_msg("%s: validity", rows[i].what);
	}
	assert_int_equal(utf8_check("ab\xff", 3), 2);
	assert_int_equal(utf8_check("\xc3\xa9\xc3", 3), 2);
	assert_true(utf8_is_valid("", 0));
}

/* Every code point there is, encoded here by arithmetic, comes back. */
static void test_utf8_all(void **state)
{
	(void)state;
	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		unsigned char s[4];
		uint32_t got = 0;
		size_t n;

		if (c < 0x80) {
			n = 1;
			s[0] = (unsigned char)c;
		} else {
			n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
			for (size_t i = n - 1; i > 0; i--)
				s[i] = (unsigned char)(0x80 | ((c >> (6 * (n - 1 - i))) & 0x3f));
			s[0] = (unsigned char)((0xf00u >> n & 0xff) | c >> (6 * (n - 1)));
		}
		if (c >= 0xd800 && c <= 0xdfff)
			assert_int_equal(utf8_decode((const char *)s, n, &got), 0);
		else if (utf8_decode((const char *)s, n, &got) != n || got != c)
			fail_msg("U+%04X", (unsigned)c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),   cmocka_unit_test(test_million),
		cmocka_unit_test(test_sha256sum), cmocka_unit_test(test_utf8_rows),
		cmocka_unit_test(test_utf8_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
