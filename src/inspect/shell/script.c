/* SPDX-License-Identifier: Apache-2.0 */
/* See script.h. */
#include "inspect/shell/script.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Calls whose first argument is a command, or a list of its words. */
static const char *const script_spawns[] = {
	"system",       "popen",    "exec",      "execSync",     "spawn",  "spawnSync",
	"shell_exec",   "passthru", "proc_open", "run",          "call",   "check_call",
	"check_output", "Popen",    "getoutput", "execute",      "execl",  "execv",
	"execvp",       "execlp",   "execFile",  "execFileSync", "execve", "syscall",
	"qx",           "IO.popen", "backtick",  "os.execute"};
static const char *const script_sockets[] = {"socket",     "Socket",          "TCPSocket",
					     "fsockopen",  "TCPServer",       "net.connect",
					     "net.Socket", "IO::Socket",      "inet",
					     "/dev/tcp",   "createConnection"};
static const char *const script_shells[] = {"/bin/sh",   "/bin/bash", "/bin/zsh", "cmd.exe",
					    "pty.spawn", "\"sh\"",    "'sh'",     "\"bash\"",
					    "'bash'",    "os.dup2",   "dup2("};
static const char *const script_losses[] = {"rmtree",       "rmSync", "rmdirSync",
					    "FileUtils.rm", "rm_rf",  "remove_tree"};
static const char *const script_hides[] = {"b64decode",     "base64_decode", "fromCharCode",
					   "Buffer.from",   "unpack(",       "decode64",
					   "codecs.decode", "fromhex",       "zlib.decompress",
					   "marshal.loads"};

static bool script_has(const struct shell_code *code, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memmem(code->text, code->len, words[i], strlen(words[i])))
			return true;
	return false;
}

#define SCRIPT_HAS(code, words) script_has(code, words, sizeof(words) / sizeof((words)[0]))

static bool script_is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Is there a call of one of the names at `at`?  Gives the place behind the name. */
static size_t script_call_at(const struct shell_code *code, size_t at)
{
	if (at > 0 && script_is_name(code->text[at - 1]))
		return 0;
	for (size_t i = 0; i < sizeof(script_spawns) / sizeof(script_spawns[0]); i++) {
		size_t n = strlen(script_spawns[i]);

		if (code->len - at > n && memcmp(code->text + at, script_spawns[i], n) == 0 &&
		    !script_is_name(code->text[at + n]))
			return at + n;
	}
	return 0;
}

/* A string in quotes at `at`, appended; gives the place behind it. */
static size_t script_string(const struct shell_code *code, size_t at, struct buf *out)
{
	char quote = code->text[at++];

	for (; at < code->len && code->text[at] != quote; at++) {
		if (code->text[at] == '\\' && at + 1 < code->len)
			at++;
		buf_char(out, code->text[at]);
	}
	return at < code->len ? at + 1 : at;
}

/* Strings up to the end of the call, with blanks between: a list is a command too. */
static size_t script_arguments(const struct shell_code *code, size_t at, struct buf *out)
{
	unsigned depth = 0;

	for (; at < code->len; at++) {
		char c = code->text[at];

		if (c == '(' || c == '[' || c == '{') {
			depth++;
		} else if (c == ')' || c == ']' || c == '}') {
			if (depth <= 1)
				return at + 1;
			depth--;
		} else if (c == '"' || c == '\'' || c == '`') {
			if (out->len > 0)
				buf_char(out, ' ');
			at = script_string(code, at, out) - 1;
		} else if (c == ';' || c == '\n' || (depth == 0 && out->len > 0)) {
			return at + 1;
		} else if (c == '=' && out->len > 0) {
			/* shell=True, cwd=…: the command is over */
			while (at < code->len && code->text[at] != ')')
				at++;
			return at;
		}
	}
	return at;
}

const char *script_next_command(struct arena *arena, const struct shell_code *code, size_t *at,
				size_t *ret_len)
{
	while (*at < code->len) {
		struct buf b = BUF_INIT(65536);
		size_t start = *at, end = 0;
		const char *copy;

		if (code->language != SHELL_PYTHON && code->text[start] == '`' &&
		    code->language != SHELL_NODE)
			end = script_string(code, start, &b);
		else if ((end = script_call_at(code, start)) != 0)
			end = script_arguments(code, end, &b);
		*at = end > start ? end : start + 1;
		if (buf_error(&b) == -ENOMEM)
			arena->error = -ENOMEM;
		if (b.len == 0) {
			buf_done(&b);
			continue;
		}
		copy = arena_copy(arena, b.data, b.len);
		*ret_len = b.len;
		buf_done(&b);
		return copy;
	}
	return NULL;
}

/* Does it read from a connection what it runs? */
static bool script_serves(const struct shell_code *code)
{
	static const char *const connects[] = {"connect",       "accept",    "bind(",
					       "TCPSocket.new", "fsockopen", "socket_read",
					       "recv",          ".gets",     "TCPServer"};
	static const char *const runs[] = {"Popen",      "popen",       "subprocess", "proc_open",
					   "shell_exec", "system(",     "exec(",      "exec ",
					   "spawn(",     "check_output"};

	return SCRIPT_HAS(code, connects) && SCRIPT_HAS(code, runs);
}

bool script_judge(const struct shell_code *code, struct finding *ret)
{
	bool has_socket = SCRIPT_HAS(code, script_sockets),
	     has_shell = SCRIPT_HAS(code, script_shells);
	bool hides = SCRIPT_HAS(code, script_hides);
	bool runs = memmem(code->text, code->len, "exec(", 5) ||
		    memmem(code->text, code->len, "eval(", 5) ||
		    memmem(code->text, code->len, "system(", 7) ||
		    memmem(code->text, code->len, "execute(", 8);

	*ret = (struct finding){.type = FINDING_DANGEROUS_PATTERN,
				.level = THREAT_MEDIUM,
				.confidence = 0.5,
				.line = code->line};
	if (has_socket && (has_shell || script_serves(code))) {
		ret->level = THREAT_CRITICAL;
		ret->confidence = 0.9;
		ret->type = FINDING_NETWORK_ACCESS;
		(void)snprintf(ret->rule, sizeof(ret->rule), "CODE-REVERSE-SHELL");
		(void)snprintf(ret->message, sizeof(ret->message),
			       "Its code connects a shell to the network.");
	} else if (hides && runs) {
		ret->level = THREAT_HIGH;
		ret->confidence = 0.75;
		(void)snprintf(ret->rule, sizeof(ret->rule), "CODE-DECODED-RUN");
		(void)snprintf(ret->message, sizeof(ret->message),
			       "Its code runs something that was encoded.");
	} else if (SCRIPT_HAS(code, script_losses)) {
		(void)snprintf(ret->rule, sizeof(ret->rule), "CODE-DELETE");
		(void)snprintf(ret->message, sizeof(ret->message), "Its code deletes files.");
	} else if (has_shell) {
		(void)snprintf(ret->rule, sizeof(ret->rule), "CODE-SHELL");
		(void)snprintf(ret->message, sizeof(ret->message), "Its code starts a shell.");
	} else {
		return false;
	}
	return true;
}
