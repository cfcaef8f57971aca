/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct stat st;

	(void)argc;
	(void)argv;
	CHECK(mkdir("d", 0755) == 0);
	CHECK_ERRNO(mkdir("d", 0755), EEXIST);
	CHECK(stat("d", &st) == 0 && S_ISDIR(st.st_mode));
	CHECK(rmdir("d") == 0);
	CHECK_ERRNO(stat("d", &st), ENOENT);
	puts("made and removed");
}
