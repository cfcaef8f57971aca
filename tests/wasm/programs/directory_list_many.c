/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	DIR *dir;
	struct dirent *e;
	unsigned seen[16] = {0};
	int n = 0;

	(void)argc;
	(void)argv;
	CHECK(mkdir("d", 0755) == 0);
	for (int i = 0; i < 300; i++) {
		char name[64];

		snprintf(name, sizeof(name), "d/a-name-that-is-not-short-%d", i);
		put(name, "");
	}
	dir = opendir("d");
	CHECK(dir);
	while ((e = readdir(dir))) {
		const char *number = strrchr(e->d_name, '-');
		int i;

		if (!number)
			continue;
		i = 0;
		for (const char *c = number + 1; *c; c++)
			i = i * 10 + *c - '0';
		CHECK(!(seen[i / 32] & 1u << i % 32));
		seen[i / 32] |= 1u << i % 32;
		n++;
	}
	CHECK(closedir(dir) == 0);
	printf("%d names, each once\n", n);
}
