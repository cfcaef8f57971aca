/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table.  Every value that a policy file can hold is one row of one shape: where it stands in
 * the file, what type it has, what "tighter" means for it, its default and its documentation.  The
 * reader, the merger, `policy explain`, the JSON Schema and cordon.yaml(5) are all made from it.
 *
 * A shape describes a C struct: the policy itself, or a record in one of its lists (a mount, a rule).
 * Every shape's struct has a member `struct origin origin[N]`, one per row.
 */
#pragma once

#include "policy/names.h"
#include "policy/origin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_type {
	FIELD_BOOL,    /* bool */
	FIELD_ENUM,    /* int, index into names */
	FIELD_INT,     /* int64_t, text value × scale */
	FIELD_NUMBER,  /* double */
	FIELD_STRING,  /* char * */
	FIELD_AGE,     /* int64_t milliseconds, written 30d, 24h, 90s */
	FIELD_LIST,    /* struct item_list of strings */
	FIELD_RECORDS, /* struct record_list of shape, written as a list of maps */
	FIELD_MAP,   /* struct record_list of shape, written as a map; the key is the first field */
	FIELD_WORDS, /* struct record_list of {name, value}, written as a map of scalars */
	FIELD_TYPE_COUNT
};

/* What a string has to be. */
enum field_check {
	CHECK_TEXT, /* anything but empty */
	CHECK_PATH, /* a path: ~, ${VAR}, relative to the workspace; no globs */
	CHECK_GLOB, /* a path or a glob; a bare name means "at any depth of the workspace".  Kept as
		       * a glob: what we put in front (workspace, home) is escaped */
	CHECK_TARGET, /* an absolute path inside the sandbox, kept as it is */
	CHECK_HOST, /* checked as a host rule by the layer above (net/); here: not empty, printable */
	CHECK_REGEX,   /* a regular expression that compiles and does not explode */
	CHECK_NAME,    /* letters, digits, - _ . : */
	CHECK_ENV,     /* the name of an environment variable */
	CHECK_CIPHER,  /* aes-256-gcm */
	CHECK_CACHE,   /* npm, pip, cargo or go */
	CHECK_VERSION, /* "1" */
	CHECK_PATTERN, /* a glob over free text */
	CHECK_CIDR,    /* checked by the layer above */
	CHECK_PORT,    /* 1 to 65535 */
	CHECK_PUBLISH, /* PORT, HOSTPORT:PORT or ADDRESS:HOSTPORT:PORT */
	CHECK_CALL,    /* a system call, or a set of them: base/callname.h */
	CHECK_COUNT
};

/* What a layer that may only tighten may do to the value. */
enum field_tighten {
	TIGHTEN_LOWER,  /* enum, int, number: only lower (or set where it was unset) */
	TIGHTEN_HIGHER, /* only higher */
	TIGHTEN_TRUE,   /* bool: only to true */
	TIGHTEN_FALSE,  /* bool: only to false */
	TIGHTEN_UNION,  /* list of restrictions: entries are added, never removed */
	TIGHTEN_SUBSET, /* list of grants: only entries that an upper layer already grants */
	TIGHTEN_RULES,  /* rule sets: each layer's set is consulted, the strictest answer holds */
	TIGHTEN_NEVER,  /* may not be set there at all, unless it repeats the value */
	TIGHTEN_COUNT
};

struct shape;

struct field {
	const char *path; /* dotted, within the shape */
	enum field_type type;
	enum field_check check;
	enum field_check value_check; /* FIELD_WORDS: of the values; check is that of the names */
	enum field_tighten tighten;
	bool required;
	bool own;                  /* cordon's own: not part of a CKP manifest */
	size_t offset;             /* of the value in the shape's struct */
	const struct names *names; /* FIELD_ENUM, and the values of FIELD_WORDS */
	int64_t min, max;          /* FIELD_INT, before scaling */
	int64_t scale;             /* FIELD_INT: 0 means 1 */
	double number_max;         /* FIELD_NUMBER: from 0 to this */
	const struct shape *shape; /* records */
	const char *fallback;      /* the built-in default as text, NULL for none */
	const char *doc;
};

/* Another spelling of a path, for the published shapes of CloneGuard's policy.yaml. */
struct field_alias {
	const char *from; /* a whole path or a prefix that ends at a dot boundary */
	const char *to;
};

struct shape {
	const char *name;
	size_t size;
	size_t origins; /* offset of struct origin origin[] */
	const struct field *fields;
	size_t n_fields;
	const struct field_alias *aliases; /* ends with from == NULL */
};

struct item {
	char *text; /* expanded, normalised */
	char *raw;  /* as written */
	struct origin origin;
};

struct item_list {
	struct item *items;
	size_t n;
	size_t cap;
};

struct record_list {
	void **records; /* each malloc'ed, of the field's shape */
	size_t n;
	size_t cap;
};

extern const struct shape shape_policy;

static inline void *field_value(const struct field *f, void *object)
{
	return (char *)object + f->offset;
}
static inline const void *field_value_const(const struct field *f, const void *object)
{
	return (const char *)object + f->offset;
}
static inline struct origin *shape_origin(const struct shape *s, void *object, size_t row)
{
	return (struct origin *)(void *)((char *)object + s->origins) + row;
}
static inline const struct origin *shape_origin_const(const struct shape *s, const void *object,
						      size_t row)
{
	return (const struct origin *)(const void *)((const char *)object + s->origins) + row;
}

void item_list_done(struct item_list *l);
/* Frees what the object's fields own, not the object. */
void shape_done(const struct shape *s, void *object);
/* Deep copy of one field from src to dst (dst's value must be empty).  0, -ENOMEM or -E2BIG. */
int field_copy(const struct shape *s, size_t row, void *dst, const void *src);
/* Do two objects hold the same value, wherever it came from? */
bool field_same(const struct shape *s, size_t row, const void *a, const void *b);
void field_clear(const struct shape *s, size_t row, void *object);
int item_list_add(struct item_list *l, const char *text, const char *raw, struct origin origin);
/* Appends a record of the shape, zeroed.  NULL when out of memory or beyond LIMIT_POLICY_ITEMS. */
void *record_list_add(struct record_list *l, const struct shape *s);
/* The row of a path (after aliases were applied), or -1. */
int shape_find(const struct shape *s, const char *path);
/* Is path the beginning of some row's path ("sandbox.capabilities")? */
bool shape_has_prefix(const struct shape *s, const char *path);
