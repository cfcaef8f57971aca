/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct stat st;
	char zeros[100];
	int fd = open("f", O_RDWR | O_CREAT, 0644);

	(void)argc;
	(void)argv;
	CHECK(fd >= 0 && lseek(fd, 100, SEEK_SET) == 100 && write(fd, "end", 3) == 3);
	CHECK(fstat(fd, &st) == 0 && st.st_size == 103);
	CHECK(pread(fd, zeros, sizeof(zeros), 0) == sizeof(zeros));
	for (size_t i = 0; i < sizeof(zeros); i++)
		CHECK(zeros[i] == 0);
	puts("a hole of zeros");
}
