/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	int fd;

	(void)argc;
	(void)argv;
	put("f", "one\n");
	fd = open("f", O_WRONLY);
	CHECK(fd >= 0);
	CHECK(fcntl(fd, F_SETFL, O_APPEND) == 0);
	CHECK(fcntl(fd, F_GETFL) & O_APPEND);
	CHECK(write(fd, "two\n", 4) == 4);
	CHECK(close(fd) == 0);
	show("f");
}
