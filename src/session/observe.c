/* SPDX-License-Identifier: Apache-2.0 */
/* See observe.h. */
#include "session/observe.h"

#include "base/glob.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "session/names.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OBSERVE_ENTRIES_MAX = 4096 }; /* of a directory that a pattern stands for */

static const char *const observe_writers[] = {"Write",     "Edit",         "MultiEdit",
					      "replace",   "NotebookEdit", "write_file",
					      "edit_file", "create_file",  "apply_patch"};

/* Words in the name of a tool that say that it sends; the tools of unknown servers go by them. */
static const char *const observe_sending[] = {
	"send",    "post",   "create",  "write",  "push",  "upload",  "email", "message",
	"comment", "submit", "publish", "notify", "share", "forward", "reply", "insert",
};

static void observe_about(struct observed *o, unsigned facts, const char *target)
{
	if (facts & ~o->facts && (o->target[0] == '\0' || facts & SESSION_SENSITIVE))
		(void)snprintf(o->target, sizeof(o->target), "%s", target);
	o->facts |= facts;
}

static bool observe_writes(const char *tool)
{
	for (size_t i = 0; i < ARRAY_LEN(observe_writers); i++)
		if (strcmp(tool, observe_writers[i]) == 0)
			return true;
	return false;
}

static void observe_one_path(const struct session_call *c, const char *path, struct observed *ret)
{
	if (observe_writes(c->tool))
		observe_about(ret, names_write_facts(path, c->cwd), path);
	else if (names_is_sensitive(path, /* is_path= */ true))
		observe_about(ret, SESSION_SENSITIVE, path);
}

/* As written, and where links lead: either may be the name that tells. */
static int observe_path(const struct session_call *c, struct observed *ret)
{
	AUTO_FREE char *full = NULL;
	AUTO_FREE char *real = NULL;
	int r;

	observe_one_path(c, c->path, ret);
	if (!c->cwd || path_join(c->cwd, c->path, &full) < 0)
		return 0;
	r = path_resolve(full, &real);
	if (r == -ENOMEM)
		return r;
	if (r == 0 && strcmp(real, full) != 0)
		observe_one_path(c, real, ret);
	return 0;
}

static void observe_tool(const struct session_call *c, struct observed *ret)
{
	const char *name = str_starts(c->tool, "mcp__") ? c->tool + strlen("mcp__") : NULL;

	if (!name)
		return;
	observe_about(ret, SESSION_MCP, c->tool);
	name = strstr(name, "__") ? strstr(name, "__") + 2 : name;
	for (size_t i = 0; i < ARRAY_LEN(observe_sending); i++)
		if (strcasestr(name, observe_sending[i]))
			ret->facts |= SESSION_SENDS;
}

void observe_place(const char *url, char *out, size_t size)
{
	const char *host = strstr(url, "://");
	size_t scheme = host ? (size_t)(host - url) + 3 : 0;
	size_t len = strcspn(url + scheme, "/?#");
	const char *at = memrchr(url + scheme, '@', len);
	size_t skip = at ? (size_t)(at - (url + scheme)) + 1 : 0;

	(void)snprintf(out, size, "%.*s%.*s", (int)scheme, url, (int)(len - skip),
		       url + scheme + skip);
}

bool observe_pattern(const char *path)
{
	const char *pattern = path_base(path);
	AUTO_FREE char *dir = strndup(path, (size_t)(pattern - path));
	DIR *d = dir && !glob_has_magic(dir) ? opendir(dir) : NULL;
	const struct dirent *entry;
	bool is_found = false;

	/* What cannot be looked at is not opened by this user's shell either. */
	for (size_t i = 0; d && !is_found && i < OBSERVE_ENTRIES_MAX && (entry = readdir(d)); i++)
		is_found = (pattern[0] == '.') == (entry->d_name[0] == '.') &&
			   glob_match(pattern, entry->d_name) &&
			   names_is_sensitive(entry->d_name, /* is_path= */ true);
	if (d)
		(void)closedir(d);
	return is_found;
}

int observe_call(const struct session_call *c, struct observed *ret)
{
	*ret = (struct observed){0};
	return observe_more(c, ret);
}

int observe_more(const struct session_call *c, struct observed *ret)
{
	int r = 0;

	observe_tool(c, ret);
	if (c->path)
		r = observe_path(c, ret);
	if (c->url && names_host_facts(c->url, strlen(c->url)) & SESSION_NETWORK) {
		char place[256];

		observe_place(c->url, place, sizeof(place));
		observe_about(ret, SESSION_FETCH, place);
	}
	if (r == 0 && c->command)
		r = observe_command(c, ret);
	return r;
}

struct session_event observe_event(const struct session_call *c, const struct observed *o)
{
	return (struct session_event){
		.source = SESSION_CLAIMED,
		.facts = o->facts,
		.tool = c->tool,
		.target = o->target,
	};
}
