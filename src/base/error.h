/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two-tier error model.  Leaves (base/, scanners) return -errno and say nothing.  Everything
 * above takes a struct cordon_error * last (NULL allowed), raises once with cordon_fail() and adds
 * context on the way up with cordon_wrap(), once per layer.
 */
#pragma once

#include <cordon/error.h>

#define CORDON_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Sets *err and returns code.  Replaces what was there, the hint too: use cordon_wrap() to add to it.
 * A message that does not fit is cut at a character and ends in "...". */
int cordon_fail(struct cordon_error *err, int code, const char *fmt, ...) CORDON_PRINTF(3, 4);
/* As cordon_fail(), with ": <strerror>" appended; ENOMEM becomes CORDON_E_NOMEM, others CORDON_E_SYSTEM. */
int cordon_fail_errno(struct cordon_error *err, int sys_errno, const char *fmt, ...)
	CORDON_PRINTF(3, 4);
/* Prefixes the message with "<fmt>: " and returns r unchanged.  When both do not fit the prefix is cut,
 * not the cause.  An err that was not raised yet gets the code r and the prefix as its message. */
int cordon_wrap(struct cordon_error *err, int r, const char *fmt, ...) CORDON_PRINTF(3, 4);
/* Sets the hint (what to do about it) and returns r unchanged. */
int cordon_hint(struct cordon_error *err, int r, const char *fmt, ...) CORDON_PRINTF(3, 4);
/* cordon_fail(CORDON_E_NOMEM) */
int cordon_nomem(struct cordon_error *err);
/* Maps a leaf's -errno to a code (-ENOMEM to NOMEM; -E2BIG, -EFBIG and -ENAMETOOLONG to LIMIT;
 * -ETIMEDOUT to TIMEOUT; -ENOENT to NOT_FOUND; -EINVAL, -ERANGE and -EILSEQ to INVALID; others to
 * SYSTEM) and raises with the text of errno. */
int cordon_fail_leaf(struct cordon_error *err, int neg_errno, const char *fmt, ...)
	CORDON_PRINTF(3, 4);
void cordon_error_clear(struct cordon_error *err);
