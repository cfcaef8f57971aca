/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	DIR *dir;
	struct dirent *e;
	int files = 0;
	int dirs = 0;

	(void)argc;
	(void)argv;
	CHECK(mkdir("d", 0755) == 0 && mkdir("d/sub", 0755) == 0);
	put("d/a", "1");
	put("d/b", "2");
	dir = opendir("d");
	CHECK(dir);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		if (e->d_type == DT_DIR)
			dirs++;
		else if (e->d_type == DT_REG)
			files++;
	}
	CHECK(closedir(dir) == 0);
	printf("%d files, %d directory\n", files, dirs);
}
