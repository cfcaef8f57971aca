/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char got[8] = "";
	int fd;

	(void)argc;
	(void)argv;
	put("f", "still");
	fd = open("f", O_RDONLY);
	CHECK(fd >= 0 && unlink("f") == 0);
	CHECK(read(fd, got, 5) == 5);
	puts(got);
	CHECK(mkdir("d", 0755) == 0);
	CHECK_ERRNO(unlink("d"), EISDIR);
}
