/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	struct stat st;

	(void)argc;
	(void)argv;
	CHECK_ERRNO(open("nothing", O_RDONLY), ENOENT);
	CHECK_ERRNO(stat("nothing", &st), ENOENT);
	CHECK_ERRNO(unlink("nothing"), ENOENT);
	CHECK_ERRNO(rename("nothing", "something"), ENOENT);
	puts("four refusals");
}
