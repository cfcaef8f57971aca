/* SPDX-License-Identifier: Apache-2.0 */
/* run: args one "two words" "" --four | exit 0 */
#include "../check.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("%d [%s]\n", i, argv[i]);
	CHECK(argc == 5);
}
