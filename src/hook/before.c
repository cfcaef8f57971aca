/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call before it runs.  First what the manifest itself forbids (names of commands, paths, hosts, rules): that
 * holds also in dry run.  Then what the detectors find, and what the policy does about such a verdict.
 */
#include "hook/scene.h"

#include "base/limits.h"
#include "base/path.h"
#include "core/look.h"
#include "core/rate.h"
#include "core/why.h"
#include "inspect/gate.h"
#include "net/url.h"
#include "policy/rules.h"
#include "scan/document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { BEFORE_TEXTS_MAX = 4096 }; /* arguments of one call that are looked at */

struct before {
	struct hook_scene *scene;
	struct hook_answer *answer;
	struct cordon_error *err;
	char *command;      /* owned; of a shell tool */
	bool is_held;       /* it is our own constrained form already */
	bool is_writing;    /* the tool changes what it names */
	size_t texts;       /* looked at */
	struct strv paths;  /* absolute, that the call names */
	struct strv urls;   /* that it names */
	struct strv globs;  /* of a tool that searches */
	struct strv roots;  /* below which it does */
	struct buf content; /* what would be written */
};

int hook_refuse(struct hook_scene *s, struct hook_answer *a, const char *kind, const char *target,
		const char *rule, const char *remedy, struct cordon_error *err)
{
	a->act = HOOK_ACT_DENY;
	s->report.is_refused = true;
	(void)snprintf(a->reason, sizeof(a->reason), "cordon: refused by %s; %s", rule, remedy);
	return report_deny(&s->report, kind, target, rule, remedy) < 0 ? cordon_nomem(err) : 0;
}

void hook_reason(const struct judgement *j, const char *what, struct hook_answer *a)
{
	const struct finding *worst = NULL;

	for (size_t i = 0; i < j->findings.n; i++) {
		const struct finding *f = &j->findings.items[i];

		if (!worst || f->level > worst->level ||
		    (f->level == worst->level && f->confidence > worst->confidence))
			worst = f;
	}
	if (worst)
		(void)snprintf(a->reason, sizeof(a->reason), "cordon: %s %s: %s (%s)", what,
			       verdict_name(j->verdict.kind), worst->message, worst->rule);
	else
		(void)snprintf(a->reason, sizeof(a->reason), "cordon: %s %s", what,
			       verdict_name(j->verdict.kind));
}

/* Does the manifest close this path?  What only the built-in default says does not: it is the view of a sandbox,
 * and an agent's own tools are not in one. */
static int before_one_path(struct before *b, const char *path, bool write)
{
	struct hook_scene *s = b->scene;
	AUTO(why_done) struct why why = {0};
	AUTO_FREE char *absolute = NULL;
	int r = look_absolute(&s->place, path, &absolute);

	if (r < 0)
		return cordon_fail_leaf(b->err, r, "path '%.100s'", path);
	if (b->paths.n >= BEFORE_TEXTS_MAX || strv_add(&b->paths, absolute) < 0)
		return cordon_fail(b->err, CORDON_E_LIMIT, "the call names too many paths");
	r = why_path(s->effective->policy, &s->effective->context, absolute, write, &why, b->err);
	if (r == 0 && why.decision == WHY_DENY && origin_is_written(&why.origin))
		return hook_refuse(s, b->answer, "path", absolute, buf_cstr(&why.rule),
				   buf_cstr(&why.remedy), b->err);
	if (r == 0)
		r = look_at(&s->place, write ? LOOK_WRITE : LOOK_READ, absolute,
			    &s->judgement.findings, b->err);
	return r;
}

/* Whichever file the tool takes it for: both are looked at where there are two. */
static int before_plain_path(struct before *b, const char *path, bool write)
{
	AUTO_FREE char *behind = NULL;
	int r = look_behind_links(&b->scene->place, path, &behind);

	if (r < 0)
		return cordon_fail_leaf(b->err, r, "path '%.100s'", path);
	r = before_one_path(b, path, write);
	if (r == 0 && behind && b->answer->act != HOOK_ACT_DENY)
		r = before_one_path(b, behind, write);
	return r;
}

static int before_file_url(struct before *b, const char *url, bool write)
{
	AUTO_FREE char *path = NULL;
	int r = look_file_url(url, &path, b->err);

	return r < 0 ? r : before_plain_path(b, path, write);
}

static int before_named_path(struct before *b, const char *path, bool write)
{
	int r = look_is_file_url(path) ? before_file_url(b, path, write) : 0;

	return r == 0 && b->answer->act != HOOK_ACT_DENY ? before_plain_path(b, path, write) : r;
}

static int before_path(struct before *b, const char *path, bool write)
{
	AUTO_FREE char *trimmed = NULL;
	int r = look_trimmed(path, &trimmed);

	if (r < 0)
		return cordon_nomem(b->err);
	r = before_named_path(b, path, write);
	if (r == 0 && trimmed && b->answer->act != HOOK_ACT_DENY)
		r = before_named_path(b, trimmed, write);
	return r;
}

/* Somebody wrote which hosts may be reached, and which this is cannot be told: a user name in it, for one. */
static bool before_is_unreadable(const struct policy *p, const char *url)
{
	enum url_scheme scheme;
	struct host host;

	return policy_is_written(p, POLICY_NET_MODE) && p->net_mode != NET_ALLOW_ALL &&
	       url_host(url, strlen(url), &scheme, &host, NULL) < 0;
}

static int before_url(struct before *b, const char *url)
{
	struct hook_scene *s = b->scene;
	AUTO(why_done) struct why why = {0};
	AUTO_FREE char *trimmed = NULL;
	char place[512];
	int r = look_trimmed(url, &trimmed);

	if (r < 0)
		return cordon_nomem(b->err);
	url = trimmed ? trimmed : url;
	if (strlen(url) > LIMIT_URL_BYTES)
		return cordon_fail(b->err, CORDON_E_LIMIT, "the URL is too long");
	if (look_is_file_url(url))
		return before_file_url(b, url, false);
	if (b->urls.n >= BEFORE_TEXTS_MAX || strv_add(&b->urls, url) < 0)
		return cordon_fail(b->err, CORDON_E_LIMIT, "the call names too many URLs");
	observe_place(url, place, sizeof(place));
	if (before_is_unreadable(s->effective->policy, url))
		return hook_refuse(
			s, b->answer, "host", place, shape_policy.fields[POLICY_NET_MODE].path,
			"the host of the URL cannot be read one way only: give it plainly", b->err);
	r = why_host(s->effective->policy, url, &why, b->err);
	if (r == 0 && why.decision == WHY_DENY && origin_is_written(&why.origin))
		return hook_refuse(s, b->answer, "host", place, buf_cstr(&why.rule),
				   buf_cstr(&why.remedy), b->err);
	return r == 0 ? look_at(&s->place, LOOK_URL, url, &s->judgement.findings, b->err) : r;
}

static int before_inspect(struct before *b, enum inspect_kind kind, const char *text, size_t len)
{
	struct hook_scene *s = b->scene;
	struct inspect_context c = {
		.policy = s->effective->policy,
		.cwd = s->place.cwd,
		.home = s->place.home,
	};

	return inspect(&c, kind, text, len, &s->judgement.findings, b->err);
}

/* A command that a tool of a server takes: what the manifest forbids by name is forbidden there, too. */
static int before_command_text(struct before *b, const char *text, size_t len)
{
	struct hook_scene *s = b->scene;
	AUTO(request_freep) struct request *request = NULL;
	struct request_options o = {.cwd = s->place.cwd, .tool = s->call->tool};
	struct refusal refusal;
	int r = request_from_shell(text, &o, &request, b->err);

	if (r == 0)
		r = gate_check_lists(s->effective->policy, request, &refusal, b->err);
	if (r == 0 && refusal.is_refused)
		return hook_refuse(s, b->answer, refusal.kind, refusal.target, refusal.rule,
				   refusal.remedy, b->err);
	return r == 0 ? before_inspect(b, INSPECT_COMMAND, text, len) : r;
}

static bool before_is_one_of(const char *key, const char *const *names)
{
	for (size_t i = 0; key && names[i]; i++)
		if (strcasecmp(key, names[i]) == 0)
			return true;
	return false;
}

static const char *const before_path_keys[] = {
	"file_path", "filepath",    "path",     "paths",    "notebook_path", "absolute_path",
	"dir_path",  "target_file", "filename", "file",     "files",         "directory",
	"source",    "destination", "include",  "old_path", "new_path",      NULL};
static const char *const before_command_keys[] = {"command", "cmd",  "script",
						  "shell",   "bash", NULL};
static const char *const before_url_keys[] = {"url", "uri", "endpoint", "href", NULL};

/* Tools that read, or list, what they find below a directory, and how they call the globs. */
static const struct before_search {
	const char *tool;
	bool lists_only;
	bool needs_glob; /* without one it does nothing */
	const char *const *keys;
} before_searches[] = {
#define BEFORE_KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})
	{"Grep", false, false, BEFORE_KEYS("glob", "globs", "include", "type")},
	{"grep_search", false, false, BEFORE_KEYS("include", "include_pattern", "glob")},
	{"search_file_content", false, false, BEFORE_KEYS("include", "include_pattern", "glob")},
	{"read_many_files", false, true, BEFORE_KEYS("include", "paths")},
	{"Glob", true, true, BEFORE_KEYS("pattern", "glob_pattern", "glob")},
	{"glob", true, true, BEFORE_KEYS("pattern", "glob_pattern", "glob")},
};

static const struct before_search *before_search_find(const char *tool)
{
	for (size_t i = 0; i < ARRAY_LEN(before_searches); i++)
		if (strcmp(before_searches[i].tool, tool) == 0)
			return &before_searches[i];
	return NULL;
}

/* One text of a tool that reads. */
static int before_read_text(struct before *b, const char *key, const char *text, bool is_path)
{
	const struct before_search *search = before_search_find(b->scene->call->tool);
	int r = 0;

	if (search && before_is_one_of(key, search->keys))
		/* ripgrep's types are mostly the endings of names. */
		r = strcasecmp(key, "type") == 0 ? strv_addf(&b->globs, "*.%s", text)
						 : strv_add(&b->globs, text);
	else if (search && (is_path || (key && strcasecmp(key, "target_directory") == 0)))
		r = strv_add(&b->roots, text);
	if (r < 0)
		return cordon_nomem(b->err);
	return is_path && !(search && before_is_one_of(key, search->keys))
		       ? before_path(b, text, false)
		       : 0;
}

/* What the globs name is read; what else may be, is found. */
static int before_search(struct before *b)
{
	struct hook_scene *s = b->scene;
	const struct before_search *search = before_search_find(s->call->tool);
	size_t n;
	int r = 0;

	if (!search || (search->needs_glob && b->globs.n == 0))
		return 0;
	for (size_t i = 0; r == 0 && i < b->roots.n; i++) {
		AUTO_FREE char *trimmed = NULL;
		AUTO_FREE char *behind = NULL;

		r = look_trimmed(b->roots.v[i], &trimmed);
		if (r == 0 && trimmed)
			r = strv_add(&b->roots, trimmed);
		if (r == 0)
			r = look_behind_links(&s->place, b->roots.v[i], &behind);
		if (r == 0 && behind)
			r = strv_add(&b->roots, behind); /* has no link: the loop ends */
		if (r < 0)
			return cordon_fail_leaf(b->err, r, "path '%.100s'", b->roots.v[i]);
	}
	n = b->roots.n > 0 ? b->roots.n : 1;
	for (size_t i = 0; r == 0 && i < n && b->answer->act != HOOK_ACT_DENY; i++) {
		AUTO(strv_done) struct strv named = {0};

		r = look_at_search(&s->place, b->roots.n > 0 ? b->roots.v[i] : ".", &b->globs,
				   search->lists_only, &named, &s->judgement.findings, b->err);
		for (size_t k = 0; r == 0 && k < named.n && b->answer->act != HOOK_ACT_DENY; k++)
			r = before_path(b, named.v[k], false);
	}
	return r;
}

/* The URLs in a text, for tools that take them in a sentence. */
static int before_urls_in(struct before *b, const char *text)
{
	int r = 0;

	for (const char *s = strstr(text, "://"); r == 0 && s; s = strstr(s + 3, "://")) {
		const char *begin = s;
		size_t len = strcspn(s, " \t\r\n\"'<>`)");
		AUTO_FREE char *url = NULL;

		while (begin > text && ((begin[-1] | 0x20) >= 'a' && (begin[-1] | 0x20) <= 'z'))
			begin--;
		url = strndup(begin, (size_t)(s - begin) + len);
		if (!url)
			return cordon_nomem(b->err);
		r = before_url(b, url);
	}
	return r;
}

/* One text among the arguments, by the name it has. */
static int before_text(struct before *b, const char *key, const char *text, size_t len)
{
	enum hook_tool tool = hook_tool_find(b->scene->call->tool);
	bool is_path = before_is_one_of(key, before_path_keys);

	if (b->answer->act == HOOK_ACT_DENY || len == 0)
		return 0;
	if (++b->texts > BEFORE_TEXTS_MAX)
		return cordon_fail(b->err, CORDON_E_LIMIT, "the call has too many arguments");
	if (tool == HOOK_TOOL_READ)
		return before_read_text(b, key, text, is_path);
	if (tool == HOOK_TOOL_WRITE) {
		if (is_path)
			return before_path(b, text, true);
		if (key && strcmp(key, "old_string") == 0)
			return 0;
		buf_add(&b->content, text, len);
		buf_char(&b->content, '\n');
		return 0;
	}
	if (before_is_one_of(key, before_url_keys))
		return before_url(b, text);
	if (tool == HOOK_TOOL_FETCH)
		return before_urls_in(b, text);
	if (before_is_one_of(key, before_command_keys))
		return before_command_text(b, text, len);
	if ((is_path && !strchr(text, '\n')) ||
	    ((text[0] == '/' || str_starts(text, "~/")) && !strpbrk(text, " \t\n")))
		return before_path(b, text, b->is_writing);
	return before_inspect(b, INSPECT_TEXT, text, len);
}

/* Everything in a value; LIMIT_JSON_DEPTH bounds the recursion. */
static int before_value(struct before *b, const char *key, json_t *value)
{
	const char *name;
	json_t *item;
	size_t i;
	int r = 0;

	if (json_is_string(value))
		return before_text(b, key, json_string_value(value), json_string_length(value));
	json_array_foreach(value, i, item)
	{
		r = before_value(b, key, item);
		if (r < 0)
			return r;
	}
	json_object_foreach(value, name, item)
	{
		r = before_value(b, name, item);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool before_is_shell(const char *word)
{
	static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash"};

	for (size_t i = 0; word && i < ARRAY_LEN(shells); i++)
		if (strcmp(path_base(word), shells[i]) == 0)
			return true;
	return false;
}

/* ["bash", "-lc", "STRING"] is the string; other words are joined. */
static int before_words(struct before *b, json_t *words, char **ret)
{
	struct buf out = BUF_INIT(LIMIT_ARG_BYTES);
	json_t *word;
	size_t i;
	int r;

	if (json_array_size(words) == 3 && json_is_string(json_array_get(words, 2)) &&
	    before_is_shell(json_string_value(json_array_get(words, 0)))) {
		const char *flag = json_string_value(json_array_get(words, 1));

		if (flag && (strcmp(flag, "-lc") == 0 || strcmp(flag, "-c") == 0)) {
			*ret = strdup(json_string_value(json_array_get(words, 2)));
			return *ret ? 0 : cordon_nomem(b->err);
		}
	}
	json_array_foreach(words, i, word)
	{
		if (!json_is_string(word))
			return cordon_fail(b->err, CORDON_E_INVALID,
					   "a word of the command is not a string");
		if (i)
			buf_char(&out, ' ');
		str_shell_quote(&out, json_string_value(word));
	}
	r = buf_take(&out, ret, NULL);
	buf_done(&out);
	return r < 0 ? cordon_fail_leaf(b->err, r, "command") : 0;
}

static json_t *before_command_value(const struct hook_call *call, const char **ret_key)
{
	static const char *const keys[] = {"command", "cmd"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		json_t *v = json_object_get(call->input, keys[i]);

		*ret_key = keys[i];
		if (json_is_string(v) || (json_is_array(v) && json_array_size(v) > 0))
			return v;
	}
	return NULL;
}

static int before_shell(struct before *b)
{
	struct hook_scene *s = b->scene;
	struct request_options o = {
		.cwd = s->place.cwd,
		.tool = s->call->tool,
		.agent = s->call->dialect->name,
		.session = s->call->session,
	};
	AUTO_FREE char *text = NULL;
	struct refusal refusal;
	const char *key;
	json_t *value = before_command_value(s->call, &key);
	int r = 0;

	if (!value)
		return cordon_fail(b->err, CORDON_E_INVALID, "the tool '%.100s' has no command",
				   s->call->tool);
	/* Which of them the agent runs we do not know. */
	if (json_object_get(s->call->input, "command") && json_object_get(s->call->input, "cmd"))
		return cordon_fail(b->err, CORDON_E_INVALID, "the tool '%.100s' has two commands",
				   s->call->tool);
	if (json_is_array(value))
		r = before_words(b, value, &text);
	else if (!(text = strdup(json_string_value(value))))
		r = cordon_nomem(b->err);
	if (r == 0 && hook_unwrap(s, text, &b->command) < 0)
		r = cordon_nomem(b->err);
	b->is_held = b->command != NULL;
	if (!b->command)
		b->command = TAKE_PTR(text);
	if (r == 0)
		r = request_from_shell(b->command, &o, &s->request, b->err);
	if (r == 0)
		r = gate_check(s->effective->policy, s->request, &refusal, b->err);
	if (r == 0 && refusal.is_refused)
		return hook_refuse(s, b->answer, refusal.kind, refusal.target, refusal.rule,
				   refusal.remedy, b->err);
	return r == 0 ? look_at_call(s->effective->policy, s->request, s->place.home,
				     &s->judgement.findings, b->err)
		      : r;
}

/* The names in a patch of Codex's form. */
static int before_patch(struct before *b)
{
	static const char *const marks[] = {
		"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "};
	const char *key;
	json_t *item;
	int r = 0;

	json_object_foreach(b->scene->call->input, key, item)
	{
		for (const char *line = json_string_value(item); r == 0 && line && *line;) {
			size_t len = strcspn(line, "\n");
			size_t blank = strspn(line, " \t");

			for (size_t i = 0; r == 0 && i < ARRAY_LEN(marks); i++) {
				size_t skip = blank + strlen(marks[i]);
				size_t end = len;
				AUTO_FREE char *path = NULL;

				/* Readers of patches trim. */
				while (end > 0 && strchr(" \t\r", line[end - 1]))
					end--;
				if (!str_starts(line + blank, marks[i]) || end <= skip)
					continue;
				path = strndup(line + skip, end - skip);
				r = path ? before_path(b, path, true) : cordon_nomem(b->err);
			}
			if (line[0] == '+') {
				buf_add(&b->content, line + 1, len - 1);
				buf_char(&b->content, '\n');
			}
			line += len + (line[len] == '\n');
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* What would be written into files that agents, git, package managers or editors act upon. */
static int before_content(struct before *b)
{
	struct hook_scene *s = b->scene;
	int r = 0;

	if (buf_error(&b->content) < 0)
		return cordon_fail(b->err, CORDON_E_LIMIT, "what would be written is too long");
	for (size_t i = 0; r == 0 && b->content.len > 0 && i < b->paths.n; i++) {
		const char *path = b->paths.v[i];

		if (path_is_within(path, s->place.workspace))
			path += strlen(s->place.workspace);
		while (path != b->paths.v[i] && *path == '/')
			path++;
		if (strcmp(s->place.workspace, "/") == 0 && *path == '/')
			path++;
		struct scan_source source = {
			.policy = s->effective->policy,
			.path = path,
			.is_part = true,
			.text = buf_cstr(&b->content),
			.len = b->content.len,
		};

		r = scan_document(&source, &s->judgement.findings, b->err);
	}
	return r;
}

static int before_files(struct before *b)
{
	struct request_options o = {
		.cwd = b->scene->place.cwd,
		.tool = b->scene->call->tool,
		.agent = b->scene->call->dialect->name,
		.session = b->scene->call->session,
	};
	char *argv[] = {(char *)(uintptr_t)b->scene->call->tool, NULL};
	enum hook_tool tool = hook_tool_find(b->scene->call->tool);
	int r = request_from_argv(argv, &o, &b->scene->request, b->err);

	if (r == 0)
		r = tool == HOOK_TOOL_PATCH ? before_patch(b)
					    : before_value(b, NULL, b->scene->call->input);
	if (r == 0 && b->answer->act != HOOK_ACT_DENY)
		r = before_search(b);
	if (r == 0 && b->answer->act != HOOK_ACT_DENY && b->paths.n == 0 &&
	    (tool == HOOK_TOOL_WRITE || tool == HOOK_TOOL_PATCH))
		return cordon_fail(b->err, CORDON_E_INVALID,
				   "the tool '%.100s' names no file that we understand",
				   b->scene->call->tool);
	if (r == 0 && b->answer->act != HOOK_ACT_DENY)
		r = before_content(b);
	return r;
}

/* policy.rules, asked with the agent's name of the tool. */
static int before_rules(struct before *b)
{
	struct hook_scene *s = b->scene;
	const struct policy *p = s->effective->policy;
	struct rule_call call = {
		.tool = s->request->tool,
		.paths = &b->paths,
		.arguments = &s->request->arguments,
	};
	struct rule_answer answer;
	char rule[160];

	if (p->rules.n == 0 || b->answer->act == HOOK_ACT_DENY)
		return 0;
	rules_evaluate(p, &call, &answer);
	(void)snprintf(rule, sizeof(rule), "policy.rules '%.100s'",
		       answer.rule ? answer.rule->id : "(no rule matches)");
	if (answer.action == RULE_DENY)
		return hook_refuse(s, b->answer, "rule", s->call->tool, rule,
				   answer.rule && answer.rule->reason
					   ? answer.rule->reason
					   : "add a rule that allows this call",
				   b->err);
	if (answer.action == RULE_REQUIRE_APPROVAL) {
		b->answer->act = HOOK_ACT_ASK;
		(void)snprintf(b->answer->reason, sizeof(b->answer->reason),
			       "cordon: %s wants an approval%s%.200s", rule,
			       answer.rule->reason ? ": " : "",
			       answer.rule->reason ? answer.rule->reason : "");
	}
	return 0;
}

/* The same arguments with the command in its constrained form; all others stay as they are. */
static int before_rewrite(struct before *b)
{
	struct hook_scene *s = b->scene;
	AUTO_FREE char *wrapped = NULL;
	const char *key;
	json_t *value = b->command ? before_command_value(s->call, &key) : NULL;
	json_t *command;

	/* PowerShell does not read a shell's quotes; words of a list are no string. */
	if (!json_is_string(value) || strcmp(s->call->tool, "PowerShell") == 0 ||
	    s->call->input == s->call->root)
		return 0;
	if (hook_wrap(s, b->command, &wrapped) < 0)
		return cordon_nomem(b->err);
	if (!wrapped)
		return 0;
	command = json_string(wrapped);
	b->answer->input = json_copy(s->call->input);
	if (!command || !b->answer->input ||
	    json_object_set_new(b->answer->input, key, command) < 0)
		return cordon_nomem(b->err);
	return 0;
}

static int before_verdict(struct before *b)
{
	struct hook_scene *s = b->scene;
	const struct policy *p = s->effective->policy;
	struct judgement *j = &s->judgement;
	struct hook_answer *a = b->answer;
	bool was_asked = a->act == HOOK_ACT_ASK;

	judge_findings(p, s->call->tool, s->call->dialect->name, j);
	if (a->act == HOOK_ACT_DENY || j->is_dry_run || j->action == ACTION_ALLOW ||
	    j->action == ACTION_LOG)
		return 0;
	if (j->action == ACTION_BLOCK) {
		a->act = HOOK_ACT_DENY;
		s->report.is_refused = true;
		hook_reason(j, "refused as", a);
		return 0;
	}
	if (b->is_held)
		return 0;
	hook_reason(j, "held back as", a);
	a->act = p->constrain_mode == CONSTRAIN_AUTO && b->command && !was_asked
			 ? HOOK_ACT_CONSTRAIN
			 : HOOK_ACT_ASK;
	return before_rewrite(b);
}

static int before_rate(struct before *b)
{
	const struct policy *p = b->scene->effective->policy;
	bool allowed = true;
	int r;

	if (!policy_has(p, POLICY_CALLS_PER_MINUTE) || b->answer->act == HOOK_ACT_DENY ||
	    b->answer->input || b->is_held) /* `cordon run` counts it */
		return 0;
	r = rate_take(b->scene->effective->state_dir, p->calls_per_minute, &allowed, b->err);
	if (r < 0 || allowed)
		return r;
	return hook_refuse(b->scene, b->answer, "limit", "tool_calls_per_minute",
			   shape_policy.fields[POLICY_CALLS_PER_MINUTE].path,
			   "wait a minute, or raise the limit", b->err);
}

/* The verdict, with what the session did before; a call that goes on is remembered. */
static int before_session(struct before *b)
{
	struct hook_scene *s = b->scene;
	AUTO(session_closep) struct session_store *store = NULL;
	struct hook_touched touched = {.command = b->command, .paths = &b->paths, .urls = &b->urls};
	struct session_event event = {0};
	struct observed observed = {0};
	int r = hook_remember(s, &touched, b->answer, &store, &event, &observed, b->err);

	if (r == 0)
		r = before_verdict(b);
	/* What runs as `cordon run` tells the session itself. */
	if (r == 0 && store && b->answer->act != HOOK_ACT_DENY && !b->answer->input && !b->is_held)
		r = session_add(store, s->call->session, &event, 1, b->err);
	return r;
}

/* Does the name of an unknown tool say that it changes something? */
static bool before_is_writing(const char *tool)
{
	static const char *const words[] = {"write", "edit",   "create", "update", "delete",
					    "move",  "remove", "append", "put",    "save"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(tool, words[i]))
			return true;
	return false;
}

int hook_before(struct hook_scene *s, struct hook_answer *ret, struct cordon_error *err)
{
	struct before b = {
		.scene = s,
		.answer = ret,
		.err = err,
		.is_writing = before_is_writing(s->call->tool),
		.content = BUF_INIT(LIMIT_HOOK_BYTES),
	};
	int r = hook_tool_find(s->call->tool) == HOOK_TOOL_SHELL ? before_shell(&b)
								 : before_files(&b);

	if (r == 0)
		r = before_rules(&b);
	if (r == 0)
		r = before_session(&b);
	if (r == 0)
		r = before_rate(&b);
	free(b.command);
	strv_done(&b.urls);
	strv_done(&b.paths);
	strv_done(&b.globs);
	strv_done(&b.roots);
	buf_done(&b.content);
	return r;
}
