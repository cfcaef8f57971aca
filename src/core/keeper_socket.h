/* SPDX-License-Identifier: Apache-2.0 */
/* The address of a keeper's socket, whose path may be longer than an address holds. */
#pragma once

#include "base/error.h"

#include <sys/un.h>

/* Opens the directory, which must stay open while the address is used.  0 or -errno. */
CORDON_MUST_CHECK int keeper_address(const char *path, int *ret_dir, struct sockaddr_un *ret);
