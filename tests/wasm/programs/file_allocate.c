/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct stat st;
	int fd = open("f", O_WRONLY | O_CREAT, 0644);

	(void)argc;
	(void)argv;
	CHECK(fd >= 0);
	CHECK(posix_fallocate(fd, 0, 4096) == 0);
	CHECK(fstat(fd, &st) == 0);
	printf("%lld bytes\n", (long long)st.st_size);
}
