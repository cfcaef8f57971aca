/* SPDX-License-Identifier: Apache-2.0 */
/* See net.h. */
#include "inspect/shell/net.h"

#include "inspect/shell/rule.h"

#include "base/parse.h"
#include "base/str.h"
#include "net/host.h"
#include "net/name.h"

#include <stdio.h>
#include <string.h>

static const char *const net_kind_names[NET_KIND_COUNT] = {
#define NET_KIND_WORD(id, word) [NET_##id] = word,
	NET_KINDS(NET_KIND_WORD)
#undef NET_KIND_WORD
};

const char *net_kind_name(enum net_kind kind)
{
	return net_kind_names[kind];
}

struct net_list {
	struct net_host *v;
	size_t n, max;
};

/* host, host:port or [v6]:port; user@ and what follows are cut. */
static bool net_add(struct net_list *l, enum net_kind kind, const char *s, size_t len)
{
	struct net_host h = {.kind = kind};
	const char *at = memrchr(s, '@', len);
	size_t n = 0;
	int64_t port = 0;

	if (at) {
		len -= (size_t)(at + 1 - s);
		s = at + 1;
	}
	if (len > 0 && s[0] == '[') {
		const char *shut = memchr(s, ']', len);

		if (!shut)
			return false;
		n = (size_t)(shut - s - 1);
		if (n >= sizeof(h.name))
			return false;
		memcpy(h.name, s + 1, n);
		n += 2;
	} else {
		while (n < len && s[n] != ':')
			n++;
		if (n == 0 || n >= sizeof(h.name))
			return false;
		memcpy(h.name, s, n);
	}
	if (n < len && s[n] == ':' && len - n <= 6) {
		char number[8] = "";

		memcpy(number, s + n + 1, len - n - 1);
		if (parse_int(number, 1, 65535, &port) == 0)
			h.port = (uint16_t)port;
	}
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].name, h.name) == 0 && l->v[i].kind == kind)
			return true;
	if (l->n < l->max)
		l->v[l->n++] = h;
	return true;
}

/* A host whose port stands in a word of its own; what is no number says nothing. */
static void net_add_on(struct net_list *l, const char *s, size_t len, const char *port)
{
	size_t n = strspn(port, "0123456789");
	char both[NET_HOST_SIZE + 8];
	int r = snprintf(both, sizeof(both), "%.*s:%.*s", (int)len, s, (int)n, port);

	if (n == 0 || n > 5 || len >= NET_HOST_SIZE || memchr(s, ':', len) || r < 0)
		(void)net_add(l, NET_HOST, s, len);
	else
		(void)net_add(l, NET_HOST, both, (size_t)r);
}

/* The host that serves a bucket. */
static void net_bucket(struct net_list *l, const char *name, const char *suffix)
{
	char host[NET_HOST_SIZE];
	int n = snprintf(host, sizeof(host), "%.*s%s", (int)strcspn(name, "/"), name, suffix);

	if (n > 0 && (size_t)n < sizeof(host))
		(void)net_add(l, NET_BUCKET, host, (size_t)n);
}

/*
 * One URL; s is what follows its slashes.  Readers do not agree where the host ends: a browser takes a backslash for a
 * slash, curl passes it and much else by on its way to the last '@'.  So both hosts are seen.
 */
static void net_url(struct net_list *l, const char *s, bool is_word)
{
	size_t first = strcspn(s, "/?#\"' \\\n\t,;)");
	size_t last = strcspn(s, is_word ? "/?#" : "/?#\"' \n\t");

	(void)net_add(l, NET_URL, s, first);
	if (last > first && memchr(s + first, '@', last - first) && !net_add(l, NET_URL, s, last))
		(void)net_add(l, NET_URL, "?", 1); /* no host that could be read */
}

/* Every scheme://host in a word; with the schemes of the web also what programs mend. */
static void net_urls(struct net_list *l, const char *s)
{
	const char *p = s;

	while ((p = strchr(p, ':')) != NULL) {
		const char *scheme = p;
		size_t slashes = strspn(p + 1, "/\\");
		bool is_web, is_plain = strncmp(p, "://", 3) == 0;
		size_t n;

		while (scheme > s &&
		       strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+",
			      scheme[-1]))
			scheme--;
		n = (size_t)(p - scheme);
		p++;
		is_web = (n == 4 && strncasecmp(scheme, "http", 4) == 0) ||
			 (n == 5 && strncasecmp(scheme, "https", 5) == 0) ||
			 (n == 3 && strncasecmp(scheme, "ftp", 3) == 0);
		if (slashes == 0 || n == 0 || (!is_plain && !is_web))
			continue;
		p += is_web ? slashes : 2;
		if (strncasecmp(scheme, "file", 4) == 0)
			continue;
		if (n == 2 && strncasecmp(scheme, "s3", 2) == 0)
			net_bucket(l, p, ".s3.amazonaws.com");
		else if (n == 2 && strncasecmp(scheme, "gs", 2) == 0)
			net_bucket(l, p, ".storage.googleapis.com");
		else
			net_url(l, p, scheme == s);
	}
}

static bool net_looks_like_host(const char *s)
{
	size_t n = strcspn(s, "/:");

	if (n == 0 || s[0] == '-' || s[0] == '.' || strchr(s, '='))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_@[]",
			    s[i]) &&
		    s[i] != SHELL_UNKNOWN && (unsigned char)s[i] < 0x80)
			return false;
	return memchr(s, '.', n) || (n == 9 && strncmp(s, "localhost", 9) == 0);
}

/* user@host:path or host:path */
static void net_remote_paths(const struct shell_command *c, struct net_list *l)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		const char *colon = strchr(s, ':');

		if (s[0] == '-' || strstr(s, "://") || !colon || colon == s)
			continue;
		if (!memchr(s, '/', (size_t)(colon - s)) && colon - s > 1)
			(void)net_add(l, NET_SSH, s, (size_t)(colon - s));
	}
}

/* The first operand after options of which some take a value. */
static const char *net_operand(const struct shell_command *c, const char *shorts, size_t index)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (s[0] == '-' && s[1]) {
			if (s[1] != '-' && strchr(shorts, s[strlen(s) - 1]))
				i++;
			continue;
		}
		if (index-- == 0)
			return s;
	}
	return "";
}

static void net_docker(const struct shell_command *c, struct net_list *l)
{
	const char *sub = rule_operand(c, 0);
	const char *image = rule_operand(c, 1);
	const char *slash = strchr(image, '/');

	if (strcmp(sub, "push") != 0 && strcmp(sub, "pull") != 0 && strcmp(sub, "login") != 0)
		return;
	if (strcmp(sub, "login") == 0)
		(void)net_add(l, NET_REGISTRY, *image ? image : "docker.io",
			      *image ? strlen(image) : 9);
	else if (slash && memchr(image, '.', (size_t)(slash - image)))
		(void)net_add(l, NET_REGISTRY, image, (size_t)(slash - image));
	else if (*image)
		(void)net_add(l, NET_REGISTRY, "docker.io", 9);
}

/* Package managers that publish; to install is their normal use and needs no host here. */
static void net_publish(const struct shell_command *c, struct net_list *l)
{
	static const struct {
		const char *program, *sub;
	} rows[] = {
		{"npm", "publish"},   {"yarn", "publish"}, {"pnpm", "publish"},
		{"cargo", "publish"}, {"twine", "upload"}, {"poetry", "publish"},
		{"flit", "publish"},  {"gem", "push"},     {"uv", "publish"},
	};

	/* Which host that is stands in its configuration; the program's name stands for it. */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(c->name, rows[i].program) == 0 &&
		    strcmp(rule_operand(c, 0), rows[i].sub) == 0)
			(void)net_add(l, NET_REGISTRY, c->name, strlen(c->name));
}

static void net_programs(const struct shell_command *c, struct net_list *l)
{
	if (rule_is("curl wget http https xh aria2c axel lynx w3m links", c->name)) {
		for (size_t i = 1; i < c->n; i++) {
			const char *s = c->argv[i].s;
			bool is_value =
				i > 1 &&
				rule_is("-o -O --output -H --header -d --data -F --form -T "
					"--upload-file -u --user -A -e -b -c -w -X --request "
					"--output-document -P --cacert --cert --key -K "
					"--resolve --connect-to",
					c->argv[i - 1].s);

			if (s[0] != '-' && !strstr(s, "://") && !is_value && net_looks_like_host(s))
				(void)net_add(l, NET_HOST, s, strcspn(s, "/?#"));
			if (i > 1 && rule_is("-x --proxy", c->argv[i - 1].s) && !strstr(s, "://"))
				(void)net_add(l, NET_HOST, s, strcspn(s, "/"));
		}
	} else if (rule_is("nc ncat netcat nc.traditional nc.openbsd telnet", c->name)) {
		const char *host = net_operand(c, "pswxXiqgGmTe", 0);

		if (!rule_has(c, "-l|--listen") && *host)
			net_add_on(l, host, strlen(host), net_operand(c, "pswxXiqgGmTe", 1));
	} else if (rule_is("ssh autossh mosh sftp ssh-copy-id", c->name)) {
		const char *host = net_operand(c, "bcDEeFIiJLlmOopQRSWw", 0);

		if (*host)
			(void)net_add(l, NET_SSH, host, strcspn(host, ":"));
	} else if (rule_is("scp rsync", c->name)) {
		net_remote_paths(c, l);
	} else if (rule_is("ftp tftp lftp ping nslookup dig host traceroute nmap whois smbclient",
			   c->name)) {
		for (size_t i = 1; i < c->n; i++)
			if (c->argv[i].s[0] != '-' && net_looks_like_host(c->argv[i].s))
				(void)net_add(l, NET_HOST, c->argv[i].s,
					      strcspn(c->argv[i].s, "/"));
	} else if (rule_is("docker podman", c->name)) {
		net_docker(c, l);
	} else if (strcmp(c->name, "git") == 0) {
		net_remote_paths(c, l);
	} else if (strcmp(c->name, "openssl") == 0) {
		for (size_t i = 1; i + 1 < c->n; i++)
			if (strcmp(c->argv[i].s, "-connect") == 0)
				(void)net_add(l, NET_HOST, c->argv[i + 1].s, c->argv[i + 1].len);
	} else if (strcmp(c->name, "socat") == 0) {
		for (size_t i = 1; i < c->n; i++) {
			const char *p = strchr(c->argv[i].s, ':');

			if (p &&
			    (strncasecmp(c->argv[i].s, "TCP", 3) == 0 ||
			     strncasecmp(c->argv[i].s, "UDP", 3) == 0 ||
			     strncasecmp(c->argv[i].s, "OPENSSL", 7) == 0) &&
			    !strcasestr(c->argv[i].s, "LISTEN"))
				(void)net_add(l, NET_HOST, p + 1, strcspn(p + 1, ","));
		}
	}
	net_publish(c, l);
}

static void net_devices(const struct shell_command *c, struct net_list *l)
{
	for (size_t i = 0; i < c->n_redirects; i++) {
		const char *s = c->redirects[i].target.s;

		if (str_starts(s, "/dev/tcp/") || str_starts(s, "/dev/udp/"))
			net_add_on(l, s + 9, strcspn(s + 9, "/"),
				   s + 9 + strcspn(s + 9, "/") + (strchr(s + 9, '/') != NULL));
	}
}

/* Could any word or redirection name a host? */
static bool net_may_have(const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (strpbrk(c->argv[i].s, ".:/") || c->argv[i].s[0] == SHELL_UNKNOWN)
			return true;
	return c->n_redirects > 0 ||
	       rule_is("npm yarn pnpm cargo poetry flit uv nc ssh docker curl wget telnet",
		       c->name);
}

void net_prepare(struct shell_model *m, struct shell_command *c)
{
	__attribute__((uninitialized)) struct net_host found[NET_HOSTS];
	struct net_list l = {.v = found, .max = NET_HOSTS};

	c->n_hosts = 0;
	if (!net_may_have(c))
		return;
	/* Programs that only print or search what looks like a URL. */
	if (!rule_is(
		    "echo printf grep egrep fgrep rg sed awk gawk cat test [ export declare local : true "
		    "cd ls alias basename dirname sudo env timeout nohup time nice xargs bash sh eval "
		    "git-commit jq sort head tail tr cut tee read unset which type man find command",
		    c->name) &&
	    !(strcmp(c->name, "git") == 0 &&
	      rule_is("commit log grep config tag notes remote", rule_operand(c, 0))))
		for (size_t i = 1; i < c->n; i++)
			net_urls(&l, c->argv[i].s);
	net_programs(c, &l);
	net_devices(c, &l);
	if (l.n == 0)
		return;
	c->hosts = arena_take(&m->arena, l.n * sizeof(*c->hosts));
	if (!c->hosts) {
		m->notes |= NOTE_CUT;
		return;
	}
	memcpy(c->hosts, found, l.n * sizeof(*c->hosts));
	c->n_hosts = l.n;
}

static bool net_parse(const struct net_host *h, struct host *ret)
{
	return host_parse(h->name, strlen(h->name), 0, ret, NULL) == 0;
}

bool net_is_local(const struct net_host *h)
{
	struct host host;
	const struct name_row *row;

	if (h->kind == NET_BUCKET)
		return false;
	if (strcmp(h->name, "0.0.0.0") == 0 || strcmp(h->name, "0") == 0)
		return true;
	if (!net_parse(h, &host))
		return false;
	if (host.kind == HOST_NAME) {
		row = name_class(&host);
		return row && row->kind == NAME_LOCALHOST;
	}
	return str_starts(host.name, "127.") || strcmp(host.name, "::1") == 0;
}

bool net_is_metadata(const struct net_host *h)
{
	struct host host;
	const struct name_row *row;

	if (str_starts(h->name, "169.254.") || strcmp(h->name, "100.100.100.200") == 0 ||
	    strcasecmp(h->name, "fd00:ec2::254") == 0 || strcmp(h->name, "2852039166") == 0 ||
	    strcasecmp(h->name, "0xa9fea9fe") == 0)
		return true;
	if (!net_parse(h, &host) || host.kind != HOST_NAME)
		return false;
	row = name_class(&host);
	return row && row->kind == NAME_METADATA;
}

bool net_is_posing(const char *url)
{
	static const char tops[] =
		"com net org info biz io co me tv cc to im at ms top xyz online site shop club icu vip app dev bank gov edu "
		"de uk us ru cn fr in br eu jp";
	const char *start = strstr(url, "://"), *path, *page, *end, *dot;
	char top[16];
	unsigned dots = 0;

	if (!start || !(path = strchr(start + 3, '/')))
		return false;
	end = path + strcspn(path, "?#\"' ");
	page = end;
	while (page > path && page[-1] != '/')
		page--;
	if (end - page > 5 && memcmp(end - 5, ".html", 5) == 0)
		end -= 5;
	else if (end - page > 4 && memcmp(end - 4, ".htm", 4) == 0)
		end -= 4;
	else
		return false;
	dot = memrchr(page, '.', (size_t)(end - page));
	if (!dot || end - dot - 1 >= (ptrdiff_t)sizeof(top) || end - dot < 3)
		return false;
	for (const char *p = page; p < end; p++) {
		bool is_letter = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-';

		dots += *p == '.';
		if (!is_letter && *p != '.')
			return false;
	}
	memcpy(top, dot + 1, (size_t)(end - dot - 1));
	top[end - dot - 1] = '\0';
	/* index.de.html is a page in German; a host of three parts is none */
	return dots >= 2 && rule_is(tops, top);
}
