/* SPDX-License-Identifier: Apache-2.0 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	put("with blank", "1");
	put("\xc3\xa4\xe2\x82\xac", "2");
	put("-dash", "3");
	put("line\nbreak", "4");
	show("with blank");
	show("\xc3\xa4\xe2\x82\xac");
	show("-dash");
	show("line\nbreak");
}
