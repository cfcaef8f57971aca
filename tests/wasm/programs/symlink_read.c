/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char text[64] = "";

	(void)argc;
	(void)argv;
	put("f", "behind the link");
	CHECK(symlink("f", "l") == 0);
	CHECK(readlink("l", text, sizeof(text) - 1) == 1);
	puts(text);
	show("l");
	CHECK(unlink("l") == 0);
	show("f");
}
