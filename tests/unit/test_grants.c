/* SPDX-License-Identifier: Apache-2.0 */
/* Grants beside directories: which sockets are said to be mighty, where caches are, what git signs with. */
#include "core/grants.h"

#include "base/io.h"
#include "base/path.h"
#include "workspace/cache.h"
#include "workspace/gitconfig.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static void test_cache_dir(void **state)
{
	AUTO_FREE char *a = NULL, *b = NULL, *c = NULL;

	(void)state;
	assert_int_equal(cache_dir("/state", "/home/me/a", "npm", &a), 0);
	assert_int_equal(cache_dir("/state", "/home/me/b", "npm", &b), 0);
	assert_int_equal(cache_dir("/state", "/home/me/a", "pip", &c), 0);
	assert_string_not_equal(a, b);
	assert_true(path_is_within(a, "/state/caches"));
	assert_string_equal(path_base(a), "npm");
	assert_int_equal(strncmp(a, c, strlen(a) - 3), 0); /* the same project */
	assert_null(cache_find("maven"));
}

static void test_cache_make(void **state)
{
	char dir[] = "/tmp/cordon-cache-XXXXXX";
	AUTO_FREE char *made = NULL, *note = NULL, *text = NULL;
	uint64_t bytes = 1;
	struct stat st;
	size_t len;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 2; i++)
		assert_int_equal(cache_make(dir, "/w", "go", NULL), 0);
	assert_int_equal(cache_dir(dir, "/w", "go", &made), 0);
	assert_int_equal(stat(made, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(cache_size(made, &bytes, NULL), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(path_join(made, "../workspace", &note), 0);
	assert_int_equal(io_read_file_at(AT_FDCWD, note, 100, &text, &len), 0);
	assert_string_equal(text, "/w");
	/* A link in its place is not followed. */
	assert_int_equal(rmdir(made), 0);
	assert_int_equal(symlink("/tmp", made), 0);
	assert_true(cache_make(dir, "/w", "go", NULL) < 0);
	assert_int_equal(unlink(made) | unlink(note), 0);
	*strrchr(made, '/') = '\0';
	assert_int_equal(rmdir(made), 0);
	*strrchr(made, '/') = '\0';
	assert_int_equal(rmdir(made) | rmdir(dir), 0);
}

static const struct {
	const char *what;
	const char *text;
	const char *want; /* NULL: it does not sign */
} signing_rows[] = {
	{"nothing", "[user]\n\tname = n\n", NULL},
	{"not asked for by ssh", "[user]\n\tsigningkey = ABC\n[commit]\n\tgpgsign = true\n", NULL},
	{"a key itself",
	 "[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = key::ssh-ed25519 AAAA me\n[commit]\n\tgpgsign = true\n",
	 "[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = \"key::ssh-ed25519 AAAA me\"\n[commit]\n\tgpgSign = true\n"},
	{"without key::, in quotes, tags",
	 "[gpg]\n format=\"ssh\"\n[user]\nsigningkey = \"ssh-rsa BBBB\"\n[tag]\ngpgsign = false\n",
	 "[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = \"key::ssh-rsa BBBB\"\n[tag]\n\tgpgSign = false\n"},
	{"a file that is not there", "[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = ~/no.pub\n",
	 NULL},
	{"a file", "[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = ~/id\n",
	 "[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = \"key::ssh-ed25519 CCCC\"\n"},
	{"a private key", "[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = ~/private\n", NULL},
	{"a quote in the key", "[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = key::ssh-rsa A\" x\n",
	 NULL},
	{"a program is not taken over",
	 "[gpg]\n\tformat = ssh\n\tprogram = evil\n[gpg \"ssh\"]\n\tprogram = evil\n[user]\n\tsigningkey = ssh-rsa D\n",
	 "[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = \"key::ssh-rsa D\"\n"},
};

static void test_signing(void **state)
{
	char home[] = "/tmp/cordon-sign-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(home));
	(void)snprintf(path, sizeof(path), "%s/id.pub", home);
	assert_int_equal(io_write_file_at(AT_FDCWD, path, "ssh-ed25519 CCCC\n", 17, 0600), 0);
	(void)snprintf(path, sizeof(path), "%s/private", home);
	assert_int_equal(io_write_file_at(AT_FDCWD, path, "-----BEGIN x\n", 13, 0600), 0);
	for (size_t i = 0; i < ARRAY_LEN(signing_rows); i++) {
		const char *text = signing_rows[i].text;
		struct buf out = BUF_INIT(4096);

		if (gitconfig_signing(text, strlen(text), home, &out) != !!signing_rows[i].want ||
		    strcmp(buf_cstr(&out), signing_rows[i].want ? signing_rows[i].want : "") != 0)
			fail_msg("%s: '%s'", signing_rows[i].what, buf_cstr(&out));
		buf_done(&out);
	}
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/id.pub", home);
	(void)unlink(path);
	(void)rmdir(home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cache_dir),
		cmocka_unit_test(test_cache_make),
		cmocka_unit_test(test_signing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
