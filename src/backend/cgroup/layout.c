/* SPDX-License-Identifier: Apache-2.0 */
/* See layout.h. */
#include "backend/cgroup/layout.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const cgroup_controller_names[] = {
#define CGROUP_CONTROLLER_NAME(id, name) [CGROUP_##id] = (name),
	CGROUP_CONTROLLER_TABLE(CGROUP_CONTROLLER_NAME)
#undef CGROUP_CONTROLLER_NAME
};
static_assert(ARRAY_LEN(cgroup_controller_names) == CGROUP_CONTROLLER_COUNT, "one name each");

/* Our groups as /proc/self/cgroup tells them; points into its text. */
struct layout_self {
	const char *v1[CGROUP_CONTROLLER_COUNT];
	const char *v2;
};

/* The fields of a line of mountinfo that matter here; points into it. */
struct layout_mount {
	char *root;
	char *point;
	const char *type;
	const char *options; /* of the superblock: the controllers of a version 1 hierarchy */
};

/* Cuts the text before the next separator off; NULL when there is nothing left. */
static char *layout_cut(char **rest, char separator)
{
	char *piece = *rest;
	char *end;

	if (!piece)
		return NULL;
	end = strchr(piece, separator);
	*rest = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return piece;
}

static bool layout_is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

static bool layout_has_word(const char *list, const char *word, char separator)
{
	size_t len = strlen(word);

	for (const char *p = list; p; p = strchr(p, separator), p = p ? p + 1 : NULL)
		if (strncmp(p, word, len) == 0 && (p[len] == separator || p[len] == '\0'))
			return true;
	return false;
}

/* "4:memory:/some/group", "0::/group" for version 2, "9:name=systemd:/" for one without controllers.
 * A group's name has no newline (the kernel refuses it), so lines are safe. */
static int layout_self_line(char *line, struct layout_self *self)
{
	const char *number = layout_cut(&line, ':');
	const char *controllers = layout_cut(&line, ':');
	const char *path = line;

	if (!number || !layout_is_number(number) || !controllers || !path || path[0] != '/')
		return -EINVAL;
	if (controllers[0] == '\0') {
		if (strcmp(number, "0") != 0 || self->v2)
			return -EINVAL;
		self->v2 = path;
		return 0;
	}
	for (size_t c = 0; c < CGROUP_CONTROLLER_COUNT; c++) {
		if (!layout_has_word(controllers, cgroup_controller_names[c], ','))
			continue;
		if (self->v1[c])
			return -EINVAL;
		self->v1[c] = path;
	}
	return 0;
}

/* "36 31 0:33 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory": any number of
 * optional fields before the dash. */
static int layout_mount_line(char *line, struct layout_mount *ret)
{
	struct layout_mount m = {0};
	const char *id = layout_cut(&line, ' ');
	const char *parent = layout_cut(&line, ' ');
	const char *device = layout_cut(&line, ' ');
	const char *field;

	m.root = layout_cut(&line, ' ');
	m.point = layout_cut(&line, ' ');
	if (!m.point || !layout_is_number(id) || !layout_is_number(parent) || !strchr(device, ':'))
		return -EINVAL;
	do {
		field = layout_cut(&line, ' ');
		if (!field)
			return -EINVAL;
	} while (strcmp(field, "-") != 0);
	m.type = layout_cut(&line, ' ');
	field = layout_cut(&line, ' '); /* the source, which means nothing here */
	m.options = layout_cut(&line, ' ');
	if (!m.options || line)
		return -EINVAL;
	*ret = m;
	return 0;
}

/* Does the path step above where it starts? */
static bool layout_steps_up(const char *path)
{
	return layout_has_word(path, "..", '/');
}

/* The directory of group under a mount that shows the hierarchy from root on.  1 with *ret given, 0 when
 * the group is not below that root. */
static int layout_place(const struct layout_mount *m, const char *group, char **ret)
{
	size_t len = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
	const char *rest;
	char *dir = NULL;

	if (strncmp(group, m->root, len) != 0 || (group[len] != '/' && group[len] != '\0'))
		return 0;
	rest = group + len;
	if (layout_steps_up(rest))
		return 0;
	while (*rest == '/')
		rest++;
	if (strlen(m->point) + strlen(rest) + 2 > LIMIT_PATH_BYTES)
		return -ENAMETOOLONG;
	if (asprintf(&dir, "%s%s%s", m->point, *rest ? "/" : "", rest) < 0)
		return -ENOMEM;
	*ret = dir;
	return 1;
}

static int layout_take_mount(struct layout_mount *m, const struct layout_self *self,
			     struct cgroup_layout *l)
{
	bool is_v2 = strcmp(m->type, "cgroup2") == 0;
	int r;

	if (!is_v2 && strcmp(m->type, "cgroup") != 0)
		return 0;
	r = path_unescape(m->root);
	if (r == 0)
		r = path_unescape(m->point);
	if (r < 0 || m->root[0] != '/' || m->point[0] != '/')
		return -EINVAL;
	if (is_v2)
		return self->v2 && !l->v2 ? layout_place(m, self->v2, &l->v2) : 0;
	for (size_t c = 0; c < CGROUP_CONTROLLER_COUNT; c++) {
		if (!self->v1[c] || l->v1[c] ||
		    !layout_has_word(m->options, cgroup_controller_names[c], ','))
			continue;
		r = layout_place(m, self->v1[c], &l->v1[c]);
		if (r < 0)
			return r;
	}
	return 0;
}

int cgroup_layout_parse(const char *mountinfo, const char *self, struct cgroup_layout *ret)
{
	AUTO_FREE char *self_text = strdup(self);
	AUTO_FREE char *mount_text = strdup(mountinfo);
	struct cgroup_layout l = {0};
	struct layout_self groups = {0};
	struct layout_mount m;
	char *rest, *line;
	int r = 0;

	if (!self_text || !mount_text)
		return -ENOMEM;
	rest = self_text;
	while (r == 0 && (line = layout_cut(&rest, '\n')))
		if (*line || rest) /* but for the nothing behind the last newline */
			r = layout_self_line(line, &groups);
	rest = mount_text;
	while (r >= 0 && (line = layout_cut(&rest, '\n'))) {
		if (!*line && !rest)
			break;
		r = layout_mount_line(line, &m);
		if (r == 0)
			r = layout_take_mount(&m, &groups, &l);
	}
	if (r < 0) {
		cgroup_layout_done(&l);
		return r;
	}
	*ret = l;
	return 0;
}

void cgroup_layout_done(struct cgroup_layout *l)
{
	if (!l)
		return;
	for (size_t c = 0; c < CGROUP_CONTROLLER_COUNT; c++)
		free(l->v1[c]);
	free(l->v2);
	*l = (struct cgroup_layout){0};
}
