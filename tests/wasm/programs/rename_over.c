/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	put("a", "new");
	put("b", "old");
	CHECK(rename("a", "b") == 0);
	show("b");
	CHECK(mkdir("d", 0755) == 0);
	CHECK_ERRNO(rename("b", "d"), EISDIR);
	puts("not over a directory");
}
