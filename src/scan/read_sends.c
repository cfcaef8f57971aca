/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaves the machine: hooks that pass on what the agent tells them, and code that takes credentials, or all
 * variables, and speaks to another machine.  No language is parsed: what is taken, the call that sends and the address
 * must stand close together, because programs that know both for good reasons keep them apart.
 */
#include "scan/line.h"

#include "base/mem.h"
#include "base/str.h"
#include "secrets/name.h"

#include <ctype.h>
#include <string.h>

enum {
	SENDS_NEAR = 1500,   /* bytes between what is taken and the call that sends it */
	SENDS_ADDRESS = 240, /* and between the call and the address */
};

static const char *sends_find(const char *from, const char *end, const char *word)
{
	return from < end ? memmem(from, (size_t)(end - from), word, strlen(word)) : NULL;
}

static bool sends_has_any(const char *from, const char *end, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sends_find(from, end, words[i]))
			return true;
	return false;
}

/* Is the address behind :// another machine's, as it is written? */
static bool sends_is_far(const char *host, const char *end)
{
	static const char *const own[] = {"localhost", "127.", "0.0.0.0", "[::1]",
					  "host.docker.internal"};

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if ((size_t)(end - host) >= strlen(own[i]) &&
		    memcmp(host, own[i], strlen(own[i])) == 0)
			return false;
	return host < end && (isalnum((unsigned char)*host) || *host == '[');
}

/* Does a command pass its input on to another machine?  An address in a variable is nobody's own. */
bool scan_sends_input(const char *command, size_t len)
{
	static const char *const programs[] = {"curl", "wget", "http ", "https ", "xh "};
	static const char *const input[] = {"@-",
					    "-T -",
					    "--upload-file -",
					    "--post-file=-",
					    "--post-file=/dev/stdin",
					    "@/dev/stdin",
					    "--body-file=-"};
	static const char *const code[] = {"sys.stdin", "process.stdin", "STDIN.read", "$stdin",
					   "php://stdin"};
	static const char *const calls[] = {"urlopen", "requests.", "http",
					    "socket",  "fetch(",    "Net::HTTP"};
	const char *end = command + len, *address = sends_find(command, end, "://");
	const char *nc = sends_find(command, end, "nc ");

	if (nc && (nc == command || strchr(" |;&", nc[-1])) && sends_is_far(nc + 3, end) &&
	    (sends_find(command, nc, "| ") || nc == command))
		return true;
	if (address ? !sends_is_far(address + 3, end) : !memchr(command, '$', len))
		return false;
	return (sends_has_any(command, end, programs, ARRAY_LEN(programs)) &&
		sends_has_any(command, end, input, ARRAY_LEN(input))) ||
	       (sends_has_any(command, end, code, ARRAY_LEN(code)) &&
		sends_has_any(command, end, calls, ARRAY_LEN(calls)));
}

/* The call that sends, near places that stand together, with the address of another machine behind it. */
static bool sends_near(const struct scan_reader *r, const char *first, const char *last)
{
	static const char *const calls[] = {".request(",
					    "http.get(",
					    "https.get(",
					    "fetch(",
					    "axios",
					    "urlopen(",
					    "requests.",
					    "httpx.",
					    "HTTPSConnection",
					    "create_connection(",
					    "connect((",
					    "net.connect(",
					    "Net::HTTP",
					    "curl_exec",
					    "curl_init(",
					    "XMLHttpRequest",
					    "reqwest::",
					    "ureq::",
					    "http.Post(",
					    "WebClient",
					    "Invoke-WebRequest",
					    "Invoke-RestMethod",
					    "sendBeacon("};
	static const char *const hosts[] = {"hostname: '",        "hostname: \"",     "host: '",
					    "host: \"",           "connect((\"",      "connect(('",
					    "HTTPSConnection(\"", "HTTPSConnection('"};
	const char *text = r->source->text, *end = text + r->source->len;
	const char *from = first - text > SENDS_NEAR ? first - SENDS_NEAR : text;
	const char *to = end - last > SENDS_NEAR ? last + SENDS_NEAR : end;

	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		for (const char *call = sends_find(from, to, calls[i]); call;
		     call = sends_find(call + 1, to, calls[i])) {
			const char *near = call - text > SENDS_ADDRESS ? call - SENDS_ADDRESS
								       : text;
			const char *far = end - call > SENDS_ADDRESS ? call + SENDS_ADDRESS : end;
			const char *address = near;

			while ((address = sends_find(address, far, "://")))
				if (sends_is_far(address += 3, far))
					return true;
			for (size_t k = 0; k < ARRAY_LEN(hosts); k++) {
				address = sends_find(near, far, hosts[k]);
				if (address && sends_is_far(address + strlen(hosts[k]), far))
					return true;
			}
		}
	return false;
}

/* Which of them is next; n: none. */
static size_t sends_next(const char *const *next, size_t n)
{
	size_t first = n;

	for (size_t i = 0; i < n; i++)
		if (next[i] && (first == n || next[i] < next[first]))
			first = i;
	return first;
}

/* Code of any language.  Files of credentials are told from directories of settings by their last part. */
int scan_read_sends(struct scan_reader *r)
{
	static const char *const taken[] = {
		"/.npmrc",
		".ssh/id_",
		"/.netrc",
		".aws/credentials",
		".docker/config.json",
		".git-credentials",
		".kube/config",
		".config/gcloud",
		"Login Data",
		"wallet.dat",
		"JSON.stringify(process.env)",
		"JSON.stringify({...process.env",
		"JSON.stringify({ ...process.env",
		"Object.entries(process.env)",
		"json.dumps(dict(os.environ",
		"str(os.environ)",
		"str(dict(os.environ",
		"in os.environ.items()",
		"ENV.to_h",
	};
	static const char *const kinds[] = {".js",   ".mjs", ".cjs",  ".jsx", ".ts", ".mts",
					    ".cts",  ".tsx", ".py",   ".pyw", ".rb", ".php",
					    ".pl",   ".ps1", ".psm1", ".go",  ".rs", ".lua",
					    ".java", ".kt",  ".cs",   ".sh"};
	const char *end = r->source->text + r->source->len;
	const char *next[ARRAY_LEN(taken)];
	bool is_code = false;
	size_t i;

	for (i = 0; i < ARRAY_LEN(kinds); i++)
		is_code |= str_ends(r->source->path, kinds[i]);
	for (i = 0; i < ARRAY_LEN(taken); i++)
		next[i] = is_code ? sends_find(r->source->text, end, taken[i]) : NULL;
	/* What is near is near to all that stand together: a file that is full of such words is read once. */
	while ((i = sends_next(next, ARRAY_LEN(taken))) < ARRAY_LEN(taken)) {
		const char *first = next[i], *last = first, *word = taken[i];

		for (; i < ARRAY_LEN(taken) && next[i] - last <= 2 * SENDS_NEAR;
		     i = sends_next(next, ARRAY_LEN(taken))) {
			last = next[i];
			next[i] = sends_find(last + 1, end, taken[i]);
		}
		if (sends_near(r, first, last))
			return scan_found(r, SCAN_SOURCE_TAKES, first, word);
	}
	return 0;
}

/* What package managers load or run by themselves has no call for a variable of the person's in an address. */
int scan_read_installer(struct scan_reader *r)
{
	static const char variable[] = "process.env.";
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len)) {
		const char *end = line + len, *at = line;

		if (!scan_line_has(line, len, "http"))
			continue;
		while (e == 0 && (at = sends_find(at, end, variable))) {
			size_t n = 0;

			at += sizeof(variable) - 1;
			while (at + n < end && (isalnum((unsigned char)at[n]) || at[n] == '_'))
				n++;
			if (name_is_secret(at, n))
				e = scan_found(r, SCAN_SOURCE_TAKES, at, at);
			if (e == 0 && r->findings->n > 0 && name_is_secret(at, n))
				return 0; /* one is enough */
		}
	}
	return e;
}

/* Start files of other languages' interpreters: what is loaded before everything, from a place of its own. */
int scan_read_prepended(struct scan_reader *r)
{
	static const char *const keys[] = {"auto_prepend_file", "auto_append_file",
					   "R_PROFILE_USER", "R_ENVIRON_USER"};
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len))
		for (size_t i = 0;
		     e == 0 && i < ARRAY_LEN(keys) && line[0] != ';' && line[0] != '#'; i++)
			if (scan_line_has(line, len, keys[i]) && scan_line_has(line, len, "://"))
				e = scan_found(r, SCAN_PLAIN_SOURCE, line, line);
	return e;
}
