/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What developers fetch things from, and nothing inside: rules (hostrule.h) for a proxy's lists, NULL-terminated.  The hosts
 * are those that package managers ask by default, with what they are redirected to.
 */
#pragma once

extern const char *const devhosts_allow[];
extern const char *const devhosts_block[];
