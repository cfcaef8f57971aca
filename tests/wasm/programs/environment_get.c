/* SPDX-License-Identifier: Apache-2.0 */
/* run: env GREETING=good morning | exit 0 */
#include "../check.h"

int main(int argc, char **argv)
{
	const char *a = getenv("GREETING");

	(void)argc;
	(void)argv;
	CHECK(a);
	CHECK(!getenv("NOT_SET_BY_ANYBODY"));
	printf("[%s]\n", a);
}
