/* SPDX-License-Identifier: Apache-2.0 */
/* See install.h. */
#include <jansson.h> /* first: see base/json.h */

#include "hook/install.h"

#include "base/io.h"
#include "base/json_check.h"
#include "base/jsonc.h"
#include "base/limits.h"
#include "base/path.h"
#include "hook/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int settings_store(const struct settings *s, struct cordon_error *err)
{
	AUTO_FREE char *backup = NULL;
	AUTO_FREE char *dir = strndup(s->path, (size_t)(path_base(s->path) - s->path));
	struct buf name = BUF_INIT(2 * LIMIT_PATH_BYTES);
	int r;

	buf_printf(&name, "%s" INSTALL_BACKUP, s->path);
	r = buf_take(&name, &backup, NULL);
	buf_done(&name);
	if (r < 0 || !dir)
		return cordon_nomem(err);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return cordon_fail_errno(err, errno, "make '%s'", dir);
	if (s->original)
		r = io_write_file_at(AT_FDCWD, backup, s->original, s->original_len, s->mode);
	if (r < 0)
		return cordon_fail_leaf(err, r, "write '%s'", backup);
	r = io_write_file_at(AT_FDCWD, s->path, s->text, s->len, s->mode);
	return r < 0 ? cordon_fail_leaf(err, r, "write '%s'", s->path) : 0;
}

/* "CORDON hook AGENT [OPTIONS]" for a shell. */
static int install_command(const struct install_options *o, struct buf *out,
			   struct cordon_error *err)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return cordon_fail_errno(err, errno, "find this program");
	exe[n] = '\0';
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

static int settings_finish(const struct settings *s, bool *ret_changed, struct cordon_error *err)
{
	*ret_changed = !s->original ? strcmp(s->text, "{}\n") != 0
				    : s->len != s->original_len ||
					      memcmp(s->text, s->original, s->len) != 0;
	return *ret_changed ? settings_store(s, err) : 0;
}

int install_add(const struct install_options *o, bool *ret_changed, struct cordon_error *err)
{
	AUTO(settings_done) struct settings s = {0};
	struct buf command = BUF_INIT(16 * (size_t)LIMIT_PATH_BYTES);
	int r = install_command(o, &command, err);

	if (r == 0)
		r = settings_load(o, &s, err);
	if (r == 0)
		r = settings_install(o, &s, buf_cstr(&command), err);
	if (r == 0)
		r = settings_finish(&s, ret_changed, err);
	buf_done(&command);
	return r;
}

int install_remove(const struct install_options *o, bool *ret_changed, struct cordon_error *err)
{
	AUTO(settings_done) struct settings s = {0};
	int r = settings_load(o, &s, err);

	*ret_changed = false;
	if (r == 0 && !s.original)
		return 0;
	if (r == 0)
		r = settings_remove(&s, o->dialect, err);
	return r == 0 ? settings_finish(&s, ret_changed, err) : r;
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
