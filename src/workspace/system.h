/* SPDX-License-Identifier: Apache-2.0 */
/* The system's directories: what every sandbox shows read-only, so that the user's own tools work inside. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SYSTEM_DIRS 11

/* Never /run, /var/run or anything that holds sockets. */
extern const char *const system_dirs[SYSTEM_DIRS];
/* Is path one of them, or where a link that is one leads (/bin to /usr/bin)? */
bool system_has(const char *path);
