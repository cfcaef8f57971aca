/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1300000000}};
	struct stat st;
	int fd = open("f", O_WRONLY | O_CREAT, 0644);

	(void)argc;
	(void)argv;
	CHECK(fd >= 0 && futimens(fd, times) == 0 && fstat(fd, &st) == 0);
	printf("%lld\n", (long long)st.st_mtim.tv_sec);
}
