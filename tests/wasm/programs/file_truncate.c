/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct stat st;
	int fd;

	(void)argc;
	(void)argv;
	put("f", "a text that is too long");
	fd = open("f", O_RDWR);
	CHECK(fd >= 0 && ftruncate(fd, 6) == 0);
	show("f");
	CHECK(ftruncate(fd, 100) == 0 && fstat(fd, &st) == 0 && st.st_size == 100);
	CHECK(close(fd) == 0);
	fd = open("f", O_WRONLY | O_TRUNC);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size == 0);
	puts("emptied");
}
