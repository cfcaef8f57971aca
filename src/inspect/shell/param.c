/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters: what a name stands for, and what the operators in ${name…} make of its value. */
#include "inspect/shell/decode.h"
#include "inspect/shell/provider.h"
#include "inspect/shell/run.h"

#include "base/parse.h"
#include "base/str.h"

#include <string.h>

bool param_is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

bool param_name_is(const char *name, size_t len, const char *want)
{
	return strlen(want) == len && memcmp(name, want, len) == 0;
}

/* Variables that every shell has, as far as they matter. */
static bool param_builtin(const char *name, size_t len, struct shell_text *ret)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
		{"HOME", "~"},        {"PWD", "."},          {"TMPDIR", "/tmp/user"},
		{"IFS", " "},         {"SHELL", "bash"},     {"BASH", "bash"},
		{"TMP", "/tmp/user"}, {"TEMP", "/tmp/user"}, {"HISTFILE", "~/.bash_history"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (param_name_is(name, len, rows[i].name)) {
			*ret = (struct shell_text){
				.s = rows[i].value, .len = strlen(rows[i].value), .is_known = true};
			return true;
		}
	return false;
}

/* $1, $@ and the like. */
bool param_positional(struct run *r, const char *name, size_t len, struct shell_text *ret)
{
	struct shell_text all = {.s = "", .is_known = true};

	if (len != 1 || !strchr("123456789@*", name[0]) || (!r->params && r->n_params == 0))
		return false;
	if (name[0] != '@' && name[0] != '*') {
		size_t i = (size_t)(name[0] - '1');

		*ret = i < r->n_params ? word_value(&r->params[i]) : all;
		return true;
	}
	for (size_t i = 0; i < r->n_params; i++) {
		if (i > 0)
			all = run_join(r, all, run_known(r, " ", 1, 0));
		all = run_join(r, all, word_value(&r->params[i]));
	}
	*ret = all;
	return true;
}

/* $0 and ${BASH_SOURCE[0]}: the script that is read. */
static bool param_script(const struct run *r, const char *name, size_t len, struct shell_text *ret)
{
	const char *script = r->m->context ? r->m->context->script : NULL;

	/* what reads a command is a shell */
	if (!script && param_name_is(name, len, "0") && r->tree &&
	    strncmp(r->tree->text, "#!", 2) == 0)
		return false; /* a script whose name is not known */
	if (!script && param_name_is(name, len, "0")) {
		*ret = (struct shell_text){.s = "bash", .len = 4, .is_known = true};
		return true;
	}
	if (!script || !(param_name_is(name, len, "0") || param_name_is(name, len, "BASH_SOURCE")))
		return false;
	*ret = (struct shell_text){.s = script, .len = strlen(script), .is_known = true};
	return true;
}

/* The value of a name: is it set? */
bool param_lookup(struct run *r, const char *name, size_t len, struct shell_text *ret)
{
	const struct run_variable *v = run_get(r, name, len);
	unsigned provider;

	*ret = (struct shell_text){0};
	if (v) {
		*ret = v->value;
		return true;
	}
	if (param_positional(r, name, len, ret) || param_builtin(name, len, ret) ||
	    param_script(r, name, len, ret))
		return true;
	/* what only the environment can have set */
	provider = provider_of(name, len);
	r->m->providers |= provider;
	ret->taint = provider ? TAINT_KEY : 0;
	return false;
}

struct shell_text param_cut(struct run *r, struct shell_text v, const char *op, size_t len)
{
	struct shell_word w = {0};
	size_t n;

	if (!v.is_known || len < 2)
		return (struct shell_text){.taint = v.taint};
	/* the directory of a path, and its last part */
	if (len == 3 && memcmp(op, "%/*", 3) == 0) {
		const char *slash = memrchr(v.s, '/', v.len);

		return slash ? run_known(r, v.s, (size_t)(slash - v.s), v.taint) : v;
	}
	if (len == 4 && memcmp(op, "##*/", 4) == 0) {
		const char *slash = memrchr(v.s, '/', v.len);
		size_t from = slash ? (size_t)(slash - v.s) + 1 : 0;

		return run_known(r, v.s + from, v.len - from, v.taint);
	}
	while (len > 0 && (*op == '#' || *op == '%') && len > 1 && op[0] == op[1])
		op++, len--;
	w = word_of(r, op + 1, len - 1);
	n = w.len;
	if (memchr(w.s, '*', n) || memchr(w.s, '?', n) || memchr(w.s, '$', n))
		return (struct shell_text){.taint = v.taint};
	if (*op == '%' && n <= v.len && memcmp(v.s + v.len - n, w.s, n) == 0)
		return run_known(r, v.s, v.len - n, v.taint);
	if (*op == '#' && n <= v.len && memcmp(v.s, w.s, n) == 0)
		return run_known(r, v.s + n, v.len - n, v.taint);
	return v;
}

struct shell_text param_slice(struct run *r, struct shell_text v, const char *op, size_t len)
{
	char number[2][16] = {"", ""};
	int64_t from = 0, count = INT64_MAX;
	unsigned k = 0;

	for (size_t i = 1, at = 0; i < len && k < 2; i++) {
		if (op[i] == ':') {
			k++;
			at = 0;
		} else if (op[i] != ' ' && at + 1 < sizeof(number[0])) {
			number[k][at++] = op[i];
			number[k][at] = '\0';
		}
	}
	if (!v.is_known || parse_int(number[0], -4096, 1 << 20, &from) < 0 ||
	    (k > 0 && parse_int(number[1], -4096, 1 << 20, &count) < 0))
		return (struct shell_text){.taint = v.taint};
	if (from < 0)
		from = (int64_t)v.len + from < 0 ? 0 : (int64_t)v.len + from;
	if ((size_t)from > v.len)
		from = (int64_t)v.len;
	if (count < 0)
		count = (int64_t)v.len + count > from ? (int64_t)v.len + count - from : 0;
	if (count > (int64_t)v.len - from)
		count = (int64_t)v.len - from;
	return run_known(r, v.s + from, (size_t)count, v.taint);
}

static char param_case(char c, bool is_upper)
{
	if (is_upper)
		return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static struct shell_text param_cased(struct run *r, struct shell_text v, bool is_upper, bool is_all)
{
	char *s = arena_take(&r->m->arena, v.len + 1);

	if (!s)
		return (struct shell_text){.taint = v.taint};
	for (size_t i = 0; i < v.len; i++)
		s[i] = is_all || i == 0 ? param_case(v.s[i], is_upper) : v.s[i];
	s[v.len] = '\0';
	v.s = s;
	return v;
}

/* A pattern or a word without its quotes; false when it has a value in it or, as a pattern, is no plain text. */
static bool param_plain(const char *s, size_t len, bool is_pattern, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '$' || s[i] == '`' || (is_pattern && strchr("*?[", s[i])))
			return false;
		if (s[i] == '\\' && i + 1 < len)
			i++;
		else if (s[i] == '\'' || s[i] == '"')
			continue;
		buf_char(out, s[i]);
	}
	return true;
}

/* ${name/pattern/word} with a pattern that is plain text; // is everywhere, /# and /% are at an end */
static struct shell_text param_replace(struct run *r, struct shell_text v, const char *op,
				       size_t len)
{
	struct buf from = BUF_INIT(LIMIT_SHELL_WORD), to = BUF_INIT(LIMIT_SHELL_WORD);
	struct buf out = BUF_INIT(LIMIT_SHELL_WORD);
	bool is_all = len > 1 && op[1] == '/';
	char side = len > 1 && (op[1] == '#' || op[1] == '%') ? op[1] : '\0';
	size_t start = is_all || side ? 2 : 1, cut = start;
	struct shell_text result = {.taint = v.taint};
	bool is_done = false;

	while (cut < len && op[cut] != '/')
		cut += op[cut] == '\\' && cut + 1 < len ? 2 : 1;
	if (param_plain(op + start, cut - start, true, &from) && from.len > 0 &&
	    (cut + 1 >= len || param_plain(op + cut + 1, len - cut - 1, false, &to))) {
		for (size_t i = 0; i < v.len;) {
			bool fits = v.len - i >= from.len &&
				    memcmp(v.s + i, from.data, from.len) == 0 &&
				    (is_all || !is_done) && (side != '#' || i == 0) &&
				    (side != '%' || i + from.len == v.len);

			if (fits) {
				buf_add(&out, to.data, to.len);
				i += from.len;
				is_done = true;
			} else {
				buf_char(&out, v.s[i++]);
			}
		}
		run_charge(r, v.len);
		result = run_known(r, buf_cstr(&out), out.len, v.taint);
	}
	run_buf_done(r, &from);
	run_buf_done(r, &to);
	run_buf_done(r, &out);
	return result;
}

struct shell_text param_change(struct run *r, struct shell_text v, const char *op, size_t len)
{
	struct buf b = BUF_INIT(LIMIT_SHELL_WORD);

	if (!v.is_known || !v.s)
		return (struct shell_text){.taint = v.taint};
	if (op[0] == '/')
		return param_replace(r, v, op, len);
	if (op[0] == ',' || op[0] == '^')
		return param_cased(r, v, op[0] == '^', len > 1 && op[1] == op[0]);
	if (op[0] != '@' || len != 2)
		return (struct shell_text){.taint = v.taint};
	switch (op[1]) {
	case 'L':
	case 'U':
	case 'u':
		return param_cased(r, v, op[1] != 'L', op[1] != 'u');
	case 'E':
		decode_escapes(v.s, v.len, true, &b);
		v = run_known(r, buf_cstr(&b), b.len, v.taint);
		run_buf_done(r, &b);
		return v;
	case 'P':
		run_substitutions(r, v.s, v.len);
		return v;
	default:
		return (struct shell_text){.taint = v.taint};
	}
}

struct shell_text param_item(struct run *r, const char *name, size_t name_len, const char *op,
			     size_t len, struct shell_text v)
{
	const struct run_variable *var = run_get(r, name, name_len);
	struct shell_text all = run_nothing();
	size_t at = 0, i = 1;

	/* m[key]=value was kept by its whole name */
	if (op == name + name_len && len > 2 && op[len - 1] == ']') {
		const struct run_variable *item = run_get(r, name, name_len + len);

		if (item)
			return item->value;
	}
	if (!var || var->n_items == 0 || len < 3)
		return v;
	if (op[1] == '@' || op[1] == '*') {
		for (size_t k = 0; k < var->n_items && run_step(r); k++) {
			if (k > 0)
				all = run_join(r, all, run_known(r, " ", 1, 0));
			all = run_join(r, all, word_value(&var->items[k]));
		}
		return all;
	}
	for (; i < len && op[i] >= '0' && op[i] <= '9' && at < LIMIT_SHELL_WORDS; i++)
		at = at * 10 + (size_t)(op[i] - '0');
	if (i == 1 || op[i] != ']')
		return v;
	return at < var->n_items ? word_value(&var->items[at]) : run_nothing();
}
