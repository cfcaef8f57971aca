/* SPDX-License-Identifier: Apache-2.0 */
/* Weaknesses of go code that no call's name tells of. */
#include "inspect/code/scan.h"

#include "base/mem.h"

#include <string.h>
#include <strings.h>

static bool text_has(const struct code_tree *t, uint32_t node, const char *word)
{
	return node != CODE_NO_NODE &&
	       memmem(t->text + t->nodes[node].start, t->nodes[node].end - t->nodes[node].start,
		      word, strlen(word)) != NULL;
}

static bool has_key(const struct code_tree *t, uint32_t body, const char *key)
{
	if (body == CODE_NO_NODE)
		return false;
	CODE_EACH_CHILD(t, body, c)
	if (t->nodes[c].kind == CODE_PAIR) {
		uint32_t k = code_child(t, c, CODE_FIELD_KEY);

		if (code_is(t, k, key))
			return true;
	}
	return false;
}

/* The program of an exec.Cmd: one that is not constant, or a shell. */
static void exec_path(struct code_scan *s, uint32_t node, const struct code_value *path)
{
	static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh"};
	const char *last = path->str ? memrchr(path->str, '/', path->len) : NULL;
	const char *name = last ? last + 1 : path->str;
	bool is_odd = !path->is_constant;

	for (size_t i = 0; i < ARRAY_LEN(shells) && name; i++)
		is_odd = is_odd || ((size_t)(path->str + path->len - name) == strlen(shells[i]) &&
				    memcmp(name, shells[i], strlen(shells[i])) == 0);
	if (is_odd)
		code_report(s, CODE_RULE_GO_EXEC_PATH, node, NULL);
}

/* exec.Cmd{Path: ..., Args: []string{...}} is the command of its arguments. */
static void exec_struct(struct code_scan *s, uint32_t node, uint32_t body)
{
	const struct code_tree *t = s->tree;

	code_report(s, CODE_RULE_GO_EXEC_STRUCT, node, NULL);
	if (body == CODE_NO_NODE)
		return;
	CODE_EACH_CHILD(t, body, pair)
	{
		uint32_t key = code_first(t, pair), value;

		if (t->nodes[pair].kind != CODE_PAIR || key == CODE_NO_NODE)
			continue;
		value = t->nodes[key].skip;
		if (value >= t->nodes[pair].skip)
			continue;
		if (code_is(t, key, "Args"))
			code_act_words(s, node, code_eval(s, value)->node);
		else if (code_is(t, key, "Path"))
			exec_path(s, node, code_eval(s, value));
	}
}

/* cmd.Args = []string{...}, cmd.Path = ... */
static void exec_words(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t left = code_child(t, node, CODE_FIELD_LEFT), object, field;
	uint32_t right = code_child(t, node, CODE_FIELD_RIGHT);
	const struct code_value *command;

	if (left == CODE_NO_NODE || right == CODE_NO_NODE)
		return;
	if (t->nodes[left].kind == CODE_LIST)
		left = code_first(t, left);
	if (left == CODE_NO_NODE || t->nodes[left].kind != CODE_ATTRIBUTE)
		return;
	object = code_child(t, left, CODE_FIELD_OBJECT);
	field = code_child(t, left, CODE_FIELD_ATTRIBUTE);
	if (object == CODE_NO_NODE || field == CODE_NO_NODE ||
	    !(code_is(t, field, "Args") || code_is(t, field, "Path")))
		return;
	command = code_eval(s, object);
	if (!command->name || strcmp(command->name, "os/exec.Cmd") != 0)
		return;
	if (code_is(t, field, "Args")) {
		code_act_words(s, node, code_eval(s, right)->node);
		return;
	}
	if (t->nodes[right].kind == CODE_LIST)
		right = code_first(t, right);
	if (right != CODE_NO_NODE)
		exec_path(s, node, code_eval(s, right));
}

static void composite(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t body = code_child(t, node, CODE_FIELD_BODY);
	const char *name = code_eval(s, node)->name;

	if (!name)
		return;
	if (strcmp(name, "net/http.Server") == 0 && !has_key(t, body, "ReadHeaderTimeout") &&
	    !has_key(t, body, "ReadTimeout"))
		code_report(s, CODE_RULE_GO_SERVER_STRUCT, node, NULL);
	if (strcmp(name, "crypto/tls.Config") == 0) {
		if (!has_key(t, body, "MinVersion"))
			code_report(s, CODE_RULE_GO_TLS_STRUCT, node, NULL);
		if (has_key(t, body, "VerifyPeerCertificate") &&
		    !has_key(t, body, "VerifyConnection"))
			code_report(s, CODE_RULE_GO_TLS_CALLBACK, node, NULL);
	}
	if (strcmp(name, "os/exec.Cmd") == 0)
		exec_struct(s, node, body);
	if ((strcmp(name, "net/http.Cookie") == 0 || strstr(name, "sessions.Options")) &&
	    (!has_key(t, body, "Secure") || !has_key(t, body, "HttpOnly")))
		code_report(s, CODE_RULE_GO_COOKIE, node, NULL);
}

/* ---- numbers ---- */

struct integer {
	const char *name;
	int bits;
	bool is_signed;
};

static const struct integer integers[] = {
	{"int", 64, true},     {"int8", 8, true},     {"int16", 16, true},    {"int32", 32, true},
	{"int64", 64, true},   {"uint", 64, false},   {"uint8", 8, false},    {"uint16", 16, false},
	{"uint32", 32, false}, {"uint64", 64, false}, {"uintptr", 64, false}, {"byte", 8, false},
	{"rune", 32, true},
};

static const struct integer *integer_of(const char *name, size_t len)
{
	for (size_t i = 0; name && i < ARRAY_LEN(integers); i++)
		if (strlen(integers[i].name) == len && memcmp(integers[i].name, name, len) == 0)
			return &integers[i];
	return NULL;
}

static void conversion(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t function = code_child(t, node, CODE_FIELD_FUNCTION);
	uint32_t args = code_child(t, node, CODE_FIELD_ARGUMENTS);
	const struct integer *to, *from = NULL;
	const struct code_value *v;
	uint32_t arg;

	if (function == CODE_NO_NODE || args == CODE_NO_NODE ||
	    t->nodes[function].kind != CODE_IDENTIFIER)
		return;
	to = integer_of(t->text + t->nodes[function].start,
			t->nodes[function].end - t->nodes[function].start);
	arg = code_first(t, args);
	if (!to || arg == CODE_NO_NODE)
		return;
	v = code_eval(s, arg);
	if (v->is_constant || v->is_number || !v->name)
		return;
	from = integer_of(v->name, strcspn(v->name, "("));
	if (!from && (strncmp(v->name, "strconv.Atoi", 12) == 0 ||
		      strncmp(v->name, "strconv.ParseInt", 16) == 0))
		from = &integers[0];
	if (!from && strncmp(v->name, "strconv.ParseUint", 17) == 0)
		from = &integers[5];
	if (!from)
		return;
	if (to->bits < from->bits || (from->is_signed && !to->is_signed) ||
	    (!from->is_signed && to->is_signed && to->bits <= from->bits))
		code_report(s, CODE_RULE_GO_INTEGER, node, NULL);
}

/* The length of what make([]T, n) or a literal gives, or -1. */
static int64_t known_length(struct code_scan *s, const struct code_value *v)
{
	const struct code_tree *t = s->tree;
	int64_t n = 0;

	if (v->node == CODE_NO_NODE)
		return -1;
	if (t->nodes[v->node].kind == CODE_LIST && t->nodes[v->node].field == CODE_FIELD_BODY) {
		CODE_EACH_CHILD(t, v->node, c)
		{
			if (t->nodes[c].kind == CODE_PAIR)
				return -1;
			n++;
		}
		return n;
	}
	if (t->nodes[v->node].kind == CODE_CALL) {
		struct code_call c;

		code_call_read(s, v->node, &c);
		if (strcmp(c.name, "make") != 0 || c.n < 2 || !c.args[1].value->is_number)
			return -1;
		return c.args[1].value->number;
	}
	if (t->nodes[v->node].kind == CODE_ARRAY_TYPE) {
		uint32_t length = code_child(t, v->node, CODE_FIELD_LENGTH);
		const struct code_value *k = length == CODE_NO_NODE ? v : code_eval(s, length);

		return k->is_number ? k->number : -1;
	}
	return -1;
}

static void bounds(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t object = code_child(t, node, CODE_FIELD_OBJECT);
	bool is_slice = t->nodes[node].kind == CODE_SLICE_EXPRESSION;
	int64_t length, last = -1;

	if (object == CODE_NO_NODE)
		return;
	CODE_EACH_CHILD(t, node, c)
	{
		const struct code_value *k = c == object ? NULL : code_eval(s, c);

		if (k && k->is_number && k->number > last)
			last = k->number;
	}
	if (last < 0)
		return;
	length = known_length(s, code_eval(s, object));
	if (length < 0)
		return;
	if (is_slice ? last > length : last >= length)
		code_report(s, CODE_RULE_GO_BOUNDS, node, NULL);
}

/* ---- contexts ---- */

static void endless_loop(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t function = code_ancestor(t, node, CODE_FUNCTION);
	uint32_t body = code_child(t, node, CODE_FIELD_BODY), params;
	const struct code_node *n = &t->nodes[node];

	if (function == CODE_NO_NODE || body == CODE_NO_NODE || body != node + 1)
		return;
	params = code_child(t, function, CODE_FIELD_PARAMETERS);
	if (!text_has(t, params, "context.Context"))
		return;
	if (memmem(t->text + n->start, n->end - n->start, "Done()", 6) ||
	    memmem(t->text + n->start, n->end - n->start, ".Err()", 6) ||
	    memmem(t->text + n->start, n->end - n->start, "break", 5) ||
	    memmem(t->text + n->start, n->end - n->start, "return", 6))
		return;
	code_report(s, CODE_RULE_GO_CONTEXT, node, NULL);
}

static bool is_used_after(const struct code_tree *t, uint32_t from, uint32_t end, uint32_t name)
{
	const struct code_node *n = &t->nodes[name];
	size_t len = n->end - n->start;

	for (uint32_t i = from; i < end; i++)
		if (t->nodes[i].kind == CODE_IDENTIFIER && i != name &&
		    t->nodes[i].end - t->nodes[i].start == len &&
		    memcmp(t->text + t->nodes[i].start, t->text + n->start, len) == 0)
			return true;
	return false;
}

static void cancel(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t left = code_child(t, node, CODE_FIELD_LEFT);
	uint32_t right = code_child(t, node, CODE_FIELD_RIGHT);
	uint32_t function = code_ancestor(t, node, CODE_FUNCTION), second;
	const char *name;

	if (left == CODE_NO_NODE || right == CODE_NO_NODE || t->nodes[left].kind != CODE_LIST)
		return;
	name = code_eval(s, right)->name;
	if (!name || strncmp(name, "context.With", 12) != 0 || strstr(name, "WithValue"))
		return;
	second = t->nodes[left + 1].skip;
	if (second >= t->nodes[left].skip)
		return;
	if (code_is(t, second, "_") ||
	    !is_used_after(t, t->nodes[node].skip,
			   function == CODE_NO_NODE ? t->n : t->nodes[function].skip, second))
		code_report(s, CODE_RULE_GO_CONTEXT_CANCEL, node, NULL);
}

static void go_background(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t function = code_ancestor(t, node, CODE_FUNCTION);
	uint32_t params = function == CODE_NO_NODE ? CODE_NO_NODE
						   : code_child(t, function, CODE_FIELD_PARAMETERS);

	if ((text_has(t, params, "context.Context") || text_has(t, params, "http.Request")) &&
	    (text_has(t, node, "context.Background()") || text_has(t, node, "context.TODO()")))
		code_report(s, CODE_RULE_GO_CONTEXT, node, NULL);
}

/* ---- the rest ---- */

static void loop_address(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t op = code_child(t, node, CODE_FIELD_OPERATOR);
	uint32_t operand = code_child(t, node, CODE_FIELD_OBJECT), root, loop, range, left;

	if (!code_is(t, op, "&") || operand == CODE_NO_NODE)
		return;
	for (root = operand; t->nodes[root].kind == CODE_ATTRIBUTE;) {
		root = code_child(t, root, CODE_FIELD_OBJECT);
		if (root == CODE_NO_NODE)
			return;
	}
	if (t->nodes[root].kind != CODE_IDENTIFIER)
		return;
	loop = code_ancestor(t, node, CODE_FOR);
	range = loop == CODE_NO_NODE ? CODE_NO_NODE : code_child_of_kind(t, loop, CODE_RANGE);
	left = range == CODE_NO_NODE ? CODE_NO_NODE : code_child(t, range, CODE_FIELD_LEFT);
	if (left == CODE_NO_NODE)
		return;
	for (uint32_t i = left; i < t->nodes[left].skip; i++)
		if (t->nodes[i].kind == CODE_IDENTIFIER &&
		    t->nodes[i].end - t->nodes[i].start ==
			    t->nodes[root].end - t->nodes[root].start &&
		    memcmp(t->text + t->nodes[i].start, t->text + t->nodes[root].start,
			   t->nodes[i].end - t->nodes[i].start) == 0)
			code_report(s, CODE_RULE_GO_LOOP_ADDRESS, node, NULL);
}

static const char *const can_fail[] = {
	"os.Remove",
	"os.RemoveAll",
	"os.Mkdir",
	"os.MkdirAll",
	"os.Rename",
	"os.Chmod",
	"os.Chown",
	"os.WriteFile",
	"io/ioutil.WriteFile",
	"os.Setenv",
	"os.Symlink",
	"os.Chdir",
	"io.Copy",
	"os.ReadFile",
	"os.Open",
	"os.Create",
	"encoding/json.Unmarshal",
};

static void dropped_error(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;
	uint32_t call = code_first(t, node);
	const char *name;
	size_t len;

	if (call == CODE_NO_NODE || t->nodes[call].kind != CODE_CALL)
		return;
	name = code_eval(s, call)->name;
	len = name ? strlen(name) : 0;
	for (size_t i = 0; name && i < ARRAY_LEN(can_fail); i++)
		if (strlen(can_fail[i]) + 2 == len && strncmp(name, can_fail[i], len - 2) == 0)
			code_report(s, CODE_RULE_GO_ERROR, node, NULL);
}

static void secret_field(struct code_scan *s, uint32_t node)
{
	static const char *const words[] = {"Password", "Secret",  "Token",      "APIKey",
					    "ApiKey",   "api_key", "PrivateKey", "AccessKey",
					    "password", "secret",  "token"};
	const struct code_tree *t = s->tree;

	if (text_has(t, node, "json:\"-\""))
		return;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (text_has(t, node, words[i]) &&
		    (text_has(t, node, "string") || text_has(t, node, "[]byte"))) {
			if (memmem(t->text, t->len, "encoding/", 9))
				code_report(s, CODE_RULE_GO_SECRET_FIELD, node, NULL);
			return;
		}
}

static void archive_name(struct code_scan *s, uint32_t node)
{
	struct code_call c;

	code_call_read(s, node, &c);
	if (strcmp(c.name, "path/filepath.Join") != 0 && strcmp(c.name, "path.Join") != 0)
		return;
	for (unsigned i = 0; i < c.n; i++)
		if (c.args[i].value->name && strncmp(c.args[i].value->name, "archive/", 8) == 0)
			code_report(s, CODE_RULE_GO_ZIP, node, NULL);
}

static void html_type(struct code_scan *s, uint32_t node)
{
	uint32_t type = code_child(s->tree, node, CODE_FIELD_TYPE);
	const char *name = type == CODE_NO_NODE ? NULL : code_eval(s, type)->name;

	if (name && strncmp(name, "html/template.", 14) == 0 &&
	    (strcmp(name + 14, "HTML") == 0 || strcmp(name + 14, "CSS") == 0 ||
	     strcmp(name + 14, "JS") == 0 || strcmp(name + 14, "URL") == 0 ||
	     strcmp(name + 14, "HTMLAttr") == 0 || strcmp(name + 14, "JSStr") == 0 ||
	     strcmp(name + 14, "Srcset") == 0))
		code_report(s, CODE_RULE_GO_HTML_TYPE, node, NULL);
}

void code_act_go(struct code_scan *s, uint32_t node)
{
	const struct code_tree *t = s->tree;

	switch (t->nodes[node].kind) {
	case CODE_COMPOSITE:
		composite(s, node);
		break;
	case CODE_CALL:
		conversion(s, node);
		archive_name(s, node);
		break;
	case CODE_SUBSCRIPT:
	case CODE_SLICE_EXPRESSION:
		bounds(s, node);
		break;
	case CODE_FOR:
		endless_loop(s, node);
		break;
	case CODE_ASSIGNMENT:
		exec_words(s, node);
		cancel(s, node);
		break;
	case CODE_GO_STATEMENT:
		go_background(s, node);
		break;
	case CODE_UNARY:
		loop_address(s, node);
		break;
	case CODE_EXPRESSION:
		dropped_error(s, node);
		break;
	case CODE_FIELD_DECLARATION:
		secret_field(s, node);
		break;
	case CODE_VAR_SPEC:
		html_type(s, node);
		break;
	case CODE_COMMENT:
		if (t->nodes[node].end - t->nodes[node].start > 13 &&
		    memcmp(t->text + t->nodes[node].start, "//go:linkname", 13) == 0)
			code_report(s, CODE_RULE_GO_LINKNAME, node, NULL);
		if (t->nodes[node].end - t->nodes[node].start > 14 &&
		    memcmp(t->text + t->nodes[node].start, "//go:generate ", 14) == 0)
			code_act_line(s, node, t->text + t->nodes[node].start + 14,
				      t->nodes[node].end - t->nodes[node].start - 14);
		break;
	default:
		break;
	}
}
