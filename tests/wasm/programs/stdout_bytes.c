/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 256; i++)
		CHECK(putchar(i) == i);
}
