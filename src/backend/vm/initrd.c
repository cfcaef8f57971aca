/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See initrd.h.  A compressed kernel or module is unpacked by the machine's own xz or zstd.  A kernel that cannot be
 * unpacked is used as it is: it starts too, only more slowly.  A module of the list that is not there is built in, or
 * the guest says what it lacks.
 */
#include "backend/vm/initrd.h"

#include "backend/launch/tool.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/str.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define INITRD_MAX (64 * 1024 * 1024)
#define INITRD_KERNEL_MAX (256 * 1024 * 1024)
#define INITRD_MODULE_MAX (16 * 1024 * 1024)
#define INITRD_MODULES_MAX 64
#define INITRD_ENTRIES_MAX 65536

extern const char guest_program[];
extern const char guest_program_end[];
extern const char launch_program[];
extern const char launch_program_end[];

/* What our machines need, and where a kernel keeps it. */
static const char *const initrd_wanted[] = {
	"virtio_pci",
	"virtio_console",
	"9pnet_virtio",
	"9p",
	"virtio_mmio",
	"9pnet_fd",
	"vmw_vsock_virtio_transport", /* without a PCI bus */
	/* The network of an allowlist (capture.h); connections are found by a checksum that is a module too. */
	"crc32c_generic",
	"nft_chain_nat",
	"nft_redir",
	"nft_reject_inet",
};
static const char *const initrd_places[] = {
	"drivers/virtio",     "drivers/char", "net/9p", "net/vmw_vsock", "fs/9p",
	"fs/netfs",           "fs/fscache",   "lib",    "net/netfilter", "net/ipv4/netfilter",
	"net/ipv6/netfilter", "crypto",
};

static const struct {
	const char *suffix;
	const char *program;
	const char *options[2];
	const char *magic;
	size_t magic_len;
} initrd_packers[] = {
	{".xz",
	 "xz",
	 {"-dcq", "--single-stream"},
	 "\xfd"
	 "7zXZ",
	 6},
	{".zst", "zstd", {"-dcq", "--no-sparse"}, "\x28\xb5\x2f\xfd", 4},
};

struct initrd_module {
	char *name; /* without directory and ending, '-' as '_' */
	char *path;
};

struct initrd {
	const struct vm_kernel *kernel;
	struct initrd_module known[INITRD_MODULES_MAX * 16];
	size_t n_known;
	bool is_taken[INITRD_MODULES_MAX * 16];
	struct buf order;
	struct buf out; /* the archive */
	unsigned ino;
	int depth;
};

/* The archive of an initramfs: a head of hexadecimal numbers, a name, the data, each filled up to four bytes. */
static void initrd_add(struct initrd *i, const char *name, unsigned mode, const char *data,
		       size_t len)
{
	static const char zeros[4];

	buf_printf(&i->out, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x",
		   ++i->ino, mode, 0U, 0U, 1U, 0U, len, 0U, 0U, 0U, 0U, strlen(name) + 1, 0U);
	buf_add(&i->out, name, strlen(name) + 1);
	buf_add(&i->out, zeros, -i->out.len & 3);
	if (len > 0)
		buf_add(&i->out, data, len);
	buf_add(&i->out, zeros, -i->out.len & 3);
}

/* Runs an unpacker from in to a file in memory; trailing bytes after the packed part make some of them complain, so
 * the caller judges what came out.  The descriptor or -errno. */
static int initrd_unpack(size_t packer, int in)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	char words_of[3][24];
	char *words[] = {words_of[0], words_of[1], words_of[2], NULL};
	char *none[] = {NULL};
	AUTO_CLOSE int program = tool_open(initrd_packers[packer].program, path, why);
	AUTO_CLOSE int out = memfd_create("unpacked", MFD_CLOEXEC);
	AUTO_CLOSE int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r;

	if (program < 0 || out < 0 || null < 0)
		return program < 0 ? program : -errno;
	(void)snprintf(words_of[0], sizeof(words_of[0]), "%s", initrd_packers[packer].program);
	for (size_t i = 0; i < ARRAY_LEN(initrd_packers[packer].options); i++)
		(void)snprintf(words_of[i + 1], sizeof(words_of[i + 1]), "%s",
			       initrd_packers[packer].options[i]);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	r = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, null, STDERR_FILENO);
	if (r == 0)
		r = posix_spawn(&pid, path, &actions, NULL, words, none);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (r != 0)
		return -r;
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return lseek(out, 0, SEEK_SET) < 0 ? -errno : TAKE_FD(out);
}

/* Is it a whole program file for this processor? */
static bool initrd_is_elf(int fd)
{
	Elf64_Ehdr head;
	struct stat st;

	return fstat(fd, &st) == 0 && pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_machine == EM_X86_64 &&
	       head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize <= (uint64_t)st.st_size;
}

/* The kernel itself, out of the image in data; -ENOENT when it cannot be had, -EBADMSG when what is there is damaged. */
static int initrd_vmlinux(const char *data, size_t len)
{
	int r = -ENOENT;

	for (size_t p = 0; p < ARRAY_LEN(initrd_packers); p++) {
		const char *at =
			memmem(data, len, initrd_packers[p].magic, initrd_packers[p].magic_len);
		AUTO_CLOSE int packed = at ? memfd_create("packed", MFD_CLOEXEC) : -1;
		AUTO_CLOSE int out = -1;

		if (packed < 0 || io_write(packed, at, len - (size_t)(at - data), INT64_MAX) < 0 ||
		    lseek(packed, 0, SEEK_SET) < 0)
			continue;
		out = initrd_unpack(p, packed);
		if (out >= 0 && initrd_is_elf(out))
			return TAKE_FD(out);
		/* Six bytes are not there by chance; four may be. */
		if (out >= 0 && initrd_packers[p].magic_len > 4)
			r = -EBADMSG;
	}
	return r;
}

static int initrd_kernel(const struct vm_kernel *k, int dir, struct cordon_error *err)
{
	AUTO_FREE char *image = NULL;
	AUTO_FREE char *plain = NULL;
	AUTO_CLOSE int fd = -1;
	size_t len = 0;
	int r = io_read_file_at(AT_FDCWD, k->image, INITRD_KERNEL_MAX, &image, &len);

	/* "HdrS" stands in every image that a boot loader can start. */
	if (r == 0 && (len < 0x206 || memcmp(image + 0x202, "HdrS", 4) != 0))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID, "'%s' is not a Linux kernel",
					       k->image),
				   "install linux-image-amd64, or set CORDON_VM_KERNEL");
	if (r == 0) {
		fd = initrd_vmlinux(image, len);
		if (fd == -EBADMSG)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_INVALID,
						       "the kernel '%s' is damaged", k->image),
					   "install its package again");
		if (fd >= 0)
			r = io_read_all(fd, INITRD_KERNEL_MAX, INT64_MAX, &plain, &len);
	}
	if (r == 0)
		r = io_write_file_at(dir, "kernel", plain ? plain : image, len, 0600);
	return r < 0 ? vm_store_full(err, r,
				     cordon_fail_leaf(err, r, "prepare the kernel '%s'", k->image))
		     : 0;
}

/* Which packer made the file of that name; ARRAY_LEN for none. */
static size_t initrd_packer(const char *name)
{
	size_t p = 0;

	while (p < ARRAY_LEN(initrd_packers) && !str_ends(name, initrd_packers[p].suffix))
		p++;
	return p;
}

/* Remembers the modules of one directory. */
static int initrd_look(struct initrd *i, const char *place)
{
	AUTO_FREE char *path = NULL;
	struct dirent *e;
	DIR *dir;
	int r = 0;

	if (asprintf(&path, "%s/kernel/%s", i->kernel->modules, place) < 0)
		return -ENOMEM;
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	for (int n = 0; r == 0 && n < INITRD_ENTRIES_MAX && (e = readdir(dir)); n++) {
		char *ko = strstr(e->d_name, ".ko");
		struct initrd_module *m = &i->known[i->n_known];

		if (!ko || i->n_known == ARRAY_LEN(i->known) ||
		    (ko[3] && initrd_packer(e->d_name) == ARRAY_LEN(initrd_packers)))
			continue;
		m->name = strndup(e->d_name, (size_t)(ko - e->d_name));
		if (asprintf(&m->path, "%s/%s", path, e->d_name) < 0)
			m->path = NULL;
		i->n_known++;
		r = m->name && m->path ? 0 : -ENOMEM;
		for (char *c = m->name; c && *c; c++)
			*c = *c == '-' ? '_' : *c;
	}
	(void)closedir(dir);
	return r;
}

static int initrd_read(const char *path, char **ret, size_t *ret_len)
{
	size_t packer = initrd_packer(path);
	AUTO_CLOSE int fd = -1;
	AUTO_CLOSE int out = -1;

	if (packer == ARRAY_LEN(initrd_packers))
		return io_read_file_at(AT_FDCWD, path, INITRD_MODULE_MAX, ret, ret_len);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	out = fd < 0 ? -errno : initrd_unpack(packer, fd);
	return out < 0 ? out : io_read_all(out, INITRD_MODULE_MAX, INT64_MAX, ret, ret_len);
}

/* Adds a module after those that it says it needs. */
static int initrd_module(struct initrd *i, const char *name, size_t name_len)
{
	static const char key[] = "\0depends=";
	AUTO_FREE char *data = NULL;
	AUTO_FREE char *file = NULL;
	const char *at;
	size_t len;
	size_t m = 0;
	int r;

	while (m < i->n_known && (strlen(i->known[m].name) != name_len ||
				  memcmp(i->known[m].name, name, name_len) != 0))
		m++;
	if (m == i->n_known || i->is_taken[m])
		return 0;
	i->is_taken[m] = true;
	r = initrd_read(i->known[m].path, &data, &len);
	if (r < 0)
		return r;
	at = memmem(data, len, key, sizeof(key) - 1);
	at = at ? at + sizeof(key) - 1 : "";
	while (r == 0 && *at) {
		size_t n = strcspn(at, ",");

		r = initrd_module(i, at, n);
		at += n + (at[n] == ',');
	}
	if (r == 0 && asprintf(&file, "modules/%s.ko", i->known[m].name) < 0) {
		file = NULL;
		r = -ENOMEM;
	}
	if (r < 0)
		return r;
	initrd_add(i, file, S_IFREG | 0644, data, len);
	buf_printf(&i->order, "%s\n", file + strlen("modules/"));
	return 0;
}

static int initrd_archive(struct initrd *i)
{
	int r = 0;

	initrd_add(i, "dev", S_IFDIR | 0755, NULL, 0);
	initrd_add(i, "modules", S_IFDIR | 0755, NULL, 0);
	for (size_t n = 0; r == 0 && n < ARRAY_LEN(initrd_places); n++)
		r = initrd_look(i, initrd_places[n]);
	for (size_t n = 0; r == 0 && n < ARRAY_LEN(initrd_wanted); n++)
		r = initrd_module(i, initrd_wanted[n], strlen(initrd_wanted[n]));
	if (r < 0)
		return r;
	initrd_add(i, "modules/order", S_IFREG | 0644, buf_cstr(&i->order), i->order.len);
	initrd_add(i, "launch", S_IFREG | 0755, launch_program,
		   (size_t)(launch_program_end - launch_program));
	initrd_add(i, "init", S_IFREG | 0755, guest_program,
		   (size_t)(guest_program_end - guest_program));
	initrd_add(i, "TRAILER!!!", 0, NULL, 0);
	return buf_error(&i->out) < 0 ? buf_error(&i->out) : buf_error(&i->order);
}

int vm_initrd_make(const struct vm_kernel *k, int dir, struct cordon_error *err)
{
	struct initrd *i = calloc(1, sizeof(*i));
	int r;

	if (!i)
		return cordon_nomem(err);
	i->kernel = k;
	i->order = BUF_INIT(8192);
	i->out = BUF_INIT(INITRD_MAX);
	r = initrd_kernel(k, dir, err);
	if (r == 0) {
		r = initrd_archive(i);
		if (r == 0)
			r = io_write_file_at(dir, "initrd", i->out.data, i->out.len, 0600);
		if (r < 0)
			r = vm_store_full(err, r,
					  cordon_fail_leaf(err, r, "make the initramfs of '%s'",
							   k->image));
	}
	for (size_t m = 0; m < i->n_known; m++) {
		free(i->known[m].name);
		free(i->known[m].path);
	}
	buf_done(&i->order);
	buf_done(&i->out);
	free(i);
	return r;
}
