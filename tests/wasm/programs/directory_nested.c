/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	char path[256] = "sub";
	size_t len = strlen(path);

	(void)argc;
	(void)argv;
	for (int i = 0; i < 20; i++) {
		CHECK(mkdir(path, 0755) == 0);
		len += (size_t)snprintf(path + len, sizeof(path) - len, "/sub");
	}
	snprintf(path + len - 3, sizeof(path) - len, "f");
	put(path, "deep");
	show(path);
}
