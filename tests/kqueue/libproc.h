/* SPDX-License-Identifier: Apache-2.0 */
/* As sys/event.h here. */
#pragma once

#include <stdint.h>

int proc_pidpath(int pid, void *buffer, uint32_t size);
