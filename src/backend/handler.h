/* SPDX-License-Identifier: Apache-2.0 */
/* What a backend has to do while its command runs.  Apart from notify.h, which is Linux's: backend.h is not. */
#pragma once

#define NOTIFY_BATCH 64 /* calls answered before others have their turn: floods do not starve */

/* What reacts to a listener, or to another descriptor of a backend, in the supervisor's loop.
 * handle: called when fd can be read or has hung up; answers what waits, at most NOTIFY_BATCH; never
 * blocks.  Return: 0, 1 when nothing more will come (the caller stops asking), or -errno (the call is ended).
 * done: called once, after the command has ended; frees data. */
struct notify_handler {
	int (*handle)(void *data, int fd);
	void (*done)(void *data);
	void *data;
};
