/* SPDX-License-Identifier: Apache-2.0 */
/* run: stdin x | exit 0 */
#include "../check.h"

#include <poll.h>

int main(int argc, char **argv)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};

	(void)argc;
	(void)argv;
	CHECK(poll(&in, 1, 1000) == 1);
	puts("input is there");
}
