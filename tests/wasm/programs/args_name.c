/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	CHECK(argc == 1);
	puts(slash ? slash + 1 : argv[0]);
}
