/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	int fd;

	(void)argc;
	(void)argv;
	put("f", "one\n");
	fd = open("f", O_WRONLY | O_APPEND);
	CHECK(fd >= 0);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	CHECK(write(fd, "two\n", 4) == 4);
	CHECK(close(fd) == 0);
	show("f");
}
