/* SPDX-License-Identifier: Apache-2.0 */
/* See install.h. */
#include <jansson.h> /* first: see base/json.h */

#include "hook/install.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/json_check.h"
#include "base/jsonc.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/proc.h"
#include "hook/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	INSTALL_BACKUPS = 1000,  /* that are kept beside a file */
	INSTALL_TRIES = 5,       /* when somebody else writes the file meanwhile */
	INSTALL_LOCK_MS = 10000, /* wait for another of us */
};

struct settings {
	char *path;
	char *text;     /* as it is */
	char *read;     /* the same with comments blanked */
	char *original; /* as it was read; NULL: there was no file */
	size_t len;
	size_t original_len;
	mode_t mode;
	json_t *root;
};

static void settings_done(struct settings *s)
{
	free(s->path);
	free(s->text);
	free(s->read);
	free(s->original);
	json_decref(s->root);
}

/* Takes a new text in, with everything that is known about it. */
static int settings_set(struct settings *s, const struct hook_dialect *d, char *text, size_t len,
			struct cordon_error *err)
{
	unsigned flags = d->has_comments ? JSONC_COMMENTS : 0;
	json_error_t where;
	char *read = malloc(len + 1);
	json_t *root = NULL;

	if (read) {
		memcpy(read, text, len);
		read[len] = '\0';
		jsonc_blank(read, len, flags);
	}
	free(s->text);
	free(s->read);
	json_decref(s->root);
	s->text = text;
	s->read = read;
	s->len = len;
	s->root = NULL;
	if (!read)
		return cordon_nomem(err);
	if (!json_check_depth(read, len))
		return cordon_fail(err, CORDON_E_LIMIT, "'%s' is nested too deeply", s->path);
	root = json_loadb(read + splice_root(read, len), len - splice_root(read, len),
			  JSON_REJECT_DUPLICATES, &where);
	if (!root)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID, "%s:%d:%d: %s", s->path,
					       where.line, where.column, where.text),
				   "the file was not touched: mend it first");
	s->root = root;
	if (!json_is_object(root))
		return cordon_fail(err, CORDON_E_INVALID, "%s:1:1: not an object", s->path);
	return 0;
}

int install_path(const struct install_options *o, char **ret, struct cordon_error *err)
{
	AUTO_FREE char *named = NULL;
	AUTO_FREE char *dir = NULL;
	int r = path_join(o->dir, o->settings ? o->settings : o->dialect->settings, &named);

	if (r == 0)
		r = path_resolve(named, ret);
	if (r == 0)
		r = path_resolve(o->dir, &dir);
	if (r < 0)
		return cordon_fail_leaf(err, r, "settings of %s", o->dialect->name);
	if (o->settings || path_is_within(*ret, dir))
		return 0;
	r = cordon_hint(err,
			cordon_fail(err, CORDON_E_REFUSED, "'%s' is a link that leads to '%s'",
				    named, *ret),
			"if that is the file to be changed, name it: --settings %s", *ret);
	free(*ret);
	*ret = NULL;
	return r;
}

static int settings_load(const struct install_options *o, struct settings *s,
			 struct cordon_error *err)
{
	char *text = NULL;
	struct stat st;
	size_t len = 0;
	int r = install_path(o, &s->path, err);

	if (r < 0)
		return r;
	r = io_read_file_at(AT_FDCWD, s->path, LIMIT_HOOK_SETTINGS, &text, &len);
	if (r == -ENOENT) {
		s->mode = 0600;
		text = strdup("{}\n");
		return text ? settings_set(s, o->dialect, text, strlen(text), err)
			    : cordon_nomem(err);
	}
	if (r < 0)
		return cordon_fail_leaf(err, r, "read '%s'", s->path);
	s->mode = stat(s->path, &st) == 0 ? st.st_mode & 0777 : 0600;
	s->original = malloc(len + 1);
	if (!s->original) {
		free(text);
		return cordon_nomem(err);
	}
	memcpy(s->original, text, len + 1);
	s->original_len = len;
	if (splice_root(text, len) == len) { /* an empty file means no settings */
		free(text);
		text = strdup("{}\n");
		len = strlen("{}\n");
		if (!text)
			return cordon_nomem(err);
	}
	return settings_set(s, o->dialect, text, len, err);
}

/* The file before, under a name that nothing had: INSTALL_BACKUP, or that with a number behind it. */
static int settings_backup(const struct settings *s, struct cordon_error *err)
{
	AUTO_CLOSE int fd = -1;
	char name[2 * LIMIT_PATH_BYTES];
	int r = 0;

	for (int i = 0; fd < 0 && i <= INSTALL_BACKUPS; i++) {
		r = snprintf(name, sizeof(name), i ? "%s%s.%d" : "%s%s", s->path, INSTALL_BACKUP,
			     i);
		if (r < 0 || (size_t)r >= sizeof(name))
			return cordon_fail(err, CORDON_E_LIMIT, "'%s': the name is too long",
					   s->path);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, s->mode);
		r = fd < 0 ? -errno : 0;
		if (fd < 0 && r != -EEXIST)
			break;
	}
	if (r == 0)
		r = io_write(fd, s->original, s->original_len, CLOCK_NEVER);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r == -EEXIST)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_LIMIT, "'%s' has %d backups", s->path,
					       INSTALL_BACKUPS),
				   "remove those that are not needed");
	return r < 0 ? cordon_fail_leaf(err, r, "write '%s'", name) : 0;
}

/* Is the file still what was read?  An agent writes its settings without asking for a lock. */
static int settings_is_current(const struct settings *s, struct cordon_error *err)
{
	AUTO_FREE char *now = NULL;
	size_t len = 0;
	int r = io_read_file_at(AT_FDCWD, s->path, LIMIT_HOOK_SETTINGS, &now, &len);

	if (r == -ENOENT)
		return !s->original;
	if (r < 0)
		return cordon_fail_leaf(err, r, "read '%s'", s->path);
	return s->original && len == s->original_len && memcmp(now, s->original, len) == 0;
}

/* 1 when it is done, 0 when the file was changed by somebody else meanwhile. */
static int settings_store(const struct settings *s, struct cordon_error *err)
{
	int r = s->original ? settings_backup(s, err) : 0;

	if (r == 0)
		r = settings_is_current(s, err);
	if (r <= 0)
		return r;
	r = io_write_file_at(AT_FDCWD, s->path, s->text, s->len, s->mode);
	return r < 0 ? cordon_fail_leaf(err, r, "write '%s'", s->path) : 1;
}

/* "CORDON hook AGENT [OPTIONS]" for a shell. */
static int install_command(const struct install_options *o, struct buf *out,
			   struct cordon_error *err)
{
	char exe[PATH_MAX];
	int r = proc_exe(exe, sizeof(exe));

	if (r == -ENOENT)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_NOT_FOUND,
					       "this program was removed or replaced while it ran"),
				   "run it again from where it is installed");
	if (r < 0)
		return cordon_fail_leaf(err, r, "find this program");
	str_shell_quote(out, exe);
	buf_printf(out, " hook %s", o->dialect->name);
	if (o->dialect->can_fail_closed)
		buf_str(out, " --always-reply");
	for (size_t i = 0; o->policies && i < o->policies->n; i++) {
		buf_str(out, " -p ");
		str_shell_quote(out, o->policies->v[i]);
	}
	return buf_error(out) < 0 ? cordon_nomem(err) : 0;
}

/* The entry for one event, as the agent writes it. */
static json_t *install_entry(const struct hook_dialect *d, const struct hook_entry *e,
			     const char *command)
{
	json_t *handler, *entry;

	if (d->has_flat_entries) {
		entry = json_pack("{sssi}", "command", command, "timeout", d->timeout);
		if (entry && e->matcher)
			(void)json_object_set_new(entry, "matcher", json_string(e->matcher));
		if (entry && d->can_fail_closed)
			(void)json_object_set_new(entry, "failClosed", json_true());
		return entry;
	}
	handler =
		json_pack("{sssssi}", "type", "command", "command", command, "timeout", d->timeout);
	return json_pack("{sss[o]}", "matcher", e->matcher, "hooks", handler);
}

/* Is this handler ours: a command line with our name and "hook AGENT" behind it? */
static bool install_is_ours(const struct hook_dialect *d, json_t *handler)
{
	const char *command = json_string_value(json_object_get(handler, "command"));
	json_t *args = json_object_get(handler, "args");
	const char *first = json_string_value(json_array_get(args, 0));
	const char *second = json_string_value(json_array_get(args, 1));
	char tail[64];
	const char *hook;

	if (!command || !strstr(command, "cordon"))
		return false;
	if (first && second)
		return strcmp(first, "hook") == 0 && strcmp(second, d->name) == 0;
	(void)snprintf(tail, sizeof(tail), " hook %s", d->name);
	hook = strstr(command, tail);
	return hook && (hook[strlen(tail)] == '\0' || hook[strlen(tail)] == ' ');
}

/* Applies one change of the text. */
static int settings_apply(struct settings *s, const struct hook_dialect *d, struct buf *changed,
			  struct cordon_error *err)
{
	char *text = NULL;
	size_t len = 0;
	int r = buf_take(changed, &text, &len);

	buf_done(changed);
	if (r < 0)
		return cordon_fail_leaf(err, r, "settings of %s", d->name);
	r = settings_set(s, d, text, len, err);
	return r < 0 ? cordon_wrap(err, CORDON_E_INTERNAL, "the changed settings") : 0;
}

static int settings_cut(struct settings *s, const struct hook_dialect *d,
			const struct splice_place *place, struct cordon_error *err)
{
	struct buf out = BUF_INIT(LIMIT_HOOK_SETTINGS);

	splice_remove(s->text, s->len, place, &out);
	return settings_apply(s, d, &out, err);
}

/* Takes the container out that has become empty. */
static int settings_tidy(struct settings *s, const struct hook_dialect *d, const char *event,
			 struct cordon_error *err)
{
	json_t *hooks = json_object_get(s->root, "hooks");
	struct splice_place member, inner;
	size_t root = splice_root(s->read, s->len);
	int r = 0;

	if (!splice_member(s->read, s->len, root, "hooks", &member))
		return 0;
	if (json_array_size(json_object_get(hooks, event)) == 0 &&
	    splice_member(s->read, s->len, member.value.start, event, &inner))
		r = settings_cut(s, d, &inner, err);
	if (r == 0 && json_object_size(json_object_get(s->root, "hooks")) == 0 &&
	    splice_member(s->read, s->len, root, "hooks", &member))
		r = settings_cut(s, d, &member, err);
	return r;
}

/* Finds one handler of ours in an event's list: alone in its entry (then the entry is meant) or among others. */
static bool settings_find_ours(const struct settings *s, const struct hook_dialect *d,
			       const char *event, struct splice_place *ret)
{
	json_t *list = json_object_get(json_object_get(s->root, "hooks"), event);
	struct splice_place hooks, events, entry;
	json_t *item;
	size_t i, k;

	if (!splice_member(s->read, s->len, splice_root(s->read, s->len), "hooks", &hooks) ||
	    !splice_member(s->read, s->len, hooks.value.start, event, &events))
		return false;
	json_array_foreach(list, i, item)
	{
		json_t *handlers = json_object_get(item, "hooks");
		json_t *handler;

		if (!splice_element(s->read, s->len, events.value.start, i, &entry))
			return false;
		*ret = entry;
		if (install_is_ours(d, item))
			return true;
		json_array_foreach(handlers, k, handler)
		{
			if (!install_is_ours(d, handler))
				continue;
			if (json_array_size(handlers) == 1)
				return true;
			return splice_member(s->read, s->len, entry.value.start, "hooks", &hooks) &&
			       splice_element(s->read, s->len, hooks.value.start, k, ret);
		}
	}
	return false;
}

static int settings_remove(struct settings *s, const struct hook_dialect *d,
			   struct cordon_error *err)
{
	AUTO(strv_done) struct strv events = {0};
	const char *event;
	json_t *list;
	int r = 0;

	json_object_foreach(json_object_get(s->root, "hooks"), event, list)
	{
		if (json_is_array(list) && strv_add(&events, event) < 0)
			return cordon_nomem(err);
	}
	for (size_t i = 0; r == 0 && i < events.n; i++) {
		struct splice_place place;
		bool had = false;

		while (r == 0 && settings_find_ours(s, d, events.v[i], &place)) {
			r = settings_cut(s, d, &place, err);
			had = true;
		}
		if (r == 0 && had)
			r = settings_tidy(s, d, events.v[i], err);
	}
	return r;
}

static int settings_append(struct settings *s, const struct hook_dialect *d, size_t at,
			   const char *key, const char *value, struct cordon_error *err)
{
	struct buf out = BUF_INIT(LIMIT_HOOK_SETTINGS);

	if (!splice_append(s->text, s->read, s->len, at, key, value, &out)) {
		buf_done(&out);
		return cordon_fail(err, CORDON_E_INVALID, "%s: 'hooks' is not what %s says it is",
				   s->path, d->name);
	}
	return settings_apply(s, d, &out, err);
}

/* One entry at the end of its event's list, with the containers that it needs. */
static int settings_add(struct settings *s, const struct hook_dialect *d, const char *event,
			const char *entry, struct cordon_error *err)
{
	struct splice_place hooks, events;
	size_t root = splice_root(s->read, s->len);
	int r = 0;

	if (!splice_member(s->read, s->len, root, "hooks", &hooks)) {
		r = settings_append(s, d, root, "hooks", "{}", err);
		if (r == 0 && !splice_member(s->read, s->len, root, "hooks", &hooks))
			r = cordon_fail(err, CORDON_E_INTERNAL, "%s: no 'hooks'", s->path);
	}
	if (r == 0 && !splice_member(s->read, s->len, hooks.value.start, event, &events)) {
		r = settings_append(s, d, hooks.value.start, event, "[]", err);
		if (r == 0 && !splice_member(s->read, s->len, hooks.value.start, event, &events))
			r = cordon_fail(err, CORDON_E_INTERNAL, "%s: no '%s'", s->path, event);
	}
	if (r == 0 && s->read[events.value.start] != '[')
		return cordon_fail(err, CORDON_E_INVALID, "%s: 'hooks.%s' is not a list", s->path,
				   event);
	return r == 0 ? settings_append(s, d, events.value.start, NULL, entry, err) : r;
}

static bool settings_has(const struct settings *s, const char *event, json_t *entry)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(s->root, "hooks"), event), i, item)
	{
		if (json_equal(item, entry))
			return true;
	}
	return false;
}

static int settings_install(const struct install_options *o, struct settings *s,
			    const char *command, struct cordon_error *err)
{
	const struct hook_dialect *d = o->dialect;
	bool has_all = true;
	int r = 0;

	for (const struct hook_entry *e = d->entries; e->event; e++) {
		json_auto_t *entry = install_entry(d, e, command);

		has_all = has_all && entry && settings_has(s, e->event, entry);
	}
	if (has_all)
		return 0;
	r = settings_remove(s, d, err);
	if (r == 0 && d->has_flat_entries && !json_object_get(s->root, "version"))
		r = settings_append(s, d, splice_root(s->read, s->len), "version", "1", err);
	for (const struct hook_entry *e = d->entries; r == 0 && e->event; e++) {
		json_auto_t *entry = install_entry(d, e, command);
		AUTO_FREE char *text = entry ? json_dumps(entry, 0) : NULL;

		r = text ? settings_add(s, d, e->event, text, err) : cordon_nomem(err);
	}
	return r;
}

/* 1 when all is done, 0 when it has to be done again. */
static int settings_finish(const struct settings *s, bool *ret_changed, struct cordon_error *err)
{
	*ret_changed = !s->original ? strcmp(s->text, "{}\n") != 0
				    : s->len != s->original_len ||
					      memcmp(s->text, s->original, s->len) != 0;
	return *ret_changed ? settings_store(s, err) : 1;
}

/* Others of us wait: the lock is on the directory, so that no file is left behind for it. */
static int install_lock(const struct install_options *o, bool makes, struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *dir = NULL;
	int r = install_path(o, &path, err);
	int fd;

	if (r < 0)
		return r;
	dir = strndup(path, (size_t)(path_base(path) - path));
	if (!dir)
		return cordon_nomem(err);
	if (makes && mkdir(dir, 0755) < 0 && errno != EEXIST)
		return cordon_fail_errno(err, errno, "make '%s'", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return cordon_fail_errno(err, errno, "open '%s'", dir);
	r = fd_flock(fd, LOCK_EX, clock_deadline(INSTALL_LOCK_MS));
	if (r == 0)
		return fd;
	(void)close(fd);
	return cordon_fail_leaf(err, r, "wait for another change of '%s'", path);
}

static int install_once(const struct install_options *o, const char *command, bool *ret_changed,
			struct cordon_error *err)
{
	AUTO(settings_done) struct settings s = {0};
	int r = settings_load(o, &s, err);

	*ret_changed = false;
	if (r == 0 && !command && !s.original)
		return 1;
	if (r == 0)
		r = command ? settings_install(o, &s, command, err)
			    : settings_remove(&s, o->dialect, err);
	return r == 0 ? settings_finish(&s, ret_changed, err) : r;
}

/* Read, change, write; and again when the file was another one by then.  command: NULL takes ours out. */
static int install_change(const struct install_options *o, const char *command, bool *ret_changed,
			  struct cordon_error *err)
{
	AUTO_CLOSE int lock = install_lock(o, command != NULL, err);
	int r = 0;

	if (lock < 0)
		return lock;
	for (int i = 0; r == 0 && i < INSTALL_TRIES; i++)
		r = install_once(o, command, ret_changed, err);
	if (r == 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_BUSY,
					       "the settings of %s change all the time",
					       o->dialect->name),
				   "try again when the agent is idle");
	return r < 0 ? r : 0;
}

int install_add(const struct install_options *o, bool *ret_changed, struct cordon_error *err)
{
	struct buf command = BUF_INIT(16 * (size_t)LIMIT_PATH_BYTES);
	int r = install_command(o, &command, err);

	if (r == 0)
		r = install_change(o, buf_cstr(&command), ret_changed, err);
	buf_done(&command);
	return r;
}

int install_remove(const struct install_options *o, bool *ret_changed, struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	int r = install_path(o, &path, err);

	*ret_changed = false;
	if (r < 0)
		return r;
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	return install_change(o, NULL, ret_changed, err);
}

/* One file that may say that no hook is run at all. */
static int install_find_switch(const struct install_options *o, const char *dir, const char *name,
			       struct strv *ret, struct cordon_error *err)
{
	struct install_options at = {.dialect = o->dialect, .dir = dir, .settings = name};
	AUTO(settings_done) struct settings s = {0};
	struct cordon_error ignored = {0};

	/* One that cannot be read is another's, and install says so of its own. */
	if (settings_load(&at, &s, &ignored) < 0 || !s.original ||
	    !json_is_true(json_object_get(s.root, o->dialect->off_switch)))
		return 0;
	for (size_t i = 0; i < ret->n; i++)
		if (strcmp(ret->v[i], s.path) == 0)
			return 0;
	return strv_add(ret, s.path) < 0 ? cordon_nomem(err) : 0;
}

int install_disabled(const struct install_options *o, const char *home, struct strv *ret,
		     struct cordon_error *err)
{
	const struct {
		const char *dir, *name;
	} files[] = {
		{o->dir, o->settings ? o->settings : o->dialect->settings},
		{o->dir, ".claude/settings.json"},
		{o->dir, ".claude/settings.local.json"},
		{home, ".claude/settings.json"},
		{"/", "/etc/claude-code/managed-settings.json"},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && o->dialect->off_switch && i < ARRAY_LEN(files); i++)
		if (files[i].dir)
			r = install_find_switch(o, files[i].dir, files[i].name, ret, err);
	return r;
}

int install_list(const struct install_options *o, struct strv *ret, struct cordon_error *err)
{
	AUTO(settings_done) struct settings s = {0};
	const char *event;
	json_t *list, *item, *handler;
	size_t i, k;
	int r = settings_load(o, &s, err);

	if (r < 0)
		return r;
	json_object_foreach(json_object_get(s.root, "hooks"), event, list)
	{
		json_array_foreach(list, i, item)
		{
			json_t *handlers = json_object_get(item, "hooks");

			if (install_is_ours(o->dialect, item) &&
			    (strv_add(ret, event) < 0 ||
			     strv_add(ret, json_string_value(json_object_get(item, "command"))) <
				     0))
				return cordon_nomem(err);
			json_array_foreach(handlers, k, handler)
			{
				if (install_is_ours(o->dialect, handler) &&
				    (strv_add(ret, event) < 0 ||
				     strv_add(ret, json_string_value(json_object_get(
							   handler, "command"))) < 0))
					return cordon_nomem(err);
			}
		}
	}
	return 0;
}
