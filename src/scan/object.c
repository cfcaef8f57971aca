/* SPDX-License-Identifier: Apache-2.0 */
/* See object.h. */
#include "scan/object.h"

#include "base/json_check.h"
#include "base/jsonc.h"
#include "base/limits.h"
#include "base/str.h"

#include <string.h>

int scan_object(struct scan_reader *r, json_t **ret)
{
	AUTO_FREE char *text = malloc(r->source->len + 1);
	size_t len = r->source->len;
	const char *front;

	if (!text)
		return cordon_nomem(r->err);
	memcpy(text, r->source->text, len);
	text[len] = '\0';
	front = str_starts(text, "\xef\xbb\xbf") ? text + 3 : text;
	jsonc_blank(text, len, JSONC_COMMENTS | JSONC_TRAILING_COMMAS);
	/* Duplicates: programs take the last one, and so does the parser. */
	*ret = json_check_depth(text, len)
		       ? json_loadb(front, len - (size_t)(front - text), JSON_ALLOW_NUL, NULL)
		       : NULL;
	if (json_is_object(*ret))
		return 1;
	json_decref(*ret);
	*ret = NULL;
	return r->source->is_part ? 0 : scan_found(r, SCAN_MALFORMED, NULL, NULL);
}

static int object_words(struct scan_reader *r, const char *first, json_t *words)
{
	struct buf b = BUF_INIT(LIMIT_ARG_BYTES);
	json_t *word;
	size_t i;
	int e = 0;

	if (first)
		buf_str(&b, first); /* a string for a shell, or a word: both read alike */
	json_array_foreach(words, i, word)
	{
		if (b.len)
			buf_char(&b, ' ');
		if (json_is_string(word))
			str_shell_quote(&b, json_string_value(word));
	}
	if (buf_error(&b) < 0)
		e = scan_found(r, SCAN_MALFORMED, NULL, first);
	else if (b.len)
		e = scan_command(r, buf_cstr(&b), b.len,
				 first ? scan_place(r, first)
				       : scan_place(r, json_string_value(json_array_get(words, 0))
							       ?: ""));
	buf_done(&b);
	return e;
}

int scan_command_value(struct scan_reader *r, json_t *value)
{
	const char *name;
	json_t *item;
	int e = 0;

	if (json_is_string(value))
		return object_words(r, json_string_value(value), NULL);
	if (json_is_array(value))
		return object_words(r, NULL, value);
	json_object_foreach(value, name, item)
	{
		if (json_is_object(item))
			continue;
		e = scan_command_value(r, item);
		if (e < 0)
			return e;
	}
	return 0;
}

/* LIMIT_JSON_DEPTH bounds the recursion. */
int scan_commands_in(struct scan_reader *r, json_t *value)
{
	json_t *command = json_object_get(value, "command");
	const char *name;
	json_t *item;
	size_t i;
	int e = 0;

	if (json_is_string(command))
		e = object_words(r, json_string_value(command), json_object_get(value, "args"));
	else if (json_is_array(command))
		e = object_words(r, NULL, command);
	json_object_foreach(value, name, item)
	{
		if (e == 0 && (json_is_object(item) || json_is_array(item)))
			e = scan_commands_in(r, item);
	}
	json_array_foreach(value, i, item)
	{
		if (e == 0)
			e = scan_commands_in(r, item);
	}
	return e;
}

/* LIMIT_JSON_DEPTH bounds the recursion. */
static int object_sends(struct scan_reader *r, json_t *value)
{
	const char *command = json_string_value(json_object_get(value, "command"));
	const char *name;
	json_t *item;
	size_t i;
	int e = 0;

	if (command && scan_sends_input(command, strlen(command)))
		e = scan_found(r, SCAN_INPUT_SENT, scan_place(r, command), command);
	json_object_foreach(value, name, item)
	{
		if (e == 0)
			e = object_sends(r, item);
	}
	json_array_foreach(value, i, item)
	{
		if (e == 0)
			e = object_sends(r, item);
	}
	return e;
}

int scan_hooks_in(struct scan_reader *r, json_t *value)
{
	int e = scan_commands_in(r, value);

	return e == 0 ? object_sends(r, value) : e;
}
