/* SPDX-License-Identifier: Apache-2.0 */
/* run: stdin a line, and not much more | exit 0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char text[64];
	ssize_t n;

	(void)argc;
	(void)argv;
	while ((n = read(0, text, sizeof(text))) > 0)
		CHECK(write(1, text, (size_t)n) == n);
	CHECK(n == 0);
}
