/* SPDX-License-Identifier: Apache-2.0 */
/* What our macOS halves use of kqueue, for tests of them on Linux (kqueue.c).  Names are macOS's, values are not. */
#pragma once

#include <stdint.h>
#include <time.h>

#define EVFILT_PROC 1
#define EVFILT_SIGNAL 2
#define EVFILT_USER 3

#define EV_ADD 1
#define EV_CLEAR 2

#define NOTE_EXIT 1U
#define NOTE_TRIGGER 2U

struct kevent {
	uintptr_t ident;
	int16_t filter;
	uint16_t flags;
	uint32_t fflags;
	intptr_t data;
	void *udata;
};

#define EV_SET(event, ident_, filter_, flags_, fflags_, data_, udata_)                             \
	(*(event) = (struct kevent){(ident_), (filter_), (flags_), (fflags_), (data_), (udata_)})

int kqueue(void);
int kevent(int queue, const struct kevent *changes, int n_changes, struct kevent *events,
	   int n_events, const struct timespec *timeout);
