/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we make of URLs, for tests/differ/run to compare with what others do.  One URL a line, in hexadecimal; for each one
 * line of JSON: the host as the URL reader sees it, as the proxy sees it in a request, which hosts the inspector of commands
 * sees in "curl 'URL'"; and what the text is as a host.  null: refused.
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "inspect/command.h"
#include "inspect/shell/model.h"
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"
#include "net/httphead.h"
#include "net/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READER_LINE 16384

static void reader_host(struct json *j, const char *name, const struct host *host)
{
	static const char *const kinds[] = {"name", "ipv4", "ipv6"};

	if (!host) {
		json_null(j, name);
		return;
	}
	json_object(j, name);
	json_str(j, "host", host->name);
	json_int(j, "port", host->port);
	json_str(j, "kind", kinds[host->kind]);
	json_end_object(j);
}

/* In a request to the proxy, with the Host that a client would send. */
static bool reader_request(const char *url, size_t len, struct host *ret)
{
	struct buf b = BUF_INIT(4 * READER_LINE);
	struct http_head head;
	const char *at = memmem(url, len, "//", 2);
	const char *authority = at ? at + 2 : url;
	size_t left = len - (size_t)(authority - url);
	size_t n = 0;
	bool is = false;

	while (n < left && !strchr("/?#", authority[n]))
		n++;
	buf_str(&b, "GET ");
	buf_add(&b, url, len);
	buf_str(&b, " HTTP/1.1\r\nHost: ");
	buf_add(&b, authority, n);
	buf_str(&b, "\r\n\r\n");
	if (buf_error(&b) == 0 && http_request_parse(b.data, b.len, &head) == 1 && head.has_host) {
		*ret = head.host;
		is = true;
	}
	buf_done(&b);
	return is;
}

static void reader_inspected(struct json *j, const char *url, size_t len)
{
	const struct inspect_context c = {0};
	struct buf b = BUF_INIT(8 * READER_LINE);
	struct shell_model m;

	json_array(j, "inspected");
	/* A NUL ends a word before any program sees it. */
	if (!memchr(url, '\0', len)) {
		buf_str(&b, "curl ");
		str_shell_quote(&b, url);
		if (buf_error(&b) < 0 || shell_model_build(&c, buf_cstr(&b), b.len, &m) < 0)
			abort();
		rule_prepare(&m);
		for (size_t i = 0; i < m.n; i++)
			for (size_t k = 0; k < m.commands[i].n_hosts; k++) {
				const char *name = m.commands[i].hosts[k].name;
				struct host host;

				json_str(j, NULL,
					 host_parse(name, strlen(name), 0, &host, NULL) < 0
						 ? "?"
						 : host.name);
			}
		shell_model_done(&m);
	}
	json_end_array(j);
	buf_done(&b);
}

static int reader_line(const char *hex, size_t n)
{
	char url[READER_LINE / 2 + 1];
	struct buf out = BUF_INIT(16 * READER_LINE);
	struct json j = JSON_INIT(&out);
	struct host host;
	enum url_scheme scheme;
	size_t len = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		static const char digits[] = "0123456789abcdef";
		const char *high = memchr(digits, hex[i], 16);
		const char *low = memchr(digits, hex[i + 1], 16);

		if (!high || !low)
			return -1;
		url[len++] = (char)((high - digits) << 4 | (low - digits));
	}
	url[len] = '\0';
	json_object(&j, NULL);
	reader_host(&j, "url", url_host(url, len, &scheme, &host, NULL) == 0 ? &host : NULL);
	reader_host(&j, "request", reader_request(url, len, &host) ? &host : NULL);
	reader_host(&j, "text", host_parse(url, len, 0, &host, NULL) == 0 ? &host : NULL);
	reader_inspected(&j, url, len);
	json_end_object(&j);
	if (buf_error(&out) < 0)
		return -1;
	(void)printf("%s\n", buf_cstr(&out));
	buf_done(&out);
	return 0;
}

int main(void)
{
	static char line[READER_LINE + 2];

	while (fgets(line, sizeof(line), stdin))
		if (reader_line(line, strcspn(line, "\n")) < 0)
			return 1;
	return ferror(stdin) || fflush(stdout) != 0;
}
