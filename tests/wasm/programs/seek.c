/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char c;
	int fd;

	(void)argc;
	(void)argv;
	put("f", "0123456789");
	fd = open("f", O_RDONLY);
	CHECK(fd >= 0);
	CHECK(lseek(fd, 3, SEEK_SET) == 3 && read(fd, &c, 1) == 1 && c == '3');
	CHECK(lseek(fd, 2, SEEK_CUR) == 6 && read(fd, &c, 1) == 1 && c == '6');
	CHECK(lseek(fd, -1, SEEK_END) == 9 && read(fd, &c, 1) == 1 && c == '9');
	CHECK(read(fd, &c, 1) == 0);
	CHECK_ERRNO(lseek(fd, -1, SEEK_SET), EINVAL);
	puts("there and back");
}
