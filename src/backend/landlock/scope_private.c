/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in for private directories.  Nothing can be mounted, so /tmp and home are not private: they are
 * closed, and the call gets a directory of its own, made for it and removed after it, with a part for each of them;
 * TMPDIR and HOME say where.  Grants inside home (toolchains, the workspace) are links there, so that programs that
 * look for ~/.cargo find it.  /dev/shm needs no variable: who uses it makes, links and removes files there, which
 * are the broker's calls to make, so it makes them elsewhere.  A directory of our own (PLAN_OWN) has another place, too:
 * the variables and files that name it are written anew.
 */
#include "backend/landlock/scope.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PRIVATE_PARENT "/tmp"
#define PRIVATE_SHM "/dev/shm"
#define PRIVATE_FILE_MAX (16 * 1024 * 1024)

bool scope_is_private_in_memory(void)
{
	struct statfs fs;

	return statfs(PRIVATE_PARENT, &fs) < 0 || fs.f_type == TMPFS_MAGIC;
}

/* Makes the directories above name. */
static int private_parents(int dirfd, const char *name)
{
	char part[LIMIT_PATH_BYTES];

	for (const char *p = strchr(name, '/'); p; p = strchr(p + 1, '/')) {
		if ((size_t)(p - name) >= sizeof(part))
			return -ENAMETOOLONG;
		memcpy(part, name, (size_t)(p - name));
		part[p - name] = '\0';
		if (mkdirat(dirfd, part, 0700) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Where a directory that has another place is. */
struct private_move {
	const char *from; /* NULL: it is where it says */
	const char *to;
};

/* Appends the text with the new place of what has one. */
static void private_rewrite(const struct private_move *m, const char *text, struct buf *out)
{
	const char *found;

	while (m->from && (found = strstr(text, m->from))) {
		buf_add(out, text, (size_t)(found - text));
		buf_str(out, m->to);
		text = found + strlen(m->from);
	}
	buf_str(out, text);
}

static int private_file(int dirfd, const char *name, const char *text, const struct private_move *m)
{
	struct buf out = BUF_INIT(PRIVATE_FILE_MAX);
	AUTO_CLOSE int fd = -1;
	int r = private_parents(dirfd, name);

	private_rewrite(m, text ? text : "", &out);
	if (r == 0)
		r = buf_error(&out);
	if (r == 0) {
		fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		r = fd < 0 ? -errno : io_write(fd, buf_cstr(&out), out.len, CLOCK_NEVER);
	}
	buf_done(&out);
	return r;
}

/* What of a directory's own path comes behind dir, or NULL. */
static const char *private_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return path_is_within(path, dir) && path[len] == '/' ? path + len + 1 : NULL;
}

/* The content of one private directory. */
static int private_fill(const struct plan *plan, const struct plan_op *tmpfs,
			const struct private_move *m, int fd)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];
		const char *name = private_below(op->path, tmpfs->path);

		if (!name)
			continue;
		if (op->kind == PLAN_OP_FILE) {
			r = private_file(fd, name, op->text, m);
		} else if (op->kind == PLAN_OP_BIND_RO || op->kind == PLAN_OP_BIND_RW) {
			r = private_parents(fd, name);
			if (r == 0 && symlinkat(op->path, fd, name) < 0 && errno != EEXIST)
				r = -errno;
			/* A grant inside another is reached through that one's link. */
			if (r == -ENOTDIR || r == -EACCES || r == -ELOOP)
				r = 0;
		}
	}
	return r;
}

static const char *private_env(const struct plan *plan, const char *name)
{
	size_t len = strlen(name);

	for (char *const *e = plan->envp; *e; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}

/* op is the directory that it stands in for; NULL when nothing is put into it. */
static int private_make(struct scope *s, const struct plan_op *op, const char *name,
			const char **ret)
{
	struct private_move m = {0};
	AUTO_CLOSE int fd = -1;
	int r = 0;

	if (s->scratch.fd < 0)
		r = scratch_make(s->plan->scratch_dir, PRIVATE_PARENT, &s->scratch);
	if (r < 0)
		return r;
	if (mkdirat(s->scratch.fd, name, 0700) < 0)
		return -errno;
	fd = openat(s->scratch.fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = strv_addf(&s->strings, "%s/%s", s->scratch.path, name);
	if (r < 0)
		return r;
	*ret = m.to = s->strings.v[s->strings.n - 1];
	if (op && str_starts(op->path, PLAN_OWN))
		m.from = op->path;
	return op ? private_fill(s->plan, op, &m, fd) : 0;
}

/* The environment with the two variables replaced; a NULL value leaves one as it is. */
static int private_environment(struct scope *s, const char *tmp, const char *home,
			       const struct private_move *own)
{
	int r = 0;

	for (char *const *e = s->plan->envp; r == 0 && *e; e++) {
		if ((tmp && str_starts(*e, "TMPDIR=")) || (home && str_starts(*e, "HOME=")) ||
		    (s->plan->net == PLAN_NET_PROXY && str_starts(*e, "RES_OPTIONS=")))
			continue;
		if (own->from && strstr(*e, own->from)) {
			struct buf moved = BUF_INIT(LIMIT_ARG_BYTES);

			private_rewrite(own, *e, &moved);
			r = buf_error(&moved);
			if (r == 0)
				r = strv_add(&s->env, buf_cstr(&moved));
			buf_done(&moved);
		} else {
			r = strv_add(&s->env, *e);
		}
	}
	if (r == 0 && tmp)
		r = strv_addf(&s->own, "TMPDIR=%s", tmp);
	if (r == 0 && home)
		r = strv_addf(&s->own, "HOME=%s", home);
	/* There is no UDP: questions for names go the way of all connections (resolv.conf(5)). */
	if (r == 0 && s->plan->net == PLAN_NET_PROXY)
		r = strv_add(&s->own, "RES_OPTIONS=use-vc");
	for (size_t i = 0; r == 0 && i < s->own.n; i++)
		r = strv_add(&s->env, s->own.v[i]);
	return r;
}

/* Is the entry of PATH a directory from which something can be executed? */
static bool private_searches(const struct scope *s, const char *entry)
{
	AUTO_FREE char *full = NULL;
	AUTO_FREE char *real = NULL;

	if (path_join(s->plan->cwd ? s->plan->cwd : "/", *entry ? entry : ".", &full) < 0 ||
	    path_resolve(full, &real) < 0)
		return false;
	for (size_t i = 0; i < s->grant_count; i++) {
		const struct scope_path *g = &s->grants[i];

		if ((g->access == LANDLOCK_READ || g->access == LANDLOCK_WRITE) &&
		    path_is_within(real, g->path))
			return !scope_is_guarded(s, real, SCOPE_READ);
	}
	return false;
}

/* The kernel tells that a file can be executed also where Landlock says no, so a closed directory of PATH would
 * hide the command in a later one. */
int scope_make_search(struct scope *s)
{
	const char *path = private_env(s->plan, "PATH");
	struct buf open_path = BUF_INIT(LIMIT_ARG_BYTES);
	int r = 0;

	buf_str(&open_path, "PATH=");
	while (r == 0 && path) {
		size_t len = strcspn(path, ":");
		AUTO_FREE char *entry = strndup(path, len);

		if (!entry)
			r = -ENOMEM;
		else if (private_searches(s, entry))
			buf_printf(&open_path, "%s%s",
				   buf_cstr(&open_path)[strlen("PATH=")] ? ":" : "",
				   *entry ? entry : ".");
		path = path[len] ? path + len + 1 : NULL;
	}
	if (r == 0)
		r = buf_error(&open_path);
	/* Nothing is searched in where nothing is open; without a PATH the usual places are. */
	if (r == 0 && private_env(s->plan, "PATH"))
		r = strv_add(&s->search, buf_cstr(&open_path));
	buf_done(&open_path);
	return r;
}

/* What is denied in /dev/shm is denied in what stands in for it, too; if all of it is, nothing does. */
static int private_make_shm(struct scope *s)
{
	size_t count = s->guard_count;
	int r;

	for (size_t i = 0; i < count; i++)
		if (s->guards[i].is_denied && path_is_within(PRIVATE_SHM, s->guards[i].path))
			return 0;
	r = private_make(s, NULL, "shm", &s->shm);
	for (size_t i = 0; r == 0 && i < count; i++) {
		const char *name = private_below(s->guards[i].path, PRIVATE_SHM);

		if (!s->guards[i].is_denied || !name)
			continue;
		r = strv_addf(&s->names, "%s/%s", s->shm, name);
		if (r == 0)
			r = scope_guard(s, s->names.v[s->names.n - 1], /* is_denied= */ true);
	}
	return r;
}

int scope_make_private(struct scope *s, struct cordon_error *err)
{
	const char *home = private_env(s->plan, "HOME");
	const char *new_tmp = NULL;
	const char *new_home = NULL;
	struct private_move own = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->plan->op_count; i++) {
		const struct plan_op *op = &s->plan->ops[i];
		AUTO_FREE char *real_home = NULL;
		bool is_home;
		const char **place;

		if (op->kind == PLAN_OP_DEV && !s->shm)
			r = private_make_shm(s);
		if (op->kind != PLAN_OP_TMPFS)
			continue;
		if (str_starts(op->path, PLAN_OWN) && !own.from) {
			own.from = op->path;
			r = private_make(s, op, "own", &own.to);
			continue;
		}
		if (home && home[0] == '/' && path_resolve(home, &real_home) < 0)
			return cordon_nomem(err);
		is_home = real_home && strcmp(op->path, real_home) == 0;
		place = is_home ? &new_home : &new_tmp;
		if (*place || (!is_home && strcmp(op->path, "/tmp") != 0))
			return cordon_fail(err, CORDON_E_UNSUPPORTED,
					   "backend 'landlock' cannot make '%s' private", op->path);
		r = private_make(s, op, is_home ? "home" : "tmp", place);
	}
	if (r < 0)
		return cordon_fail_leaf(err, r, "make a private directory in " PRIVATE_PARENT);
	r = private_environment(s, new_tmp, new_home, &own);
	for (size_t i = 0; r == 0 && i < s->strings.n; i++) {
		void *grants = s->grants;

		r = mem_grow(&grants, &s->grant_cap, s->grant_count + 1, sizeof(*s->grants),
			     LIMIT_PLAN_OPS);
		if (r < 0)
			break;
		s->grants = grants;
		s->grants[s->grant_count++] =
			(struct scope_path){s->strings.v[i], LANDLOCK_WRITE, false, s->guard_count};
	}
	return r < 0 ? cordon_nomem(err) : 0;
}
