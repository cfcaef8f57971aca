/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a person: the test holds the other end of a terminal and types. */
#include "core_fixture.h"

#include "base/sha256.h"
#include "base/utf8.h"
#include "core/approve.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>

enum { HANG_UP = 1 };

/* Asks in a child on a terminal of its own; types answer once the question is there. */
static enum approval ask(const char *answer, int flags, int64_t timeout_ms, char *ret_shown,
			 size_t size)
{
	AUTO(request_freep) struct request *r = fixture_words("rm -rf a\033[2Jb", NULL);
	size_t n = 0;
	int master, status;
	bool typed = false;
	pid_t pid = forkpty(&master, NULL, NULL, NULL);

	assert_true(pid >= 0);
	if (pid == 0)
		_exit((signal(SIGHUP, SIG_IGN),
		       (int)approve_ask(&(struct approve_call){.request = r}, "it\nmust",
					timeout_ms)));
	for (;;) {
		struct pollfd p = {.fd = master, .events = POLLIN};
		ssize_t got = poll(&p, 1, 10000) == 1 ? read(master, ret_shown + n, size - n - 1)
						      : 0;

		if (got <= 0)
			break;
		n += (size_t)got;
		ret_shown[n] = '\0';
		if (typed || !strstr(ret_shown, "[y/N] "))
			continue;
		typed = true;
		if (answer)
			assert_int_equal(write(master, answer, strlen(answer)),
					 (ssize_t)strlen(answer));
		if (flags & HANG_UP)
			break;
	}
	(void)close(master);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return (enum approval)WEXITSTATUS(status);
}

static void test_answers(void **state)
{
	static const struct {
		const char *answer;
		int flags;
		int64_t timeout_ms;
		enum approval want;
	} rows[] = {
		{"y\n", 0, 30000, APPROVAL_GRANTED},
		{"yes\n", 0, 30000, APPROVAL_GRANTED},
		{"n\n", 0, 30000, APPROVAL_DENIED},
		{"\n", 0, 30000, APPROVAL_DENIED},
		{"Y\n", 0, 30000, APPROVAL_DENIED},
		{"yy\n", 0, 30000, APPROVAL_DENIED},
		{"yes please do it now, all of it\n", 0, 30000, APPROVAL_DENIED},
		{"\x04", 0, 30000, APPROVAL_DENIED},
		{NULL, 0, 300, APPROVAL_TIMED_OUT},
		{"y", 0, 300, APPROVAL_TIMED_OUT}, /* not sent off */
		{NULL, HANG_UP, 30000, APPROVAL_DENIED},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char shown[4096] = "";
		enum approval got = ask(rows[i].answer, rows[i].flags, rows[i].timeout_ms, shown,
					sizeof(shown));

		if (got != rows[i].want)
			fail_msg("row %zu: %s", i, approval_name(got));
		/* escaped, one line, with the words' edges */
		assert_null(strchr(shown, '\033'));
		assert_non_null(strstr(shown, "\\x1b[2J"));
		assert_non_null(strstr(shown, "because it\\nmust"));
	}
}

static void test_nobody(void **state)
{
	AUTO(request_freep) struct request *r = fixture_words("ls", NULL);
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)setsid(); /* without a controlling terminal */
		_exit((int)approve_ask(&(struct approve_call){.request = r}, NULL, 30000));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), APPROVAL_NOBODY);
}

/* What is not shown is counted, so that nothing can hide behind a long beginning. */
static void test_text(void **state)
{
	AUTO(request_freep) struct request *words = NULL;
	AUTO(request_freep) struct request *edges = NULL;
	struct request_options o = {.cwd = "/"};
	struct buf long_one = BUF_INIT(1 << 20), b = BUF_INIT(1 << 20);

	(void)state;
	for (int i = 0; i < 9000; i++)
		buf_char(&long_one, 'a');
	words = fixture_shell(buf_cstr(&long_one));
	approve_text(words, &b);
	assert_non_null(strstr(buf_cstr(&b), "808 MORE BYTES"));
	buf_clear(&b);
	request_free(TAKE_PTR(words));
	/* Its end is shown, and no character is torn; U+2800 and U+3000 are blanks, eight are few. */
	buf_clear(&long_one);
	buf_str(&long_one, "a        b         c\xe2\xa0\x80\xe3\x80\x80\xe2\xa0\x80       d ");
	for (int i = 0; i < 9000; i++)
		buf_str(&long_one, "\xc3\xa4");
	buf_str(&long_one, " end");
	words = fixture_shell(buf_cstr(&long_one));
	approve_text(words, &b);
	assert_true(str_starts(buf_cstr(&b), "a        b <9 blanks> c <10 blanks> d "));
	assert_true(str_ends(buf_cstr(&b), "\xa4 end"));
	assert_int_equal(utf8_check(b.data, b.len), b.len);
	buf_clear(&b);
	assert_int_equal(request_from_argv((char *[]){(char[]){"rm"}, (char[]){"a b"}, NULL}, &o,
					   &edges, NULL),
			 0);
	approve_text(edges, &b);
	assert_string_equal(buf_cstr(&b), "rm 'a b'");
	buf_done(&b);
	buf_done(&long_one);
}

/* Kept for one owner, host and time; what is no line of ours allows nothing. */
static void test_kept(void **state)
{
	char dir[] = "/tmp/cordon-approvals-XXXXXX";
	char path[64], who[APPROVAL_WHO_MAX] = "";
	struct approval_of one = {APPROVAL_PROJECT, "/home/a b", "example.org:8443"};
	struct cordon_error err = {0};
	const struct approval_of others[] = {
		{APPROVAL_SESSION, "/home/a b", "example.org:8443"},
		{APPROVAL_PROJECT, "/home/a", "example.org:8443"},
		{APPROVAL_PROJECT, "/home/a b", "example.org"},
		{APPROVAL_PROJECT, "/home/a b", "example.org:844"},
	};
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/approvals", dir);
	assert_int_equal(approvals_find(dir, &one, who, &err), 0);
	assert_int_equal(approvals_add(dir, &one, "uid 7 on /dev/pts/1", &err), 0);
	assert_int_equal(approvals_add(dir, &others[0], "another", &err), 0);
	assert_int_equal(approvals_find(dir, &one, who, &err), 1);
	assert_string_equal(who, "uid 7 on /dev/pts/1");
	for (size_t i = 1; i < ARRAY_LEN(others); i++)
		assert_int_equal(approvals_find(dir, &others[i], who, &err), 0);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fprintf(file, "\n\nx\n99999999999999 project\n-1 project x example.org:8443 me\n");
	(void)fclose(file);
	assert_int_equal(approvals_find(dir, &one, who, &err), 0);
	/* A link is not followed, and what cannot be read is no answer. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_true(approvals_find(dir, &one, who, &err) < 0);
	assert_true(approvals_add(dir, &one, "x", &err) < 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* What was told of, one line each. */
static int keep_told(void *data, const struct approval_kept *a, struct cordon_error *err)
{
	struct buf *told = data;

	(void)err;
	buf_printf(told, "%s %s %s by %s\n", approval_scope_name(a->scope),
		   a->owner ? a->owner : "?", a->host, a->who);
	return 0;
}

static int keep_fails(void *data, const struct approval_kept *a, struct cordon_error *err)
{
	(void)data;
	(void)a;
	return cordon_fail(err, CORDON_E_SYSTEM, "no");
}

#define HOME_OF_A "project /home/a b%\n=\xff example.org by me\n"

static void test_revoked(void **state)
{
	static const struct {
		struct approval_choice which;
		int n;
		const char *told;
	} rows[] = {
		{{.host = "other.org"}, 0, ""},
		{{.session = "/home/a b%\n=\xff"}, 0, ""}, /* of a session by that name */
		{{.project = "one"}, 0, ""},
		{{.host = "example.org", .session = "two"}, 0, ""},
		{{.host = "example.org", .session = "one"}, 1, "session one example.org by me\n"},
		{{.project = "/home/a b%\n=\xff"}, 1, HOME_OF_A},
		{{.host = "example.org:22"}, 1, "session one example.org:22 by me\n"},
		{{0},
		 3,
		 HOME_OF_A "session one example.org by me\nsession one example.org:22 by me\n"},
	};
	const struct approval_of all[] = {
		{APPROVAL_PROJECT, "/home/a b%\n=\xff", "example.org"},
		{APPROVAL_SESSION, "one", "example.org"},
		{APPROVAL_SESSION, "one", "example.org:22"},
	};
	char dir[] = "/tmp/cordon-approvals-XXXXXX";
	char path[64], who[APPROVAL_WHO_MAX];
	struct cordon_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/approvals", dir);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf told = BUF_INIT(4096);
		struct buf left = BUF_INIT(4096);
		int n = 0;

		for (size_t k = 0; k < ARRAY_LEN(all); k++)
			assert_int_equal(approvals_add(dir, &all[k], "me", &err), 0);
		/* Who cannot write it down revokes nothing. */
		if (rows[i].n)
			assert_true(approvals_revoke(dir, &rows[i].which, keep_fails, NULL, &err) <
				    0);
		assert_int_equal(approvals_revoke(dir, &rows[i].which, keep_told, &told, &err),
				 rows[i].n);
		assert_string_equal(buf_cstr(&told), rows[i].told);
		assert_int_equal(approvals_each(dir, keep_told, &left, &err), 0);
		for (const char *at = buf_cstr(&left); (at = strstr(at, " by me\n")); at++)
			n++;
		assert_int_equal(n, (int)ARRAY_LEN(all) - rows[i].n);
		for (size_t k = 0; k < ARRAY_LEN(all); k++)
			n -= approvals_find(dir, &all[k], who, &err);
		assert_int_equal(n, 0);
		buf_done(&told);
		buf_done(&left);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* Lines of an older version hold, without an owner; one whose owner is not the digest's does not. */
static void test_lines(void **state)
{
	char dir[] = "/tmp/cordon-approvals-XXXXXX";
	char path[64], who[APPROVAL_WHO_MAX], hex[SHA256_HEX_LEN];
	const struct approval_of of = {APPROVAL_SESSION, "one", "example.org"};
	struct buf told = BUF_INIT(4096);
	struct cordon_error err = {0};
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/approvals", dir);
	sha256_hex("one", 3, hex);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fprintf(file, "99999999999999 session %s old.org me too\n", hex);
	(void)fprintf(file, "99999999999999 session %s example.org =two me\n", hex);
	(void)fprintf(file, "99999999999999 session %s example.org =on%%6 me\n", hex);
	(void)fprintf(file, "99999999999999 session %s example.org =one\n", hex);
	(void)fprintf(file, "99999999999999 once %s example.org =one me\n", hex);
	(void)fclose(file);
	assert_int_equal(approvals_each(dir, keep_told, &told, &err), 0);
	assert_string_equal(buf_cstr(&told), "session ? old.org by me too\n");
	assert_int_equal(approvals_find(dir, &of, who, &err), 0);
	buf_done(&told);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers), cmocka_unit_test(test_kept),
		cmocka_unit_test(test_revoked), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nobody),  cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
