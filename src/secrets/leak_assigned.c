/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NAME = VALUE in all its dress: code, environment, YAML, JSON, XML, queries of URLs, connection
 * strings, header lines, arguments of calls.  The name decides what the value must look like: a password
 * may be any word that is not obviously a stand-in, and is believed more when it is strong; what
 * machines make must be random.  A value that has the shape of a provider named nearby is that
 * provider's.
 */
#include "secrets/leak_form.h"

#include "base/mem.h"
#include "secrets/name.h"
#include "secrets/shape.h"

#include <ctype.h>
#include <string.h>

enum { ASSIGNED_NEAR = 80 }; /* a provider's word stands at most so far before the name's end */

static bool assigned_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == '$';
}

/* The name that ends before the operator at op; its place in *ret_start and *ret_end. */
static bool assigned_name(const struct leak_text *t, size_t op, size_t *ret_start, size_t *ret_end)
{
	const char *p = t->text;
	size_t end = op, start;

	while (end > t->line &&
	       (isspace((unsigned char)p[end - 1]) || leak_is_any(p[end - 1], "\"'])\\")))
		end--;
	start = end;
	while (start > t->line && assigned_is_name(p[start - 1]))
		start--;
	*ret_start = start;
	*ret_end = end;
	return start < end;
}

/* One of the comma-parted words in the text? */
static bool assigned_near(const char *text, size_t len, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, ",");
		char word[32];

		if (n < sizeof(word)) {
			memcpy(word, words, n);
			word[n] = '\0';
			if (name_has(text, len, word))
				return true;
		}
		words += n + (words[n] == ',');
	}
	return false;
}

static const struct leak_rule *assigned_provider(const char *near, size_t near_len,
						 const char *value, size_t len)
{
	for (size_t i = 0; i < leak_rules_n; i++) {
		const struct leak_rule *rule = &leak_rules[i];
		struct shape shape;

		if (rule->kind == LEAK_KIND_KEYED && assigned_near(near, near_len, rule->words) &&
		    shape_parse(rule->shape, &shape) == 0 && shape_is(&shape, value, len))
			return rule;
	}
	return NULL;
}

/* Code rather than a value: a call, a member, an index, a conversion. */
static bool assigned_is_code(const struct leak_text *t, size_t start, size_t end)
{
	const char *p = t->text;
	bool only_names = true;

	if (end < t->end && leak_is_any(p[end], "(["))
		return true;
	for (size_t i = start; i < end; i++) {
		if (p[i] == '(' || p[i] == '[' || p[i] == '{' ||
		    (p[i] == '-' && i + 1 < end && p[i + 1] == '>') ||
		    (p[i] == ':' && i + 1 < end && p[i + 1] == ':'))
			return true;
		only_names &= isalpha((unsigned char)p[i]) || p[i] == '_' || p[i] == '.';
	}
	return only_names;
}

/* Server=...;User Id=...;Password=... */
static bool assigned_is_connection(const struct leak_text *t, size_t name)
{
	static const char *const words[] = {
		"server=", "data source=", "host=", "uid=", "user id=", "database="};

	if (name == t->line || t->text[name - 1] != ';')
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (name_has(t->text + t->line, name - t->line, words[i]))
			return true;
	return false;
}

static bool assigned_set(struct leak_hit *hit, size_t start, size_t end, double confidence)
{
	hit->start = start;
	hit->end = end;
	hit->confidence = confidence;
	return true;
}

static bool assigned_password(const struct leak_text *t, size_t start, size_t end, bool is_quoted,
			      bool is_connection, struct leak_hit *hit)
{
	const char *value = t->text + start;
	size_t len = end - start;

	if (len < (is_connection ? 4u : 6u) || len > 128 || memchr(value, ' ', len))
		return false;
	if (is_connection && *value != '$' && *value != '{' && *value != '<' && *value != '%' &&
	    *value != '*')
		return assigned_set(hit, start, end, leak_is_strong(value, len) ? 0.7 : 0.35);
	if (leak_is_placeholder(value, len) || leak_is_stock_word(value, len))
		return false;
	if (!is_quoted && assigned_is_code(t, start, end))
		return false;
	if (leak_is_random(value, len))
		return assigned_set(hit, start, end, 0.7);
	if (leak_is_strong(value, len) && !memchr(value, '/', len) && !memchr(value, ':', len))
		return assigned_set(hit, start, end, is_quoted ? 0.55 : 0.4);
	return is_quoted && assigned_set(hit, start, end, 0.32);
}

static bool assigned_secret(const struct leak_text *t, size_t start, size_t end, bool is_quoted,
			    bool is_header, struct leak_hit *hit)
{
	const char *value = t->text + start;
	size_t len = end - start;

	if (is_header && leak_is_uuid(value, len))
		return assigned_set(hit, start, end, 0.5);
	if (!leak_is_random(value, len) || leak_is_placeholder(value, len) ||
	    leak_is_uuid(value, len))
		return false;
	/* Paths and versions are full of digits. */
	if (*value == '/' || *value == '.' || memchr(value, ':', len))
		return false;
	return assigned_set(hit, start, end, is_quoted ? 0.65 : 0.55);
}

/* Behind the operator: the rest of :=, =>, ==, ::, and the opening of a call's next argument. */
static size_t assigned_skip(const struct leak_text *t)
{
	size_t at = t->at;

	for (int i = 0; i < 3 && at < t->end && leak_is_any(t->text[at], "=>:~"); i++)
		at++;
	return at;
}

bool form_assigned(const struct leak_text *t, struct leak_hit *hit)
{
	size_t op = t->at - 1, name, name_end, start, end, near;
	const struct leak_rule *provider;
	bool is_quoted;
	enum name_kind kind;
	char sign = t->text[op];

	if (op > 0 && t->text[op - 1] == '-' && sign == '>')
		return false;
	if (!assigned_name(t, op, &name, &name_end))
		return false;
	/* `key, "value"` only inside a call or a list, with the name quoted; <name>value</name> in XML. */
	if (sign == ',' && (name_end >= op || !leak_is_any(t->text[name_end], "\"'")))
		return false;
	if (sign == '>' && (name == t->line || t->text[name - 1] != '<'))
		return false;
	if (!leak_value(t, assigned_skip(t), &start, &end, &is_quoted) || end - start < 4)
		return false;
	if (sign == ',' && !is_quoted)
		return false;
	near = name_end - t->line > ASSIGNED_NEAR ? name_end - ASSIGNED_NEAR : t->line;
	kind = name_kind(t->text + name, name_end - name);
	provider = end - start >= 14 && !leak_is_masked(t->text + start, end - start) &&
				   leak_entropy(t->text + start, end - start) >= 2.8
			   ? assigned_provider(t->text + near, name_end - near, t->text + start,
					       end - start)
			   : NULL;
	if (provider &&
	    (kind != NAME_PLAIN || name_has(provider->words, strlen(provider->words), "_id")) &&
	    !leak_is_placeholder(t->text + start, end - start)) {
		hit->rule = provider;
		return assigned_set(hit, start, end, provider->confidence);
	}
	if (kind == NAME_PASSWORD)
		return assigned_password(t, start, end, is_quoted, assigned_is_connection(t, name),
					 hit);
	if (kind == NAME_SECRET)
		return assigned_secret(
			t, start, end, is_quoted,
			name_has(t->text + name, name_end - name, "apikey") ||
				name_has(t->text + name, name_end - name, "api-key") ||
				name_has(t->text + name, name_end - name, "server-token"),
			hit);
	return false;
}
