/* SPDX-License-Identifier: Apache-2.0 */
/* What is read out of a command's messages, and how they are collected from a stream. */
#include "run/message.h"

#include "base/limits.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct row {
	const char *line;
	const char *want; /* "missing read /x", or NULL: nothing */
};

static const char *const causes[] = {"none", "denied", "readonly", "missing", "exists"};
static const char *const wants[] = {"read", "look", "write", "make", "exec", "either"};

static const struct row rows[] = {
	{"cat: /x: Permission denied", "denied either /x"},
	{"cat: /with blank/x y: Permission denied", "denied either /with blank/x y"},
	{"bash: line 1: /etc/foo: Permission denied", "denied either /etc/foo"},
	{"touch: cannot touch '/etc/x': Read-only file system", "readonly write /etc/x"},
	{"rm: cannot remove '.envrc': Value too large for defined data type",
	 "readonly write .envrc"},
	{"OSError: [Errno 75] Value too large for defined data type: '.envrc'",
	 "readonly write .envrc"},
	{"mkdir: cannot create directory \xe2\x80\x98/foo\xe2\x80\x99: Permission denied",
	 "denied write /foo"},
	{"sh: 1: cannot create /srv/n: Permission denied", "denied write /srv/n"},
	{"sh: 1: cannot create .mcp.json: Permission denied", "denied write .mcp.json"},
	{"sh: 1: cannot create /srv/n/f: Directory nonexistent", "missing write /srv/n/f"},
	{"mkdir: cannot create directory \xe2\x80\x98.claude\xe2\x80\x99: File exists",
	 "exists write .claude"},
	{"FileExistsError: [Errno 17] File exists: '.claude'", "exists write .claude"},
	{"OSError: [Errno 24] Too many open files: '/x'", "limit Too many open files"},
	{"sh: 0: Cannot fork", "limit Cannot fork"},
	{"bash: fork: retry: Resource temporarily unavailable",
	 "limit fork: retry: Resource temporarily unavailable"},
	{"cat: /dev/tty: Resource temporarily unavailable", NULL},
	{"cat: /x: Too many open files in system", "limit Too many open files"},
	{"PermissionError: [Errno 13] Permission denied: '/root/x'", "denied either /root/x"},
	{"FileNotFoundError: [Errno 2] No such file or directory: '/a/b'", "missing either /a/b"},
	{"OSError: [Errno 30] Read-only file system: '/usr/x'", "readonly write /usr/x"},
	{"Error: EACCES: permission denied, open '/root/x'", "denied either /root/x"},
	{"Error: ENOENT: no such file or directory, mkdir '/q'", "missing either /q"},
	{"open /root/x: permission denied", "denied either /root/x"},
	{"a.c:1:10: fatal error: /x/y.h: No such file or directory", "missing either /x/y.h"},
	{"java.io.FileNotFoundException: /root/x (Permission denied)", "denied either /root/x"},
	{"cat: notes.txt: No such file or directory", "missing either notes.txt"},
	{"chown: changing ownership of 'f': Operation not permitted", "denied either f"},
	{"curl: (6) Could not resolve host: example.org", "host example.org"},
	{"fatal: unable to access 'https://e.org/': Could not resolve host: e.org", "host e.org"},
	{"ssh: Could not resolve hostname git.example: Temporary failure in name resolution",
	 "host git.example"},
	{"ping: example.org: Temporary failure in name resolution", "host example.org"},
	{"ping: example.org: Name or service not known", "host example.org"},
	{"wget: unable to resolve host address \xe2\x80\x98"
	 "example.org\xe2\x80\x99",
	 "host example.org"},
	{"Error: getaddrinfo EAI_AGAIN registry.example", "host registry.example"},
	{"npm ERR! getaddrinfo ENOTFOUND registry.example, retrying", "host registry.example"},
	/* nothing is named */
	{"Permission denied", NULL},
	{"error: Permission denied (os error 13)", NULL},
	{"Name or service not known", NULL},
	{"Could not resolve host: ", NULL},
	{": Permission denied", NULL},
	{"/: ''", NULL},
	{"all tests passed", NULL},
	{"", NULL},
};

static void test_lines(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct message m;
		char got[256] = "nothing";

		if (message_parse(rows[i].line, strlen(rows[i].line), &m)) {
			if (m.kind == SEEN_LIMIT)
				(void)snprintf(got, sizeof(got), "limit %.*s", (int)m.len, m.text);
			else if (m.kind == SEEN_NAME)
				(void)snprintf(got, sizeof(got), "host %.*s", (int)m.len, m.text);
			else
				(void)snprintf(got, sizeof(got), "%s %s %.*s", causes[m.cause],
					       wants[m.want], (int)m.len, m.text);
			assert_true(m.text >= rows[i].line &&
				    m.text + m.len <= rows[i].line + strlen(rows[i].line));
		}
		if (strcmp(got, rows[i].want ? rows[i].want : "nothing") != 0) {
			print_error("%s\n  want %s\n  got  %s\n", rows[i].line,
				    rows[i].want ? rows[i].want : "nothing", got);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void feed(struct message_reader *r, const char *text)
{
	message_feed(r, text, strlen(text));
}

/* Lines come in pieces, with colours, with carriage returns, without an end. */
static void test_stream(void **state)
{
	struct seen seen = {0};
	struct message_reader r = {.seen = &seen};

	(void)state;
	feed(&r, "cat: /o");
	feed(&r, "ne: Permission den");
	feed(&r, "ied\nhello\r\n");
	feed(&r, "\033[1;31mcat: /two: Permission denied\033[0m\n");
	feed(&r, "cat: /one: Permission denied\n");
	feed(&r, "progress 10%\rcat: /three: Permission denied");
	assert_int_equal(seen.n, 2);
	message_finish(&r);
	assert_int_equal(seen.n, 3);
	assert_string_equal(seen.events[0].text, "/one");
	assert_int_equal(seen.events[0].count, 2);
	assert_string_equal(seen.events[1].text, "/two");
	assert_string_equal(seen.events[2].text, "/three");
	message_reader_done(&r);
	seen_done(&seen);
}

static void test_long_lines(void **state)
{
	struct seen seen = {0};
	struct message_reader r = {.seen = &seen};
	char piece[1000];

	(void)state;
	memset(piece, 'x', sizeof(piece));
	for (size_t i = 0; i < 2 * LIMIT_MESSAGE_LINE / sizeof(piece); i++)
		message_feed(&r, piece, sizeof(piece));
	feed(&r, ": /long: Permission denied\ncat: /next: Permission denied\n");
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.events[0].text, "/next");
	message_reader_done(&r);
	seen_done(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
