/* SPDX-License-Identifier: Apache-2.0 */
/* What agents read before they do anything: instructions, their settings, the servers that they start. */
#include "scan/object.h"

#include "base/str.h"
#include "inspect/adversary.h"
#include "scan/line.h"

#include <string.h>
#include <strings.h>

/* Commands that a text has run while it is loaded: !`COMMAND`, !{COMMAND}. */
static int agent_embedded(struct scan_reader *r, const char *open, char close_sign)
{
	const char *end = r->source->text + r->source->len;
	int e = 0;

	for (const char *s = r->source->text; e == 0; s++) {
		const char *close;
		size_t before = r->findings->n, len;
		AUTO_FREE char *command = NULL;

		s = memmem(s, (size_t)(end - s), open, 2);
		close = s ? memchr(s + 2, close_sign, (size_t)(end - s) - 2) : NULL;
		if (!close)
			return 0;
		len = (size_t)(close - s) - 2;
		/* not strndup(): what stands behind a NUL counts, too */
		command = malloc(len + 1);
		if (!command)
			return cordon_nomem(r->err);
		memcpy(command, s + 2, len);
		command[len] = '\0';
		e = scan_command(r, command, len, s);
		/* What reaches the network while a text is merely loaded is told in any case. */
		if (e == 0 && r->findings->n == before &&
		    (memmem(command, len, "curl", 4) || memmem(command, len, "wget", 4) ||
		     memmem(command, len, "nc ", 3)))
			e = scan_found(r, SCAN_MD_RUN, s, command);
		s = close;
	}
	return e;
}

/* The head of a text, between two lines of dashes: an agent or a skill may bring hooks along. */
static int agent_front(struct scan_reader *r)
{
	const char *end = memmem(r->source->text, r->source->len, "\n---", 4);
	char value[1024];
	size_t len = 0;
	int e = 0;

	if (!end || !str_starts(r->source->text, "---") ||
	    !memmem(r->source->text, (size_t)(end - r->source->text), "\nhooks:", 7))
		return 0;
	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line && line < end;
	     line = scan_next_line(r, line, &len)) {
		if (!scan_line_value(line, len, "command", value, sizeof(value)))
			continue;
		e = scan_command(r, value, strlen(value), line);
		if (e == 0 && scan_sends_input(value, strlen(value)))
			e = scan_found(r, SCAN_INPUT_SENT, line, value);
	}
	return e;
}

/* Spans of code that pipe something to another machine: the agent is told to run them. */
static int agent_spans(struct scan_reader *r)
{
	const char *end = r->source->text + r->source->len, *s = r->source->text;
	int e = 0;

	while (e == 0 && (s = memchr(s, '`', (size_t)(end - s))) != NULL) {
		const char *close = ++s < end ? memchr(s, '`', (size_t)(end - s)) : NULL;

		if (!close)
			return 0;
		if (memchr(s, '|', (size_t)(close - s)) && scan_sends_input(s, (size_t)(close - s)))
			e = scan_found(r, SCAN_INPUT_SENT, s, NULL);
		s = close + 1;
	}
	return e;
}

int scan_read_instructions(struct scan_reader *r)
{
	struct inspect_context c = {
		.policy = r->source->policy,
		.home = r->source->home,
		.path = r->source->path,
		.document = INSPECT_DOCUMENT_INSTRUCTIONS,
	};
	int e = adversary_inspect(&c, r->source->text, r->source->len, r->findings, r->err);

	if (e == 0)
		e = agent_embedded(r, "!`", '`');
	if (e == 0 && str_ends(r->source->path, ".toml"))
		e = agent_embedded(r, "!{", '}');
	if (e == 0)
		e = agent_front(r);
	if (e == 0)
		e = agent_spans(r);
	return e == 0 ? scan_read_mentions(r) : e;
}

int scan_read_hooks(struct scan_reader *r)
{
	json_auto_t *root = NULL;
	int e = scan_object(r, &root);

	return e > 0 ? scan_hooks_in(r, json_object_get(root, "hooks")) : e;
}

/* Variables that send the agent's traffic elsewhere, or load code into what it starts. */
static int agent_environment(struct scan_reader *r, json_t *env)
{
	static const char *const bad[] = {"LD_PRELOAD",
					  "LD_LIBRARY_PATH",
					  "NODE_OPTIONS",
					  "PYTHONSTARTUP",
					  "PYTHONPATH",
					  "BASH_ENV",
					  "PROMPT_COMMAND",
					  "PERL5OPT",
					  "RUBYOPT",
					  "JAVA_TOOL_OPTIONS",
					  "GIT_SSH_COMMAND",
					  "GIT_EXTERNAL_DIFF",
					  "GIT_CONFIG_COUNT",
					  "PATH",
					  "HTTP_PROXY",
					  "HTTPS_PROXY",
					  "ALL_PROXY",
					  "NODE_TLS_REJECT_UNAUTHORIZED",
					  "NODE_EXTRA_CA_CERTS",
					  "OPENAI_BASE_URL",
					  "GOOGLE_GEMINI_BASE_URL",
					  "OTEL_EXPORTER_OTLP_ENDPOINT",
					  "SSL_CERT_FILE"};
	const char *name;
	json_t *value;

	json_object_foreach(env, name, value)
	{
		bool is_bad = str_starts(name, "ANTHROPIC_") && str_ends(name, "_URL");

		for (size_t i = 0; !is_bad && i < ARRAY_LEN(bad); i++)
			is_bad = strcasecmp(bad[i], name) == 0;
		if (is_bad) {
			int e = scan_found(r, SCAN_AGENT_ENV, scan_place(r, name), name);

			if (e < 0)
				return e;
		}
	}
	return 0;
}

/* A directory that holds everything, or what is nobody's but the person's. */
static bool agent_is_far(const char *path)
{
	static const char *const all[] = {"/",       "~",     "~/",    "$HOME",
					  "${HOME}", "/home", "/root", "/etc"};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (strcmp(path, all[i]) == 0)
			return true;
	return str_starts(path, "~/.") || str_starts(path, "$HOME/.") ||
	       str_starts(path, "/etc/") || strstr(path, "/.ssh") || strstr(path, "/.aws") ||
	       strstr(path, "/.gnupg");
}

static int agent_permissions(struct scan_reader *r, json_t *permissions)
{
	static const char *const all[] = {"Bash",       "Bash(*)",      "Bash(*:*)",
					  "*",          "Bash(:*)",     "Bash(bash:*)",
					  "Bash(sh:*)", "Bash(sudo:*)", "Bash(eval:*)"};
	const char *mode = json_string_value(json_object_get(permissions, "defaultMode"));
	json_t *entry;
	size_t i;
	int e = 0;

	if (mode && strcmp(mode, "bypassPermissions") == 0)
		e = scan_found(r, SCAN_AGENT_BYPASS, scan_place(r, mode), mode);
	json_array_foreach(json_object_get(permissions, "allow"), i, entry)
	{
		const char *text = json_string_value(entry);

		for (size_t k = 0; e == 0 && text && k < ARRAY_LEN(all); k++)
			if (strcmp(text, all[k]) == 0)
				e = scan_found(r, SCAN_AGENT_ALLOW, scan_place(r, text), text);
	}
	json_array_foreach(json_object_get(permissions, "additionalDirectories"), i, entry)
	{
		const char *text = json_string_value(entry);

		if (e == 0 && text && agent_is_far(text))
			e = scan_found(r, SCAN_AGENT_REACH, scan_place(r, text), text);
	}
	return e;
}

int scan_read_claude(struct scan_reader *r)
{
	static const char *const helpers[] = {"apiKeyHelper", "awsAuthRefresh",
					      "awsCredentialExport", "otelHeadersHelper",
					      "gcpAuthRefresh"};
	json_auto_t *root = NULL;
	int e = scan_object(r, &root);

	if (e <= 0)
		return e;
	e = scan_hooks_in(r, json_object_get(root, "hooks"));
	if (e == 0)
		e = scan_command_value(r, json_object_get(json_object_get(root, "statusLine"),
							  "command"));
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(helpers); i++) {
		json_t *helper = json_object_get(root, helpers[i]);

		if (!json_is_string(helper))
			continue;
		e = scan_found(r, SCAN_AGENT_HELPER, scan_place(r, helpers[i]),
			       json_string_value(helper));
		if (e == 0)
			e = scan_command_value(r, helper);
	}
	if (e == 0)
		e = agent_environment(r, json_object_get(root, "env"));
	if (e == 0)
		e = agent_permissions(r, json_object_get(root, "permissions"));
	if (e == 0 && json_is_true(json_object_get(root, "enableAllProjectMcpServers")))
		e = scan_found(r, SCAN_AGENT_MCP_ALL, scan_place(r, "enableAllProjectMcpServers"),
			       NULL);
	if (e == 0 && json_is_true(json_object_get(root, "skipDangerousModePermissionPrompt")))
		e = scan_found(r, SCAN_AGENT_BYPASS,
			       scan_place(r, "skipDangerousModePermissionPrompt"), NULL);
	if (e == 0 && json_object_size(json_object_get(root, "extraKnownMarketplaces")) > 0)
		e = scan_found(r, SCAN_AGENT_PLUGIN, scan_place(r, "extraKnownMarketplaces"), NULL);
	return e;
}

/* The settings of Gemini are in the same file as its servers. */
static int agent_gemini(struct scan_reader *r, json_t *root)
{
	static const char *const commands[] = {"discoveryCommand", "callCommand"};
	json_t *tools = json_object_get(root, "tools");
	const char *mode = json_string_value(
		json_object_get(json_object_get(root, "general"), "defaultApprovalMode"));
	int e = 0;

	for (size_t i = 0; e == 0 && i < ARRAY_LEN(commands); i++)
		e = scan_command_value(r, json_object_get(tools, commands[i]));
	if (e == 0 && (json_is_true(json_object_get(root, "autoAccept")) ||
		       json_is_true(json_object_get(tools, "autoAccept")) ||
		       (mode && strcmp(mode, "yolo") == 0)))
		e = scan_found(r, SCAN_AGENT_BYPASS, scan_place(r, mode ? mode : "autoAccept"),
			       mode);
	return e;
}

int scan_read_opencode(struct scan_reader *r)
{
	json_auto_t *root = NULL;
	json_t *permission, *bash;
	int e = scan_object(r, &root);

	if (e <= 0)
		return e;
	permission = json_object_get(root, "permission");
	bash = json_is_object(permission) ? json_object_get(permission, "bash") : permission;
	if (json_is_object(bash))
		bash = json_object_get(bash, "*");
	e = scan_commands_in(r, json_object_get(root, "mcp"));
	if (e == 0 && json_is_string(bash) && strcmp(json_string_value(bash), "allow") == 0)
		e = scan_found(r, SCAN_AGENT_ALLOW, scan_place(r, "permission"), "allow");
	return e;
}

int scan_read_mcp(struct scan_reader *r)
{
	static const char *const keys[] = {"mcpServers", "servers"};
	json_auto_t *root = NULL;
	int e = scan_object(r, &root);

	if (e <= 0)
		return e;
	e = scan_secrets(r);
	if (e == 0)
		e = agent_gemini(r, root);
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(keys); i++) {
		json_t *servers = json_object_get(root, keys[i]);
		const char *name;
		json_t *server;

		e = scan_commands_in(r, servers);
		json_object_foreach(servers, name, server)
		{
			const char *url = json_string_value(json_object_get(server, "url"));

			if (e == 0)
				e = agent_environment(r, json_object_get(server, "env"));
			if (e == 0 && url && scan_is_plain_url(url))
				e = scan_found(r, SCAN_MCP_PLAIN, scan_place(r, url), url);
		}
	}
	return e;
}
