/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct stat st;

	(void)argc;
	(void)argv;
	put("f", "12345");
	CHECK(mkdir("d", 0755) == 0 && symlink("f", "l") == 0);
	CHECK(stat("f", &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 5 && st.st_nlink == 1);
	CHECK(stat("d", &st) == 0 && S_ISDIR(st.st_mode));
	CHECK(stat("l", &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 5);
	CHECK(lstat("l", &st) == 0 && S_ISLNK(st.st_mode));
	CHECK(stat(".", &st) == 0 && S_ISDIR(st.st_mode));
	puts("file, directory, link");
}
