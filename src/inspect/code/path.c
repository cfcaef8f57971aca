/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths and addresses in code.  Tables of parts: a path may begin with a hole (an unknown home), so what
 * is looked for is a piece of it, at the start or at the end.
 */
#include "inspect/code/rule.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { AT_START, AT_END, ANYWHERE, WHOLE };

static const struct {
	const char *text;
	int where;
	unsigned class;
} places[] = {
	{"/.ssh/id_", ANYWHERE, CODE_PATH_SECRET},
	{"/.aws/credentials", ANYWHERE, CODE_PATH_SECRET},
	{"/.aws/config", ANYWHERE, CODE_PATH_SECRET},
	{"/.netrc", ANYWHERE, CODE_PATH_SECRET},
	{"/.git-credentials", ANYWHERE, CODE_PATH_SECRET},
	{"/.kube/config", ANYWHERE, CODE_PATH_SECRET},
	{"/.docker/config.json", ANYWHERE, CODE_PATH_SECRET},
	{"/.gnupg/", ANYWHERE, CODE_PATH_SECRET},
	{"/.pypirc", AT_END, CODE_PATH_SECRET},
	{"/.npmrc", AT_END, CODE_PATH_SECRET},
	{"/.config/gcloud", ANYWHERE, CODE_PATH_SECRET},
	{"/.azure/", ANYWHERE, CODE_PATH_SECRET},
	{"/.vault-token", ANYWHERE, CODE_PATH_SECRET},
	{"/.bash_history", AT_END, CODE_PATH_SECRET},
	{"/.zsh_history", AT_END, CODE_PATH_SECRET},
	{"/.mozilla/firefox", ANYWHERE, CODE_PATH_SECRET},
	{"/google-chrome/", ANYWHERE, CODE_PATH_SECRET},
	{"/Chrome/User Data", ANYWHERE, CODE_PATH_SECRET},
	{"\\Chrome\\User Data", ANYWHERE, CODE_PATH_SECRET},
	{"/Login Data", AT_END, CODE_PATH_SECRET},
	{"\\Local Storage\\leveldb", ANYWHERE, CODE_PATH_SECRET},
	{"/wallet.dat", AT_END, CODE_PATH_SECRET},
	{"/.config/gh/", ANYWHERE, CODE_PATH_SECRET},
	{"/.config/hub", ANYWHERE, CODE_PATH_SECRET},
	{"/.config/rclone/", ANYWHERE, CODE_PATH_SECRET},
	{"/.config/op/", ANYWHERE, CODE_PATH_SECRET},
	{"/.cargo/credentials", ANYWHERE, CODE_PATH_SECRET},
	{"/.gem/credentials", ANYWHERE, CODE_PATH_SECRET},
	{"/.pgpass", ANYWHERE, CODE_PATH_SECRET},
	{"/.my.cnf", ANYWHERE, CODE_PATH_SECRET},
	{"/.s3cfg", ANYWHERE, CODE_PATH_SECRET},
	{"/.terraform.d/credentials", ANYWHERE, CODE_PATH_SECRET},
	{"/.claude/.credentials", ANYWHERE, CODE_PATH_SECRET},
	{"/.codex/auth.json", ANYWHERE, CODE_PATH_SECRET},
	{"/.bitcoin/", ANYWHERE, CODE_PATH_SECRET},
	{"/.config/solana/id.json", ANYWHERE, CODE_PATH_SECRET},
	{"/exodus.wallet", ANYWHERE, CODE_PATH_SECRET},
	{"/.electrum/wallets", ANYWHERE, CODE_PATH_SECRET},
	{"/Local Extension Settings", ANYWHERE, CODE_PATH_SECRET},
	{"\\Local Extension Settings", ANYWHERE, CODE_PATH_SECRET},
	{"/.aws", AT_END, CODE_PATH_SECRET},
	{"/.ssh", AT_END, CODE_PATH_SECRET},
	{"/.kube", AT_END, CODE_PATH_SECRET},
	{"/.password-store", ANYWHERE, CODE_PATH_SECRET},
	{"/proc/self/mem", AT_START, CODE_PATH_TAKEOVER},
	{"/proc/kcore", AT_START, CODE_PATH_SECRET},
	{"/.ethereum/keystore", ANYWHERE, CODE_PATH_SECRET},
	{"/Library/Keychains", ANYWHERE, CODE_PATH_SECRET},
	{"/etc/shadow", AT_START, CODE_PATH_SECRET | CODE_PATH_TAKEOVER},
	{"/etc/gshadow", AT_START, CODE_PATH_SECRET | CODE_PATH_TAKEOVER},
	{"/etc/ssl/private", AT_START, CODE_PATH_SECRET},
	{"/proc/1/environ", AT_START, CODE_PATH_SECRET},
	{"/var/run/secrets", AT_START, CODE_PATH_SECRET},
	{"/.ssh/authorized_keys", ANYWHERE, CODE_PATH_TAKEOVER | CODE_PATH_PERSIST},
	{"/etc/passwd", AT_START, CODE_PATH_TAKEOVER | CODE_PATH_PRIVATE},
	{"/etc/sudoers", AT_START, CODE_PATH_TAKEOVER | CODE_PATH_PRIVATE},
	{"/etc/ld.so.preload", AT_START, CODE_PATH_TAKEOVER},
	{"/etc/pam.d/", AT_START, CODE_PATH_TAKEOVER},
	{"/etc/ssh/sshd_config", AT_START, CODE_PATH_TAKEOVER},
	{"/.bashrc", AT_END, CODE_PATH_PERSIST},
	{"/.bash_profile", AT_END, CODE_PATH_PERSIST},
	{"/.bash_logout", AT_END, CODE_PATH_PERSIST},
	{"/.profile", AT_END, CODE_PATH_PERSIST},
	{"/.zshrc", AT_END, CODE_PATH_PERSIST},
	{"/.zshenv", AT_END, CODE_PATH_PERSIST},
	{"/.config/fish/config.fish", AT_END, CODE_PATH_PERSIST},
	{"/.config/autostart/", ANYWHERE, CODE_PATH_PERSIST},
	{"/.config/systemd/user", ANYWHERE, CODE_PATH_PERSIST},
	{"/Start Menu/Programs/Startup", ANYWHERE, CODE_PATH_PERSIST},
	{"\\Programs\\Startup", ANYWHERE, CODE_PATH_PERSIST},
	{"/LaunchAgents/", ANYWHERE, CODE_PATH_PERSIST},
	{"/LaunchDaemons/", ANYWHERE, CODE_PATH_PERSIST},
	{"/.git/hooks/", ANYWHERE, CODE_PATH_PERSIST},
	{"/.claude/settings.json", AT_END, CODE_PATH_PERSIST},
	{"/.claude/settings.local.json", AT_END, CODE_PATH_PERSIST},
	{"/.claude.json", AT_END, CODE_PATH_PERSIST},
	{"/.codex/config.toml", AT_END, CODE_PATH_PERSIST},
	{"/.gemini/settings.json", AT_END, CODE_PATH_PERSIST},
	{"/.cursor/mcp.json", AT_END, CODE_PATH_PERSIST},
	{"/.config/cordon/", ANYWHERE, CODE_PATH_PERSIST},
	{"/.zprofile", AT_END, CODE_PATH_PERSIST},
	{"/.xprofile", AT_END, CODE_PATH_PERSIST},
	{"/.config/environment.d/", ANYWHERE, CODE_PATH_PERSIST},
	{"/usercustomize.py", AT_END, CODE_PATH_PERSIST},
	{"/sitecustomize.py", AT_END, CODE_PATH_PERSIST},
	{"/etc/cron", AT_START, CODE_PATH_PERSIST},
	{"/var/spool/cron", AT_START, CODE_PATH_PERSIST},
	{"/etc/systemd/system", AT_START, CODE_PATH_PERSIST},
	{"/etc/init.d/", AT_START, CODE_PATH_PERSIST},
	{"/etc/rc.local", AT_START, CODE_PATH_PERSIST},
	{"/etc/profile", AT_START, CODE_PATH_PERSIST},
	{"/etc/bash.bashrc", AT_START, CODE_PATH_PERSIST},
	{"/etc/environment", AT_START, CODE_PATH_PERSIST},
	{"/etc/hosts", WHOLE, CODE_PATH_SYSTEM},
	{"/usr/", AT_START, CODE_PATH_SYSTEM},
	{"/usr", WHOLE, CODE_PATH_SYSTEM},
	{"/etc", WHOLE, CODE_PATH_SYSTEM},
	{"/bin", WHOLE, CODE_PATH_SYSTEM},
	{"/sbin", WHOLE, CODE_PATH_SYSTEM},
	{"/lib", WHOLE, CODE_PATH_SYSTEM},
	{"/var", WHOLE, CODE_PATH_SYSTEM},
	{"/var/lib", WHOLE, CODE_PATH_SYSTEM},
	{"/opt", WHOLE, CODE_PATH_SYSTEM},
	{"/srv", WHOLE, CODE_PATH_SYSTEM},
	{"/bin/", AT_START, CODE_PATH_SYSTEM},
	{"/sbin/", AT_START, CODE_PATH_SYSTEM},
	{"/lib/", AT_START, CODE_PATH_SYSTEM},
	{"/lib64/", AT_START, CODE_PATH_SYSTEM},
	{"/boot", AT_START, CODE_PATH_SYSTEM},
	{"/etc/", AT_START, CODE_PATH_SYSTEM},
	{"/root", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"/var/log", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"/var/lib/", AT_START, CODE_PATH_SYSTEM},
	{"/var/backups", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"/var/mail", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"/var/spool", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"/sys/", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"/proc/", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"/dev/sd", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"/dev/nvme", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"/dev/mem", AT_START, CODE_PATH_SYSTEM | CODE_PATH_PRIVATE},
	{"C:\\Windows", AT_START, CODE_PATH_SYSTEM},
	{"/", WHOLE, CODE_PATH_ROOT},
	{"/*", WHOLE, CODE_PATH_ROOT},
	{"~", WHOLE, CODE_PATH_ROOT},
	{"~/", WHOLE, CODE_PATH_ROOT},
	{"/home", WHOLE, CODE_PATH_ROOT},
	{"C:\\", WHOLE, CODE_PATH_ROOT},
	{"/tmp/", AT_START, CODE_PATH_TEMP},
	{"/var/tmp/", AT_START, CODE_PATH_TEMP},
	{"/dev/shm/", AT_START, CODE_PATH_TEMP},
};

/* Files of the system that programs read to know where they run. */
static const char *const ordinary[] = {
	"/proc/self",          "/proc/cpuinfo",
	"/proc/meminfo",       "/proc/stat",
	"/proc/mounts",        "/proc/version",
	"/proc/uptime",        "/proc/loadavg",
	"/proc/filesystems",   "/proc/sys/net/core/somaxconn",
	"/sys/fs/cgroup",      "/sys/devices/system/cpu",
	"/sys/class/net",      "/proc/net/",
	"/usr/share/zoneinfo",
};

static bool place_matches(const char *path, size_t len, const char *text, int where)
{
	size_t n = strlen(text);

	if (n > len)
		return false;
	switch (where) {
	case AT_START:
		return memcmp(path, text, n) == 0;
	case AT_END:
		return memcmp(path + len - n, text, n) == 0;
	case WHOLE:
		return n == len && memcmp(path, text, n) == 0;
	default:
		return memmem(path, len, text, n) != NULL;
	}
}

/* Removes /./ and x/../ so that a way around a name is the name. */
static size_t path_plain(const char *path, size_t len, char *out, size_t size)
{
	size_t n = 0, i = 0;

	if (len >= size)
		return 0;
	while (i < len) {
		size_t end = i;

		while (end < len && path[end] != '/')
			end++;
		if (end - i == 2 && memcmp(path + i, "..", 2) == 0 && n > 0) {
			if (n > 1 && out[n - 1] == '/')
				n--;
			while (n > 0 && out[n - 1] != '/')
				n--;
		} else if (!(end - i == 1 && path[i] == '.') && !(end == i && n > 0)) {
			memcpy(out + n, path + i, end - i);
			n += end - i;
			if (end < len)
				out[n++] = '/';
		}
		i = end + 1;
	}
	return n;
}

/* /home/NAME and nothing below it: somebody's home as a whole. */
static bool path_is_home(const char *path, size_t len)
{
	static const char *const homes[] = {"/home/", "/Users/"};

	while (len > 0 && path[len - 1] == '/')
		len--;
	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		size_t n = strlen(homes[i]);

		if (len > n && memcmp(path, homes[i], n) == 0 && !memchr(path + n, '/', len - n))
			return true;
	}
	return false;
}

/* What a project keeps for git and for agents, as a program in its directory names it. */
static bool path_is_of_project(const char *path, size_t len, const char *text)
{
	static const char *const dirs[] = {".git/", ".claude/", ".codex/", ".gemini/", ".cursor/"};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (strncmp(text, "/", 1) == 0 && str_starts(text + 1, dirs[i]))
			return place_matches(path, len, text + 1, AT_START);
	return false;
}

unsigned code_path_class(const char *path, size_t len)
{
	char plain[1024];
	unsigned class = 0;
	size_t n = path_plain(path, len, plain, sizeof(plain));

	if (n == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(ordinary); i++)
		if (place_matches(plain, n, ordinary[i], AT_START) &&
		    !place_matches(plain, n, "/proc/self/mem", AT_END))
			return 0;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (place_matches(plain, n, places[i].text, places[i].where) ||
		    path_is_of_project(plain, n, places[i].text))
			class |= places[i].class;
	if (path_is_home(plain, n))
		class |= CODE_PATH_ROOT;
	return class;
}

/* The host of http://user@host:port/…; false when it is no URL. */
static bool url_host(const char *url, size_t len, const char **ret, size_t *ret_len)
{
	const char *at = memmem(url, len, "://", 3);
	size_t n = 0, left;

	if (!at || (strncasecmp(url, "http", 4) != 0 && strncasecmp(url, "ws", 2) != 0 &&
		    strncasecmp(url, "ftp", 3) != 0))
		return false;
	at += 3;
	left = len - (size_t)(at - url);
	while (n < left && at[n] != '/' && at[n] != ':' && at[n] != '?' && at[n] != '#')
		n++;
	*ret = at;
	*ret_len = n;
	return n > 0;
}

bool code_url_is_address(const char *url, size_t len)
{
	unsigned part[4] = {0}, k = 0, digits = 0;
	const char *host;
	size_t n;

	if (!url_host(url, len, &host, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (host[i] == '.') {
			if (digits == 0 || ++k > 3)
				return false;
			digits = 0;
		} else if (isdigit((unsigned char)host[i]) && digits++ < 3) {
			part[k] = part[k] * 10 + (unsigned)(host[i] - '0');
		} else {
			return false;
		}
	}
	if (k != 3 || digits == 0)
		return false;
	return !(part[0] == 0 || part[0] == 10 || part[0] == 127 || part[0] >= 224 ||
		 (part[0] == 192 && part[1] == 168) ||
		 (part[0] == 172 && part[1] >= 16 && part[1] < 32) ||
		 (part[0] == 169 && part[1] == 254) || (part[0] == 1 && part[1] == 1) ||
		 (part[0] == 8 && part[1] == 8));
}

static const char *const shady_hosts[] = {
	"bit.ly",
	"t.co",
	"tinyurl.com",
	"is.gd",
	"ow.ly",
	"goo.gl",
	"rb.gy",
	"cutt.ly",
	"grabify.link",
	"iplogger.org",
	"webhook.site",
	"requestbin.net",
	"pipedream.net",
	"ngrok.io",
	"ngrok-free.app",
	"ngrok.app",
	"serveo.net",
	"trycloudflare.com",
	"burpcollaborator.net",
	"oastify.com",
	"oast.fun",
	"oast.pro",
	"oast.live",
	"oast.site",
	"oast.me",
	"interact.sh",
	"dnslog.cn",
	"canarytokens.com",
	"transfer.sh",
	"file.io",
	"anonfiles.com",
	"gofile.io",
	"0x0.st",
	"termbin.com",
	"ix.io",
	"hastebin.com",
	"rentry.co",
	"bashupload.com",
	"catbox.moe",
	"beeceptor.com",
	"pythonanywhere.com",
	"api.telegram.org",
	"duckdns.org",
	"no-ip.org",
	"ddns.net",
};
static const char *const shady_tlds[] = {".tk",   ".ml",    ".ga",  ".cf",  ".gq",
					 ".xyz",  ".top",   ".pw",  ".zip", ".mov",
					 ".link", ".onion", ".bid", ".icu", ".buzz"};
static const char *const shady_parts[] = {"discord.com/api/webhooks", "discordapp.com/api/webhooks",
					  "pastebin.com/raw", "cdn.discordapp.com/attachments",
					  "hooks.slack.com/services"};

bool code_url_is_shady(const char *url, size_t len)
{
	const char *host;
	size_t n;

	if (!url_host(url, len, &host, &n))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(shady_hosts); i++) {
		size_t k = strlen(shady_hosts[i]);

		if (n >= k && memcmp(host + n - k, shady_hosts[i], k) == 0 &&
		    (n == k || host[n - k - 1] == '.'))
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(shady_tlds); i++) {
		size_t k = strlen(shady_tlds[i]);

		if (n > k && memcmp(host + n - k, shady_tlds[i], k) == 0)
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(shady_parts); i++)
		if (memmem(url, len, shady_parts[i], strlen(shady_parts[i])))
			return true;
	return false;
}
