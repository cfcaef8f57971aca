/* SPDX-License-Identifier: Apache-2.0 */
/* run: args $(seq 1 500) | exit 0 */
#include "../check.h"

int main(int argc, char **argv)
{
	unsigned long sum = 0;

	for (int i = 1; i < argc; i++)
		sum += strlen(argv[i]);
	printf("%d words, %lu\n", argc - 1, sum);
}
