/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory for a virtual machine whose monitor shares none: 9P2000.L over one connection, served by a program of its
 * own (cordon-share) that runs where the view is, without a capability, and is carried in ours.
 *
 *   cordon-share LISTENER rw|ro      shares the current directory with the first who connects, until that one goes
 */
#pragma once

#include "base/error.h"

#define SHARE_MESSAGE_MAX (256 * 1024) /* as the guest asks for, or less */
#define SHARE_FIDS_MAX (1 << 20)       /* files that the machine's kernel remembers */
#define SHARE_PATHS_MAX (128 << 20)    /* bytes of their names */

/* The program, in memory, to be executed by descriptor.  The descriptor or -errno. */
CORDON_MUST_CHECK int share_program(void);
