/* SPDX-License-Identifier: Apache-2.0 */
/* See fsnames.h. */
#include "core/fsnames.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "workspace/protected.h"

#include <string.h>

/* FNV-1a, folded. */
static unsigned fsnames_hash(const char *name, size_t len)
{
	unsigned h = 2166136261U;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619U;
	return (h ^ h >> 16) % FSNAMES_BITS;
}

void fsnames_add(struct fsnames *n, const char *name)
{
	unsigned h = fsnames_hash(name, strlen(name));

	n->bits[h / 64] |= UINT64_C(1) << h % 64;
}

void fsnames_note(struct fsnames *n, const struct walk_names *names)
{
	for
		WALK_EACH(name, names)
		{
			fsnames_add(n, name);
		}
	n->is_known = true;
}

void fsnames_list_home(struct fsnames_home *n, const char *home)
{
	AUTO_FREE char *config = NULL;

	fsnames_list(&n->top, home);
	if (path_join(home, ".config", &config) == 0)
		fsnames_list(&n->config, config);
}

bool fsnames_home_lacks(const struct fsnames_home *n, const char *name)
{
	const char *below = str_starts(name, ".config/") ? name + strlen(".config/") : NULL;

	return fsnames_lack(&n->top, name) || (below && fsnames_lack(&n->config, below));
}

bool fsnames_lack(const struct fsnames *n, const char *name)
{
	unsigned h = fsnames_hash(name, strcspn(name, "/"));

	return n->is_known && !(n->bits[h / 64] >> h % 64 & 1);
}

bool fsnames_look_for(const struct fsnames *n, const char *name)
{
	for (size_t i = 0; i < protected_looked_for_count; i++)
		if (strcmp(protected_looked_for[i].name, name) == 0)
			return !fsnames_lack(n, protected_looked_for[i].beside);
	return false;
}
