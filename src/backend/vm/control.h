/* SPDX-License-Identifier: Apache-2.0 */
/* The emulator's control channel (QMP), as far as templates need it.  System calls only. */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* Saves the devices of a stopped machine into the file; its memory is in a file of its own already.  0 or -errno. */
CORDON_MUST_CHECK int control_save(int control, int state, int64_t deadline_ms);
/* Loads them from the descriptor of that number in the emulator, and lets the machine run. */
CORDON_MUST_CHECK int control_load(int control, int number, int64_t deadline_ms);
