/* SPDX-License-Identifier: Apache-2.0 */
/* As test_supervise_kqueue.c. */
#include "test_relay.c"
