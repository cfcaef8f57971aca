/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters: what a name stands for, and what the operators in ${name…} make of its value. */
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

	if (!script || !(param_name_is(name, len, "0") || param_name_is(name, len, "BASH_SOURCE")))
		return false;
	*ret = (struct shell_text){.s = script, .len = strlen(script), .is_known = true};
	return true;
}

/* The value of a name: is it set? */
bool param_lookup(struct run *r, const char *name, size_t len, struct shell_text *ret)
{
	const struct run_variable *v = run_get(r, name, len);

	*ret = (struct shell_text){0};
	if (v) {
		*ret = v->value;
		return true;
	}
	return param_positional(r, name, len, ret) || param_builtin(name, len, ret) ||
	       param_script(r, name, len, ret);
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
	    (k > 0 && parse_int(number[1], 0, 1 << 20, &count) < 0))
		return (struct shell_text){.taint = v.taint};
	if (from < 0)
		from = (int64_t)v.len + from < 0 ? 0 : (int64_t)v.len + from;
	if ((size_t)from > v.len)
		from = (int64_t)v.len;
	if (count > (int64_t)v.len - from)
		count = (int64_t)v.len - from;
	return run_known(r, v.s + from, (size_t)count, v.taint);
}
