/* SPDX-License-Identifier: Apache-2.0 */
/* The store of snapshots when things go wrong: damage, full disks, hostile exports, many users at one time. */
#include "snap_kit.h"

#include "workspace/snap/digest.h"
#include "workspace/snap/map.h"
#include "workspace/snap/record.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <zstd.h>

static char *store_path(const struct kit *k, const char *name)
{
	static char path[300];

	(void)snprintf(path, sizeof(path), "%s/snapshots/%s", k->state, name);
	return path;
}

static char found[4200];
static const char *found_where;

static int store_find_one(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	(void)st;
	(void)f;
	if (flag == FTW_F && strstr(path, found_where))
		(void)snprintf(found, sizeof(found), "%s", path);
	return 0;
}

/* Some file in a directory of the store. */
static const char *store_find(const struct kit *k, const char *where)
{
	found[0] = '\0';
	found_where = where;
	(void)nftw(store_path(k, where), store_find_one, 16, FTW_PHYS);
	assert_true(found[0] != '\0');
	return found;
}

static void store_flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	char c;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	at = at < 0 ? st.st_size + at : at;
	assert_int_equal(pread(fd, &c, 1, at), 1);
	c = (char)(c ^ 0x40);
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
	(void)close(fd);
}

/* Every file of the store damaged in turn: verify says so, a restore fails and changes nothing. */
static void test_damage(void **state)
{
	static const char *const wheres[] = {"objects/", "listings/", "names/"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wheres); i++)
		for (int cut = 0; cut < 3; cut++) {
			struct snap_restore_options o = {.may_remove = kit_yes};
			struct snap_verified v;
			char *before, *after;
			struct kit k;
			int r;

			kit_start_quick(&k);
			kit_write(&k, "a", "some text that is saved");
			kit_take(&k, "s", NULL);
			kit_write(&k, "a", "another text of it here");
			before = kit_describe(k.tree, false);
			assert_int_equal(snap_verify(k.store, NULL, &v, &k.err), 0);
			snap_verified_done(&v);
			if (cut == 0)
				store_flip(store_find(&k, wheres[i]), -3);
			else if (cut == 1)
				assert_int_equal(truncate(store_find(&k, wheres[i]), 5), 0);
			else if (i < 2)
				assert_int_equal(unlink(store_find(&k, wheres[i])), 0);
			else
				store_flip(store_find(&k, wheres[i]), 0);
			r = snap_restore(k.store, "s", &o, NULL, &k.err);
			if (r != CORDON_E_CORRUPT)
				fail_msg("%s, way %d: restored with %d", wheres[i], cut, r);
			after = kit_describe(k.tree, false);
			kit_assert_same(before, after, "a restore that failed");
			assert_int_equal(snap_verify(k.store, NULL, &v, &k.err), CORDON_E_CORRUPT);
			assert_true(v.problems.n > 0);
			snap_verified_done(&v);
			free(before);
			free(after);
			kit_end(&k);
		}
}

/* What is damaged is set aside, and the next snapshot of the same tree writes it anew: the first one is whole again. */
static void test_set_aside(void **state)
{
	static const char *const wheres[] = {"objects/", "listings/"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wheres); i++)
		for (int cut = 0; cut < 3; cut++) {
			struct snap_restore_options o = {.may_remove = kit_yes};
			struct snap_verified v;
			struct kit k;
			char *text;

			kit_start_quick(&k);
			kit_write(&k, "a", "some text that is saved");
			(void)usleep(60000); /* old enough to be noted */
			kit_take(&k, "s", NULL);
			if (cut == 0)
				store_flip(store_find(&k, wheres[i]), -3);
			else if (cut == 1)
				assert_int_equal(truncate(store_find(&k, wheres[i]), 5), 0);
			else
				assert_int_equal(unlink(store_find(&k, wheres[i])), 0);
			/* The control: by itself the next snapshot does not notice. */
			if (cut < 2) {
				struct stat st;

				assert_int_equal(stat(kit_path(&k, "a"), &st), 0);
				kit_take(&k, "control", NULL);
				kit_write(&k, "a", "another");
				assert_int_equal(snap_restore(k.store, "control", &o, NULL, &k.err),
						 CORDON_E_CORRUPT);
				assert_int_equal(snap_remove(k.store, "control", &k.err), 0);
				kit_write(&k, "a", "some text that is saved");
				assert_int_equal(
					utimensat(AT_FDCWD, kit_path(&k, "a"),
						  (struct timespec[]){st.st_atim, st.st_mtim}, 0),
					0);
			}
			assert_int_equal(snap_verify(k.store, NULL, &v, &k.err), CORDON_E_CORRUPT);
			assert_int_equal(v.set_aside, cut < 2);
			snap_verified_done(&v);
			kit_take(&k, "again", NULL);
			assert_int_equal(snap_verify(k.store, NULL, &v, &k.err), 0);
			assert_int_equal(v.snapshots, 2);
			snap_verified_done(&v);
			kit_write(&k, "a", "another");
			assert_int_equal(snap_restore(k.store, "s", &o, NULL, &k.err), 0);
			text = kit_read(&k, "a");
			assert_string_equal(text, "some text that is saved");
			free(text);
			assert_int_equal(snap_gc(k.store, NULL, &k.err), 0);
			kit_end(&k);
		}
}

/* Pages that somebody has mapped change without a time of change. */
static void test_mapped(void **state)
{
	static const char *const places[] = {"/dev/shm", "/var/tmp"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct snap_restore_options o = {.may_remove = kit_yes};
		struct snap_info info = {0};
		struct kit k;
		char *mapped, *text;
		int fd;

		if (access(places[i], W_OK) < 0)
			continue;
		kit_start_in(&k, places[i]);
		kit_write(&k, "a", "first text");
		kit_write(&k, "b", "a file that nobody has open");
		fd = open(kit_path(&k, "a"), O_RDWR | O_CLOEXEC);
		mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_true(mapped != MAP_FAILED);
		(void)close(fd);
		memcpy(mapped, "second", 6);
		(void)usleep(60000);
		kit_take(&k, "one", NULL);
		memcpy(mapped, "third ", 6); /* the page is dirty already: nothing is noted */
		kit_take(&k, "two", &info);
		assert_int_equal(info.read_files, 1);
		snap_info_done(&info);
		(void)munmap(mapped, 4096);
		kit_write(&k, "a", "gone");
		assert_int_equal(snap_restore(k.store, "two", &o, NULL, &k.err), 0);
		text = kit_read(&k, "a");
		assert_string_equal(text, "third text");
		free(text);
		assert_int_equal(snap_restore(k.store, "one", &o, NULL, &k.err), 0);
		text = kit_read(&k, "a");
		assert_string_equal(text, "secondtext");
		free(text);
		kit_end(&k);
	}
}

/* A damaged index only costs time. */
static void test_damaged_index(void **state)
{
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	kit_write(&k, "a", "text");
	kit_take(&k, "s", NULL);
	store_flip(store_find(&k, "index/"), 60);
	kit_take(&k, "t", NULL);
	kit_restore(&k, "t");
	kit_end(&k);
}

static void test_gc(void **state)
{
	struct snap_swept swept;
	struct snap_verified v;
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	kit_write(&k, "a", "needed by both");
	kit_write(&k, "b", "needed by the first");
	kit_take(&k, "one", NULL);
	kit_write(&k, "b", "needed by the second");
	kit_take(&k, "two", NULL);
	assert_int_equal(snap_gc(k.store, &swept, &k.err), 0);
	assert_int_equal(swept.objects, 0);
	assert_int_equal(snap_remove(k.store, "two", &k.err), 0);
	assert_int_equal(snap_remove(k.store, "two", &k.err), CORDON_E_NOT_FOUND);
	assert_int_equal(snap_gc(k.store, &swept, &k.err), 0);
	assert_int_equal(swept.objects, 2); /* b and the listing */
	assert_int_equal(swept.kept, 3);
	assert_int_equal(snap_verify(k.store, NULL, &v, &k.err), 0);
	assert_int_equal(v.snapshots, 1);
	assert_int_equal(v.objects, 2);
	snap_verified_done(&v);
	kit_restore(&k, "one");
	/* A record that cannot be read could need anything: nothing is removed. */
	kit_take(&k, "three", NULL);
	store_flip(store_path(&k, "names/three"), 20);
	assert_int_equal(snap_gc(k.store, &swept, &k.err), CORDON_E_CORRUPT);
	kit_end(&k);
}

/* Somebody sweeps all the time while others take and remove: nothing that is needed is lost. */
static void test_concurrent(void **state)
{
	pid_t pids[4];
	struct snap_verified v;
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] > 0)
			continue;
		for (int n = 0; n < 25; n++) {
			char tree[160], file[200], name[32];
			const char *roots[] = {tree};
			struct snap_take_options o = {
				.name = name, .roots = roots, .root_count = 1};
			struct snap_info info = {0};
			struct snap_store *s = NULL;
			struct snap_swept swept;
			int fd;

			if (snap_open(k.state, &s, NULL) < 0)
				_exit(1);
			if (i == 3) {
				if (snap_gc(s, &swept, NULL) < 0)
					_exit(2);
				snap_close(s);
				continue;
			}
			(void)snprintf(tree, sizeof(tree), "%s/t%d", k.top, i);
			(void)mkdir(tree, 0755);
			(void)snprintf(file, sizeof(file), "%s/f", tree);
			fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
			/* the same in all trees, now here and now there */
			if (dprintf(fd, "content %d", n / 2) < 0)
				_exit(3);
			(void)close(fd);
			(void)snprintf(name, sizeof(name), "s%d-%d", i, n);
			if (snap_take(s, &o, &info, NULL) < 0)
				_exit(4);
			if (n % 3 == 1 && snap_remove(s, name, NULL) < 0)
				_exit(5);
			snap_info_done(&info);
			snap_close(s);
		}
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		if (status != 0)
			fail_msg("process %d: %d", i, WEXITSTATUS(status));
	}
	if (snap_verify(k.store, NULL, &v, &k.err) < 0)
		fail_msg("%s", k.err.message);
	assert_int_equal(v.snapshots, 3 * 17);
	snap_verified_done(&v);
	kit_end(&k);
}

/* In a mount namespace of its own; false when we may not. */
static bool small_disk(const char *where, const char *options)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", where, "tmpfs", 0, options) == 0;
}

static void fill(const char *dir)
{
	static char data[65536];
	char path[200];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/filler", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, data, sizeof(data)) > 0)
		;
	while (write(fd, data, 1) > 0)
		;
	(void)close(fd);
}

static void in_child(void (*what)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		what();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
		fail_msg("it went wrong: see above");
	if (WEXITSTATUS(status) == 77) {
		print_message("# skip: no mount namespace\n");
		skip();
	}
}

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			print_error("%s:%d: %s\n", __FILE__, __LINE__, #what);                     \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* The store's disk is full: the snapshot fails, what was there stays good, and with room again all is well. */
static void full_store(void)
{
	struct kit k = {0};
	const char *roots[] = {k.tree};
	struct snap_take_options o = {.name = "two", .roots = roots, .root_count = 1};
	struct snap_info info = {0};
	struct snap_verified v;
	char filler[120];

	(void)snprintf(k.top, sizeof(k.top), "/tmp/cordon-snap-XXXXXX");
	CHECK(mkdtemp(k.top));
	(void)snprintf(k.tree, sizeof(k.tree), "%s/tree", k.top);
	(void)snprintf(k.state, sizeof(k.state), "%s/state", k.top);
	(void)snprintf(filler, sizeof(filler), "%s/filler", k.state);
	CHECK(mkdir(k.tree, 0755) == 0 && mkdir(k.state, 0700) == 0);
	if (!small_disk(k.state, "size=2m,mode=0700")) {
		kit_remove(k.top);
		_exit(77);
	}
	CHECK(snap_open(k.state, &k.store, &k.err) == 0);
	kit_write(&k, "a", "text");
	kit_take(&k, "one", NULL);
	kit_write(&k, "a", "changed");
	fill(k.state);
	CHECK(snap_take(k.store, &o, &info, &k.err) == CORDON_E_SYSTEM);
	CHECK(strstr(k.err.message, "No space left"));
	CHECK(!strchr(k.err.message, '\n'));
	CHECK(snap_verify(k.store, NULL, &v, &k.err) == 0 && v.snapshots == 1);
	snap_verified_done(&v);
	CHECK(unlink(filler) == 0);
	CHECK(snap_take(k.store, &o, &info, &k.err) == 0);
	CHECK(snap_verify(k.store, NULL, &v, &k.err) == 0 && v.snapshots == 2);
	snap_close(k.store);
	(void)umount2(k.state, MNT_DETACH);
	kit_remove(k.top);
}

static void test_full_store(void **state)
{
	(void)state;
	in_child(full_store);
}

/* The tree's disk is full: the restore fails before it has changed anything. */
static void full_tree(void)
{
	struct snap_restore_options o = {.may_remove = NULL};
	char *before, *after;
	struct kit k = {0};
	static char text[300001];

	(void)snprintf(k.top, sizeof(k.top), "/tmp/cordon-snap-XXXXXX");
	CHECK(mkdtemp(k.top));
	(void)snprintf(k.tree, sizeof(k.tree), "%s/tree", k.top);
	(void)snprintf(k.state, sizeof(k.state), "%s/state", k.top);
	CHECK(mkdir(k.tree, 0755) == 0);
	if (!small_disk(k.tree, "size=2m,mode=0755")) {
		kit_remove(k.top);
		_exit(77);
	}
	memset(text, 'x', sizeof(text) - 1);
	CHECK(snap_open(k.state, &k.store, &k.err) == 0);
	kit_write(&k, "a", text);
	kit_write(&k, "b", text);
	kit_write(&k, "c", "small");
	kit_take(&k, "s", NULL);
	kit_write(&k, "a", "short");
	kit_write(&k, "c", "changed");
	CHECK(unlink(kit_path(&k, "b")) == 0);
	fill(k.tree);
	before = kit_describe(k.tree, false);
	CHECK(snap_restore(k.store, "s", &o, NULL, &k.err) == CORDON_E_SYSTEM);
	CHECK(strstr(k.err.message, "No space left"));
	after = kit_describe(k.tree, false);
	kit_assert_same(before, after, "the tree on a full disk");
	CHECK(unlink(kit_path(&k, "filler")) == 0);
	CHECK(snap_restore(k.store, "s", &o, NULL, &k.err) == 0);
	free(before);
	before = kit_read(&k, "b");
	CHECK(before && strcmp(before, text) == 0);
	free(before);
	free(after);
	snap_close(k.store);
	(void)umount2(k.tree, MNT_DETACH);
	kit_remove(k.top);
}

static void test_full_tree(void **state)
{
	(void)state;
	in_child(full_tree);
}

/* A store that cannot be written: it can be looked at, and the rest says why not. */
static void read_only_store(void)
{
	struct snap_restore_options o = {.is_dry_run = true};
	struct snap_take_options t = {.name = "two", .root_count = 1};
	struct snap_info info = {0};
	struct snap_list list = {0};
	struct snap_verified v;
	const char *roots[1];
	struct kit k;

	kit_start(&k);
	kit_write(&k, "a", "text");
	kit_take(&k, "one", NULL);
	kit_write(&k, "a", "changed");
	snap_close(k.store);
	k.store = NULL;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(k.state, k.state, NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, k.state, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0) {
		kit_remove(k.top);
		_exit(77);
	}
	CHECK(snap_open(k.state, &k.store, &k.err) == 0);
	roots[0] = k.tree;
	t.roots = roots;
	CHECK(snap_list(k.store, NULL, &list, NULL, &k.err) == 0 && list.n == 1);
	CHECK(snap_verify(k.store, NULL, &v, &k.err) == 0);
	CHECK(snap_restore(k.store, "one", &o, NULL, &k.err) == 0);
	CHECK(snap_take(k.store, &t, &info, &k.err) == CORDON_E_SYSTEM);
	CHECK(strstr(k.err.message, "Read-only"));
	o.is_dry_run = false;
	CHECK(snap_restore(k.store, "one", &o, NULL, &k.err) == CORDON_E_SYSTEM);
	CHECK(snap_remove(k.store, "one", &k.err) == CORDON_E_SYSTEM);
	CHECK(snap_gc(k.store, NULL, &k.err) == CORDON_E_SYSTEM);
	snap_list_done(&list);
	snap_verified_done(&v);
	snap_close(k.store);
	(void)umount2(k.state, MNT_DETACH);
	kit_remove(k.top);
}

static void test_read_only_store(void **state)
{
	(void)state;
	in_child(read_only_store);
}

/* ---- exports ---- */

static int memory_file(const void *data, size_t len)
{
	int fd = memfd_create("export", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static char *export_bytes(struct kit *k, const char *name, size_t *ret_len)
{
	int fd = memfd_create("export", MFD_CLOEXEC);
	char *data = NULL;

	assert_int_equal(snap_export(k->store, name, fd, &k->err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(io_read_all(fd, 64 << 20, CLOCK_NEVER, &data, ret_len), 0);
	(void)close(fd);
	return data;
}

static int import_bytes(struct kit *k, const void *data, size_t len, const char *name)
{
	int fd = memory_file(data, len);
	struct snap_info info = {0};
	int r = snap_import(k->store, fd, name, &info, &k->err);

	snap_info_done(&info);
	(void)close(fd);
	return r;
}

static void test_export(void **state)
{
	char other[128], *data, *before, *after;
	struct snap_restore_options o = {0};
	struct kit k, k2;
	size_t len;
	struct stat st;

	(void)state;
	kit_start_quick(&k);
	kit_start_quick(&k2);
	kit_write(&k, "a", "text");
	assert_int_equal(mkdir(kit_path(&k, "d"), 0750), 0);
	kit_write(&k, "d/b", "more text");
	assert_int_equal(symlink("a", kit_path(&k, "l")), 0);
	before = kit_describe(k.tree, false);
	kit_take(&k, "s", NULL);
	kit_write(&k, "setuid", "#!/bin/sh\n");
	assert_int_equal(chmod(kit_path(&k, "setuid"), 04755), 0);
	kit_take(&k, "t", NULL);
	data = export_bytes(&k, "s", &len);
	assert_int_equal(import_bytes(&k2, data, len, NULL), 0);
	assert_int_equal(import_bytes(&k2, data, len, NULL),
			 CORDON_E_INVALID); /* the name is taken */
	assert_int_equal(import_bytes(&k2, data, len, "other"), 0);
	assert_int_equal(import_bytes(&k2, data, len, "../other"), CORDON_E_INVALID);
	free(data);
	/* Where it came from is somebody else's place. */
	assert_int_equal(snap_restore(k2.store, "s", &o, NULL, &k2.err), CORDON_E_REFUSED);
	(void)snprintf(other, sizeof(other), "%s/restored", k2.top);
	o.target = other;
	assert_int_equal(snap_restore(k2.store, "s", &o, NULL, &k2.err), 0);
	after = kit_describe(other, false);
	kit_assert_same(before, after, "imported");
	free(before);
	free(after);
	/* What somebody gave us makes no program of ours a privileged one. */
	data = export_bytes(&k, "t", &len);
	assert_int_equal(import_bytes(&k2, data, len, NULL), 0);
	free(data);
	assert_int_equal(snap_restore(k2.store, "t", &o, NULL, &k2.err), 0);
	(void)snprintf(other, sizeof(other), "%s/restored/setuid", k2.top);
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	kit_end(&k);
	kit_end(&k2);
}

static void assert_store_empty(struct kit *k)
{
	struct snap_list list = {0};
	struct snap_swept swept;

	assert_int_equal(snap_list(k->store, NULL, &list, NULL, &k->err), 0);
	assert_int_equal(list.n, 0);
	assert_int_equal(snap_gc(k->store, &swept, &k->err), 0);
	assert_int_equal(swept.objects, 0);
	assert_int_equal(swept.kept, 0);
	snap_list_done(&list);
}

/* Cut at every byte, and every byte changed: an error of one line, and nothing in the store. */
static void test_broken_exports(void **state)
{
	struct kit k, k2;
	char *data;
	size_t len;

	(void)state;
	kit_start_quick(&k);
	kit_start_quick(&k2);
	kit_write(&k, "a", "text");
	kit_take(&k, "s", NULL);
	data = export_bytes(&k, "s", &len);
	for (size_t i = 0; i < len; i++) {
		char kept = data[i];
		int r;

		assert_int_equal(import_bytes(&k2, data, i, NULL), CORDON_E_CORRUPT);
		assert_null(strchr(k2.err.message, '\n'));
		data[i] = (char)(kept ^ (1 << i % 8));
		r = import_bytes(&k2, data, len, NULL);
		if (r >= 0)
			fail_msg("byte %zu changed and imported", i);
		data[i] = kept;
	}
	data = realloc(data, len + 1);
	data[len] = 'x';
	assert_int_equal(import_bytes(&k2, data, len + 1, NULL), CORDON_E_CORRUPT);
	assert_store_empty(&k2);
	assert_int_equal(import_bytes(&k2, data, len, NULL), 0); /* the control */
	free(data);
	kit_end(&k);
	kit_end(&k2);
}

/* A listing made by hand, in an export whose hashes are all right. */
struct forged {
	struct buf entries;
	uint64_t n;
};

static void forge_entry(struct forged *f, enum snap_kind kind, const char *path, const char *text)
{
	uint8_t digest[SNAP_DIGEST];
	struct snap_entry e = {.kind = kind, .mode = 0755, .path = path, .target = "/etc"};

	if (text) {
		snap_digest(text, strlen(text), digest);
		e.size = strlen(text);
		e.chunks = digest;
		e.n_chunks = 1;
	}
	snap_entry_encode(&f->entries, &e);
	f->n++;
}

static void forge_object(struct buf *b, const char *text, const void *packed, size_t packed_len)
{
	uint8_t digest[SNAP_DIGEST];

	snap_digest(text, strlen(text), digest);
	buf_add(b, digest, SNAP_DIGEST);
	snap_put(b, packed != NULL, 1);
	snap_put(b, packed ? packed_len : strlen(text), 4);
	buf_add(b, packed ? packed : text, packed ? packed_len : strlen(text));
}

/* objects: as they are to stand, n_objects: what is said about their number. */
static int forge_import(struct kit *k, struct forged *f, const struct buf *objects,
			uint64_t n_objects)
{
	const struct snap_tree tree = {.path = "/w", .only = ""};
	struct snap_info info = {.name = strdup("forged"), .owner = strdup("")};
	struct buf listing = BUF_INIT(1 << 20), out = BUF_INIT(1 << 24), record = BUF_INIT(1 << 16);
	size_t cap, n;
	char *packed;
	int r;

	snap_manifest_head(&listing, &tree, 1, f->n);
	buf_add(&listing, f->entries.data, f->entries.len);
	snap_digest(listing.data, listing.len, info.manifest);
	assert_int_equal(strv_add(&info.roots, "/w"), 0);
	snap_record_encode(&record, &info);
	cap = ZSTD_compressBound(listing.len);
	packed = malloc(cap);
	n = ZSTD_compress(packed, cap, listing.data, listing.len, 1);
	buf_str(&out, "cordon-export-1\n");
	snap_put(&out, record.len, 4);
	buf_add(&out, record.data, record.len);
	snap_put(&out, n, 8);
	buf_add(&out, packed, n);
	snap_put(&out, n_objects, 8);
	if (objects)
		buf_add(&out, objects->data, objects->len);
	snap_put_seal(&out);
	assert_int_equal(buf_error(&out), 0);
	r = import_bytes(k, out.data, out.len, NULL);
	free(packed);
	buf_done(&listing);
	buf_done(&record);
	buf_done(&out);
	snap_info_done(&info);
	buf_clear(&f->entries);
	f->n = 0;
	return r;
}

static void test_hostile_listings(void **state)
{
	static const char *const bad[] = {"/etc/passwd", "..",    "../x", ".",
					  "./x",         "a//b",  "a/",   "a/..",
					  "a/../x",      "a/./b", "",     "missing/x"};
	struct forged f = {.entries = BUF_INIT(1 << 20)};
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		forge_entry(&f, SNAP_DIR, "", NULL);
		forge_entry(&f, SNAP_DIR, "a", NULL);
		forge_entry(&f, SNAP_FIFO, bad[i], NULL);
		if (forge_import(&k, &f, NULL, 0) != CORDON_E_CORRUPT)
			fail_msg("'%s' was accepted", bad[i]);
	}
	/* through a link */
	forge_entry(&f, SNAP_DIR, "", NULL);
	forge_entry(&f, SNAP_LINK, "l", NULL);
	forge_entry(&f, SNAP_FIFO, "l/x", NULL);
	assert_int_equal(forge_import(&k, &f, NULL, 0), CORDON_E_CORRUPT);
	/* twice, and in the wrong order */
	forge_entry(&f, SNAP_DIR, "", NULL);
	forge_entry(&f, SNAP_LINK, "l", NULL);
	forge_entry(&f, SNAP_DIR, "l", NULL);
	assert_int_equal(forge_import(&k, &f, NULL, 0), CORDON_E_CORRUPT);
	forge_entry(&f, SNAP_DIR, "", NULL);
	forge_entry(&f, SNAP_DIR, "b", NULL);
	forge_entry(&f, SNAP_DIR, "a", NULL);
	assert_int_equal(forge_import(&k, &f, NULL, 0), CORDON_E_CORRUPT);
	/* a tree that is no directory */
	forge_entry(&f, SNAP_LINK, "", NULL);
	assert_int_equal(forge_import(&k, &f, NULL, 0), CORDON_E_CORRUPT);
	assert_store_empty(&k);
	/* the control: this is what they would look like */
	forge_entry(&f, SNAP_DIR, "", NULL);
	forge_entry(&f, SNAP_DIR, "a", NULL);
	forge_entry(&f, SNAP_FIFO, "a/b", NULL);
	forge_entry(&f, SNAP_LINK, "l", NULL);
	assert_int_equal(forge_import(&k, &f, NULL, 0), 0);
	buf_done(&f.entries);
	kit_end(&k);
}

static void forge_one_file(struct forged *f, const char *text)
{
	forge_entry(f, SNAP_DIR, "", NULL);
	forge_entry(f, SNAP_FILE, "f", text);
}

static void test_hostile_objects(void **state)
{
	struct forged f = {.entries = BUF_INIT(1 << 20)};
	struct buf o = BUF_INIT(1 << 22);
	const char *text = "the content";
	size_t bomb_len = (size_t)256 << 20, cap = ZSTD_compressBound((size_t)256 << 20), n;
	char *bomb = calloc(1, bomb_len), *packed = malloc(cap);
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	forge_object(&o, text, NULL, 0);
	forge_object(&o, text, NULL, 0);
	forge_one_file(&f, text);
	assert_int_equal(forge_import(&k, &f, &o, 2), CORDON_E_CORRUPT); /* one too many */
	forge_one_file(&f, text);
	assert_int_equal(forge_import(&k, &f, &o, 1), CORDON_E_CORRUPT); /* bytes behind it */
	forge_one_file(&f, text);
	assert_int_equal(forge_import(&k, &f, NULL, 0), CORDON_E_CORRUPT); /* none */
	/* two are needed, and one comes twice */
	forge_entry(&f, SNAP_DIR, "", NULL);
	forge_entry(&f, SNAP_FILE, "f", text);
	forge_entry(&f, SNAP_FILE, "g", "another content");
	assert_int_equal(forge_import(&k, &f, &o, 2), CORDON_E_CORRUPT);
	buf_clear(&o);
	forge_object(&o, "something else", NULL, 0);
	forge_one_file(&f, text);
	assert_int_equal(forge_import(&k, &f, &o, 1), CORDON_E_CORRUPT); /* not needed */
	/* 256 MiB of zeros in some bytes that bear the hash of the text */
	n = ZSTD_compress(packed, cap, bomb, bomb_len, 19);
	assert_true(n < 65536);
	buf_clear(&o);
	forge_object(&o, text, packed, n);
	forge_one_file(&f, text);
	assert_int_equal(forge_import(&k, &f, &o, 1), CORDON_E_CORRUPT);
	/* the same without saying how much it holds */
	{
		ZSTD_CCtx *c = ZSTD_createCCtx();

		assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0)));
		n = ZSTD_compress2(c, packed, cap, bomb, bomb_len);
		ZSTD_freeCCtx(c);
	}
	buf_clear(&o);
	forge_object(&o, text, packed, n);
	forge_one_file(&f, text);
	assert_int_equal(forge_import(&k, &f, &o, 1), CORDON_E_CORRUPT);
	assert_store_empty(&k);
	buf_clear(&o);
	forge_object(&o, text, NULL, 0); /* the control */
	forge_one_file(&f, text);
	assert_int_equal(forge_import(&k, &f, &o, 1), 0);
	free(bomb);
	free(packed);
	buf_done(&o);
	buf_done(&f.entries);
	kit_end(&k);
}

/* The modes of everything in the store. */
static int store_check_mode(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	(void)f;
	if ((st->st_mode & 0777) != (flag == FTW_D ? 0700 : 0600))
		fail_msg("'%s' has mode %o", path, st->st_mode & 07777);
	return 0;
}

static void test_modes(void **state)
{
	struct kit k;

	(void)state;
	kit_start_quick(&k);
	(void)umask(0);
	kit_write(&k, "a", "text");
	kit_take(&k, "s", NULL);
	kit_write(&k, "a", "changed");
	kit_restore(&k, "s");
	(void)nftw(store_path(&k, ""), store_check_mode, 16, FTW_PHYS);
	kit_end(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_set_aside),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_damaged_index),
		cmocka_unit_test(test_gc),
		cmocka_unit_test(test_concurrent),
		cmocka_unit_test(test_full_store),
		cmocka_unit_test(test_full_tree),
		cmocka_unit_test(test_read_only_store),
		cmocka_unit_test(test_export),
		cmocka_unit_test(test_broken_exports),
		cmocka_unit_test(test_hostile_listings),
		cmocka_unit_test(test_hostile_objects),
		cmocka_unit_test(test_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
