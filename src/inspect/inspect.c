/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which inspectors look at which kind of text.
 */
#include "inspect/inspect.h"

#include "base/str.h"
#include "inspect/adversary.h"
#include "inspect/code.h"
#include "inspect/command.h"
#include "inspect/kind.h"

#include <string.h>

static const char *const inspect_kind_names[INSPECT_KIND_COUNT] = {
#define INSPECT_KIND_WORD(id, word) [INSPECT_##id] = word,
	INSPECT_KINDS(INSPECT_KIND_WORD)
#undef INSPECT_KIND_WORD
};

const char *inspect_kind_name(enum inspect_kind kind)
{
	return inspect_kind_names[kind];
}

enum inspect_kind inspect_kind_of(const char *name)
{
	for (unsigned i = 0; i < INSPECT_KIND_COUNT; i++)
		if (strcmp(inspect_kind_names[i], name) == 0)
			return (enum inspect_kind)i;
	return INSPECT_KIND_COUNT;
}

static int inspect_as(const struct inspect_context *c, enum inspect_kind kind, const char *text,
		      size_t len, struct findings *ret, struct cordon_error *err)
{
	struct inspect_context own = *c;

	switch (kind) {
	case INSPECT_COMMAND:
	case INSPECT_BASH:
		return command_inspect(c, text, len, ret, err);
	case INSPECT_PYTHON:
		return code_inspect(c, CODE_PYTHON, text, len, ret, err);
	case INSPECT_GO:
		return code_inspect(c, CODE_GO, text, len, ret, err);
	case INSPECT_OUTPUT:
		if (own.document == INSPECT_DOCUMENT_ANY)
			own.document = INSPECT_DOCUMENT_OUTPUT;
		break;
	case INSPECT_AUTO:
	case INSPECT_TEXT:
	case INSPECT_KIND_COUNT:
		break;
	}
	return adversary_inspect(&own, text, len, ret, err);
}

/* Reads the text in a way that is not the likeliest.  What only says that it is something else, or what may be
 * harmless, is left out; in sound prose or code a command may be an example, so that it only makes people look.  That
 * the end was not reached counts in every reading. */
static int inspect_also(const struct inspect_context *c, enum inspect_kind kind, bool is_sound,
			const char *text, size_t len, struct findings *ret,
			struct cordon_error *err)
{
	struct inspect_context own = *c;
	struct findings found = {0};
	int r;

	if (kind == INSPECT_TEXT && own.document == INSPECT_DOCUMENT_ANY)
		own.document = INSPECT_DOCUMENT_SOURCE;
	r = inspect_as(&own, kind, text, len, &found, err);
	for (size_t i = 0; r == 0 && i < found.n; i++) {
		struct finding *f = &found.items[i];
		bool is_limit = str_ends(f->rule, "-LIMIT");

		if (!is_limit && (f->level < THREAT_HIGH || f->type == FINDING_INPUT))
			continue;
		if (is_sound && !is_limit) {
			f->level = THREAT_MEDIUM;
			f->confidence = f->confidence < 0.6 ? f->confidence : 0.6;
		}
		r = findings_add(ret, f) < 0 ? cordon_nomem(err) : 0;
	}
	findings_done(&found);
	return r;
}

/* A text of no sure kind: what its first lines look like is its author's choice, so it is read in every way that it
 * could be meant. */
static int inspect_auto(const struct inspect_context *c, const char *text, size_t len,
			struct findings *ret, struct cordon_error *err)
{
	static const enum inspect_kind kinds[] = {INSPECT_COMMAND, INSPECT_TEXT, INSPECT_PYTHON,
						  INSPECT_GO};
	enum inspect_kind first = kind_guess(text, len, NULL);
	size_t begin = ret->n;
	bool is_sound = first != INSPECT_AUTO;
	int r;

	if (first == INSPECT_BASH)
		first = INSPECT_COMMAND;
	r = inspect_as(c, first == INSPECT_AUTO ? INSPECT_COMMAND : first, text, len, ret, err);
	if (r == 0 && first == INSPECT_AUTO)
		r = inspect_as(c, INSPECT_TEXT, text, len, ret, err);
	/* That it is not what it looks like is a finding by itself. */
	for (size_t i = begin; i < ret->n; i++)
		is_sound = is_sound && ret->items[i].type != FINDING_INPUT;
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(kinds); i++) {
		bool is_code = kinds[i] == INSPECT_PYTHON || kinds[i] == INSPECT_GO;

		if (kinds[i] == first || (first == INSPECT_AUTO && !is_code) ||
		    (is_code && !kind_may_be(text, len, kinds[i])))
			continue;
		r = inspect_also(c, kinds[i], is_sound, text, len, ret, err);
	}
	return r;
}

int inspect(const struct inspect_context *c, enum inspect_kind kind, const char *text, size_t len,
	    struct findings *ret, struct cordon_error *err)
{
	if (kind == INSPECT_AUTO)
		kind = kind_of_name(c->path);
	return kind == INSPECT_AUTO ? inspect_auto(c, text, len, ret, err)
				    : inspect_as(c, kind, text, len, ret, err);
}
