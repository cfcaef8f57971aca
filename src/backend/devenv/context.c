/* SPDX-License-Identifier: Apache-2.0 */
/* See context.h. */
#include "backend/devenv/context.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAR_BLOCK 512
#define TAR_CHUNK 65536
#define IGNORE_NAME ".dockerignore"

/* ustar; longer names stand in an entry of GNU's before. */
struct tar_header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[8];
	char rest[247];
};
static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is a block");

struct walk {
	const struct context_options *o;
	const struct dockerfile *file;
	struct strv ignored;
	struct sha256 sum;
	uint64_t bytes;
	uint64_t files;
	char path[LIMIT_PATH_BYTES]; /* relative; where an error was */
};

static int tar_put(struct walk *w, const void *data, size_t len)
{
	return w->o->out_fd < 0 ? 0 : io_write(w->o->out_fd, data, len, CLOCK_NEVER);
}

static int tar_fill(struct walk *w, uint64_t len)
{
	static const char zeros[TAR_BLOCK];
	size_t n = (TAR_BLOCK - len % TAR_BLOCK) % TAR_BLOCK;

	return n == 0 ? 0 : tar_put(w, zeros, n);
}

static int tar_header_put(struct walk *w, struct tar_header *h)
{
	const unsigned char *bytes = (const unsigned char *)h;
	unsigned sum = 0;

	memcpy(h->magic,
	       "ustar\0"
	       "00",
	       sizeof(h->magic));
	memset(h->checksum, ' ', sizeof(h->checksum));
	for (size_t i = 0; i < sizeof(*h); i++)
		sum += bytes[i];
	(void)snprintf(h->checksum, sizeof(h->checksum), "%06o", sum);
	return tar_put(w, h, sizeof(*h));
}

static int tar_long(struct walk *w, char type, const char *text)
{
	struct tar_header h = {.name = "././@LongLink", .mode = "0000644", .type = type};
	size_t len = strlen(text) + 1;
	int r;

	(void)snprintf(h.size, sizeof(h.size), "%011o", (unsigned)len);
	(void)snprintf(h.mtime, sizeof(h.mtime), "%011o", 0U);
	r = tar_header_put(w, &h);
	if (r == 0)
		r = tar_put(w, text, len);
	return r == 0 ? tar_fill(w, len) : r;
}

/* The head of an entry: to the archive, and without its time to the hash. */
static int tar_entry(struct walk *w, const char *path, char type, const struct stat *st,
		     const char *link)
{
	struct tar_header h = {.type = type};
	char key[64];
	int r = 0;

	(void)snprintf(key, sizeof(key), "%c %o %llu", type, (unsigned)st->st_mode & 07777,
		       type == '0' ? (unsigned long long)st->st_size : 0);
	sha256_add(&w->sum, key, strlen(key) + 1);
	sha256_add(&w->sum, path, strlen(path) + 1);
	sha256_add(&w->sum, link, strlen(link) + 1);
	if (++w->files > CONTEXT_FILES)
		return -E2BIG;
	if (strlen(link) >= sizeof(h.link))
		r = tar_long(w, 'K', link);
	if (r == 0 && strlen(path) >= sizeof(h.name))
		r = tar_long(w, 'L', path);
	memcpy(h.name, path, strnlen(path, sizeof(h.name) - 1));
	memcpy(h.link, link, strnlen(link, sizeof(h.link) - 1));
	(void)snprintf(h.mode, sizeof(h.mode), "%07o", (unsigned)st->st_mode & 07777);
	(void)snprintf(h.uid, sizeof(h.uid), "%07o", 0U);
	(void)snprintf(h.gid, sizeof(h.gid), "%07o", 0U);
	(void)snprintf(h.size, sizeof(h.size), "%011llo",
		       type == '0' ? (unsigned long long)st->st_size : 0);
	(void)snprintf(h.mtime, sizeof(h.mtime), "%011llo",
		       st->st_mtime > 0 ? (unsigned long long)st->st_mtime & 077777777777 : 0);
	return r == 0 ? tar_header_put(w, &h) : r;
}

static int walk_file(struct walk *w, int dirfd, const char *name, const char *path)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_FREE char *chunk = malloc(TAR_CHUNK);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!chunk)
		return -ENOMEM;
	if (!S_ISREG(st.st_mode))
		return -ESTALE;
	w->bytes += (uint64_t)st.st_size;
	if (w->bytes > CONTEXT_BYTES)
		return -EFBIG;
	r = tar_entry(w, path, '0', &st, "");
	for (uint64_t left = (uint64_t)st.st_size; r == 0 && left > 0;) {
		ssize_t n = read(fd, chunk, left < TAR_CHUNK ? (size_t)left : TAR_CHUNK);

		if (n <= 0)
			return n < 0 ? -errno : -ESTALE;
		sha256_add(&w->sum, chunk, (size_t)n);
		r = tar_put(w, chunk, (size_t)n);
		left -= (uint64_t)n;
	}
	return r == 0 ? tar_fill(w, (uint64_t)st.st_size) : r;
}

static bool walk_is_denied(const struct walk *w, const char *path)
{
	AUTO_FREE char *full = NULL;

	if (path_join(w->o->dir, path, &full) < 0)
		return true;
	for (size_t i = 0; w->o->denied && i < w->o->denied->n; i++)
		if (path_is_within(full, w->o->denied->v[i]))
			return true;
	return false;
}

static int walk_dir(struct walk *w, int dirfd, const char *dir, unsigned depth);

static int walk_name(struct walk *w, int dirfd, const char *dir, const char *name, unsigned depth)
{
	char path[LIMIT_PATH_BYTES];
	char link[LIMIT_PATH_BYTES];
	bool is_out;
	struct stat st;
	ssize_t n;
	int r = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", dir, *dir ? "/" : "", name) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	memcpy(w->path, path, sizeof(path));
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	is_out = dockerignore_has(&w->ignored, path);
	if (!dockerfile_takes(w->file, path, S_ISDIR(st.st_mode)) || walk_is_denied(w, path) ||
	    strcmp(path, w->o->dockerfile) == 0 || strcmp(path, IGNORE_NAME) == 0 ||
	    (is_out && (!S_ISDIR(st.st_mode) || dockerignore_is_plain(&w->ignored))))
		return 0;
	if (S_ISDIR(st.st_mode)) {
		AUTO_CLOSE int fd =
			openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			return -errno;
		if (!is_out)
			r = tar_entry(w, path, '5', &st, "");
		return r == 0 ? walk_dir(w, TAKE_FD(fd), path, depth + 1) : r;
	}
	if (S_ISREG(st.st_mode))
		return walk_file(w, dirfd, name, path);
	if (!S_ISLNK(st.st_mode))
		return 0; /* sockets, pipes and devices go into no archive */
	n = readlinkat(dirfd, name, link, sizeof(link) - 1);
	if (n < 0)
		return -errno;
	link[n] = '\0';
	return tar_entry(w, path, '2', &st, link);
}

static int walk_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Takes dirfd. */
static int walk_dir(struct walk *w, int dirfd, const char *dir, unsigned depth)
{
	AUTO(strv_done) struct strv names = {0};
	DIR *d = fdopendir(dirfd);
	int r = 0;

	if (!d) {
		(void)fd_close(dirfd);
		return -errno;
	}
	if (depth > LIMIT_WALK_DEPTH)
		r = -E2BIG;
	for (struct dirent *e; r == 0 && (e = readdir(d));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = strv_add(&names, e->d_name);
	if (names.n > 0)
		qsort(names.v, names.n, sizeof(*names.v), walk_compare);
	for (size_t i = 0; r == 0 && i < names.n; i++)
		r = walk_name(w, dirfd, dir, names.v[i], depth);
	(void)closedir(d);
	return r;
}

/* The Dockerfile always goes; where it is left out of what can be copied the engine has to know. */
static int walk_own(struct walk *w, const char *text, size_t len)
{
	struct stat st = {.st_mode = S_IFREG | 0644, .st_size = (off_t)len};
	char list[LIMIT_PATH_BYTES + 32];
	int r = tar_entry(w, w->o->dockerfile, '0', &st, "");

	sha256_add(&w->sum, text, len);
	if (r == 0)
		r = tar_put(w, text, len);
	if (r == 0)
		r = tar_fill(w, len);
	if (r < 0 || !(dockerignore_has(&w->ignored, w->o->dockerfile) ||
		       walk_is_denied(w, w->o->dockerfile)))
		return r;
	st.st_size = snprintf(list, sizeof(list), "%s\n" IGNORE_NAME "\n", w->o->dockerfile);
	r = tar_entry(w, IGNORE_NAME, '0', &st, "");
	sha256_add(&w->sum, list, (size_t)st.st_size);
	if (r == 0)
		r = tar_put(w, list, (size_t)st.st_size);
	return r == 0 ? tar_fill(w, (uint64_t)st.st_size) : r;
}

static int walk_fail(const struct walk *w, int r, struct cordon_error *err)
{
	if (r == -ESTALE)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_SYSTEM,
					       "'%.500s' changed while it was read", w->path),
				   "try again when nothing writes there");
	r = cordon_fail_leaf(err, r, "read '%.500s'", w->path[0] ? w->path : w->o->dir);
	return cordon_hint(err, r, "leave it out with .dockerignore, or make it readable");
}

/* A link would lead out of the project, or to what is denied in it; an engine shows lines of a Dockerfile that is none. */
static int context_read(int dirfd, const char *name, char **ret_text, size_t *ret_len)
{
	AUTO_CLOSE int fd = path_open_beneath(dirfd, name,
					      O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
					      /* mode= */ 0, PATH_NO_SYMLINKS);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	return io_read_all(fd, DOCKERFILE_BYTES, CLOCK_NEVER, ret_text, ret_len);
}

static int walk_ignored(struct walk *w, int dirfd, struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = context_read(dirfd, IGNORE_NAME, &text, &len);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? cordon_fail_leaf(err, r, "read " IGNORE_NAME)
		     : dockerignore_read(text, len, &w->ignored, err);
}

int context_make(const struct context_options *o, struct dockerfile *ret_file,
		 char ret_hash[static SHA256_HEX_LEN], struct cordon_error *err)
{
	static const char end[2 * TAR_BLOCK];
	struct walk w = {.o = o, .file = ret_file};
	AUTO_CLOSE int dirfd = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	uint8_t digest[SHA256_LEN];
	size_t len = 0;
	int r;

	*ret_file = (struct dockerfile){0};
	if (dirfd < 0)
		return cordon_fail_errno(err, errno, "open '%.500s'", o->dir);
	r = context_read(dirfd, o->dockerfile, &text, &len);
	if (r == -ELOOP)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%.500s' is a link, or reached by one",
					       o->dockerfile),
				   "name the Dockerfile itself with --file");
	if (r < 0)
		return cordon_hint(err, cordon_fail_leaf(err, r, "read '%.500s'", o->dockerfile),
				   "name the Dockerfile with --file");
	r = dockerfile_read(text, len, ret_file, err);
	if (r == 0)
		r = walk_ignored(&w, dirfd, err);
	if (r == 0) {
		sha256_init(&w.sum);
		r = walk_own(&w, text, len);
		if (r == 0)
			r = walk_dir(&w, TAKE_FD(dirfd), "", 0);
		if (r == 0)
			r = tar_put(&w, end, sizeof(end));
		if (r < 0)
			r = walk_fail(&w, r, err);
		sha256_finish(&w.sum, digest);
		sha256_to_hex(digest, ret_hash);
	}
	strv_done(&w.ignored);
	return r;
}
