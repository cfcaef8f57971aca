/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The overlay of a writable directory, and the work directory that overlayfs wants for it on the same file
 * system: made outside every grant, removed as soon as the command runs.
 */
#include "backend/view/build.h"

#include "base/fd.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORK_PREFIX ".cordon-work-"
#define WORK_FD_PATH_MAX 32 /* "/proc/self/fd/" and a number */
#define WORK_AGE_S 60       /* longer than any call takes to start */

static int program_mnt_id(const char *path, uint64_t *ret)
{
	struct statx sx;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &sx) < 0)
		return -errno;
	if (!(sx.stx_mask & STATX_MNT_ID))
		return -EOPNOTSUPP;
	*ret = sx.stx_mnt_id;
	return 0;
}

/* Removes a work directory and what overlayfs makes in one.  What cannot be removed stays: it is no harm.  No
 * link is followed: where the directory stands, an earlier call may have written. */
void view_work_remove(int at, const char *name)
{
	static const char *const inner[] = {"work", "incompat", "volatile"};
	int fds[ARRAY_LEN(inner) + 1];
	size_t depth = 0;

	fds[0] = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	while (fds[0] >= 0 && depth < ARRAY_LEN(inner)) {
		char path[WORK_FD_PATH_MAX];

		fds[depth + 1] = openat(fds[depth], inner[depth],
					O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fds[depth + 1] < 0)
			break;
		/* Overlayfs makes them unreadable. */
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[++depth]);
		(void)chmod(path, 0700);
	}
	if (depth == ARRAY_LEN(inner))
		(void)unlinkat(fds[depth], "dirty", 0);
	for (; depth > 0; depth--) {
		(void)unlinkat(fds[depth - 1], inner[depth - 1], AT_REMOVEDIR);
		(void)fd_close(fds[depth]);
	}
	(void)unlinkat(at, name, AT_REMOVEDIR);
	(void)fd_close(fds[0]);
}

/* Removes what calls left that were killed in the moment between making and removing theirs. */
static void program_sweep(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	time_t now = time(NULL);

	while (d && (e = readdir(d))) {
		struct stat st;

		if (str_starts(e->d_name, WORK_PREFIX) &&
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_uid == geteuid() && now - st.st_mtim.tv_sec >= WORK_AGE_S)
			view_work_remove(dirfd(d), e->d_name);
	}
	if (d)
		(void)closedir(d);
}

/* A new, empty directory on the mount of upper, outside it. */
static int program_work(struct view_program *p, const char *upper, const char **ret)
{
	const char *slash = strrchr(upper, '/');
	const char *parent = view_keep(p, upper, slash == upper ? 1 : (size_t)(slash - upper));
	const char *candidates[] = {p->plan->scratch_dir, "/var/tmp", "/tmp", parent};
	uint64_t want;
	int r = program_mnt_id(upper, &want);

	if (r < 0)
		return r;
	if (!parent)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_LEN(candidates); i++) {
		uint64_t have;

		if (!candidates[i] || path_is_within(candidates[i], upper) ||
		    program_mnt_id(candidates[i], &have) < 0 || have != want)
			continue;
		program_sweep(candidates[i]);
		if (strv_addf(&p->work, "%s/" WORK_PREFIX "XXXXXX", candidates[i]) < 0)
			return -ENOMEM;
		if (mkdtemp(p->work.v[p->work.n - 1])) {
			*ret = p->work.v[p->work.n - 1];
			return 0;
		}
		p->work.v[p->work.n - 1][0] = '\0'; /* not made: nothing to remove */
	}
	return -EXDEV;
}

int view_overlay(struct view_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct view_step *s;
	const char *work = NULL;
	const char *lower;
	struct stat st;
	int r;

	if (lstat(op->path, &st) < 0)
		return cordon_fail_errno(err, errno, "'%s'", op->path);
	if (!S_ISDIR(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a directory", op->path);
	r = program_work(p, op->path, &work);
	if (r < 0)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "protect missing names in '%s': no place on its file system: %s",
				    op->path, strerrordesc_np(-r)),
			"run in a directory below the top of that file system");
	lower = view_lower(p, i);
	if (!lower || view_place(p, i, op->path, true) < 0 ||
	    view_rule_add(p, op->path, op->is_noexec ? LANDLOCK_WRITE_NOEXEC : LANDLOCK_WRITE) <
		    0 ||
	    !(s = view_add(p, VIEW_OVERLAY, op->path)))
		return cordon_nomem(err);
	s->source = op->path;
	s->lower = lower;
	s->work = work;
	s->attrs = ATTRS_COMMON | (op->is_noexec ? MOUNT_ATTR_NOEXEC : 0);
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}
