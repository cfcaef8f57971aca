/* SPDX-License-Identifier: Apache-2.0 */
/* See callname.h. */
#include "base/callname.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

#define SET_BASIC "@basic"
#define SET_FILES "@files"
#define SET_PROCESS "@process"
#define SET_NETWORK "@network"
#define SET_IPC "@ipc"
#define SET_SYSTEM "@system"

static const struct callname callnames[] = {
#define CALL(name, x86_64, generic, set) {#name, {x86_64, generic}, SET_##set},
#include "base/callnames.def"
#undef CALL
};

static const char *const callname_sets[] = {
	SET_BASIC,   /* memory, signals, waiting, time, open descriptors: what any program does */
	SET_FILES,   /* files by name, and what is kept about them */
	SET_PROCESS, /* starting, ending and governing processes */
	SET_NETWORK, /* sockets */
	SET_IPC,     /* System V IPC and POSIX queues */
	SET_SYSTEM,  /* the rest: administration and kernel interfaces */
};

static const char *const callname_needed[] = {"execve", "exit", "exit_group", "rt_sigreturn"};

const struct callname *callname_at(size_t i)
{
	return i < ARRAY_LEN(callnames) ? &callnames[i] : NULL;
}

const char *callname_set_at(size_t i)
{
	return i < ARRAY_LEN(callname_sets) ? callname_sets[i] : NULL;
}

static bool callname_matches(const struct callname *c, const char *text)
{
	return strcmp(text, text[0] == '@' ? c->set : c->name) == 0;
}

bool callname_is_known(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(callnames); i++)
		if (callname_matches(&callnames[i], text))
			return true;
	return false;
}

bool callname_is_needed(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(callname_needed); i++)
		if (strcmp(callname_needed[i], name) == 0)
			return true;
	return false;
}

int callset_add(struct callset *s, unsigned column, const char *text)
{
	bool is_known = false;

	for (size_t i = 0; i < ARRAY_LEN(callnames); i++) {
		int nr = callnames[i].nr[column & 1];

		if (!callname_matches(&callnames[i], text))
			continue;
		is_known = true;
		if (nr >= 0 && !callname_is_needed(callnames[i].name))
			s->bits[nr / 64] |= (uint64_t)1 << (nr % 64);
	}
	return is_known ? 0 : -EINVAL;
}
