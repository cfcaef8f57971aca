/* SPDX-License-Identifier: Apache-2.0 */
/* run: exit 42 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 42;
}
