/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two-tier error model.  Leaves (base/, scanners) return -errno and say nothing.  Everything
 * above takes a struct cordon_error * last (NULL allowed), raises once with cordon_fail() and adds
 * context on the way up with cordon_wrap(), once per layer.
 */
#pragma once

#include <cordon/error.h>

#define CORDON_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Sets *err and returns code.  The first raise wins: use cordon_wrap() to add to it. */
int cordon_fail(struct cordon_error *err, int code, const char *fmt, ...) CORDON_PRINTF(3, 4);
/* As cordon_fail(), with ": <strerror>" appended; ENOMEM becomes CORDON_E_NOMEM, others CORDON_E_SYSTEM. */
int cordon_fail_errno(struct cordon_error *err, int sys_errno, const char *fmt, ...)
	CORDON_PRINTF(3, 4);
/* Prefixes the message with "<fmt>: " and returns r unchanged. */
int cordon_wrap(struct cordon_error *err, int r, const char *fmt, ...) CORDON_PRINTF(3, 4);
/* Sets the hint (what to do about it) and returns r unchanged. */
int cordon_hint(struct cordon_error *err, int r, const char *fmt, ...) CORDON_PRINTF(3, 4);
/* cordon_fail(CORDON_E_NOMEM) */
int cordon_nomem(struct cordon_error *err);
/* Maps a leaf's -errno to a code (-ENOMEM to NOMEM, -E2BIG and -EFBIG to LIMIT, -ETIMEDOUT to TIMEOUT,
 * -ENOENT to NOT_FOUND, others SYSTEM) and raises with the text of errno. */
int cordon_fail_leaf(struct cordon_error *err, int neg_errno, const char *fmt, ...)
	CORDON_PRINTF(3, 4);
void cordon_error_clear(struct cordon_error *err);
