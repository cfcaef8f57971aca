/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	int fd = open("f", O_WRONLY | O_CREAT | O_EXCL, 0644);

	(void)argc;
	(void)argv;
	CHECK(fd >= 0 && close(fd) == 0);
	CHECK_ERRNO(open("f", O_WRONLY | O_CREAT | O_EXCL, 0644), EEXIST);
	puts("once");
}
