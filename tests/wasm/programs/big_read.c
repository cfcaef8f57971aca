/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

#define BIG (8 * 1024 * 1024)
int main(int argc, char **argv)
{
	char *data = malloc(BIG);
	char *again = malloc(BIG);
	int fd = open("big", O_RDWR | O_CREAT, 0644);
	size_t have = 0;
	ssize_t n;

	(void)argc;
	(void)argv;
	CHECK(data && again && fd >= 0);
	for (size_t i = 0; i < BIG; i++)
		data[i] = (char)(i * 2654435761u >> 24);
	CHECK(write(fd, data, BIG) == BIG);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	while ((n = read(fd, again + have, BIG - have)) > 0)
		have += (size_t)n;
	CHECK(n == 0 && have == BIG && memcmp(data, again, BIG) == 0);
	printf("%zu bytes\n", have);
}
