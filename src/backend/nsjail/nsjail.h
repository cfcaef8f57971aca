/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "nsjail": like bwrap, with nsjail as the program that makes the namespaces; see launch/launch.h.  Few
 * machines have it and its versions differ, so nothing is claimed for it beyond what its trial saw there.
 */
#pragma once

#include "backend/launch/launch.h"

extern const struct cordon_backend nsjail_backend;

/* The command line; pure. */
CORDON_MUST_CHECK int nsjail_line(const struct launch_line *line, struct strv *out);
/* Of its log: the first error, and the warning directly before it, which often holds the reason.  Nothing is appended
 * where there is no error, or something else than the log begins.  Pure. */
void nsjail_complaint(const char *said, struct buf *out);
