/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct stat st;

	(void)argc;
	(void)argv;
	put("a", "moved");
	CHECK(rename("a", "b") == 0);
	CHECK_ERRNO(stat("a", &st), ENOENT);
	show("b");
}
