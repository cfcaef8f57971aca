/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See textkind.h.  Names decide by rows; the first row that fits wins, so instructions for agents in a
 * folder of tests are instructions.
 */
#include "inspect/text/textkind.h"

#include "base/limits.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum textkind_how { TEXTKIND_NAME, TEXTKIND_PART, TEXTKIND_INSIDE, TEXTKIND_SUFFIX };

static const struct {
	const char *word;
	enum textkind_how how;
	enum inspect_document document;
} textkind_rows[] = {
	{"claude.md", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{"claude.local.md", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{"agents.md", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{"gemini.md", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{"guidelines.md", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{"skill.md", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{"copilot-instructions.md", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{".cursorrules", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{".windsurfrules", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{".clinerules", TEXTKIND_NAME, INSPECT_DOCUMENT_INSTRUCTIONS},
	{".claude", TEXTKIND_PART, INSPECT_DOCUMENT_INSTRUCTIONS},
	{".cursor", TEXTKIND_PART, INSPECT_DOCUMENT_INSTRUCTIONS},
	{"test", TEXTKIND_PART, INSPECT_DOCUMENT_TEST},
	{"tests", TEXTKIND_PART, INSPECT_DOCUMENT_TEST},
	{"__tests__", TEXTKIND_PART, INSPECT_DOCUMENT_TEST},
	{"__mocks__", TEXTKIND_PART, INSPECT_DOCUMENT_TEST},
	{"fixture", TEXTKIND_PART, INSPECT_DOCUMENT_TEST},
	{"fixtures", TEXTKIND_PART, INSPECT_DOCUMENT_TEST},
	{"testdata", TEXTKIND_PART, INSPECT_DOCUMENT_TEST},
	{"test_", TEXTKIND_INSIDE, INSPECT_DOCUMENT_TEST},
	{"_test.", TEXTKIND_INSIDE, INSPECT_DOCUMENT_TEST},
	{".test.", TEXTKIND_INSIDE, INSPECT_DOCUMENT_TEST},
	{".spec.", TEXTKIND_INSIDE, INSPECT_DOCUMENT_TEST},
	{"security.md", TEXTKIND_NAME, INSPECT_DOCUMENT_SECURITY},
	{".c", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".h", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".cc", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".cpp", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".cs", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".go", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".java", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".js", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".jsx", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".kt", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".mjs", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".php", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".py", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".rb", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".rs", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".sh", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".swift", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".ts", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".tsx", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_SOURCE},
	{".md", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_PROSE},
	{".rst", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_PROSE},
	{".txt", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_PROSE},
	{".html", TEXTKIND_SUFFIX, INSPECT_DOCUMENT_PROSE},
};

static bool textkind_has_part(const char *path, const char *part)
{
	size_t n = strlen(part);

	for (const char *s = path; *s;) {
		size_t len = strcspn(s, "/");

		if (s[len] == '/' && len == n && strncasecmp(s, part, n) == 0)
			return true;
		s += len + (s[len] == '/');
	}
	return false;
}

enum inspect_document textkind_of_path(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < ARRAY_LEN(textkind_rows); i++) {
		const char *word = textkind_rows[i].word;
		size_t n = strlen(word), len = strlen(name);
		bool fits = false;

		switch (textkind_rows[i].how) {
		case TEXTKIND_NAME:
			fits = strcasecmp(name, word) == 0;
			break;
		case TEXTKIND_PART:
			fits = textkind_has_part(path, word);
			break;
		case TEXTKIND_INSIDE:
			fits = strcasestr(name, word) != NULL;
			break;
		case TEXTKIND_SUFFIX:
			fits = len > n && strcasecmp(name + len - n, word) == 0;
			break;
		}
		if (fits)
			return textkind_rows[i].document;
	}
	return INSPECT_DOCUMENT_ANY;
}

/* Words of people who write about attacks, by their stems; some in four mean that the text does. */
static const char *const textkind_words[] = {
	"prompt injection",
	"prompt-injection",
	"jailbreak",
	"vulnerab",
	"attacker",
	"exploit",
	"cve-",
	"owasp",
	"mitigat",
	"threat model",
	"malicious",
	"red team",
	"red-team",
	"pentest",
	"penetration test",
	"adversar",
	"payload",
	"attack",
	"detect",
	"guardrail",
	"untrusted",
	"sanitiz",
	"phishing",
	"exfiltration",
	"defense",
	"llm01",
	"classifier",
	"researcher",
	"injection",
};

enum { TEXTKIND_SECURITY_WORDS = 3 };

bool textkind_is_security(const char *text, size_t len)
{
	size_t look = len < LIMIT_TEXT_PIECE ? len : LIMIT_TEXT_PIECE;
	bool seen[ARRAY_LEN(textkind_words)] = {false};
	unsigned char first[256] = {0},
		      next[ARRAY_LEN(textkind_words)]; /* number of the word + 1 */
	unsigned n = 0;

	for (unsigned k = 0; k < ARRAY_LEN(textkind_words); k++) {
		unsigned char c = (unsigned char)textkind_words[k][0];

		next[k] = first[c];
		first[c] = first[toupper(c)] = (unsigned char)(k + 1);
	}
	for (size_t i = 0; i < look; i++) {
		unsigned k = first[(unsigned char)text[i]];

		if (k == 0 || (i > 0 && isalnum((unsigned char)text[i - 1])))
			continue;
		for (; k > 0; k = next[k - 1]) {
			const char *word = textkind_words[k - 1];
			size_t m;

			if (seen[k - 1] || i + 1 >= look || (text[i + 1] | 0x20) != word[1])
				continue;
			m = strlen(word);
			if (look - i < m || strncasecmp(text + i, word, m) != 0)
				continue;
			seen[k - 1] = true;
			if (++n >= TEXTKIND_SECURITY_WORDS)
				return true;
		}
	}
	return false;
}

enum inspect_document textkind_of(const struct inspect_context *c, const char *text, size_t len)
{
	enum inspect_document kind = c->document;

	if (c->path && (kind == INSPECT_DOCUMENT_ANY || kind == INSPECT_DOCUMENT_OUTPUT)) {
		enum inspect_document by_path = textkind_of_path(c->path);

		if (by_path != INSPECT_DOCUMENT_ANY)
			kind = by_path;
	}
	if ((kind == INSPECT_DOCUMENT_ANY || kind == INSPECT_DOCUMENT_OUTPUT ||
	     kind == INSPECT_DOCUMENT_PROSE) &&
	    textkind_is_security(text, len))
		kind = INSPECT_DOCUMENT_SECURITY;
	return kind;
}
