/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a;
	unsigned y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	unsigned v[1000];
	unsigned x = 1;

	(void)argc;
	(void)argv;
	for (int i = 0; i < 1000; i++)
		v[i] = x = x * 1664525u + 1013904223u;
	qsort(v, 1000, sizeof(v[0]), compare);
	for (int i = 1; i < 1000; i++)
		CHECK(v[i - 1] <= v[i]);
	printf("%u %u %u\n", v[0], v[500], v[999]);
}
