/* SPDX-License-Identifier: Apache-2.0 */
/* What building or installing a project runs, and where its packages come from. */
#include "scan/object.h"

#include "base/str.h"
#include "inspect/code.h"
#include "scan/line.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool build_is_host(const char *url, const char *const *hosts)
{
	const char *at = strstr(url, "://");
	size_t len;

	at = at ? at + 3 : url;
	len = strcspn(at, "/:?");
	for (size_t i = 0; hosts[i]; i++)
		if (strlen(hosts[i]) == len && strncasecmp(at, hosts[i], len) == 0)
			return str_starts(url, "https://");
	return false;
}

/* Programs of a package that hide those of the system, or of other packages. */
static int build_bins(struct scan_reader *r, json_t *root)
{
	static const char *const usual[] = {"git",   "ls",      "cat",  "cd",     "ssh",
					    "scp",   "sudo",    "su",   "curl",   "wget",
					    "bash",  "sh",      "zsh",  "node",   "npm",
					    "npx",   "python",  "pip",  "docker", "kubectl",
					    "aws",   "gh",      "make", "grep",   "find",
					    "which", "python3", "rm",   "cp",     "env"};
	const char *own = json_string_value(json_object_get(root, "name"));
	const char *name;
	json_t *value;
	int e = 0;

	json_object_foreach(json_object_get(root, "bin"), name, value)
	{
		for (size_t i = 0; e == 0 && i < ARRAY_LEN(usual); i++)
			/* npm and yarn are packages, too, and npm brings npx along. */
			if (strcmp(name, usual[i]) == 0 && (!own || !str_starts(name, own)) &&
			    !(own && strcmp(own, "npm") == 0))
				e = scan_found(r, SCAN_NPM_BIN, scan_place(r, name), name);
	}
	return e;
}

/* An archive from a place that is no usual one for packages. */
static bool build_is_strange_archive(const char *from)
{
	static const char *const usual[] = {
		"github.com",         "codeload.github.com",  "gitlab.com",
		"registry.npmjs.org", "pkg.pr.new",           "bitbucket.org",
		"npm.pkg.github.com", "registry.yarnpkg.com", "raw.githubusercontent.com",
		"npm.jsr.io",         "cdn.sheetjs.com",      NULL};

	return str_starts(from, "https://") && !build_is_host(from, usual);
}

/* Run without being asked for by name. */
int scan_read_package(struct scan_reader *r)
{
	static const char *const scripts[] = {"preinstall",    "install",     "postinstall",
					      "prepare",       "preprepare",  "postprepare",
					      "prepublish",    "prepack",     "preuninstall",
					      "postuninstall", "dependencies"};
	static const char *const sections[] = {"dependencies", "devDependencies",
					       "optionalDependencies"};
	json_auto_t *root = NULL;
	size_t before = r->findings->n;
	int e = scan_object(r, &root);

	if (e <= 0)
		return e;
	e = 0;
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(scripts); i++)
		e = scan_command_value(r, json_object_get(json_object_get(root, "scripts"),
							  scripts[i]));
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(sections); i++) {
		const char *name;
		json_t *value;

		json_object_foreach(json_object_get(root, sections[i]), name, value)
		{
			const char *from = json_string_value(value);

			if (e == 0 && from && scan_is_plain_url(from))
				e = scan_found(r, SCAN_PLAIN_SOURCE, scan_place(r, from), from);
			else if (e == 0 && from && build_is_strange_archive(from))
				e = scan_found(r, SCAN_REGISTRY, scan_place(r, from), from);
		}
	}
	if (e == 0)
		e = build_bins(r, root);
	/* The others run when they are asked for: what is grave in them is grave all the same. */
	return e == 0 && r->findings->n == before ? scan_read_embedded(r) : e;
}

static bool build_has(const char *line, size_t len, const char *word)
{
	return memmem(line, len, word, strlen(word)) != NULL;
}

/* Many packages ask git for their version. */
static bool build_is_version(const struct finding *f)
{
	static const char *const asks[] = {"[\"git\", \"describe\"", "['git', 'describe'",
					   "[\"git\", \"rev-parse\"", "['git', 'rev-parse'"};

	for (size_t i = 0; i < ARRAY_LEN(asks); i++)
		if (strcmp(f->rule, "PY-SETUP") == 0 && strstr(f->snippet, asks[i]))
			return true;
	return false;
}

/* Weaknesses of programs that serve others, and what pytest calls a request. */
static bool build_is_style(const struct finding *f)
{
	static const char *const rules[] = {"PY-REQUEST-ANY", "PY-RANDOM", "PY-ASSERT",
					    "PY-EXCEPT-PASS"};

	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (strcmp(f->rule, rules[i]) == 0 && f->level == THREAT_LOW)
			return true;
	return false;
}

/* Code that runs when the project is installed or tested.  What the verifier would refuse in a call is ordinary
 * in such a script, so it is only worth a look. */
int scan_read_python(struct scan_reader *r)
{
	struct inspect_context c = {
		.policy = r->source->policy,
		.home = r->source->home,
		.path = r->source->path,
		.document = INSPECT_DOCUMENT_SOURCE,
	};
	AUTO(findings_done) struct findings found = {0};
	int e = code_inspect(&c, CODE_PYTHON, r->source->text, r->source->len, &found, r->err);

	for (size_t i = 0; e == 0 && i < found.n; i++) {
		struct finding *f = &found.items[i];

		if (f->level > THREAT_MEDIUM)
			f->level = THREAT_MEDIUM;
		if (build_is_version(f) || build_is_style(f))
			continue;
		/* Blocked by name is no finding here; what the code does with it is. */
		if (f->type == FINDING_BLOCKED_MODULE || f->type == FINDING_BLOCKED_FUNCTION)
			continue;
		if (findings_add(r->findings, f) < 0)
			e = cordon_nomem(r->err);
	}
	return e;
}

/* Code that decodes or fetches other code and runs it: worth a look in any file, however it is started. */
int scan_read_hidden_python(struct scan_reader *r)
{
	static const char *const runs[] = {"exec(", "eval("};
	static const char *const gets[] = {"b64decode", "urlopen", "zlib", "marshal", "fromhex"};
	static const char *const rules[] = {"CODE-DECODED-RUN", "CODE-FETCHED-RUN",
					    "PY-EVAL-DECODED", "PY-EVAL-NET"};
	struct inspect_context c = {
		.policy = r->source->policy,
		.home = r->source->home,
		.path = r->source->path,
		.document = INSPECT_DOCUMENT_SOURCE,
	};
	AUTO(findings_done) struct findings found = {0};
	bool is_run = false, is_got = false;
	int e;

	for (size_t i = 0; i < ARRAY_LEN(runs); i++)
		is_run |= build_has(r->source->text, r->source->len, runs[i]);
	for (size_t i = 0; i < ARRAY_LEN(gets); i++)
		is_got |= build_has(r->source->text, r->source->len, gets[i]);
	if (!is_run || !is_got || r->source->is_part)
		return 0;
	e = code_inspect(&c, CODE_PYTHON, r->source->text, r->source->len, &found, r->err);
	for (size_t i = 0; e == 0 && i < found.n; i++) {
		struct finding *f = &found.items[i];
		bool is_told = false;

		for (size_t k = 0; k < ARRAY_LEN(rules); k++)
			is_told |= strcmp(f->rule, rules[k]) == 0;
		if (f->level > THREAT_MEDIUM)
			f->level = THREAT_MEDIUM;
		if (is_told && findings_add(r->findings, f) < 0)
			e = cordon_nomem(r->err);
	}
	return e;
}

/* The lines of a text, without their ends, as strings. */
#define BUILD_EACH_LINE(r, line, len)                                                              \
	(const char *line = (r)->source->text, *build_end = line + (r)->source->len,               \
	 *build_next = NULL;                                                                       \
	 line < build_end &&                                                                       \
	 ((build_next = memchr(line, '\n', (size_t)(build_end - line))), true) &&                  \
	 ((len) = (size_t)((build_next ? build_next : build_end) - line), true);                   \
	 line = build_next ? build_next + 1 : build_end)

/* The value after "key =" or "key:" of a line; false when it has another key. */
static bool build_value(const char *line, size_t len, const char *key, char *ret, size_t size)
{
	size_t n = strlen(key);
	const char *end = line + len;

	while (line < end && (*line == ' ' || *line == '\t'))
		line++;
	if ((size_t)(end - line) <= n || strncasecmp(line, key, n) != 0)
		return false;
	line += n;
	while (line < end && (*line == ' ' || *line == '\t'))
		line++;
	if (line < end && (*line == '=' || *line == ':'))
		line++;
	else if (line[-1] != ' ')
		return false;
	while (line < end && strchr(" \t\"'", *line))
		line++;
	while (end > line && strchr(" \t\r\"'", end[-1]))
		end--;
	(void)snprintf(ret, size, "%.*s", (int)(end - line), line);
	return true;
}

int scan_read_pyproject(struct scan_reader *r)
{
	size_t len = 0;
	char value[256];

	for
		BUILD_EACH_LINE(r, line, len)
	if (build_value(line, len, "backend-path", value, sizeof(value)))
		return scan_found(r, SCAN_PY_BACKEND, line, value);
	return 0;
}

/* A recipe's line for a shell: $(VAR) and ${VAR} are words, $$ is a dollar, @ - + in front are make's. */
static int build_recipe(struct scan_reader *r, const char *line, size_t len)
{
	struct buf b = BUF_INIT(65536);
	size_t i = 1;
	int e = 0;

	while (i < len && strchr("@-+ \t", line[i]))
		i++;
	for (; i < len; i++) {
		if (line[i] == '$' && i + 1 < len && line[i + 1] == '$') {
			buf_char(&b, '$');
			i++;
		} else if (line[i] == '$' && i + 1 < len && strchr("({", line[i + 1])) {
			char close = line[i + 1] == '(' ? ')' : '}';
			const char *end = memchr(line + i, close, len - i);

			buf_str(&b, "MAKE_VARIABLE");
			i = end ? (size_t)(end - line) : len;
		} else if (line[i] == '$') {
			buf_char(&b, '_');
		} else if (line[i] != '\0') {
			buf_char(&b, line[i]);
		}
	}
	if (buf_error(&b) == 0 && b.len)
		e = scan_command(r, buf_cstr(&b), b.len, line);
	buf_done(&b);
	return e;
}

/* The length of a line with those that it goes on in. */
static size_t build_continued(const struct scan_reader *r, const char *line, size_t len)
{
	const char *end = r->source->text + r->source->len;

	while (len > 0 && line[len - 1] == '\\' && line + len < end) {
		const char *next = line + len + 1;
		const char *stop = memchr(next, '\n', (size_t)(end - next));

		len = (size_t)((stop ? stop : end) - line);
	}
	return len;
}

/* "NAME = value" under an ifdef may start with a tab; make takes it for no command there. */
static bool build_is_assignment(const char *line, size_t len)
{
	size_t i = strspn(line, " \t");
	size_t name = i;

	while (i < len && (isalnum((unsigned char)line[i]) || line[i] == '_'))
		i++;
	if (i == name)
		return false;
	i += strspn(line + i, " \t");
	if (i < len && strchr(":?+", line[i]))
		i++;
	return i + 1 < len && line[i] == '=' && (line[i + 1] == ' ' || line[i + 1] == '\t') &&
	       !memchr(line, ';', len) && !memchr(line, '|', len) && !memchr(line, '&', len) &&
	       !memchr(line, '`', len) && !build_has(line, len, "$(") &&
	       !build_has(line, len, "$$");
}

int scan_read_make(struct scan_reader *r)
{
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line + len, &len)) {
		/* $(shell ...) runs when the file is merely read. */
		const char *shell;

		len = build_continued(r, line, len);
		shell = memmem(line, len, "$(shell ", 8);
		if (shell) {
			const char *from = shell + 8, *end = line + len;

			while (end > from && end[-1] != ')')
				end--;
			if (end > from)
				e = scan_command(r, from, (size_t)(end - from) - 1, line);
		} else if (len > 1 && line[0] == '\t' && !build_is_assignment(line, len)) {
			e = build_recipe(r, line, len);
		}
	}
	return e;
}

int scan_read_npmrc(struct scan_reader *r)
{
	static const char *const usual[] = {"registry.npmjs.org", "npm.pkg.github.com",
					    "registry.yarnpkg.com", NULL};
	static const char *const options[] = {"node-options",  "script-shell", "shell",     "git",
					      "onload-script", "globalconfig", "userconfig"};
	char value[512];
	size_t len = 0;
	int e = 0;

	for
		BUILD_EACH_LINE(r, line, len)
		{
			const char *colon = memmem(line, len, "registry", 8);

			if (e == 0 && len && line[0] != ';' && line[0] != '#' && colon &&
			    build_value(colon, len - (size_t)(colon - line), "registry", value,
					sizeof(value)) &&
			    !build_is_host(value, usual))
				e = scan_found(r, SCAN_REGISTRY, line, value);
			if (e == 0 &&
			    (build_has(line, len, ":_authToken=") ||
			     build_has(line, len, ":_password=") ||
			     build_has(line, len, ":_auth=")) &&
			    !build_has(line, len, "${"))
				e = scan_found(r, SCAN_REGISTRY_TOKEN, line, NULL);
			if (e == 0 && build_value(line, len, "strict-ssl", value, sizeof(value)) &&
			    strcmp(value, "false") == 0)
				e = scan_found(r, SCAN_PLAIN_SOURCE, line, "strict-ssl");
			for (size_t i = 0; e == 0 && i < ARRAY_LEN(options); i++)
				if (build_value(line, len, options[i], value, sizeof(value)) &&
				    value[0])
					e = scan_found(r, SCAN_NPM_OPTION, line, options[i]);
			if (e < 0)
				return e;
		}
	return e == 0 ? scan_secrets(r) : e;
}

int scan_read_yarnrc(struct scan_reader *r)
{
	static const char *const usual[] = {"registry.npmjs.org", "registry.yarnpkg.com",
					    "npm.pkg.github.com", NULL};
	static const char *const registries[] = {"npmRegistryServer", "registry"};
	char value[512];
	size_t len = 0;
	int e = 0;

	for
		BUILD_EACH_LINE(r, line, len)
		{
			for (size_t i = 0; e == 0 && i < ARRAY_LEN(registries); i++)
				if (build_value(line, len, registries[i], value, sizeof(value)) &&
				    !build_is_host(value, usual))
					e = scan_found(r, SCAN_REGISTRY, line, value);
			if (e == 0 &&
			    (build_value(line, len, "yarnPath", value, sizeof(value)) ||
			     build_value(line, len, "yarn-path", value, sizeof(value))) &&
			    !str_starts(value, ".yarn/releases/"))
				e = scan_found(r, SCAN_NPM_OPTION, line, value);
			if (e == 0 &&
			    (build_value(line, len, "enableStrictSsl", value, sizeof(value)) ||
			     build_value(line, len, "strict-ssl", value, sizeof(value))) &&
			    strcmp(value, "false") == 0)
				e = scan_found(r, SCAN_PLAIN_SOURCE, line, "strict-ssl");
			if (e < 0)
				return e;
		}
	return e == 0 ? scan_secrets(r) : e;
}

int scan_read_pip(struct scan_reader *r)
{
	static const char *const usual[] = {"pypi.org", "files.pythonhosted.org", NULL};
	static const char *const keys[] = {"index-url",    "extra-index-url", "find-links",
					   "trusted-host", "index_url",       "extra_index_url"};
	char value[512];
	size_t len = 0;
	int e = 0;

	for
		BUILD_EACH_LINE(r, line, len)
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(keys); i++)
		if (build_value(line, len, keys[i], value, sizeof(value)) &&
		    !build_is_host(value, usual))
			e = scan_found(r, SCAN_REGISTRY, line, value);
	return e == 0 ? scan_secrets(r) : e;
}
