/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that are read line by line: agents', services', editors', variables. */
#include "scan/line.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct config_row {
	const char *key;
	const char *value;
};

/* A key with a value that turns checks off. */
static int config_bypass(struct scan_reader *r, const struct config_row *rows, size_t n)
{
	char value[256];
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len))
		for (size_t i = 0; e == 0 && i < n; i++)
			if (scan_line_value(line, len, rows[i].key, value, sizeof(value)) &&
			    strcmp(value, rows[i].value) == 0)
				e = scan_found(r, SCAN_AGENT_BYPASS, line, rows[i].key);
	return e;
}

int scan_read_codex(struct scan_reader *r)
{
	static const struct config_row rows[] = {{"approval_policy", "never"},
						 {"sandbox_mode", "danger-full-access"}};

	return config_bypass(r, rows, ARRAY_LEN(rows));
}

int scan_read_aider(struct scan_reader *r)
{
	static const struct config_row rows[] = {{"yes-always", "true"}, {"yes", "true"}};

	return config_bypass(r, rows, ARRAY_LEN(rows));
}

int scan_read_idea(struct scan_reader *r)
{
	const char *at = memmem(r->source->text, r->source->len, "<configuration ", 15);

	return at ? scan_found(r, SCAN_VSCODE_AUTO, at, NULL) : 0;
}

/* A volume or a bind's source that is not the project's. */
static bool config_is_host_mount(const char *mount)
{
	static const char *const bad[] = {"docker.sock", "podman.sock", "containerd.sock",
					  "/.ssh",       "/.aws",       "/.kube",
					  "/.gnupg",     "/.config/gh"};
	static const char *const whole[] = {"/",    "~",     "$HOME", "${HOME}",
					    "/etc", "/root", "/home", "/var/run"};
	size_t len = strcspn(mount, ": \"'");

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (memmem(mount, len, bad[i], strlen(bad[i])))
			return true;
	if (str_starts(mount, "${HOME}"))
		len = 7 + strcspn(mount + 7, ": \"'");
	while (len > 1 && mount[len - 1] == '/')
		len--;
	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (strlen(whole[i]) == len && strncmp(mount, whole[i], len) == 0)
			return true;
	return false;
}

/* The entries of a list in one line: ["a:b", 'c:d'].  Also of a line that is one entry. */
static const char *config_mount(const char *line, size_t len)
{
	const char *end = line + len;

	for (const char *s = line; s < end; s++) {
		char before = s > line ? s[-1] : ' ';

		if (strchr(" \t[,\"'", before) && strchr("/~$", *s) && *s &&
		    memchr(s, ':', (size_t)(end - s)) && config_is_host_mount(s))
			return s;
	}
	return NULL;
}

int scan_read_compose(struct scan_reader *r)
{
	static const struct config_row rows[] = {
		{"privileged", "true"}, {"pid", "host"}, {"userns_mode", "host"}};
	char value[512];
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len)) {
		size_t blanks = strspn(line, " \t");
		bool is_entry = blanks < len && (line[blanks] == '-' || line[blanks] == '[' ||
						 strncmp(line + blanks, "volumes:", 8) == 0);
		const char *mount = is_entry ? config_mount(line, len) : NULL;

		if (blanks < len && line[blanks] == '#')
			continue;
		if (scan_line_has(line, len, "SYS_ADMIN") ||
		    scan_line_has(line, len, "SYS_MODULE") ||
		    scan_line_has(line, len, "apparmor:unconfined"))
			e = scan_found(r, SCAN_COMPOSE_HOST, line, NULL);
		else if (mount)
			e = scan_found(r, SCAN_COMPOSE_HOST, line, mount);
		else if (scan_line_value(line, len, "source", value, sizeof(value)) &&
			 config_is_host_mount(value))
			e = scan_found(r, SCAN_COMPOSE_HOST, line, value);
		for (size_t i = 0; e == 0 && i < ARRAY_LEN(rows); i++)
			if (scan_line_value(line, len, rows[i].key, value, sizeof(value)) &&
			    strcmp(value, rows[i].value) == 0)
				e = scan_found(r, SCAN_COMPOSE_HOST, line, rows[i].key);
	}
	return e;
}

/* Variables that load code into programs, or send what models are told elsewhere than to a model of one's own. */
int scan_read_variables(struct scan_reader *r)
{
	static const char *const loaders[] = {
		"LD_PRELOAD",           "LD_AUDIT",        "BASH_ENV",
		"PYTHONSTARTUP",        "GIT_SSH_COMMAND", "PROMPT_COMMAND",
		"DYLD_INSERT_LIBRARIES"};
	static const char *const addresses[] = {"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
						"OPENAI_API_BASE", "base_url",
						"GOOGLE_GEMINI_BASE_URL"};
	static const char *const own[] = {
		"://localhost",         "://127.", "://api.openai.com",
		"://api.anthropic.com", "${",      "://host.docker.internal"};
	char value[512];
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len)) {
		size_t export = str_starts(line, "export ") ? 7 : 0;
		const char *at = line + export;
		size_t rest = len - export;

		for (size_t i = 0; e == 0 && i < ARRAY_LEN(loaders); i++)
			if (scan_line_value(at, rest, loaders[i], value, sizeof(value)) && value[0])
				e = scan_found(r, SCAN_ENV_FILE, line, loaders[i]);
		if (e == 0 && scan_line_value(at, rest, "NODE_OPTIONS", value, sizeof(value)) &&
		    (strstr(value, "--require") || strstr(value, "--import") ||
		     strstr(value, "-r ") || strstr(value, "--loader")))
			e = scan_found(r, SCAN_ENV_FILE, line, "NODE_OPTIONS");
		for (size_t i = 0; e == 0 && i < ARRAY_LEN(addresses); i++) {
			bool is_own =
				!scan_line_value(at, rest, addresses[i], value, sizeof(value)) ||
				!strstr(value, "://");

			for (size_t k = 0; !is_own && k < ARRAY_LEN(own); k++)
				is_own = strstr(value, own[k]) != NULL;
			if (!is_own)
				e = scan_found(r, SCAN_ENV_FILE, line, addresses[i]);
		}
	}
	return e;
}

/* Start files of vi: a line with a command of the shell, or an autocommand with one. */
int scan_read_editor(struct scan_reader *r)
{
	static const char *const shells[] = {"silent !", "silent! !", "system(", "job_start(",
					     "os.execute("};
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len)) {
		size_t blanks = strspn(line, " \t");
		bool runs = blanks < len && line[blanks] == '!';

		for (size_t i = 0; !runs && i < ARRAY_LEN(shells); i++)
			runs = scan_line_has(line, len, shells[i]);
		/* What a key or a command of the user's does is done when it is asked for. */
		if (runs && line[blanks] != '"' && !scan_line_has(line, len, "map ") &&
		    !scan_line_has(line, len, "command"))
			e = scan_found(r, SCAN_START_FILE, line, NULL);
	}
	return e;
}
