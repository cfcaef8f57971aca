/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands inside of other languages: strings of build files, start files of editors and debuggers, recipes, code
 * spans of prose.  The languages are not parsed.  Where a program's name stands that such commands begin with, the
 * text from there to the end of its string or line is judged as a command, and only what is grave in any place
 * counts: code from the network that is run, credentials that leave, shells for strangers.
 */
#include "scan/line.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "inspect/command.h"

#include <ctype.h>
#include <string.h>

enum {
	EMBEDDED_PER_FILE = 1000, /* commands that are judged; that there are more is a finding */
	EMBEDDED_BYTES = 4096,    /* of one */
};

/* What such a command begins with, and what makes a line worth reading at all. */
static const char *const embedded_programs[] = {
	"curl",    "wget",   "nc",     "ncat", "netcat",  "socat", "bash",       "sh",      "zsh",
	"python3", "python", "perl",   "ruby", "node",    "php",   "base64",     "cat",     "tar",
	"env",     "echo",   "printf", "eval", "openssl", "exec",  "powershell", "printenv"};
static const char *const embedded_signs[] = {"curl",   "wget",    "nc ",          "ncat",
					     "netcat", "socat",   "/dev/tcp",     "/dev/udp",
					     "base64", "eval",    "exec(",        "openssl",
					     "IEX",    "urlopen", "require('http"};

static bool embedded_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == '/';
}

static bool embedded_is_sign(const char *line, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(embedded_signs); i++)
		if (scan_line_has(line, len, embedded_signs[i]))
			return true;
	return false;
}

static size_t embedded_program(const char *s, const char *end)
{
	for (size_t i = 0; i < ARRAY_LEN(embedded_programs); i++) {
		size_t n = strlen(embedded_programs[i]);

		if ((size_t)(end - s) > n && memcmp(s, embedded_programs[i], n) == 0 &&
		    (s[n] == ' ' || s[n] == '\t'))
			return n;
	}
	return 0;
}

/* The command from s to the end of the string that it is in, with the escapes that most languages have undone. */
static void embedded_take(const char *s, const char *end, char quote, struct buf *ret)
{
	for (; s < end && *s != quote && ret->len < EMBEDDED_BYTES; s++) {
		if (*s == '\0') {
			continue;
		} else if (*s == '\\' && quote && s + 1 < end) {
			s++;
			buf_char(ret, *s == 'n' ? '\n' : *s == 't' ? '\t' : *s ? *s : ' ');
		} else {
			buf_char(ret, *s);
		}
	}
}

/* Judges one; adds what is grave, at most as most says.  1: something was. */
static int embedded_judge(struct scan_reader *r, const struct buf *command, const char *at,
			  enum threat most)
{
	AUTO(findings_done) struct findings found = {0};
	struct scan_reader inner = {.source = r->source, .findings = &found, .err = r->err};
	int e = scan_command(&inner, command->data, command->len, at);
	int any = 0;

	for (size_t i = 0; e == 0 && i < found.n; i++) {
		struct finding *f = &found.items[i];

		if (f->level < THREAT_HIGH)
			continue;
		/* Other languages put names together in ways of their own. */
		if (strcmp(f->rule, "CMD-NAME-HIDDEN") == 0)
			continue;
		if (f->level > most)
			f->level = most;
		any = 1;
		if (findings_add(r->findings, f) < 0)
			e = cordon_nomem(r->err);
	}
	return e < 0 ? e : any;
}

/* A sentence that goes on behind a command: "run X and tell nobody". */
static void embedded_cut(struct buf *b)
{
	static const char *const words[] = {" and ",  " then ",    " before ",
					    " first", " without ", ", "};
	size_t at = b->len;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char *found = memmem(b->data, b->len, words[i], strlen(words[i]));

		if (found && (size_t)(found - b->data) < at)
			at = (size_t)(found - b->data);
	}
	b->len = at;
}

/* A line, with what is left to judge of the file. */
static int embedded_line(struct scan_reader *r, const char *line, size_t len, enum threat most,
			 size_t *left)
{
	const char *end = line + len;
	char quote = '\0';

	for (const char *s = line; s<end && * left> 0; s++) {
		char before = s > line ? s[-1] : ' ';
		struct buf b = BUF_INIT(EMBEDDED_BYTES + 64);
		size_t n;
		int e = 0;

		if (*s == '\\' && s + 1 < end) {
			s++;
			continue;
		}
		/* An apostrophe inside of a word opens nothing. */
		if (strchr("\"'`", *s) && *s &&
		    !(*s == '\'' && !quote && isalnum((unsigned char)before)))
			quote = quote == *s ? '\0' : quote ? quote : *s;
		if (embedded_is_word(before) || (n = embedded_program(s, end)) == 0)
			continue;
		embedded_take(s, end, quote, &b);
		if (buf_error(&b) < 0) {
			e = cordon_nomem(r->err);
		} else if (embedded_is_sign(b.data, b.len) && strpbrk(b.data, ".~:=")) {
			size_t whole = b.len;

			e = embedded_judge(r, &b, s, most);
			embedded_cut(&b);
			if (e == 0 && b.len < whole && memchr(b.data, '|', b.len))
				e = embedded_judge(r, &b, s, most);
			--*left;
		}
		buf_done(&b);
		if (e != 0)
			return e; /* one of a line is enough */
		s += n;
	}
	return 0;
}

static int embedded_read(struct scan_reader *r, enum threat most)
{
	size_t len = 0, left = EMBEDDED_PER_FILE;

	if (!embedded_is_sign(r->source->text, r->source->len))
		return 0;
	for (const char *line = scan_next_line(r, NULL, &len); line;
	     line = scan_next_line(r, line, &len)) {
		int e = embedded_is_sign(line, len) ? embedded_line(r, line, len, most, &left) : 0;

		if (e < 0)
			return e;
	}
	return left ? 0 : scan_found(r, SCAN_LIMIT, NULL, NULL);
}

int scan_read_embedded(struct scan_reader *r)
{
	return embedded_read(r, THREAT_CRITICAL);
}

/* Where a command is shown or runs in a container, it is worth a look and no more. */
int scan_read_mentions(struct scan_reader *r)
{
	return embedded_read(r, THREAT_MEDIUM);
}

/* What a text says to models only: comments of HTML are not shown to people. */
int scan_read_comments(struct scan_reader *r)
{
	const char *s = r->source->text, *end = s + r->source->len;
	int e = 0;

	while (e == 0 && (s = memmem(s, (size_t)(end - s), "<!--", 4)) != NULL) {
		const char *close = memmem(s, (size_t)(end - s), "-->", 3);
		struct scan_source part = *r->source;
		struct scan_reader inner = *r;
		size_t before = r->findings->n;
		AUTO_FREE char *text = NULL;

		close = close ? close : end;
		part.len = (size_t)(close - s);
		text = malloc(part.len + 1);
		if (!text)
			return cordon_nomem(r->err);
		memcpy(text, s, part.len);
		text[part.len] = '\0';
		part.text = text;
		inner.source = &part;
		e = scan_read_instructions(&inner);
		for (size_t i = before; i < r->findings->n; i++)
			r->findings->items[i].line += scan_line_number(r, s) - 1;
		s = close;
	}
	return e;
}
