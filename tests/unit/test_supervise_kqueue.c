/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of test_supervise.c against macOS's half of the supervisor, over a kqueue made of Linux's (tests/kqueue). */
#define SUPERVISE_KQUEUE
#include "test_supervise.c"
