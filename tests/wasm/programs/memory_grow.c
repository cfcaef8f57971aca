/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char *blocks[64];

	(void)argc;
	(void)argv;
	for (int i = 0; i < 64; i++) {
		blocks[i] = malloc(1 << 20);
		CHECK(blocks[i]);
		memset(blocks[i], i, 1 << 20);
	}
	for (int i = 0; i < 64; i++)
		CHECK(blocks[i][12345] == (char)i);
	puts("64 MiB");
}
