/* SPDX-License-Identifier: Apache-2.0 */
/* See read.h. */
#include "policy/read.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	READ_PATH_MAX = 512, /* a dotted path; keys are bounded by it too */
	READ_MESSAGE_MAX =
		4 * LIMIT_YAML_SCALAR, /* before it is cut: a message may quote a value */
};

int policy_read_fail(const struct policy_reader *r, const struct ynode *node, int code,
		     const char *fmt, ...)
{
	struct buf b = BUF_INIT(READ_MESSAGE_MAX);
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	code = cordon_fail(r->err, code, "%s:%u:%u: %s", r->name, node->line, node->column,
			   buf_cstr(&b));
	buf_done(&b);
	/* The caller may know better. */
	return cordon_hint(r->err, code,
			   code == CORDON_E_LIMIT ? "a policy is small: shorten it or split it"
						  : "see 'cordon policy schema'");
}

int policy_read_warn(const struct policy_reader *r, const struct ynode *node, const char *fmt, ...)
{
	struct buf b = BUF_INIT(READ_MESSAGE_MAX);
	va_list ap;
	int e;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	e = strv_addf(r->warnings, "%s:%u:%u: %s", r->name, node->line, node->column, buf_cstr(&b));
	buf_done(&b);
	return e == -ENOMEM ? cordon_nomem(r->err) : 0;
}

struct origin policy_read_origin(const struct policy_reader *r, const struct ynode *node)
{
	return (struct origin){.layer = (uint8_t)r->layer,
			       .file = r->file,
			       .root = r->root,
			       .line = node->line,
			       .column = node->column};
}

static int read_wrong_type(const struct policy_reader *r, const struct ynode *node,
			   const char *path, const char *want)
{
	int code = policy_read_fail(r, node, CORDON_E_POLICY, "'%s' must be %s, not %s", path, want,
				    ynode_describe(node));

	if (node->kind == YNODE_SCALAR && node->quoted && !strstr(want, "map") &&
	    !strstr(want, "list"))
		return cordon_hint(r->err, code, "remove the quotes");
	if (ynode_is_null(node))
		return cordon_hint(r->err, code, "give a value or leave the key out");
	if (node->kind == YNODE_SCALAR && strcmp(want, "a string") == 0)
		return cordon_hint(r->err, code, "put quotes around it");
	return cordon_hint(r->err, code, "see 'cordon policy schema'");
}

static int read_bool(const struct policy_reader *r, const struct ynode *node, const char *path,
		     bool *ret)
{
	if (node->kind != YNODE_SCALAR || node->quoted || parse_bool(node->text, ret) < 0)
		return read_wrong_type(r, node, path, "true or false");
	return 0;
}

static int read_enum(const struct policy_reader *r, const struct field *f, const struct ynode *node,
		     const char *path, int *ret)
{
	struct buf words = BUF_INIT(1024);
	const char *near = NULL;
	size_t nearest = 3, d;
	int i, code;

	if (node->kind != YNODE_SCALAR || ynode_is_null(node))
		return read_wrong_type(r, node, path, "one word");
	i = names_find(f->names, node->text);
	if (i >= 0) {
		*ret = i;
		return 0;
	}
	for (i = 0; i < f->names->count; i++) {
		buf_printf(&words, "%s%s", i ? ", " : "", f->names->words[i]);
		/* Of a short word no more than half may differ: 'x' is no 'rw'. */
		d = strcasecmp(node->text, f->names->words[i]) == 0
			    ? 0
			    : str_distance(node->text, f->names->words[i], 2);
		if (d < nearest && d * 2 <= strlen(node->text)) {
			near = f->names->words[i];
			nearest = d;
		}
	}
	code = policy_read_fail(r, node, CORDON_E_POLICY, "'%.100s' is not a value of '%s'",
				node->text, path);
	if (near)
		code = cordon_hint(r->err, code, "did you mean '%s'? (one of %s)", near,
				   buf_cstr(&words));
	else
		code = cordon_hint(r->err, code, "one of %s", buf_cstr(&words));
	buf_done(&words);
	return code;
}

static int read_int(const struct policy_reader *r, const struct field *f, const struct ynode *node,
		    const char *path, int64_t *ret)
{
	int64_t v = 0;
	int e = -EINVAL;
	bool is_zero;

	if (node->kind == YNODE_SCALAR && !node->quoted)
		e = parse_int(node->text, INT64_MIN, INT64_MAX, &v);
	if (e == -EINVAL)
		return read_wrong_type(r, node, path, "a whole number");
	is_zero = e == 0 && v == 0 && f->min > 0;
	if (e == -ERANGE || v < f->min || v > f->max) {
		e = policy_read_fail(r, node, CORDON_E_POLICY, "'%s' is out of range: %.40s", path,
				     node->text);
		if (is_zero)
			return cordon_hint(r->err, e,
					   "0 would allow nothing; leave the key out for no limit");
		return cordon_hint(r->err, e, "from %lld to %lld", (long long)f->min,
				   (long long)f->max);
	}
	*ret = v * (f->scale ? f->scale : 1);
	return 0;
}

static int read_number(const struct policy_reader *r, const struct field *f,
		       const struct ynode *node, const char *path, double *ret)
{
	int e = -EINVAL;

	if (node->kind == YNODE_SCALAR && !node->quoted)
		e = parse_double(node->text, 0, f->number_max, ret);
	if (e == -EINVAL)
		return read_wrong_type(r, node, path, "a number");
	if (e == -ERANGE) {
		e = policy_read_fail(r, node, CORDON_E_POLICY, "'%s' is out of range: %.40s", path,
				     node->text);
		return cordon_hint(r->err, e, "from 0 to %g", f->number_max);
	}
	return 0;
}

static int read_age(const struct policy_reader *r, const struct ynode *node, const char *path,
		    int64_t *ret)
{
	size_t n = node->kind == YNODE_SCALAR ? node->len : 0;
	int e = -EINVAL;

	/* CKP's durationString: digits and one of s m h d; no fraction, no bare number. */
	if (n > 1 && strchr("smhd", node->text[n - 1]) && strspn(node->text, "0123456789") == n - 1)
		e = parse_duration(node->text, ret);
	if (e == 0)
		return 0;
	e = policy_read_fail(r, node, CORDON_E_POLICY, "'%s' must be a duration", path);
	return cordon_hint(r->err, e, "a number and one of s, m, h, d, such as 30d");
}

/* Is this scalar a string, or something that YAML would read as another type? */
static bool read_is_string(const struct field *f, const struct ynode *node)
{
	if (node->kind != YNODE_SCALAR || ynode_is_null(node))
		return false;
	return f->check == CHECK_VERSION || f->check == CHECK_PORT || f->check == CHECK_PUBLISH ||
	       strcmp(ynode_describe(node), "a string") == 0;
}

/* Gives the checked text of a scalar; 1 when it stands for nothing here. */
static int read_text(const struct policy_reader *r, const struct field *f, const struct ynode *node,
		     const char *path, char **ret)
{
	struct cordon_error inner = {0};
	int e;

	if (!read_is_string(f, node))
		return read_wrong_type(r, node, path, "a string");
	e = policy_check_text(r->context, f, node->text, ret, &inner);
	if (e >= 0)
		return e;
	e = policy_read_fail(r, node, e == CORDON_E_INVALID ? CORDON_E_POLICY : e, "'%s': %s", path,
			     inner.message);
	return inner.hint[0] ? cordon_hint(r->err, e, "%s", inner.hint) : e;
}

static int read_list(const struct policy_reader *r, const struct field *f, const struct ynode *node,
		     const char *path, struct item_list *ret)
{
	if (node->kind != YNODE_SEQ)
		return read_wrong_type(r, node, path, "a list");
	for (size_t i = 0; i < node->n; i++) {
		const struct ynode *item = node->items[i];
		AUTO_FREE char *text = NULL;
		int e;

		if (f->check == CHECK_REGEX && i >= LIMIT_POLICY_PATTERNS)
			return policy_read_fail(r, item, CORDON_E_LIMIT,
						"'%s' has too many entries", path);
		e = read_text(r, f, item, path, &text);
		if (e < 0)
			return e;
		if (e == 1) {
			if (f->tighten == TIGHTEN_UNION)
				return policy_read_fail(
					r, item, CORDON_E_POLICY,
					"'%s': '%s' names a variable that is not set", path,
					item->text);
			e = policy_read_warn(r, item,
					     "'%s' names a variable that is not set, ignoring it",
					     item->text);
			if (e < 0)
				return e;
			continue;
		}
		e = item_list_add(ret, text, item->text, policy_read_origin(r, item));
		if (e == -E2BIG)
			return policy_read_fail(r, item, CORDON_E_LIMIT,
						"'%s' has too many entries", path);
		if (e < 0)
			return cordon_nomem(r->err);
	}
	return 0;
}

static int read_record(struct policy_reader *r, const struct shape *s, void *object,
		       const struct ynode *map, const char *prefix);

static int read_required(const struct policy_reader *r, const struct shape *s, void *object,
			 const struct ynode *node, const char *path)
{
	for (size_t i = 0; i < s->n_fields; i++) {
		if (!s->fields[i].required || origin_is_set(shape_origin(s, object, i)))
			continue;
		return cordon_hint(r->err,
				   policy_read_fail(r, node, CORDON_E_POLICY,
						    "an entry of '%s' without '%s'", path,
						    s->fields[i].path),
				   "'%s' is required", s->fields[i].path);
	}
	return 0;
}

static int read_new_record(const struct policy_reader *r, const struct field *f,
			   const struct ynode *node, const char *path, struct record_list *l,
			   void **ret)
{
	*ret = record_list_add(l, f->shape);
	if (*ret)
		return 0;
	if (l->n >= LIMIT_POLICY_ITEMS)
		return policy_read_fail(r, node, CORDON_E_LIMIT, "'%s' has too many entries", path);
	return cordon_nomem(r->err);
}

/* Sets the first field of a record, its name. */
static int read_name(const struct policy_reader *r, const struct field *f, const struct ynode *key,
		     const char *path, void *record)
{
	/* A row of words says itself what its names are. */
	const struct field *name = f->type == FIELD_WORDS ? f : &f->shape->fields[0];
	char **slot = field_value(&f->shape->fields[0], record);
	int e;

	if (key->len == 0)
		return policy_read_fail(r, key, CORDON_E_POLICY, "an empty name in '%s'", path);
	e = policy_check_text(r->context, name, key->text, slot, r->err);
	if (e != 0)
		return policy_read_fail(r, key, CORDON_E_POLICY, "'%.100s' is not a name for '%s'",
					key->text, path);
	*shape_origin(f->shape, record, 0) = policy_read_origin(r, key);
	return 0;
}

static int read_records(struct policy_reader *r, const struct field *f, const struct ynode *node,
			const char *path, struct record_list *ret)
{
	if (node->kind != YNODE_SEQ)
		return read_wrong_type(r, node, path, "a list");
	for (size_t i = 0; i < node->n; i++) {
		const struct ynode *item = node->items[i];
		void *record = NULL;
		int e;

		if (item->kind != YNODE_MAP)
			return read_wrong_type(r, item, path, "a list of maps");
		e = read_new_record(r, f, item, path, ret, &record);
		if (e == 0)
			e = read_record(r, f->shape, record, item, "");
		if (e == 0)
			e = read_required(r, f->shape, record, item, path);
		if (e < 0)
			return e;
	}
	return 0;
}

static int read_named(struct policy_reader *r, const struct field *f, const struct ynode *node,
		      const char *path, struct record_list *ret)
{
	if (node->kind != YNODE_MAP)
		return read_wrong_type(r, node, path, "a map");
	for (size_t i = 0; i < node->n; i++) {
		const struct ynode *value = node->items[2 * i + 1];
		void *record = NULL;
		int e;

		if (value->kind != YNODE_MAP)
			return read_wrong_type(r, value, path, "a map of maps");
		e = read_new_record(r, f, value, path, ret, &record);
		if (e == 0)
			e = read_name(r, f, node->items[2 * i], path, record);
		if (e == 0)
			e = read_record(r, f->shape, record, value, "");
		if (e == 0)
			e = read_required(r, f->shape, record, value, path);
		if (e < 0)
			return e;
	}
	return 0;
}

/* One entry of a map of scalars; value may be any scalar, or of f->names when the row has names. */
static int read_word(struct policy_reader *r, const struct field *f, const struct ynode *key,
		     const struct ynode *value, const char *path, struct record_list *ret)
{
	const struct shape *s = f->shape;
	void *record = NULL;
	char **slot;
	int e, index;

	if (f->names) {
		e = read_enum(r, f, value, path, &index);
		if (e < 0)
			return e;
	}
	e = read_new_record(r, f, key, path, ret, &record);
	if (e == 0)
		e = read_name(r, f, key, path, record);
	if (e < 0)
		return e;
	if (f->value_check == CHECK_PATTERN && glob_check(value->text) < 0)
		return policy_read_fail(r, value, CORDON_E_POLICY,
					"'%s': not a valid glob: '%.100s'", path, value->text);
	slot = field_value(&s->fields[1], record);
	*slot = strdup(value->kind == YNODE_SCALAR ? value->text : "");
	if (!*slot)
		return cordon_nomem(r->err);
	*shape_origin(s, record, 1) = policy_read_origin(r, value);
	return 0;
}

static int read_words(struct policy_reader *r, const struct field *f, const struct ynode *node,
		      const char *path, struct record_list *ret)
{
	if (node->kind != YNODE_MAP)
		return read_wrong_type(r, node, path, "a map");
	for (size_t i = 0; i < node->n; i++) {
		const struct ynode *value = node->items[2 * i + 1];
		int e;

		if (value->kind != YNODE_SCALAR || ynode_is_null(value))
			return read_wrong_type(r, value, path, "a map of plain values");
		e = read_word(r, f, node->items[2 * i], value, path, ret);
		if (e < 0)
			return e;
	}
	return 0;
}

static int read_field(struct policy_reader *r, const struct shape *s, size_t row, void *object,
		      const struct ynode *node)
{
	const struct field *f = &s->fields[row];
	struct origin *origin = shape_origin(s, object, row);
	void *v = field_value(f, object);
	int e = 0;

	if (origin_is_set(origin))
		return cordon_hint(r->err,
				   policy_read_fail(r, node, CORDON_E_POLICY,
						    "'%s' is set a second time", f->path),
				   "it was set at line %u", origin->line);
	switch (f->type) {
	case FIELD_BOOL:
		e = read_bool(r, node, f->path, v);
		break;
	case FIELD_ENUM:
		e = read_enum(r, f, node, f->path, v);
		break;
	case FIELD_INT:
		e = read_int(r, f, node, f->path, v);
		break;
	case FIELD_NUMBER:
		e = read_number(r, f, node, f->path, v);
		break;
	case FIELD_AGE:
		e = read_age(r, node, f->path, v);
		break;
	case FIELD_STRING:
		e = read_text(r, f, node, f->path, v);
		if (e == 1)
			e = policy_read_fail(r, node, CORDON_E_POLICY,
					     "'%s': '%s' names a variable that is not set", f->path,
					     node->text);
		break;
	case FIELD_LIST:
		e = read_list(r, f, node, f->path, v);
		break;
	case FIELD_RECORDS:
		e = read_records(r, f, node, f->path, v);
		break;
	case FIELD_MAP:
		e = read_named(r, f, node, f->path, v);
		break;
	case FIELD_WORDS:
		e = read_words(r, f, node, f->path, v);
		break;
	case FIELD_TYPE_COUNT:
		e = CORDON_E_INTERNAL;
		break;
	}
	if (e == 0)
		*origin = policy_read_origin(r, node);
	return e;
}

/* Does path continue after prefix at a dot, or end there? */
static bool read_is_below(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(path, prefix, n) == 0 && (path[n] == '\0' || path[n] == '.');
}

/* Rewrites path by the first alias that fits. */
static void read_alias(const struct policy_reader *r, const struct shape *s,
		       char path[static READ_PATH_MAX])
{
	char out[READ_PATH_MAX];

	if (!s->aliases || (s == &shape_policy && !(r->flags & READ_ALIASES)))
		return;
	for (const struct field_alias *a = s->aliases; a->from; a++) {
		int n;

		if (!read_is_below(path, a->from))
			continue;
		n = snprintf(out, sizeof(out), "%s%s", a->to, path + strlen(a->from));
		if (n > 0 && (size_t)n < sizeof(out))
			memcpy(path, out, (size_t)n + 1);
		return;
	}
}

/* Is path the beginning of something known, by our spelling or by an alias? */
static bool read_is_prefix(const struct policy_reader *r, const struct shape *s, const char *raw,
			   const char *path)
{
	if (shape_has_prefix(s, path))
		return true;
	if (!s->aliases || (s == &shape_policy && !(r->flags & READ_ALIASES)))
		return false;
	for (const struct field_alias *a = s->aliases; a->from; a++)
		if (read_is_below(a->from, raw))
			return true;
	return false;
}

/* Says that a key is unknown, with the nearest known key of the same place. */
static int read_unknown(const struct policy_reader *r, const struct shape *s,
			const struct ynode *key, const char *prefix)
{
	size_t plen = strlen(prefix), best = 4;
	char near[READ_PATH_MAX] = "";
	struct buf known = BUF_INIT(CORDON_ERROR_HINT_MAX);
	int code;

	for (size_t i = 0; i < s->n_fields; i++) {
		const char *rest = s->fields[i].path;
		char word[READ_PATH_MAX];
		size_t n, d;

		if (s->fields[i].own && !(r->flags & READ_OWN))
			continue;
		if (plen && (strncmp(rest, prefix, plen) != 0 || rest[plen] != '.'))
			continue;
		rest += plen ? plen + 1 : 0;
		n = strcspn(rest, ".");
		if (n >= sizeof(word) || rest[0] == '*')
			continue;
		memcpy(word, rest, n);
		word[n] = '\0';
		if (!strstr(buf_cstr(&known), word))
			buf_printf(&known, "%s%s", known.len ? ", " : "", word);
		d = str_distance(key->text, word, 3);
		/* The word itself is known elsewhere: no help here. */
		if (d < best && d > 0 && d * 2 <= strlen(key->text)) {
			best = d;
			memcpy(near, word, n + 1);
		}
	}
	code = policy_read_fail(r, key, CORDON_E_POLICY, "unknown key '%.100s'%s%s%s", key->text,
				plen ? " in '" : "", prefix, plen ? "'" : "");
	if (near[0])
		code = cordon_hint(r->err, code, "did you mean '%s'?", near);
	else
		code = cordon_hint(r->err, code, "known here: %s", buf_cstr(&known));
	buf_done(&known);
	return code;
}

/* A row "conditions.*" takes keys that nothing else knows; -1 when there is none. */
static int read_open_row(const struct shape *s, const char *prefix)
{
	char path[READ_PATH_MAX];

	if (snprintf(path, sizeof(path), "%s.*", prefix) >= (int)sizeof(path))
		return -1;
	return shape_find(s, path);
}

static int read_key(struct policy_reader *r, const struct shape *s, void *object,
		    const struct ynode *key, const struct ynode *value, const char *prefix)
{
	char raw[READ_PATH_MAX], path[READ_PATH_MAX];
	int row, n;

	n = snprintf(raw, sizeof(raw), "%s%s%s", prefix, *prefix ? "." : "", key->text);
	if (n < 0 || (size_t)n >= sizeof(raw) || strchr(key->text, '.') || key->len == 0)
		return read_unknown(r, s, key, prefix);
	memcpy(path, raw, (size_t)n + 1);
	read_alias(r, s, path);
	/* "*" stands for other keys in the table; as a key it is one of them. */
	row = strcmp(key->text, "*") == 0 ? -1 : shape_find(s, path);
	/* CloneGuard's files speak of enforcement alone. */
	if (row >= 0 && s == &shape_policy && (r->flags & READ_ALIASES) &&
	    !read_is_below(path, "enforcement"))
		return read_unknown(r, s, key, prefix);
	if (row >= 0 && s->fields[row].own && !(r->flags & READ_OWN)) {
		n = policy_read_fail(r, key, CORDON_E_POLICY,
				     "'%s' is cordon's own and not part of a CKP manifest",
				     key->text);
		return cordon_hint(r->err, n, "use it in a cordon.yaml, under '%s'", path);
	}
	if (row >= 0)
		return read_field(r, s, (size_t)row, object, value);
	if (read_is_prefix(r, s, raw, path)) {
		/* `enforcement:` with nothing under it: see aliases_policy. */
		if (ynode_is_null(value) && (r->flags & READ_ALIASES) && s == &shape_policy &&
		    strcmp(raw, "enforcement") == 0)
			return 0;
		if (value->kind != YNODE_MAP)
			return read_wrong_type(r, value, raw, "a map");
		return read_record(r, s, object, value, raw);
	}
	row = read_open_row(s, prefix);
	if (row < 0)
		return read_unknown(r, s, key, prefix);
	n = policy_read_warn(r, key,
			     "condition '%s' is not known to cordon: it never helps to allow",
			     key->text);
	if (n < 0)
		return n;
	*shape_origin(s, object, (size_t)row) = policy_read_origin(r, key);
	return read_word(r, &s->fields[row], key, value, s->fields[row].path,
			 field_value(&s->fields[row], object));
}

static int read_record(struct policy_reader *r, const struct shape *s, void *object,
		       const struct ynode *map, const char *prefix)
{
	for (size_t i = 0; i < map->n; i++) {
		int e = read_key(r, s, object, map->items[2 * i], map->items[2 * i + 1], prefix);

		if (e < 0)
			return e;
	}
	return 0;
}

int policy_read_map(struct policy_reader *r, const struct ynode *map, const char *prefix)
{
	return read_record(r, &shape_policy, r->into, map, prefix);
}
