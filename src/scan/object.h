/* SPDX-License-Identifier: Apache-2.0 */
/* Settings in JSON, with comments where their programs allow them. */
#pragma once

#include <jansson.h> /* first: see base/json.h */

#include "scan/reader.h"

/* 1 with *ret (to be released), 0 when it is no object, which was told, or a negative code. */
CORDON_MUST_CHECK int scan_object(struct scan_reader *r, json_t **ret);
/* A command as settings write it: a string, a list of words, or an object of either by name. */
CORDON_MUST_CHECK int scan_command_value(struct scan_reader *r, json_t *value);
/* Every "command" (with its "args") anywhere in a value. */
CORDON_MUST_CHECK int scan_commands_in(struct scan_reader *r, json_t *value);
/* The same of hooks, which the agent tells what it does. */
CORDON_MUST_CHECK int scan_hooks_in(struct scan_reader *r, json_t *value);
