/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

static void first(void)
{
	puts("first");
}

static void second(void)
{
	puts("second");
}

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(atexit(first) == 0 && atexit(second) == 0);
	puts("main");
}
