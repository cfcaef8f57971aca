/* SPDX-License-Identifier: Apache-2.0 */
/* Raising, wrapping and naming errors; see error.h for the model. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int code;
	const char *name;
	const char *text;
} error_rows[] = {
#define ERROR_ROW(name, value, text) {value, "CORDON_E_" #name, text},
	CORDON_ERROR_TABLE(ERROR_ROW)
#undef ERROR_ROW
};

const char *cordon_error_text(int code)
{
	for (size_t i = 0; i < sizeof(error_rows) / sizeof(error_rows[0]); i++)
		if (error_rows[i].code == code)
			return error_rows[i].text;
	return code >= 0 ? "no error" : "unknown error";
}

const char *cordon_error_name(int code)
{
	for (size_t i = 0; i < sizeof(error_rows) / sizeof(error_rows[0]); i++)
		if (error_rows[i].code == code)
			return error_rows[i].name;
	return "CORDON_E_INTERNAL";
}

static void CORDON_PRINTF(3, 0)
	error_format(char *dst, size_t size, const char *fmt, va_list ap)
{
	if (vsnprintf(dst, size, fmt, ap) < 0)
		dst[0] = '\0';
}

int cordon_fail(struct cordon_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	err->sys_errno = 0;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	error_format(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	return code;
}

static int CORDON_PRINTF(4, 0) error_fail_sys(struct cordon_error *err, int code, int sys_errno,
	const char *fmt, va_list ap)
{
	size_t used;

	if (!err)
		return code;
	err->code = code;
	err->sys_errno = sys_errno;
	err->hint[0] = '\0';
	error_format(err->message, sizeof(err->message), fmt, ap);
	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s",
		       strerrordesc_np(sys_errno) ? strerrordesc_np(sys_errno) : "unknown errno");
	return code;
}

int cordon_fail_errno(struct cordon_error *err, int sys_errno, const char *fmt, ...)
{
	int code = sys_errno == ENOMEM ? CORDON_E_NOMEM : CORDON_E_SYSTEM;
	va_list ap;

	va_start(ap, fmt);
	code = error_fail_sys(err, code, sys_errno, fmt, ap);
	va_end(ap);
	return code;
}

static int error_code_of(int sys_errno)
{
	switch (sys_errno) {
	case ENOMEM:
		return CORDON_E_NOMEM;
	case E2BIG:
	case EFBIG:
		return CORDON_E_LIMIT;
	case ETIMEDOUT:
		return CORDON_E_TIMEOUT;
	case ENOENT:
		return CORDON_E_NOT_FOUND;
	case EINVAL:
	case ERANGE:
	case EILSEQ:
		return CORDON_E_INVALID;
	default:
		return CORDON_E_SYSTEM;
	}
}

int cordon_fail_leaf(struct cordon_error *err, int neg_errno, const char *fmt, ...)
{
	int code = error_code_of(-neg_errno);
	va_list ap;

	va_start(ap, fmt);
	code = error_fail_sys(err, code, -neg_errno, fmt, ap);
	va_end(ap);
	return code;
}

int cordon_wrap(struct cordon_error *err, int r, const char *fmt, ...)
{
	char inner[CORDON_ERROR_MESSAGE_MAX];
	size_t used;
	va_list ap;

	if (!err)
		return r;
	memcpy(inner, err->message, sizeof(inner));
	va_start(ap, fmt);
	error_format(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s", inner);
	return r;
}

int cordon_hint(struct cordon_error *err, int r, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return r;
	va_start(ap, fmt);
	error_format(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return r;
}

int cordon_nomem(struct cordon_error *err)
{
	return cordon_fail(err, CORDON_E_NOMEM, "out of memory");
}

void cordon_error_clear(struct cordon_error *err)
{
	if (!err)
		return;
	err->code = 0;
	err->sys_errno = 0;
	err->message[0] = '\0';
	err->hint[0] = '\0';
}
