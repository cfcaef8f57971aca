/* SPDX-License-Identifier: Apache-2.0 */
/* See border.h. */
#include "lib/border.h"

#include "base/limits.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

const char *cordon_version(void)
{
	return CORDON_VERSION;
}

void cordon_free(void *p)
{
	free(p);
}

void lib_enter(struct cordon_error *err)
{
	cordon_error_clear(err);
}

int lib_leave(int r, struct cordon_error *err)
{
	if (r >= 0) {
		cordon_error_clear(err);
		return r;
	}
	if (strcmp(cordon_error_name(r), cordon_error_name(CORDON_E_INTERNAL)) == 0)
		r = CORDON_E_INTERNAL;
	if (err) {
		if (!err->message[0])
			(void)cordon_fail(err, r, "%s", cordon_error_text(r));
		err->code = r;
	}
	return r;
}

int lib_missing(struct cordon_error *err, const char *what)
{
	return cordon_fail(err, CORDON_E_INVALID, "no %s given", what);
}

static size_t lib_struct_size(const void *object)
{
	size_t size;

	memcpy(&size, object, sizeof(size)); /* every struct begins with it */
	return size;
}

int lib_struct_in(void *ret, size_t size, const void *from, const char *what,
		  struct cordon_error *err)
{
	const unsigned char *bytes = from;
	size_t theirs = lib_struct_size(from);

	if (theirs < sizeof(size_t))
		return cordon_fail(err, CORDON_E_INVALID, "%s: struct_size is not set", what);
	for (size_t i = size; i < theirs; i++)
		if (bytes[i])
			return cordon_fail(err, CORDON_E_UNSUPPORTED,
					   "%s: made for a newer library than %s", what,
					   CORDON_VERSION);
	memset(ret, 0, size);
	memcpy(ret, from, theirs < size ? theirs : size);
	return 0;
}

int lib_struct_check(const void *ret, const char *what, struct cordon_error *err)
{
	if (!ret)
		return lib_missing(err, what);
	if (lib_struct_size(ret) < sizeof(size_t))
		return cordon_fail(err, CORDON_E_INVALID, "%s: struct_size is not set", what);
	return 0;
}

void lib_struct_out(void *ret, const void *from, size_t size)
{
	size_t theirs = lib_struct_size(ret);

	memcpy(ret, from, theirs < size ? theirs : size);
	if (theirs > size)
		memset((unsigned char *)ret + size, 0, theirs - size);
	memcpy(ret, &theirs, sizeof(theirs));
}

int lib_give(struct buf *b, const char *what, char **ret, size_t *ret_len, struct cordon_error *err)
{
	size_t len = 0;
	int r = buf_take(b, ret, &len);

	if (r < 0)
		return cordon_fail_leaf(err, r, "%s", what);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int lib_text(const char *text, const char *what, struct cordon_error *err)
{
	if (text && !utf8_is_valid(text, strlen(text)))
		return cordon_fail(err, CORDON_E_INVALID, "%s is not UTF-8", what);
	return 0;
}

int lib_list(const char *const *from, struct strv *ret, struct cordon_error *err)
{
	for (size_t i = 0; from && from[i]; i++) {
		if (i >= LIMIT_POLICY_ITEMS)
			return cordon_fail(err, CORDON_E_LIMIT, "more than %d entries",
					   LIMIT_POLICY_ITEMS);
		if (strv_add(ret, from[i]) < 0)
			return cordon_nomem(err);
	}
	return 0;
}
