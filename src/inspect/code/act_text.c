/* SPDX-License-Identifier: Apache-2.0 */
/* Acts that texts and statements tell of: encoded strings, queries, pages, passwords, odd names. */
#include "inspect/code/scan.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool contains(const char *s, size_t len, const char *word)
{
	return memmem(s, len, word, strlen(word)) != NULL;
}

#define BLOB_ONE 2000 /* bytes of one encoded string that is much by itself */
#define BLOB_PART 200
#define BLOB_PARTS 5

static bool is_blob(const char *s, size_t len)
{
	bool has_upper = false, has_lower = false, has_digit = false;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (!isalnum(c) && c != '+' && c != '/' && c != '=' && c != '-' && c != '_' &&
		    c != '\n')
			return false;
		has_upper = has_upper || isupper(c);
		has_lower = has_lower || islower(c);
		has_digit = has_digit || isdigit(c);
	}
	return has_digit && (has_lower || has_upper);
}

/* Is the literal, longer than a colour of a terminal, written in escapes only? */
static bool is_escaped(const struct code_tree *t, uint32_t node)
{
	const char *at = t->text + t->nodes[node].start;
	size_t len = t->nodes[node].end - t->nodes[node].start, escapes = 0, bytes = 0;

	for (size_t i = 0; i < len; i++) {
		size_t n = 0;

		if (at[i] == '\\' && i + 1 < len &&
		    (at[i + 1] == 'x' || isdigit((unsigned char)at[i + 1]))) {
			for (n = 2; n < 4 && i + n < len && isxdigit((unsigned char)at[i + n]);)
				n++;
			escapes++;
			i += n - 1;
		}
		bytes++;
	}
	return escapes >= 4 && bytes - escapes <= 4;
}

void code_act_string(struct code_scan *s, uint32_t node, const struct code_value *v)
{
	if (v->str && v->len >= 4 && s->tree->language == CODE_PYTHON &&
	    is_escaped(s->tree, node)) {
		bool is_text = true;

		for (uint32_t i = 0; i < v->len; i++)
			is_text = is_text && isprint((unsigned char)v->str[i]);
		if (is_text)
			code_report(s, CODE_RULE_CODE_ESCAPED, node, NULL);
	}
	if (!v->str || v->len < 8)
		return;
	if (memcmp(v->str, "http", 4) == 0 && code_url_is_shady(v->str, v->len))
		code_report(s, CODE_RULE_CODE_SHADY_URL, node, NULL);
	if ((contains(v->str, v->len, "exec(") || contains(v->str, v->len, "eval(")) &&
	    (contains(v->str, v->len, "urlopen") || contains(v->str, v->len, "requests.get(") ||
	     contains(v->str, v->len, "b64decode(")) &&
	    contains(v->str, v->len, "import"))
		code_report(s, CODE_RULE_CODE_FILE_WITH_CODE, node, NULL);
	if (v->len >= BLOB_PART && is_blob(v->str, v->len)) {
		s->n_blobs++;
		if (v->len >= BLOB_ONE || s->n_blobs == BLOB_PARTS)
			code_report(s, CODE_RULE_CODE_BLOBS, node, NULL);
	}
}

/* ---- passwords ---- */

static bool names_secret(const char *name, size_t len)
{
	static const char *const words[] = {"password",   "passwd",      "passphrase",
					    "secret",     "token",       "api_key",
					    "apikey",     "pwd",         "cred",
					    "secret_key", "private_key", "client_secret",
					    "bearer"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]);

		for (size_t k = 0; k + n <= len; k++)
			if (strncasecmp(name + k, words[i], n) == 0)
				return true;
	}
	return (len == 4 && strncasecmp(name, "pass", 4) == 0);
}

static enum code_rule_id by_language(const struct code_scan *s, enum code_rule_id python,
				     enum code_rule_id go)
{
	return s->tree->language == CODE_GO ? go : python;
}

static void check_password(struct code_scan *s, const char *name, size_t len, uint32_t node,
			   const struct code_value *v)
{
	enum code_kind kind =
		v->node == CODE_NO_NODE ? CODE_OTHER : (enum code_kind)s->tree->nodes[v->node].kind;
	const char *dot = memrchr(name, '.', len);

	if (kind != CODE_STRING && kind != CODE_RAW_STRING && kind != CODE_CONCATENATED &&
	    kind != CODE_BINARY)
		return;
	if (dot)
		len -= (size_t)(dot + 1 - name), name = dot + 1;
	if (!v->is_constant || v->is_number || !names_secret(name, len))
		return;
	if (s->tree->language == CODE_GO && (v->len < 8 || memchr(v->str, ' ', v->len)))
		return;
	code_report(s, by_language(s, CODE_RULE_PY_PASSWORD, CODE_RULE_GO_PASSWORD), node, NULL);
}

static bool is_page(const struct code_value *v)
{
	for (uint32_t i = 0; i + 2 < v->len; i++)
		if (v->str[i] == '<' &&
		    (isalpha((unsigned char)v->str[i + 1]) || v->str[i + 1] == '/') &&
		    memchr(v->str + i, '>', v->len - i))
			return true;
	return false;
}

static void check_text(struct code_scan *s, uint32_t node, const struct code_value *v)
{
	if (!v->str || v->is_constant || !(v->flags & CODE_IS_BUILT))
		return;
	if (code_is_sql(v))
		code_report(s, by_language(s, CODE_RULE_PY_SQL_TEXT, CODE_RULE_GO_SQL_TEXT), node,
			    NULL);
	else if (is_page(v))
		code_report(s, by_language(s, CODE_RULE_PY_HTML_TEXT, CODE_RULE_GO_HTML_TEXT), node,
			    NULL);
}

void code_act_assign(struct code_scan *s, const char *name, size_t len, uint32_t node,
		     const struct code_value *v)
{
	check_password(s, name, len, node, v);
	check_text(s, node, v);
	code_act_environ(s, name, len, node, v);
	if (s->tree->language == CODE_PYTHON && contains(name, len, ".config[") &&
	    (contains(name, len, "SECRET_KEY") || contains(name, len, "TESTING") ||
	     contains(name, len, "DEBUG") || contains(name, len, "ENV")))
		code_report(s, CODE_RULE_PY_CONFIG, node, NULL);
	if (s->tree->language == CODE_GO && len > 9 && memcmp(name + len - 9, ".Director", 9) == 0)
		code_report(s, CODE_RULE_GO_DIRECTOR, node, NULL);
	if (s->tree->language == CODE_GO && len > 6 && (v->flags & CODE_FROM_SOCKET) &&
	    (memcmp(name + len - 6, ".Stdin", 6) == 0 ||
	     (len > 7 && memcmp(name + len - 7, ".Stdout", 7) == 0)))
		code_report(s, CODE_RULE_GO_EXEC_SOCKET, node, NULL);
}

/* ---- statements ---- */

static void except_pass(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t block = code_child_of_kind(t, node, CODE_BLOCK), first;

	if (block == CODE_NO_NODE)
		return;
	first = code_first(t, block);
	if (first != CODE_NO_NODE && t->nodes[first].skip == t->nodes[block].skip &&
	    (t->nodes[first].kind == CODE_PASS || t->nodes[first].kind == CODE_CONTINUE))
		code_report(s, CODE_RULE_PY_EXCEPT_PASS, node, NULL);
}

static void compare_password(struct code_scan *s, uint32_t node)
{
	uint32_t left = code_first(s->tree, node);
	const struct code_node *n;

	if (left == CODE_NO_NODE || s->tree->nodes[left].skip >= s->tree->nodes[node].skip)
		return;
	n = &s->tree->nodes[left];
	if (n->kind != CODE_IDENTIFIER && n->kind != CODE_ATTRIBUTE)
		return;
	CODE_EACH_CHILD(s->tree, node, c)
	if (c != left && s->tree->nodes[c].kind == CODE_STRING)
		check_password(s, s->tree->text + n->start, n->end - n->start, node,
			       code_eval(s, c));
}

static void strange_name(struct code_scan *s, uint32_t node)
{
	static const char *const words[] = {"exec",       "eval",    "os",   "system", "__import__",
					    "subprocess", "getattr", "open", "popen",  "compile"};
	const struct code_node *n = &s->tree->nodes[node];
	struct code_text plain = {.arena = &s->arena};
	bool is_plain = true;

	for (uint32_t i = n->start; i < n->end && is_plain; i++)
		is_plain = !(s->tree->text[i] & 0x80);
	if (is_plain)
		return;
	code_plain_name(&plain, s->tree->text + n->start, n->end - n->start);
	for (size_t i = 0; !plain.is_broken && i < ARRAY_LEN(words); i++)
		if (plain.len == strlen(words[i]) && memcmp(plain.data, words[i], plain.len) == 0)
			code_report(s, CODE_RULE_PY_STRANGE_NAMES, node, NULL);
}

static void return_reduce(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t function = code_ancestor(t, node, CODE_FUNCTION);
	uint32_t value = code_first(t, node), name;

	if (value == CODE_NO_NODE)
		return;
	check_text(s, node, code_eval(s, value));
	if (function == CODE_NO_NODE)
		return;
	name = code_child(t, function, CODE_FIELD_NAME);
	if (!code_is(t, name, "__reduce__") && !code_is(t, name, "__reduce_ex__"))
		return;
	for (uint32_t c = value; c < t->nodes[node].skip; c++) {
		const struct code_value *v;

		if (t->nodes[c].kind != CODE_ATTRIBUTE && t->nodes[c].kind != CODE_IDENTIFIER)
			continue;
		v = code_eval(s, c);
		if (v->name && (strcmp(v->name, "os.system") == 0 || strcmp(v->name, "eval") == 0 ||
				strcmp(v->name, "exec") == 0 || strcmp(v->name, "os.popen") == 0 ||
				strncmp(v->name, "subprocess.", 11) == 0))
			code_report(s, CODE_RULE_PY_REDUCE, node, NULL);
	}
}

static void subscript_globals(struct code_scan *s, uint32_t node)
{
	uint32_t object = code_child(s->tree, node, CODE_FIELD_VALUE);
	uint32_t index = code_child(s->tree, node, CODE_FIELD_INDEX);
	const char *name = object == CODE_NO_NODE ? NULL : code_eval(s, object)->name;

	if (name && index != CODE_NO_NODE &&
	    (strcmp(name, "globals()") == 0 || strcmp(name, "locals()") == 0) &&
	    !code_eval(s, index)->is_constant)
		code_report(s, CODE_RULE_PY_GLOBALS_USE, node, NULL);
}

static void exec_statement(struct code_scan *s, uint32_t node)
{
	uint32_t code = code_first(s->tree, node);
	const struct code_value *v = code == CODE_NO_NODE ? NULL : code_eval(s, code);
	int r;

	code_report(s, CODE_RULE_PY_EXEC_STATEMENT, node, NULL);
	if (v && (v->flags & CODE_FROM_DECODED))
		code_report(s, CODE_RULE_PY_EVAL_DECODED, node, NULL);
	if (v && (v->flags & CODE_FROM_NET))
		code_report(s, CODE_RULE_PY_EVAL_NET, node, NULL);
	if (!v || !v->str || s->is_first_walk || s->error || !s->sink->code)
		return;
	r = s->sink->code(s->sink->arg, v->str, v->len, s->tree->nodes[node].line, s->err);
	if (r < 0)
		s->error = r;
}

static void python_statement(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t name, value;

	switch (t->nodes[node].kind) {
	case CODE_ASSERT:
		code_report(s, CODE_RULE_PY_ASSERT, node, NULL);
		break;
	case CODE_EXCEPT:
		except_pass(s, node);
		break;
	case CODE_EXEC:
		exec_statement(s, node);
		break;
	case CODE_COMPARISON:
		compare_password(s, node);
		break;
	case CODE_IDENTIFIER:
		strange_name(s, node);
		break;
	case CODE_RETURN:
		return_reduce(s, node);
		code_act_value(s, node);
		break;
	case CODE_DECORATOR:
	case CODE_ASSIGNMENT:
		code_act_value(s, node);
		break;
	case CODE_SUBSCRIPT:
		subscript_globals(s, node);
		break;
	case CODE_PARAMETER:
	case CODE_PAIR:
		name = code_child(t, node,
				  t->nodes[node].kind == CODE_PAIR ? CODE_FIELD_KEY
								   : CODE_FIELD_NAME);
		value = code_child(t, node, CODE_FIELD_VALUE);
		if (name != CODE_NO_NODE && value != CODE_NO_NODE) {
			check_password(s, t->text + t->nodes[name].start,
				       t->nodes[name].end - t->nodes[name].start, node,
				       code_eval(s, value));
			check_text(s, node, code_eval(s, value));
		}
		break;
	default:
		break;
	}
}

void code_act_node(struct code_scan *s, uint32_t node)
{
	if (s->tree->language == CODE_PYTHON)
		python_statement(s, node);
}
