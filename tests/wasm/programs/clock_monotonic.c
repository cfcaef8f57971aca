/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct timespec last = {0};

	(void)argc;
	(void)argv;
	for (int i = 0; i < 1000; i++) {
		struct timespec now;

		CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
		CHECK(now.tv_sec > last.tv_sec ||
		      (now.tv_sec == last.tv_sec && now.tv_nsec >= last.tv_nsec));
		last = now;
	}
	puts("never backwards");
}
