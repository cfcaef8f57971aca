/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-engine: a program of its own that speaks with a container engine for one call, so that the command stays
 * free of libcurl.  It creates and starts the container, and ends when that is gone; when its caller goes first, it
 * ends the container.
 */
#pragma once

#include <stdint.h>

/* Its descriptors, beside 0 to 2 which lead nowhere. */
#define ENGINE_CONTROL                                                                             \
	3 /* a socket: a word comes over it, or a byte goes; its end before that ends the call */
#define ENGINE_BRIEF 4  /* a file with the brief, JSON */
#define ENGINE_CALLER 5 /* the caller, by pidfd: its end ends the call */
/* For a container made ahead (warm.h), which is tied to nobody, the first is its directory with the lock; the program
 * ends when the container listens there. */

#define ENGINE_NAME "cordon-engine"
#define ENGINE_INSIDE "cordon-inside"
#define ENGINE_BRIEF_MAX (8 * 1024 * 1024)

/* The one word that it says: why the container did not start. */
struct engine_word {
	int32_t code; /* CORDON_E_* */
	char message[512];
	char hint[256];
};
