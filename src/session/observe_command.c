/* SPDX-License-Identifier: Apache-2.0 */
/* Not yet. */
#include "session/observe.h"

int observe_command(const struct session_call *c, struct observed *ret)
{
	(void)c, (void)ret;
	return 0;
}
