/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char c;

	(void)argc;
	(void)argv;
	CHECK_ERRNO(read(77, &c, 1), EBADF);
	CHECK_ERRNO(write(77, "x", 1), EBADF);
	CHECK_ERRNO(close(77), EBADF);
	CHECK_ERRNO(lseek(77, 0, SEEK_SET), EBADF);
	puts("four refusals");
}
