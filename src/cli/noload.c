/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static program loads no code at run time.  SQLite's archive could (extensions, which we never switch on): the
 * linker is told (--wrap) to give it this instead of the C library's loader.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
	(void)file, (void)mode;
	return NULL;
}
