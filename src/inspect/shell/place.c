/* SPDX-License-Identifier: Apache-2.0 */
/* See place.h. */
#include "inspect/shell/place.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/str.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/*
 * Components that must follow one another somewhere in the path; the first may be `/` (the root) or `~` (a home).
 * `*` within a component stands for any characters.  A final `$` wants the end of the path.
 */
static const struct {
	const char *parts;
	uint64_t place;
} place_rows[] = {
	/* credentials */
	{".ssh/id_*$", PLACE(SECRET)},
	{"id_rsa$", PLACE(SECRET)},
	{"id_dsa$", PLACE(SECRET)},
	{"id_ecdsa$", PLACE(SECRET)},
	{"id_ed25519$", PLACE(SECRET)},
	{".ssh/*_rsa$", PLACE(SECRET)},
	{".ssh/*.pem$", PLACE(SECRET)},
	{".ssh/*key*$", PLACE(SECRET)},
	{".ssh/config$", PLACE(SECRET)},
	{".ssh$", PLACE(SECRET_DIR)},
	{"/etc/ssh/ssh_host_*$", PLACE(SECRET)},
	{".aws/credentials$", PLACE(SECRET)},
	{".aws$", PLACE(SECRET_DIR)},
	{".azure/*$", PLACE(SECRET)},
	{".azure$", PLACE(SECRET_DIR)},
	{".config/gcloud", PLACE(SECRET)},
	{"application_default_credentials.json$", PLACE(SECRET)},
	{".config/doctl", PLACE(SECRET)},
	{".config/gh/hosts.yml$", PLACE(SECRET)},
	{".config/hub$", PLACE(SECRET)},
	{".config/rclone", PLACE(SECRET)},
	{".config/heroku", PLACE(SECRET)},
	{".config/op", PLACE(SECRET)},
	{".config/stripe", PLACE(SECRET)},
	{".oci", PLACE(SECRET)},
	{".kube/config$", PLACE(SECRET)},
	{".kube$", PLACE(SECRET_DIR)},
	{"kubeconfig*$", PLACE(SECRET)},
	{"/etc/kubernetes/admin.conf$", PLACE(SECRET)},
	{"/etc/kubernetes/pki", PLACE(SECRET)},
	{"/var/run/secrets", PLACE(SECRET)},
	{"/run/secrets", PLACE(SECRET)},
	{".docker/config.json$", PLACE(SECRET)},
	{".gnupg$", PLACE(SECRET_DIR)},
	{".gnupg/private-keys-v1.d", PLACE(SECRET)},
	{".gnupg/*.gpg$", PLACE(SECRET)},
	{".password-store", PLACE(SECRET)},
	{".netrc$", PLACE(SECRET)},
	{"_netrc$", PLACE(SECRET)},
	{".pgpass$", PLACE(SECRET)},
	{".my.cnf$", PLACE(SECRET)},
	{".npmrc$", PLACE(SECRET) | PLACE(PACKAGE_CONFIG)},
	{".yarnrc*$", PLACE(PACKAGE_CONFIG)},
	{".pypirc$", PLACE(SECRET)},
	{"pip.conf$", PLACE(PACKAGE_CONFIG)},
	{".gem/credentials$", PLACE(SECRET)},
	{".cargo/credentials*$", PLACE(SECRET)},
	{".cargo/config*$", PLACE(PACKAGE_CONFIG)},
	{".composer/auth.json$", PLACE(SECRET)},
	{".git-credentials$", PLACE(SECRET)},
	{".m2/settings*.xml$", PLACE(SECRET)},
	{".gradle/gradle.properties$", PLACE(SECRET)},
	{"gradle.properties$", PLACE(SECRET)},
	{"key.properties$", PLACE(SECRET)},
	{"google-services.json$", PLACE(SECRET)},
	{"GoogleService-Info.plist$", PLACE(SECRET)},
	{".vault-token$", PLACE(SECRET)},
	{".vault-pass*$", PLACE(SECRET)},
	{".vault_pass*$", PLACE(SECRET)},
	{"vault.y*ml$", PLACE(SECRET)},
	{"master.key$", PLACE(SECRET)},
	{"credentials.yml.enc$", PLACE(SECRET)},
	{"secrets.y*ml$", PLACE(SECRET)},
	{"secrets.json$", PLACE(SECRET)},
	{"credentials.json$", PLACE(SECRET)},
	{"service_account*.json$", PLACE(SECRET)},
	{"service-account*.json$", PLACE(SECRET)},
	{"*.tfstate$", PLACE(SECRET)},
	{"*.tfstate.backup$", PLACE(SECRET)},
	{"*.tfvars$", PLACE(SECRET)},
	{"*.tfvars.json$", PLACE(SECRET)},
	{"*.key$", PLACE(SECRET)},
	{"*.pem$", PLACE(SECRET)},
	{"*.p12$", PLACE(SECRET)},
	{"*.pfx$", PLACE(SECRET)},
	{"*.p8$", PLACE(SECRET)},
	{"*.jks$", PLACE(SECRET)},
	{"*.keystore$", PLACE(SECRET)},
	{"*.ppk$", PLACE(SECRET)},
	{"*.kdbx$", PLACE(SECRET)},
	{"*.ovpn$", PLACE(SECRET)},
	{"private_key*$", PLACE(SECRET)},
	{".htpasswd$", PLACE(SECRET)},
	{"dataSources.xml$", PLACE(SECRET)},
	{".idea/dataSources", PLACE(SECRET)},
	{"wp-config.php$", PLACE(SECRET)},
	{".s3cfg$", PLACE(SECRET)},
	{".boto$", PLACE(SECRET)},
	{".databrickscfg$", PLACE(SECRET)},
	{".snowsql/config$", PLACE(SECRET)},
	{".terraform.d/credentials*$", PLACE(SECRET)},
	{".claude/.credentials.json$", PLACE(SECRET)},
	{".codex/auth.json$", PLACE(SECRET)},
	{"login.keychain*$", PLACE(SECRET)},
	{"/Library/Keychains", PLACE(SECRET)},
	{"~/Library/Keychains", PLACE(SECRET)},
	{".local/share/keyrings", PLACE(SECRET)},
	{"*.keytab$", PLACE(SECRET)},
	{"krb5cc_*$", PLACE(SECRET)},
	{"/etc/NetworkManager/system-connections", PLACE(SECRET)},
	{"/etc/wpa_supplicant*", PLACE(SECRET)},
	{"/etc/wireguard", PLACE(SECRET)},
	{"/etc/ipsec.secrets$", PLACE(SECRET)},
	{"/etc/ppp/*-secrets$", PLACE(SECRET)},
	{"/etc/ssl/private", PLACE(SECRET)},
	{"/etc/letsencrypt/live", PLACE(SECRET)},
	{"/etc/letsencrypt/archive", PLACE(SECRET)},
	{"/etc/mysql/debian.cnf$", PLACE(SECRET)},
	{"/etc/rancher/*/*.yaml$", PLACE(SECRET)},
	{"/var/lib/sss", PLACE(SECRET)},
	{"/var/lib/samba/private", PLACE(SECRET)},
	{"/var/lib/kubelet/pki", PLACE(SECRET)},
	{"/proc/keys$", PLACE(SECRET)},
	{".config/containers/auth.json$", PLACE(SECRET)},
	{".config/git/credentials$", PLACE(SECRET)},
	{".config/sops/age", PLACE(SECRET)},
	{".config/filezilla", PLACE(SECRET)},
	{".config/remmina", PLACE(SECRET)},
	{".config/github-copilot", PLACE(SECRET)},
	{".config/hcloud", PLACE(SECRET)},
	{".config/linode-cli$", PLACE(SECRET)},
	{".config/ngrok", PLACE(SECRET)},
	{".config/Bitwarden*", PLACE(SECRET)},
	{".config/1Password", PLACE(SECRET)},
	{".config/keepassxc", PLACE(SECRET)},
	{".config/vercel", PLACE(SECRET)},
	{".local/share/com.vercel.cli", PLACE(SECRET)},
	{".local/share/kwalletd", PLACE(SECRET)},
	{".fly/config.yml$", PLACE(SECRET)},
	{".netlify/config.json$", PLACE(SECRET)},
	{".railway/config.json$", PLACE(SECRET)},
	{".supabase/access-token$", PLACE(SECRET)},
	{".wrangler/config", PLACE(SECRET)},
	{".aliyun/config.json$", PLACE(SECRET)},
	{".kaggle/kaggle.json$", PLACE(SECRET)},
	{".huggingface/token$", PLACE(SECRET)},
	{"huggingface/token$", PLACE(SECRET)},
	{".sentryclirc$", PLACE(SECRET)},
	{".authinfo*$", PLACE(SECRET)},
	{".msmtprc$", PLACE(SECRET)},
	{".fetchmailrc$", PLACE(SECRET)},
	{".mbsyncrc$", PLACE(SECRET)},
	{".smbcredentials$", PLACE(SECRET)},
	{".davfs2/secrets$", PLACE(SECRET)},
	{".vnc/passwd$", PLACE(SECRET)},
	{".subversion/auth", PLACE(SECRET)},
	{".purple/accounts.xml$", PLACE(SECRET)},
	{".sbt/.credentials$", PLACE(SECRET)},
	{".ivy2/.credentials$", PLACE(SECRET)},
	{".gemini/oauth_creds.json$", PLACE(SECRET)},
	{".tsh/keys", PLACE(SECRET)},
	{".env$", PLACE(ENV_FILE)},
	{".env.*$", PLACE(ENV_FILE)},
	{".envrc$", PLACE(ENV_FILE)},
	{"/etc/shadow*$", PLACE(SHADOW)},
	{"/etc/gshadow*$", PLACE(SHADOW)},
	{"/etc/security/opasswd$", PLACE(SHADOW)},
	{"/etc/master.passwd$", PLACE(SHADOW)},
	{"/etc/passwd*$", PLACE(ACCOUNT)},
	{"/etc/group$", PLACE(ACCOUNT)},
	{"/proc/*/environ$", PLACE(ENVIRON)},
	{"/proc/*/mem$", PLACE(ESCAPE)},
	{"/proc/*/maps$", PLACE(PROCESS)},
	{"/proc/*/cmdline$", PLACE(PROCESS)},
	{"/proc/kcore$", PLACE(ESCAPE)},
	{"/dev/mem$", PLACE(ESCAPE)},
	{"/dev/kmem$", PLACE(ESCAPE)},
	{"google-chrome", PLACE(BROWSER)},
	{".config/chromium", PLACE(BROWSER)},
	{"chromium/Default", PLACE(BROWSER)},
	{"Chrome/Default", PLACE(BROWSER)},
	{"Slack/Cookies$", PLACE(BROWSER)},
	{"BraveSoftware", PLACE(BROWSER)},
	{".mozilla", PLACE(BROWSER)},
	{"Login Data$", PLACE(BROWSER)},
	{"logins.json$", PLACE(BROWSER)},
	{"key4.db$", PLACE(BROWSER)},
	{"cookies.sqlite$", PLACE(BROWSER)},
	{".thunderbird", PLACE(BROWSER)},
	{".config/vivaldi", PLACE(BROWSER)},
	{".config/opera", PLACE(BROWSER)},
	{".config/microsoft-edge", PLACE(BROWSER)},
	{".config/Signal", PLACE(BROWSER)},
	{".config/discord", PLACE(BROWSER)},
	{"wallet.dat$", PLACE(WALLET)},
	{".config/solana/id.json$", PLACE(WALLET)},
	{".config/Exodus", PLACE(WALLET)},
	{".monero", PLACE(WALLET)},
	{".bitcoin", PLACE(WALLET)},
	{".ethereum", PLACE(WALLET)},
	{".electrum", PLACE(WALLET)},
	{".solana/id.json$", PLACE(WALLET)},
	{"seed.txt$", PLACE(WALLET)},
	{"keystore/UTC--*$", PLACE(WALLET)},
	{".*_history$", PLACE(HISTORY)},
	{".history$", PLACE(HISTORY)},
	{".zhistory$", PLACE(HISTORY)},
	{".lesshst$", PLACE(HISTORY)},
	{".viminfo$", PLACE(HISTORY)},
	{"fish_history$", PLACE(HISTORY)},
	/* what is run by itself */
	{".bashrc$", PLACE(STARTUP)},
	{".bash_profile$", PLACE(STARTUP)},
	{".bash_login$", PLACE(STARTUP)},
	{".bash_aliases$", PLACE(STARTUP)},
	{".bash_logout$", PLACE(STARTUP)},
	{".profile$", PLACE(STARTUP)},
	{".zshrc$", PLACE(STARTUP)},
	{".zshenv$", PLACE(STARTUP)},
	{".zprofile$", PLACE(STARTUP)},
	{".zlogin$", PLACE(STARTUP)},
	{".cshrc$", PLACE(STARTUP)},
	{".tcshrc$", PLACE(STARTUP)},
	{".kshrc$", PLACE(STARTUP)},
	{".xinitrc$", PLACE(STARTUP)},
	{".xsession*$", PLACE(STARTUP)},
	{".xprofile$", PLACE(STARTUP)},
	{".inputrc$", PLACE(STARTUP)},
	{".vimrc$", PLACE(STARTUP)},
	{".config/fish/config.fish$", PLACE(STARTUP)},
	{".config/autostart", PLACE(STARTUP)},
	{".config/plasma-workspace", PLACE(STARTUP)},
	{".config/environment.d", PLACE(STARTUP)},
	{".pam_environment$", PLACE(STARTUP)},
	{".emacs$", PLACE(STARTUP)},
	{".emacs.d/init.el$", PLACE(STARTUP)},
	{".tmux.conf$", PLACE(STARTUP)},
	{".screenrc$", PLACE(STARTUP)},
	{".gdbinit$", PLACE(STARTUP)},
	{".lldbinit$", PLACE(STARTUP)},
	{".irbrc$", PLACE(STARTUP)},
	{".pryrc$", PLACE(STARTUP)},
	{".psqlrc$", PLACE(STARTUP)},
	{".sqliterc$", PLACE(STARTUP)},
	{".Rprofile$", PLACE(STARTUP)},
	{".config/nushell", PLACE(STARTUP)},
	{".config/powershell", PLACE(STARTUP)},
	{"/etc/profile$", PLACE(STARTUP)},
	{"/etc/profile.d", PLACE(STARTUP)},
	{"/etc/bash.bashrc$", PLACE(STARTUP)},
	{"/etc/bashrc$", PLACE(STARTUP)},
	{"/etc/zsh", PLACE(STARTUP)},
	{"/etc/environment$", PLACE(STARTUP)},
	{"/etc/xdg/autostart", PLACE(STARTUP)},
	{"sitecustomize.py$", PLACE(STARTUP)},
	{"usercustomize.py$", PLACE(STARTUP)},
	{"*.pth$", PLACE(STARTUP)},
	{"/etc/crontab$", PLACE(CRON)},
	{"/etc/cron.*", PLACE(CRON)},
	{"etc/cron.d", PLACE(CRON)},
	{"/etc/anacrontab$", PLACE(CRON)},
	{"/var/spool/cron", PLACE(CRON)},
	{"/var/spool/at", PLACE(CRON)},
	{"/etc/at.*$", PLACE(CRON)},
	{"/etc/periodic", PLACE(CRON)},
	{"/etc/systemd/system", PLACE(UNIT)},
	{"/etc/systemd/user", PLACE(UNIT)},
	{"/lib/systemd/system", PLACE(UNIT)},
	{"/usr/lib/systemd/system", PLACE(UNIT)},
	{"/usr/local/lib/systemd", PLACE(UNIT)},
	{"/run/systemd/system", PLACE(UNIT)},
	{".config/systemd/user", PLACE(UNIT)},
	{".local/share/systemd", PLACE(UNIT)},
	{"/Library/LaunchAgents", PLACE(UNIT)},
	{"/Library/LaunchDaemons", PLACE(UNIT)},
	{"~/Library/LaunchAgents", PLACE(UNIT)},
	{"/etc/init.d", PLACE(BOOT)},
	{"/etc/rc*", PLACE(BOOT)},
	{"/etc/init", PLACE(BOOT)},
	{"/etc/inittab$", PLACE(BOOT)},
	{"/etc/update-motd.d", PLACE(BOOT)},
	{"/etc/motd$", PLACE(BOOT)},
	{"/etc/network/if-*", PLACE(BOOT)},
	{"/etc/NetworkManager/dispatcher.d", PLACE(BOOT)},
	{"/etc/udev/rules.d", PLACE(BOOT)},
	{"/lib/udev/rules.d", PLACE(BOOT)},
	{"/usr/lib/udev/rules.d", PLACE(BOOT)},
	{"/etc/environment.d", PLACE(BOOT)},
	{"/etc/dhcp/dhclient-*", PLACE(BOOT)},
	{"/etc/ppp/ip-*", PLACE(BOOT)},
	{"/etc/modules-load.d", PLACE(BOOT)},
	{"/etc/modules$", PLACE(BOOT)},
	{"/etc/apt/apt.conf.d", PLACE(BOOT)},
	{"/etc/dnf/plugins", PLACE(BOOT)},
	{"/etc/yum/pluginconf.d", PLACE(BOOT)},
	{"/usr/lib/python*", PLACE(SYSTEM)},
	{".ssh/authorized_keys*$", PLACE(AUTHORIZED)},
	{".ssh/rc$", PLACE(STARTUP)},
	{".ssh/environment$", PLACE(STARTUP)},
	{"~/.mailcap$", PLACE(STARTUP)},
	{"~/.logout$", PLACE(STARTUP)},
	{"~/.config/autostart-scripts", PLACE(STARTUP)},
	{"~/.config/nvim/init.*$", PLACE(STARTUP)},
	{"~/.config/nvim/plugin", PLACE(STARTUP)},
	{"~/.config/i3/config$", PLACE(STARTUP)},
	{"~/.config/sway/config$", PLACE(STARTUP)},
	{"~/.config/hypr/hyprland.conf$", PLACE(STARTUP)},
	{"~/.config/mpv/scripts", PLACE(STARTUP)},
	{"~/.julia/config/startup.jl$", PLACE(STARTUP)},
	{"~/.gradle/init.gradle*$", PLACE(STARTUP)},
	{"~/.gradle/init.d", PLACE(STARTUP)},
	{"~/.config/git/config$", PLACE(PACKAGE_CONFIG)},
	{"~/.wgetrc$", PLACE(PACKAGE_CONFIG)},
	{"~/.curlrc$", PLACE(PACKAGE_CONFIG)},
	{".forward$", PLACE(STARTUP)},
	{".procmailrc$", PLACE(STARTUP)},
	{".qmail$", PLACE(STARTUP)},
	{".rhosts$", PLACE(AUTHORIZED)},
	{"/etc/hosts.equiv$", PLACE(AUTHORIZED)},
	{"/etc/ssh/sshd_config*", PLACE(PAM)},
	{"/etc/sudoers*", PLACE(SUDOERS)},
	{"/etc/doas.conf$", PLACE(SUDOERS)},
	{"/etc/polkit-1", PLACE(SUDOERS)},
	{"/etc/pam.d", PLACE(PAM)},
	{"/etc/pam.conf$", PLACE(PAM)},
	{"/etc/security", PLACE(PAM)},
	{"/etc/login.defs$", PLACE(PAM)},
	{"/etc/nsswitch.conf$", PLACE(RESOLVER)},
	{"/etc/hosts$", PLACE(RESOLVER)},
	{"/etc/resolv.conf$", PLACE(RESOLVER)},
	{"/etc/ld.so.preload$", PLACE(PRELOAD)},
	{"/etc/ld.so.conf*", PLACE(PRELOAD)},
	{".git/hooks", PLACE(GIT_HOOK)},
	{".husky", PLACE(GIT_HOOK)},
	{".git", PLACE(GIT)},
	{"*.git/objects", PLACE(GIT)},
	{"*.git/refs", PLACE(GIT)},
	{".gitconfig$", PLACE(PACKAGE_CONFIG)},
	/* agents and cordon itself */
	{".claude/settings*.json$", PLACE(AGENT)},
	{".claude/hooks", PLACE(AGENT)},
	{".claude/agents", PLACE(AGENT)},
	{".claude/commands", PLACE(AGENT)},
	{".claude/skills", PLACE(AGENT)},
	{".claude$", PLACE(AGENT)},
	{".claude.json$", PLACE(AGENT)},
	{"CLAUDE.md$", PLACE(AGENT)},
	{"AGENTS.md$", PLACE(AGENT)},
	{"GEMINI.md$", PLACE(AGENT)},
	{".mcp.json$", PLACE(AGENT)},
	{"mcp.json$", PLACE(AGENT)},
	{".cursor", PLACE(AGENT)},
	{".cursorrules$", PLACE(AGENT)},
	{".windsurf", PLACE(AGENT)},
	{".windsurfrules$", PLACE(AGENT)},
	{".clinerules", PLACE(AGENT)},
	{".continue", PLACE(AGENT)},
	{".codex", PLACE(AGENT)},
	{".gemini", PLACE(AGENT)},
	{".agents", PLACE(AGENT)},
	{".github/copilot-instructions.md$", PLACE(AGENT)},
	{".vscode/settings.json$", PLACE(AGENT)},
	{".vscode/tasks.json$", PLACE(AGENT)},
	{"claude_desktop_config.json$", PLACE(AGENT)},
	{".cordon.yaml$", PLACE(CORDON)},
	{".config/cordon", PLACE(CORDON)},
	{".local/state/cordon", PLACE(CORDON)},
	{"/etc/cordon", PLACE(CORDON)},
	{".cloneguard", PLACE(CORDON)},
	/* the system */
	{"/var/db/dslocal", PLACE(SHADOW)},
	{"Library/Messages", PLACE(SECRET_DIR)},
	{"/var/log", PLACE(LOG)},
	{"/var/run/utmp$", PLACE(LOG)},
	{"/var/spool/mail", PLACE(LOG)},
	{"/var/mail", PLACE(LOG)},
	{"/proc/sys/kernel/core_pattern$", PLACE(KERNEL)},
	{"/proc/sys/kernel/modprobe$", PLACE(KERNEL)},
	{"/proc/sys/kernel/yama", PLACE(KERNEL)},
	{"/proc/sys/kernel/randomize_va_space$", PLACE(KERNEL)},
	{"/proc/sysrq-trigger$", PLACE(KERNEL)},
	{"/proc/sys/fs/binfmt_misc", PLACE(KERNEL)},
	{"/sys/kernel/uevent_helper$", PLACE(KERNEL)},
	{"/sys/fs/selinux", PLACE(KERNEL)},
	{"release_agent$", PLACE(KERNEL)},
	{"notify_on_release$", PLACE(KERNEL)},
	{"docker.sock$", PLACE(ENGINE)},
	{"containerd.sock$", PLACE(ENGINE)},
	{"podman.sock$", PLACE(ENGINE)},
	{"crio.sock$", PLACE(ENGINE)},
	{"/proc/1/root", PLACE(ESCAPE)},
	{"/proc/1/ns", PLACE(ESCAPE)},
	{"/proc/*/ns/mnt$", PLACE(ESCAPE)},
	{"/proc/*/cwd", PLACE(ESCAPE)},
	{"/etc/ufw", PLACE(SECURITY)},
	{"/etc/default/ufw$", PLACE(SECURITY)},
	{"/etc/iptables", PLACE(SECURITY)},
	{"/etc/nftables.conf$", PLACE(SECURITY)},
	{"/etc/audit", PLACE(SECURITY)},
	{"/etc/audisp", PLACE(SECURITY)},
	{"/etc/selinux", PLACE(SECURITY)},
	{"/etc/apparmor*", PLACE(SECURITY)},
	{"/etc/rsyslog*", PLACE(SECURITY)},
	{"/etc/syslog*", PLACE(SECURITY)},
	{"/etc/fail2ban", PLACE(SECURITY)},
	{"/etc/pf.conf$", PLACE(SECURITY)},
	{"/etc/firewalld", PLACE(SECURITY)},
	{"/var/www", PLACE(WEB)},
	{"*.sqlite$", PLACE(DATABASE)},
	{"*.sqlite3$", PLACE(DATABASE)},
	{"*.db$", PLACE(DATABASE)},
	{"/var/lib/mysql", PLACE(DATABASE)},
	{"/var/lib/postgresql", PLACE(DATABASE)},
	{"/bin", PLACE(BINARY)},
	{"/sbin", PLACE(BINARY)},
	{"/usr/bin", PLACE(BINARY)},
	{"/usr/sbin", PLACE(BINARY)},
	{"/usr/local/bin", PLACE(BINARY)},
};

static const char *const place_tops[] = {
	"bin",          "boot",    "dev",     "etc",   "home", "lib",   "lib32",  "lib64",
	"libx32",       "mnt",     "opt",     "proc",  "root", "run",   "sbin",   "srv",
	"sys",          "usr",     "var",     "media", "tmp",  "Users", "System", "Library",
	"Applications", "Volumes", "private", "snap",  "nix",
};

/* Below these nothing belongs to a project. */
static const char *const place_system[] = {"bin",   "boot",  "dev",          "etc",     "lib",
					   "lib32", "lib64", "proc",         "sbin",    "sys",
					   "usr",   "var",   "System",       "Library", "run",
					   "snap",  "opt",   "Applications", "srv"};

/* Copies one component; the canonical path so far decides what .. means. */
static size_t place_push(char *ret, size_t n, size_t size, const char *part, size_t len)
{
	if (len == 0 || (len == 1 && part[0] == '.'))
		return n;
	if (len == 2 && part[0] == '.' && part[1] == '.') {
		size_t cut = n;

		while (cut > 0 && ret[cut - 1] != '/')
			cut--;
		if (n == 0 || (n - cut == 2 && memcmp(ret + cut, "..", 2) == 0))
			goto keep;
		if (n == 1 && ret[0] == '/')
			return n;
		if (n == 1 && ret[0] == '~') {
			memcpy(ret, "/home", 5);
			return 5;
		}
		return cut > 1 ? cut - 1 : cut;
	}
keep:
	if (n + len + 2 > size)
		return 0;
	if (n > 0 && ret[n - 1] != '/')
		ret[n++] = '/';
	memcpy(ret + n, part, len);
	return n + len;
}

static size_t place_append(char *ret, size_t n, size_t size, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		n = place_push(ret, n, size, path, len);
		path += len;
		path += *path == '/';
	}
	return n;
}

/* /home/x, /root and /Users/x are homes. */
static size_t place_homes(const struct inspect_context *c, char *p, size_t n)
{
	size_t cut = 0;

	if (c && c->home && str_starts(p, c->home) && c->home[1])
		cut = strlen(c->home);
	else if (str_starts(p, "/root"))
		cut = 5;
	else if (str_starts(p, "/home/") && p[6] && p[6] != '*')
		cut = 6 + strcspn(p + 6, "/");
	else if (str_starts(p, "/Users/") && p[7] && p[7] != '*')
		cut = 7 + strcspn(p + 7, "/");
	if (cut == 0 || (p[cut] && p[cut] != '/'))
		return n;
	memmove(p + 1, p + cut, n - cut + 1);
	p[0] = '~';
	return n - cut + 1;
}

size_t place_canonical(const struct inspect_context *c, const char *path, const char *cwd,
		       char *ret, size_t size)
{
	size_t n = 0;

	if (str_starts(path, "file://"))
		path += 7;
	if (str_starts(path, "/proc/self/root/"))
		path += strlen("/proc/self/root");
	if (*path == '/' || (cwd && *cwd == '/' && *path != '~')) {
		ret[0] = '/';
		n = 1;
	}
	if (*path != '/' && *path != '~' && cwd)
		n = place_append(ret, n, size, cwd);
	n = place_append(ret, n, size, path);
	ret[n] = '\0';
	if (c && c->cwd && c->cwd[1] && ret[0] == '/' && path_is_within(ret, c->cwd)) {
		size_t cut = strlen(c->cwd);

		cut += ret[cut] == '/';
		memmove(ret, ret + cut, n - cut + 1);
		n -= cut;
		if (n == 0) {
			memcpy(ret, ".", 2);
			n = 1;
		}
	}
	return place_homes(c, ret, n);
}

/* Has a glob enough letters of its own to mean something? */
static bool place_says(const char *s)
{
	size_t letters = 0;

	for (; *s; s++) {
		if (*s == '[')
			s += strcspn(s, "]");
		else
			letters += *s != '*' && *s != '?' && *s != '.';
		if (!*s)
			break;
	}
	return letters >= 3;
}

/* *.txt names files by their kind, and a secret among them is chance. */
static bool place_is_kind(const char *s)
{
	return s[0] == '*' && s[1] == '.' && !strpbrk(s + 1, "*?[");
}

/* Does one component of a pattern fit one of a path?  Either may have stars. */
static bool place_part(const char *want, size_t n, const char *have, size_t k, bool is_glob)
{
	__attribute__((uninitialized)) char a[128], b[256];
	const char *star = memchr(want, '*', n);

	if (n == k && memcmp(want, have, n) == 0)
		return true;
	/* One star: what stands before and behind it. */
	if (star && !is_glob && !memchr(star + 1, '*', (size_t)(want + n - star - 1))) {
		size_t before = (size_t)(star - want), behind = n - before - 1;

		return k >= before + behind && memcmp(want, have, before) == 0 &&
		       memcmp(star + 1, have + k - behind, behind) == 0;
	}
	if (n >= sizeof(a) || k >= sizeof(b))
		return false;
	if (star || is_glob) {
		memcpy(a, want, n);
		a[n] = '\0';
		memcpy(b, have, k);
		b[k] = '\0';
		if (star && glob_match(a, b))
			return true;
		if (is_glob && strcspn(b, "*?[") == n && strncmp(a, b, n) == 0)
			return true;
		/* shadow* is shadow too, of which a pattern may mean a letter */
		if (is_glob && star && a[n - 1] == '*')
			a[n - 1] = '\0';
		/* A star alone could be anything and says nothing. */
		return is_glob && place_says(b) && glob_match(b, a) &&
		       (!place_is_kind(b) || strcmp(a, b + 1) == 0);
	}
	return false;
}

static bool place_fits(const char *parts, const char *path, bool is_glob)
{
	while (*parts) {
		size_t n = strcspn(parts, "/$");
		size_t k = strcspn(path, "/");

		if (k == 0 || !place_part(parts, n, path, k, is_glob))
			return false;
		parts += n;
		path += k;
		path += *path == '/';
		if (*parts == '$')
			return *path == '\0';
		parts += *parts == '/';
	}
	return true;
}

/*
 * Rows by the first byte of what they want: of the component behind the root, behind the home, or of any.  A row whose
 * first component begins with a star is in the list of the star.
 */
enum place_list { PLACE_ANYWHERE, PLACE_ROOTED, PLACE_AT_HOME, PLACE_LISTS };

static uint16_t place_heads[PLACE_LISTS][128]; /* row + 1 */
static uint16_t place_next[sizeof(place_rows) / sizeof(place_rows[0])];
static pthread_once_t place_once = PTHREAD_ONCE_INIT;

/* What a row wants behind its root. */
static const char *place_rest(const char *parts)
{
	return parts + (parts[0] == '/') + 2 * (parts[0] == '~');
}

static enum place_list place_list_of(char first)
{
	return first == '/' ? PLACE_ROOTED : first == '~' ? PLACE_AT_HOME : PLACE_ANYWHERE;
}

static void place_index(void)
{
	for (size_t i = 0; i < sizeof(place_rows) / sizeof(place_rows[0]); i++) {
		const char *parts = place_rows[i].parts;
		uint16_t *head = &place_heads[place_list_of(parts[0])][*place_rest(parts) & 0x7f];

		place_next[i] = *head;
		*head = (uint16_t)(i + 1);
	}
}

static uint64_t place_listed(enum place_list list, char first, const char *path, bool is_glob)
{
	uint64_t place = 0;

	for (uint16_t i = place_heads[list][first & 0x7f]; i; i = place_next[i - 1])
		if (place_fits(place_rest(place_rows[i - 1].parts), path, is_glob))
			place |= place_rows[i - 1].place;
	return place;
}

/* Rows that may fit a path, or a part of one, which begins at a component. */
static uint64_t place_from(enum place_list list, const char *path, bool is_glob)
{
	uint64_t place = 0;

	if (!*path)
		return 0;
	/* A pattern for the first component may mean any of them. */
	if (is_glob && strchr("*?[", *path)) {
		for (char c = 1; c > 0 && c < 127; c++)
			place |= place_listed(list, c, path, is_glob);
		return place;
	}
	place = place_listed(list, '*', path, is_glob);
	return place |
	       (*path & 0x80 || *path == '*' ? 0 : place_listed(list, *path, path, is_glob));
}

static uint64_t place_named(const char *path, bool is_glob)
{
	const char *below = path + (path[0] == '/' || path[0] == '~');
	uint64_t place = 0;

	(void)pthread_once(&place_once, place_index);
	below += *below == '/';
	if (place_list_of(path[0]) != PLACE_ANYWHERE)
		place = place_from(place_list_of(path[0]), below, is_glob);
	for (const char *p = path; *p;) {
		if (*p != '/')
			place |= place_from(PLACE_ANYWHERE, p, is_glob);
		p += strcspn(p, "/");
		p += *p == '/';
	}
	return place;
}

static bool place_is_one_of(const char *const *names, size_t n, const char *s, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == len && memcmp(names[i], s, len) == 0)
			return true;
	return false;
}

static bool place_is_disk(const char *p)
{
	static const char *const names[] = {"sd",     "hd",      "vd",   "xvd",  "nvme",
					    "mmcblk", "dm-",     "md",   "loop", "disk",
					    "rdisk",  "mapper/", "pmem", "ada",  "da",
					    "nbd",    "zd",      "sr",   "ram"};

	if (!str_starts(p, "/dev/"))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(p + 5, names[i], n) == 0 && p[5 + n] && !strchr("\001", p[5 + n]))
			return true;
	}
	return false;
}

/* Everything below dir: "dir", "dir/", "dir/ *" and "dir/.*". */
static bool place_is_all(const char *rest)
{
	return *rest == '\0' || strcmp(rest, "/") == 0 || strcmp(rest, "/*") == 0 ||
	       strcmp(rest, "/.*") == 0 || strcmp(rest, "/**") == 0 || strcmp(rest, "/*.*") == 0;
}

static uint64_t place_extent(const char *p)
{
	size_t len;
	uint64_t place = PLACE(ABSOLUTE);

	if (p[0] == '~' && (p[1] == '/' || !p[1]))
		return place_is_all(p + 1) ? PLACE(HOME) : PLACE(HOME_BELOW);
	if (p[0] == '~')
		return place_is_all(p + strcspn(p, "/")) ? PLACE(HOME) : PLACE(HOME_BELOW);
	if (p[0] != '/') {
		if (str_starts(p, ".."))
			return PLACE(PARENT);
		if (strcmp(p, ".") == 0 || !*p || strcmp(p, "*") == 0 || strcmp(p, ".*") == 0 ||
		    strcmp(p, "**") == 0)
			return PLACE(CWD);
		return 0;
	}
	if (place_is_all(p) || place_is_all(p + 1))
		return PLACE(ROOT);
	len = strcspn(p + 1, "/");
	if (place_is_disk(p))
		return PLACE(DEVICE) | PLACE(SYSTEM);
	if (str_starts(p, "/tmp/") || str_starts(p, "/var/tmp/") || str_starts(p, "/dev/shm/") ||
	    str_starts(p, "/private/tmp/") || str_starts(p, "/var/folders/"))
		return place_is_all(strchr(p + 1, '/')) ? PLACE(ABSOLUTE) : PLACE(TEMPORARY);
	if (place_is_one_of(place_tops, sizeof(place_tops) / sizeof(place_tops[0]), p + 1, len) &&
	    place_is_all(p + 1 + len))
		place |= PLACE(TOP);
	if (place_is_one_of(place_system, sizeof(place_system) / sizeof(place_system[0]), p + 1,
			    len))
		place |= PLACE(SYSTEM);
	if (strcmp(p, "/dev/null") == 0 || str_starts(p, "/dev/std") || str_starts(p, "/dev/fd/") ||
	    str_starts(p, "/dev/tty") || str_starts(p, "/dev/pts") || str_starts(p, "/dev/tcp/") ||
	    str_starts(p, "/dev/udp/") || strcmp(p, "/dev/zero") == 0 ||
	    str_starts(p, "/dev/urandom") || str_starts(p, "/dev/random"))
		return PLACE(ABSOLUTE);
	return place;
}

/* Names that look like credentials and are none. */
static uint64_t place_harmless(const char *p, uint64_t place)
{
	static const char *const samples[] = {".example", ".sample", ".template", ".dist", ".pub",
					      ".md",      ".txt",    ".defaults", ".tpl"};
	const char *base = path_base(p);

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		if (str_ends(base, samples[i]) && strcmp(base, "seed.txt") != 0)
			place &= ~(PLACE(SECRET) | PLACE(ENV_FILE));
	if (str_ends(base, ".pem") && (str_starts(base, "ca") || str_starts(base, "cert") ||
				       str_starts(base, "fullchain") || str_starts(base, "chain")))
		place &= ~PLACE(SECRET);
	if (str_ends(base, ".db") && (str_starts(p, "/var/cache") || str_starts(base, "Thumbs")))
		place &= ~PLACE(DATABASE);
	return place;
}

uint64_t place_of(const struct inspect_context *c, const char *path, const char *cwd, bool is_glob)
{
	__attribute__((uninitialized)) char p[LIMIT_PATH_BYTES];
	uint64_t place = PLACE(SEEN);

	if (!*path || strlen(path) + (cwd ? strlen(cwd) : 0) + 16 > sizeof(p) ||
	    strpbrk(path, "\n"))
		return place;
	/* http://, user@host:path and the like are no files of ours */
	if (strstr(path, "://") && !str_starts(path, "file://"))
		return place;
	(void)place_canonical(c, path, cwd, p, sizeof(p));
	if (p[0] == SHELL_PLACE_UNKNOWN)
		place |= PLACE(UNKNOWN);
	place |= place_extent(p) | place_named(p, is_glob);
	return place_harmless(p, place);
}
