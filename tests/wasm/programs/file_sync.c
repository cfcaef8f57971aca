/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	int fd = open("f", O_WRONLY | O_CREAT, 0644);

	(void)argc;
	(void)argv;
	CHECK(fd >= 0 && write(fd, "x", 1) == 1);
	CHECK(fsync(fd) == 0 && fdatasync(fd) == 0);
	CHECK(close(fd) == 0);
	show("f");
}
