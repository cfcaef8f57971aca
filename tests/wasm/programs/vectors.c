/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

#include <sys/uio.h>

int main(int argc, char **argv)
{
	char a[4] = "";
	char b[8] = "";
	struct iovec out[] = {{"one", 3}, {"-", 1}, {"three", 5}};
	struct iovec in[] = {{a, 3}, {b, 7}};
	int fd = open("f", O_RDWR | O_CREAT, 0644);

	(void)argc;
	(void)argv;
	CHECK(fd >= 0 && writev(fd, out, 3) == 9);
	CHECK(lseek(fd, 0, SEEK_SET) == 0 && readv(fd, in, 2) == 9);
	printf("[%s][%s]\n", a, b);
}
