/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that mean something other than a public host: the machine itself, the local network, a
 * cloud's metadata service.  What such a name resolves to is checked in any case; the table gives
 * the refusal before a query leaves the machine, and a reason that people understand.
 */
#pragma once

#include "net/host.h"

enum name_kind {
	NAME_LOCALHOST,
	NAME_METADATA,
	NAME_LOCAL_NETWORK, /* private-use and link-local domains, names without a dot */
	NAME_RESERVED,      /* must never be resolved in the public DNS */
	NAME_KIND_COUNT
};

struct name_row {
	const char *name;
	bool has_subdomains; /* everything below belongs to it too */
	enum name_kind kind;
	const char *source;
};

/* The row of a special name, NULL for ordinary names and for addresses.  Borrows constant data. */
const struct name_row *name_class(const struct host *host);
const char *name_kind_name(enum name_kind kind);
