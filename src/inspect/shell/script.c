/* SPDX-License-Identifier: Apache-2.0 */
/* See script.h. */
#include "inspect/shell/script.h"
#include "inspect/shell/rule.h"

#include "base/buf.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Calls whose first argument is a command, or a list of its words. */
static const char *const script_spawns[] = {
	"system",       "popen",    "exec",      "execSync",     "spawn",  "spawnSync",
	"shell_exec",   "passthru", "proc_open", "run",          "call",   "check_call",
	"check_output", "Popen",    "getoutput", "execute",      "execl",  "execv",
	"execvp",       "execlp",   "execFile",  "execFileSync", "execve", "syscall",
	"qx",           "IO.popen", "backtick",  "os.execute",   "cmd",    "Command"};
static const char *const script_sockets[] = {
	"socket",     "Socket",       "TCPSocket", "fsockopen", "TCPServer",        "net.connect",
	"net.Socket", "IO::Socket",   "inet",      "/dev/tcp",  "createConnection", "TCPClient",
	"gen_tcp",    "Deno.connect", "net.Dial",  "[socket "};
static const char *const script_shells[] = {"/bin/sh",   "/bin/bash", "/bin/zsh", "cmd.exe",
					    "pty.spawn", "\"sh\"",    "'sh'",     "\"bash\"",
					    "'bash'",    "os.dup2",   "dup2("};
static const char *const script_losses[] = {"rmtree",         "rmSync",       "rmdirSync",
					    "FileUtils.rm",   "rm_rf",        "remove_tree",
					    "unlink glob",    "rm -rf",       "unlink(glob",
					    "rm -fr",         "map('unlink'", "map(\"unlink\"",
					    "\"rm\",\"-rf\"", "'rm','-rf'",   "\"rm\", \"-rf\"",
					    "'rm', '-rf'"};
/* What a program hands over when it sends, and what it sends with: of languages without a reader of their own. */
static const char *const script_treasures[] = {"stringify(process.env",
					       "ENV.to_h",
					       "ENV.inspect",
					       "ENV.to_a",
					       "%ENV",
					       "$_ENV",
					       "/etc/passwd",
					       "/etc/shadow",
					       "/.ssh/",
					       "/.aws/",
					       "id_rsa",
					       "/.netrc",
					       ".env'",
					       ".env\"",
					       ".npmrc",
					       ".kube/config",
					       ".git-credentials",
					       "_history",
					       "wallet.dat",
					       ".docker/config.json"};
static const char *const script_sends[] = {"fetch(",
					   "http.request(",
					   "https.request(",
					   "axios",
					   "Net::HTTP",
					   "RestClient",
					   "LWP::",
					   "HTTP::Tiny",
					   "curl_setopt",
					   "stream_context",
					   "HTTParty",
					   "TCPSocket",
					   "file_get_contents(\"http",
					   "file_get_contents('http",
					   "https.get(",
					   "http.get(",
					   "XMLHttpRequest",
					   "requests.post(",
					   "requests.put(",
					   "urlopen(",
					   "httpx.post("};
/* What fetches something, and what loads a library past the language. */
static const char *const script_fetches[] = {
	"LWP::Simple",    "LWP::UserAgent", "HTTP::Tiny",     "file_get_contents(\"http",
	"open-uri",       "Net::HTTP",      "URI.open",       "file_get_contents('http",
	"curl_exec",      "urlopen",        "requests.get(",  "fetch(",
	"https.get(",     "http.get(",      "http.request(",  "DownloadString",
	"include(\"http", "include('http",  "XMLHttpRequest", "get(\"http",
	"get('http"};
static const char *const script_loads[] = {"dlopen(",   "Fiddle.dlopen", "ffi.load",
					   "FFI::cdef", "dl_load_file",  "package.loadlib"};
static const char *const script_hides[] = {"b64decode",     "base64_decode", "fromCharCode",
					   "Buffer.from",   "unpack(",       "decode64",
					   "codecs.decode", "fromhex",       "zlib.decompress",
					   "marshal.loads", "decode_base64", "pack(\"H",
					   "pack('H",       "gzinflate",     "gzuncompress",
					   "str_rot13",     "hex2bin",       "unhexlify",
					   "atob(",         "unpack1(",      "convert_uudecode"};

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

/* awk: "COMMAND" | getline, print | "COMMAND" */
static size_t script_piped(const struct shell_code *code, size_t at, struct buf *out)
{
	size_t end = script_string(code, at, out), next = end;
	bool is_sink;

	while (at > 0 && (code->text[at - 1] == ' ' || code->text[at - 1] == '&'))
		at--;
	is_sink = at > 0 && code->text[at - 1] == '|' && (at < 2 || code->text[at - 2] != '|');
	while (next < code->len && code->text[next] == ' ')
		next++;
	if (next < code->len && code->text[next] == '|') {
		while (next < code->len && strchr("|& ", code->text[next]))
			next++;
		is_sink = is_sink ||
			  (code->len - next >= 7 && memcmp(code->text + next, "getline", 7) == 0);
	}
	if (!is_sink)
		buf_clear(out);
	return end;
}

/* groovy: "COMMAND".execute() */
static size_t script_executed(const struct shell_code *code, size_t at, struct buf *out)
{
	static const char call[] = ".execute(";
	size_t end = script_string(code, at, out);

	if (code->len - end < sizeof(call) - 1 ||
	    memcmp(code->text + end, call, sizeof(call) - 1) != 0) {
		buf_clear(out);
		return at + 1;
	}
	return end;
}

const char *script_next_command(struct arena *arena, const struct shell_code *code, size_t *at,
				size_t *ret_len)
{
	while (*at < code->len) {
		struct buf b = BUF_INIT(65536);
		size_t start = *at, end = 0;
		const char *copy;

		if (code->language != SHELL_PYTHON && code->text[start] == '`' &&
		    (code->language != SHELL_NODE || (start > 0 && code->text[start - 1] == '$')))
			end = script_string(code, start, &b);
		else if (code->language == SHELL_OTHER && strchr("\"'", code->text[start]))
			end = script_executed(code, start, &b);
		else if (code->language == SHELL_AWK && code->text[start] == '"')
			end = script_piped(code, start, &b);
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

/* Is word there, and not as the end of a longer name or as a method? */
static bool script_calls(const struct shell_code *code, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = code->text;
	     (p = memmem(p, code->len - (size_t)(p - code->text), word, n)) != NULL; p += n)
		if (p == code->text || word[0] == '(' || (!script_is_name(p[-1]) && p[-1] != '.'))
			return true;
	return false;
}

/* The address of something that is not kept in the open. */
static bool script_has_address(const struct shell_code *code)
{
	const char *end = code->text + code->len;

	for (const char *p = code->text; (p = memmem(p, (size_t)(end - p), "://", 3)) != NULL;
	     p += 3) {
		char host[80];
		size_t n = 0;

		if (p == code->text || !strchr("ps", p[-1]))
			continue;
		while (p + 3 + n < end && n + 1 < sizeof(host) && !strchr("/\"'`?# )>", p[3 + n]))
			n++;
		memcpy(host, p + 3, n);
		host[n] = '\0';
		if (n > 0 && !rule_is_forge(host) && !str_starts(host, "localhost") &&
		    !str_starts(host, "127."))
			return true;
	}
	return false;
}

/* Code that is fetched and run. */
static bool script_fetches_code(const struct shell_code *code)
{
	/* Calls that run a text as code; what runs a command is none of them. */
	static const char *const loads[] = {
		"load(",         "loadstring(",  "dofile(",     "source(",  "source_url(",
		".eval_string(", "include(",     "import(",     "Eval.me(", "(eval ",
		"(load-string",  "load-string ", "eval-string", "(load ",   "os:cmd(",
		"consult(",      ".execute()",   "evaluate(",   "eval(",    "eval ",
		"eval_file(",    "import (",     "runString"};

	static const char *const includes[] = {"include \"http", "include 'http", "require \"http",
					       "require 'http"};

	if (code->language == SHELL_PHP && SCRIPT_HAS(code, includes))
		return true;
	if (code->language != SHELL_PYTHON && code->language != SHELL_AWK &&
	    script_has_address(code))
		for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
			if (loads[i][0] == '.' ? memmem(code->text, code->len, loads[i],
							strlen(loads[i])) != NULL
					       : script_calls(code, loads[i]))
				return true;
	return SCRIPT_HAS(code, script_fetches) &&
	       (script_calls(code, "eval") || script_calls(code, "exec(") ||
		script_calls(code, "system(") || script_calls(code, "include(") ||
		script_calls(code, "new Function") ||
		memmem(code->text, code->len, "instance_eval", 13));
}

/* awk's own connections: what is read from one is run, or they are only opened */
static bool script_inet(const struct shell_code *code, bool *ret_runs)
{
	size_t pipes = 0;

	if (!memmem(code->text, code->len, "/inet/", 6) &&
	    !memmem(code->text, code->len, "/inet4/", 7))
		return false;
	for (size_t i = 0; i + 1 < code->len; i++)
		pipes += code->text[i] == '|';
	*ret_runs = pipes >= 3 && memmem(code->text, code->len, "getline", 7);
	return true;
}

/* "X"x4096, "A"*5000: long runs of one character are made to overflow something. */
static bool script_long_run(const struct shell_code *code)
{
	for (size_t i = 1; i + 5 < code->len; i++) {
		const char *p = code->text + i + 1;

		if ((code->text[i] != '"' && code->text[i] != '\'') || code->text[i - 1] == ' ')
			continue;
		while (*p == ' ')
			p++;
		if (*p != 'x' && *p != '*')
			continue;
		for (p++; *p == ' ';)
			p++;
		if (strspn(p, "0123456789") >= 4)
			return true;
	}
	return false;
}

static bool script_serves(const struct shell_code *code)
{
	static const char *const connects[] = {"connect",       "accept",    "bind(",
					       "TCPSocket.new", "fsockopen", "socket_read",
					       "recv",          ".gets",     "TCPServer",
					       "Connection(",   "Connect(",  "[gets ",
					       "INET->new",     "[socket ",  "IO::Socket::INET",
					       "net.Dial",      "Socket(\""};
	static const char *const runs[] = {"Popen",
					   "popen",
					   "subprocess",
					   "proc_open",
					   "shell_exec",
					   "system(",
					   "exec(",
					   "exec ",
					   "spawn(",
					   "check_output",
					   "`$",
					   "`#{",
					   "system$",
					   "system $",
					   "Deno.run",
					   "Deno.Command",
					   "ProcessBuilder",
					   "Process.new",
					   "Process.run",
					   "System.cmd",
					   "run(pipeline",
					   "exec.Command",
					   "Runtime.getRuntime"};

	return SCRIPT_HAS(code, connects) && SCRIPT_HAS(code, runs);
}

/* Copies of itself in a loop that does not end, or are started by copies. */
static bool script_forks(const struct shell_code *code)
{
	static const char *const forks[] = {
		"fork while",      "loop { fork",         "loop{fork",         "loop {fork",
		"while(1){fork",   "while (1) { fork",    "while(1)fork",      "for(;;)fork",
		"for(;;){fork",    "while True: os.fork", "while 1: os.fork",  "while True:os.fork",
		"while 1:os.fork", "while true; fork",    "while true do fork"};
	static const char *const selves[] = {"process.argv[0]", "process.execPath", "__filename",
					     "sys.argv[0]", "__FILE__"};
	static const char *const endless[] = {"while(1)",     "while (1)",    "while(true)",
					      "while (true)", "for(;;)",      "for (;;)",
					      "while True",   "while 1",      "itertools.count",
					      "iter(int,1)",  "iter(int, 1)", "setInterval",
					      "loop {",       "loop{"};

	if (SCRIPT_HAS(code, forks))
		return true;
	return SCRIPT_HAS(code, endless) &&
	       (memmem(code->text, code->len, "os.fork()", 9) ||
		(SCRIPT_HAS(code, selves) && (memmem(code->text, code->len, "spawn(", 6) ||
					      memmem(code->text, code->len, "fork(", 5) ||
					      memmem(code->text, code->len, "Popen(", 6))));
}

/* All that a pattern finds is deleted. */
static bool script_empties(const struct shell_code *code)
{
	static const char *const finds[] = {"glob", "os.walk(", "os.listdir(", "readdirSync(",
					    "Dir["};
	static const char *const deletes[] = {"os.remove(", "os.unlink(", ".unlink()",
					      "unlinkSync(", "File.delete("};

	return SCRIPT_HAS(code, deletes) && SCRIPT_HAS(code, finds);
}

/* What may be found, the gravest first. */
enum script_act {
	ACT_SHELL_NET,
	ACT_FETCHED,
	ACT_DECODED,
	ACT_FORKS,
	ACT_SENT,
	ACT_DELETE,
	ACT_SHELL,
	ACT_SOCKET,
	ACT_LOAD,
	ACT_LONG,
	ACT_NONE
};

static const struct {
	const char *rule, *message;
	enum finding_type type;
	enum threat level;
	double confidence;
} script_acts[] = {
	[ACT_SHELL_NET] = {"CODE-REVERSE-SHELL", "Its code connects a shell to the network.",
			   FINDING_NETWORK_ACCESS, THREAT_CRITICAL, 0.9},
	[ACT_FETCHED] = {"CODE-FETCHED-RUN", "Its code runs something from the network.",
			 FINDING_DANGEROUS_PATTERN, THREAT_HIGH, 0.75},
	[ACT_DECODED] = {"CODE-DECODED-RUN", "Its code runs something that was encoded.",
			 FINDING_DANGEROUS_PATTERN, THREAT_HIGH, 0.75},
	[ACT_FORKS] = {"CODE-FORKS", "Its code starts copies of itself without end.",
		       FINDING_DANGEROUS_PATTERN, THREAT_HIGH, 0.75},
	[ACT_SENT] = {"CODE-TREASURE-SENT", "Its code sends credentials or the environment away.",
		      FINDING_DATA_LEAK, THREAT_MEDIUM, 0.6},
	[ACT_DELETE] = {"CODE-DELETE", "Its code deletes files.", FINDING_DANGEROUS_PATTERN,
			THREAT_MEDIUM, 0.5},
	[ACT_SHELL] = {"CODE-SHELL", "Its code starts a shell.", FINDING_DANGEROUS_PATTERN,
		       THREAT_MEDIUM, 0.5},
	[ACT_SOCKET] = {"CODE-AWK-NET", "Its code opens a connection with awk itself.",
			FINDING_NETWORK_ACCESS, THREAT_MEDIUM, 0.5},
	[ACT_LOAD] = {"CODE-LOAD", "Its code loads a library past the language.",
		      FINDING_DANGEROUS_PATTERN, THREAT_LOW, 0.4},
	[ACT_LONG] = {"CODE-LONG-RUN", "Its code makes a text that is made to overflow something.",
		      FINDING_DANGEROUS_PATTERN, THREAT_LOW, 0.35},
};

static enum script_act script_act_of(const struct shell_code *code)
{
	bool has_shell = SCRIPT_HAS(code, script_shells), is_inet, runs_inet = false;
	bool runs = memmem(code->text, code->len, "exec(", 5) ||
		    memmem(code->text, code->len, "eval(", 5) || script_calls(code, "eval ") ||
		    memmem(code->text, code->len, "system(", 7) ||
		    memmem(code->text, code->len, "execute(", 8);

	is_inet = code->language == SHELL_AWK && script_inet(code, &runs_inet);
	/* what a command prints is run */
	has_shell = has_shell ||
		    (code->language == SHELL_AWK && memmem(code->text, code->len, "|getline", 8) &&
		     memmem(code->text, code->len, "system(", 7));
	if (runs_inet || (SCRIPT_HAS(code, script_sockets) && (has_shell || script_serves(code))))
		return ACT_SHELL_NET;
	if (script_fetches_code(code))
		return ACT_FETCHED;
	if (runs && SCRIPT_HAS(code, script_hides))
		return ACT_DECODED;
	if (script_forks(code))
		return ACT_FORKS;
	if (SCRIPT_HAS(code, script_sends) && SCRIPT_HAS(code, script_treasures))
		return ACT_SENT;
	if (SCRIPT_HAS(code, script_losses) || script_empties(code))
		return ACT_DELETE;
	if (has_shell)
		return ACT_SHELL;
	if (is_inet)
		return ACT_SOCKET;
	if (code->language != SHELL_PYTHON && SCRIPT_HAS(code, script_loads))
		return ACT_LOAD;
	if ((code->language == SHELL_PERL || code->language == SHELL_PYTHON) &&
	    script_long_run(code))
		return ACT_LONG;
	return ACT_NONE;
}

bool script_judge(const struct shell_code *code, struct finding *ret)
{
	enum script_act act = script_act_of(code);

	*ret = (struct finding){.line = code->line};
	if (act == ACT_NONE)
		return false;
	ret->type = script_acts[act].type;
	ret->level = script_acts[act].level;
	ret->confidence = script_acts[act].confidence;
	(void)snprintf(ret->rule, sizeof(ret->rule), "%s", script_acts[act].rule);
	(void)snprintf(ret->message, sizeof(ret->message), "%s", script_acts[act].message);
	return true;
}

bool script_is_hidden(const char *text, size_t len)
{
	const struct shell_code code = {.language = SHELL_OTHER, .text = text, .len = len};

	return SCRIPT_HAS(&code, script_hides);
}

/* Code for PowerShell that is loaded from the network and run; brackets keep the shell from reading it as words. */
static bool script_loads_remote(const struct shell_code *code)
{
	static const char *const loads[] = {"DownloadString(", "DownloadFile(", "DownloadData(",
					    "Invoke-Expression", "IEX("};
	static const char *const sources[] = {"Net.WebClient", "Invoke-WebRequest", "http://",
					      "https://"};

	return SCRIPT_HAS(code, loads) && SCRIPT_HAS(code, sources);
}

bool script_judge_text(const char *text, size_t len, struct finding *ret)
{
	static const char *const shells[] = {"/bin/sh",   "/bin/bash", "cmd.exe",
					     "pty.spawn", "dup2(",     "STDIN,\">&"};
	static const char *const served[] = {"shell=True", "shell_exec", "Runtime.getRuntime"};
	const struct shell_code code = {
		.language = SHELL_OTHER, .text = text, .len = len, .line = 1};

	static const char *const opens[] = {"socket(",     "Socket(",         "use Socket",
					    "TCPSocket",   "TCPServer",       "TCPClient",
					    "IO::Socket",  "fsockopen(",      "net.Dial(",
					    "TcpStream::", "Socket.connect(", "newSocket("};
	/* a process whose streams become those of the connection */
	static const char *const spawns[] = {"ProcessBuilder(", "process::Command",
					     "Process.start(",  "exec.Command(",
					     "execProcess(",    "Process.new("};

	if (script_loads_remote(&code)) {
		*ret = (struct finding){.type = FINDING_DANGEROUS_PATTERN,
					.level = THREAT_MEDIUM,
					.confidence = 0.6,
					.line = 1};
		(void)snprintf(ret->rule, sizeof(ret->rule), "CODE-LOADS-REMOTE");
		(void)snprintf(ret->message, sizeof(ret->message),
			       "It holds code that runs what it downloads.");
		return true;
	}
	/* Most texts end here. */
	if ((!memmem(text, len, "ock", 3) && !memmem(text, len, "net.Dial", 8) &&
	     !memmem(text, len, "Tcp", 3)) ||
	    !SCRIPT_HAS(&code, opens))
		return false;
	if (!SCRIPT_HAS(&code, shells) && !SCRIPT_HAS(&code, spawns) &&
	    !(SCRIPT_HAS(&code, served) &&
	      (memmem(text, len, ".recv(", 6) || memmem(text, len, "accept(", 7))))
		return false;
	*ret = (struct finding){.type = FINDING_NETWORK_ACCESS,
				.level = THREAT_MEDIUM,
				.confidence = 0.6,
				.line = 1};
	(void)snprintf(ret->rule, sizeof(ret->rule), "CODE-SHELL-WRITTEN");
	(void)snprintf(ret->message, sizeof(ret->message),
		       "It holds code that gives a shell to the network.");
	return true;
}
