/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(mkdir("d", 0755) == 0 && symlink("d", "l") == 0);
	put("l/f", "through");
	show("d/f");
	CHECK(symlink("../d/f", "d/up") == 0);
	show("d/up");
}
