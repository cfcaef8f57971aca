/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which inspectors look at which kind of text.
 */
#include "inspect/inspect.h"

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

/* Text without a sure kind is read as both: what is harmless in one reading may not be in the other. */
static int inspect_both(const struct inspect_context *c, const char *text, size_t len,
			struct findings *ret, struct cordon_error *err)
{
	int r = command_inspect(c, text, len, ret, err);

	return r < 0 ? r : adversary_inspect(c, text, len, ret, err);
}

int inspect(const struct inspect_context *c, enum inspect_kind kind, const char *text, size_t len,
	    struct findings *ret, struct cordon_error *err)
{
	struct inspect_context own = *c;

	if (kind == INSPECT_AUTO)
		kind = kind_guess(text, len, c->path);
	switch (kind) {
	case INSPECT_COMMAND:
	case INSPECT_BASH:
		return command_inspect(c, text, len, ret, err);
	case INSPECT_PYTHON:
		return code_inspect(c, CODE_PYTHON, text, len, ret, err);
	case INSPECT_GO:
		return code_inspect(c, CODE_GO, text, len, ret, err);
	case INSPECT_AUTO:
		return inspect_both(c, text, len, ret, err);
	case INSPECT_OUTPUT:
		if (own.document == INSPECT_DOCUMENT_ANY)
			own.document = INSPECT_DOCUMENT_OUTPUT;
		break;
	case INSPECT_TEXT:
	case INSPECT_KIND_COUNT:
		break;
	}
	return adversary_inspect(&own, text, len, ret, err);
}
