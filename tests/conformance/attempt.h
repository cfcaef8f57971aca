/* SPDX-License-Identifier: Apache-2.0 */
/* What the halves of attempt share. */
#pragma once

struct attempt {
	const char *name;
	int (*run)(void);
};

extern const char *argument;
/* Of attempt_others.c; ends with one without a name. */
extern const struct attempt attempts_on_others[];

/* The argument as a number. */
int number(void);
int do_fanotify(void);
