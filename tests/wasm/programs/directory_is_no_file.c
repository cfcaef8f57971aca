/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	put("f", "x");
	CHECK(mkdir("d", 0755) == 0);
	CHECK_ERRNO(open("d", O_WRONLY), EISDIR);
	CHECK_ERRNO(open("f/g", O_RDONLY), ENOTDIR);
	CHECK_ERRNO(open("f", O_RDONLY | O_DIRECTORY), ENOTDIR);
	puts("three refusals");
}
