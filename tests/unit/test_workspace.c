/* SPDX-License-Identifier: Apache-2.0 */
/* What a call may see of git: configuration, and pointers that lie. */
#include "base/mem.h"
#include "workspace/gitconfig.h"
#include "workspace/gitdir.h"
#include "workspace/gitexec.h"
#include "workspace/gitnamed.h"
#include "workspace/newgit.h"
#include "workspace/protected.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct {
	const char *what;
	const char *text;
	const char *want;
} gitconfig_rows[] = {
	{"nothing", "", ""},
	{"user", "[user]\n\tname = A B\n\temail=a@b\n",
	 "[user]\n\tname = A B\n[user]\n\temail=a@b\n"},
	{"case and blanks", "  [User]  \n  Name=A  \r\n", "[user]\n\tName=A\n"},
	{"init", "[init]\ndefaultBranch = main\n", "[init]\n\tdefaultBranch = main\n"},
	{"a template directory names files", "[init]\ntemplateDir = /x\n", ""},
	{"a signing key", "[user]\nsigningKey = ABC\n", ""},
	{"autocrlf", "[core]\nautocrlf = input\n", "[core]\n\tautocrlf = input\n"},
	{"other core values name programs", "[core]\npager = x\nsshCommand = y\nhooksPath = z\n",
	 ""},
	{"a key that only starts alike", "[core]\nautocrlfx = a\n", ""},
	{"a subsection is another section", "[user \"x\"]\nname = A\n", ""},
	{"includes", "[include]\npath = /x\n[user]\nname = A\n", "[user]\n\tname = A\n"},
	{"aliases", "[alias]\nx = !id\n", ""},
	{"a continued line is left out", "[user]\nname = A\\\nemail = b\n", ""},
	{"a comment", "[user]\n# name = A\n; name = B\n", ""},
	{"no end of line", "[user]\nname = A", "[user]\n\tname = A\n"},
	{"a key without a value", "[user]\nuseConfigOnly\n", "[user]\n\tuseConfigOnly\n"},
};

static void test_gitconfig(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(gitconfig_rows); i++) {
		struct buf out = BUF_INIT(4096);

		gitconfig_subset(gitconfig_rows[i].text, strlen(gitconfig_rows[i].text), &out);
		if (strcmp(buf_cstr(&out), gitconfig_rows[i].want) != 0)
			fail_msg("%s: '%s'", gitconfig_rows[i].what, buf_cstr(&out));
		buf_done(&out);
	}
}

static void test_gitconfig_nul(void **state)
{
	static const char text[] = "[user]\nname = A\0B\nemail = c\n";
	struct buf out = BUF_INIT(4096);

	(void)state;
	gitconfig_subset(text, sizeof(text) - 1, &out);
	assert_string_equal(buf_cstr(&out), "[user]\n\temail = c\n");
	buf_done(&out);
}

static const struct {
	const char *what;
	const char *names;
	size_t len;
	bool want;
} gitdir_rows[] = {
	{"empty", "", 0, false},
	{"repository", "objects\0HEAD\0refs", 18, true},
	{"worktree", "HEAD\0commondir", 15, true},
	{"no HEAD", "objects\0refs", 13, false},
	{"HEAD alone", "HEAD", 5, false},
	{"HEAD and objects", "HEAD\0objects", 13, false},
	{"worktree without HEAD", "commondir\0gitdir", 17, true},
	{"config that is not there", "config", 7, false},
};

static void test_gitdir_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(gitdir_rows); i++) {
		struct walk_names names = {gitdir_rows[i].names, gitdir_rows[i].len};

		if (gitdir_is("/nonexistent/x", &names) != gitdir_rows[i].want)
			fail_msg("%s", gitdir_rows[i].what);
	}
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* dir/w is a worktree of dir/main, or pretends to be; the pointer back is `back`. */
static int follow(const char *pointer, const char *back, const char *common,
		  struct gitdir_link *link)
{
	char dir[] = "/tmp/test-workspace-XXXXXX";
	char path[512];
	char text[600];
	int r;

	assert_non_null(mkdtemp(dir));
	static const char *const dirs[] = {"w",
					   "main",
					   "main/.git",
					   "main/.git/worktrees",
					   "main/.git/worktrees/w",
					   "main/.git/objects",
					   "main/.git/refs",
					   "w/g"};
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, dirs[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	(void)snprintf(text, sizeof(text), pointer[0] == '?' ? "%s%s" : "gitdir: %s/%s\n",
		       pointer[0] == '?' ? "" : dir, pointer);
	put(dir, "w/.git", text);
	(void)snprintf(text, sizeof(text), "%s/%s\n", dir, back);
	put(dir, "main/.git/worktrees/w/gitdir", text);
	put(dir, "main/.git/worktrees/w/commondir", common);
	put(dir, "main/.git/HEAD", "ref: refs/heads/x\n");
	/* What a call can write: pointers in the workspace that name the directory above it. */
	(void)snprintf(text, sizeof(text), "%s/w/.git\n", dir);
	put(dir, "w/g/gitdir", text);
	put(dir, "w/g/commondir", "../..\n");
	(void)snprintf(path, sizeof(path), "%s/w", dir);
	r = gitdir_follow(path, link, NULL);
	if (r == 1) {
		(void)snprintf(text, sizeof(text), "%s/main/.git", dir);
		assert_string_equal(link->commondir, text);
	}
	static const char *const files[] = {"w/.git",
					    "main/.git/worktrees/w/gitdir",
					    "main/.git/worktrees/w/commondir",
					    "main/.git/HEAD",
					    "w/g/gitdir",
					    "w/g/commondir"};
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		(void)unlink(path);
	}
	for (size_t i = ARRAY_LEN(dirs); i-- > 0;) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, dirs[i]);
		(void)rmdir(path);
	}
	(void)rmdir(dir);
	return r;
}

static const struct {
	const char *what;
	const char *pointer;
	const char *back;
	const char *common;
	int want;
} follow_rows[] = {
	{"a worktree", "main/.git/worktrees/w", "w/.git", "../..\n", 1},
	{"one that belongs to another", "main/.git/worktrees/w", "other/.git", "../..\n", 0},
	{"the repository itself", "main/.git", "w/.git", "../..\n", 0},
	{"nothing there", "main/.git/worktrees/x", "w/.git", "../..\n", 0},
	{"a common directory elsewhere", "main/.git/worktrees/w", "w/.git", "/etc\n", 0},
	{"an empty common directory", "main/.git/worktrees/w", "w/.git", "\n", 0},
	{"a directory above the repository", "main/.git/worktrees/w", "w/.git", "../../../..\n", 0},
	{"made up inside the workspace", "w/g", "w/.git", "../..\n", 0},
	{"no pointer at all", "?nonsense", "w/.git", "../..\n", CORDON_E_INVALID},
};

static void test_gitdir_follow(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(follow_rows); i++) {
		struct gitdir_link link = {0};
		int r = follow(follow_rows[i].pointer, follow_rows[i].back, follow_rows[i].common,
			       &link);

		if (r != follow_rows[i].want)
			fail_msg("%s: %d", follow_rows[i].what, r);
		gitdir_link_done(&link);
	}
}

/* Names are relative, canonical and listed once. */
static void test_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < protected_name_count; i++) {
		assert_true(protected_names[i].name[0] != '/');
		assert_null(strstr(protected_names[i].name, ".."));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(protected_names[i].name, protected_names[j].name);
	}
	for (size_t i = 1; i < credential_path_count; i++)
		assert_true(strcmp(credential_paths[i - 1], credential_paths[i]) < 0);
	for (size_t i = 1; i < system_credential_path_count; i++)
		assert_true(strcmp(system_credential_paths[i - 1], system_credential_paths[i]) < 0);
}

static void test_gitexec(void **state)
{
	static const struct {
		const char *text;
		const char *want; /* joined by spaces */
	} rows[] = {
		{"", ""},
		{"[core]\n\trepositoryformatversion = 0\n\tbare = false\n", ""},
		{"[core]\n\tfsmonitor = /x/y\n", "core.fsmonitor=/x/y"},
		{"[core]\n\tfsmonitor = true\n\tfsmonitor = false\n\tfsmonitor\n", ""},
		{"[core]fsmonitor=x", "core.fsmonitor=x"},
		{"  [CORE]  \r\n FsMonitor=x\r\n", "core.fsmonitor=x"},
		{"\xef\xbb\xbf[core]\nsshCommand = x\n", "core.sshcommand=x"},
		{"[core]\nfsmonitor = \\\n/x\n", "core.fsmonitor=/x"},
		{"[core]\nfsmonitor = \"/x\"y\n", "core.fsmonitor=/xy"},
		{"[core]\nhookspath=h\n[user]\nname = x\nfsmonitor = y\n", "core.hookspath=h"},
		{"[alias]\nx = log\ny = !id\n", "alias.y=!id"},
		{"[alias]\nx = \"!id\"\n", "alias.x=!id"},
		{"[filter \"a\"]\nclean = c\nrequired = true\n", "filter.a.clean=c"},
		{"[filter \"a]b\"]\nsmudge = c\n", "filter.a]b.smudge=c"},
		{"[filter.a]\nprocess = c\n", "filter.a.process=c"},
		{"[diff \"a\"]\ntextconv = c\n", "diff.a.textconv=c"},
		{"[remote \"o\"]\nurl = /srv/x\n", ""},
		{"[remote \"o\"]\nurl = ext::sh -c id\n", "remote.o.url=ext::sh -c id"},
		{"[submodule \"a\"]\nupdate = checkout\nupdate = !id\n", "submodule.a.update=!id"},
		{"[include]\npath = /x\n[includeIf \"gitdir:/\"]\npath = /y\n",
		 "include.path=/x includeif.gitdir:/.path=/y"},
		{"[core]\n# fsmonitor = x\n; fsmonitor = y\n", ""},
		{"[corex]\nfsmonitor = x\n", ""},
		{"[core]\nfsmonitorx = x\n", ""},
		/* what git reads as the rest of a value is no section */
		{"[core]\nx = a\\\n[user]\nfsmonitor = x\n", "core.fsmonitor=x"},
		{"[core]\nx = a\\\n[user]\\\n\nfsmonitor = x\n", "core.fsmonitor=x"},
		{"[core]\r\nx = a\\\r\n[user]\r\nfsmonitor = x\r\n", "core.fsmonitor=x"},
		{"[core]\nx = a # \\\n[user]\nfsmonitor = x\n", ""},
		{"[user]\nx = \"a # \\\n\"\n[core]\nfsmonitor = x\n", "core.fsmonitor=x"},
		{"[user]\n# \\\n[core]\nfsmonitor = x\n", "core.fsmonitor=x"},
		{"[user]\nx = a\\\\\n[core]\nfsmonitor = x\n", "core.fsmonitor=x"},
		{"[user]\nx = a\\\n[core]\nfsmonitor = x\n", ""},
		{"[core]\nfsmonitor = f\"al\"se # x\n", ""},
		{"[core]\nfsmonitor = x ; false\n", "core.fsmonitor=x"},
		{"[alias]\nx = \\\n  \\\n !id\n", "alias.x=!id"},
		{"[url \"ex\\t::id\"]\ninsteadOf = x\n", "url.ext::id.insteadof=x"},
		{"[url \"EXT::id\"]\ninsteadOf = x\n", "url.EXT::id.insteadof=x"},
		{"[x \"\n[core]\nfsmonitor = x\n", "core.fsmonitor=x"},
		{"[x \"]\"]\n[core]\nfsmonitor = x\n", "core.fsmonitor=x"},
		{"]]]][[[[", ""},
		{"[", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strv got = {0};
		char text[256] = "";

		assert_int_equal(gitexec_config(rows[i].text, strlen(rows[i].text), &got), 0);
		for (size_t k = 0; k < got.n; k++)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				       k ? " " : "", got.v[k]);
		if (strcmp(text, rows[i].want) != 0)
			fail_msg("row %zu: '%s', not '%s'", i, text, rows[i].want);
		strv_done(&got);
	}
}

/* Whoever writes so many does not get out of being told of, and nothing fails for it. */
static void test_gitexec_many(void **state)
{
	static const char head[] = "[core]\n", line[] = "fsmonitor=x\n";
	size_t len = sizeof(head) - 1;
	char *text = malloc(len + 70000 * sizeof(line));
	struct strv got = {0};

	(void)state;
	assert_non_null(text);
	memcpy(text, head, len);
	for (int i = 0; i < 70000; i++, len += sizeof(line) - 1)
		memcpy(text + len, line, sizeof(line) - 1);
	assert_int_equal(gitexec_config(text, len, &got), 0);
	assert_int_equal(got.n, GITEXEC_FOUND_MAX);
	assert_string_equal(got.v[0], "core.fsmonitor=x");
	strv_done(&got);
	free(text);
}

/* More directories than a command may have words. */
static void test_newgit_many(void **state)
{
	struct newgit noted = {0};
	char path[64];

	(void)state;
	for (int i = 0; i < NEWGIT_DIRS_MAX + 10; i++) {
		(void)snprintf(path, sizeof(path), "/w/%d", i);
		assert_int_equal(newgit_note(&noted, path, i % 2), 0);
		assert_int_equal(noted.is_full, i >= NEWGIT_DIRS_MAX);
	}
	newgit_begin(&noted);
	newgit_done(&noted);
}

/* What is below two directories that changed is told once, and in order. */
static void test_newgit_once(void **state)
{
	static const char *const made[] = {
		"/a", "/a/b", "/a/b/.git", "/a/b/.git/objects", "/a/b/.git/refs", "/a/b/.git/HEAD"};
	char top[] = "/tmp/cordon-newgit-XXXXXX";
	struct newgit noted = {0};
	struct strv found = {0};
	char path[128];

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(newgit_note_top(&noted, top), 0);
	newgit_begin(&noted);
	for (size_t i = 0; i < ARRAY_LEN(made); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", top, made[i]);
		assert_int_equal(mkdir(path, 0755), 0);
		/* noted as if each had been there, but the repository itself */
		if (i < 2)
			assert_int_equal(newgit_note(&noted, path, false), 0);
	}
	noted.is_full = true; /* and once more: all is walked */
	assert_int_equal(newgit_note_top(&noted, top), 0);
	assert_int_equal(newgit_find(&noted, &found, NULL), 0);
	assert_int_equal(found.n, 1);
	(void)snprintf(path, sizeof(path), "%s/a/b/.git", top);
	assert_string_equal(found.v[0], path);
	assert_false(noted.is_cut);
	strv_done(&found);
	newgit_done(&noted);
	for (size_t i = ARRAY_LEN(made); i-- > 0;) {
		(void)snprintf(path, sizeof(path), "%s%s", top, made[i]);
		assert_int_equal(rmdir(path), 0);
	}
	assert_int_equal(rmdir(top), 0);
}

static int note_row(const struct gitini_entry *e, void *arg)
{
	const struct gitexec_row *row = gitexec_match(e);

	if (row)
		*(const struct gitexec_row **)arg = row;
	return 0;
}

/* Each row, and no other before it, finds its own example; none finds the other one. */
static void test_gitexec_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < gitexec_row_count; i++) {
		const struct gitexec_row *row = &gitexec_rows[i];
		const struct gitexec_row *hit = NULL;
		const struct gitexec_row *miss = NULL;

		assert_int_equal(gitini_read(row->hit, strlen(row->hit), note_row, &hit), 0);
		assert_int_equal(gitini_read(row->miss, strlen(row->miss), note_row, &miss), 0);
		if (hit != row || miss || !row->why[0])
			fail_msg("row %zu: '%s' %s, '%s' %s", i, row->hit, hit ? hit->hit : "none",
				 row->miss, miss ? miss->hit : "none");
	}
}

static void test_gitnamed(void **state)
{
	static const struct {
		const char *command;
		const char *want; /* joined by spaces */
	} rows[] = {
		{"", ""},
		{"less -R", ""},
		{"./tools/watch", "./tools/watch"},
		{"!sh -c 'exec tools/al \"$@\"' -", "tools/al"},
		{"tools/clean %f", "tools/clean"},
		{"python3 top.py --in=a/b", "top.py a/b"},
		{"\"$PWD/tools/merge\" %O", "/tools/merge"},
		{"${PWD}/x;$(git rev-parse --show-toplevel)/y", "/x /y"},
		{"A=./x ./x|b/c&&d/e>f/g", "./x b/c d/e f/g"},
		{"curl https://example.org/x", ""},
		{"$HOME $x", ""},
	};
	struct gitnamed many = {0};
	char word[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct gitnamed got = {0};
		char text[256] = "";

		assert_int_equal(gitnamed_words(rows[i].command, &got), 0);
		for (size_t k = 0; k < got.programs.n; k++)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				       k ? " " : "", got.programs.v[k]);
		if (strcmp(text, rows[i].want) != 0)
			fail_msg("row %zu: '%s', not '%s'", i, text, rows[i].want);
		gitnamed_done(&got);
	}
	/* What is too much is not left out in silence. */
	for (int i = 0; i < GITNAMED_PROGRAMS_MAX; i++) {
		(void)snprintf(word, sizeof(word), "./%d", i);
		assert_int_equal(gitnamed_words(word, &many), 0);
	}
	assert_int_equal(gitnamed_words("./more", &many), -E2BIG);
	gitnamed_done(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gitconfig),    cmocka_unit_test(test_gitconfig_nul),
		cmocka_unit_test(test_gitdir_is),    cmocka_unit_test(test_gitdir_follow),
		cmocka_unit_test(test_tables),       cmocka_unit_test(test_gitexec),
		cmocka_unit_test(test_gitexec_rows), cmocka_unit_test(test_gitnamed),
		cmocka_unit_test(test_gitexec_many), cmocka_unit_test(test_newgit_many),
		cmocka_unit_test(test_newgit_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
