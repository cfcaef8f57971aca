/* SPDX-License-Identifier: Apache-2.0 */
/* run: exit 134 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("before");
	fflush(stdout);
	abort();
}
