/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets that stop at the boundary.  Inside the sandbox there is only a placeholder; on its way out, over TLS that
 * ends here and only towards what the secret is bound to, it becomes the value.  In what comes back the value becomes
 * the placeholder again.  Everything here is pure: bytes in, bytes out.
 */
#pragma once

#include "base/buf.h"
#include "net/hostrule.h"

#define BOUNDARY_SECRETS_MAX 64     /* of one call */
#define BOUNDARY_VALUE_MAX 8192     /* bytes of one */
#define BOUNDARY_PLACEHOLDER_MIN 16 /* a shorter one would be found by accident */
#define BOUNDARY_PLACEHOLDER_MAX 256
#define BOUNDARY_FORM_MIN 6 /* shorter ones are not looked for in answers: they are everywhere */
#define BOUNDARY_BODY_MAX 65536 /* of a request in which a placeholder is replaced */

/* Borrows all it points to. */
struct boundary_secret {
	const char *name;
	/* The value itself is in the call (a variable, a file): there is no placeholder, no TLS ends for it, and it is only
	 * looked for in what leaves (exfil.h). */
	bool is_inside;
	const char *placeholder;
	const char *value;
	size_t value_len;
	const struct hostrule *hosts;
	size_t n_hosts;
	const char *const *methods; /* NULL-terminated; NULL: all */
	const char *const *paths;   /* globs; NULL: all */
};

struct boundary_form;

struct boundary {
	const struct boundary_secret *secrets; /* borrowed */
	size_t n;
	struct boundary_form *forms; /* of the values, as answers may show them */
	size_t n_forms;
	/* The numbers of the forms that can begin with byte c: by_start[start[c]] up to by_start[start[c + 1]]. */
	uint16_t *by_start;
	size_t start[257];
};

/* 0, -EINVAL (too many, too long) or -ENOMEM. */
CORDON_MUST_CHECK int boundary_make(const struct boundary_secret *secrets, size_t n,
				    struct boundary *ret);
/* Wipes. */
void boundary_done(struct boundary *b);

/* Is some secret bound to the host, whatever is said to it? */
bool boundary_has_host(const struct boundary *b, const struct host *host, uint16_t port);
/* Is one bound to it that is for some methods or paths only? */
bool boundary_is_narrow(const struct boundary *b, const struct host *host, uint16_t port);
/* May the secret go there?  path: as in the request line; one that servers could read in two ways is in no list. */
bool boundary_is_bound(const struct boundary_secret *s, const struct host *host, uint16_t port,
		       const char *method, const char *path);
/* The first placeholder in the bytes, or NULL. */
const struct boundary_secret *boundary_find(const struct boundary *b, const char *bytes,
					    size_t len);
/* The same in a host's name, where case is nothing and dots may cut it. */
const struct boundary_secret *boundary_find_name(const struct boundary *b, const char *name);

/* How a value has to be written where it is put. */
enum boundary_place {
	BOUNDARY_FIELD, /* of a head: as it is, without controls */
	BOUNDARY_QUERY, /* of a URL, and forms: with '%' */
	BOUNDARY_JSON,  /* inside of a string */
	BOUNDARY_BODY,  /* as it is */
	BOUNDARY_BASIC, /* credentials: as it is, without controls and, before the colon, without one */
	BOUNDARY_PLACE_COUNT
};

/* Copies bytes to out with every placeholder replaced whose secret is_allowed (one flag for each).  Returns how many
 * were; -EACCES when there is one that is not allowed, -EINVAL when a value cannot stand there; *ret_who is it. */
CORDON_MUST_CHECK int boundary_put(const struct boundary *b, const bool *is_allowed,
				   enum boundary_place place, const char *bytes, size_t len,
				   struct buf *out, const struct boundary_secret **ret_who);
/* The value of a field: the same, and inside of Basic credentials too. */
CORDON_MUST_CHECK int boundary_put_field(const struct boundary *b, const bool *is_allowed,
					 const char *value, size_t len, struct buf *out,
					 const struct boundary_secret **ret_who);

/* Placeholders in a stream that is only looked at. */
struct boundary_scan {
	char last[BOUNDARY_PLACEHOLDER_MAX];
	size_t len;
};

/* The first placeholder that ends in these bytes, or NULL. */
const struct boundary_secret *boundary_scan(const struct boundary *b, struct boundary_scan *s,
					    const char *bytes, size_t len);

/* Values in a stream that are taken out of it.  held: what may be the beginning of one. */
struct boundary_stream {
	struct buf held;
	const bool *passes; /* those that may be in it, one flag for each; NULL: none */
	/* Hears of each that is found; then asterisks stand in its place, whatever the placeholder is.  May be NULL. */
	void (*note)(void *data, const struct boundary_secret *who);
	void *data;
};

#define BOUNDARY_STREAM ((struct boundary_stream){.held = BUF_SECRET(4 * 1024 * 1024)})

/* Copies the stream on to out.  keeps_length: the placeholder is cut or filled up to the length of what it stands for.
 * Returns how many values were taken out, or -ENOMEM. */
CORDON_MUST_CHECK int boundary_redact(const struct boundary *b, struct boundary_stream *s,
				      const char *bytes, size_t len, bool is_end, bool keeps_length,
				      struct buf *out);
void boundary_stream_done(struct boundary_stream *s);
/* Is a placeholder in these bytes, or a value of which the flag is set, in any form? */
bool boundary_has(const struct boundary *b, const bool *wanted, const char *bytes, size_t len);
/* The flags of the values that may go there. */
void boundary_passes(const struct boundary *b, const struct host *host, uint16_t port, bool *ret);
