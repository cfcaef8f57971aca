/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the test program cordon-layers has: CORDON_TEST_LAYERS_OFF=NAME,... leaves layers out
 * (base/shield.h), CORDON_TEST_LANDLOCK_ABI=N lowers the ABI, CORDON_TEST_FAULT=NAME breaks the hook's worker.  A name that is not in the table ends the
 * program, so that no row can pass because of a slip of the pen.
 */
#include "base/shield.h"

#include "base/buf.h"
#include "base/parse.h"

#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const shield_names[SHIELD_COUNT] = {
#define SHIELD_NAME(id, name, doc) [SHIELD_##id] = name,
	SHIELD_TABLE(SHIELD_NAME)
#undef SHIELD_NAME
};

static bool shield_off[SHIELD_COUNT];
static bool has_any;
static int landlock_abi = -1;

static void shield_leave_out(const char *name, size_t len)
{
	for (size_t i = 0; i < SHIELD_COUNT; i++) {
		if (strlen(shield_names[i]) != len || strncmp(shield_names[i], name, len) != 0)
			continue;
		shield_off[i] = has_any = true;
		return;
	}
	(void)fprintf(stderr, "no layer '%.*s'\n", (int)len, name);
	_exit(125);
}

/* Before main(), so that nothing has to be looked up between clone and execve. */
__attribute__((constructor)) static void shield_read(void)
{
	const char *off = getenv("CORDON_TEST_LAYERS_OFF");
	const char *abi = getenv("CORDON_TEST_LANDLOCK_ABI");
	int64_t number;

	while (off && *off) {
		size_t len = strcspn(off, ",");

		shield_leave_out(off, len);
		off += len + (off[len] == ',');
	}
	if (!abi)
		return;
	if (parse_int(abi, 0, 99, &number) < 0)
		_exit(125);
	landlock_abi = (int)number;
}

bool shield_is_off(enum shield shield)
{
	return shield_off[shield];
}

bool shield_any_off(void)
{
	return has_any;
}

int shield_landlock_abi(void)
{
	return landlock_abi;
}

int shield_keep_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[2];

	if (syscall(SYS_capget, &header, have) < 0)
		return -1;
	for (size_t i = 0; i < 2; i++)
		have[i].inheritable = have[i].permitted;
	if (syscall(SYS_capset, &header, have) < 0)
		return -1;
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (have[cap / 32].permitted & (1U << (cap % 32)) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -1;
	return 0;
}

/* hook-crash-kill, hook-crash-abort, hook-crash-hang, hook-crash-exit */
void shield_fault(const char *place)
{
	const char *fault = getenv("CORDON_TEST_FAULT");
	size_t len = strlen(place);

	if (!fault || strncmp(fault, place, len) != 0)
		return;
	if (strcmp(fault + len, "-kill") == 0)
		(void)kill(getpid(), SIGKILL);
	else if (strcmp(fault + len, "-abort") == 0)
		abort();
	else if (strcmp(fault + len, "-exit") == 0)
		_exit(0);
	else if (strcmp(fault + len, "-hang") == 0)
		for (;;)
			(void)pause();
	_exit(125);
}

/* hook-frame-magic, hook-frame-short, hook-frame-json */
void shield_fault_frame(unsigned *magic, struct buf *out)
{
	const char *fault = getenv("CORDON_TEST_FAULT");

	if (!fault)
		return;
	if (strcmp(fault, "hook-frame-magic") == 0)
		*magic = 0;
	else if (strcmp(fault, "hook-frame-short") == 0)
		buf_str(out, "{}");
	else if (strcmp(fault, "hook-frame-json") == 0 && out->len > 2)
		out->data[1] = '%';
}
