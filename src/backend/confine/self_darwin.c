/* SPDX-License-Identifier: Apache-2.0 */
/* See self.h: no process of macOS's is confined by itself here; no backend there offers it. */
#include "backend/confine/self.h"

int self_apply(const struct plan *plan, struct buf *log, struct cordon_error *err)
{
	(void)plan;
	(void)log;
	return cordon_fail(err, CORDON_E_UNSUPPORTED,
			   "a process that runs cannot be confined on macOS");
}
