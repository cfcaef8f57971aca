/* SPDX-License-Identifier: Apache-2.0 */
/* See learn.h: what to grant.  The manifest's text is in learn_write.c. */
#include "core/learn.h"

#include "base/limits.h"
#include "base/path.h"
#include "core/fsgrant.h"
#include "core/fsplan.h"
#include "workspace/protected.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

void learned_done(struct learned *l)
{
	if (!l)
		return;
	strv_done(&l->reads);
	strv_done(&l->writes);
	strv_done(&l->sockets);
	strv_done(&l->devices);
	strv_done(&l->hosts);
	strv_done(&l->privates);
	strv_done(&l->refused);
	*l = (struct learned){0};
}

static bool learn_covers(const struct strv *paths, const char *path)
{
	for (size_t i = 0; i < paths->n; i++)
		if (path_is_within(path, paths->v[i]))
			return true;
	return false;
}

/* Removes what is below path. */
static void learn_absorb(struct strv *paths, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < paths->n; i++) {
		if (path_is_within(paths->v[i], path))
			free(paths->v[i]);
		else
			paths->v[kept++] = paths->v[i];
	}
	paths->n = kept;
	if (paths->v)
		paths->v[kept] = NULL;
}

/* A directory that holds too much to be granted for one name in it. */
static bool learn_is_wide(const struct learn_input *in, const char *dir)
{
	if (fsgrant_check(dir, /* is_rw= */ true, in->home, in->state_dir, NULL) < 0)
		return true;
	if (strchr(dir + 1, '/') == NULL || (in->home && path_is_within(in->home, dir)))
		return true; /* at the top, home itself, or above it */
	for (size_t i = 0; in->home && i < credential_path_count; i++) {
		AUTO_FREE char *secret = NULL;

		if (path_join(in->home, credential_paths[i], &secret) < 0 ||
		    path_is_within(secret, dir))
			return true;
	}
	return false;
}

/* How many of the paths lie directly in the directory of path. */
static size_t learn_siblings(const struct strv *paths, const char *path)
{
	size_t dir_len = (size_t)(path_base(path) - path);
	size_t n = 0;

	for (size_t i = 0; i < paths->n; i++)
		n += strncmp(paths->v[i], path, dir_len) == 0 &&
		     !strchr(paths->v[i] + dir_len, '/');
	return n;
}

static int learn_string(struct strv *v, const char *text, size_t *ret_new)
{
	int r;

	if (strv_has(v, text))
		return 0;
	r = strv_add(v, text);
	*ret_new += r == 0;
	return r;
}

/* Grants a path, and its directory instead when there are many like it. */
static int learn_path(const struct learn_input *in, struct learned *l, const char *path,
		      bool is_write, size_t *ret_new)
{
	struct strv *to = is_write ? &l->writes : &l->reads;
	AUTO_FREE char *real = NULL;
	int r = path_resolve(path, &real);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (learn_covers(&l->writes, real) || (!is_write && learn_covers(&l->reads, real)))
		return 0;
	if (learn_siblings(to, real) + 1 >= LEARN_DIR_FILES) {
		AUTO_FREE char *dir = strndup(real, (size_t)(path_base(real) - real));

		if (!dir)
			return -ENOMEM;
		if (strlen(dir) > 1)
			dir[strlen(dir) - 1] = '\0';
		if (!learn_is_wide(in, dir)) {
			free(real);
			real = TAKE_PTR(dir);
		}
	}
	learn_absorb(to, real);
	if (is_write)
		learn_absorb(&l->reads, real);
	r = strv_add(to, real);
	*ret_new += r == 0;
	return r;
}

static int learn_refuse(struct learned *l, const struct denied *d)
{
	struct buf b = BUF_INIT(2 * LIMIT_PATH_BYTES);
	size_t ignored = 0;
	int r;

	buf_printf(&b, "%s ", d->access[0] ? d->access : d->kind);
	str_escape(&b, d->target, strlen(d->target));
	buf_str(&b, d->is_inferred ? " (inferred): " : ": ");
	str_escape(&b, d->rule, strlen(d->rule));
	if (d->remedy[0] == '-') {
		buf_str(&b, "; you can with ");
		str_escape(&b, d->remedy, strlen(d->remedy));
	}
	r = buf_error(&b);
	if (r == -E2BIG)
		r = 0; /* cut is good enough for a remark */
	if (r == 0)
		r = learn_string(&l->refused, buf_cstr(&b), &ignored);
	buf_done(&b);
	return r;
}

static int learn_denied_path(const struct learn_input *in, struct learned *l,
			     const struct denied *d, size_t *ret_new)
{
	bool is_write = strcmp(d->access, "write") == 0;
	const char *place = d->grant;
	struct stat st;

	if (learn_covers(&l->writes, place) || (!is_write && learn_covers(&l->reads, place)))
		return 0;
	/* A directory that was only looked at is there as soon as something in it is. */
	if (d->is_look && stat(place, &st) == 0 && S_ISDIR(st.st_mode)) {
		for (size_t i = 0; i < l->reads.n; i++)
			if (path_is_within(l->reads.v[i], place))
				return 0;
		if (learn_is_wide(in, place))
			return learn_refuse(l, d);
	}
	return learn_path(in, l, place, is_write, ret_new);
}

static int learn_host(struct learned *l, const struct denied *d, size_t *ret_new)
{
	static const char option[] = " --allow-private ";
	const char *address = strstr(d->remedy, option);
	int r = learn_string(&l->hosts, d->target, ret_new);

	if (r == 0 && address)
		r = learn_string(&l->privates, address + strlen(option), ret_new);
	return r;
}

/* Whoever may talk to these has the machine, or the session of its user. */
static const char *const learn_doors[] = {
	"/run/containerd", "/run/dbus",      "/run/docker.sock",     "/run/podman",
	"/run/systemd",    "/run/user",      "/var/run/docker.sock", "/var/run/dbus",
	"/var/run/podman", "/tmp/.X11-unix",
};

static int learn_socket(struct learned *l, const struct denied *d, size_t *ret_new)
{
	for (size_t i = 0; i < ARRAY_LEN(learn_doors); i++)
		if (path_is_within(d->target, learn_doors[i]))
			return learn_refuse(l, d);
	return learn_string(&l->sockets, d->target, ret_new);
}

static int learn_denied(const struct learn_input *in, struct learned *l, const struct denied *d,
			size_t *ret_new)
{
	/* A message can stand in anything that the command shows: whoever wrote that would have the grant. */
	if (!d->yaml || !d->grant || d->is_inferred)
		return d->is_minor ? 0 : learn_refuse(l, d);
	if (strcmp(d->kind, "path") == 0)
		return learn_denied_path(in, l, d, ret_new);
	if (strcmp(d->kind, "host") == 0)
		return learn_host(l, d, ret_new);
	if (strcmp(d->kind, "socket") == 0)
		return learn_socket(l, d, ret_new);
	if (strcmp(d->kind, "device") == 0)
		return learn_string(&l->devices, d->target, ret_new);
	return learn_refuse(l, d);
}

/* A grant of the policy that was used stays. */
static int learn_used(const struct learn_input *in, struct learned *l, const struct seen_event *e)
{
	size_t ignored = 0;

	if (strcmp(e->text, in->workspace) == 0) {
		l->writes_workspace |= seen_is_write(e->want);
		return 0;
	}
	for (size_t i = 0; i < in->policy->mounts.n; i++) {
		const struct mount *m = in->policy->mounts.records[i];
		AUTO_FREE char *real = NULL;
		int r = path_resolve(m->path, &real);

		if (r == -ENOMEM)
			return r;
		if (r == 0 && strcmp(real, e->text) == 0)
			return learn_path(in, l, real, seen_is_write(e->want), &ignored);
	}
	return 0;
}

int learn_add(const struct learn_input *in, const struct report *report, struct learned *l,
	      size_t *ret_new, struct cordon_error *err)
{
	int r = 0;

	*ret_new = 0;
	for (size_t i = 0; r == 0 && i < report->seen.n; i++)
		if (report->seen.events[i].kind == SEEN_USED)
			r = learn_used(in, l, &report->seen.events[i]);
	/* Writes first: they cover reads.  Looks last: what is read makes the directories above it. */
	for (int pass = 0; r == 0 && pass < 3; pass++)
		for (size_t i = 0; r == 0 && i < report->n_denied; i++) {
			const struct denied *d = &report->denied[i];
			int own = d->is_look ? 2 : strcmp(d->access, "write") == 0 ? 0 : 1;

			if (own == pass && strcmp(d->kind, "limit") != 0)
				r = learn_denied(in, l, d, ret_new);
		}
	return r < 0 ? cordon_fail_leaf(err, r, "learn") : 0;
}
