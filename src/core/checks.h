/* SPDX-License-Identifier: Apache-2.0 */
/* What the policy's tables call a host or a CIDR, judged by net/. */
#pragma once

#include "policy/read.h"

extern const struct policy_checks core_checks;
