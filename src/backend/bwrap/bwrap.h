/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "bwrap": pid, network, IPC, UTS and cgroup namespaces, /proc and the entry into the root are
 * bubblewrap's work.  The view, Landlock and the filter are the same as native's; see launch/launch.h.
 */
#pragma once

#include "backend/launch/launch.h"

extern const struct cordon_backend bwrap_backend;

/* The command line; pure. */
CORDON_MUST_CHECK int bwrap_line(const struct launch_line *line, struct strv *out);
