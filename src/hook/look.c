/* SPDX-License-Identifier: Apache-2.0 */
/* See look.h. */
#include "hook/look.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/utf8.h"
#include "net/name.h"
#include "net/url.h"
#include "session/observe.h"
#include "workspace/protected.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum look_id {
	LOOK_CREDENTIAL_READ,
	LOOK_SYSTEM_READ,
	LOOK_SEARCH,
	LOOK_CREDENTIAL_WRITE,
	LOOK_GUARD,
	LOOK_AGENT,
	LOOK_GIT,
	LOOK_PROTECTED,
	LOOK_SYSTEM_WRITE,
	LOOK_METADATA,
	LOOK_ODD_URL,
	LOOK_COUNT
};

const struct look_rule look_rules[] = {
	[LOOK_CREDENTIAL_READ] = {"HOOK-READ-CREDENTIAL", "reads a file that holds credentials",
				  FINDING_FILE_ACCESS, THREAT_HIGH, 0.9, LOOK_READ,
				  "~/.ssh/id_ed25519", "~/.sshrc-notes.md"},
	[LOOK_SYSTEM_READ] = {"HOOK-READ-SYSTEM",
			      "reads what the system keeps secret, or another process's memory",
			      FINDING_FILE_ACCESS, THREAT_HIGH, 0.9, LOOK_READ, "/proc/1/environ",
			      "/proc/cpuinfo"},
	[LOOK_SEARCH] = {"HOOK-SEARCH-CREDENTIAL", "searches where credentials are kept",
			 FINDING_FILE_ACCESS, THREAT_MEDIUM, 0.8, LOOK_BELOW, "~", "~/src"},
	[LOOK_CREDENTIAL_WRITE] = {"HOOK-WRITE-CREDENTIAL", "writes where credentials are kept",
				   FINDING_FILE_ACCESS, THREAT_HIGH, 0.9, LOOK_WRITE,
				   "~/.ssh/authorized_keys", "src/ssh/authorized_keys.c"},
	[LOOK_GUARD] = {"HOOK-WRITE-CORDON", "writes cordon's own policy or records",
			FINDING_FILE_ACCESS, THREAT_HIGH, 0.95, LOOK_WRITE, ".cordon.yaml",
			"docs/cordon.md"},
	[LOOK_AGENT] = {"HOOK-WRITE-AGENT",
			"writes configuration from which an agent runs commands",
			FINDING_FILE_ACCESS, THREAT_MEDIUM, 0.9, LOOK_WRITE,
			"sub/.claude/settings.json", ".claude/worktrees/a/main.c"},
	[LOOK_GIT] = {"HOOK-WRITE-GIT", "writes what makes git run commands", FINDING_FILE_ACCESS,
		      THREAT_MEDIUM, 0.9, LOOK_WRITE, "sub/.git/hooks/pre-commit",
		      "githooks/readme.txt"},
	[LOOK_PROTECTED] = {"HOOK-WRITE-PROTECTED",
			    "writes a name that programs of the host act upon", FINDING_FILE_ACCESS,
			    THREAT_MEDIUM, 0.8, LOOK_WRITE, "~/.bashrc", "sub/bashrc.txt"},
	[LOOK_SYSTEM_WRITE] = {"HOOK-WRITE-SYSTEM", "writes a directory of the system",
			       FINDING_FILE_ACCESS, THREAT_MEDIUM, 0.9, LOOK_WRITE,
			       "/etc/cron.d/job", "/tmp/etc/cron.d/job"},
	[LOOK_METADATA] = {"HOOK-FETCH-METADATA",
			   "fetches from a cloud's metadata service or a link-local address",
			   FINDING_NETWORK_ACCESS, THREAT_HIGH, 0.95, LOOK_URL,
			   "http://169.254.169.254/latest/meta-data/",
			   "https://example.org/169.254.169.254"},
	[LOOK_ODD_URL] = {"HOOK-FETCH-URL", "fetches a URL whose host cannot be read one way only",
			  FINDING_NETWORK_ACCESS, THREAT_MEDIUM, 0.8, LOOK_URL, "http://0x7f.1/",
			  "http://localhost:3000/"},
};
const size_t look_rule_count = ARRAY_LEN(look_rules);
static_assert(ARRAY_LEN(look_rules) == LOOK_COUNT, "one row per rule");

static int look_found(enum look_id id, const char *text, struct findings *ret,
		      struct cordon_error *err)
{
	const struct look_rule *rule = &look_rules[id];
	struct finding f = {
		.type = rule->type, .level = rule->level, .confidence = rule->confidence};
	struct buf b = BUF_INIT(sizeof(f.snippet) * 8);

	for (size_t i = 0; i < ret->n; i++)
		if (strcmp(ret->items[i].rule, rule->id) == 0)
			return 0;
	str_escape(&b, text, strnlen(text, sizeof(f.snippet) - 1));
	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule->id);
	(void)snprintf(f.message, sizeof(f.message), "%s", rule->reason);
	(void)snprintf(f.snippet, sizeof(f.snippet), "%s", buf_cstr(&b));
	buf_done(&b);
	return findings_add(ret, &f) < 0 ? cordon_nomem(err) : 0;
}

int look_absolute(const struct look_place *p, const char *path, char **ret)
{
	if (p->home && path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
		return path_join(p->home, path[1] ? path + 2 : ".", ret);
	return path_join(p->cwd ? p->cwd : p->workspace, path, ret);
}

int look_behind_links(const struct look_place *p, const char *path, char **ret)
{
	const char *base = p->cwd ? p->cwd : p->workspace;
	struct buf raw = BUF_INIT(LIMIT_PATH_BYTES * 2);
	AUTO_FREE char *named = NULL;
	AUTO_FREE char *other = NULL;
	AUTO_FREE char *real = NULL;
	int r;

	*ret = NULL;
	if (!strstr(path, ".."))
		return 0;
	r = look_absolute(p, path, &named);
	if (p->home && path[0] == '~' && path[1] == '/') {
		base = p->home;
		path += 2;
	}
	if (path[0] != '/')
		buf_printf(&raw, "%s/", base);
	buf_str(&raw, path);
	if (r == 0)
		r = buf_error(&raw);
	if (r == 0)
		r = path_resolve(named, &other);
	if (r == 0)
		r = path_resolve(buf_cstr(&raw), &real);
	buf_done(&raw);
	if (r == 0 && strcmp(other, real) != 0)
		*ret = TAKE_PTR(real);
	return r == -E2BIG ? -ENAMETOOLONG : r;
}

/* How many bytes the blank is long that text begins with; 0: it begins with none.  All that JavaScript takes for one. */
static size_t look_blank(const char *text, size_t len)
{
	uint32_t code = 0;
	size_t n = utf8_decode(text, len, &code);

	return (code >= '\t' && code <= '\r') || code == ' ' || code == 0xa0 || code == 0x1680 ||
			       (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
			       code == 0x2029 || code == 0x202f || code == 0x205f ||
			       code == 0x3000 || code == 0xfeff
		       ? n
		       : 0;
}

int look_trimmed(const char *text, char **ret)
{
	size_t len = strlen(text);
	size_t from = 0;
	size_t n;

	*ret = NULL;
	while (from < len && (n = look_blank(text + from, len - from)) > 0)
		from += n;
	for (size_t back = 1; back <= 3 && len - from >= back; back++)
		if (look_blank(text + len - back, back) == back) {
			len -= back;
			back = 0;
		}
	if (len == from || (from == 0 && !text[len]))
		return 0;
	*ret = strndup(text + from, len - from);
	return *ret ? 0 : -ENOMEM;
}

static bool look_below(const char *path, const char *dir, const char *name)
{
	char full[2 * 4096];

	return dir &&
	       snprintf(full, sizeof(full), "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name) <
		       (int)sizeof(full) &&
	       path_is_within(path, full);
}

static bool look_is_credential(const struct look_place *p, const char *path)
{
	for (size_t i = 0; i < credential_path_count; i++)
		if (look_below(path, p->home, credential_paths[i]))
			return true;
	return false;
}

static bool look_is_protected(const struct look_place *p, const char *path)
{
	const char *dirs[] = {p->workspace, p->home};

	for (size_t d = 0; d < ARRAY_LEN(dirs); d++) {
		for (size_t i = 0; i < protected_name_count; i++) {
			const char *name = protected_names[i].name;
			const char *except = protected_exception(name);
			char inner[256];

			if (!look_below(path, dirs[d], name))
				continue;
			if (!except ||
			    snprintf(inner, sizeof(inner), "%s/%s", name, except) >=
				    (int)sizeof(inner) ||
			    !look_below(path, dirs[d], inner))
				return true;
		}
	}
	return false;
}

static bool look_matches(const char *const *globs, const char *path)
{
	for (size_t i = 0; globs[i]; i++)
		if (glob_match(globs[i], path))
			return true;
	return false;
}

static bool look_is_agent(const char *path)
{
	static const char *const globs[] = {"/**/.claude/settings.json",
					    "/**/.claude/settings.local.json",
					    "/**/.claude/hooks/**",
					    "/**/.claude.json",
					    "/**/.mcp.json",
					    "/**/.codex/hooks.json",
					    "/**/.codex/config.toml",
					    "/**/.gemini/settings.json",
					    "/**/.cursor/hooks.json",
					    "/**/.cursor/mcp.json",
					    "/**/.vscode/mcp.json",
					    "/etc/claude-code/**",
					    NULL};

	return look_matches(globs, path);
}

static bool look_is_git(const char *path)
{
	static const char *const globs[] = {"/**/.git/hooks/**",
					    "/**/.git/config",
					    "/**/.git/config.worktree",
					    "/**/.git/info/attributes",
					    "/**/.git/modules/**/config",
					    "/**/.git/modules/**/hooks/**",
					    "/**/.git/commondir",
					    "/**/.config/git/**",
					    NULL};

	return look_matches(globs, path);
}

static bool look_is_secret_of_system(const char *path)
{
	static const char *const globs[] = {"/etc/shadow*",
					    "/etc/gshadow*",
					    "/etc/sudoers",
					    "/etc/sudoers.d/**",
					    "/etc/ssl/private/**",
					    "/etc/ssh/ssh_host_*_key",
					    "/proc/[0-9]*/environ",
					    "/proc/[0-9]*/mem",
					    "/proc/self/environ",
					    "/proc/kcore",
					    "/dev/mem",
					    NULL};

	return look_matches(globs, path);
}

static bool look_is_system(const char *path)
{
	static const char *const dirs[] = {"/etc",  "/usr",   "/bin",           "/sbin",
					   "/lib",  "/lib64", "/boot",          "/sys",
					   "/proc", "/dev",   "/var/spool/cron"};

	if (path_is_within(path, "/dev/shm") || strcmp(path, "/dev/null") == 0 ||
	    path_is_within(path, "/usr/local/src"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (path_is_within(path, dirs[i]))
			return true;
	return false;
}

static bool look_is_guard(const struct look_place *p, const char *path)
{
	return strcmp(path_base(path), ".cordon.yaml") == 0 ||
	       path_is_within(path, "/etc/cordon") ||
	       (p->config_dir && path_is_within(path, p->config_dir)) ||
	       (p->state_dir && path_is_within(path, p->state_dir));
}

static int look_write(const struct look_place *p, const char *path, struct findings *ret,
		      struct cordon_error *err)
{
	const struct {
		bool is_so;
		enum look_id id;
	} rows[] = {
		{look_is_credential(p, path), LOOK_CREDENTIAL_WRITE},
		{look_is_guard(p, path), LOOK_GUARD},
		{look_is_agent(path), LOOK_AGENT},
		{look_is_git(path), LOOK_GIT},
		{look_is_protected(p, path), LOOK_PROTECTED},
		{look_is_system(path), LOOK_SYSTEM_WRITE},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(rows); i++)
		if (rows[i].is_so)
			r = look_found(rows[i].id, path, ret, err);
	return r;
}

static int look_path(const struct look_place *p, enum look_kind kind, const char *text,
		     struct findings *ret, struct cordon_error *err)
{
	AUTO_FREE char *named = NULL;
	AUTO_FREE char *real = NULL;
	int r = look_absolute(p, text, &named);

	if (r == 0)
		r = path_resolve(named, &real);
	if (r < 0)
		return cordon_fail_leaf(err, r, "path '%.100s'", text);
	for (size_t i = 0; i < 2; i++) {
		const char *path = i ? real : named;

		if (i && strcmp(real, named) == 0)
			break;
		if (kind == LOOK_WRITE)
			r = look_write(p, path, ret, err);
		else if (look_is_credential(p, path))
			r = look_found(LOOK_CREDENTIAL_READ, path, ret, err);
		else if (look_is_secret_of_system(path))
			r = look_found(LOOK_SYSTEM_READ, path, ret, err);
		if (r < 0)
			return r;
	}
	return 0;
}

bool look_is_file_url(const char *url)
{
	return strncasecmp(url, "file:", 5) == 0;
}

static int look_hex(char c)
{
	return c >= '0' && c <= '9'         ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower(c) - 'a' + 10
					    : -1;
}

int look_file_url(const char *url, char **ret, struct cordon_error *err)
{
	const char *p = url + strlen("file:");
	struct buf path = BUF_INIT(LIMIT_URL_BYTES);
	int r;

	if (str_starts(p, "//")) {
		p += 2;
		if (strncasecmp(p, "localhost/", 10) == 0)
			p += strlen("localhost");
		if (*p != '/')
			return cordon_fail(err, CORDON_E_INVALID,
					   "a file of another machine: '%.100s'", url);
	}
	for (; *p && *p != '?' && *p != '#'; p++) {
		int high = *p == '%' ? look_hex(p[1]) : -1;
		int low = high >= 0 ? look_hex(p[2]) : -1;

		if (low >= 0 && high + low > 0) {
			buf_char(&path, (char)(high << 4 | low));
			p += 2;
		} else {
			buf_char(&path, *p);
		}
	}
	r = buf_take(&path, ret, NULL);
	buf_done(&path);
	return r < 0 ? cordon_fail_leaf(err, r, "the path of a URL") : 0;
}

/* A password in a URL does not go into a finding. */
static int look_found_url(enum look_id id, const char *url, struct findings *ret,
			  struct cordon_error *err)
{
	char place[512];

	observe_place(url, place, sizeof(place));
	return look_found(id, place, ret, err);
}

static int look_url(const char *text, struct findings *ret, struct cordon_error *err)
{
	const struct addr_row *address = NULL;
	const struct name_row *name = NULL;
	enum url_scheme scheme;
	struct host host;

	if (url_host(text, strlen(text), &scheme, &host, NULL) < 0)
		return look_found_url(LOOK_ODD_URL, text, ret, err);
	if (host.kind == HOST_NAME)
		name = name_class(&host);
	else
		address = addr_class(host.addr);
	if ((name && name->kind == NAME_METADATA) ||
	    (address && (address->kind == ADDR_METADATA || address->kind == ADDR_LINK_LOCAL)))
		return look_found_url(LOOK_METADATA, text, ret, err);
	return 0;
}

int look_at_search(const struct look_place *p, const char *dir, const struct strv *globs,
		   bool lists_only, struct strv *ret_named, struct findings *ret,
		   struct cordon_error *err)
{
	struct look_searched searched = {0};
	int r = look_search(p, dir, globs, lists_only, &searched);

	*ret_named = searched.named;
	if (r < 0)
		return cordon_fail_leaf(err, r, "a search in '%.100s'", dir);
	return searched.is_kind ? look_found(LOOK_SEARCH, dir, ret, err) : 0;
}

int look_at(const struct look_place *p, enum look_kind kind, const char *text, struct findings *ret,
	    struct cordon_error *err)
{
	if (kind == LOOK_BELOW) {
		AUTO(strv_done) struct strv named = {0};

		return look_at_search(p, text, /* globs= */ NULL, /* lists_only= */ false, &named,
				      ret, err);
	}
	if (kind != LOOK_URL)
		return look_path(p, kind, text, ret, err);
	if (look_is_file_url(text)) {
		AUTO_FREE char *path = NULL;
		int r = look_file_url(text, &path, err);

		return r < 0 ? r : look_path(p, LOOK_READ, path, ret, err);
	}
	return look_url(text, ret, err);
}
