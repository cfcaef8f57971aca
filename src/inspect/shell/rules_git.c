/* SPDX-License-Identifier: Apache-2.0 */
/* What git throws away: changes that are in no commit, commits that no branch leads to, what others have pushed. */
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

static bool git_clean(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_has(c, "-f|--force") || rule_says(c, "requireForce=false");
}

static bool git_checkout(const struct shell_model *m, const struct shell_command *c)
{
	size_t operands = 0;
	bool has_end = false;

	(void)m;
	if (rule_has(c, "-b|--orphan|--detach|--track|-t") && !rule_has(c, "-f|--force"))
		return false;
	if (rule_has(c, "-f|--force|--pathspec-from-file"))
		return true;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (strcmp(s, "--") == 0)
			has_end = i + 1 < c->n;
		else if (s[0] != '-' &&
			 !(i > 1 &&
			   rule_is("-C -c --git-dir --work-tree --conflict "
				   "--recurse-submodules --unified -U --inter-hunk-context",
				   c->argv[i - 1].s)))
			operands++;
	}
	/* checkout, a revision, paths; or a path that can only be one */
	return has_end || operands > 2 || strcmp(rule_operand(c, 1), ".") == 0 || rule_has(c, "-B");
}

static bool git_restore(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return !rule_has(c, "--staged|-S") || rule_has(c, "--worktree|-W");
}

static bool git_push(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (rule_has(c, "-f|--force|--mirror") && !rule_has(c, "--force-with-lease"))
		return true;
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "--force-w") && strchr(c->argv[i].s, '='))
			return true;
	for (size_t i = 2; i < c->n; i++)
		if (c->argv[i].s[0] == '+' && !rule_has(c, "--force-with-lease"))
			return true;
	return false;
}

static bool git_push_delete(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 2; i < c->n; i++)
		if (c->argv[i].s[0] == ':' && c->argv[i].s[1])
			return true;
	return rule_has(c, "-d|--delete|--prune");
}

static bool git_gc(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "--prune=now") || rule_says(c, "--prune=all") ||
	       rule_says(c, "pruneExpire=now") || rule_says(c, "reflogExpire=now");
}

static bool git_prune(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "now") || rule_says(c, "all");
}

/* What a repository keeps goes wherever it is pushed to. */
static bool git_keeps_secret(const struct shell_model *m, const struct shell_command *c)
{
	return rule_operands(m, c) &
	       (PLACE(SECRET) | PLACE(ENV_FILE) | PLACE(SHADOW) | PLACE(WALLET));
}

#define SUSPECT .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_MEDIUM, .confidence = 0.6
#define DOUBT .type = FINDING_DANGEROUS_PATTERN, .level = THREAT_LOW, .confidence = 0.4

static const struct shell_rule git_rows[] = {
	{.id = "CMD-GIT-RESET",
	 .reason = "It throws away changes that are not committed.",
	 SUSPECT,
	 .programs = "git",
	 .words = "reset",
	 .flags = "--hard|--merge|--keep",
	 .unless = "--help|-h",
	 .hit = "git reset --hard HEAD~1",
	 .miss = "git reset HEAD~1"},
	{.id = "CMD-GIT-CLEAN",
	 .reason = "It deletes files that git does not know.",
	 SUSPECT,
	 .programs = "git",
	 .words = "clean",
	 .unless = "-n|--dry-run|--help",
	 .test = git_clean,
	 .hit = "git clean -fdx",
	 .miss = "git clean -n"},
	{.id = "CMD-GIT-PUSH-FORCE",
	 .reason = "It overwrites history that others have.",
	 SUSPECT,
	 .programs = "git",
	 .words = "push",
	 .unless = "-n|--dry-run|--help",
	 .test = git_push,
	 .hit = "git push -f origin main",
	 .miss = "git push --force-with-lease"},
	{.id = "CMD-GIT-PUSH-DELETE",
	 .reason = "It deletes a branch or a tag that others have.",
	 DOUBT,
	 .programs = "git",
	 .words = "push",
	 .unless = "-n|--dry-run|--help",
	 .test = git_push_delete,
	 .hit = "git push origin --delete topic",
	 .miss = "git push origin topic"},
	{.id = "CMD-GIT-CHECKOUT",
	 .reason = "It overwrites changes that are not committed.",
	 SUSPECT,
	 .programs = "git",
	 .words = "checkout",
	 .test = git_checkout,
	 .hit = "git checkout -- .",
	 .miss = "git checkout -b topic"},
	{.id = "CMD-GIT-RESTORE",
	 .reason = "It overwrites changes that are not committed.",
	 DOUBT,
	 .programs = "git",
	 .words = "restore",
	 .test = git_restore,
	 .hit = "git restore .",
	 .miss = "git restore --staged ."},
	{.id = "CMD-GIT-SWITCH",
	 .reason = "It throws away changes that are not committed.",
	 SUSPECT,
	 .programs = "git",
	 .words = "switch",
	 .flags = "-f|--force|--discard-changes|-C",
	 .hit = "git switch -f main",
	 .miss = "git switch main"},
	{.id = "CMD-GIT-BRANCH",
	 .reason = "It deletes a branch that is not merged.",
	 DOUBT,
	 .programs = "git",
	 .words = "branch",
	 .flags = "-D",
	 .hit = "git branch -D topic",
	 .miss = "git branch -d topic"},
	{.id = "CMD-GIT-STASH",
	 .reason = "It deletes stashed changes.",
	 SUSPECT,
	 .programs = "git",
	 .words = "stash clear|drop",
	 .hit = "git stash clear",
	 .miss = "git stash pop"},
	{.id = "CMD-GIT-REWRITE",
	 .reason = "It rewrites the history of a repository.",
	 SUSPECT,
	 .programs = "git",
	 .words = "filter-branch|filter-repo",
	 .unless = "--dry-run|--analyze",
	 .hit = "git filter-branch -f -- --all",
	 .miss = "git log --all"},
	{.id = "CMD-GIT-REFLOG",
	 .reason = "It deletes what could be used to get lost commits back.",
	 SUSPECT,
	 .programs = "git",
	 .words = "reflog expire|delete",
	 .unless = "--dry-run|-n",
	 .hit = "git reflog expire --expire=now --all",
	 .miss = "git reflog show"},
	{.id = "CMD-GIT-PRUNE",
	 .reason = "It deletes what could be used to get lost commits back.",
	 SUSPECT,
	 .programs = "git",
	 .words = "prune",
	 .unless = "--dry-run|-n",
	 .test = git_prune,
	 .hit = "git prune --expire=now",
	 .miss = "git prune --dry-run"},
	{.id = "CMD-GIT-GC",
	 .reason = "It deletes what could be used to get lost commits back.",
	 SUSPECT,
	 .programs = "git",
	 .words = "gc",
	 .test = git_gc,
	 .hit = "git gc --prune=now",
	 .miss = "git gc"},
	{.id = "CMD-GIT-SECRET",
	 .reason = "It puts credentials into a repository.",
	 DOUBT,
	 .programs = "git hg svn jj",
	 .words = "add|stage|track",
	 .unless = "-n|--dry-run",
	 .test = git_keeps_secret,
	 .hit = "git add -f .env",
	 .miss = "git add .env.example"},
	{.id = "CMD-GIT-REF",
	 .reason = "It deletes a reference.",
	 DOUBT,
	 .programs = "git",
	 .words = "update-ref",
	 .flags = "-d|--delete",
	 .hit = "git update-ref -d HEAD",
	 .miss = "git update-ref HEAD abc"},
	{.id = "CMD-GIT-WORKTREE",
	 .reason = "It deletes a work tree with its changes.",
	 DOUBT,
	 .programs = "git",
	 .words = "worktree remove",
	 .flags = "-f|--force",
	 .hit = "git worktree remove --force w",
	 .miss = "git worktree list"},
};

const struct shell_rules shell_rules_git = {git_rows, sizeof(git_rows) / sizeof(git_rows[0])};
