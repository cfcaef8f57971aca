/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0);
	put("d/f", "inside");
	CHECK(rename("d", "e/d") == 0);
	show("e/d/f");
	CHECK(rename("e/d/f", "f") == 0);
	show("f");
}
