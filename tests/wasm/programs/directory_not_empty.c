/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(mkdir("d", 0755) == 0);
	put("d/f", "x");
	CHECK_ERRNO(rmdir("d"), ENOTEMPTY);
	CHECK(unlink("d/f") == 0);
	CHECK(rmdir("d") == 0);
	puts("only when empty");
}
