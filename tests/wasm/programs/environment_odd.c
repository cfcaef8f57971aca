/* SPDX-License-Identifier: Apache-2.0 */
/* run: env EMPTY= | env EQUALS=a=b=c | exit 0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	CHECK(getenv("EMPTY") && !*getenv("EMPTY"));
	CHECK(getenv("EQUALS") && strcmp(getenv("EQUALS"), "a=b=c") == 0);
	puts("as they were");
}
