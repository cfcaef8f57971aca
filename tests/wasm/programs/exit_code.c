/* SPDX-License-Identifier: Apache-2.0 */
/* run: exit 3 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs("before\n", stdout);
	exit(3);
}
