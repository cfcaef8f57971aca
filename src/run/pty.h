/* SPDX-License-Identifier: Apache-2.0 */
/* A pair of pseudo-terminals of the host's: pty_linux.c and pty_darwin.c, which ask for the far end by other calls. */
#pragma once

#include "base/error.h"

/* Both are given, with CLOEXEC.  0 or -errno. */
CORDON_MUST_CHECK int pty_open(int *ret_master, int *ret_slave);
