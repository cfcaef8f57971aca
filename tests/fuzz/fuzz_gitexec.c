/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git configurations that a call wrote, searched for what runs commands.  Whatever stands before it, a plain
 * section with a monitor is found (after an empty line, which ends any value), and nothing that was found before is lost.
 */
#include "workspace/gitexec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int claim)
{
	if (!claim)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char tail[] = "\n\n[core]\n\tfsmonitor = /x\n";
	char *text = malloc(size + sizeof(tail));
	struct strv alone = {0};
	struct strv both = {0};

	require(text != NULL);
	memcpy(text, data, size);
	memcpy(text + size, tail, sizeof(tail));
	require(gitexec_config(text, size, &alone) == 0);
	require(gitexec_config(text, size + sizeof(tail) - 1, &both) == 0);
	require(both.n == alone.n + 1);
	require(strcmp(both.v[alone.n], "core.fsmonitor=/x") == 0);
	for (size_t i = 0; i < alone.n; i++)
		require(strcmp(alone.v[i], both.v[i]) == 0);
	strv_done(&alone);
	strv_done(&both);
	free(text);
	return 0;
}
