/* SPDX-License-Identifier: Apache-2.0 */
/* See suggest.h. */
#include "cli/suggest.h"

#include "base/str.h"

#include <string.h>

void suggest_done(struct suggest *s)
{
	buf_done(&s->prefixed);
}

void suggest_consider(struct suggest *s, const char *candidate)
{
	size_t len = strlen(s->word);
	size_t near = len < 3 ? 1 : len < 8 ? 2 : 3;
	size_t distance = str_distance(s->word, candidate, near);

	if (len >= 2 && str_starts(candidate, s->word)) {
		buf_printf(&s->prefixed, "%s'%s%s'", s->n_prefixed ? ", " : "", s->decoration,
			   candidate);
		s->n_prefixed++;
	}
	/* Of a short word no more than half may differ: 'foo' is no 'cow'. */
	if (distance <= near && distance * 2 <= len && distance < strlen(candidate) &&
	    (!s->nearest || distance < s->distance)) {
		s->nearest = candidate;
		s->distance = distance;
	}
}

void suggest_write(struct suggest *s, struct buf *b)
{
	/* A list that outgrew its buffer is of no help: say nothing rather than half of it. */
	if (s->n_prefixed > 0 && buf_error(&s->prefixed) == 0)
		buf_printf(b, "; did you mean %s%s?", s->n_prefixed > 1 ? "one of " : "",
			   buf_cstr(&s->prefixed));
	else if (s->nearest)
		buf_printf(b, "; did you mean '%s%s'?", s->decoration, s->nearest);
}
