/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command for a shell says that it does, from the model of it: files that it reads and writes, hosts that it
 * talks to, builds that it starts.  Programs are tables; a program that is not in one is taken to read the files that
 * it names.
 */
#include "session/observe.h"

#include "base/glob.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "inspect/shell/model.h"
#include "session/names.h"

#include <stdio.h>
#include <string.h>

/* They look at names, not into files. */
static const char *const command_harmless[] = {
	"[",       "[[",   "basename", "cd",       "chgrp", "chmod", "chown", "command",
	"dirname", "echo", "export",   "file",     "find",  "git",   "ls",    "mkdir",
	"printf",  "pwd",  "readlink", "realpath", "rm",    "rmdir", "stat",  "test",
	"touch",   "true", "type",     "unlink",   "unset", "which",
};

/* A host is among their words. */
static const char *const command_network[] = {
	"curl",       "wget",      "nc",     "ncat",  "netcat",        "socat",    "ssh",   "scp",
	"sftp",       "rsync",     "ftp",    "lftp",  "tftp",          "telnet",   "dig",   "host",
	"nslookup",   "drill",     "ping",   "ping6", "fping",         "hping3",   "http",  "https",
	"xh",         "httpie",    "aria2c", "mail",  "mailx",         "sendmail", "mutt",  "swaks",
	"traceroute", "tracepath", "mtr",    "whois", "rclone",        "gsutil",   "s3cmd", "aws",
	"axel",       "websocat",  "croc",   "kcat",  "mosquitto_pub",
};

/* They build or install by themselves, or by one of the words that follow. */
static const struct {
	const char *name;
	const char *words; /* " a b " or NULL: any */
} command_builds[] = {
	{"npm", " install i ci run run-script test start build exec publish rebuild add update "},
	{"yarn", NULL},
	{"pnpm", NULL},
	{"bun", NULL},
	{"npx", NULL},
	{"pip", " install wheel download "},
	{"pip3", " install wheel download "},
	{"uv", NULL},
	{"poetry", NULL},
	{"pipenv", NULL},
	{"tox", NULL},
	{"nox", NULL},
	{"hatch", NULL},
	{"twine", NULL},
	{"cargo", " build run test install bench check publish "},
	{"make", NULL},
	{"gmake", NULL},
	{"cmake", NULL},
	{"ninja", NULL},
	{"meson", NULL},
	{"gradle", NULL},
	{"gradlew", NULL},
	{"mvn", NULL},
	{"mvnw", NULL},
	{"ant", NULL},
	{"sbt", NULL},
	{"bazel", NULL},
	{"go", " build run test install generate get "},
	{"docker", " build buildx compose "},
	{"podman", " build "},
	{"bundle", NULL},
	{"gem", " install build "},
	{"rake", NULL},
	{"composer", NULL},
	{"mix", NULL},
	{"dotnet", " build run test restore publish "},
	{"just", NULL},
	{"task", NULL},
	{"msbuild", NULL},
	{"scons", NULL},
	{"stack", NULL},
	{"cabal", NULL},
};

/* What they are told goes to a service that is configured somewhere: who chose it cannot be seen here. */
static const struct {
	const char *name;
	const char *words; /* as above */
} command_remotes[] = {
	{"git", " push "},
	{"npm", " publish "},
	{"yarn", " publish "},
	{"pnpm", " publish "},
	{"cargo", " publish "},
	{"twine", " upload "},
	{"gem", " push "},
	{"docker", " push "},
	{"podman", " push "},
	{"helm", " push "},
	{"gh", " create comment edit api upload set review "},
	{"glab", " create note update api upload set "},
	{"hub", " create api "},
	{"az", NULL},
	{"gcloud", NULL},
	{"kubectl", " cp apply create patch exec set annotate label "},
	{"heroku", NULL},
	{"vercel", NULL},
	{"netlify", NULL},
	{"fly", NULL},
	{"flyctl", NULL},
	{"wrangler", NULL},
	{"railway", NULL},
	{"ngrok", NULL},
	{"cloudflared", NULL},
	{"smbclient", NULL},
};

/* Clients whose option names the host: another one than this machine. */
static const char *const command_clients[] = {"psql",      "pg_dump",          "mysql",
					      "mysqldump", "redis-cli",        "mongo",
					      "mongosh",   "mongodump",        "mysqladmin",
					      "influx",    "clickhouse-client"};

/* They print what somebody keeps as a secret, without a file that has a name. */
static const struct {
	const char *name;
	const char *words;
} command_keepers[] = {
	{"pass", " show "},
	{"security", " find-generic-password find-internet-password dump-keychain "},
	{"secret-tool", " lookup search "},
	{"kubectl", " secret secrets "},
	{"gpg", " --export-secret-keys --export-secret-subkeys "},
	{"op", " read item "},
	{"bw", " get "},
	{"doppler", " secrets "},
};

/* Of git, what shows the content of the files that it names. */
static const char command_git_shows[] = " show diff log blame annotate cat-file archive grep ";

/* The last word is what they write; with an option, or each word. */
static const char *const command_last[] = {"cp", "mv", "install", "ln", "rsync", "scp"};
static const char *const command_each[] = {"tee", "truncate", "ed", "patch"};

/* Their words may be code. */
static const char *const command_code[] = {"ruby",    "perl",  "php",  "lua",
					   "Rscript", "julia", "deno", "bun"};

enum { COMMAND_SEEN_MAX = 32 }; /* words of one command that are looked up in the tree */

/* URLs are only written or searched for. */
static const char *const command_talks[] = {"echo", "printf", "grep", "egrep", "rg",  "sed",
					    "awk",  "test",   "[",    "[[",    "git", "export"};

static bool command_is_in(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}
#define COMMAND_IN(list, name) command_is_in(list, ARRAY_LEN(list), name)

static void command_about(struct observed *o, unsigned facts, const char *target)
{
	if (facts & ~o->facts && (o->target[0] == '\0' || facts & SESSION_SENSITIVE))
		(void)snprintf(o->target, sizeof(o->target), "%s", target);
	o->facts |= facts;
}

/* The word, or what stands in it after = or @: --data=@FILE, x=@FILE, if=FILE. */
static void command_reads(const char *word, struct observed *o)
{
	const char *at;

	at = strpbrk(word, "=@");
	if (at && at[1] && names_is_sensitive(at + 1, /* is_path= */ false)) {
		command_reads(at + 1, o);
	} else if (names_is_sensitive(word, /* is_path= */ false)) {
		char name[sizeof(o->target)];

		/* Of NAME=VALUE the name: the value may be the secret itself. */
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
		command_about(o, SESSION_SENSITIVE, name);
	} else if (at && at[1]) {
		command_reads(at + 1, o);
	}
}

static void command_writes(const struct session_call *c, const char *path, struct observed *o)
{
	if (path[0] && path[0] != SHELL_UNKNOWN)
		command_about(o, names_write_facts(path, c->cwd), path);
}

/* Is one of its words in the list " a b "? */
static bool command_has_word(const struct shell_command *cmd, const char *words)
{
	for (size_t k = 1; words && k < cmd->n; k++) {
		const char *at = cmd->argv[k].len > 0 ? strstr(words, cmd->argv[k].s) : NULL;

		/* A word may begin with a blank, too. */
		if (at && at > words && at[-1] == ' ' && at[cmd->argv[k].len] == ' ')
			return true;
	}
	return !words;
}

static bool command_builds_by(const struct shell_command *cmd)
{
	for (size_t i = 0; i < ARRAY_LEN(command_builds); i++)
		if (strcmp(command_builds[i].name, cmd->name) == 0)
			return command_has_word(cmd, command_builds[i].words);
	return false;
}

static bool command_is_remote(const struct shell_command *cmd)
{
	for (size_t i = 0; i < ARRAY_LEN(command_remotes); i++)
		if (strcmp(command_remotes[i].name, cmd->name) == 0)
			return command_has_word(cmd, command_remotes[i].words);
	for (size_t i = 1; i + 1 < cmd->n && COMMAND_IN(command_clients, cmd->name); i++)
		if ((strcmp(cmd->argv[i].s, "-h") == 0 || strcmp(cmd->argv[i].s, "--host") == 0) &&
		    names_host_facts(cmd->argv[i + 1].s, cmd->argv[i + 1].len) & SESSION_NETWORK)
			return true;
	return false;
}

static bool command_is_keeper(const struct shell_command *cmd)
{
	bool is_shown = strcmp(cmd->name, "kubectl") != 0;

	/* A list of their names is none of them. */
	for (size_t i = 1; !is_shown && i < cmd->n; i++)
		is_shown = str_starts(cmd->argv[i].s, "-o") ||
			   str_starts(cmd->argv[i].s, "--output") ||
			   str_starts(cmd->argv[i].s, "--template");
	if (!is_shown)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(command_keepers); i++)
		if (strcmp(command_keepers[i].name, cmd->name) == 0)
			return command_has_word(cmd, command_keepers[i].words);
	return false;
}

/* git: a remote that gets an address. */
static bool command_is_new_remote(const struct shell_command *cmd)
{
	bool is_address = false;

	for (size_t i = 1; i < cmd->n; i++)
		is_address |= strstr(cmd->argv[i].s, "://") || strstr(cmd->argv[i].s, "git@");
	return is_address && command_has_word(cmd, " remote clone fetch pull ls-remote submodule ");
}

/* Does it send something to a host, not only ask? */
static bool command_sends(const struct shell_command *cmd)
{
	static const char *const sending[] = {
		"-d",     "-F",     "-T",   "--data", "--form", "--upload-file",
		"--post", "--body", "POST", "PUT",    "PATCH",  "--json",
	};

	if (strcmp(cmd->name, "curl") != 0 && strcmp(cmd->name, "wget") != 0)
		return true;
	for (size_t i = 1; i < cmd->n; i++)
		for (size_t k = 0; k < ARRAY_LEN(sending); k++)
			if (str_starts(cmd->argv[i].s, sending[k]))
				return true;
	return cmd->has_in;
}

/* The host of a network program: the first word that can be one.  What is not known is out there. */
static unsigned command_host(const struct shell_command *cmd)
{
	unsigned facts = 0;

	for (size_t i = 1; i < cmd->n; i++) {
		const char *word = cmd->argv[i].s;
		bool is_host = strstr(word, "://") || strchr(word, SHELL_UNKNOWN) ||
			       strcmp(word, "localhost") == 0 || str_starts(word, "localhost:") ||
			       str_starts(word, "127.") || strcmp(word, "::1") == 0;

		if (is_host && word[0] != '-')
			facts |= strchr(word, SHELL_UNKNOWN)
					 ? SESSION_NETWORK
					 : names_host_facts(word, cmd->argv[i].len);
	}
	/* No word is surely a host: bare names, options that we do not know. */
	return facts ? facts : SESSION_NETWORK;
}

static void command_network_facts(const struct shell_command *cmd, struct observed *o)
{
	static const char *const asking[] = {"getent", "resolvectl", "systemd-resolve"};
	unsigned facts = 0;

	if (COMMAND_IN(asking, cmd->name))
		facts = command_has_word(cmd, " hosts ahosts ahostsv4 ahostsv6 query ")
				? SESSION_NETWORK
				: 0;
	else if (strcmp(cmd->name, "openssl") == 0 && command_has_word(cmd, " s_client "))
		facts = SESSION_NETWORK;
	for (size_t i = 0; i < cmd->n_redirects; i++)
		if (str_starts(cmd->redirects[i].target.s, "/dev/tcp/") ||
		    str_starts(cmd->redirects[i].target.s, "/dev/udp/"))
			facts |= names_host_facts(cmd->redirects[i].target.s + 9,
						  strcspn(cmd->redirects[i].target.s + 9, "/"));
	if (facts == 0 && (command_is_remote(cmd) ||
			   (strcmp(cmd->name, "git") == 0 && command_is_new_remote(cmd))))
		facts = SESSION_REMOTE;
	if (facts) {
		command_about(o, facts, cmd->name);
		return;
	}
	if (COMMAND_IN(command_network, cmd->name)) {
		facts = cmd->n > 1 ? command_host(cmd) : 0;
		if (facts & SESSION_RELAY && !command_sends(cmd))
			facts &= ~(unsigned)SESSION_RELAY;
	} else if (cmd->out_is_network || cmd->via & VIA_NETWORK) {
		facts = SESSION_NETWORK;
	} else if (!COMMAND_IN(command_talks, cmd->name)) {
		for (size_t i = 1; i < cmd->n; i++)
			facts |= names_url_facts(cmd->argv[i].s, cmd->argv[i].len) &
				 SESSION_NETWORK;
	}
	command_about(o, facts, cmd->name);
}

/* A word that is a link, or a pattern: what the kernel would open, as the tree is now. */
static void command_sees(const struct session_call *c, const struct shell_word *word,
			 struct observed *o)
{
	AUTO_FREE char *full = NULL;
	AUTO_FREE char *real = NULL;

	if (!c->cwd || word->s[0] == '-' || word->len == 0 || strchr(word->s, SHELL_UNKNOWN) ||
	    o->facts & SESSION_SENSITIVE)
		return;
	if (path_join(c->cwd, word->s, &full) < 0)
		return;
	if (word->flags & WORD_GLOB) {
		if (observe_pattern(full))
			command_about(o, SESSION_SENSITIVE, word->s);
		return;
	}
	if (path_resolve(full, &real) == 0 && strcmp(real, full) != 0 &&
	    names_is_sensitive(real, /* is_path= */ true))
		command_about(o, SESSION_SENSITIVE, word->s);
}

/* git show HEAD:.env, git diff -- .env */
static void command_git(const struct shell_command *cmd, struct observed *o)
{
	if (!command_has_word(cmd, command_git_shows))
		return;
	for (size_t i = 2; i < cmd->n; i++) {
		const char *colon = strchr(cmd->argv[i].s, ':');

		command_reads(colon && colon[1] ? colon + 1 : cmd->argv[i].s, o);
	}
}

/* find -name .env, with what is done to what it finds. */
static void command_find(const struct shell_command *cmd, struct observed *o)
{
	static const char *const samples[] = {".env",   ".netrc",     ".npmrc",
					      "id_rsa", "id_ed25519", "credentials.json"};

	if (!cmd->is_piped && !command_has_word(cmd, " -exec -execdir -ok "))
		return;
	for (size_t i = 1; i + 1 < cmd->n; i++) {
		const char *pattern = cmd->argv[i + 1].s;

		if (!str_ends(cmd->argv[i].s, "name") && !str_ends(cmd->argv[i].s, "path"))
			continue;
		command_reads(pattern, o);
		for (size_t k = 0; k < ARRAY_LEN(samples) && strcspn(pattern, "*?[") > 1; k++)
			if (glob_match_text(pattern, samples[k]))
				command_about(o, SESSION_SENSITIVE, pattern);
	}
}

static void command_files(const struct session_call *c, const struct shell_command *cmd,
			  struct observed *o)
{
	bool edits = strcmp(cmd->name, "sed") == 0 || strcmp(cmd->name, "perl") == 0;
	bool is_edited = false;

	for (size_t i = 1; i < cmd->n; i++) {
		const char *word = cmd->argv[i].s;

		is_edited |= edits && word[0] == '-' && word[1] != '-' && strchr(word, 'i');
		if (!COMMAND_IN(command_harmless, cmd->name) &&
		    !COMMAND_IN(command_each, cmd->name))
			command_reads(word, o);
		if (i <= COMMAND_SEEN_MAX && !COMMAND_IN(command_harmless, cmd->name))
			command_sees(c, &cmd->argv[i], o);
		if (COMMAND_IN(command_code, cmd->name))
			observe_code(word, cmd->argv[i].len, o);
		if (word[0] != '-' && (COMMAND_IN(command_each, cmd->name) || is_edited))
			command_writes(c, word, o);
		if (strcmp(cmd->name, "dd") == 0 && str_starts(word, "of="))
			command_writes(c, word + 3, o);
	}
	if (cmd->n > 2 && COMMAND_IN(command_last, cmd->name))
		command_writes(c, cmd->argv[cmd->n - 1].s, o);
	for (size_t i = 0; i < cmd->n_redirects; i++) {
		const struct shell_redirect *r = &cmd->redirects[i];

		if (r->kind == REDIRECT_IN) {
			command_reads(r->target.s, o);
			command_sees(c, &r->target, o);
		} else if (r->kind == REDIRECT_OUT || r->kind == REDIRECT_APPEND)
			command_writes(c, r->target.s, o);
	}
}

static void command_one(const struct session_call *c, const struct shell_command *cmd,
			struct observed *o)
{
	command_files(c, cmd, o);
	command_network_facts(cmd, o);
	if (cmd->in.taint & TAINT_SECRET)
		command_about(o, SESSION_SENSITIVE, cmd->name);
	if (command_builds_by(cmd))
		command_about(o, SESSION_BUILD, cmd->name);
	if (command_is_keeper(cmd))
		command_about(o, SESSION_SENSITIVE, cmd->name);
	if (strcmp(cmd->name, "find") == 0)
		command_find(cmd, o);
	if (strcmp(cmd->name, "git") == 0) {
		command_git(cmd, o);
		command_about(o, SESSION_GIT, cmd->name);
	}
}

/* What grep lets pass of a list of names, as a pattern for names; "" when nothing of it is plain. */
static void command_filter(const struct shell_command *cmd, char *ret, size_t size)
{
	const char *word = "";
	size_t n = 0;

	for (size_t i = 1; i < cmd->n && !*word; i++)
		if (cmd->argv[i].s[0] == '-' && strchr(cmd->argv[i].s, 'v'))
			break; /* what it leaves out says little of the rest */
		else if (cmd->argv[i].s[0] != '-')
			word = cmd->argv[i].s;
	for (; *word && *word != '|' && n + 1 < size; word++)
		if (!strchr("\\^$()", *word))
			ret[n++] = strchr("*?[]+.", *word) && word[1] ? '?' : *word;
	ret[n] = '\0';
}

/* ls -a | grep env | xargs cat: what that names in the tree as it is now. */
static void command_listed(const struct session_call *c, const struct shell_model *m, size_t at,
			   struct observed *o)
{
	const struct shell_command *cmd = &m->commands[at], *list = NULL;
	char filter[64] = "", names[2][80];
	bool is_open = (cmd->via & VIA_EACH) != 0, shows_dots;

	for (size_t i = 1; i < cmd->n; i++)
		is_open = is_open || (cmd->argv[i].flags & (WORD_UNKNOWN | WORD_ITEM));
	if (!is_open || !c->cwd || COMMAND_IN(command_harmless, cmd->name) ||
	    strcmp(cmd->name, "xargs") == 0)
		return;
	for (size_t i = 0; i < at; i++) {
		const struct shell_command *other = &m->commands[i];

		if ((strcmp(other->name, "ls") == 0 || strcmp(other->name, "find") == 0) &&
		    other->is_piped)
			list = other;
		else if (list && other->group == list->group && str_ends(other->name, "grep"))
			command_filter(other, filter, sizeof(filter));
	}
	if (!list)
		return;
	shows_dots = strcmp(list->name, "ls") != 0;
	for (size_t i = 1; i < list->n; i++)
		shows_dots = shows_dots ||
			     (list->argv[i].s[0] == '-' &&
			      strpbrk(list->argv[i].s, list->argv[i].s[1] == '-' ? "" : "aAf")) ||
			     str_starts(list->argv[i].s, "--al");
	(void)snprintf(names[0], sizeof(names[0]), "*%s*", filter);
	(void)snprintf(names[1], sizeof(names[1]), ".*%s*", filter + (filter[0] == '?'));
	for (size_t i = 0; i < (shows_dots ? ARRAY_LEN(names) : 1); i++) {
		AUTO_FREE char *dir = NULL;
		AUTO_FREE char *path = NULL;
		const char *start = ".";

		for (size_t k = list->n; k > 1; k--)
			if (list->argv[k - 1].s[0] != '-' && strcmp(list->name, "ls") == 0)
				start = list->argv[k - 1].s;
		if (strcmp(list->name, "find") == 0 && list->n > 1 && list->argv[1].s[0] != '-')
			start = list->argv[1].s;
		if (!strchr(start, SHELL_UNKNOWN) && path_join(c->cwd, start, &dir) == 0 &&
		    path_join(dir, names[i], &path) == 0 && observe_pattern(path))
			command_about(o, SESSION_SENSITIVE, cmd->name);
	}
}

int observe_command(const struct session_call *c, struct observed *ret)
{
	struct inspect_context context = {.cwd = c->cwd, .home = c->home};
	struct shell_model m = {0};
	int r = shell_model_build(&context, c->command, strlen(c->command), &m);

	for (size_t i = 0; r == 0 && i < m.n; i++)
		command_one(c, &m.commands[i], ret);
	for (size_t i = 0; r == 0 && i < m.n && !(ret->facts & SESSION_SENSITIVE); i++)
		command_listed(c, &m, i, ret);
	for (size_t i = 0; r == 0 && i < m.n_codes; i++) {
		command_about(ret,
			      names_url_facts(m.codes[i].text, m.codes[i].len) & SESSION_NETWORK,
			      "code in the command");
		observe_code(m.codes[i].text, m.codes[i].len, ret);
	}
	/* What was not read may be anything. */
	if (r == 0 && m.notes & NOTE_CUT)
		command_about(ret, SESSION_NETWORK | SESSION_SENSITIVE,
			      "a command that is too long");
	shell_model_done(&m);
	return r;
}
