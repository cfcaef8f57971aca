/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs("on one\n", stdout);
	fputs("on the other\n", stderr);
}
