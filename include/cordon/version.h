/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of libcordon.  CORDON_VERSION is that of the headers a program was compiled with,
 * cordon_version() that of the library it runs with.
 */
#pragma once

#include <cordon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CORDON_VERSION "0.1.0"

/* "MAJOR.MINOR.PATCH"; constant. */
CORDON_API const char *cordon_version(void);
/* Frees what the library gave as text or as a vector of words; takes NULL. */
CORDON_API void cordon_free(void *p);

#ifdef __cplusplus
}
#endif
