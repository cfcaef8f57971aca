/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	int fds[200];

	(void)argc;
	(void)argv;
	for (int i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		fds[i] = open(name, O_RDWR | O_CREAT, 0644);
		CHECK(fds[i] >= 0);
	}
	for (int i = 0; i < 200; i++)
		CHECK(write(fds[i], &i, sizeof(i)) == sizeof(i));
	for (int i = 0; i < 200; i++) {
		int got;

		CHECK(pread(fds[i], &got, sizeof(got), 0) == sizeof(got) && got == i);
		CHECK(close(fds[i]) == 0);
	}
	puts("200 files at once");
}
