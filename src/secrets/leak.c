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
