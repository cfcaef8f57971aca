/* SPDX-License-Identifier: Apache-2.0 */
/* The cordon command on macOS.  Everything is in the tables: see verbs.c and cli.c. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
	return cli_main(&verb_cordon, argc, argv);
}
