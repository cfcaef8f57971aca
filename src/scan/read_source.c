/* SPDX-License-Identifier: Apache-2.0 */
/* Where builds take code from, and which programs of the project they run in place of their tools. */
#include "scan/line.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>
#include <strings.h>

/* A program that is a file of the project: a path that does not start at the root. */
static bool source_is_own_program(const char *value)
{
	size_t len;

	while (str_starts(value, "[") || str_starts(value, "\"") || str_starts(value, " "))
		value++;
	if (str_starts(value, "sh ") || str_starts(value, "bash ") || str_starts(value, "python"))
		value = strchr(value, ' ') ? strchr(value, ' ') + 1 : value;
	len = strcspn(value, " \"',");
	return value[0] != '/' && memchr(value, '/', len) != NULL;
}

int scan_read_cargo(struct scan_reader *r)
{
	static const char *const programs[] = {
		"rustc-wrapper", "rustc_wrapper",           "rustc",
		"rustdoc",       "rustc-workspace-wrapper", "linker",
		"runner",        "credential-provider",     "RUSTC_WRAPPER"};
	char value[512];
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len)) {
		for (size_t i = 0; e == 0 && i < ARRAY_LEN(programs); i++)
			if (scan_line_value(line, len, programs[i], value, sizeof(value)) &&
			    source_is_own_program(value))
				e = scan_found(r, SCAN_BUILD_PROGRAM, line, value);
		if (e == 0 && str_ends(r->source->path, "rust-toolchain.toml") &&
		    scan_line_value(line, len, "path", value, sizeof(value)))
			e = scan_found(r, SCAN_BUILD_PROGRAM, line, value);
		if (e == 0 && scan_line_value(line, len, "LD_PRELOAD", value, sizeof(value)))
			e = scan_found(r, SCAN_ENV_FILE, line, "LD_PRELOAD");
		if (e == 0 && scan_line_value(line, len, "registry", value, sizeof(value)) &&
		    scan_is_plain_url(value))
			e = scan_found(r, SCAN_PLAIN_SOURCE, line, value);
	}
	return e;
}

/* Lists of packages with addresses in them: requirements.txt, Gemfile. */
int scan_read_sources(struct scan_reader *r)
{
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len)) {
		const char *url = line;

		if (line[strspn(line, " \t")] == '#')
			continue;
		while ((url = memmem(url, len - (size_t)(url - line), "http://", 7)) &&
		       !scan_is_plain_url(url))
			url++;
		if (url || str_starts(line, "--trusted-host"))
			e = scan_found(r, SCAN_PLAIN_SOURCE, line, url);
	}
	return e;
}

/* Settings among which some are addresses of packages: a key or an attribute of that name. */
int scan_read_repositories(struct scan_reader *r)
{
	static const char *const keys[] = {"url", "index-url", "value"};
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len)) {
		const char *url = memmem(line, len, "http://", 7);
		const char *key = url;

		/* Back over what stands between a key and its value. */
		while (key && key > line && strchr(" \t=:\"'(", key[-1]))
			key--;
		for (size_t i = 0; e == 0 && url && i < ARRAY_LEN(keys); i++) {
			size_t n = strlen(keys[i]);

			if ((size_t)(key - line) >= n && strncmp(key - n, keys[i], n) == 0 &&
			    (key - n == line || strchr(" \t{<", key[-(ptrdiff_t)n - 1])) &&
			    scan_is_plain_url(url))
				e = scan_found(r, SCAN_PLAIN_SOURCE, line, url);
		}
	}
	return e;
}

int scan_read_locked(struct scan_reader *r)
{
	static const char *const keys[] = {"\"resolved\": \"http://", "\"resolved\":\"http://"};
	const char *end = r->source->text + r->source->len;
	int e = 0;

	for (size_t i = 0; e == 0 && i < ARRAY_LEN(keys); i++) {
		const char *s = r->source->text;

		while (e == 0 && (s = memmem(s, (size_t)(end - s), keys[i], strlen(keys[i])))) {
			s += strlen(keys[i]) - 7;
			if (!scan_is_plain_url(s))
				continue;
			e = scan_found(r, SCAN_PLAIN_SOURCE, s, s);
			break; /* the first of a thousand */
		}
	}
	return e;
}

/* The program that builds is itself fetched. */
int scan_read_wrapper(struct scan_reader *r)
{
	static const char *const keys[] = {"distributionUrl", "wrapperUrl"};
	static const char *const usual[] = {"https\\://services.gradle.org/",
					    "https://services.gradle.org/",
					    "https://repo.maven.apache.org/",
					    "https\\://repo.maven.apache.org/",
					    "https://repo1.maven.org/"};
	char value[512];
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len))
		for (size_t i = 0; e == 0 && i < ARRAY_LEN(keys); i++) {
			bool is_usual = !scan_line_value(line, len, keys[i], value, sizeof(value));

			for (size_t k = 0; !is_usual && k < ARRAY_LEN(usual); k++)
				is_usual = str_starts(value, usual[k]);
			if (is_usual || !value[0])
				continue;
			e = scan_found(r,
				       scan_is_plain_url(value) ? SCAN_PLAIN_SOURCE : SCAN_REGISTRY,
				       line, value);
		}
	return e;
}

/* An agent of the virtual machine is code that runs before the build's own. */
int scan_read_jvm(struct scan_reader *r)
{
	static const char *const options[] = {"-javaagent:", "-agentpath:", "-Xbootclasspath",
					      "-Dmaven.ext.class.path"};
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len))
		for (size_t i = 0; e == 0 && i < ARRAY_LEN(options) && line[0] != '#'; i++)
			if (scan_line_has(line, len, options[i]))
				e = scan_found(r, SCAN_BUILD_PROGRAM, line, options[i]);
	return e;
}

/* Built packages from a place that the project names, with the key that the project names. */
int scan_read_nix(struct scan_reader *r)
{
	static const char *const usual[] = {"cache.nixos.org", ".cachix.org"};
	const char *at = memmem(r->source->text, r->source->len, "substituters", 12);
	const char *end = r->source->text + r->source->len;
	const char *url = at;
	int e = 0;

	/* To the end of the value. */
	end = at ? memchr(at, ';', (size_t)(end - at)) : NULL;
	while (e == 0 && end && (url = memmem(url, (size_t)(end - url), "://", 3))) {
		size_t len = strcspn(url + 3, "\"'/ \n\t;");
		bool is_usual = false;

		for (size_t i = 0; i < ARRAY_LEN(usual); i++)
			is_usual |= len >= strlen(usual[i]) &&
				    strncmp(url + 3 + len - strlen(usual[i]), usual[i],
					    strlen(usual[i])) == 0;
		if (!is_usual)
			e = scan_found(r, SCAN_REGISTRY, at, url + 3);
		url += 3;
	}
	return e;
}

int scan_read_terraform(struct scan_reader *r)
{
	const char *at = memmem(r->source->text, r->source->len, "dev_overrides", 13);

	return at ? scan_found(r, SCAN_BUILD_PROGRAM, at, "dev_overrides") : 0;
}

/* Python runs the lines of a .pth that start with import, each time that it starts. */
int scan_read_pth(struct scan_reader *r)
{
	static const char *const acts[] = {"system(", "popen",  "subprocess", "exec(", "eval(",
					   "urlopen", "socket", "b64decode",  "Popen", "compile("};
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len))
		for (size_t i = 0; (str_starts(line, "import ") || str_starts(line, "import\t")) &&
				   i < ARRAY_LEN(acts);
		     i++)
			if (scan_line_has(line, len, acts[i])) {
				e = scan_found(r, SCAN_PY_PTH, line, acts[i]);
				break;
			}
	return e;
}
