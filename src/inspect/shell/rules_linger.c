/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stays behind or gets below: libraries that the loader is told of, programs that take the place of others,
 * settings of a desktop that name a command, whole disks given to a tool that maps them, and ways around cordon itself.
 */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define ROW(confidence_, level_)                                                                   \
	.type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##level_, .confidence = (confidence_)

static bool linger_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

/* ---- the loader ---- */

static bool linger_loader(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (str_starts(s, "--preload") || str_starts(s, "--audit"))
			return true;
		if (strcmp(s, "--library-path") == 0 && i + 1 < c->n &&
		    (rule_place(m, c, &c->argv[i + 1]) & (PLACE(TEMPORARY) | PLACE(ABSOLUTE))) &&
		    (str_starts(c->argv[i + 1].s, "/tmp") ||
		     str_starts(c->argv[i + 1].s, "/dev/shm") ||
		     str_starts(c->argv[i + 1].s, "/var/tmp")))
			return true;
	}
	return false;
}

/* A library from where everybody may put one, or a program of the system that gets one. */
static bool linger_patched(const struct shell_model *m, const struct shell_command *c)
{
	return linger_any(c, "--add-needed --replace-needed --set-interpreter --set-rpath "
			     "--add-rpath --force-rpath") &&
	       (rule_operands(m, c) & (PLACE(TEMPORARY) | PLACE(BINARY) | PLACE(SYSTEM)));
}

static bool linger_diverted(const struct shell_model *m, const struct shell_command *c)
{
	return rule_has(c, "--add|--rename|--divert") &&
	       !rule_has(c, "--list|--remove|--truename|--listpackage") &&
	       (rule_operands(m, c) & (PLACE(BINARY) | PLACE(SYSTEM)));
}

/* A program of one's own that is found before one that everybody trusts. */
static bool linger_shadows(const struct shell_model *m, const struct shell_command *c)
{
	static const char names[] =
		"sudo su doas ssh scp git ls cat cp mv rm ps top kill grep find curl wget bash sh zsh login passwd gpg mount "
		"cordon systemctl crontab ssh-agent ssh-add pkexec apt apt-get dpkg id who which env";
	const char *path = NULL;

	(void)m;
	for (size_t i = 0; i < c->n_redirects; i++)
		if (c->redirects[i].kind == REDIRECT_OUT || c->redirects[i].kind == REDIRECT_APPEND)
			path = c->redirects[i].target.s;
	if (!path && rule_is("cp mv install ln tee", c->name) && c->n > 2)
		path = c->argv[c->n - 1].s;
	if (!path && strcmp(c->name, "tee") == 0 && c->n == 2)
		path = c->argv[1].s;
	if (!path || (c->via & VIA_CONTAINER))
		return false;
	for (const char *p = path; (p = strstr(p, "/")) != NULL; p++)
		if (str_starts(p, "/.local/bin/") || str_starts(p, "/bin/")) {
			bool is_home = path[0] == '~' || str_starts(path, "/home/") ||
				       str_starts(path, "/root/");

			return is_home && rule_is(names, strrchr(p, '/') + 1);
		}
	return false;
}

/* ---- the desktop and the terminal ---- */

static bool linger_shortcut(const struct shell_model *m, const struct shell_command *c)
{
	if (rule_is("kwriteconfig5 kwriteconfig6 kwriteconfig", c->name))
		return (rule_operands(m, c) & PLACE(TEMPORARY)) != 0;
	if (strcmp(c->name, "xfconf-query") == 0)
		return rule_says(c, "/commands/custom/") && rule_has(c, "-s|--set");
	if (!rule_is("set write", rule_operand(c, 0)))
		return false;
	return rule_says(c, "custom-keybinding") || rule_says(c, "/command") ||
	       linger_any(c, "command exec");
}

static bool linger_hooked(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 2; i < c->n; i++)
		if (strstr(c->argv[i].s, "run-shell") || strstr(c->argv[i].s, "if-shell"))
			return true;
	return false;
}

static bool linger_allowed(const struct shell_model *m, const struct shell_command *c)
{
	return (rule_operands(m, c) & PLACE(TEMPORARY)) != 0;
}

static bool linger_early(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return linger_any(c, "--include -i --install -I --add-drivers --init");
}

/* ---- git ---- */

/* Programs that people set there. */
static bool linger_is_usual(const char *value)
{
	static const char names[] =
		"ssh gh glab sed vi vim nvim nano emacs code true cat less delta bat diff-so-fancy gpg gpg2 git-lfs "
		"git-credential-manager store cache osxkeychain manager manager-core libsecret";
	char name[64];
	size_t n = strcspn(value, " ");

	value += *value == '!';
	n = strcspn(value, " ");
	if (n >= sizeof(name))
		return false;
	memcpy(name, value, n);
	name[n] = '\0';
	return n == 0 || rule_is(names, name) || strcmp(name, "/dev/null") == 0 ||
	       str_starts(name, "/usr/bin/") || str_starts(name, ".husky") ||
	       str_starts(name, ".githooks");
}

/* git -c KEY=VALUE, git clone --config KEY=VALUE: a program for this call, or one that the clone keeps */
static bool linger_git_option(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const keys[] = {"core.sshcommand=",
					   "core.fsmonitor=",
					   "core.hookspath=",
					   "core.pager=",
					   "core.editor=",
					   "core.gitproxy=",
					   "core.askpass=",
					   "diff.external=",
					   "sequence.editor=",
					   "gpg.program=",
					   "credential.helper=",
					   "init.templatedir=",
					   "include.path=",
					   "core.alternaterefscommand=",
					   "uploadpack.packobjectshook=",
					   "protocol.ext.allow="};
	static const char *const ends[] = {".clean",    ".smudge",     ".process",
					   ".textconv", ".driver",     ".cmd",
					   ".command",  ".uploadpack", ".receivepack"};

	(void)m;
	for (size_t i = 1; i + 1 < c->n; i++) {
		const char *s = c->argv[i + 1].s, *eq;
		char key[96];

		if (str_starts(c->argv[i].s, "--config="))
			s = c->argv[i].s + strlen("--config=");
		else if (!rule_is("-c --config --config-env", c->argv[i].s))
			continue;
		eq = strchr(s, '=');
		if (!eq || (size_t)(eq - s) + 2 > sizeof(key))
			continue;
		memcpy(key, s, (size_t)(eq - s));
		key[eq - s] = '\0';
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
			if (str_ends(key, ends[k]) && strpbrk(eq, "/!|;") &&
			    !linger_is_usual(eq + 1))
				return true;
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (strncasecmp(s, keys[k], strlen(keys[k])) == 0)
				return (strcasecmp(s, "protocol.ext.allow=always") == 0 ||
					strpbrk(eq, "/!|;")) &&
				       !linger_is_usual(eq + 1);
	}
	return false;
}

/* ---- disks ---- */

static bool linger_is_disk(const char *s)
{
	static const char *const names[] = {"/dev/sd",    "/dev/nvme",   "/dev/vd",
					    "/dev/hd",    "/dev/xvd",    "/dev/mmcblk",
					    "/dev/disk/", "/dev/mapper/"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *p = strstr(s, names[i]);

		if (p && p[strlen(names[i])])
			return true;
	}
	return false;
}

static bool linger_mapped(const struct shell_model *m, const struct shell_command *c)
{
	const char *sub = rule_operand(c, 0);

	(void)m;
	if (strcmp(c->name, "losetup") == 0 && rule_has(c, "-d|--detach|-a|--all|-l|--list|-j"))
		return false;
	if (rule_is("kpartx partx", c->name) && !rule_has(c, "-a|--add|-d|--delete|-av|-dv"))
		return false;
	if (strcmp(c->name, "dmsetup") == 0 && !rule_is("create reload load wipe_table", sub))
		return false;
	if (strcmp(c->name, "virsh") == 0 && !str_starts(sub, "attach-"))
		return false;
	if (strcmp(c->name, "mdadm") == 0 &&
	    !rule_has(c, "--create|-C|--add|-a|--fail|-f|--build|-B|--grow"))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (linger_is_disk(c->argv[i].s))
			return true;
	return false;
}

static bool linger_punched(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "truncate ") || rule_says(c, "fpunch") || rule_says(c, "pwrite") ||
	       rule_says(c, "fcollapse") || rule_says(c, "shutdown");
}

/* ---- cordon ---- */

/* The program itself, wherever it lies. */
static bool linger_is_cordon(const char *s)
{
	return str_ends(s, "/cordon") || str_ends(s, "/cordon-proxy") ||
	       str_ends(s, "/cordon-inside");
}

static bool linger_blunted(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (rule_is("alias hash", c->name)) {
		for (size_t i = 1; i < c->n; i++)
			if (str_starts(c->argv[i].s, "cordon=") ||
			    (strcmp(c->name, "hash") == 0 && i > 1 &&
			     strcmp(c->argv[i].s, "cordon") == 0))
				return true;
		return false;
	}
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (s[0] == '-' || !linger_is_cordon(s) || !strstr(s, "bin/"))
			continue;
		/* cordon is put there, and no other program */
		if (rule_is("cp install ln", c->name))
			return i + 1 == c->n && !strstr(c->argv[i - 1].s, "cordon");
		return !rule_is("+x a+x u+x 755 0755", c->argv[1].s);
	}
	return false;
}

/* What only a person should ask of cordon: less isolation, a session's taint forgotten, other secrets. */
static bool linger_lifted(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const pairs[] = {"-l none",
					    "--level none",
					    "-b noop",
					    "--backend noop",
					    "--fs full",
					    "--net allow-all",
					    "--allow-private 0.0.0.0/0",
					    "-w /",
					    "--write /",
					    "--allow-host *"};
	const char *verb = rule_operand(c, 0), *what = rule_operand(c, 1);

	(void)m;
	if (strcmp(verb, "session") == 0)
		return strcmp(what, "lift") == 0;
	if (strcmp(verb, "secret") == 0)
		return rule_is("rm rekey set", what);
	if (!rule_is("run shell learn sandbox", verb))
		return false;
	for (size_t i = 2; i < c->n && strcmp(c->argv[i].s, "--") != 0; i++)
		for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++) {
			size_t n = strcspn(pairs[k], " ");
			const char *s = c->argv[i].s, *value = NULL;

			if (strncmp(s, pairs[k], n) != 0)
				continue;
			if (s[n] == '=')
				value = s + n + 1;
			else if (!s[n] && i + 1 < c->n)
				value = c->argv[i + 1].s;
			else if (n == 2)
				value = s + n;
			if (value && strcmp(value, pairs[k] + n + 1) == 0)
				return true;
		}
	return false;
}

static const struct shell_rule linger_rows[] = {
	{.id = "CMD-LOADER-TOLD",
	 .reason = "It has the loader put a library into a program.",
	 ROW(0.5, MEDIUM),
	 .programs = "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 "
		     "ld-musl-x86_64.so.1 ld-musl-aarch64.so.1",
	 .test = linger_loader,
	 .hit = "/lib64/ld-linux-x86-64.so.2 --preload /tmp/x.so /bin/ls",
	 .miss = "/lib64/ld-linux-x86-64.so.2 --list /bin/ls"},
	{.id = "CMD-LOADER-PATCHED",
	 .reason =
		 "It changes which libraries a program of the system loads, or loads one from a temporary directory.",
	 ROW(0.4, LOW),
	 .programs = "patchelf chrpath",
	 .test = linger_patched,
	 .hit = "patchelf --add-needed /tmp/x.so /usr/bin/ssh",
	 .miss = "patchelf --set-rpath '$ORIGIN/lib' ./app"},
	{.id = "CMD-PROGRAM-DIVERTED",
	 .reason = "It moves a program of the system aside for another one.",
	 ROW(0.4, LOW),
	 .programs = "dpkg-divert dpkg-statoverride",
	 .test = linger_diverted,
	 .hit = "dpkg-divert --add --rename --divert /bin/ls.real /bin/ls",
	 .miss = "dpkg-divert --list"},
	{.id = "CMD-PROGRAM-SHADOWED",
	 .reason = "It puts a program where it is found before one that everybody trusts.",
	 ROW(0.4, LOW),
	 .test = linger_shadows,
	 .hit = "cp x ~/.local/bin/sudo",
	 .miss = "cp x ~/.local/bin/kubectl"},
	{.id = "CMD-DESKTOP-COMMAND",
	 .reason = "It sets a command that the desktop runs.",
	 ROW(0.4, LOW),
	 .programs = "gsettings dconf kwriteconfig kwriteconfig5 kwriteconfig6 xfconf-query",
	 .test = linger_shortcut,
	 .hit = "gsettings set org.x.custom-keybinding:/x/ command /tmp/x",
	 .miss = "gsettings set org.gnome.desktop.interface color-scheme prefer-dark"},
	{.id = "CMD-TERMINAL-HOOK",
	 .reason = "It sets a command that a terminal runs by itself.",
	 ROW(0.4, LOW),
	 .programs = "tmux",
	 .words = "set-hook|bind-key|bind|set|set-option",
	 .test = linger_hooked,
	 .hit = "tmux set-hook -g after-new-session 'run-shell /tmp/x'",
	 .miss = "tmux set-hook -g after-new-session 'rename-window x'"},
	{.id = "CMD-ENVRC-ALLOWED",
	 .reason = "It lets a file in a temporary directory set up every shell that goes there.",
	 ROW(0.4, LOW),
	 .programs = "direnv",
	 .words = "allow|permit|grant",
	 .test = linger_allowed,
	 .hit = "direnv allow /tmp/x",
	 .miss = "direnv allow"},
	{.id = "CMD-BOOT-IMAGE",
	 .reason = "It puts something into the image that the machine starts with.",
	 ROW(0.4, LOW),
	 .programs = "dracut mkinitcpio",
	 .test = linger_early,
	 .hit = "dracut --force --include /tmp/x /lib/x",
	 .miss = "dracut --list-modules"},
	{.id = "CMD-GIT-OPTION",
	 .reason = "It gives git a program to run in an option, or a setting that a clone keeps.",
	 ROW(0.45, MEDIUM),
	 .programs = "git",
	 .test = linger_git_option,
	 .hit = "git clone -c core.hooksPath=/tmp/h https://a.example/r",
	 .miss = "git clone -c core.autocrlf=input https://a.example/r"},
	{.id = "CMD-DISK-MAPPED",
	 .reason = "It gives a whole disk to a tool that reads and writes it by another name.",
	 ROW(0.4, LOW),
	 .programs =
		 "losetup kpartx partx dmsetup qemu-img qemu-nbd guestmount guestfish virt-rescue virsh mdadm qemu-system-x86_64 "
		 "qemu-system-aarch64 kvm",
	 .test = linger_mapped,
	 .hit = "losetup /dev/loop7 /dev/vda",
	 .miss = "losetup /dev/loop7 disk.img"},
	{.id = "CMD-FILE-PUNCHED",
	 .reason = "It overwrites or cuts a file past the programs that own it.",
	 ROW(0.4, LOW),
	 .programs = "xfs_io",
	 .test = linger_punched,
	 .hit = "xfs_io -c 'truncate 0' db.img",
	 .miss = "xfs_io -r -c fiemap db.img"},
	{.id = "CMD-CORDON-LIFTED",
	 .reason = "It asks cordon for less than it holds, which is a person's to ask.",
	 ROW(0.5, MEDIUM),
	 .programs = "cordon",
	 .test = linger_lifted,
	 .hit = "cordon session lift s1",
	 .miss = "cordon session show s1"},
	{.id = "CMD-CORDON-BLUNTED",
	 .reason = "It puts something else in the place of cordon, or takes it away.",
	 ROW(0.7, HIGH),
	 .programs =
		 "alias hash chmod chown rm mv ln cp install truncate shred unlink tee sed dd chattr setfacl",
	 .test = linger_blunted,
	 .hit = "alias cordon=true",
	 .miss = "chmod +x build/bin/cordon"},
};

const struct shell_rules shell_rules_linger = {linger_rows,
					       sizeof(linger_rows) / sizeof(linger_rows[0])};
