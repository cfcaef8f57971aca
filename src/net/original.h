/* SPDX-License-Identifier: Apache-2.0 */
/* Where a redirected connection was going. */
#pragma once

#include "net/addr.h"

/* The target of an accepted TCP connection before it was redirected to own_port.  False: it was for us, or that is
 * unknown. */
bool original_target(int fd, uint16_t own_port, uint8_t ret_addr[static ADDR_LEN],
		     uint16_t *ret_port);
