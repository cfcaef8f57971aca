/* SPDX-License-Identifier: Apache-2.0 */
/* What every file is looked at for: characters that hide text, and programs under the names of data.  And files of
 * variables. */
#include "scan/reader.h"

#include "base/str.h"
#include "base/utf8.h"

#include <ctype.h>
#include <string.h>

#define TEXT_FLAG 0x1f3f4 /* tags after this emoji spell the flag of a region */

enum { TEXT_RUN = 6, TEXT_TAGS = 3, TEXT_MODELINE = 1000 };

static bool text_is_bidi(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Without the joiners that scripts and emoji need: one by one they are ordinary, in runs they are counted too. */
static bool text_is_invisible(uint32_t c)
{
	return (c >= 0x200b && c <= 0x200d) || (c >= 0x2060 && c <= 0x2064) || c == 0xfeff ||
	       c == 0x180e || c == 0x115f || c == 0x1160 || c == 0x3164 || c == 0xffa0 ||
	       (c >= 0xfe00 && c <= 0xfe0e) || (c >= 0xe0100 && c <= 0xe01ef);
}

struct text_state {
	uint32_t before;
	size_t tags, run;
	bool has_tags, has_bidi, has_run, has_name;
	bool is_source; /* of a language whose names are not prose */
};

static int text_character(struct scan_reader *r, struct text_state *s, uint32_t c, const char *at)
{
	bool is_tag = c >= 0xe0000 && c <= 0xe007f;
	int e = 0;

	if (!is_tag)
		s->tags = 0;
	else if (s->tags > 0 || s->before != TEXT_FLAG)
		s->tags++;
	if (is_tag && s->tags == 0 && s->before == TEXT_FLAG) {
		s->before = TEXT_FLAG; /* the flag goes on */
		return 0;
	}
	s->run = text_is_invisible(c) ? s->run + 1 : 0;
	if (s->tags >= TEXT_TAGS && !s->has_tags) {
		s->has_tags = true;
		e = scan_found(r, SCAN_TAGS, at, NULL);
	}
	if (e == 0 && text_is_bidi(c) && !s->has_bidi) {
		s->has_bidi = true;
		e = scan_found(r, SCAN_BIDI, at, NULL);
	}
	if (e == 0 && s->run >= TEXT_RUN && !s->has_run) {
		s->has_run = true;
		e = scan_found(r, SCAN_INVISIBLE, at, NULL);
	}
	/* Not a joiner: those are letters of names in some scripts. */
	if (e == 0 && s->is_source && !s->has_name && (c == 0x200b || c == 0x2060) &&
	    (isalnum((int)(s->before & 0x7f)) && s->before < 0x80)) {
		s->has_name = true;
		e = scan_found(r, SCAN_HIDDEN_NAME, at, NULL);
	}
	s->before = c;
	return e;
}

/* Sources whose names a reviewer compares by eye. */
static bool text_is_source(const char *path)
{
	static const char *const ends[] = {".c",    ".h",   ".cc",  ".cpp", ".js", ".mjs",  ".cjs",
					   ".ts",   ".tsx", ".jsx", ".py",  ".go", ".rs",   ".rb",
					   ".java", ".kt",  ".cs",  ".php", ".sh", ".swift"};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (str_ends(path, ends[i]))
			return true;
	return false;
}

/* A line for vi, of the first or last few, that evaluates something which runs a program. */
static int text_modeline(struct scan_reader *r)
{
	static const char *const acts[] = {"execute(", "system(", "!", "writefile(", "libcall("};
	static const char *const keys[] = {
		"fde=", "foldexpr=", "inde=",          "indentexpr=", "statusline=",
		"stl=", "bexpr=",    "guitabtooltip=", "formatexpr=", "fex="};
	const char *text = r->source->text;
	size_t len = r->source->len;
	size_t from = len > TEXT_MODELINE ? len - TEXT_MODELINE : 0;
	const char *line = memmem(text + from, len - from, "vim:", 4);
	bool evaluates = false, runs = false;
	size_t n;

	line = line ? line : memmem(text, len > TEXT_MODELINE ? TEXT_MODELINE : len, "vim:", 4);
	if (!line)
		return 0;
	n = strcspn(line, "\n");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		evaluates |= memmem(line, n, keys[i], strlen(keys[i])) != NULL;
	for (size_t i = 0; i < ARRAY_LEN(acts); i++)
		runs |= memmem(line, n, acts[i], strlen(acts[i])) != NULL;
	return evaluates && runs ? scan_found(r, SCAN_MODELINE, line, NULL) : 0;
}

static bool text_is_data_name(const char *path)
{
	static const char *const ends[] = {".png",  ".jpg",  ".jpeg", ".gif",   ".txt",  ".md",
					   ".json", ".csv",  ".pdf",  ".svg",   ".ico",  ".yml",
					   ".yaml", ".xml",  ".html", ".css",   ".webp", ".toml",
					   ".log",  ".lock", ".woff", ".woff2", ".ttf",  ".mp4"};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (str_ends(path, ends[i]))
			return true;
	return false;
}

static bool text_is_program(const char *text, size_t len)
{
	return len > 4 && (memcmp(text, "\177ELF", 4) == 0 || memcmp(text, "MZ\x90", 3) == 0 ||
			   memcmp(text, "\xcf\xfa\xed\xfe", 4) == 0 ||
			   memcmp(text, "\xca\xfe\xba\xbe", 4) == 0);
}

int scan_read_characters(struct scan_reader *r)
{
	const char *text = r->source->text;
	size_t len = r->source->len;
	struct text_state s = {.is_source = text_is_source(r->source->path)};
	int e = 0;

	if (text_is_program(text, len))
		return text_is_data_name(r->source->path) ? scan_found(r, SCAN_PROGRAM, text, NULL)
							  : 0;
	if (memchr(text, '\0', len))
		return 0; /* not text */
	for (size_t i = 0; e == 0 && i < len;) {
		uint32_t c = 0;
		size_t n;

		if ((unsigned char)text[i] < 0x80) {
			s.before = (unsigned char)text[i++];
			s.tags = s.run = 0;
			continue;
		}
		n = utf8_decode(text + i, len - i, &c);
		e = text_character(r, &s, n ? c : 0, text + i);
		i += n ? n : 1;
	}
	return e == 0 ? text_modeline(r) : e;
}

int scan_read_env(struct scan_reader *r)
{
	return scan_secrets(r);
}
