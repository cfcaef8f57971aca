/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("%d %u %lx %lld %5.2f|%-6s|%6s|%c%%\n", -7, 7u, 255ul, 1ll << 40, 3.14159, "ab",
	       "cd", 'x');
	printf("%s %p\n", "text", (void *)0);
}
