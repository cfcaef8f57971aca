/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why_path(): may a path be read or written?  The path has two forms, the one that was named and the
 * one that its links lead to, and what a policy names has two as well.  Any match of a denial counts;
 * a grant must cover both forms, because inside a sandbox both the link and its target must be there.
 *
 * Grants are compared by their length: the most specific one decides.  The system directories, the
 * private /tmp and the private home are grants like those of mount_paths, of the built-in kind.
 */
#include "core/why_answer.h"

#include "base/glob.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/path.h"
#include "workspace/system.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { WHY_NAMED, WHY_REAL, WHY_FORMS };

struct why_question {
	const struct policy *policy;
	const struct policy_context *context;
	char *form[WHY_FORMS];
	bool write;
	bool of_host; /* what is the call's own does not count */
};

enum grant_kind {
	GRANT_KIND_NONE,
	GRANT_KIND_MOUNT,     /* an entry of mount_paths */
	GRANT_KIND_WORKSPACE, /* mode read-only shows it whatever mount_paths says */
	GRANT_KIND_LISTED,    /* a device or socket by its exact path */
	GRANT_KIND_SYSTEM,
	GRANT_KIND_PROC,
	GRANT_KIND_DEV,
	GRANT_KIND_TMP,
	GRANT_KIND_HOME,
	GRANT_KIND_COUNT
};

/* What the built-in grants are called and give.  Of the private ones nothing of the host's is seen. */
static const struct {
	const char *rule;
	bool can_read, can_write;
} why_builtin_rows[] = {
	[GRANT_KIND_NONE] = {NULL, false, false},
	[GRANT_KIND_MOUNT] = {NULL, false, false},
	[GRANT_KIND_WORKSPACE] = {NULL, true, false},
	[GRANT_KIND_LISTED] = {NULL, true, true},
	[GRANT_KIND_SYSTEM] = {"system directories are read-only", true, false},
	[GRANT_KIND_PROC] = {"a sandbox has a /proc of its own", true, false},
	[GRANT_KIND_DEV] = {"a sandbox has a small /dev of its own", true, true},
	[GRANT_KIND_TMP] = {"a call has a private /tmp", false, true},
	[GRANT_KIND_HOME] = {"a call has a private home", false, true},
};
static_assert(ARRAY_LEN(why_builtin_rows) == GRANT_KIND_COUNT, "one row per kind");

struct why_grant {
	enum grant_kind kind;
	size_t len; /* of what matched: longer is more specific */
	const struct mount *mount;
	const struct item *item;  /* of devices or sockets */
	enum policy_row item_row; /* which of the two */
};

/* What every sandbox has in its own /dev. */
static const char *const why_dev_nodes[] = {
	"/dev/null", "/dev/zero",  "/dev/full",   "/dev/random", "/dev/urandom", "/dev/tty",
	"/dev/fd",   "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/shm",     "/dev/pts",
};

/* Does the glob match the path or a directory above it?  Returns the length of what matched, 0 for
 * nothing. */
static size_t why_glob_covers(const char *glob, const char *path)
{
	char part[LIMIT_PATH_BYTES];
	size_t len = strlen(path);

	if (len >= sizeof(part))
		return 0;
	memcpy(part, path, len + 1);
	while (len > 0) {
		if (glob_match(glob, part))
			return len;
		while (len > 1 && part[len - 1] != '/')
			len--;
		if (len == 1)
			break;
		part[--len] = '\0';
	}
	return glob_match(glob, "/") ? 1 : 0;
}

/* Gives the glob with the links of its literal front followed, NULL where that changes nothing. */
static int why_real_glob(const char *glob, char **ret)
{
	size_t magic = strcspn(glob, "*?[\\"), front = magic;
	struct buf b = BUF_INIT(2 * LIMIT_PATH_BYTES);
	AUTO_FREE char *literal = NULL;
	AUTO_FREE char *real = NULL;
	int r;

	*ret = NULL;
	if (glob[magic] != '\0')
		while (front > 0 && glob[front - 1] != '/')
			front--;
	if (front == 0)
		return 0;
	literal = strndup(glob, front);
	if (!literal)
		return -ENOMEM;
	r = path_resolve(literal, &real);
	if (r < 0)
		return r == -ENOMEM ? r
				    : 0; /* what cannot be followed is compared as it is named */
	for (const char *s = real; *s; s++) {
		if (strchr("*?[\\", *s))
			buf_char(&b, '\\');
		buf_char(&b, *s);
	}
	if (glob[magic] != '\0' && strcmp(real, "/") != 0)
		buf_char(&b, '/');
	buf_str(&b, glob + front);
	r = buf_error(&b);
	if (r == 0 && strcmp(buf_cstr(&b), glob) != 0)
		r = buf_take(&b, ret, NULL);
	buf_done(&b);
	return r;
}

/* The first entry of a list of globs that covers either form. */
static int why_listed(const struct why_question *q, const struct item_list *list,
		      const struct item **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < list->n; i++) {
		const char *glob = list->items[i].text;
		AUTO_FREE char *real = NULL;
		int r = why_real_glob(glob, &real);

		if (r < 0)
			return r;
		for (size_t f = 0; f < WHY_FORMS; f++) {
			if (why_glob_covers(glob, q->form[f]) ||
			    (real && why_glob_covers(real, q->form[f]))) {
				*ret = &list->items[i];
				return 0;
			}
		}
	}
	return 0;
}

static void why_offer(struct why_grant *best, const struct why_grant *other)
{
	if (other->len > best->len)
		*best = *other;
}

/* How much of path dir covers: its length, 0 for not at all. */
static size_t why_within(const char *path, const char *dir)
{
	return dir && path_is_within(path, dir) ? strlen(dir) : 0;
}

static void why_builtin_grants(const struct why_question *q, const char *path,
			       struct why_grant *best)
{
	const char *home = q->context->home;

	for (size_t i = 0; i < SYSTEM_DIRS; i++)
		why_offer(best,
			  &(struct why_grant){GRANT_KIND_SYSTEM, why_within(path, system_dirs[i])});
	for (size_t i = 0; i < ARRAY_LEN(why_dev_nodes); i++)
		why_offer(best,
			  &(struct why_grant){GRANT_KIND_DEV, why_within(path, why_dev_nodes[i])});
	why_offer(best, &(struct why_grant){GRANT_KIND_PROC, why_within(path, "/proc")});
	why_offer(best, &(struct why_grant){GRANT_KIND_TMP, why_within(path, "/tmp")});
	if (home && strcmp(home, "/") != 0)
		why_offer(best, &(struct why_grant){GRANT_KIND_HOME, why_within(path, home)});
}

static void why_exact_grants(const struct item_list *list, enum policy_row row, const char *path,
			     struct why_grant *best)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i].text, path) == 0)
			*best = (struct why_grant){.kind = GRANT_KIND_LISTED,
						   .len = strlen(path) + 1,
						   .item = &list->items[i],
						   .item_row = row};
}

/* An entry of mount_paths beats a built-in grant of the same length: somebody wrote it. */
static int why_mount_grants(const struct policy *p, const char *path, struct why_grant *best)
{
	for (size_t i = 0; i < p->mounts.n; i++) {
		const struct mount *m = p->mounts.records[i];
		AUTO_FREE char *real = NULL;
		size_t len = why_within(path, m->path);
		int r = path_resolve(m->path, &real);

		if (r == -ENOMEM)
			return r;
		if (r == 0 && why_within(path, real) > len)
			len = why_within(path, real);
		if (len > 0 &&
		    (len > best->len || (len == best->len && best->kind > GRANT_KIND_LISTED)))
			*best = (struct why_grant){
				.kind = GRANT_KIND_MOUNT, .len = len, .mount = m};
	}
	return 0;
}

/* The most specific grant for one form of the path. */
static int why_grant_of(const struct why_question *q, const char *path, struct why_grant *ret)
{
	const struct policy *p = q->policy;
	int r = 0;

	*ret = (struct why_grant){.kind = GRANT_KIND_NONE};
	why_builtin_grants(q, path, ret);
	if (p->fs_mode >= FS_READ_ONLY)
		r = why_mount_grants(p, path, ret);
	if (p->fs_mode == FS_READ_ONLY && why_within(path, q->context->workspace) > ret->len)
		*ret = (struct why_grant){.kind = GRANT_KIND_WORKSPACE,
					  .len = why_within(path, q->context->workspace)};
	why_exact_grants(&p->devices, POLICY_DEVICES, path, ret);
	why_exact_grants(&p->sockets, POLICY_SOCKETS, path, ret);
	return r;
}

static bool why_is_private(const struct why_grant *g)
{
	return g->kind == GRANT_KIND_TMP || g->kind == GRANT_KIND_HOME;
}

static bool why_grant_gives(const struct why_question *q, const struct why_grant *g)
{
	if (q->of_host && why_is_private(g))
		return false;
	if (g->kind == GRANT_KIND_MOUNT)
		return !q->write ||
		       (g->mount->permissions == PERMISSION_RW && q->policy->fs_mode == FS_SCOPED);
	return q->write ? why_builtin_rows[g->kind].can_write : why_builtin_rows[g->kind].can_read;
}

/* What grants the path when nothing does. */
static void why_path_remedy(struct why *w, const struct why_question *q)
{
	const struct origin *mode = &q->policy->origin[POLICY_FS_MODE];
	const char *path = q->form[WHY_NAMED];
	struct stat st;
	bool is_socket = stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
	bool is_device = !is_socket && path_is_within(path, "/dev");

	buf_printf(&w->option, "%s ",
		   is_socket   ? "--allow-socket"
		   : is_device ? "--device"
		   : q->write  ? "--write"
			       : "--read");
	str_shell_quote(&w->option, path);
	buf_printf(&w->remedy, "cordon run %s", buf_cstr(&w->option));
	buf_str(&w->under, shape_policy
				   .fields[is_socket   ? POLICY_SOCKETS
					   : is_device ? POLICY_DEVICES
						       : POLICY_MOUNTS]
				   .path);
	buf_str(&w->yaml, is_socket || is_device ? "- " : "- {path: ");
	json_quote(&w->yaml, path, strlen(path));
	if (!is_socket && !is_device) {
		buf_printf(&w->yaml, ", permissions: %s}",
			   names_word(&names_permission, q->write ? PERMISSION_RW : PERMISSION_RO));
		buf_printf(&w->remedy, ", or %s: %s", buf_cstr(&w->under), buf_cstr(&w->yaml));
		if (q->policy->fs_mode != FS_SCOPED)
			buf_printf(&w->remedy, " and %s: scoped",
				   shape_policy.fields[POLICY_FS_MODE].path);
	}
	/* An option of one's own is not raised by another. */
	if (mode->layer == LAYER_OPTION && q->policy->fs_mode < FS_SCOPED && !is_socket &&
	    !is_device) {
		buf_clear(&w->option);
		buf_printf(&w->remedy, ", without --fs %s",
			   names_word(&names_fs_mode, q->policy->fs_mode));
	}
	if (mode->layer == LAYER_CEILING) {
		buf_str(&w->remedy, "; the ceiling must allow it first (");
		policy_origin_text(q->policy, mode, &w->remedy);
		buf_char(&w->remedy, ')');
	}
}

static void why_path_forbid(struct why *w, const struct why_question *q)
{
	buf_printf(&w->remedy, "to forbid it: cordon run --deny ");
	str_shell_quote(&w->remedy, q->form[WHY_NAMED]);
	buf_printf(&w->remedy, ", or an entry of %s", shape_policy.fields[POLICY_DENIED].path);
}

static void why_by_grant(struct why *w, const struct why_question *q, const struct why_grant *g)
{
	const struct policy *p = q->policy;
	enum why_decision decision = why_grant_gives(q, g) ? WHY_ALLOW : WHY_DENY;

	if (g->kind == GRANT_KIND_MOUNT && p->fs_mode == FS_READ_ONLY && q->write)
		why_decide(w, decision, POLICY_FS_MODE, "read-only", &p->origin[POLICY_FS_MODE]);
	else if (g->kind == GRANT_KIND_MOUNT) {
		why_decide(w, decision, POLICY_MOUNTS, g->mount->path,
			   &g->mount->origin[MOUNT_PATH]);
		buf_printf(&w->rule, " (%s)",
			   p->fs_mode == FS_READ_ONLY
				   ? "ro"
				   : names_word(&names_permission, g->mount->permissions));
	} else if (g->kind == GRANT_KIND_LISTED) {
		why_decide(w, decision, g->item_row, g->item->text, &g->item->origin);
	} else if (why_builtin_rows[g->kind].rule) {
		why_decide_builtin(w, decision, why_builtin_rows[g->kind].rule);
	} else {
		why_decide(w, decision, POLICY_FS_MODE, names_word(&names_fs_mode, p->fs_mode),
			   &p->origin[POLICY_FS_MODE]);
		if (g->kind == GRANT_KIND_NONE)
			buf_str(&w->rule, ": nothing grants this path");
	}
	if (decision == WHY_ALLOW)
		why_path_forbid(w, q);
	else
		why_path_remedy(w, q);
	if (why_is_private(g))
		why_note(w,
			 "%s is empty when a call begins, belongs to it alone and is gone "
			 "afterwards: nothing of the host's is seen there",
			 g->kind == GRANT_KIND_TMP ? "/tmp" : "the home directory");
	if (g->kind == GRANT_KIND_HOME && decision == WHY_DENY)
		why_note(w, "toolchains below the home directory that PATH names are shown "
			    "read-only by the sandbox");
}

/* The modes and grants, after denials.  *ret_private: allowed, but nothing of the host's is there. */
static int why_by_mode(struct why *w, const struct why_question *q, bool *ret_private)
{
	const struct policy *p = q->policy;
	struct why_grant grant[WHY_FORMS];
	size_t decides = WHY_NAMED;

	if (p->fs_mode == FS_FULL) {
		why_decide(w, WHY_ALLOW, POLICY_FS_MODE, "full", &p->origin[POLICY_FS_MODE]);
		why_path_forbid(w, q);
		if (p->mounts.n && policy_is_written(p, POLICY_MOUNTS))
			why_note(w, "mount_paths has no effect in mode full");
		return 0;
	}
	for (size_t f = 0; f < WHY_FORMS; f++) {
		int r = why_grant_of(q, q->form[f], &grant[f]);

		if (r < 0)
			return r;
	}
	if (why_grant_gives(q, &grant[WHY_NAMED]) && !why_grant_gives(q, &grant[WHY_REAL])) {
		decides = WHY_REAL;
		why_note(w, "the path is a link; what it leads to decides: %s", q->form[WHY_REAL]);
	}
	why_by_grant(w, q, &grant[decides]);
	*ret_private = w->decision == WHY_ALLOW && why_is_private(&grant[decides]);
	return 0;
}

static int why_by_list(struct why *w, const struct why_question *q, enum policy_row row,
		       const struct item_list *list, bool *ret_decided)
{
	const struct item *item = NULL;
	int r = why_listed(q, list, &item);

	*ret_decided = item != NULL;
	if (!item)
		return r;
	why_decide(w, WHY_DENY, row, item->raw ? item->raw : item->text, &item->origin);
	why_remove(w, q->policy, row, item->raw ? item->raw : item->text, &item->origin);
	why_note(w, "a denial beats every grant, in whatever layer either stands");
	return 0;
}

/* Sets both forms.  The real one is found before ".." is taken out: link/.. is not where link is. */
static int why_path_forms(struct why_question *q, const char *path)
{
	const char *base = q->context->workspace;
	AUTO_FREE char *raw = NULL;
	struct buf b = BUF_INIT(LIMIT_PATH_BYTES);
	int r;

	if (q->context->home && path[0] == '~' && (path[1] == '/' || path[1] == '\0')) {
		base = q->context->home;
		path += path[1] ? 2 : 1;
	}
	if (path[0] != '/')
		buf_printf(&b, "%s/", base);
	buf_str(&b, path);
	r = buf_take(&b, &raw, NULL);
	buf_done(&b);
	if (r == -E2BIG)
		return -ENAMETOOLONG;
	if (r == 0)
		r = path_normalise(raw, &q->form[WHY_NAMED]);
	if (r == 0)
		r = path_resolve(raw, &q->form[WHY_REAL]);
	return r;
}

static int why_path_decide(struct why *w, const struct why_question *q)
{
	const struct policy *p = q->policy;
	enum policy_row row = POLICY_DENIED;
	bool decided = false;
	bool is_private = false;
	int r = why_by_list(w, q, POLICY_DENIED, &p->denied, &decided);

	if (r == 0 && !decided && q->write) {
		row = POLICY_PROTECTED;
		r = why_by_list(w, q, POLICY_PROTECTED, &p->protected_paths, &decided);
	}
	if (r == 0 && !decided) {
		row = POLICY_FS_MODE;
		r = why_by_mode(w, q, &is_private);
		for (size_t f = 0; p->level > LEVEL_NONE && !is_private && f < WHY_FORMS; f++)
			if (why_by_table(w, p, q->context, q->form[f], q->write))
				break;
	}
	if (r < 0)
		return r;
	why_level(w, p, row);
	return 0;
}

static int why_path_ask(struct why_question *q, const char *path, struct why *ret,
			struct cordon_error *err)
{
	struct why w = WHY_INIT;
	int r;

	if (path[0] == '\0')
		return cordon_fail(err, CORDON_E_INVALID, "an empty path");
	r = why_path_forms(q, path);
	if (r < 0)
		r = cordon_fail_leaf(err, r, "path '%.200s'", path);
	if (r == 0) {
		r = why_path_decide(&w, q);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "path '%.200s'", path);
	}
	w.resolved = TAKE_PTR(q->form[WHY_REAL]);
	free(q->form[WHY_NAMED]);
	return why_finish(&w, r, ret, err);
}

int why_path(const struct policy *p, const struct policy_context *c, const char *path, bool write,
	     struct why *ret, struct cordon_error *err)
{
	struct why_question q = {.policy = p, .context = c, .write = write};

	return why_path_ask(&q, path, ret, err);
}

int why_path_of_host(const struct policy *p, const struct policy_context *c, const char *path,
		     bool write, struct why *ret, struct cordon_error *err)
{
	struct why_question q = {.policy = p, .context = c, .write = write, .of_host = true};

	return why_path_ask(&q, path, ret, err);
}
