/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of control groups: conversions between the two versions and the text of their files.  Pure. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_PERIOD_US 100000 /* of a processor quota: the kernel's own default */

/* cpu.shares (1024 is everybody's) to cpu.weight (100 is everybody's): the same ratio, so that a call is
 * weighed against its neighbours alike on both versions.  Rounded down, within 1 and 10000; what would be
 * above 10000 cannot be said on version 2 and weighs less than asked. */
uint64_t cgroup_weight_of_shares(uint64_t shares);
/* Percent of one processor to microseconds per CGROUP_PERIOD_US. */
uint64_t cgroup_quota_of_percent(uint64_t percent);
/* "123\n"; "max\n" is UINT64_MAX.  0 or -EINVAL. */
CORDON_MUST_CHECK int cgroup_number(const char *text, uint64_t *ret);
/* The number behind a key in lines of "key number".  0, -ENOENT no such key, -EINVAL not a number. */
CORDON_MUST_CHECK int cgroup_stat(const char *text, const char *key, uint64_t *ret);
/* Is word one of the blank-separated words? */
bool cgroup_has_word(const char *text, const char *word);
