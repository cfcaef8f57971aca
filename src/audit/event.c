/* SPDX-License-Identifier: Apache-2.0 */
/* See event.h. */
#include "audit/event.h"

#include "base/str.h"

#include <assert.h>
#include <string.h>

static const struct audit_event_row event_rows[] = {
#define AUDIT_EVENT_ROW(id, name, ocsf, summary) [AUDIT_EVENT_##id] = {name, ocsf, summary},
	AUDIT_EVENT_TABLE(AUDIT_EVENT_ROW)
#undef AUDIT_EVENT_ROW
};
static_assert(ARRAY_LEN(event_rows) == AUDIT_EVENT_COUNT, "one row for each event");

const struct audit_event_row *audit_event_row(enum audit_event_type type)
{
	assert(type < AUDIT_EVENT_COUNT);
	return &event_rows[type];
}

enum audit_event_type audit_event_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(event_rows); i++)
		if (strlen(event_rows[i].name) == len && memcmp(event_rows[i].name, name, len) == 0)
			return (enum audit_event_type)i;
	return AUDIT_EVENT_COUNT;
}

bool audit_event_is_own(enum audit_event_type type)
{
	return str_starts(audit_event_row(type)->name, "audit.");
}
