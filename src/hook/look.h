/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths and URLs that a tool names itself, without a shell: what there is to find about them.  The rules are
 * rows; a test is made of each.  What the manifest says about them is not asked here (core/why.h).
 */
#pragma once

#include "base/str.h"
#include "verdict/verdict.h"

enum look_kind { LOOK_READ, LOOK_WRITE, LOOK_URL, LOOK_BELOW, LOOK_KIND_COUNT };

struct look_rule {
	const char *id;
	const char *reason;
	enum finding_type type;
	enum threat level;
	double confidence;
	enum look_kind kind;
	const char *hit;  /* `~` is home, a relative path is in the workspace */
	const char *miss; /* must not be found by this rule */
};

extern const struct look_rule look_rules[];
extern const size_t look_rule_count;

/* Where names are looked for.  Absolute and real; all but workspace may be NULL. */
struct look_place {
	const char *workspace;
	const char *cwd; /* that relative paths start from */
	const char *home;
	const char *config_dir;
	const char *state_dir;
};

/* Gives the absolute form of a path that a tool was given.  0 or -errno. */
CORDON_MUST_CHECK int look_absolute(const struct look_place *p, const char *path, char **ret);
/* Links are followed before ".." is: link/.. is the parent of where the link leads.  Some tools open a path like that, others
 * take ".." out first, as look_absolute() does.  Gives where the first would come to, or NULL where both come to one place. */
CORDON_MUST_CHECK int look_behind_links(const struct look_place *p, const char *path, char **ret);
/* Some tools take blanks off the ends of what they are given.  Gives the rest; NULL where there are none, or
 * nothing else. */
CORDON_MUST_CHECK int look_trimmed(const char *text, char **ret);
bool look_is_file_url(const char *url);
/* Gives the path of file:PATH, file:///PATH or file://localhost/PATH, with or without '%', query and fragment. */
CORDON_MUST_CHECK int look_file_url(const char *url, char **ret, struct cordon_error *err);
/* Adds what there is to find.  Both the path as it is named and the one that its links lead to count. */
CORDON_MUST_CHECK int look_at(const struct look_place *p, enum look_kind kind, const char *text,
			      struct findings *ret, struct cordon_error *err);

/* What a search below a directory would read.  Free `named`. */
struct look_searched {
	struct strv named; /* absolute: what its globs name, credentials among it */
	bool is_kind;      /* credentials fit that are not named */
};

/* Asks what a search below dir for the globs reaches; without globs, all.  lists_only: only names are given.  0 or -errno. */
CORDON_MUST_CHECK int look_search(const struct look_place *p, const char *dir,
				  const struct strv *globs, bool lists_only,
				  struct look_searched *ret);
/* The same, with what there is to find; *ret_named is to be looked at as what is read. */
CORDON_MUST_CHECK int look_at_search(const struct look_place *p, const char *dir,
				     const struct strv *globs, bool lists_only,
				     struct strv *ret_named, struct findings *ret,
				     struct cordon_error *err);
