/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands for a shell, from any bytes: they give findings or none, never an error, and each finding is whole.
 */
#include "inspect/command.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct inspect_context c = {0};
	struct findings f = {0};

	if (command_inspect(&c, (const char *)data, size, &f, NULL) < 0)
		abort();
	for (size_t i = 0; i < f.n; i++)
		if (!f.items[i].rule[0] || !f.items[i].message[0] || f.items[i].confidence <= 0 ||
		    f.items[i].confidence > 1)
			abort();
	findings_done(&f);
	return 0;
}
