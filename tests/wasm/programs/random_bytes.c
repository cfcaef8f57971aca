/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	unsigned char a[64] = {0};
	unsigned char b[64] = {0};
	int zeros = 0;

	(void)argc;
	(void)argv;
	CHECK(getentropy(a, sizeof(a)) == 0 && getentropy(b, sizeof(b)) == 0);
	CHECK(memcmp(a, b, sizeof(a)) != 0);
	for (size_t i = 0; i < sizeof(a); i++)
		zeros += a[i] == 0;
	CHECK(zeros < 16);
	puts("two different ones");
}
