/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct stat a;
	struct stat b;

	(void)argc;
	(void)argv;
	put("a", "shared");
	CHECK(link("a", "b") == 0);
	CHECK(stat("a", &a) == 0 && stat("b", &b) == 0);
	CHECK(a.st_ino == b.st_ino && a.st_nlink == 2);
	CHECK(unlink("a") == 0);
	show("b");
}
