/* SPDX-License-Identifier: Apache-2.0 */
/* See template.h. */
#include "backend/vm/template.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define TEMPLATE_RAM_DRAFT "draft.ram"
#define TEMPLATE_STATE_DRAFT "draft.state"
#define TEMPLATE_ROOM_BYTES (256 * 1024 * 1024) /* more than a machine has used when it is saved */
#define TEMPLATE_FILE_MAX (VM_TEMPLATE_NAME_MAX + 8)

int vm_template_name(const struct machine *m, int tool, char ret[static VM_TEMPLATE_NAME_MAX])
{
	struct stat st;
	uint64_t mark;

	if (fstat(tool, &st) < 0)
		return -errno;
	/* Another emulator's file differs in one of them. */
	mark = (uint64_t)st.st_ino * 0x9e3779b97f4a7c15u ^ (uint64_t)st.st_mtim.tv_sec << 20 ^
	       (uint64_t)st.st_mtim.tv_nsec ^ (uint64_t)st.st_size << 40;
	(void)snprintf(ret, VM_TEMPLATE_NAME_MAX, "%s-%u-%016llx", m->has_kvm ? "kvm" : "tcg",
		       m->memory_mb, (unsigned long long)mark);
	return 0;
}

static int template_file(const struct vm_store *store, const char *name, const char *ending)
{
	char file[TEMPLATE_FILE_MAX];
	struct stat st;
	AUTO_CLOSE int fd = -1;

	(void)snprintf(file, sizeof(file), "%s.%s", name, ending);
	fd = openat(store->dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	/* Somebody else's would be a machine of somebody else's. */
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return -EPERM;
	return TAKE_FD(fd);
}

/* Only what is there; the rest of memory is zero. */
static int template_copy(int from, int to, off_t size)
{
	off_t at = 0;

	while (at < size) {
		off_t begin = lseek(from, at, SEEK_DATA);
		off_t end = begin < 0 ? -1 : lseek(from, begin, SEEK_HOLE);

		if (begin < 0)
			return errno == ENXIO ? 0 : -errno; /* nothing more */
		if (end < 0 || lseek(to, begin, SEEK_SET) < 0)
			return -errno;
		while (begin < end) {
			ssize_t n = sendfile(to, from, &begin, (size_t)(end - begin));

			if (n <= 0)
				return n < 0 ? -errno : -EIO;
		}
		at = end;
	}
	return 0;
}

int vm_template_fill(int source, int ram)
{
	struct stat st;
	int r = fstat(source, &st) < 0 ? -errno : template_copy(source, ram, st.st_size);

	/* Private writable mappings are still allowed; that is what a machine of a template has. */
	if (r == 0 &&
	    fcntl(ram, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		r = -errno;
	return r;
}

int vm_template_open(const struct vm_store *store, const char *name, unsigned memory_mb,
		     struct vm_template *ret)
{
	AUTO_CLOSE int state = template_file(store, name, "state");
	AUTO_CLOSE int source = state < 0 ? state : template_file(store, name, "ram");
	AUTO_CLOSE int ram = -1;
	struct stat st;

	if (source < 0)
		return source;
	if (fstat(source, &st) < 0)
		return -errno;
	if (st.st_size != (off_t)memory_mb * 1024 * 1024)
		return -EIO;
	ram = memfd_create("cordon-machine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ram < 0 || ftruncate(ram, st.st_size) < 0)
		return -errno;
	*ret = (struct vm_template){
		.source = TAKE_FD(source), .ram = TAKE_FD(ram), .state = TAKE_FD(state)};
	return 0;
}

void vm_template_done(struct vm_template *t)
{
	t->source = fd_close(t->source);
	t->ram = fd_close(t->ram);
	t->state = fd_close(t->state);
}

void vm_template_forget(const struct vm_store *store, const char *name)
{
	static const char *const endings[] = {"state", "ram"};

	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		char file[TEMPLATE_FILE_MAX];

		(void)snprintf(file, sizeof(file), "%s.%s", name, endings[i]);
		(void)unlinkat(store->dir, file, 0); /* or another call has done it */
	}
}

int vm_draft_make(const struct vm_store *store, unsigned memory_mb, struct vm_draft *ret)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	struct statvfs fs;

	/* Left by one that was killed: the lock is ours. */
	vm_draft_done(store, &(struct vm_draft){.ram = -1, .state = -1});
	ret->state = ret->ram = -1;
	/* An emulator whose memory finds no room dies without a word. */
	if (fstatvfs(store->dir, &fs) < 0)
		return -errno;
	if ((uint64_t)fs.f_bavail * fs.f_frsize < TEMPLATE_ROOM_BYTES)
		return -ENOSPC;
	ret->ram = openat(store->dir, TEMPLATE_RAM_DRAFT, flags, 0600);
	if (ret->ram < 0 || ftruncate(ret->ram, (off_t)memory_mb * 1024 * 1024) < 0)
		return -errno;
	ret->state = openat(store->dir, TEMPLATE_STATE_DRAFT, flags, 0600);
	return ret->state < 0 ? -errno : 0;
}

int vm_draft_keep(const struct vm_store *store, const char *name, struct vm_draft *d)
{
	char ram[TEMPLATE_FILE_MAX];
	char state[TEMPLATE_FILE_MAX];

	(void)snprintf(ram, sizeof(ram), "%s.ram", name);
	(void)snprintf(state, sizeof(state), "%s.state", name);
	/* The devices last: who finds them finds the memory. */
	if (fsync(d->ram) < 0 || fsync(d->state) < 0 ||
	    renameat(store->dir, TEMPLATE_RAM_DRAFT, store->dir, ram) < 0 ||
	    renameat(store->dir, TEMPLATE_STATE_DRAFT, store->dir, state) < 0)
		return -errno;
	return 0;
}

void vm_draft_done(const struct vm_store *store, struct vm_draft *d)
{
	d->ram = fd_close(d->ram);
	d->state = fd_close(d->state);
	(void)unlinkat(store->dir, TEMPLATE_RAM_DRAFT, 0); /* most often it is not there */
	(void)unlinkat(store->dir, TEMPLATE_STATE_DRAFT, 0);
}
