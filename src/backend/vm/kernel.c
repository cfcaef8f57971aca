/* SPDX-License-Identifier: Apache-2.0 */
/* See kernel.h: finding it, and the directory of what is made of it. */
#include "backend/vm/kernel.h"

#include "backend/vm/initrd.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/sha256.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_PREFIX "vmlinuz-"
#define KERNEL_ENTRIES_MAX 4096 /* names of a /boot that are looked at */
#define KERNEL_LOCK_MS 120000   /* somebody else boots a machine meanwhile */

/* The highest version in top that has modules; in ret, or -ENOENT. */
static int kernel_in(const char *top, struct vm_kernel *ret)
{
	AUTO_FREE char *boot = NULL;
	AUTO_FREE char *best = NULL;
	struct dirent *e;
	DIR *dir;

	if (asprintf(&boot, "%s/boot", top) < 0)
		return -ENOMEM;
	dir = opendir(boot);
	if (!dir)
		return -errno;
	for (int i = 0; i < KERNEL_ENTRIES_MAX && (e = readdir(dir)); i++) {
		const char *version = e->d_name + strlen(KERNEL_PREFIX);
		AUTO_FREE char *modules = NULL;

		if (!str_starts(e->d_name, KERNEL_PREFIX) ||
		    (best && strverscmp(version, best) <= 0) ||
		    asprintf(&modules, "%s/lib/modules/%s", top, version) < 0 ||
		    access(modules, R_OK | X_OK) < 0 ||
		    faccessat(dirfd(dir), e->d_name, R_OK, 0) < 0)
			continue;
		free(best);
		best = strdup(version);
	}
	(void)closedir(dir);
	if (!best)
		return -ENOENT;
	if (asprintf(&ret->image, "%s/%s%s", boot, KERNEL_PREFIX, best) < 0) {
		ret->image = NULL;
		return -ENOMEM;
	}
	if (asprintf(&ret->modules, "%s/lib/modules/%s", top, best) < 0) {
		ret->modules = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* The build is known by its file: the first process and the launcher are in it. */
static int kernel_key(struct vm_kernel *k)
{
	struct buf text = BUF_INIT(8192);
	struct stat exe;
	struct stat image;
	char hex[SHA256_HEX_LEN];
	int r = stat("/proc/self/exe", &exe) < 0 || stat(k->image, &image) < 0 ? -errno : 0;

	if (r < 0)
		return r;
	buf_printf(&text, "1 %s %llu %lld %lld %llu %lld %lld %lld", k->image,
		   (unsigned long long)image.st_ino, (long long)image.st_size,
		   (long long)image.st_mtim.tv_sec, (unsigned long long)exe.st_ino,
		   (long long)exe.st_size, (long long)exe.st_mtim.tv_sec,
		   (long long)exe.st_mtim.tv_nsec);
	r = buf_error(&text);
	if (r == 0) {
		sha256_hex(text.data, text.len, hex);
		memcpy(k->key, hex, VM_KEY_LEN - 1);
		k->key[VM_KEY_LEN - 1] = '\0';
	}
	buf_done(&text);
	return r;
}

int vm_kernel_find(struct vm_kernel *ret, char ret_why[static VM_WHY_MAX])
{
	const char *wanted = env_get("CORDON_VM_KERNEL");
	AUTO_FREE char *state = NULL;
	AUTO_FREE char *kept = NULL;
	int r = -ENOENT;

	*ret = (struct vm_kernel){0};
	if (wanted) {
		r = kernel_in(wanted, ret);
		(void)snprintf(ret_why, VM_WHY_MAX,
			       "CORDON_VM_KERNEL: no readable boot/vmlinuz-* with lib/modules in "
			       "'%.60s'; unpack a linux-image package there",
			       wanted);
	} else {
		if (env_state_dir(&state) == 0 && asprintf(&kept, "%s/vm/kernel", state) >= 0)
			r = kernel_in(kept, ret);
		if (r < 0)
			r = kernel_in("", ret);
		(void)snprintf(ret_why, VM_WHY_MAX,
			       "no readable kernel in /boot with its modules; apt install "
			       "linux-image-amd64, or set CORDON_VM_KERNEL to an unpacked one");
	}
	if (r == 0)
		r = kernel_key(ret);
	if (r < 0)
		vm_kernel_done(ret);
	return r;
}

void vm_kernel_done(struct vm_kernel *k)
{
	free(k->image);
	free(k->modules);
	*k = (struct vm_kernel){0};
}

int vm_store_open(const char *key, struct vm_store *ret, struct cordon_error *err)
{
	AUTO_FREE char *state = NULL;
	AUTO_FREE char *path = NULL;
	int r = env_state_dir(&state);

	*ret = VM_STORE_NONE;
	if (r == 0 && asprintf(&path, "%s/vm/%s", state, key) < 0)
		r = -ENOMEM;
	if (r < 0)
		return cordon_fail_leaf(err, r, "find the state directory");
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return cordon_fail_errno(err, errno, "make '%s'", path);
		if (!slash)
			break;
		*slash = '/';
	}
	ret->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return ret->dir < 0 ? cordon_fail_errno(err, errno, "open '%s'", path) : 0;
}

int vm_store_lock(struct vm_store *s, struct cordon_error *err)
{
	int r;

	s->lock = openat(s->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	r = s->lock < 0 ? -errno : fd_flock(s->lock, LOCK_EX, clock_deadline(KERNEL_LOCK_MS));
	if (r < 0) {
		vm_store_unlock(s);
		return cordon_fail_leaf(err, r, "wait for the files of virtual machines");
	}
	return 0;
}

void vm_store_unlock(struct vm_store *s)
{
	s->lock = fd_close(s->lock);
}

void vm_store_done(struct vm_store *s)
{
	vm_store_unlock(s);
	s->dir = fd_close(s->dir);
}

int vm_store_full(struct cordon_error *err, int r, int code)
{
	return r == -ENOSPC || r == -EDQUOT
		       ? cordon_hint(
				 err, code,
				 "machines need 400 MiB in the state directory (CORDON_STATE_DIR)")
		       : code;
}

static int kernel_both(const struct vm_store *store, int *ret_kernel, int *ret_initrd)
{
	AUTO_CLOSE int kernel = openat(store->dir, "kernel", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int initrd = kernel < 0 ? -1
				: openat(store->dir, "initrd", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (initrd < 0)
		return -errno;
	*ret_kernel = TAKE_FD(kernel);
	*ret_initrd = initrd;
	return 0;
}

int vm_kernel_open(const struct vm_kernel *k, struct vm_store *store, int *ret_kernel,
		   int *ret_initrd, struct cordon_error *err)
{
	int r = kernel_both(store, ret_kernel, ret_initrd);

	if (r == 0)
		return 0;
	r = vm_store_lock(store, err);
	if (r == 0 && kernel_both(store, ret_kernel, ret_initrd) == 0) {
		vm_store_unlock(store);
		return 0;
	}
	if (r == 0)
		r = vm_initrd_make(k, store->dir, err);
	vm_store_unlock(store);
	if (r < 0)
		return r;
	r = kernel_both(store, ret_kernel, ret_initrd);
	return r < 0 ? cordon_fail_leaf(err, r, "open the kernel of virtual machines") : 0;
}

void vm_kernel_forget(const struct vm_store *store)
{
	(void)unlinkat(store->dir, "kernel", 0); /* or another call has done it */
	(void)unlinkat(store->dir, "initrd", 0);
}
