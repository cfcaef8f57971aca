/* SPDX-License-Identifier: Apache-2.0 */
/* See fsdeny.h. */
#include "core/fsdeny.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "workspace/gitdir.h"
#include "workspace/sensitive.h"

#include <string.h>

static bool fsdeny_literal(const char *entry, const char *path)
{
	AUTO_FREE char *real = NULL;

	if (path_is_within(path, entry))
		return true;
	return path_resolve(entry, &real) == 0 && path_is_within(path, real);
}

/* A glob closes what it matches and everything below. */
static bool fsdeny_glob(const char *entry, const char *path)
{
	char prefix[LIMIT_PATH_BYTES];

	if (strlen(path) >= sizeof(prefix))
		return true; /* longer than any path that can be opened */
	for (const char *end = path; *end;) {
		end = strchrnul(end + 1, '/');
		memcpy(prefix, path, (size_t)(end - path));
		prefix[end - path] = '\0';
		if (glob_match(entry, prefix))
			return true;
	}
	return false;
}

const struct item *fsdeny_find(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->denied.n; i++) {
		const struct item *item = &p->denied.items[i];

		if (glob_has_magic(item->text) ? fsdeny_glob(item->text, path)
					       : fsdeny_literal(item->text, path))
			return item;
	}
	return NULL;
}

int fsdeny_note_sensitive(const struct item_list *listed, const char *path,
			  const struct walk_names *names, struct strv *ret, bool *ret_is_cut,
			  struct cordon_error *err)
{
	for
		WALK_EACH(name, names)
		{
			AUTO_FREE char *full = NULL;
			bool is_sensitive = sensitive_name(name);

			if (!is_sensitive && listed->n == 0)
				continue;
			if (path_join(path, name, &full) < 0)
				return cordon_nomem(err);
			for (size_t i = 0; !is_sensitive && i < listed->n; i++)
				is_sensitive = glob_match(listed->items[i].text, full);
			if (!is_sensitive)
				continue;
			/* Which come first is up to whoever makes names: one that is left out may be the one that
			 * counts, so it is said. */
			if (ret->n >= LIMIT_SENSITIVE) {
				*ret_is_cut = true;
				return 0;
			}
			if (strv_add(ret, full) < 0)
				return cordon_nomem(err);
		}
	return 0;
}

bool fsdeny_has_globs(const struct policy *p)
{
	for (size_t i = 0; i < p->denied.n; i++)
		if (glob_has_magic(p->denied.items[i].text))
			return true;
	return false;
}

bool fsdeny_has_patterns(const struct policy *p)
{
	return fsdeny_has_globs(p) || p->taint_paths.n > 0;
}

bool fsdeny_is_plain(const char *path, const struct walk_names *names, void *arg)
{
	(void)arg;
	for
		WALK_EACH(name, names)
		{
			/* A configuration says by its content whether it is git's. */
			if (strcmp(name, ".git") == 0 || strcmp(name, "config") == 0 ||
			    sensitive_name(name))
				return false;
		}
	return !gitdir_is(path, names);
}
