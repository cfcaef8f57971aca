/* SPDX-License-Identifier: Apache-2.0 */
/* See schema.h.  Nested objects are found by walking the dotted paths of the table. */
#include "policy/schema.h"

#include "base/json.h"
#include "policy/policy.h"

#include <string.h>

static void schema_shape(const struct shape *s, const char *prefix, size_t skip, struct json *j);

static void schema_words(const struct names *n, struct json *j)
{
	json_array(j, "enum");
	for (int i = 0; i < n->count; i++)
		json_str(j, NULL, n->words[i]);
	json_end_array(j);
}

/* The members of the schema of one row's value. */
static void schema_value(const struct field *f, struct json *j)
{
	switch (f->type) {
	case FIELD_BOOL:
		json_str(j, "type", "boolean");
		break;
	case FIELD_ENUM:
		schema_words(f->names, j);
		break;
	case FIELD_INT:
		json_str(j, "type", "integer");
		json_int(j, "minimum", f->min);
		json_int(j, "maximum", f->max);
		break;
	case FIELD_NUMBER:
		json_str(j, "type", "number");
		json_int(j, "minimum", 0);
		json_int(j, "maximum", (int64_t)f->number_max);
		break;
	case FIELD_STRING:
		json_str(j, "type", "string");
		json_int(j, "minLength", 1);
		break;
	case FIELD_AGE:
		json_str(j, "type", "string");
		json_str(j, "pattern", "^[0-9]+(s|m|h|d)$");
		break;
	case FIELD_LIST:
		json_str(j, "type", "array");
		json_object(j, "items");
		json_str(j, "type", "string");
		json_int(j, "minLength", 1);
		json_end_object(j);
		break;
	case FIELD_RECORDS:
		json_str(j, "type", "array");
		json_object(j, "items");
		schema_shape(f->shape, "", 0, j);
		json_end_object(j);
		break;
	case FIELD_MAP:
		json_str(j, "type", "object");
		json_object(j, "additionalProperties");
		schema_shape(f->shape, "", 1, j);
		json_end_object(j);
		break;
	case FIELD_WORDS:
		json_str(j, "type", "object");
		json_object(j, "additionalProperties");
		if (f->names)
			schema_words(f->names, j);
		else
			json_raw(j, "type", "[\"string\",\"number\",\"boolean\"]", 29);
		json_end_object(j);
		break;
	case FIELD_TYPE_COUNT:
		break;
	}
	json_str(j, "description", f->doc);
	if (f->fallback && f->type == FIELD_BOOL)
		json_bool(j, "default", strcmp(f->fallback, "true") == 0);
	else if (f->fallback && (f->type == FIELD_INT || f->type == FIELD_NUMBER))
		json_raw(j, "default", f->fallback, strlen(f->fallback));
	else if (f->fallback)
		json_str(j, "default", f->fallback);
}

/* The first row below prefix with the same next word: each word is written once. */
static bool schema_is_first(const struct shape *s, size_t row, size_t at, size_t len)
{
	for (size_t i = 0; i < row; i++)
		if (strncmp(s->fields[i].path, s->fields[row].path, at + len) == 0 &&
		    (s->fields[i].path[at + len] == '.' || s->fields[i].path[at + len] == '\0'))
			return false;
	return true;
}

static void schema_property(const struct shape *s, size_t row, size_t at, struct json *j)
{
	const char *rest = s->fields[row].path + at;
	size_t len = strcspn(rest, ".");
	char word[128], prefix[256];

	if (len >= sizeof(word) || at + len >= sizeof(prefix) || !schema_is_first(s, row, at, len))
		return;
	memcpy(word, rest, len);
	word[len] = '\0';
	memcpy(prefix, s->fields[row].path, at + len);
	prefix[at + len] = '\0';
	json_object(j, word);
	if (rest[len] == '.')
		schema_shape(s, prefix, 0, j);
	else
		schema_value(&s->fields[row], j);
	json_end_object(j);
}

/* The members of an object schema for the rows of s below prefix. */
static void schema_shape(const struct shape *s, const char *prefix, size_t skip, struct json *j)
{
	size_t plen = strlen(prefix), at = plen ? plen + 1 : 0;
	bool is_open = false;

	json_str(j, "type", "object");
	json_object(j, "properties");
	for (size_t row = skip; row < s->n_fields; row++) {
		const char *path = s->fields[row].path;

		if (plen && (strncmp(path, prefix, plen) != 0 || path[plen] != '.'))
			continue;
		if (path[at] == '*')
			is_open = true;
		else
			schema_property(s, row, at, j);
	}
	if (s == &shape_policy && !plen) {
		json_object(j, "cordon");
		json_str(j, "description", "Version of the format.");
		json_raw(j, "const", "1", 1);
		json_end_object(j);
	}
	json_end_object(j);
	json_array(j, "required");
	for (size_t row = skip; !plen && row < s->n_fields; row++)
		if (s->fields[row].required)
			json_str(j, NULL, s->fields[row].path);
	json_end_array(j);
	json_bool(j, "additionalProperties", is_open);
}

void policy_schema_json(struct buf *out)
{
	struct json j = JSON_INIT(out);

	j.pretty = true;
	json_object(&j, NULL);
	json_str(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_str(&j, "title", "cordon policy");
	schema_shape(&shape_policy, "", 0, &j);
	json_end_object(&j);
	buf_char(out, '\n');
}

static const char *const schema_type_words[FIELD_TYPE_COUNT] = {
	[FIELD_BOOL] = "true or false",   [FIELD_ENUM] = "one of",
	[FIELD_INT] = "whole number",     [FIELD_NUMBER] = "number",
	[FIELD_STRING] = "string",        [FIELD_AGE] = "duration (30d, 24h, 90s)",
	[FIELD_LIST] = "list of strings", [FIELD_RECORDS] = "list of maps",
	[FIELD_MAP] = "map of maps",      [FIELD_WORDS] = "map of values",
};

static const char *const schema_tighten_words[TIGHTEN_COUNT] = {
	[TIGHTEN_LOWER] = "a project file may only lower it",
	[TIGHTEN_HIGHER] = "a project file may only raise it",
	[TIGHTEN_TRUE] = "a project file may only turn it on",
	[TIGHTEN_FALSE] = "a project file may only turn it off",
	[TIGHTEN_UNION] = "every layer adds to it",
	[TIGHTEN_SUBSET] = "a project file may only name what is granted already",
	[TIGHTEN_RULES] = "every layer's rules are consulted, the strictest answer holds",
	[TIGHTEN_NEVER] = "a project file may not set it",
};

static void schema_scdoc_text(const char *text, struct buf *out)
{
	for (; *text; text++) {
		if (strchr("_*\\#`", *text))
			buf_char(out, '\\');
		buf_char(out, *text);
	}
}

static void schema_scdoc_row(const struct field *f, bool is_record, struct buf *out)
{
	buf_str(out, "*");
	schema_scdoc_text(f->path, out);
	buf_printf(out, "* (%s", schema_type_words[f->type]);
	for (int i = 0; f->type == FIELD_ENUM && i < f->names->count; i++)
		buf_printf(out, "%s%s", i ? ", " : " ", f->names->words[i]);
	if (f->type == FIELD_INT)
		buf_printf(out, " from %lld to %lld", (long long)f->min, (long long)f->max);
	if (f->fallback)
		buf_printf(out, "; default %s", f->fallback);
	if (f->required)
		buf_str(out, "; required");
	buf_printf(out, ")\n%s\t", is_record ? "\t" : "");
	schema_scdoc_text(f->doc, out);
	if (!is_record)
		buf_printf(out, " (%s.)", schema_tighten_words[f->tighten]);
	buf_str(out, "\n\n");
	for (size_t i = 0; f->shape && f->type != FIELD_WORDS && i < f->shape->n_fields; i++) {
		if (f->type == FIELD_MAP && i == 0)
			continue;
		buf_str(out, "\t");
		schema_scdoc_row(&f->shape->fields[i], true, out);
	}
}

void policy_schema_scdoc(struct buf *out)
{
	for (size_t row = 0; row < shape_policy.n_fields; row++)
		schema_scdoc_row(&shape_policy.fields[row], false, out);
}
