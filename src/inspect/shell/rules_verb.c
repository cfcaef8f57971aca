/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that nobody listed, by what their words say: whatever tool it is, `x cluster destroy`, `x --factory-reset`,
 * `x secrets reveal` and `x set-password` mean what they say.  Only the first operands are read, and only of programs
 * that have subcommands; names of files and texts for people are none.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define ROW(type_, confidence_, level_)                                                            \
	.type = FINDING_##type_, .level = THREAT_##level_, .confidence = (confidence_)

/* Programs whose operands are files, texts, packages or hosts, and those that have rows of their own. */
static const char verb_quiet[] =
	"echo printf grep egrep fgrep zgrep rg ag ack sed awk gawk man tldr help info which type whereis apropos whatis "
	"sleep ls cat tac head tail touch mkdir rmdir cp mv ln rm tr cut sort uniq wc tee diff cmp test [ [[ expr read "
	"export declare local typeset readonly unset alias unalias let set shift cd pushd popd source . ssh scp sftp rsync "
	"vi vim nvim nano emacs code less more view ed python python2 python3 node ruby perl php lua bash sh zsh dash ksh "
	"fish git hg svn find fd locate xargs parallel tar zip unzip gzip curl wget http https dig host nslookup ping "
	"sudo doas su env nice nohup time timeout command builtin exec eval trap kill killall pkill pgrep ps top htop "
	"apt apt-get aptitude dnf yum pacman zypper apk brew pip pip3 gem cargo go rustup snap flatpak npm npx yarn pnpm "
	"bun deno composer bundle mvn gradle sbt stack cabal opam conda mamba poetry uv pipx pdm figlet cowsay logger "
	"notify-send say jq yq xmllint base64 xxd od file stat basename dirname realpath readlink seq yes watch script "
	"useradd usermod userdel groupadd groupdel chown chmod chgrp mysql psql sqlite3 mongosh redis-cli screen tmux at "
	"systemctl service rc-update journalctl history mail task todo.sh note wall write iptables ip6tables ip nft tc bridge "
	"gcc cc clang g++ ld make cmake ninja meson ctest pytest tox jest mocha rspec gdb strace ltrace "
	"openssl gpg dconf gsettings xfconf-query kwriteconfig5 jj sl fossil darcs bzr tig bat fzf vlc mpv ffmpeg";

enum { VERB_OPERANDS = 3, VERB_BYTES = 160 };

/* Parts of words without one of which no class is possible. */
static const char verb_matter[] =
	"delete destroy purge wipe erase nuke terminate decommission removeall drop truncate reset teardown evict expunge "
	"undeploy unpublish obliterate unregister deprovision unlock zap remove password passwords passwd token tokens "
	"secret secrets credential credentials key keys keystore wallet mnemonic reveal admin superuser createsuperuser "
	"apikey role roles permission permissions policy acl owner";

/* The first operands that could be subcommands, parts between dashes: -cluster-destroy-all-; false when no part of them
 * matters.  Most commands end here, so that who it is comes last. */
static bool verb_words(const struct shell_command *c, char out[static VERB_BYTES])
{
	size_t n = 0, start = 1, operands = 0;
	bool is_any = false;

	out[n++] = '-';
	for (size_t i = 1; i < c->n && operands < VERB_OPERANDS; i++) {
		const char *s = c->argv[i].s;
		size_t len = c->argv[i].len;

		if (s[0] == '-')
			continue;
		if (len < 3 || len > 40 || n + len + 2 > VERB_BYTES ||
		    strspn(s, "abcdefghijklmnopqrstuvwxyz-_:") != len)
			break;
		for (size_t k = 0; k <= len; k++) {
			if (k < len && s[k] != '_' && s[k] != ':' && s[k] != '-') {
				out[n++] = s[k];
				continue;
			}
			out[n] = '\0';
			is_any = is_any || rule_is(verb_matter, out + start);
			out[n++] = '-';
			start = n;
		}
		operands++;
	}
	out[n] = '\0';
	return is_any && c->name[0] && !strchr(c->name, '/') && !rule_is(verb_quiet, c->name) &&
	       !rule_has(c, "--help|--dry-run|--dryrun|--version|--what-if");
}

unsigned verb_classes(const struct shell_command *c)
{
	char words[VERB_BYTES];
	unsigned found = 0;

	if (c->n < 2 || !verb_words(c, words))
		return 0;
	if (rule_is_part(
		    words,
		    "delete destroy purge wipe erase nuke terminate decommission removeall drop truncate "
		    "factory-reset hard-reset teardown evict expunge undeploy unpublish obliterate unregister "
		    "deprovision force-unlock zap remove-all") &&
	    !rule_is_part(
		    words,
		    "list show get describe status help protection marker cancel undo preview wait"))
		found |= VERB_DESTROYS;
	/* kubectl get secret lists them */
	if (!rule_is("kubectl oc k", c->name) &&
	    rule_is_part(
		    words,
		    "get-password show-password print-password get-token print-token show-token get-secret show-secret "
		    "get-secret-value get-credentials-plain export-secret export-secrets dump-secrets "
		    "show-private-key export-private-key export-key export-keys dump-keys export-keystore "
		    "get-private-key reveal secret-show secrets-show secrets-get secret-get secret-read "
		    "secrets-reveal secrets-export secrets-dump secrets-decrypt secrets-view secret-view "
		    "credentials-show credentials-get credentials-export password-show passwords-export "
		    "token-show token-print tokens-show wallet-export keys-export mnemonic"))
		found |= VERB_REVEALS;
	if (rule_is_part(
		    words,
		    "set-password reset-password change-password set-passwd create-admin add-admin make-admin "
		    "create-superuser createsuperuser reset-admin-password token-create token-generate "
		    "tokens-create create-token generate-token apikey-create api-key-create create-api-key "
		    "access-key-create ssh-key-add ssh-key-create role-grant roles-grant grant-role role-assign "
		    "permission-grant permissions-grant policy-attach acl-grant acl-set add-role-member "
		    "grant-admin add-owner set-admin set-permissions"))
		found |= VERB_LETS_IN;
	return found;
}

static bool verb_destroys(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->verbs & VERB_DESTROYS;
}

static bool verb_reveals(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->verbs & VERB_REVEALS;
}

static bool verb_lets_in(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->verbs & VERB_LETS_IN;
}

/* Is there a long option that begins with one of the letters? */
static bool verb_has_option(const struct shell_command *c, const char *letters)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].s[0] == '-' && c->argv[i].s[1] == '-' && c->argv[i].s[2] &&
		    strchr(letters, c->argv[i].s[2]))
			return true;
	return false;
}

static bool verb_option(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const begins[] = {"--delete-all",
					     "--destroy",
					     "--wipe",
					     "--erase",
					     "--factory-reset",
					     "--force-delete",
					     "--drop",
					     "--nuke",
					     "--truncate",
					     "--force-reset",
					     "--accept-data-loss",
					     "--delete-volumes",
					     "--purge-all",
					     "--remove-all",
					     "--obliterate"};

	(void)m;
	if (!verb_has_option(c, "defnprtoaw") ||
	    rule_is("echo printf grep egrep rg man metaflac id3v2 eyed3 mid3v2 tr sed logger iptables meson cmake ninja bazel cargo "
		    "gradle mvn sbt pytest jest vite next nuxt storybook",
		    c->name) ||
	    rule_has(c, "--help|--dry-run|-n"))
		return false;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (s[0] != '-' || s[1] != '-')
			continue;
		if (!s[2])
			break;
		for (size_t k = 0; k < sizeof(begins) / sizeof(begins[0]); k++) {
			size_t n = strlen(begins[k]);

			if (strncmp(s, begins[k], n) == 0 &&
			    (s[n] == '\0' || s[n] == '=' || s[n] == '-') &&
			    !str_ends(s, "=false") && !str_ends(s, "=no"))
				return true;
		}
	}
	return false;
}

static bool verb_unsafe(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const begins[] = {"--dangerously",      "--yolo",
					     "--disable-security", "--disable-auth",
					     "--no-auth",          "--without-auth",
					     "--skip-permissions", "--trust-all",
					     "--skip-verify",      "--disable-verification",
					     "--allow-unsafe-",    "--yes-i-really"};

	(void)m;
	if (!verb_has_option(c, "dynwsta") || rule_is("echo printf grep egrep rg man", c->name))
		return false;
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof(begins) / sizeof(begins[0]) && c->argv[i].s[0] == '-';
		     k++)
			if (str_starts(c->argv[i].s, begins[k]) &&
			    !str_ends(c->argv[i].s, "=false"))
				return true;
	return false;
}

static const struct shell_rule verb_rows[] = {
	{.id = "CMD-VERB-DESTROY",
	 .reason = "Its words say that it destroys something.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .test = verb_destroys,
	 .hit = "anytool cluster destroy prod",
	 .miss = "anytool cluster status prod"},
	{.id = "CMD-OPTION-DESTROY",
	 .reason = "One of its options says that it destroys something.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .test = verb_option,
	 .hit = "anytool --factory-reset",
	 .miss = "anytool --reset-zoom"},
	{.id = "CMD-VERB-REVEAL",
	 .reason = "Its words say that it shows secrets.",
	 ROW(DATA_LEAK, 0.35, LOW),
	 .test = verb_reveals,
	 .hit = "anytool secrets reveal db",
	 .miss = "anytool secrets list"},
	{.id = "CMD-VERB-LOGIN",
	 .reason = "Its words say that it makes or changes what lets somebody in.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .test = verb_lets_in,
	 .hit = "anytool set-password root x",
	 .miss = "anytool set-title root x"},
	{.id = "CMD-OPTION-UNSAFE",
	 .reason = "One of its options switches off what makes it safe.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .test = verb_unsafe,
	 .hit = "anytool --dangerously-skip-checks run",
	 .miss = "anytool --danger-color red run"},
};

const struct shell_rules shell_rules_verb = {verb_rows, sizeof(verb_rows) / sizeof(verb_rows[0])};
