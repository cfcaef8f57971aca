/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(symlink("b", "a") == 0 && symlink("a", "b") == 0);
	CHECK_ERRNO(open("a", O_RDONLY), ELOOP);
	puts("refused");
}
