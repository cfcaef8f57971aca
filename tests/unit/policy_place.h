/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary place with a directory for each layer of the policy; for tests of policy_load(). */
#pragma once

#include "policy_kit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

struct kit_place {
	char root[256];
	char sys[300], cfg[300], home[300], work[300]; /* directories */
	char first[300], next[300];                    /* two --policy files */
};

static inline int kit_place_make(struct kit_place *p, const char *name)
{
	const char *tmp = secure_getenv("TMPDIR");
	const char *const names[] = {"sys", "cfg", "home", "repo"};
	char *const dirs[] = {p->sys, p->cfg, p->home, p->work};

	(void)snprintf(p->root, sizeof(p->root), "%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", name);
	if (!mkdtemp(p->root))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		(void)snprintf(dirs[i], sizeof(p->sys), "%s/%s", p->root, names[i]);
		if (mkdir(dirs[i], 0700) < 0)
			return -1;
	}
	(void)snprintf(p->first, sizeof(p->first), "%s/first.yaml", p->root);
	(void)snprintf(p->next, sizeof(p->next), "%s/next.yaml", p->root);
	return 0;
}

static inline int kit_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline int kit_place_done(struct kit_place *p)
{
	return nftw(p->root, kit_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file of mode 0600, or removes it when text is NULL. */
static inline void kit_put(const char *path, const char *text)
{
	FILE *f;

	(void)unlink(path); /* it may not be there */
	if (!text)
		return;
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0 || chmod(path, 0600) < 0)
		abort();
}

static inline void kit_put_in(const char *dir, const char *name, const char *text)
{
	char path[1024];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	kit_put(path, text);
}
