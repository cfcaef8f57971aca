/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that a text would have somebody contact, and that are on no list: the text read as a command, and commands of
 * programs for the network wherever they stand in it.  Hosts are compared as hosts, never as parts of a text.
 */
#pragma once

#include "base/str.h"
#include "inspect/context.h"

#define EGRESS_RULE_HOST "EGRESS-HOST"
#define EGRESS_RULE_LIMIT "EGRESS-LIMIT"

/* 0, or CORDON_E_INVALID for an entry that is no rule for hosts (net/hostrule.h). */
CORDON_MUST_CHECK int egress_check_list(const struct strv *allowed, struct cordon_error *err);
/* Adds a finding for each host that is not in the list, which was checked, and what the rules for commands say about
 * data that leaves.  The machine itself is always allowed.  c->see is not used. */
CORDON_MUST_CHECK int egress_inspect(const struct inspect_context *c, const struct strv *allowed,
				     const char *text, size_t len, struct findings *ret,
				     struct cordon_error *err);
