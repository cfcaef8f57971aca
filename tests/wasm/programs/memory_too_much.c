/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	void *volatile got = malloc(SIZE_MAX - 65536);

	(void)argc;
	(void)argv;
	CHECK(!got);
	CHECK(errno == ENOMEM);
	puts("refused");
}
