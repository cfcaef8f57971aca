/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

static unsigned down(unsigned n)
{
	volatile unsigned keep = n;

	return n == 0 ? 0 : keep + down(n - 1);
}

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("%u\n", down(1000));
}
