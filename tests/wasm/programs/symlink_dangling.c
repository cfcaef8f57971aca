/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct stat st;

	(void)argc;
	(void)argv;
	CHECK(symlink("nothing", "l") == 0);
	CHECK_ERRNO(open("l", O_RDONLY), ENOENT);
	CHECK(lstat("l", &st) == 0 && S_ISLNK(st.st_mode));
	CHECK_ERRNO(open("l", O_RDONLY | O_NOFOLLOW), ELOOP);
	puts("a link to nothing");
}
