/* SPDX-License-Identifier: Apache-2.0 */
/* Raising, wrapping and naming errors; see error.h for the model. */
#include "base/error.h"

#include "base/darwin.h"
#include "base/str.h"

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

static const char error_cut[] = "...";

/* How much of s[0..len) to keep so that at most max bytes and no half character remain. */
static size_t error_fit(const char *s, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 0 && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

/* dst = head, and if there is a tail ": " and the tail.  What is too long is cut and says so: the head
 * first, since the tail is the cause and the head only the way to it, but never below half. */
static void error_compose(char *dst, size_t size, const char *head, const char *tail)
{
	const char *colon = tail ? ": " : "", *head_cut = "", *tail_cut = "";
	size_t room = size - 1 - strlen(colon);
	size_t head_len = strlen(head), tail_len = tail ? strlen(tail) : 0;

	if (head_len + tail_len > room) {
		size_t half = room / 2;
		size_t for_head = tail_len < half ? room - tail_len : half;

		if (head_len > for_head) {
			head_len = error_fit(head, head_len, for_head - strlen(error_cut));
			head_cut = error_cut;
		}
		room -= head_len + strlen(head_cut);
		if (tail_len > room) {
			tail_len = error_fit(tail, tail_len, room - strlen(error_cut));
			tail_cut = error_cut;
		}
	}
	(void)snprintf(dst, size, "%.*s%s%s%.*s%s", (int)head_len, head, head_cut, colon,
		       (int)tail_len, tail ? tail : "",
		       tail_cut); /* fits by the arithmetic above */
}

/* Makes controls and broken UTF-8 visible, so that a message is one line whatever it quotes. */
static void error_escape(char *s, size_t size)
{
	struct buf b = BUF_INIT(8 * CORDON_ERROR_MESSAGE_MAX);
	bool is_plain = true;

	for (const char *p = s; *p && is_plain; p++)
		is_plain = *p >= ' ' && *p < 0x7f;
	if (is_plain)
		return;
	str_escape(&b, s, strlen(s));
	if (buf_error(&b) == 0)
		(void)snprintf(s, size, "%s", buf_cstr(&b)); /* cut again below, at a character */
	else
		for (char *p = s; *p; p++)
			*p = *p >= ' ' && *p < 0x7f ? *p : '?';
	buf_done(&b);
}

/* Formats aside and then composes: arguments may point into err itself. */
static void error_format(char *dst, size_t size, const char *tail, const char *fmt, va_list ap)
	CORDON_PRINTF(4, 0);

static void error_format(char *dst, size_t size, const char *tail, const char *fmt, va_list ap)
{
	char head[2 * CORDON_ERROR_MESSAGE_MAX];
	char inner[CORDON_ERROR_MESSAGE_MAX];

	if (vsnprintf(head, sizeof(head), fmt, ap) < 0)
		head[0] = '\0';
	error_escape(head, sizeof(head));
	if (tail) {
		(void)snprintf(inner, sizeof(inner), "%s",
			       tail); /* tails are errors' texts: they fit */
		tail = inner;
	}
	error_compose(dst, size, head, tail);
}

int cordon_fail(struct cordon_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	error_format(err->message, sizeof(err->message), /* tail= */ NULL, fmt, ap);
	va_end(ap);
	err->code = code;
	err->sys_errno = 0;
	err->hint[0] = '\0';
	return code;
}

static int error_fail_sys(struct cordon_error *err, int code, int sys_errno, const char *fmt,
			  va_list ap) CORDON_PRINTF(4, 0);

static int error_fail_sys(struct cordon_error *err, int code, int sys_errno, const char *fmt,
			  va_list ap)
{
	const char *text = strerrordesc_np(sys_errno);

	if (!err)
		return code;
	error_format(err->message, sizeof(err->message), text ? text : "unknown errno", fmt, ap);
	err->code = code;
	err->sys_errno = sys_errno;
	err->hint[0] = '\0';
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
	case ENAMETOOLONG:
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
	va_list ap;

	if (!err)
		return r;
	va_start(ap, fmt);
	error_format(err->message, sizeof(err->message), err->code ? err->message : NULL, fmt, ap);
	va_end(ap);
	if (!err->code)
		err->code = r;
	return r;
}

int cordon_hint(struct cordon_error *err, int r, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return r;
	va_start(ap, fmt);
	error_format(err->hint, sizeof(err->hint), /* tail= */ NULL, fmt, ap);
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
