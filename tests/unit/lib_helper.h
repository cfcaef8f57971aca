/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of libcordon share: a place of their own, and assertions that show the error. */
#pragma once

#include <cordon/cordon.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static char place[256]; /* a directory of this program, with "ws", "config" and "state" in it */
static char place_ws[300], place_config[300], place_state[300];

static int place_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	(void)snprintf(place, sizeof(place), "%s/lib-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(place))
		return -1;
	(void)snprintf(place_ws, sizeof(place_ws), "%s/ws", place);
	(void)snprintf(place_config, sizeof(place_config), "%s/config", place);
	(void)snprintf(place_state, sizeof(place_state), "%s/state", place);
	return mkdir(place_ws, 0755) || mkdir(place_config, 0700) || mkdir(place_state, 0700);
}

static int place_teardown(void **state)
{
	char command[300];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", place);
	return system(command);
}

#define assert_ok(call)                                                                            \
	do {                                                                                       \
		struct cordon_error *shown_ = &err;                                                \
		int r_ = (call);                                                                   \
		if (r_ != 0)                                                                       \
			fail_msg("%s: %d: %s", #call, r_, shown_->message);                        \
	} while (0)

/* The call fails with the code, and the error says so too. */
#define assert_code(call, want)                                                                    \
	do {                                                                                       \
		int r_ = (call);                                                                   \
		if (r_ != (want) || err.code != (want) || !err.message[0])                         \
			fail_msg("%s: %s, want %s: %s", #call, cordon_error_name(r_),              \
				 cordon_error_name(want), err.message);                            \
	} while (0)

/* Options in the program's own place, where nothing else is said. */
__attribute__((unused)) static struct cordon_policy_options *place_options(void)
{
	struct cordon_error err;
	struct cordon_policy_options *o = NULL;
	const struct cordon_policy_places places = {
		.struct_size = sizeof(places),
		.workspace = place_ws,
		.config_dir = place_config,
		.state_dir = place_state,
	};

	assert_ok(cordon_policy_options_new_at(&places, &o, &err));
	return o;
}
