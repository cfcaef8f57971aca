/* SPDX-License-Identifier: Apache-2.0 */
/* See rule.h. */
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

const struct shell_rules *const shell_rule_tables[SHELL_RULE_TABLES] = {
	&shell_rules_destroy, &shell_rules_service, &shell_rules_access, &shell_rules_persist,
	&shell_rules_network, &shell_rules_escape,  &shell_rules_evade,  &shell_rules_host,
	&shell_rules_collect, &shell_rules_craft,   &shell_rules_reach,  &shell_rules_schema,
	&shell_rules_mac,     &shell_rules_store,   &shell_rules_drain,  &shell_rules_fetch,
	&shell_rules_guise,   &shell_rules_lore,    &shell_rules_load,   &shell_rules_loss,
	&shell_rules_cloud,   &shell_rules_git,     &shell_rules_verb,   &shell_rules_below,
	&shell_rules_stray,   &shell_rules_upkeep,  &shell_rules_inline, &shell_rules_spill,
	&shell_rules_linger,  &shell_rules_sweep,
};

/* Options before a subcommand that take a value. */
static const char match_valued[] =
	" -C -c -n -H --profile --region --git-dir --work-tree --namespace --context --kubeconfig --project "
	"--host --config --server --user --addr --address --endpoint-url --output --token --org --repo -R "
	"--bootstrap-server --zone --resource-group -g --subscription --account --file --jar -s --kube-context "
	"--registry ";

/* Programs of which no option has a value that stands apart and matters. */
static const char match_files[] = "chmod chown chgrp rm cp mv ln umask chattr pip pip3";

bool rule_is(const char *names, const char *name)
{
	size_t n = strlen(name);

	/* Asked often, and seldom true: the first letter decides, and strchr() is quick. */
	for (const char *p = names; n > 0 && (p = strchr(p, name[0])) != NULL; p++)
		if ((p == names || p[-1] == ' ') && strncmp(p, name, n) == 0 &&
		    (p[n] == ' ' || p[n] == '\0'))
			return memchr(name, ' ', n) == NULL; /* a name of the list has none */
	return false;
}

bool rule_is_part(const char *words, const char *parts)
{
	while (*parts) {
		char one[48] = "-";
		size_t n = strcspn(parts, " ");

		if (n + 3 <= sizeof(one)) {
			memcpy(one + 1, parts, n);
			memcpy(one + 1 + n, "-", 2);
			if (strstr(words, one))
				return true;
		}
		parts += n;
		parts += *parts == ' ';
	}
	return false;
}

bool rule_is_shell(const char *name)
{
	return rule_is("sh bash dash zsh ksh ash mksh fish csh tcsh rbash yash", name);
}

bool rule_is_setuid(const char *mode)
{
	size_t len = strlen(mode);

	if (strspn(mode, "01234567") == len)
		return len >= 4 && len <= 6 && ((mode[len - 4] - '0') & 4);
	if (strspn(mode, "ugoa+-=rwxXst,") != len)
		return false;
	/* an s behind + or = */
	for (size_t n = strcspn(mode, "+="); mode[n]; n += strcspn(mode + n, "+=")) {
		n++;
		if (memchr(mode + n, 's', strcspn(mode + n, ",")))
			return true;
	}
	return false;
}

static bool match_option(const struct shell_command *c, const char *option, size_t n)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (strcmp(s, "--") == 0)
			break;
		if (s[0] != '-' && s[0] != '+')
			continue;
		if (strncmp(s, option, n) == 0 && (s[n] == '\0' || s[n] == '='))
			return true;
		/* -f in -rf; long options with one dash (find -delete) are no clusters */
		if (n == 2 && option[0] == '-' && option[1] != '-' && s[0] == '-' && s[1] != '-' &&
		    memchr(s + 1, option[1], strlen(s + 1)) &&
		    strspn(s + 1,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") ==
			    strlen(s + 1) &&
		    strlen(s) <= 6)
			return true;
		/* --rec for --recursive */
		if (n > 6 && option[1] == '-' && strlen(s) >= 5 && strlen(s) < n &&
		    strcmp(s, "--force") != 0 && strncmp(s, option, strlen(s)) == 0)
			return true;
	}
	return false;
}

bool rule_has(const struct shell_command *c, const char *options)
{
	while (*options) {
		size_t n = strcspn(options, "|");

		if (match_option(c, options, n))
			return true;
		options += n;
		options += *options == '|';
	}
	return false;
}

bool rule_is_valued(const char *option)
{
	return rule_is(match_valued, option);
}

const char *rule_operand(const struct shell_command *c, size_t index)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (s[0] == '-' && s[1]) {
			/* -R of chmod is no repository */
			i += rule_is(match_valued, s) && !rule_is(match_files, c->name);
			continue;
		}
		if (index-- == 0)
			return s;
	}
	return "";
}

static bool match_alternative(const char *alternatives, size_t n, const char *word)
{
	while (n > 0) {
		size_t k = 0;

		while (k < n && alternatives[k] != '|')
			k++;
		if (k > 0 && alternatives[k - 1] == '*') {
			if (strncmp(word, alternatives, k - 1) == 0)
				return true;
		} else if (strlen(word) == k && memcmp(word, alternatives, k) == 0) {
			return true;
		}
		k += k < n;
		alternatives += k;
		n -= k;
	}
	return false;
}

static bool match_words(const struct shell_command *c, const char *words)
{
	for (size_t i = 0; *words; i++) {
		size_t n = strcspn(words, " ");

		if (!match_alternative(words, n, rule_operand(c, i)))
			return false;
		words += n;
		words += *words == ' ';
	}
	return true;
}

static bool match_flags(const struct shell_command *c, const char *flags)
{
	char one[128];

	while (*flags) {
		size_t n = strcspn(flags, " ");

		if (n >= sizeof(one))
			return false;
		memcpy(one, flags, n);
		one[n] = '\0';
		if (!rule_has(c, one))
			return false;
		flags += n;
		flags += *flags == ' ';
	}
	return true;
}

bool rule_matches(const struct shell_rule *rule, const struct shell_model *m,
		  const struct shell_command *c)
{
	if (rule->programs && !rule_is(rule->programs, c->name))
		return false;
	if (rule->words && !match_words(c, rule->words))
		return false;
	if (rule->flags && !match_flags(c, rule->flags))
		return false;
	if (rule->unless && rule_has(c, rule->unless))
		return false;
	if (rule->programs && !rule->test && rule_has(c, "--help"))
		return false;
	return !rule->test || rule->test(m, c);
}

uint64_t rule_place(const struct shell_model *m, const struct shell_command *c,
		    struct shell_word *w)
{
	if (!w->place)
		w->place = place_of(m->context, w->s, c->cwd, (w->flags & WORD_GLOB) != 0);
	return w->place;
}

static uint64_t match_operands(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = 0;
	bool is_end = false;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		const char *eq = strchr(s, '=');

		if (strcmp(s, "--") == 0)
			is_end = true;
		else if (s[0] != '-' || is_end)
			place |= rule_place(m, c, &c->argv[i]);
		if (eq && (s[0] == '-' || rule_is("dd", c->name)))
			place |= place_of(m->context, eq + 1, c->cwd, false);
	}
	return place;
}

/* --ssl-key x.pem: a key of a project that is used for what it is made for, not shown. */
static bool match_is_used(const struct shell_model *m, const struct shell_command *c, size_t i)
{
	const char *s = c->argv[i - 1].s;

	return str_starts(s, "--") &&
	       (str_ends(s, "-key") || str_ends(s, "-cert") || str_ends(s, "-key-file") ||
		str_ends(s, "kubeconfig-file")) &&
	       !(rule_place(m, c, &c->argv[i]) &
		 (PLACE(HOME_BELOW) | PLACE(SYSTEM) | PLACE(SHADOW) | PLACE(ACCOUNT)));
}

/* The operands but for those. */
static uint64_t match_shown(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = 0;
	bool has_used = false;

	for (size_t i = 2; i < c->n && !has_used; i++)
		has_used = c->argv[i].s[0] != '-' && match_is_used(m, c, i);
	if (!has_used)
		return match_operands(m, c);
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] != '-' && !(i > 1 && match_is_used(m, c, i)))
			place |= rule_place(m, c, &c->argv[i]);
	return place;
}

/* The operands from the first to the last, or the last alone. */
static uint64_t match_targets(const struct shell_model *m, const struct shell_command *c,
			      bool is_last)
{
	uint64_t place = 0;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (s[0] == '-' && s[1]) {
			if (str_starts(s, "--target-directory="))
				return place_of(m->context, s + 19, c->cwd, false);
			if (strcmp(s, "-t") == 0 && i + 1 < c->n && is_last)
				return rule_place(m, c, &c->argv[i + 1]);
			continue;
		}
		place = is_last ? rule_place(m, c, &c->argv[i])
				: place | rule_place(m, c, &c->argv[i]);
	}
	return place;
}

static uint64_t match_output_option(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = 0;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if ((strcmp(s, "-o") == 0 || strcmp(s, "-O") == 0 || strcmp(s, "--output") == 0 ||
		     strcmp(s, "--output-document") == 0 ||
		     (s[0] == '-' && s[1] != '-' && (str_ends(s, "o") || str_ends(s, "O")))) &&
		    i + 1 < c->n)
			place |= rule_place(m, c, &c->argv[i + 1]);
		else if (str_starts(s, "of="))
			place |= place_of(m->context, s + 3, c->cwd, false);
		else if (str_starts(s, "--output=") || str_starts(s, "--output-document="))
			place |= place_of(m->context, strchr(s, '=') + 1, c->cwd, false);
	}
	return place;
}

static uint64_t match_writes(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = 0;

	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_OUT || c->redirects[i].kind == REDIRECT_APPEND)
			place |= rule_place(m, c, &c->redirects[i].target);
	if (c->via & (VIA_CONTAINER | VIA_REMOTE))
		return place;
	if (rule_is("tee sponge truncate shred rm unlink rmdir mkdir ed nano vi vim nvim emacs pico touch "
		    "chattr",
		    c->name) ||
	    (rule_is("sed gsed perl ruby", c->name) &&
	     (rule_has(c, "-i|--in-place") || rule_says(c, "-i."))))
		return place | match_targets(m, c, false);
	if (rule_is("cp mv install ln rsync scp", c->name))
		return place | match_targets(m, c, true) |
		       (strcmp(c->name, "mv") == 0 ? match_targets(m, c, false) : 0);
	if (rule_is("dd curl wget gcc cc g++ clang ld sort aria2c axel openssl", c->name))
		return place | match_output_option(m, c);
	return place;
}

static uint64_t match_reads(const struct shell_model *m, const struct shell_command *c)
{
	uint64_t place = 0;

	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_IN)
			place |= rule_place(m, c, &c->redirects[i].target);
	/* they copy files of this machine to another one */
	if (rule_is("docker podman nerdctl kubectl oc lxc incus", c->name) &&
	    rule_is("cp file", rule_operand(c, 0)))
		return place | match_operands(m, c);
	if (rule_is("ls stat test [ [[ chmod chown chgrp rm unlink rmdir mkdir touch ssh scp sftp ssh-add "
		    "ssh-keygen ssh-copy-id autossh tee echo printf basename dirname realpath readlink source . "
		    "docker podman docker-compose kubectl mkcert certbot du df export local declare "
		    "truncate vault ansible ansible-playbook ansible-vault mysql which type cd pushd "
		    "setfacl getfacl helm terraform java javac keytool jarsigner gradle mvn nginx stunnel "
		    "direnv dotenv file shred env sudo ln systemctl tomb",
		    c->name))
		return place;
	if (strcmp(c->name, "git") == 0)
		for (size_t i = 2; i < c->n; i++)
			if (strchr(c->argv[i].s, ':') &&
			    rule_is("show cat-file", rule_operand(c, 0)))
				place |= place_of(m->context, strchr(c->argv[i].s, ':') + 1, NULL,
						  false);
	/* git diff --no-index A B compares any two files */
	if (strcmp(c->name, "git") == 0)
		return place | (rule_has(c, "--no-index") ? match_operands(m, c) : 0);
	if (rule_is("openssl", c->name))
		return place |
		       ((rule_says(c, "-out") || rule_says(c, "req") || rule_says(c, "verify"))
				? 0
				: match_operands(m, c));
	if (rule_is("cp mv install rsync", c->name)) {
		uint64_t last = match_targets(m, c, true);

		for (size_t i = 1; i + 1 < c->n; i++)
			if (c->argv[i].s[0] != '-')
				place |= rule_place(m, c, &c->argv[i]);
		(void)last;
		return place;
	}
	if (rule_is("curl wget", c->name)) {
		/* --key and --cert are used, not shown. */
		for (size_t i = 1; i < c->n; i++) {
			const char *at = strchr(c->argv[i].s, '@');

			if (at && at[1] && at[1] != '-')
				place |= place_of(m->context, at + 1, c->cwd, false);
			if (str_starts(c->argv[i].s, "file://"))
				place |= rule_place(m, c, &c->argv[i]);
		}
		return place;
	}
	return place | match_shown(m, c);
}

bool rule_says(const struct shell_command *c, const char *text)
{
	for (size_t i = 1; i < c->n; i++)
		if (strcasestr(c->argv[i].s, text))
			return true;
	return c->in.s && strcasestr(c->in.s, text);
}

uint64_t rule_operands(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->operand_places;
}

uint64_t rule_writes(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->write_places;
}

uint64_t rule_reads(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->read_places;
}

void rule_prepare(struct shell_model *m)
{
	for (size_t i = 0; i < m->n; i++) {
		struct shell_command *c = &m->commands[i];

		c->operand_places = match_operands(m, c);
		c->write_places = match_writes(m, c);
		c->read_places = match_reads(m, c);
		c->verbs = verb_classes(c);
		net_prepare(m, c);
	}
}

bool rule_is_local(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_hosts; i++)
		if (!net_is_local(&c->hosts[i]))
			return false;
	return c->n_hosts > 0;
}

/* ---- which rows could hold for a program ---- */

enum {
	INDEX_BUCKETS = 1024,
	INDEX_ENTRIES = 4096,
	INDEX_WORTH = 4, /* commands, before it is made */
};

struct index_entry {
	const char *name;
	size_t len;
	const struct shell_rule *rule;
	uint16_t next; /* entry + 1 */
};

static struct {
	uint16_t buckets[INDEX_BUCKETS];
	struct index_entry entries[INDEX_ENTRIES];
	size_t n;
	const struct shell_rule *every[INDEX_ENTRIES / 8]; /* without a program */
	size_t n_every;
} match_index;
static pthread_once_t match_once = PTHREAD_ONCE_INIT;

static unsigned index_hash(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h % INDEX_BUCKETS;
}

static void index_add(const struct shell_rule *rule)
{
	const char *p = rule->programs;

	if (!p) {
		assert(match_index.n_every < INDEX_ENTRIES / 8);
		match_index.every[match_index.n_every++] = rule;
		return;
	}
	while (*p) {
		size_t n = strcspn(p, " ");
		unsigned h = index_hash(p, n);

		if (n > 0) {
			assert(match_index.n < INDEX_ENTRIES);
			match_index.entries[match_index.n] = (struct index_entry){
				.name = p, .len = n, .rule = rule, .next = match_index.buckets[h]};
			match_index.buckets[h] = (uint16_t)++match_index.n;
		}
		p += n + (p[n] == ' ');
	}
}

static void index_build(void)
{
	for (size_t t = 0; t < SHELL_RULE_TABLES; t++)
		for (size_t k = 0; k < shell_rule_tables[t]->n; k++)
			index_add(&shell_rule_tables[t]->rows[k]);
}

int rule_each_scanned(const struct shell_model *m, const struct shell_command *c,
		      int (*found)(void *arg, const struct shell_rule *rule,
				   const struct shell_command *c),
		      void *arg)
{
	int r = 0;

	for (size_t t = 0; t < SHELL_RULE_TABLES; t++)
		for (size_t k = 0; k < shell_rule_tables[t]->n && r >= 0; k++) {
			const struct shell_rule *rule = &shell_rule_tables[t]->rows[k];

			if (!rule->programs && rule_matches(rule, m, c))
				r = found(arg, rule, c);
		}
	for (size_t t = SHELL_RULE_TABLES; t-- > 0;)
		for (size_t k = shell_rule_tables[t]->n; k-- > 0 && r >= 0;) {
			const struct shell_rule *rule = &shell_rule_tables[t]->rows[k];

			if (rule->programs && strstr(rule->programs, c->name) &&
			    rule_matches(rule, m, c))
				r = found(arg, rule, c);
		}
	return r;
}

int rule_each(const struct shell_model *m, const struct shell_command *c,
	      int (*found)(void *arg, const struct shell_rule *rule, const struct shell_command *c),
	      void *arg)
{
	static atomic_uint asked;
	size_t len = strlen(c->name);
	int r = 0;

	/* Most processes judge one command, for which an index would be made and thrown away. */
	if (atomic_load_explicit(&asked, memory_order_relaxed) < INDEX_WORTH) {
		atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
		return rule_each_scanned(m, c, found, arg);
	}
	if (pthread_once(&match_once, index_build) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < match_index.n_every && r >= 0; i++)
		if (rule_matches(match_index.every[i], m, c))
			r = found(arg, match_index.every[i], c);
	for (uint16_t i = match_index.buckets[index_hash(c->name, len)]; i && r >= 0;) {
		const struct index_entry *e = &match_index.entries[i - 1];

		if (e->len == len && memcmp(e->name, c->name, len) == 0 &&
		    rule_matches(e->rule, m, c))
			r = found(arg, e->rule, c);
		i = e->next;
	}
	return r;
}
