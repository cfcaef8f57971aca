/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct timespec r;

	(void)argc;
	(void)argv;
	CHECK(clock_getres(CLOCK_REALTIME, &r) == 0 && (r.tv_sec > 0 || r.tv_nsec > 0));
	CHECK(clock_getres(CLOCK_MONOTONIC, &r) == 0 && (r.tv_sec > 0 || r.tv_nsec > 0));
	puts("both clocks");
}
