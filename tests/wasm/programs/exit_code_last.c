/* SPDX-License-Identifier: Apache-2.0 */
/* run: exit 255 */
#include "../check.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	_Exit(255);
}
