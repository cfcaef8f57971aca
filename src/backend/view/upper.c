/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See upper.h.  An overlay needs a work directory beside its upper layer on the same mount, so the top of a mount cannot
 * be one; nor can a directory with mounts in it, nor one on a file system that cannot rename as overlayfs wants it.
 */
#include "backend/view/upper.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A line of mountinfo. */
struct upper_mount {
	int64_t id;
	const char *point, *type;
};

/* File systems that no overlay writes to.  Not here: virtiofs, which can rename with a whiteout. */
static const char *const upper_types[] = {
	"overlay", /* no overlay on an overlay */
	"nfs",     "nfs4",  "9p",
	"cifs",    "smb3",  "afs",   /* no renames with a whiteout, and names change behind it */
	"vfat",    "msdos", "exfat", /* names without case */
};

static bool upper_is_refused(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(upper_types); i++)
		if (strcmp(type, upper_types[i]) == 0)
			return true;
	return str_starts(type, "fuse"); /* and its kinds: fuse.sshfs, fuseblk */
}

/* Fields: number, parent, device, root, point, options, any number of others, "-", type.  Cuts the line. */
static bool upper_parse(char *line, struct upper_mount *ret)
{
	const char *number = strsep(&line, " ");
	char *point = NULL;
	char *field;

	for (int i = 0; i < 4 && line; i++)
		point = strsep(&line, " ");
	while (line && (field = strsep(&line, " ")) && strcmp(field, "-") != 0)
		;
	if (!point || !line || path_unescape(point) < 0 ||
	    parse_int(number, 1, INT64_MAX, &ret->id) < 0)
		return false;
	ret->point = point;
	ret->type = strsep(&line, " ");
	return true;
}

/* The mount that path is on, or 0, which none has. */
static int64_t upper_mount_of(const char *path)
{
	struct statx sx;

	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &sx) ==
				       0 &&
			       (sx.stx_mask & STATX_MNT_ID)
		       ? (int64_t)sx.stx_mnt_id
		       : 0;
}

/* The mount that holds path, and one that can be seen below it. */
struct upper_found {
	char *text;
	struct upper_mount around;
	const char *below;
};

static void upper_find(const char *path, struct upper_found *ret)
{
	int64_t own = upper_mount_of(path);
	size_t len;
	char *rest, *line;

	*ret = (struct upper_found){0};
	if (io_read_file_at(AT_FDCWD, "/proc/self/mountinfo", LIMIT_MOUNTINFO_BYTES, &ret->text,
			    &len) < 0)
		return; /* then the mount says so */
	rest = ret->text;
	while ((line = strsep(&rest, "\n"))) {
		struct upper_mount m;

		if (!upper_parse(line, &m))
			continue;
		if (m.id == own)
			ret->around = m;
		else if (!ret->below && path_is_within(m.point, path) &&
			 upper_mount_of(m.point) == m.id) /* not covered by another */
			ret->below = m.point;
	}
}

bool view_upper_has_mounts(const char *path, struct buf *ret_where)
{
	struct upper_found f;
	bool has;

	upper_find(path, &f);
	has = f.below != NULL;
	if (has)
		buf_str(ret_where, f.below);
	free(f.text);
	return has;
}

bool view_upper_is_possible(const char *path, struct buf *ret_why)
{
	struct upper_found f;
	size_t before = ret_why->len;

	upper_find(path, &f);
	if (f.below)
		buf_printf(ret_why, "a file system is mounted at '%s' in it", f.below);
	else if (f.around.type && upper_is_refused(f.around.type))
		buf_printf(ret_why, "overlayfs does not take '%s' file systems", f.around.type);
	else if (f.around.point && strcmp(f.around.point, path) == 0)
		buf_str(ret_why, "it is the top of a mount");
	free(f.text);
	return ret_why->len == before;
}
