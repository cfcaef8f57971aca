/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct timespec times[] = {{.tv_sec = 1000000000}, {.tv_sec = 1200000000, .tv_nsec = 5000}};
	struct stat st;

	(void)argc;
	(void)argv;
	put("f", "x");
	CHECK(utimensat(AT_FDCWD, "f", times, 0) == 0);
	CHECK(stat("f", &st) == 0);
	printf("%lld %lld\n", (long long)st.st_atim.tv_sec, (long long)st.st_mtim.tv_sec);
}
