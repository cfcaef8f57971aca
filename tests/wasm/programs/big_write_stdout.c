/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char line[1024];

	(void)argc;
	(void)argv;
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (int i = 0; i < 1024; i++)
		CHECK(fwrite(line, 1, sizeof(line), stdout) == sizeof(line));
}
