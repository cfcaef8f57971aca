/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

#include <sched.h>

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(sched_yield() == 0);
	puts("came back");
}
