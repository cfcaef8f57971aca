/* SPDX-License-Identifier: Apache-2.0 */
/* A walk that remembers must find what a walk finds that does not, whatever was done to the tree between. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/prune.h"
#include "base/str.h"
#include "workspace/walk.h"
#include "workspace/walkmemo.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DIRS 200

static char place[] = "/tmp/cordon-walk-XXXXXX";
static char top[64];
static char state_dir[64];

struct found {
	struct strv lines; /* of each directory and each name of interest */
	size_t listed;     /* directories of which names were told */
};

static void found_done(struct found *f)
{
	strv_done(&f->lines);
}

static int visit(const char *path, const struct walk_names *names, void *arg,
		 struct cordon_error *err)
{
	struct found *f = arg;

	(void)err;
	f->listed += names->len > 0;
	assert_int_equal(strv_add(&f->lines, path), 0);
	for
		WALK_EACH(name, names)
		{
			if (str_starts(name, "x-"))
				assert_int_equal(strv_addf(&f->lines, "%s: %s", path, name), 0);
		}
	return strstr(path, "/x-skipped") ? WALK_SKIP : WALK_INTO;
}

static bool is_plain(const char *path, const struct walk_names *names, void *arg)
{
	(void)arg;
	for
		WALK_EACH(name, names)
		{
			if (str_starts(name, "x-"))
				return false;
		}
	return !strstr(path, "/x-skipped");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct found walk(bool remembers)
{
	struct found f = {0};
	struct cordon_error err = {0};
	const struct walk_options o = {
		.fn = visit,
		.arg = &f,
		.is_plain = is_plain,
		.state_dir = remembers ? state_dir : NULL,
	};

	assert_int_equal(walk_tree_with(top, &o, &err), 0);
	qsort(f.lines.v, f.lines.n, sizeof(*f.lines.v), by_text);
	return f;
}

/* Both walks agree.  How many directories the one that remembers has listed. */
static size_t agree(const char *what)
{
	AUTO(found_done) struct found a = walk(true);
	AUTO(found_done) struct found b = walk(false);

	if (a.lines.n != b.lines.n)
		fail_msg("%s: %zu lines, without a memory %zu", what, a.lines.n, b.lines.n);
	for (size_t i = 0; i < a.lines.n; i++)
		if (strcmp(a.lines.v[i], b.lines.v[i]) != 0)
			fail_msg("%s: '%s', without a memory '%s'", what, a.lines.v[i],
				 b.lines.v[i]);
	return a.listed;
}

static char *at(const char *below)
{
	static char path[4][PATH_MAX];
	static int n;
	char *p = path[n++ % 4];

	(void)snprintf(p, sizeof(path[0]), "%s/%s", top, below);
	return p;
}

static void make(const char *below)
{
	int fd = open(at(below), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	(void)close(fd);
}

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(place));
	(void)snprintf(top, sizeof(top), "%s/top", place);
	(void)snprintf(state_dir, sizeof(state_dir), "%s/state", place);
	assert_int_equal(mkdir(top, 0755) | mkdir(state_dir, 0700), 0);
	for (int i = 0; i < DIRS; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "d%d", i);
		assert_int_equal(mkdir(at(name), 0755), 0);
		(void)snprintf(name, sizeof(name), "d%d/sub", i);
		assert_int_equal(mkdir(at(name), 0755), 0);
		(void)snprintf(name, sizeof(name), "d%d/sub/file", i);
		make(name);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return prune_tree(AT_FDCWD, place);
}

static void settle(void)
{
	(void)nanosleep(&(struct timespec){.tv_sec = 2, .tv_nsec = 100000000}, NULL);
}

/* What is as young as the walk itself is not believed. */
static void test_young(void **state)
{
	(void)state;
	assert_true(agree("the first walk") >= DIRS);
	make("d7/sub/x-young");
	assert_true(agree("at once") >= DIRS);
	assert_int_equal(unlink(at("d7/sub/x-young")), 0);
}

static void act_new_name(void)
{
	make("d1/sub/x-new");
}

static void act_new_dir(void)
{
	assert_int_equal(mkdir(at("d2/sub/x-dir"), 0755), 0);
	assert_int_equal(mkdir(at("d2/sub/x-dir/deeper"), 0755), 0);
}

static void act_moved(void)
{
	assert_int_equal(rename(at("d3/sub"), at("d3/moved")), 0);
	make("d3/moved/x-after");
}

static void act_exchanged(void)
{
	make("d5/sub/x-other");
	assert_int_equal(renameat2(AT_FDCWD, at("d4"), AT_FDCWD, at("d5"), RENAME_EXCHANGE), 0);
}

static void act_link(void)
{
	assert_int_equal(rename(at("d6/sub"), at("d6/away")), 0);
	assert_int_equal(symlink("away", at("d6/sub")), 0);
}

static void act_gone(void)
{
	assert_int_equal(unlink(at("d8/sub/file")) | rmdir(at("d8/sub")) | rmdir(at("d8")), 0);
}

static void act_again(void)
{
	assert_int_equal(unlink(at("d9/sub/file")) | rmdir(at("d9/sub")), 0);
	assert_int_equal(mkdir(at("d9/sub"), 0755), 0);
	make("d9/sub/x-again");
}

/* The times that can be set are set back. */
static void act_times(void)
{
	struct stat st;

	assert_int_equal(stat(at("d10/sub"), &st), 0);
	make("d10/sub/x-hidden");
	assert_int_equal(utimensat(AT_FDCWD, at("d10/sub"),
				   (struct timespec[]){st.st_atim, st.st_mtim}, 0),
			 0);
}

static void act_mode(void)
{
	assert_int_equal(chmod(at("d11/sub"), 0711), 0);
}

static void act_skipped(void)
{
	assert_int_equal(rename(at("d12/sub"), at("d12/x-skipped")), 0);
	assert_int_equal(mkdir(at("d12/x-skipped/inner"), 0755), 0);
}

static const struct {
	const char *what;
	void (*act)(void);
} change_rows[] = {
	{"nothing", NULL},
	{"a name", act_new_name},
	{"a directory", act_new_dir},
	{"a directory that was moved", act_moved},
	{"two that were exchanged", act_exchanged},
	{"a link in place of a directory", act_link},
	{"one that is gone", act_gone},
	{"one that was made again", act_again},
	{"times set back", act_times},
	{"another mode", act_mode},
	{"one that is not entered", act_skipped},
};

static void need_reliable(void)
{
	int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool is_reliable = walkmemo_is_reliable(fd);

	(void)close(fd);
	if (!is_reliable) {
		print_message("# skip: /tmp is on a file system whose times are not believed\n");
		skip();
	}
}

static void test_changes(void **state)
{
	(void)state;
	need_reliable();
	settle();
	(void)agree("a walk to remember");
	for (size_t i = 0; i < ARRAY_LEN(change_rows); i++) {
		size_t listed;

		if (change_rows[i].act)
			change_rows[i].act();
		listed = agree(change_rows[i].what);
		if (listed > DIRS / 4)
			fail_msg("%s: %zu directories were listed", change_rows[i].what, listed);
	}
}

static int note_listed(const char *path, const struct walk_names *names, void *arg,
		       struct cordon_error *err)
{
	(void)err;
	if (strcmp(path, at("d21/sub")) == 0 || strcmp(path, at("d22/sub")) == 0)
		*(unsigned *)arg |= (names->len > 0 ? 1U : 0U)
				    << (strcmp(path, at("d21/sub")) == 0);
	return WALK_INTO;
}

/* Whoever asks for a directory's names gets them, however plain it was. */
static void test_listed(void **state)
{
	char listed[PATH_MAX];
	unsigned told = 0;
	const struct walk_options o = {.fn = note_listed,
				       .arg = &told,
				       .is_plain = is_plain,
				       .state_dir = state_dir,
				       .listed = listed};

	(void)state;
	need_reliable();
	(void)snprintf(listed, sizeof(listed), "%s", at("d21/sub"));
	assert_int_equal(walk_tree_with(top, &o, NULL), 0);
	assert_int_equal(told, 2); /* and the other is known */
}

/* Another file system at the place of a known directory. */
static void test_mount(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		print_message("# skip: no mount namespace of its own\n");
		skip();
	}
	assert_int_equal(mount("none", at("d20/sub"), "tmpfs", 0, NULL), 0);
	make("d20/sub/x-mounted");
	(void)agree("a mount");
	assert_int_equal(umount2(at("d20/sub"), MNT_DETACH), 0);
	(void)agree("and without it");
}

/* The one file of the memory. */
static void memory_path(char ret[static PATH_MAX])
{
	char dir[128];
	const struct dirent *e;
	DIR *d;

	ret[0] = '\0';
	(void)snprintf(dir, sizeof(dir), "%s/" WALKMEMO_DIR, state_dir);
	d = opendir(dir);
	assert_non_null(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			(void)snprintf(ret, PATH_MAX, "%s/%.20s", dir, e->d_name);
	(void)closedir(d);
	assert_true(ret[0] != '\0');
}

/* A whole memory, of a build with other names of interest. */
static void test_upgrade(void **state)
{
	AUTO(walkmemo_done) struct walkmemo m = {0};
	char path[PATH_MAX];
	char *name;
	int dir;

	(void)state;
	need_reliable();
	(void)agree("a walk to remember");
	memory_path(path);
	walkmemo_load(state_dir, top, &m);
	assert_true(m.n > DIRS);
	name = strrchr(path, '/');
	*name++ = '\0';
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(walkmemo_write(dir, name, &m), 0);
	assert_true(agree("written again") < DIRS);
	m.rules ^= 1;
	assert_int_equal(walkmemo_write(dir, name, &m), 0);
	(void)close(dir);
	assert_true(agree("of another build") >= DIRS);
	assert_true(agree("and anew") < DIRS);
}

/* Any byte that is not what it was makes it nothing. */
static void test_damage(void **state)
{
	char path[PATH_MAX];
	struct stat st;

	(void)state;
	need_reliable();
	memory_path(path);
	assert_int_equal(stat(path, &st), 0);
	for (off_t i = 0; i < st.st_size; i += st.st_size / 40) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		unsigned char c;

		assert_int_equal(pread(fd, &c, 1, i), 1);
		c ^= 0x41;
		assert_int_equal(pwrite(fd, &c, 1, i), 1);
		(void)close(fd);
		assert_true(agree("a damaged memory") >= DIRS);
		/* That walk wrote it anew. */
		assert_true(agree("a new one") < DIRS);
	}
	assert_int_equal(truncate(path, st.st_size / 2), 0);
	assert_true(agree("half a memory") >= DIRS);
	assert_int_equal(truncate(path, 0), 0);
	assert_true(agree("an empty one") >= DIRS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_young),   cmocka_unit_test(test_changes),
		cmocka_unit_test(test_listed),  cmocka_unit_test(test_mount),
		cmocka_unit_test(test_upgrade), cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
