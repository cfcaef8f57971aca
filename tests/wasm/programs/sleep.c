/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct timespec before;
	struct timespec after;

	(void)argc;
	(void)argv;
	CHECK(clock_gettime(CLOCK_MONOTONIC, &before) == 0);
	CHECK(nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL) == 0);
	CHECK(clock_gettime(CLOCK_MONOTONIC, &after) == 0);
	CHECK((after.tv_sec - before.tv_sec) * 1000000000ll + after.tv_nsec - before.tv_nsec >=
	      20000000);
	puts("slept");
}
