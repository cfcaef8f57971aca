/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What code in another language says that it does, when it stands in a command: python -c, ruby -e.  It is not parsed:
 * strings that are names of files with secrets are taken to be read, and words of libraries for the network to be
 * used.  Names in strings that are put together hide from this; the kernel sees the file.
 */
#include "session/observe.h"

#include "base/mem.h"
#include "session/names.h"

#include <stdio.h>
#include <string.h>

enum { CODE_STRING_MAX = 256 }; /* a longer one is no name */

static const char *const code_network[] = {
	"socket",
	"http.client",
	"urllib",
	"urlopen",
	"requests.",
	"httpx",
	"aiohttp",
	"smtplib",
	"ftplib",
	"paramiko",
	"gethostby",
	"getaddrinfo",
	"require('net')",
	"require(\"net\")",
	"require('dns",
	"require(\"dns",
	"'http'",
	"\"http\"",
	"'https'",
	"\"https\"",
	"net.connect",
	"fetch(",
	"Net::HTTP",
	"net/http",
	"TCPSocket",
	"IO::Socket",
	"LWP::",
	"HTTP::Tiny",
	"fsockopen",
	"curl_init",
	"stream_socket_client",
};
static const char *const code_own[] = {"localhost", "127.0.0.1", "::1", "AF_UNIX"};

static bool code_has(const char *text, size_t len, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memmem(text, len, words[i], strlen(words[i])))
			return true;
	return false;
}

static void code_string(const char *text, size_t len, struct observed *o)
{
	char name[CODE_STRING_MAX];

	if (len == 0 || len >= sizeof(name) || memchr(text, ' ', len) || memchr(text, '\0', len))
		return;
	(void)snprintf(name, sizeof(name), "%.*s", (int)len, text);
	if (!names_is_sensitive(name, /* is_path= */ false))
		return;
	if (!(o->facts & SESSION_SENSITIVE))
		(void)snprintf(o->target, sizeof(o->target), "%s", name);
	o->facts |= SESSION_SENSITIVE;
}

void observe_code(const char *text, size_t len, struct observed *ret)
{
	const char *end = text + len;

	for (const char *s = text; s < end; s++) {
		const char *close;

		if (*s != '"' && *s != '\'' && *s != '`')
			continue;
		close = memchr(s + 1, *s, (size_t)(end - s) - 1);
		if (!close)
			break;
		code_string(s + 1, (size_t)(close - s) - 1, ret);
		s = close;
	}
	if (code_has(text, len, code_network, ARRAY_LEN(code_network))) {
		if (ret->target[0] == '\0')
			(void)snprintf(ret->target, sizeof(ret->target), "code in the command");
		ret->facts |= code_has(text, len, code_own, ARRAY_LEN(code_own)) ? SESSION_RELAY
										 : SESSION_NETWORK;
	}
}
