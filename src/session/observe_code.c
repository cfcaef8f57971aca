/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What code in another language says that it does, when it stands in a command: python -c, ruby -e.  It is not parsed:
 * strings that are names of files with secrets are taken to be read, names of configuration to be written when the code
 * writes at all, and words of libraries for the network to be used.  Strings that are added are read as one; names that
 * are put together in another way hide from this; the kernel sees the file.
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

/* Code that writes a file, moves one or opens one for that. */
static const char *const code_writes[] = {
	"'w",    "\"w",    "'a'",      "\"a\"", "'x'",   "\"x\"", "write",
	"Write", "rename", "replace(", "copy",  "link(", "dump(", "put_contents",
};

static void code_string(const char *text, size_t len, bool is_writing, struct observed *o)
{
	static const unsigned written = SESSION_AGENT_CONFIG | SESSION_PACKAGE_CONFIG |
					SESSION_GIT_CONFIG | SESSION_GIT_RUNS;
	char name[CODE_STRING_MAX];
	unsigned facts;

	if (len == 0 || len >= sizeof(name) || memchr(text, ' ', len) || memchr(text, '\0', len))
		return;
	(void)snprintf(name, sizeof(name), "%.*s", (int)len, text);
	facts = names_is_sensitive(name, /* is_path= */ false) ? (unsigned)SESSION_SENSITIVE : 0;
	if (is_writing)
		facts |= names_write_facts(name, /* workspace= */ NULL) & written;
	if (facts & ~o->facts)
		(void)snprintf(o->target, sizeof(o->target), "%s", name);
	o->facts |= facts;
}

void observe_code(const char *text, size_t len, struct observed *ret)
{
	const char *end = text + len, *behind = NULL; /* the string before */
	bool is_writing = code_has(text, len, code_writes, ARRAY_LEN(code_writes));
	char joined[CODE_STRING_MAX];
	size_t n_joined = 0;

	for (const char *s = text; s < end; s++) {
		const char *close;

		if (*s != '"' && *s != '\'' && *s != '`')
			continue;
		close = memchr(s + 1, *s, (size_t)(end - s) - 1);
		if (!close)
			break;
		code_string(s + 1, (size_t)(close - s) - 1, is_writing, ret);
		/* "a" + "b" */
		for (; behind && behind < s && strchr(" \t\n+.", *behind); behind++)
			;
		if (behind != s)
			n_joined = 0;
		if ((size_t)(close - s) - 1 < sizeof(joined) - n_joined) {
			memcpy(joined + n_joined, s + 1, (size_t)(close - s) - 1);
			n_joined += (size_t)(close - s) - 1;
			if (behind == s)
				code_string(joined, n_joined, is_writing, ret);
		} else {
			n_joined = 0;
		}
		behind = close + 1;
		s = close;
	}
	if (code_has(text, len, code_network, ARRAY_LEN(code_network))) {
		if (ret->target[0] == '\0')
			(void)snprintf(ret->target, sizeof(ret->target), "code in the command");
		ret->facts |= code_has(text, len, code_own, ARRAY_LEN(code_own)) ? SESSION_RELAY
										 : SESSION_NETWORK;
	}
}
