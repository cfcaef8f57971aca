/* SPDX-License-Identifier: Apache-2.0 */
/* run: exit 134 */
#include "../check.h"

int main(int argc, char **argv)
{
	volatile int least = INT32_MIN;
	volatile int minus = -argc;

	(void)argv;
	printf("%d\n", least / minus);
}
