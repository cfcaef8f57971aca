/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Not yet.
 */
#include "secrets/leak.h"

int leak_inspect(const char *text, size_t len, struct findings *ret, struct cordon_error *err)
{
	(void)text, (void)len, (void)ret, (void)err;
	return 0;
}

int leak_scanner_new(leak_fn *fn, void *data, struct leak_scanner **ret, struct cordon_error *err)
{
	(void)fn, (void)data, (void)ret;
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "secrets are not looked for in this build");
}

int leak_feed(struct leak_scanner *s, const char *bytes, size_t len, struct cordon_error *err)
{
	(void)s, (void)bytes, (void)len;
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "secrets are not looked for in this build");
}

int leak_end(struct leak_scanner *s, struct cordon_error *err)
{
	(void)s;
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "secrets are not looked for in this build");
}

void leak_scanner_free(struct leak_scanner *s)
{
	(void)s;
}
