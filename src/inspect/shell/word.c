/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words: quotes, escapes, braces, variables and substitutions resolved from the text of a node.  The tree is asked
 * only where substitutions stand; quoting is read here, because a word is what bash makes of its bytes, however
 * oddly they are put together.
 */
#include "inspect/shell/decode.h"
#include "inspect/shell/run.h"

#include "base/parse.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Marks inside a word that is being built; the same bytes of the source become DEL. */
enum { MARK_SPLIT = 2, MARK_OPEN = 3, MARK_COMMA = 4, MARK_SHUT = 5 };

struct scan {
	struct run *r;
	uint32_t node; /* within which substitutions are looked for */
	struct buf out;
	unsigned taint, flags;
	unsigned braces;
	bool has_quotes; /* an empty word counts */
};

static void scan_range(struct scan *s, size_t start, size_t end, bool is_quoted);

static void scan_char(struct scan *s, char c)
{
	buf_char(&s->out, c > 0 && c <= MARK_SHUT ? '\177' : c);
}

/* A value that the shell splits at blanks unless it is quoted, and at what IFS was set to. */
static void scan_value(struct scan *s, const struct shell_text *v, bool is_quoted)
{
	const struct run_variable *ifs = is_quoted ? NULL : run_get(s->r, "IFS", 3);
	const struct shell_text *more = ifs && ifs->value.s ? &ifs->value : NULL;

	run_charge(s->r, v->len / 8);
	s->taint |= v->taint;
	s->flags |= WORD_EXPANDED | (v->is_known ? 0 : WORD_UNKNOWN);
	if (!v->s && !v->is_known)
		buf_char(&s->out, SHELL_UNKNOWN);
	for (size_t i = 0; i < v->len; i++) {
		char c = v->s[i];

		bool is_blank = c == ' ' || c == '\t' || c == '\n';
		bool is_mark = !is_blank && more && memchr(more->s, c, more->len);

		/* cut at a sign that was set for it: harmless among operands, a disguise in a name */
		if (is_mark)
			s->flags |= WORD_ODD;
		if (!is_quoted && (is_blank || is_mark))
			buf_char(&s->out, MARK_SPLIT);
		else if (c == SHELL_UNKNOWN)
			buf_char(&s->out, c);
		else
			scan_char(s, c);
		if (!is_quoted && (c == '*' || c == '?' || c == '['))
			s->flags |= WORD_GLOB;
	}
}

static uint32_t scan_find(struct scan *s, size_t at)
{
	const struct shell_node *nodes = s->r->tree->nodes;
	uint32_t i = s->node;

	while (i < s->r->tree->n && run_step(s->r)) {
		uint32_t kind = nodes[i].kind;
		uint32_t child = nodes[i].first;

		if (nodes[i].start == at &&
		    (kind == NODE_COMMAND_SUBSTITUTION || kind == NODE_PROCESS_SUBSTITUTION))
			return i;
		while (child && nodes[child].end <= at && run_step(s->r))
			child = nodes[child].next;
		if (!child || nodes[child].start > at)
			break;
		i = child;
	}
	return 0;
}

/* The end of a bracketed text that begins before at, quotes respected. */
static size_t scan_close(const char *t, size_t at, size_t end, char open, char shut)
{
	unsigned depth = 1;

	for (; at < end; at++) {
		if (t[at] == '\\') {
			at++;
		} else if (t[at] == '\'' && open != '`') {
			while (at + 1 < end && t[at + 1] != '\'')
				at++;
			at++;
		} else if (t[at] == shut) {
			if (--depth == 0)
				return at;
		} else if (t[at] == open) {
			depth++;
		}
	}
	return end;
}

static struct shell_text scan_trimmed(struct shell_text v)
{
	while (v.len > 0 && v.s[v.len - 1] == '\n')
		v.len--;
	return v;
}

/* <(…) and >(…) are files with a name of their own. */
static void scan_process(struct scan *s, uint32_t node)
{
	const struct shell_tree *t = s->r->tree;
	bool is_reader = t->text[t->nodes[node].start] == '>';
	char path[48];

	(void)snprintf(path, sizeof(path), "/dev/fd/sub%zu", s->r->n_files);
	if (is_reader) {
		struct run_file *f = run_grow(s->r, (void **)&s->r->files, &s->r->n_files,
					      &s->r->cap_files, sizeof(*f), LIMIT_SHELL_NAMES);

		if (f)
			*f = (struct run_file){.path = arena_copy(&s->r->m->arena, path,
								  strlen(path)),
					       .tree = t,
					       .reader = node};
		/* Seen now, so that it is judged even when nothing is written. */
		(void)run_children(s->r, node, run_nothing(), false);
	} else {
		run_file_set(s->r, path, run_children(s->r, node, run_nothing(), false), false);
	}
	buf_str(&s->out, path);
}

/* A substitution at `at`; gives the place behind it. */
static size_t scan_substitution(struct scan *s, size_t at, size_t end, bool is_quoted)
{
	const struct shell_tree *t = s->r->tree;
	uint32_t node = scan_find(s, at);
	struct shell_text v;
	size_t shut;

	if (node && t->nodes[node].end > at && t->nodes[node].end <= end) {
		if (t->nodes[node].kind == NODE_PROCESS_SUBSTITUTION) {
			scan_process(s, node);
		} else {
			v = scan_trimmed(run_children(s->r, node, run_nothing(), false));
			scan_value(s, &v, is_quoted);
		}
		return t->nodes[node].end;
	}
	at += t->text[at] == '`' ? 1 : 2;
	shut = t->text[at - 1] == '`' ? scan_close(t->text, at, end, '`', '`')
				      : scan_close(t->text, at, end, '(', ')');
	v = scan_trimmed(run_text(s->r, t->text + at, shut - at, 0, run_nothing()));
	scan_value(s, &v, is_quoted);
	return shut < end ? shut + 1 : end;
}

/* A name in arithmetic: its value is read as arithmetic too, and subscripts in that are expanded. */
static size_t scan_number(struct scan *s, size_t at, size_t end)
{
	const char *t = s->r->tree->text;
	size_t start = at;
	const struct run_variable *v;

	while (at < end && param_is_name(t[at]))
		at++;
	v = run_get(s->r, t + start, at - start);
	if (v && v->value.s && memchr(v->value.s, '[', v->value.len))
		run_substitutions(s->r, v->value.s, v->value.len);
	return at;
}

static void scan_arithmetic(struct scan *s, size_t start, size_t end)
{
	const char *t = s->r->tree->text;
	struct buf kept = s->out;

	/* What stands in it is run; the number does not matter. */
	s->out = BUF_INIT(LIMIT_SHELL_WORD);
	for (size_t i = start; i < end;)
		if (t[i] == '`' || (t[i] == '$' && i + 1 < end && t[i + 1] == '('))
			i = scan_substitution(s, i, end, true);
		else if (param_is_name(t[i]))
			i = scan_number(s, i, end);
		else
			i++;
	run_buf_done(s->r, &s->out);
	s->out = kept;
	s->flags |= WORD_UNKNOWN;
	buf_char(&s->out, '0');
}

/* ${name op word}; op at [at, end). */
static void scan_operator(struct scan *s, const char *name, size_t len, size_t at, size_t end,
			  bool is_quoted)
{
	const char *t = s->r->tree->text;
	struct shell_text v;
	bool is_set = param_lookup(s->r, name, len, &v);
	bool has_colon = t[at] == ':';
	bool is_empty = !is_set || (has_colon && v.is_known && v.len == 0);
	char op = has_colon && at + 1 < end ? t[at + 1] : t[at];

	if (op == '-' || op == '=' || op == '+' || op == '?') {
		size_t word = at + 1 + has_colon;

		if (op == '+' ? !is_empty : is_empty && op != '?') {
			/* A name that we never saw set may be set by others: both are possible. */
			s->taint |= v.taint & TAINT_KEY;
			scan_range(s, word, end, is_quoted);
			s->flags |= WORD_EXPANDED;
		} else if (op != '+' && (is_set || op == '?')) {
			scan_value(s, &v, is_quoted);
		}
		if (op == '=' && is_empty)
			run_set(s->r, name, len, run_known(s->r, t + word, end - word, 0));
		return;
	}
	if (t[at] == '#' || t[at] == '%')
		v = param_cut(s->r, v, t + at, end - at);
	else if (has_colon && param_name_is(name, len, "PATH") && at + 4 == end)
		v = run_known(s->r, "/", memcmp(t + at, ":0:1", 4) == 0, 0);
	else if (has_colon && param_name_is(name, len, "HOME") && at + 4 == end)
		v = run_known(s->r, "/", memcmp(t + at, ":0:1", 4) == 0, 0);
	else if (has_colon && param_name_is(name, len, "PWD") && at + 4 == end)
		v = run_known(s->r, "/", memcmp(t + at, ":0:1", 4) == 0, 0);
	else if (has_colon)
		v = param_slice(s->r, v, t + at, end - at);
	else if (t[at] == '[')
		v = param_item(s->r, name, len, t + at, end - at,
			       (struct shell_text){
				       .taint = v.taint, .s = v.s, .len = v.len, .is_known = true});
	else if (t[at] == '/' || t[at] == '^' || t[at] == ',' || t[at] == '@')
		v = param_change(s->r, v, t + at, end - at);
	if (v.is_known && !v.s)
		v.is_known = false;
	scan_value(s, &v, is_quoted);
}

/* ${…} from behind the brace to its end. */
static void scan_braced(struct scan *s, size_t start, size_t end, bool is_quoted)
{
	const char *t = s->r->tree->text;
	size_t at = start;
	struct shell_text v = {0};

	if (at < end && t[at] == '#' && at + 1 < end) {
		s->flags |= WORD_UNKNOWN | WORD_EXPANDED;
		buf_char(&s->out, '0');
		return;
	}
	if (at < end && t[at] == '!')
		at++;
	start = at;
	while (at < end && param_is_name(t[at]))
		at++;
	if (at == start && at < end)
		at++;
	if (start > 0 && t[start - 1] == '!') {
		if (param_lookup(s->r, t + start, at - start, &v) && v.is_known)
			(void)param_lookup(s->r, v.s, v.len, &v);
		scan_value(s, &v, is_quoted);
	} else if (at < end) {
		scan_operator(s, t + start, at - start, at, end, is_quoted);
	} else {
		(void)param_lookup(s->r, t + start, at - start, &v);
		if (!is_quoted && param_name_is(t + start, at - start, "IFS") && s->out.len > 0)
			s->flags |= WORD_ODD;
		scan_value(s, &v, is_quoted);
	}
}

/* A parameter in the middle of a word, which a command has none of: $@ between letters, $9 behind $IFS. */
static bool scan_is_glue(const struct scan *s, size_t at, size_t end)
{
	const char *t = s->r->tree->text;

	if (s->r->params || s->r->n_params > 0 || at == 0 || at + 2 > end)
		return false;
	if (strchr("@*", t[at + 1]))
		return at + 2 < end && param_is_name(t[at - 1]) && param_is_name(t[at + 2]);
	return (at >= 4 && memcmp(t + at - 4, "$IFS", 4) == 0) ||
	       (at >= 6 && memcmp(t + at - 6, "${IFS}", 6) == 0);
}

/* Something that begins with a dollar sign; gives the place behind it. */
static size_t scan_dollar(struct scan *s, size_t at, size_t end, bool is_quoted)
{
	const char *t = s->r->tree->text;
	char c = at + 1 < end ? t[at + 1] : '\0';
	struct shell_text v;
	size_t shut;

	if (c == '(' && at + 2 < end && t[at + 2] == '(') {
		shut = scan_close(t, at + 2, end, '(', ')');
		if (shut < end && t[shut - 1] == ')' && !scan_find(s, at)) {
			scan_arithmetic(s, at + 3, shut - 1);
			return shut + 1;
		}
	}
	if (c == '(')
		return scan_substitution(s, at, end, is_quoted);
	if (c == '{') {
		shut = scan_close(t, at + 2, end, '{', '}');
		scan_braced(s, at + 2, shut, is_quoted);
		return shut < end ? shut + 1 : end;
	}
	if (c == '\'' && !is_quoted) {
		shut = at + 2;
		while (shut < end && t[shut] != '\'')
			shut += t[shut] == '\\' ? 2 : 1;
		shut = shut < end ? shut : end;
		if (memchr(t + at + 2, '\\', shut - at - 2))
			s->flags |= WORD_ODD;
		decode_escapes(t + at + 2, shut - at - 2, true, &s->out);
		s->has_quotes = true;
		return shut < end ? shut + 1 : end;
	}
	if (c == '"' && !is_quoted)
		return at + 1;
	/* c$IFS$9at and who$@ami: nothing stands there, and that is what it is for */
	if (!is_quoted && c && strchr("@*123456789", c) && scan_is_glue(s, at, end)) {
		s->flags |= WORD_ODD;
		return at + 2;
	}
	if (param_is_name(c)) {
		shut = at + 2;
		while (shut < end && param_is_name(t[shut]) && !(c >= '0' && c <= '9'))
			shut++;
		(void)param_lookup(s->r, t + at + 1, shut - at - 1, &v);
		s->flags |= !is_quoted && param_name_is(t + at + 1, shut - at - 1, "IFS") &&
					    s->out.len > 0
				    ? WORD_ODD
				    : 0;
		scan_value(s, &v, is_quoted);
		return shut;
	}
	if (c && strchr("@*#?!$-", c)) {
		if (c == '$')
			v = (struct shell_text){.s = "$$", .len = 2, .is_known = true};
		else if (!param_positional(s->r, &c, 1, &v))
			v = (struct shell_text){0};
		scan_value(s, &v, is_quoted);
		return at + 2;
	}
	scan_char(s, '$');
	return at + 1;
}

static size_t scan_double(struct scan *s, size_t at, size_t end)
{
	const char *t = s->r->tree->text;
	size_t shut = at;

	/* The closing quote, past quotes inside substitutions. */
	while (shut < end && t[shut] != '"') {
		if (t[shut] == '\\')
			shut++;
		else if (t[shut] == '$' && shut + 1 < end && t[shut + 1] == '(')
			shut = scan_close(t, shut + 2, end, '(', ')');
		else if (t[shut] == '`')
			shut = scan_close(t, shut + 1, end, '`', '`');
		shut++;
	}
	shut = shut < end ? shut : end;
	s->has_quotes = true;
	s->flags |= WORD_QUOTED | (shut == at && s->out.len > 0 ? WORD_ODD : 0);
	scan_range(s, at, shut, true);
	return shut < end ? shut + 1 : end;
}

/* w'h'oami: a letter or two in quotes with letters on both sides */
static bool scan_is_splinter(const struct scan *s, size_t at, size_t shut, size_t end)
{
	const char *t = s->r->tree->text;

	if (shut == at || shut - at > 2 || at < 2 || shut + 1 >= end || !param_is_name(t[at - 2]) ||
	    !param_is_name(t[shut + 1]))
		return false;
	for (size_t i = at; i < shut; i++)
		if (!param_is_name(t[i]))
			return false;
	return true;
}

static size_t scan_single(struct scan *s, size_t at, size_t end)
{
	const char *t = s->r->tree->text;
	size_t shut = at;

	while (shut < end && t[shut] != '\'')
		shut++;
	s->has_quotes = true;
	s->flags |= WORD_QUOTED |
		    ((shut == at && s->out.len > 0) || scan_is_splinter(s, at, shut, end) ? WORD_ODD
											  : 0);
	for (size_t i = at; i < shut; i++)
		scan_char(s, t[i]);
	return shut < end ? shut + 1 : end;
}

static size_t scan_escape(struct scan *s, size_t at, size_t end, bool is_quoted)
{
	const char *t = s->r->tree->text;
	char c = at + 1 < end ? t[at + 1] : '\0';

	if (at + 1 >= end) {
		scan_char(s, '\\');
		return end;
	}
	if (c == '\n')
		return at + 2;
	if (is_quoted && !strchr("$`\"\\", c)) {
		scan_char(s, '\\');
		return at + 1;
	}
	if (!is_quoted && param_is_name(c) && s->out.len > 0)
		s->flags |= WORD_ODD;
	scan_char(s, c);
	return at + 2;
}

static void scan_plain(struct scan *s, char c)
{
	if (c == '*' || c == '?' || c == '[')
		s->flags |= WORD_GLOB;
	if (c == '{') {
		s->braces++;
		buf_char(&s->out, MARK_OPEN);
	} else if (c == ',' && s->braces > 0) {
		buf_char(&s->out, MARK_COMMA);
	} else if (c == '}' && s->braces > 0) {
		s->braces--;
		buf_char(&s->out, MARK_SHUT);
	} else {
		scan_char(s, c);
	}
}

static void scan_range(struct scan *s, size_t start, size_t end, bool is_quoted)
{
	const char *t = s->r->tree->text;

	if (++s->r->depth > LIMIT_SHELL_NESTING) {
		s->r->m->notes |= NOTE_CUT;
		s->flags |= WORD_UNKNOWN;
		s->r->depth--;
		return;
	}
	for (size_t i = start; i < end && run_step(s->r);) {
		char c = t[i];

		if (c == '\\')
			i = scan_escape(s, i, end, is_quoted);
		else if (c == '$')
			i = scan_dollar(s, i, end, is_quoted);
		else if (c == '`')
			i = scan_substitution(s, i, end, is_quoted);
		else if (!is_quoted && (c == '<' || c == '>') && i + 1 < end && t[i + 1] == '(')
			i = scan_substitution(s, i, end, is_quoted);
		else if (!is_quoted && c == '"')
			i = scan_double(s, i + 1, end);
		else if (!is_quoted && c == '\'')
			i = scan_single(s, i + 1, end);
		else {
			if (is_quoted)
				scan_char(s, c);
			else
				scan_plain(s, c);
			i++;
		}
	}
	s->r->depth--;
}

/* The rest: braces and splitting. */
static void word_finish(struct scan *s, const char *t, size_t len, struct run_words *out)
{
	struct buf b = BUF_INIT(LIMIT_SHELL_WORD);
	size_t start = 0;

	for (size_t i = 0; i < len; i++)
		buf_char(&b, t[i] == MARK_OPEN    ? '{'
			     : t[i] == MARK_COMMA ? ','
			     : t[i] == MARK_SHUT  ? '}'
						  : t[i]);
	for (size_t i = 0; i <= b.len && b.data; i++) {
		if (i < b.len && b.data[i] != MARK_SPLIT)
			continue;
		if (i > start || (start == 0 && i == b.len && s->has_quotes)) {
			struct shell_word w = {.len = i - start,
					       .taint = s->taint,
					       .flags = s->flags & ~(unsigned)WORD_UNKNOWN};

			w.s = arena_copy(&s->r->m->arena, b.data + start, w.len);
			w.flags |= memchr(w.s, SHELL_UNKNOWN, w.len) ? WORD_UNKNOWN : 0;
			word_add(s->r, out, &w);
		}
		start = i + 1;
	}
	if (b.len == 0 && s->has_quotes) {
		struct shell_word w = {.s = "", .flags = s->flags, .taint = s->taint};

		word_add(s->r, out, &w);
	}
	run_buf_done(s->r, &b);
}

/* {1..3}, {a..e} of at most 32 members; false when it is no range. */
static bool word_series(const char *in, size_t n, int *ret_from, int *ret_to)
{
	char a[16] = "", b[16] = "";
	const char *dots = n > 3 ? memmem(in, n, "..", 2) : NULL;
	int64_t x, y;

	if (!dots || dots - in >= (ptrdiff_t)sizeof(a) || in + n - dots - 2 >= (ptrdiff_t)sizeof(b))
		return false;
	memcpy(a, in, (size_t)(dots - in));
	memcpy(b, dots + 2, (size_t)(in + n - dots - 2));
	if (parse_int(a, 0, 1 << 30, &x) < 0 || parse_int(b, x, x + 31, &y) < 0) {
		if (strlen(a) != 1 || strlen(b) != 1 || a[0] > b[0] || b[0] - a[0] > 31)
			return false;
		x = a[0];
		y = b[0];
	}
	*ret_from = (int)x;
	*ret_to = (int)y;
	return true;
}

static void word_braces(struct scan *s, const char *t, size_t len, struct run_words *out);

static void word_alternative(struct scan *s, const char *t, size_t len, const size_t cut[static 2],
			     const char *middle, size_t middle_len, struct run_words *out)
{
	struct buf b = BUF_INIT(LIMIT_SHELL_WORD);

	buf_add(&b, t, cut[0]);
	buf_add(&b, middle, middle_len);
	buf_add(&b, t + cut[1], len - cut[1]);
	if (b.data)
		word_braces(s, b.data, b.len, out);
	run_buf_done(s->r, &b);
}

static void word_braces(struct scan *s, const char *t, size_t len, struct run_words *out)
{
	size_t open = 0, shut = 0, commas = 0, start;
	unsigned depth = 0;
	int from, to;

	while (open < len && t[open] != MARK_OPEN)
		open++;
	for (shut = open; shut < len; shut++) {
		depth += t[shut] == MARK_OPEN;
		commas += t[shut] == MARK_COMMA && depth == 1;
		if (t[shut] == MARK_SHUT && --depth == 0)
			break;
	}
	if (open >= len || shut >= len || out->n >= LIMIT_SHELL_BRACES || !run_step(s->r) ||
	    s->r->depth > LIMIT_SHELL_NESTING) {
		word_finish(s, t, len, out);
		return;
	}
	s->r->depth++;
	if (commas == 0 && word_series(t + open + 1, shut - open - 1, &from, &to)) {
		for (int i = from; i <= to; i++) {
			char number[16];
			bool is_letter = t[open + 1] > '9';
			int n = is_letter ? 1 : snprintf(number, sizeof(number), "%d", i);

			if (is_letter)
				number[0] = (char)i;
			word_alternative(s, t, len, (size_t[]){open, shut + 1}, number, (size_t)n,
					 out);
		}
		s->r->depth--;
		return;
	}
	if (commas == 0) {
		/* No list: a literal pair of braces. */
		word_finish(s, t, len, out);
		s->r->depth--;
		return;
	}
	start = open + 1;
	depth = 0;
	for (size_t i = open + 1; i <= shut; i++) {
		if ((t[i] == MARK_COMMA && depth == 0) || i == shut) {
			word_alternative(s, t, len, (size_t[]){open, shut + 1}, t + start,
					 i - start, out);
			start = i + 1;
		}
		depth += t[i] == MARK_OPEN;
		depth -= t[i] == MARK_SHUT && depth > 0;
	}
	s->r->depth--;
}

void word_add(struct run *r, struct run_words *out, const struct shell_word *w)
{
	struct shell_word *slot =
		run_grow(r, (void **)&out->v, &out->n, &out->cap, sizeof(*slot), LIMIT_SHELL_WORDS);

	if (slot)
		*slot = *w;
}

struct shell_word word_of(struct run *r, const char *s, size_t len)
{
	struct shell_word w = {.s = arena_copy(&r->m->arena, s, len), .len = len};

	w.flags = memchr(w.s, SHELL_UNKNOWN, strlen(w.s)) ? WORD_UNKNOWN : 0;
	return w;
}

struct shell_text word_value(const struct shell_word *w)
{
	return (struct shell_text){.s = w->s,
				   .len = w->len,
				   .taint = w->taint,
				   .is_known = !(w->flags & WORD_UNKNOWN)};
}

/* "$@" and "${name[@]}" are as many words as there are items. */
static bool word_items(struct run *r, const struct shell_node *n, struct run_words *out)
{
	const char *t = r->tree->text + n->start;
	size_t len = n->end - n->start;
	const struct run_variable *v;
	const struct shell_word *items = r->params;
	size_t n_items = r->n_params;

	if (len > 2 && t[0] == '"' && t[len - 1] == '"')
		t++, len -= 2;
	if (len < 2 || t[0] != '$' || (t[1] != '@' && t[1] != '{'))
		return false;
	if (len > 6 && t[1] == '{' && memcmp(t + len - 4, "[@]}", 4) == 0) {
		v = run_get(r, t + 2, len - 6);
		if (!v || v->n_items == 0)
			return false;
		items = v->items;
		n_items = v->n_items;
	} else if (len != 2 || t[1] != '@') {
		return false;
	}
	if (!items || n_items == 0)
		return false;
	for (size_t i = 0; i < n_items && run_step(r); i++)
		word_add(r, out, &items[i]);
	return true;
}

void word_expand(struct run *r, uint32_t node, struct run_words *out)
{
	const struct shell_node *n = &r->tree->nodes[node];
	struct scan s = {.r = r, .node = node, .out = BUF_INIT(LIMIT_SHELL_WORD)};
	size_t end = n->end;

	if (shell_tree_is_torn(r->tree, n->start) || word_items(r, n, out))
		return;
	if (shell_tree_is_torn(r->tree, end))
		end = shell_tree_torn_end(r->tree, end);
	scan_range(&s, n->start, end, false);
	if (buf_error(&s.out) < 0)
		r->m->notes |= NOTE_CUT;
	word_braces(&s, s.out.data ? s.out.data : "", s.out.len, out);
	run_buf_done(r, &s.out);
}

void word_range(struct run *r, size_t start, size_t end, struct run_words *out)
{
	struct scan s = {.r = r, .node = 0, .out = BUF_INIT(LIMIT_SHELL_WORD)};

	scan_range(&s, start, end, false);
	word_braces(&s, s.out.data ? s.out.data : "", s.out.len, out);
	run_buf_done(r, &s.out);
}

struct shell_word word_one(struct run *r, uint32_t node)
{
	struct run_words words = {0};
	struct buf b = BUF_INIT(LIMIT_SHELL_WORD);
	struct shell_word w = {.s = ""};

	word_expand(r, node, &words);
	if (words.n == 1)
		return words.v[0];
	for (size_t i = 0; i < words.n; i++) {
		if (i > 0)
			buf_char(&b, ' ');
		buf_add(&b, words.v[i].s, words.v[i].len);
		w.taint |= words.v[i].taint;
		w.flags |= words.v[i].flags;
	}
	w.s = arena_copy(&r->m->arena, buf_cstr(&b), b.len);
	w.len = b.len;
	run_buf_done(r, &b);
	return w;
}

struct shell_word word_heredoc(struct run *r, uint32_t node, size_t start, size_t end)
{
	struct scan s = {.r = r, .node = node, .out = BUF_INIT(LIMIT_SHELL_BYTES)};
	struct shell_word w = {0};

	scan_range(&s, start, end, true);
	if (buf_error(&s.out) < 0)
		r->m->notes |= NOTE_CUT;
	w.s = arena_copy(&r->m->arena, buf_cstr(&s.out), s.out.len);
	w.len = s.out.len;
	w.taint = s.taint;
	w.flags = s.flags;
	run_buf_done(r, &s.out);
	return w;
}
