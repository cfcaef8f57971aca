/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes and the error object of libcordon.  Every function that can fail returns zero or a
 * positive value on success and one of these negative codes on failure, and fills the struct
 * cordon_error that the caller may pass as the last argument.
 *
 * The codes lie outside the range of errno, so that a leaf's -errno is never mistaken for one.
 *
 * The table is closed: codes are never renumbered, and a code that is not in it never leaves the
 * library (it becomes CORDON_E_INTERNAL at the border).
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define CORDON_API __attribute__((visibility("default")))
#define CORDON_MUST_CHECK __attribute__((warn_unused_result))

/* X(name, value, text) */
#define CORDON_ERROR_TABLE(X)                                                                      \
	X(INTERNAL, -1001, "internal error")                                                       \
	X(NOMEM, -1002, "out of memory")                                                           \
	X(INVALID, -1003, "invalid argument or input")                                             \
	X(SYSTEM, -1004, "a system call was refused")                                              \
	X(POLICY, -1005, "the policy is not valid")                                                \
	X(WIDENS, -1006, "a layer that may only tighten tries to widen")                           \
	X(UNSUPPORTED, -1007, "not supported by this build or machine")                            \
	X(NO_BACKEND, -1008, "no eligible backend")                                                \
	X(REFUSED, -1009, "refused by verdict or policy")                                          \
	X(NOT_FOUND, -1010, "not found")                                                           \
	X(TIMEOUT, -1011, "a deadline passed")                                                     \
	X(LIMIT, -1012, "an input exceeds a named limit")                                          \
	X(CORRUPT, -1013, "stored data is damaged or was tampered with")                           \
	X(BUSY, -1014, "in use by another process")

enum cordon_error_code {
#define CORDON_ERROR_ENUM(name, value, text) CORDON_E_##name = value,
	CORDON_ERROR_TABLE(CORDON_ERROR_ENUM)
#undef CORDON_ERROR_ENUM
};

#define CORDON_ERROR_MESSAGE_MAX 1024
#define CORDON_ERROR_HINT_MAX 512

struct cordon_error {
	int code;      /* enum cordon_error_code, 0 when unset */
	int sys_errno; /* errno behind it, 0 when there is none */
	char message[CORDON_ERROR_MESSAGE_MAX];
	char hint[CORDON_ERROR_HINT_MAX]; /* what to do about it; may be empty */
};

/* Returns a constant sentence for a code: "no error" for zero and above, "unknown error" for a negative
 * one that is not in the table. */
CORDON_API const char *cordon_error_text(int code);
/* Returns the constant name of a code ("CORDON_E_INVALID"), or "CORDON_E_INTERNAL". */
CORDON_API const char *cordon_error_name(int code);

#ifdef __cplusplus
}
#endif
