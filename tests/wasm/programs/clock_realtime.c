/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct timespec now;

	(void)argc;
	(void)argv;
	CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
	CHECK(now.tv_sec > 1700000000 && now.tv_nsec >= 0 && now.tv_nsec < 1000000000);
	CHECK(time(NULL) >= now.tv_sec);
	puts("this century");
}
