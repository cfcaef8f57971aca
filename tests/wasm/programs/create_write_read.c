/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	put("f", "text of the file");
	show("f");
}
