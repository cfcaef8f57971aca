/* SPDX-License-Identifier: Apache-2.0 */
/* See aftermath.h. */
#include "core/aftermath.h"

#include "workspace/gitdir.h"
#include "workspace/gitexec.h"
#include "workspace/gitlinks.h"

#include <errno.h>
#include <stdio.h>

/* One finding for all links of a git directory that the call made. */
static int aftermath_links(const char *gitdir, int64_t since_s, struct findings *ret)
{
	AUTO(strv_done) struct strv links = {0};
	struct finding f = {
		.rule = FINDING_RULE_GIT_LINK,
		.type = FINDING_FILE_ACCESS,
		.level = THREAT_MEDIUM,
		.confidence = 1,
	};
	int r = gitlinks_find(gitdir, since_s, &links);

	if (r < 0 || links.n == 0)
		return r;
	(void)snprintf(f.message, sizeof(f.message),
		       "git will write through a link that the call made in '%.90s': %.80s%s",
		       gitdir, links.v[0], links.n > 1 ? ", and others" : "");
	(void)snprintf(f.snippet, sizeof(f.snippet), "%.120s", links.v[0]);
	return findings_add(ret, &f);
}

/* A directory that became a working tree of a repository which is out of sight, or another's. */
static int aftermath_tree(const struct newgit *newgit, const char *tree, struct findings *ret)
{
	AUTO_FREE char *gitdir = NULL;
	AUTO(strv_done) struct strv runs = {0};
	struct finding f = {
		.rule = FINDING_RULE_NEW_GIT,
		.type = FINDING_FILE_ACCESS,
		.level = THREAT_MEDIUM,
		.confidence = 1,
	};
	int r = gitdir_pointed(tree, &gitdir);

	if (r == 0)
		r = gitexec_find(gitdir, &runs);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	/* What runs nothing and is protected stays so. */
	if (runs.n == 0 && newgit_is_noted(newgit, gitdir))
		f.level = THREAT_LOW;
	(void)snprintf(f.message, sizeof(f.message),
		       "new '%.70s/.git' has git use another place: %.70s%s%.60s", tree, gitdir,
		       runs.n > 0 ? ", which runs commands: " : "", runs.n > 0 ? runs.v[0] : "");
	(void)snprintf(f.snippet, sizeof(f.snippet), "%.120s", runs.n > 0 ? runs.v[0] : gitdir);
	return findings_add(ret, &f);
}

int aftermath_new_git(struct newgit *newgit, struct findings *ret, struct cordon_error *err)
{
	struct strv found = {0};
	int r = newgit_find(newgit, &found, err);

	for (size_t i = 0; r == 0 && i < found.n; i++) {
		struct strv runs = {0};
		struct finding f = {
			.rule = FINDING_RULE_NEW_GIT,
			.type = FINDING_FILE_ACCESS,
			.level = THREAT_LOW,
			.confidence = 1,
		};

		if (gitexec_find(found.v[i], &runs) < 0 ||
		    aftermath_links(found.v[i], newgit->since_s, ret) < 0)
			r = cordon_nomem(err);
		(void)snprintf(f.message, sizeof(f.message), "new git directory '%.150s'",
			       found.v[i]);
		if (runs.n > 0) {
			f.level = THREAT_MEDIUM;
			(void)snprintf(
				f.message, sizeof(f.message),
				"new git directory '%.120s': git runs commands for it: %.80s",
				found.v[i], runs.v[0]);
			(void)snprintf(f.snippet, sizeof(f.snippet), "%.120s", runs.v[0]);
		}
		if (r == 0 && findings_add(ret, &f) < 0)
			r = cordon_nomem(err);
		strv_done(&runs);
	}
	for (size_t i = 0; r == 0 && i < newgit->trees.n; i++)
		if (aftermath_tree(newgit, newgit->trees.v[i], ret) < 0)
			r = cordon_nomem(err);
	for (size_t i = 0; r == 0 && i < newgit->gitdirs.n; i++)
		if (aftermath_links(newgit->gitdirs.v[i], newgit->since_s, ret) < 0)
			r = cordon_nomem(err);
	if (r == 0 && newgit->is_cut) {
		struct finding f = {
			.rule = FINDING_RULE_NEW_GIT,
			.type = FINDING_FILE_ACCESS,
			.level = THREAT_MEDIUM,
			.confidence = 1,
		};

		(void)snprintf(f.message, sizeof(f.message),
			       "more than %d new git directories: not all were looked at",
			       NEWGIT_FOUND_MAX);
		if (findings_add(ret, &f) < 0)
			r = cordon_nomem(err);
	}
	strv_done(&found);
	return r;
}
