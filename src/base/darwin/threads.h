/* SPDX-License-Identifier: Apache-2.0 */
/* macOS's C library has no <threads.h>; this is what is used of it. */
#pragma once

#include <pthread.h>

#define once_flag pthread_once_t
#define ONCE_FLAG_INIT PTHREAD_ONCE_INIT
#define call_once(flag, fn) ((void)pthread_once((flag), (fn)))
