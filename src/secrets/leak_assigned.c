/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NAME = VALUE in all its dress: code, environment, YAML, JSON, XML, queries of URLs, connection
 * strings, header lines, arguments of calls.  The name decides what the value must look like: a password
 * may be any word that is not obviously a stand-in, and is believed more when it is strong; what
 * machines make must be random.  A value that has the shape of a provider named nearby is that
 * provider's.
 */
#include "secrets/leak.h"
#include "secrets/leak_form.h"

#include "base/limits.h"
#include "base/mem.h"
#include "secrets/name.h"
#include "secrets/shape.h"

#include <ctype.h>
#include <string.h>

enum {
	ASSIGNED_NEAR = 80, /* a provider's word stands at most so far before the name's end */
	ENTRY_MAX = 256,    /* and the name of an entry before its value */
};

static bool assigned_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == '$';
}

static bool assigned_is_type(char c)
{
	return isalnum((unsigned char)c) || leak_is_any(c, "_.<>?\'");
}

/* NAME string =, as Go declares: the place where the name ends. */
static size_t assigned_before_type(const struct leak_text *t, size_t op, size_t end)
{
	static const char type[] = "string";
	size_t n = sizeof(type) - 1;

	if (end == op || end - t->line < n + 2 || memcmp(t->text + end - n, type, n) != 0 ||
	    !isspace((unsigned char)t->text[end - n - 1]))
		return end;
	end -= n;
	while (end > t->line && isspace((unsigned char)t->text[end - 1]))
		end--;
	return end;
}

/* The name that ends before the operator at op; its place in *ret_start and *ret_end. */
static bool assigned_name(const struct leak_text *t, size_t op, size_t *ret_start, size_t *ret_end)
{
	const char *p = t->text;
	size_t end = op, start;

	while (end > t->line &&
	       (isspace((unsigned char)p[end - 1]) || leak_is_any(p[end - 1], "\"'[])\\!?")))
		end--;
	end = assigned_before_type(t, op, end);
	start = end;
	while (start > t->line && assigned_is_name(p[start - 1]))
		start--;
	*ret_start = start;
	*ret_end = end;
	return start < end;
}

/* One of the comma-parted words in the text, which is in lower case? */
static bool assigned_near(const char *text, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, ",");
		char word[32];

		if (n < sizeof(word)) {
			memcpy(word, words, n);
			word[n] = '\0';
			if (strstr(text, word))
				return true;
		}
		words += n + (words[n] == ',');
	}
	return false;
}

static const struct leak_rule *assigned_provider(const char *near, size_t near_len,
						 const char *value, size_t len)
{
	char lower[ASSIGNED_NEAR + 1];

	for (size_t i = 0; i < near_len; i++)
		lower[i] = near[i] ? (char)tolower((unsigned char)near[i]) : ' ';
	lower[near_len] = '\0';
	for (size_t i = leak_rules_n; i-- > 0 && leak_rules[i].kind == LEAK_KIND_KEYED;) {
		const struct leak_rule *rule = &leak_rules[i];
		struct shape shape;

		if (assigned_near(lower, rule->words) && shape_parse(rule->shape, &shape) == 0 &&
		    shape_is(&shape, value, len))
			return rule;
	}
	return NULL;
}

/* Before the rows are asked: can a machine have made this? */
static bool assigned_may_be_random(const char *value, size_t len)
{
	bool has_digit = false;
	size_t turns = 0; /* from small to capital letters: what has no digit has many of them */

	if (len < 14)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)value[i]) && !leak_is_any(value[i], "+/=_-.~|:"))
			return false;
		has_digit |= isdigit((unsigned char)value[i]);
		turns += i > 0 && isupper((unsigned char)value[i]) &&
			 islower((unsigned char)value[i - 1]);
	}
	return (has_digit || turns >= 4) && leak_entropy(value, len) >= 2.8 &&
	       !leak_is_masked(value, len);
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

/* NAME=VALUE of an environment, or a.name=value of a properties file: what stands there is never code. */
static bool assigned_is_setting(const struct leak_text *t, size_t name, size_t name_end, size_t op)
{
	const char *p = t->text;
	bool is_upper = true, is_dotted = false;

	if (name_end != op || p[op] != '=' || op + 1 >= t->end ||
	    isspace((unsigned char)p[op + 1]) || p[op + 1] == '=')
		return false;
	for (size_t i = name; i < name_end; i++) {
		is_upper &= !islower((unsigned char)p[i]) && p[i] != '.' && p[i] != '$';
		is_dotted |= p[i] == '.' && i > name;
	}
	return is_upper ? name == t->line || leak_is_any(p[name - 1], " \t\"'")
			: is_dotted && name == t->line;
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
	if (leak_is_stock_word(value, len))
		return is_quoted && assigned_set(hit, start, end, LEAK_NOTICE);
	if (leak_is_placeholder(value, len))
		return false;
	if (leak_is_random(value, len))
		return assigned_set(hit, start, end, 0.7);
	if (leak_is_strong(value, len) && !memchr(value, '/', len) && !memchr(value, ':', len))
		return assigned_set(hit, start, end, is_quoted ? 0.55 : 0.4);
	return is_quoted && assigned_set(hit, start, end, 0.32);
}

/* a/b/c.png */
static bool assigned_is_file(const char *value, size_t len)
{
	const char *slash = memrchr(value, '/', len);
	const char *dot = slash ? memrchr(slash, '.', len - (size_t)(slash - value)) : NULL;

	return dot && len - (size_t)(dot - value) <= 6;
}

static bool assigned_secret(const struct leak_text *t, size_t start, size_t end, bool is_quoted,
			    bool is_key, struct leak_hit *hit)
{
	const char *value = t->text + start;
	size_t len = end - start;

	if (is_key && leak_is_uuid(value, len) && !leak_is_placeholder(value, len))
		return assigned_set(hit, start, end, 0.5);
	/* How frameworks write the bytes of a key. */
	if (len > 7 && memcmp(value, "base64:", 7) == 0) {
		value += 7;
		len -= 7;
	}
	if (!leak_is_random(value, len) || leak_is_placeholder(value, len) ||
	    leak_is_uuid(value, len))
		return false;
	/* Paths and versions are full of digits. */
	if (*value == '/' || *value == '.' || memchr(value, ':', len) ||
	    assigned_is_file(value, len))
		return false;
	return assigned_set(hit, start, end, is_quoted ? 0.65 : 0.55);
}

/* name: Type = value.  Gives the place behind the =, 0 when there is none. */
static size_t assigned_typed(const struct leak_text *t)
{
	const char *p = t->text;
	size_t at = t->at, type;

	if (p[at - 1] != ':')
		return 0;
	while (at < t->end && (p[at] == ' ' || p[at] == '&'))
		at++;
	for (type = at; at < t->end && at - type < 24 && assigned_is_type(p[at]); at++)
		;
	if (at == type)
		return 0;
	while (at < t->end && p[at] == ' ')
		at++;
	return at + 1 < t->end && p[at] == '=' && p[at + 1] != '=' ? at + 1 : 0;
}

/* Behind the operator: the rest of :=, =>, ==, ::, and the opening of a call's next argument. */
static size_t assigned_skip(const struct leak_text *t)
{
	size_t at = assigned_typed(t);

	if (at > 0)
		return at;
	at = t->at;
	for (int i = 0; i < 3 && at < t->end && leak_is_any(t->text[at], "=>:~"); i++)
		at++;
	return at;
}

/* The parts of one assignment, as places in the text. */
struct assigned {
	size_t name, name_end, start, end;
	bool is_quoted, is_connection, is_setting, is_compared, is_bare;
};

/* $name = word; in PHP, where a word that is no constant is a string: constants have capitals. */
static bool assigned_is_bare(const struct leak_text *t, const struct assigned *a)
{
	if (t->text[a->name] != '$' || a->end >= t->end || t->text[a->end] != ';')
		return false;
	for (size_t i = a->start; i < a->end; i++)
		if (!islower((unsigned char)t->text[i]))
			return false;
	return a->end - a->start >= 6;
}

static bool assigned_read(const struct leak_text *t, struct assigned *a)
{
	size_t op = t->at - 1;
	char sign = t->text[op];

	if (op > 0 && t->text[op - 1] == '-' && sign == '>')
		return false;
	if (!assigned_name(t, op, &a->name, &a->name_end))
		return false;
	/* `key, "value"` only inside a call or a list, with the name quoted; <name>value</name> in XML. */
	if (sign == ',' && (a->name_end >= op || !leak_is_any(t->text[a->name_end], "\"'")))
		return false;
	if (sign == '>' && (a->name == t->line || t->text[a->name - 1] != '<'))
		return false;
	if (!leak_value(t, assigned_skip(t), &a->start, &a->end, &a->is_quoted) ||
	    a->end - a->start < 4 || (sign == ',' && !a->is_quoted))
		return false;
	a->is_connection = assigned_is_connection(t, a->name);
	/* What stands in the query of a URL is no code. */
	if (a->name > t->line && leak_is_any(t->text[a->name - 1], "?&") &&
	    name_has(t->text + t->line, a->name - t->line, "://"))
		a->is_quoted = true;
	/* <name>value</name> */
	if (sign == '>' && a->end + 1 < t->end && t->text[a->end] == '<' &&
	    t->text[a->end + 1] == '/')
		a->is_quoted = true;
	a->is_setting = assigned_is_setting(t, a->name, a->name_end, op);
	a->is_compared = op > 0 && t->text[op - 1] == '!';
	/* key: !tag value */
	if (sign == ':' && !a->is_quoted && t->text[a->start] == '!')
		return false;
	a->is_bare = sign == '=' && !a->is_quoted && assigned_is_bare(t, a);
	return a->is_quoted || a->is_connection || a->is_setting || a->is_bare ||
	       !assigned_is_code(t, a->start, a->end);
}

/* The provider that is named near and has values of this shape. */
static const struct leak_rule *assigned_owner(const struct leak_text *t, const struct assigned *a,
					      enum name_kind kind)
{
	size_t line = a->name < t->line ? a->name
					: t->line; /* the name of an entry has a line of its own */
	size_t near = a->name_end - line > ASSIGNED_NEAR ? a->name_end - ASSIGNED_NEAR : line;
	const struct leak_rule *rule;

	if (!assigned_may_be_random(t->text + a->start, a->end - a->start))
		return NULL;
	rule = assigned_provider(t->text + near, a->name_end - near, t->text + a->start,
				 a->end - a->start);
	if (!rule || leak_is_placeholder(t->text + a->start, a->end - a->start))
		return NULL;
	return kind != NAME_PLAIN || name_has(rule->words, strlen(rule->words), "_id") ? rule
										       : NULL;
}

/* Names of keys that providers give out as UUIDs, too; other names of secrets hold references of that form. */
static bool assigned_is_key(const char *name, size_t len)
{
	static const char *const words[] = {"apikey",   "api-key",      "api_key",
					    "apitoken", "api_token",    "server-token",
					    "secret",   "access_token", "auth_token"};
	/* Tokens that programs make for one request or one page, and not to let anybody in. */
	static const char *const own[] = {"request",  "session", "idempot", "continu",
					  "sync",     "device",  "invite",  "reset",
					  "sequence", "trace",   "lock",    "task"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (name_has(name, len, words[i]))
			return true;
	/* clientToken alone is such a one, too; _authToken counts only behind its registry. */
	if (*name == '-' && name_has(name, len, "token"))
		return true;
	if (len < 8 || *name == '_' || (len <= 12 && name_has(name, len, "client")))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (name_has(name, len, own[i]))
			return false;
	return name_has(name, len, "token");
}

bool form_assigned(const struct leak_text *t, struct leak_hit *hit)
{
	struct assigned a = {0};
	const char *name;
	enum name_kind kind;
	size_t len;

	/* Most values are no candidates, and that costs less to see than what the name means. */
	if (!assigned_read(t, &a))
		return false;
	name = t->text + a.name;
	len = a.name_end - a.name;
	/* checksum/secret: what is told about one; did:key: the name of a public one */
	if ((a.name > t->line + 8 && memcmp(name - 9, "checksum/", 9) == 0) ||
	    (a.name > t->line + 3 && memcmp(name - 4, "did:", 4) == 0))
		return false;
	kind = name_kind(name, len);
	/* PWD alone is a directory, but not there. */
	if (a.is_connection && len == 3 && name_has(name, len, "pwd"))
		kind = NAME_PASSWORD;
	if (kind == NAME_PLAIN && !name_has(name, len, "_id"))
		return false;
	hit->rule = assigned_owner(t, &a, kind);
	if (hit->rule)
		return assigned_set(hit, a.start, a.end, hit->rule->confidence);
	/* The fingerprint of a public key. */
	if (kind == NAME_SECRET && (name_has(name, len, "gpg") || name_has(name, len, "pgp")) &&
	    leak_is_hex(t->text + a.start, a.end - a.start) && a.end - a.start <= 40)
		return false;
	/* What a program compares a secret with is one. */
	if (a.is_compared && a.is_quoted && name_has(name, len, "secret"))
		kind = NAME_PASSWORD;
	if (kind == NAME_PASSWORD && a.is_bare)
		return assigned_set(hit, a.start, a.end, LEAK_NOTICE);
	if (kind == NAME_PASSWORD)
		return assigned_password(t, a.start, a.end, a.is_quoted || a.is_setting,
					 a.is_connection, hit);
	if (kind == NAME_SECRET)
		return assigned_secret(t, a.start, a.end, a.is_quoted, assigned_is_key(name, len),
				       hit);
	return false;
}

/* key="NAME" value="VALUE", "name": "NAME", "value": "VALUE", <entry key="NAME">VALUE<: the place is where the value
 * begins. */
bool form_attribute(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text;
	char sign = p[t->at - 1];
	size_t end = t->at - 1, start, stop = t->at;
	enum name_kind kind;

	/* back over value=" to the quote that ends the name */
	if (sign == '"') {
		while (end > t->line && tolower((unsigned char)p[end]) != 'v')
			end--;
		end -= end > t->line && p[end - 1] == '"';
		while (end > t->line && p[end - 1] != '"')
			end--;
		end = end > t->line ? end - 1 : end;
	} else {
		end = end > t->line ? end - 1 : end;
	}
	for (start = end; start > t->line && p[start - 1] != '"';)
		start--;
	while (stop < t->end && p[stop] != (sign == '"' ? '"' : '<'))
		stop++;
	if (stop == t->end || stop - t->at < 4 || stop - t->at > LIMIT_LEAK_VALUE || start == end)
		return false;
	kind = name_kind(p + start, end - start);
	if (kind == NAME_PASSWORD)
		return assigned_password(t, t->at, stop, true, false, hit);
	return kind == NAME_SECRET &&
	       assigned_secret(t, t->at, stop, true, assigned_is_key(p + start, end - start), hit);
}

/* setName("VALUE"): the quote is open.  Most calls with such names are asked for something by its name. */
bool form_set_by_call(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text, *quote = memchr(p + t->at, p[t->at - 1], t->end - t->at);
	size_t name_end = t->at - 1, name, end;

	while (name_end > t->line &&
	       (p[name_end - 1] == '(' || isspace((unsigned char)p[name_end - 1])))
		name_end--;
	for (name = name_end;
	     name > t->line && assigned_is_name(p[name - 1]) && p[name - 1] != '.';)
		name--;
	if (!quote || name == name_end)
		return false;
	end = (size_t)(quote - p);
	if (end - t->at > LIMIT_LEAK_VALUE)
		return false;
	switch (name_kind(p + name, name_end - name)) {
	case NAME_PLAIN:
		return false;
	case NAME_PASSWORD:
		/* setPassword("..."), and PASSWORD('...') of a database. */
		if ((name_has(p + name, 3, "set") || name_end - name == strlen("password")) &&
		    leak_is_strong(p + t->at, end - t->at))
			return assigned_password(t, t->at, end, true, false, hit);
		break;
	case NAME_SECRET:
		break;
	}
	return assigned_secret(t, t->at, end, true, false, hit);
}

/* NAME VALUE, as options, definitions and words of commands stand: only what a machine made. */
bool form_spaced(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text;
	size_t name_end, name, start = t->at, end = t->at;

	while (start > t->line && !isspace((unsigned char)p[start - 1]))
		start--;
	for (name_end = start; name_end > t->line && isspace((unsigned char)p[name_end - 1]);)
		name_end--;
	start += leak_is_any(p[start], "\"'");
	while (end < t->end && !isspace((unsigned char)p[end]) && !leak_is_any(p[end], "\"'"))
		end++;
	for (name = name_end; name > t->line && assigned_is_name(p[name - 1]);)
		name--;
	if (name == name_end || end - start > LIMIT_LEAK_VALUE)
		return false;
	return name_kind(p + name, name_end - name) == NAME_SECRET &&
	       assigned_secret(t, start, end, false, p[name] == '-' && name_end - name > 8, hit);
}

/* f("VALUE"): the quote is open.  Only what a machine made. */
bool form_key_call(const struct leak_text *t, struct leak_hit *hit)
{
	const char *quote = memchr(t->text + t->at, t->text[t->at - 1], t->end - t->at);
	size_t end = quote ? (size_t)(quote - t->text) : 0;

	return quote && end - t->at <= LIMIT_LEAK_VALUE &&
	       assigned_secret(t, t->at, end, true, false, hit);
}

/* NAME = f("VALUE"), where f undoes an encoding. */
bool form_wrapped(const struct leak_text *t, struct leak_hit *hit)
{
	const char *sign = memchr(t->text + t->line, '=', t->at - t->line);
	size_t name, name_end;

	return sign && assigned_name(t, (size_t)(sign - t->text), &name, &name_end) &&
	       name_kind(t->text + name, name_end - name) == NAME_SECRET && form_key_call(t, hit);
}

/* "the password for root: VALUE", "your API key is VALUE": a word with letters and digits, and no sentence. */
bool form_said(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text;
	size_t start = p[t->at - 1] == ' ' ? t->at : t->at - 1, end = start;
	bool has_digit = false, has_upper = false;

	while (end < t->end && !isspace((unsigned char)p[end]))
		end++;
	for (size_t i = start; i < end; i++) {
		has_digit |= isdigit((unsigned char)p[i]);
		has_upper |= isupper((unsigned char)p[i]);
	}
	if (end - start < 8 || end - start > 128 || !has_digit ||
	    leak_is_placeholder(p + start, end - start) || memchr(p + start, '/', end - start))
		return false;
	if (leak_is_random(p + start, end - start))
		return assigned_set(hit, start, end, 0.6);
	return has_upper && leak_is_strong(p + start, end - start) &&
	       assigned_set(hit, start, end, 0.4);
}

/* login TOKEN, auth TOKEN: the place is within the token. */
bool form_logged_in(const struct leak_text *t, struct leak_hit *hit)
{
	size_t start = t->at, end = t->at;

	while (start > t->line && !isspace((unsigned char)t->text[start - 1]))
		start--;
	while (end < t->end &&
	       (isalnum((unsigned char)t->text[end]) || leak_is_any(t->text[end], "_-")))
		end++;
	return end - start <= LIMIT_LEAK_VALUE && assigned_secret(t, start, end, false, true, hit);
}

/* The name and its value are parted by more than a sign: name: DB_PASSWORD, value: "..." of a container,
 * variable "db_password" { default = "..." }.  The nearest name of a secret before the place is the one. */
bool form_entry(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text;
	size_t name = t->at, name_end, start, end, from = t->at > ENTRY_MAX ? t->at - ENTRY_MAX : 0;
	enum name_kind kind = NAME_PLAIN;
	bool is_quoted;

	while (kind == NAME_PLAIN && name > from) {
		for (name_end = name; name_end > from && !assigned_is_name(p[name_end - 1]);)
			name_end--;
		for (name = name_end; name > from && assigned_is_name(p[name - 1]);)
			name--;
		kind = name_kind(p + name, name_end - name);
	}
	if (kind == NAME_PLAIN || !leak_value(t, t->at, &start, &end, &is_quoted))
		return false;
	hit->rule = assigned_owner(
		t,
		&(struct assigned){.name = name, .name_end = name_end, .start = start, .end = end},
		kind);
	if (hit->rule)
		return assigned_set(hit, start, end, hit->rule->confidence);
	if (kind == NAME_PASSWORD)
		return assigned_password(t, start, end, is_quoted, false, hit);
	return assigned_secret(t, start, end, is_quoted, assigned_is_key(p + name, name_end - name),
			       hit);
}
