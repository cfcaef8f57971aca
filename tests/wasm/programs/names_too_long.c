/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char name[400];

	(void)argc;
	(void)argv;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CHECK_ERRNO(open(name, O_WRONLY | O_CREAT, 0644), ENAMETOOLONG);
	puts("refused");
}
