/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes over everything that a list gave: files that are emptied or deleted each, packages that are all removed.  And
 * what stands in for a person or a check: an answer that is typed ahead, a check that is edited away, a wider token, a
 * shell that is put into a request.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define ROW(confidence_, level_)                                                                   \
	.type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##level_, .confidence = (confidence_)

/* Does it get names that nobody wrote down: from xargs, find -exec, a loop or a substitution? */
static bool sweep_is_open(const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].flags & (WORD_UNKNOWN | WORD_ITEM))
			return true;
	return (c->via & VIA_EACH) != 0;
}

static bool sweep_has_word(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

/* Does it let pass only some of the lines that it gets? */
static bool sweep_filters(const struct shell_command *c)
{
	return c->has_in && (rule_is("grep egrep fgrep rg head tail fzf", c->name) ||
			     (rule_is("awk gawk mawk sed", c->name) && rule_says(c, "/")));
}

/* ---- files ---- */

/* A search that goes by names (*.log, *.tmp) is meant for what has them. */
static bool sweep_is_search(const struct shell_command *c)
{
	if (rule_is("fd fdfind", c->name))
		return !rule_has(c, "-e|--extension|-g|--glob") && !*rule_operand(c, 0);
	return strcmp(c->name, "find") == 0 &&
	       !sweep_has_word(c, "-name -iname -path -ipath -wholename -regex -iregex -empty");
}

static bool sweep_empties(const struct shell_model *m, const struct shell_command *c)
{
	bool is_emptied = false;

	if (!(c->via & VIA_EACH))
		return false;
	if (strcmp(c->name, "truncate") == 0)
		is_emptied = sweep_has_word(c, "0 -s0 --size=0") && sweep_is_open(c);
	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_OUT &&
		    (c->redirects[i].target.flags & (WORD_UNKNOWN | WORD_ITEM)))
			is_emptied = rule_is(": true", c->name) ||
				     (rule_is("cat cp", c->name) &&
				      rule_is("/dev/null", rule_operand(c, 0)));
	for (size_t i = 0; is_emptied && i < m->n && &m->commands[i] != c; i++)
		if (sweep_is_search(&m->commands[i]))
			return true;
	return false;
}

/* git ls-files | xargs rm: all that a repository keeps, or its other working trees */
static bool sweep_tracked(const struct shell_model *m, const struct shell_command *c)
{
	bool is_listed = false;

	if (!sweep_is_open(c))
		return false;
	for (size_t i = 0; i < m->n && &m->commands[i] != c; i++) {
		const struct shell_command *o = &m->commands[i];
		const char *verb = strcmp(o->name, "git") == 0 ? rule_operand(o, 0) : "";

		if (rule_is("grep egrep fgrep rg head tail fzf", o->name) && o->has_in)
			return false;
		if (rule_is("ls-files", verb))
			is_listed = !rule_has(o, "-o|--others|-d|--deleted|-i|--ignored|-u") &&
				    !*rule_operand(o, 1);
		else if (rule_is("worktree", verb) && rule_is("list", rule_operand(o, 1)))
			is_listed = true;
	}
	return is_listed;
}

/* sed -i d, perl -i -ne '': no line is left */
static bool sweep_blanks(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "perl") == 0) {
		bool is_inplace = false, is_silent = false, is_nothing = false;

		for (size_t i = 1; i < c->n; i++) {
			const char *s = c->argv[i].s;

			if (s[0] != '-')
				continue;
			is_inplace = is_inplace || strchr(s, 'i');
			is_silent = is_silent || strchr(s, 'n');
			if (s[strlen(s) - 1] == 'e' && i + 1 < c->n)
				is_nothing = rule_is("1 ;", c->argv[i + 1].s) ||
					     c->argv[i + 1].len == 0;
		}
		return is_inplace && is_silent && is_nothing;
	}
	return rule_has(c, "-i|--in-place") && sweep_has_word(c, "d 1,$d /^/d /.*/d /$/d 1,$!d");
}

static bool sweep_patches(const struct shell_model *m, const struct shell_command *c)
{
	bool is_part = false, is_noise = false;

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		is_part = is_part ||
			  (str_starts(c->argv[i].s, "conv=") && strstr(c->argv[i].s, "notrunc"));
		is_noise = is_noise ||
			   rule_is("if=/dev/zero if=/dev/random if=/dev/urandom", c->argv[i].s);
	}
	return is_part && is_noise && !sweep_has_word(c, "count=0");
}

/* /proc/PID/fd/N: what another process has open.  Its standard streams are looked at in daily work. */
static bool sweep_foreign_file(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = str_starts(c->argv[i].s, "if=") ? c->argv[i].s + 3 : c->argv[i].s;
		const char *fd = str_starts(s, "/proc/") ? strstr(s, "/fd/") : NULL;

		if (fd && !str_starts(s, "/proc/self/") && !str_starts(s, "/proc/thread-self/") &&
		    fd[4] && !rule_is("0 1 2", fd + 4))
			return true;
	}
	return false;
}

/* ---- packages ---- */

static bool sweep_packages(const struct shell_model *m, const struct shell_command *c)
{
	bool is_listed = false;

	if (!sweep_is_open(c) ||
	    !sweep_has_word(c, "uninstall remove rm purge autoremove -R -Rns -r un"))
		return false;
	for (size_t i = 0; i < m->n && &m->commands[i] != c; i++) {
		const struct shell_command *o = &m->commands[i];

		if (sweep_filters(o))
			return false;
		is_listed =
			is_listed ||
			(rule_is("pip pip3 npm pnpm yarn gem brew apt cargo flatpak snap pipx conda",
				 o->name) &&
			 rule_is("freeze list ls leaves", rule_operand(o, 0)) &&
			 !rule_has(o, "-o|--outdated")) ||
			(rule_is("dpkg", o->name) && rule_has(o, "-l|--get-selections|--list")) ||
			(rule_is("pacman", o->name) && rule_has(o, "-Qq|-Q"));
	}
	return is_listed;
}

/* ---- what stands in for a person ---- */

/* It asks before it replaces a key. */
static bool sweep_answers(const struct shell_model *m, const struct shell_command *c)
{
	const struct shell_command *before = c > m->commands ? c - 1 : NULL;

	if (!c->has_in || !sweep_has_word(c, "-f"))
		return false;
	if (c->in.s && c->in.len > 0 && (c->in.s[0] == 'y' || c->in.s[0] == 'Y'))
		return true;
	return before && before->group == c->group && strcmp(before->name, "yes") == 0;
}

/* Is the certificate of nobody looked at, where this is written? */
static bool sweep_is_unchecked(const char *s, size_t len)
{
	static const char *const words[] = {
		"verify=False",
		"verify = False",
		"verify_ssl=False",
		"verify: false",
		"ssl_verify=False",
		"rejectUnauthorized: false",
		"rejectUnauthorized:false",
		"InsecureSkipVerify: true",
		"InsecureSkipVerify:true",
		"CERT_NONE",
		"strict-ssl=false",
		"sslVerify = false",
		"VERIFY_NONE",
		"danger_accept_invalid_certs(true)",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(s, len, words[i], strlen(words[i])))
			return true;
	return false;
}

/* s/verify=True/verify=False/: what is put there, and not what is looked for */
static bool sweep_unchecks(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (!rule_has(c, "-i|--in-place") && !(strcmp(c->name, "perl") == 0 && rule_has(c, "-p")))
		return false;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = strchr(c->argv[i].s, 's'), *put, *end;

		if (!s || !s[1] || c->argv[i].s[0] == '-' ||
		    strchr(" \tabcdefghijklmnopqrstuvwxyz", s[1]))
			continue;
		put = strchr(s + 2, s[1]);
		end = put ? strchr(put + 1, s[1]) : NULL;
		if (end && sweep_is_unchecked(put, (size_t)(end - put)) &&
		    !sweep_is_unchecked(s, (size_t)(put - s)))
			return true;
	}
	return false;
}

/* A request that holds the words of a shell and its option: whoever gets it may run them. */
static bool sweep_sends_shell(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const shells[] = {"sh\"", "bash\"", "sh'", "bash'"};

	(void)m;
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(shells) / sizeof(shells[0]); k++) {
			const char *at = strstr(c->argv[i].s, shells[k]);

			if (!at)
				continue;
			at += strlen(shells[k]);
			at += strspn(at, " ,\n\t");
			if ((at[0] == '"' || at[0] == '\'') && str_starts(at + 1, "-c"))
				return true;
		}
	return false;
}

static bool sweep_widens(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (!rule_is("refresh login", rule_operand(c, 1)) || !rule_has(c, "-s|--scopes"))
		return false;
	for (size_t i = 2; i < c->n; i++)
		if (strstr(c->argv[i].s, "admin:") || strstr(c->argv[i].s, "delete"))
			return true;
	return false;
}

static bool sweep_pages(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (!(c->via & VIA_ROOT))
		return false;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (rule_is("-p --paginate --help", s) || (i == 1 && strcmp(s, "help") == 0))
			return true;
		if (s[0] != '-' || rule_is("-C -c", s))
			return false;
	}
	return false;
}

/* ---- stores ---- */

static bool sweep_expires(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "aws") == 0)
		return sweep_has_word(c, "put-bucket-lifecycle-configuration put-bucket-lifecycle");
	if (strcmp(c->name, "gsutil") == 0)
		return rule_is("lifecycle", rule_operand(c, 0)) &&
		       rule_is("set", rule_operand(c, 1));
	if (strcmp(c->name, "gcloud") == 0)
		return rule_has(c, "--lifecycle-file");
	return rule_is("ilm", rule_operand(c, 0)) && rule_says(c, "--expire");
}

static bool sweep_script(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return sweep_has_word(c, "EVAL eval") && rule_says(c, "call(") &&
	       (rule_says(c, "'del'") || rule_says(c, "\"del\"") || rule_says(c, "'unlink'") ||
		rule_says(c, "\"unlink\"") || rule_says(c, "flush"));
}

static const struct shell_rule sweep_rows[] = {
	{.id = "CMD-EACH-EMPTIED",
	 .reason = "It empties every file that it finds.",
	 ROW(0.45, MEDIUM),
	 .test = sweep_empties,
	 .hit = "find . -type f -exec truncate -s 0 {} +",
	 .miss = "find . -name '*.log' -exec truncate -s 0 {} +"},
	{.id = "CMD-TRACKED-DELETE",
	 .reason = "It deletes all that a repository keeps, or its other working trees.",
	 ROW(0.45, MEDIUM),
	 .programs = "rm shred unlink truncate",
	 .test = sweep_tracked,
	 .hit = "git ls-files | xargs rm",
	 .miss = "git ls-files --others | xargs rm"},
	{.id = "CMD-EDIT-EMPTY",
	 .reason = "It edits a file so that no line of it is left.",
	 ROW(0.4, LOW),
	 .programs = "sed gsed perl",
	 .test = sweep_blanks,
	 .hit = "sed -i d app.py",
	 .miss = "sed -i 1d app.py"},
	{.id = "CMD-DD-PART",
	 .reason = "It writes noise or nothing into the middle of a file that is there.",
	 ROW(0.4, LOW),
	 .programs = "dd",
	 .test = sweep_patches,
	 .hit = "dd if=/dev/zero of=app.db bs=1k count=9 conv=notrunc",
	 .miss = "dd if=boot.bin of=disk.img conv=notrunc"},
	{.id = "CMD-PROCESS-FILE",
	 .reason = "It reads what another process has open.",
	 ROW(0.4, LOW),
	 .programs = "cat tail head strings xxd od cp dd less tee base64 grep",
	 .test = sweep_foreign_file,
	 .hit = "cat /proc/4711/fd/5",
	 .miss = "cat /proc/4711/fd/1"},
	{.id = "CMD-VOLUME-REDUCE",
	 .reason = "It takes disks out of a group of volumes, with what they held.",
	 ROW(0.4, LOW),
	 .programs = "vgreduce",
	 .flags = "--removemissing|-a|--all",
	 .hit = "vgreduce --removemissing --force vg0",
	 .miss = "vgreduce --help"},
	{.id = "CMD-PACKAGES-ALL",
	 .reason = "It removes every package that is installed.",
	 ROW(0.4, LOW),
	 .programs =
		 "pip pip3 npm pnpm yarn gem brew apt apt-get dpkg pacman cargo flatpak snap pipx conda",
	 .test = sweep_packages,
	 .hit = "pip freeze | xargs pip uninstall -y",
	 .miss = "pip list --outdated | xargs pip uninstall -y"},
	{.id = "CMD-KEY-REPLACED",
	 .reason = "It answers in advance that a key may be replaced.",
	 ROW(0.4, LOW),
	 .programs = "ssh-keygen",
	 .test = sweep_answers,
	 .hit = "ssh-keygen -f ~/.ssh/id_rsa -N '' <<< y",
	 .miss = "ssh-keygen -f deploy_key -N ''"},
	{.id = "CMD-EDIT-UNCHECKED",
	 .reason = "It edits a program so that it trusts whoever answers.",
	 ROW(0.4, LOW),
	 .programs = "sed gsed perl",
	 .test = sweep_unchecks,
	 .hit = "sed -i 's/verify=True/verify=False/' client.py",
	 .miss = "sed -i 's/verify=False/verify=True/' client.py"},
	{.id = "CMD-SENDS-SHELL",
	 .reason = "It sends a request that holds a command for a shell.",
	 ROW(0.45, MEDIUM),
	 .programs = "curl wget http https xh httpie grpcurl websocat",
	 .test = sweep_sends_shell,
	 .hit = "curl -X PUT http://a:8500/v1/x -d '{\"args\":[\"sh\",\"-c\",\"id\"]}'",
	 .miss = "curl -X PUT http://a:8500/v1/x -d '{\"args\":[\"a\",\"b\"]}'"},
	{.id = "CMD-TOKEN-WIDEN",
	 .reason = "It gives a token of a forge the right to administer or delete.",
	 ROW(0.4, LOW),
	 .programs = "gh",
	 .words = "auth",
	 .test = sweep_widens,
	 .hit = "gh auth refresh -s admin:org,delete_repo",
	 .miss = "gh auth refresh -s read:project"},
	{.id = "CMD-ROOT-PAGER-GIT",
	 .reason = "It opens, as root, a pager from which a shell can be had.",
	 ROW(0.35, LOW),
	 .programs = "git",
	 .test = sweep_pages,
	 .hit = "sudo git -p log",
	 .miss = "sudo git log -p"},
	{.id = "CMD-STORE-EXPIRE",
	 .reason = "It sets when a store deletes what it holds.",
	 ROW(0.4, LOW),
	 .programs = "aws gsutil gcloud mc",
	 .test = sweep_expires,
	 .hit = "gsutil lifecycle set l.json gs://a",
	 .miss = "gsutil lifecycle get gs://a"},
	{.id = "CMD-CACHE-SCRIPT",
	 .reason = "It has a store run a script that deletes.",
	 ROW(0.4, LOW),
	 .programs = "redis-cli valkey-cli keydb-cli",
	 .test = sweep_script,
	 .hit = "redis-cli EVAL \"redis.call('del', KEYS[1])\" 1 a",
	 .miss = "redis-cli EVAL \"return redis.call('get', KEYS[1])\" 1 a"},
};

const struct shell_rules shell_rules_sweep = {sweep_rows,
					      sizeof(sweep_rows) / sizeof(sweep_rows[0])};
