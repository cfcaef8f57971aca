/* SPDX-License-Identifier: Apache-2.0 */
/* What uses a machine up or cuts it off: floods, endless devices, miners, processes that are all killed. */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

static bool drain_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

/* Digits of the longest number that an option has: -n 1000000, -c1000. */
static size_t drain_digits(const struct shell_command *c, const char *options)
{
	size_t most = 0;

	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		size_t n = 0;

		if (rule_is(options, s) && i + 1 < c->n)
			n = strspn(c->argv[i + 1].s, "0123456789");
		else if (s[0] == '-' && s[1] && s[1] != '-' && s[2] >= '1' && s[2] <= '9')
			n = strspn(s + 2, "0123456789");
		else if (s[0] == '-' && s[1] == '-' && strchr(s, '='))
			n = strspn(strchr(s, '=') + 1, "0123456789");
		most = n > most ? n : most;
	}
	return most;
}

/* A load test of this machine is work; one of another machine with large numbers is a flood. */
static bool drain_load(const struct shell_model *m, const struct shell_command *c)
{
	return !rule_is_local(m, c) &&
	       drain_digits(
		       c, "-c -n -t -d -r -u --requests --concurrency --connections --rate --users "
			  "--vus --concurrent --reps --rps -rate -workers") >= 4;
}

static bool drain_ping(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_has(c, "-f") || drain_any(c, "--flood") || drain_digits(c, "-s") >= 5;
}

/* A device without an end, read to its end. */
static bool drain_endless(const struct shell_model *m, const struct shell_command *c)
{
	bool has_device = false;

	(void)m;
	if (c->is_piped || rule_has(c, "-N|-l|-c|-n|--bytes|--lines|--length"))
		return false;
	for (size_t i = 1; i < c->n; i++)
		has_device = has_device ||
			     rule_is("/dev/zero /dev/urandom /dev/random /dev/full", c->argv[i].s);
	for (size_t i = 0; i < c->n_redirects; i++)
		has_device = has_device || (c->redirects[i].kind == REDIRECT_IN &&
					    rule_is("/dev/zero /dev/urandom /dev/random",
						    c->redirects[i].target.s));
	/* what goes on into a pipe may be cut there */
	for (size_t i = 0; i < m->n && has_device; i++)
		if (&m->commands[i] > c && m->commands[i].group == c->group &&
		    m->commands[i].has_in)
			return false;
	return has_device;
}

/* kill -9 $(ps -eo pid=): all that there are */
/* The program of awk when it is nothing but a column. */
static const char *drain_column(const struct shell_command *c)
{
	const char *s = rule_operand(c, 0);

	if (strcmp(s, "{print $2}") == 0 || strcmp(s, "{ print $2 }") == 0)
		return "{print$2}";
	return strcmp(s, "{print $1}") == 0 || strcmp(s, "{ print $1 }") == 0 ? "{print$1}" : "";
}

static bool drain_kill(const struct shell_model *m, const struct shell_command *c)
{
	bool is_listed = false;

	if (c->n < 2 || !(c->argv[c->n - 1].flags & (WORD_UNKNOWN | WORD_ITEM)))
		return false;
	for (const struct shell_command *d = m->commands; d < m->commands + m->n; d++) {
		const char *what = d->n > 1 ? d->argv[1].s : "";

		/* chosen by a filter */
		if (rule_is("grep egrep sed rg head tail pgrep pidof", d->name))
			return false;
		/* awk that only takes a column out chooses nothing */
		if (rule_is("awk gawk mawk", d->name) &&
		    !rule_is("{print$2} {print$1}", drain_column(d)))
			return false;
		is_listed = is_listed ||
			    (strcmp(d->name, "ps") == 0 &&
			     (rule_is("aux ax -A -e -ef", what) || str_starts(what, "-eo") ||
			      str_starts(what, "-Ao") || str_starts(what, "axo")));
	}
	return is_listed;
}

/* An image or a package that mines. */
static bool drain_image(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const names[] = {"xmrig",       "minerd",   "cpuminer",  "monero-miner",
					    "t-rex-miner", "ethminer", "nanominer", "xmr-stak"};

	(void)m;
	if (!rule_is("run pull create install apply", rule_operand(c, 0)))
		return false;
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		if (rule_says(c, names[k]))
			return true;
	return false;
}

static bool drain_off(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "rfkill") == 0)
		return strcmp(rule_operand(c, 0), "block") == 0 &&
		       strcmp(rule_operand(c, 1), "bluetooth") != 0;
	if (strcmp(c->name, "resolvectl") == 0)
		return rule_is("dns domain dnssec dnsovertls default-route llmnr",
			       rule_operand(c, 0)) &&
		       *rule_operand(c, 2);
	return (rule_is("networking n net", rule_operand(c, 0)) && drain_any(c, "off")) ||
	       (rule_is("radio r", rule_operand(c, 0)) && drain_any(c, "off")) ||
	       (rule_is("connection con c", rule_operand(c, 0)) &&
		rule_is("modify mod m delete", rule_operand(c, 1)) &&
		(rule_says(c, "dns") || rule_says(c, "gateway") || rule_says(c, "proxy")));
}

#define ROW(conf, lev) .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##lev, .confidence = conf

static const struct shell_rule drain_rows[] = {
	{.id = "CMD-FLOOD-LOAD",
	 .reason = "It puts a load on another machine that few survive.",
	 ROW(0.4, LOW),
	 .programs =
		 "ab siege wrk wrk2 hey bombardier vegeta k6 locust httperf h2load oha autocannon "
		 "goldeneye hulk slowhttptest t50 mz",
	 .test = drain_load,
	 .hit = "ab -n 1000000 -c 1000 http://victim.example/",
	 .miss = "ab -n 1000000 -c 1000 http://localhost:8080/"},
	{.id = "CMD-FLOOD-PING",
	 .reason = "It floods another machine with packets.",
	 ROW(0.4, LOW),
	 .programs = "ping ping6",
	 .test = drain_ping,
	 .hit = "ping -f 192.0.2.1",
	 .miss = "ping -c 3 192.0.2.1"},
	{.id = "CMD-READ-ENDLESS",
	 .reason = "It reads a device that has no end.",
	 ROW(0.4, LOW),
	 .programs =
		 "sha1sum sha224sum sha256sum sha384sum sha512sum md5sum b2sum cksum sum wc sort tail tac gzip bzip2 xz zstd "
		 "base64 openssl grep sed awk",
	 .test = drain_endless,
	 .hit = "sha1sum /dev/zero",
	 .miss = "sha1sum a.iso"},
	{.id = "CMD-KILL-LISTED",
	 .reason = "It kills every process that a list shows.",
	 ROW(0.5, MEDIUM),
	 .programs = "kill",
	 .test = drain_kill,
	 .hit = "kill -9 $(ps -eo pid=)",
	 .miss = "kill $(ps aux | grep node | awk '{print $2}')"},
	{.id = "CMD-KILL-FIVE",
	 .reason = "It sends a signal to every process.",
	 ROW(0.5, MEDIUM),
	 .programs = "killall5",
	 .hit = "killall5 -9",
	 .miss = "pidof init"},
	{.id = "CMD-MINER-IMAGE",
	 .reason = "It fetches or starts a miner.",
	 ROW(0.6, MEDIUM),
	 .programs =
		 "docker podman nerdctl kubectl helm apt apt-get snap brew pip pip3 npm yum dnf",
	 .test = drain_image,
	 .hit = "docker run -d xmrig/xmrig -o p.example:1",
	 .miss = "docker run -d nginx"},
	{.id = "CMD-NETWORK-OFF",
	 .reason = "It cuts this machine off, or changes who tells it names.",
	 ROW(0.35, LOW),
	 .programs = "nmcli rfkill resolvectl",
	 .test = drain_off,
	 .hit = "nmcli networking off",
	 .miss = "nmcli device status"},
};

const struct shell_rules shell_rules_drain = {drain_rows,
					      sizeof(drain_rows) / sizeof(drain_rows[0])};
