/* SPDX-License-Identifier: Apache-2.0 */
/* See checkline.h.  Pure: bytes in, struct out. */
#include "core/checkline.h"

#include "base/json_check.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

void checkline_done(struct checkline *c)
{
	free(c->id);
	free(c->kind);
	free(c->tool);
	free(c->agent);
	free(c->path);
	free(c->text);
	*c = (struct checkline){0};
}

static int checkline_word(json_t *root, const char *key, char **ret, struct cordon_error *err)
{
	json_t *value = json_object_get(root, key);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_string(value) ||
	    strlen(json_string_value(value)) != json_string_length(value) ||
	    json_string_length(value) > LIMIT_PATH_BYTES)
		return cordon_fail(err, CORDON_E_INVALID, "'%s' must be a short string", key);
	*ret = strdup(json_string_value(value));
	return *ret ? 0 : cordon_nomem(err);
}

static int checkline_text(json_t *root, struct checkline *ret, struct cordon_error *err)
{
	json_t *value = json_object_get(root, "text");
	size_t len;

	if (!json_is_string(value))
		return cordon_fail(err, CORDON_E_INVALID, "%s",
				   value ? "'text' must be a string" : "'text' is missing");
	len = json_string_length(value);
	ret->text = malloc(len + 1);
	if (!ret->text)
		return cordon_nomem(err);
	memcpy(ret->text, json_string_value(value), len);
	ret->text[len] = '\0';
	ret->text_len = len;
	return 0;
}

static int checkline_read(json_t *root, struct checkline *ret, struct cordon_error *err)
{
	const struct {
		const char *key;
		char **to;
	} words[] = {
		{"kind", &ret->kind},
		{"tool", &ret->tool},
		{"agent", &ret->agent},
		{"path", &ret->path},
	};
	json_t *id = json_object_get(root, "id");

	if (id) {
		ret->id = json_dumps(id, JSON_ENCODE_ANY | JSON_COMPACT);
		if (!ret->id)
			return cordon_nomem(err);
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		int r = checkline_word(root, words[i].key, words[i].to, err);

		if (r < 0)
			return r;
	}
	return checkline_text(root, ret, err);
}

int checkline_parse(const char *line, size_t len, struct checkline *ret, struct cordon_error *err)
{
	json_auto_t *root = NULL;
	json_error_t where;

	*ret = (struct checkline){0};
	if (!json_check_depth(line, len))
		return cordon_fail(err, CORDON_E_LIMIT, "nested too deeply");
	root = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
	if (!root)
		return cordon_fail(err, CORDON_E_INVALID, "column %d: %s", where.column,
				   where.text);
	if (!json_is_object(root))
		return cordon_fail(err, CORDON_E_INVALID, "must be an object");
	return checkline_read(root, ret, err);
}

static size_t checkline_blanks(const char *s, size_t len, size_t at)
{
	while (at < len && strchr(" \t\r", s[at]) && s[at])
		at++;
	return at;
}

/* The end of a string or number that starts at at, or 0. */
static size_t checkline_scalar(const char *s, size_t len, size_t at)
{
	size_t start = at;

	if (at < len && s[at] == '"') {
		for (at++; at < len && s[at] != '"'; at++)
			if (s[at] == '\\')
				at++;
		return at < len ? at + 1 : 0;
	}
	while (at < len && s[at] && strchr("-+.0123456789eE", s[at]))
		at++;
	return at > start ? at : 0;
}

int checkline_id(const char *start, size_t len, char **ret)
{
	json_auto_t *id = NULL;
	size_t at, end;

	*ret = NULL;
	len = len < LIMIT_PATH_BYTES ? len : LIMIT_PATH_BYTES;
	at = checkline_blanks(start, len, 0);
	if (at >= len || start[at] != '{')
		return 0;
	at = checkline_blanks(start, len, at + 1);
	if (len - at < 4 || memcmp(start + at, "\"id\"", 4) != 0)
		return 0;
	at = checkline_blanks(start, len, at + 4);
	if (at >= len || start[at] != ':')
		return 0;
	at = checkline_blanks(start, len, at + 1);
	end = checkline_scalar(start, len, at);
	if (end == 0)
		return 0;
	id = json_loadb(start + at, end - at, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (!id)
		return 0;
	*ret = json_dumps(id, JSON_ENCODE_ANY | JSON_COMPACT);
	return *ret ? 0 : -ENOMEM;
}
