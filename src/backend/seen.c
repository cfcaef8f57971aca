/* SPDX-License-Identifier: Apache-2.0 */
/* See seen.h.  A table with open addressing, twice as large as it can get full. */
#include "backend/seen.h"

#include "base/limits.h"
#include "base/mem.h"

#include <string.h>

#define SEEN_SLOTS (2 * LIMIT_SEEN)
_Static_assert((SEEN_SLOTS & (SEEN_SLOTS - 1)) == 0, "a mask selects the slot");

void seen_done(struct seen *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->events[i].text);
	free(s->events);
	free(s->slots);
	*s = (struct seen){0};
}

/* FNV-1a.  The command chooses the texts, so chains can be made long, but not longer than LIMIT_SEEN. */
static uint32_t seen_hash(const struct seen_event *fact, const char *text, size_t len)
{
	uint32_t h = 2166136261u ^ (uint32_t)(fact->kind * SEEN_WANT_COUNT + fact->want);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h;
}

static bool seen_same(const struct seen_event *a, const struct seen_event *fact, const char *text,
		      size_t len)
{
	return a->kind == fact->kind && a->want == fact->want && strlen(a->text) == len &&
	       memcmp(a->text, text, len) == 0;
}

static bool seen_drop(struct seen *s, const struct seen_event *fact)
{
	s->dropped++;
	s->lost += !seen_is_inferred(fact);
	return false;
}

/* A message, which may lie, does not speak for what the kernel tells. */
static bool seen_knows_now(struct seen_event *e, const struct seen_event *fact,
			   struct seen_event **ret)
{
	if (e->cause == SEEN_CAUSE_NONE || fact->cause != SEEN_CAUSE_NONE)
		return false;
	e->cause = SEEN_CAUSE_NONE;
	*ret = e;
	return true;
}

bool seen_add(struct seen *s, const struct seen_event *fact, const char *text, size_t len,
	      struct seen_event **ret)
{
	bool is_inferred = seen_is_inferred(fact);
	void *events = s->events;
	struct seen_event *e;
	uint32_t at;

	if (memchr(text, '\0', len) || len == 0)
		return false;
	if (!s->slots)
		s->slots = calloc(SEEN_SLOTS, sizeof(*s->slots));
	if (!s->slots)
		return seen_drop(s, fact);
	for (at = seen_hash(fact, text, len) & (SEEN_SLOTS - 1); s->slots[at];
	     at = (at + 1) & (SEEN_SLOTS - 1)) {
		e = &s->events[s->slots[at] - 1];
		if (seen_same(e, fact, text, len)) {
			e->count++;
			e->is_refused |= fact->is_refused;
			return seen_knows_now(e, fact, ret);
		}
	}
	if (is_inferred && s->n_inferred >= LIMIT_SEEN_INFERRED)
		return seen_drop(s, fact);
	if (mem_grow(&events, &s->cap, s->n + 1, sizeof(*s->events), LIMIT_SEEN) < 0)
		return seen_drop(s, fact);
	s->events = events;
	e = &s->events[s->n];
	*e = *fact;
	e->count = 1;
	e->text = strndup(text, len);
	if (!e->text)
		return seen_drop(s, fact);
	s->n_inferred += is_inferred;
	s->slots[at] = (uint32_t)++s->n;
	*ret = e;
	return true;
}
