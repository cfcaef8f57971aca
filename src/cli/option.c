/* SPDX-License-Identifier: Apache-2.0 */
/* See option.h. */
#include "cli/option.h"

#include "base/limits.h"
#include "base/parse.h"
#include "cli/suggest.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* One parse: where we are, and which rows were given already. */
struct option_state {
	const struct option_request *request;
	size_t next;    /* index of the next word to read */
	size_t n_words; /* words kept so far, at the front of argv */
	bool is_final;
	bool seen[OPTION_ROWS_MAX]; /* by position over all tables */
};

/* A row, where its value goes, and how it was written. */
struct option_match {
	const struct option *row;
	void *member;
	size_t index;
	bool is_short; /* written as -l, not as --level: messages say it the same way */
};

enum option_complete option_completion(const struct option *o)
{
	return o->names ? COMPLETE_NAMES : o->complete;
}

/* By short_name when it is not 0, else by the long name of len bytes. */
static bool option_find(const struct option_state *s, const char *long_name, size_t len,
			char short_name, struct option_match *ret)
{
	size_t index = 0;

	for (size_t t = 0; t < OPTION_TABLES_MAX && s->request->tables[t].rows; t++) {
		const struct option_table *table = &s->request->tables[t];

		for (const struct option *o = table->rows; o->long_name; o++, index++) {
			bool is_it = short_name ? o->short_name == short_name
						: strlen(o->long_name) == len &&
							  memcmp(o->long_name, long_name, len) == 0;

			assert(index < OPTION_ROWS_MAX);
			if (!is_it)
				continue;
			*ret = (struct option_match){.row = o,
						     .member = (char *)table->target + o->offset,
						     .index = index,
						     .is_short = short_name != 0};
			return true;
		}
	}
	return false;
}

static int option_unknown(const struct option_state *s, const char *name, size_t len,
			  struct cordon_error *err)
{
	struct buf word = BUF_INIT(256);
	struct buf text = BUF_INIT(1024);
	struct suggest suggest;
	int r;

	buf_add(&word, name, len < 200 ? len : 200);
	suggest = SUGGEST_INIT(buf_cstr(&word), "--");
	for (size_t t = 0; t < OPTION_TABLES_MAX && s->request->tables[t].rows; t++)
		for (const struct option *o = s->request->tables[t].rows; o->long_name; o++)
			suggest_consider(&suggest, o->long_name);
	suggest_write(&suggest, &text);
	r = cordon_fail(err, CORDON_E_INVALID, "unknown option '--%s'%s", buf_cstr(&word),
			buf_cstr(&text));
	suggest_done(&suggest);
	buf_done(&text);
	buf_done(&word);
	return r;
}

int option_check_name(const char *const *names, const char *value, const char **ret_name,
		      struct cordon_error *err)
{
	struct suggest suggest = SUGGEST_INIT(value, "");
	struct buf text = BUF_INIT(1024);
	int r;

	for (size_t i = 0; names[i]; i++) {
		if (strcmp(names[i], value) == 0) {
			*ret_name = names[i];
			buf_done(&text);
			suggest_done(&suggest);
			return 0;
		}
		suggest_consider(&suggest, names[i]);
		buf_printf(&text, "%s%s", i ? ", " : "", names[i]);
	}
	suggest_write(&suggest, &text);
	r = cordon_fail(err, CORDON_E_INVALID, "'%.200s' is not one of %s", value, buf_cstr(&text));
	buf_done(&text);
	suggest_done(&suggest);
	return r;
}

/* The three numeric kinds: text to value, then the row's range. */
static int option_store_number(const struct option_match *m, const char *value,
			       struct cordon_error *err)
{
	struct option_number *n = m->member;
	int64_t max = m->row->max ? m->row->max : INT64_MAX;
	const char *what = "a whole number";
	uint64_t bytes = 0;
	int64_t v = 0;
	int r;

	if (m->row->kind == OPTION_SIZE) {
		what = "a size such as 512M or 2G";
		r = parse_size(value, &bytes);
		v = (int64_t)bytes; /* parse_size() stays within INT64_MAX */
	} else if (m->row->kind == OPTION_DURATION) {
		what = "a duration such as 250ms, 30s or 5m";
		r = parse_duration(value, &v);
	} else {
		r = parse_int(value, INT64_MIN, INT64_MAX, &v);
	}
	if (r == -ERANGE)
		return cordon_fail(err, CORDON_E_INVALID, "'%.200s' is too large", value);
	if (r < 0)
		return cordon_fail(err, CORDON_E_INVALID, "'%.200s' is not %s", value, what);
	if (v < m->row->min)
		return cordon_fail(err, CORDON_E_INVALID, "'%.200s' is too small (least: %lld%s)",
				   value, (long long)m->row->min,
				   m->row->kind == OPTION_DURATION ? "ms" : "");
	if (v > max)
		return cordon_fail(err, CORDON_E_INVALID,
				   "'%.200s' is too large (greatest: %lld%s)", value,
				   (long long)max, m->row->kind == OPTION_DURATION ? "ms" : "");
	*n = (struct option_number){.is_given = true, .value = v};
	return 0;
}

static int option_store_value(const struct option_match *m, const char *value,
			      struct cordon_error *err)
{
	const char *name = value;
	int r;

	if (!*value && !m->row->is_empty_ok)
		return cordon_fail(err, CORDON_E_INVALID, "the value (%s) is empty",
				   m->row->argument);
	if (m->row->names) {
		r = option_check_name(m->row->names, value, &name, err);
		if (r < 0)
			return r;
	}
	switch (m->row->kind) {
	case OPTION_STRING:
	case OPTION_PATH:
	case OPTION_ENUM:
		*(const char **)m->member = name;
		return 0;
	case OPTION_LIST:
		r = strv_add(m->member, name);
		return r < 0 ? cordon_fail_leaf(err, r, "keep its value") : 0;
	case OPTION_SIZE:
	case OPTION_DURATION:
	case OPTION_INT:
		return option_store_number(m, value, err);
	case OPTION_FLAG:
	case OPTION_SET:
	case OPTION_KIND_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "a kind without a value has one");
}

/* The row that has the same target and was given before, NULL when there is none. */
static const struct option *option_contradicted(const struct option_state *s,
						const struct option_match *m)
{
	size_t index = 0;

	for (size_t t = 0; t < OPTION_TABLES_MAX && s->request->tables[t].rows; t++) {
		const struct option_table *table = &s->request->tables[t];

		for (const struct option *o = table->rows; o->long_name; o++, index++)
			if (o->kind == OPTION_SET && s->seen[index] && o != m->row &&
			    (char *)table->target + o->offset == (char *)m->member)
				return o;
	}
	return NULL;
}

/* Notes that the row was given.  Refuses a second time and a contradiction. */
static int option_mark(struct option_state *s, const struct option_match *m,
		       struct cordon_error *err)
{
	const struct option *other;

	if (s->seen[m->index] && !m->row->is_repeatable)
		return cordon_fail(err, CORDON_E_INVALID, "given more than once");
	other = m->row->kind == OPTION_SET ? option_contradicted(s, m) : NULL;
	if (other)
		return cordon_fail(err, CORDON_E_INVALID, "contradicts '--%s'", other->long_name);
	s->seen[m->index] = true;
	s->is_final = s->is_final || m->row->is_final;
	if (m->row->kind == OPTION_FLAG)
		*(bool *)m->member = true;
	else if (m->row->kind == OPTION_SET)
		*(int *)m->member = m->row->value;
	return 0;
}

/* attached: the text after `=` or after the short letter; NULL when there is none. */
static int option_apply(struct option_state *s, const struct option_match *m, const char *attached,
			struct cordon_error *err)
{
	const char *value = attached;
	int r = option_mark(s, m, err);

	if (r < 0 || !m->row->argument)
		return r;
	if (!value) {
		if (s->next >= s->request->argc)
			return cordon_fail(err, CORDON_E_INVALID, "needs a value (%s)",
					   m->row->argument);
		value = s->request->argv[s->next++];
		if (str_starts(value, "--"))
			return cordon_fail(
				err, CORDON_E_INVALID,
				"needs a value (%s) but '%.200s' follows; if that is meant, write '--%s=%.200s'",
				m->row->argument, value, m->row->long_name, value);
	}
	return option_store_value(m, value, err);
}

/* Puts the option's name before the message. */
static int option_wrap(const struct option_match *m, int r, struct cordon_error *err)
{
	return m->is_short ? cordon_wrap(err, r, "option '-%c'", m->row->short_name)
			   : cordon_wrap(err, r, "option '--%s'", m->row->long_name);
}

/* word: after the two dashes. */
static int option_parse_long(struct option_state *s, const char *word, struct cordon_error *err)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	struct option_match m;
	int r;

	if (!option_find(s, word, len, /* short_name= */ 0, &m))
		return option_unknown(s, word, len, err);
	if (equals && !m.row->argument)
		return option_wrap(&m, cordon_fail(err, CORDON_E_INVALID, "takes no value"), err);
	r = option_apply(s, &m, equals ? equals + 1 : NULL, err);
	return r < 0 ? option_wrap(&m, r, err) : 0;
}

/* word: after the dash, a cluster such as "qv" or "t5s". */
static int option_parse_short(struct option_state *s, const char *word, struct cordon_error *err)
{
	for (const char *p = word; *p; p++) {
		struct option_match m;
		const char *attached = NULL;
		int r;

		if (!option_find(s, NULL, 0, *p, &m))
			return p == word && p[1] == '\0'
				       ? cordon_fail(err, CORDON_E_INVALID, "unknown option '-%c'",
						     *p)
				       : cordon_fail(err, CORDON_E_INVALID,
						     "unknown option '-%c' in '-%.200s'", *p, word);
		if (m.row->argument && p[1] == '=')
			return cordon_fail(err, CORDON_E_INVALID,
					   "option '-%c': write '-%c %s' or '--%s=%s'", *p, *p,
					   m.row->argument, m.row->long_name, m.row->argument);
		if (m.row->argument && p[1])
			attached = p + 1;
		r = option_apply(s, &m, attached, err);
		if (r < 0)
			return option_wrap(&m, r, err);
		if (m.row->argument || s->is_final)
			return 0;
	}
	return 0;
}

static int option_check_required(const struct option_state *s, struct cordon_error *err)
{
	size_t index = 0;

	for (size_t t = 0; t < OPTION_TABLES_MAX && s->request->tables[t].rows; t++)
		for (const struct option *o = s->request->tables[t].rows; o->long_name;
		     o++, index++)
			if (o->is_required && !s->seen[index])
				return cordon_fail(err, CORDON_E_INVALID, "needs '--%s %s'",
						   o->long_name, o->argument);
	return 0;
}

int option_parse(const struct option_request *request, struct option_result *ret_result,
		 struct cordon_error *err)
{
	struct option_state s = {.request = request};
	char **argv = request->argv;
	int r;

	if (request->argc > LIMIT_ARGV)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d words", LIMIT_ARGV);
	while (s.next < request->argc && !s.is_final) {
		char *word = argv[s.next];

		if (word[0] != '-' || word[1] == '\0') {
			if (request->stops_at_word)
				break;
			s.next++;
			argv[s.n_words++] = word; /* never ahead of s.next */
			continue;
		}
		s.next++;
		if (strcmp(word, "--") == 0)
			break;
		r = word[1] == '-' ? option_parse_long(&s, word + 2, err)
				   : option_parse_short(&s, word + 1, err);
		if (r < 0)
			return r;
	}
	if (!s.is_final) {
		r = option_check_required(&s, err);
		if (r < 0)
			return r;
	}
	if (s.n_words == 0) { /* what is left is already in one piece */
		*ret_result =
			(struct option_result){argv + s.next, request->argc - s.next, s.is_final};
		return 0;
	}
	while (s.next < request->argc)
		argv[s.n_words++] = argv[s.next++];
	argv[s.n_words] = NULL;
	*ret_result = (struct option_result){argv, s.n_words, s.is_final};
	return 0;
}
