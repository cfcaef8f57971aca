/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char got[8] = "";
	int fd = open("f", O_RDWR | O_CREAT, 0644);

	(void)argc;
	(void)argv;
	CHECK(fd >= 0);
	CHECK(pwrite(fd, "world", 5, 6) == 5);
	CHECK(pwrite(fd, "hello ", 6, 0) == 6);
	CHECK(lseek(fd, 0, SEEK_CUR) == 0);
	CHECK(pread(fd, got, 5, 6) == 5);
	CHECK(lseek(fd, 0, SEEK_CUR) == 0);
	puts(got);
	show("f");
}
