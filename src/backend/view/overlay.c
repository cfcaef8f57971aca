/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The overlay of a writable directory, and the work directory that overlayfs wants for it on the same file
 * system: made outside every grant, removed as soon as the command runs.  That of a change set is its own.
 */
#include "backend/view/build.h"

#include "backend/view/upper.h"
#include "base/limits.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

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

/* The path as it stands below plan->aside, or itself; NULL without memory. */
static const char *program_aside(struct view_program *p, const char *path)
{
	if (!p->plan->aside)
		return path;
	return strv_addf(&p->strings, "%s%s", p->plan->aside, path) < 0
		       ? NULL
		       : p->strings.v[p->strings.n - 1];
}

/* A new, empty directory on the mount of upper, outside it. */
static int program_work(struct view_program *p, const char *upper, const char **ret)
{
	const char *slash = strrchr(upper, '/');
	const char *parent = view_keep(p, upper, slash == upper ? 1 : (size_t)(slash - upper));
	const char *candidates[] = {p->plan->scratch_dir, "/var/tmp", "/tmp", parent};
	const char *own = program_aside(p, upper);
	void *work = p->work;
	uint64_t want;
	int r = own ? program_mnt_id(own, &want) : -ENOMEM;

	if (r < 0)
		return r;
	if (!parent ||
	    mem_grow(&work, &p->work_cap, p->n_work + 1, sizeof(*p->work), LIMIT_PLAN_OPS) < 0)
		return -ENOMEM;
	p->work = work;
	r = -EXDEV;
	for (size_t i = 0; i < ARRAY_LEN(candidates); i++) {
		const char *at;
		uint64_t have;
		int made;

		if (!candidates[i] || path_is_within(candidates[i], upper))
			continue;
		at = program_aside(p, candidates[i]);
		if (!at)
			return -ENOMEM;
		if (program_mnt_id(at, &have) < 0 || have != want)
			continue;
		made = scratch_make(p->plan->scratch_dir, at, &p->work[p->n_work]);
		if (made == 0) {
			*ret = p->work[p->n_work++].path;
			return 0;
		}
		if (made == -ENOSPC || made == -EDQUOT)
			r = made; /* a place, but no room: that is what can be mended */
	}
	return r;
}

int view_cow(struct view_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct buf where = BUF_INIT(LIMIT_PATH_BYTES);
	struct view_step *s;
	const char *source = op->path;
	const char *upper;
	const char *lower;
	struct statvfs fs;
	struct stat st;
	int r = 0;

	if (op->is_copied && op->text) {
		if (strv_addf(&p->strings, "%s/lower", op->text) < 0)
			return cordon_nomem(err);
		source = p->strings.v[p->strings.n - 1];
	}
	if (!op->text || lstat(source, &st) < 0 || !S_ISDIR(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a directory", op->path);
	if (path_is_within(op->text, op->path))
		r = cordon_hint(err,
				cordon_fail(err, CORDON_E_UNSUPPORTED,
					    "the state directory is in the workspace '%s'",
					    op->path),
				"run in another directory, or set CORDON_STATE_DIR");
	else if (!op->is_copied && view_upper_has_mounts(op->path, &where))
		r = cordon_hint(err,
				cordon_fail(err, CORDON_E_UNSUPPORTED,
					    "a file system is mounted at '%s' in the workspace",
					    buf_cstr(&where)),
				"unmount it, or list it with --submount PATH");
	buf_done(&where);
	if (r < 0)
		return r;
	lower = view_lower(p, i);
	if (!lower || view_place(p, i, op->path, true) < 0 ||
	    view_rule_add(p, op->path, view_write_access(op->is_noexec)) < 0 ||
	    strv_addf(&p->strings, "%s/upper", op->text) < 0)
		return cordon_nomem(err);
	upper = p->strings.v[p->strings.n - 1];
	if (strv_addf(&p->strings, "%s/work", op->text) < 0 ||
	    !(s = view_add(p, VIEW_OVERLAY, op->path)))
		return cordon_nomem(err);
	s->work = p->strings.v[p->strings.n - 1];
	s->upper = upper;
	s->source = source;
	s->lower = lower;
	if (statvfs(op->path, &fs) < 0 || (fs.f_flag & ST_NOEXEC) || op->is_noexec)
		s->attrs = MOUNT_ATTR_NOEXEC;
	s->attrs |= ATTRS_COMMON;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

int view_overlay(struct view_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct view_step *s;
	const char *work = NULL;
	const char *lower;
	struct statvfs fs;
	struct stat st;
	int r;

	if (lstat(op->path, &st) < 0)
		return cordon_fail_errno(err, errno, "'%s'", op->path);
	if (!S_ISDIR(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a directory", op->path);
	r = op->kind == PLAN_OP_BIND_RW ? program_work(p, op->path, &work) : 0;
	if (r == -ENOSPC || r == -EDQUOT)
		return cordon_hint(
			err, cordon_fail_errno(err, -r, "make a work directory for '%s'", op->path),
			"make room on its file system and in the state directory (CORDON_STATE_DIR)");
	if (r < 0)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "protect missing names in '%s': no place on its file system: %s",
				    op->path, strerrordesc_np(-r)),
			"run in a directory below the top of that file system");
	lower = view_lower(p, i);
	if (!lower || view_place(p, i, op->path, true) < 0 ||
	    (work && view_rule_add(p, op->path, view_write_access(op->is_noexec)) < 0) ||
	    !(s = view_add(p, VIEW_OVERLAY, op->path)))
		return cordon_nomem(err);
	s->source = work ? program_aside(p, op->path) : op->path;
	if (!s->source)
		return cordon_nomem(err);
	s->lower = lower;
	s->work = work;
	/* A mount of its own does not inherit what the one below forbids. */
	if (statvfs(op->path, &fs) < 0 || (fs.f_flag & ST_NOEXEC) || op->is_noexec)
		s->attrs = MOUNT_ATTR_NOEXEC;
	s->attrs |= ATTRS_COMMON | (work ? 0 : MOUNT_ATTR_RDONLY);
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}
