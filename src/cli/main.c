/* SPDX-License-Identifier: Apache-2.0 */
/* The cordon command.  Everything is in the tables: see verbs.c and cli.c. */
#include "backend/cgroup/scope.h"
#include "cli/cli.h"

int main(int argc, char **argv)
{
	scope_permit(); /* this process is cordon and nothing else */
	return cli_main(&verb_cordon, argc, argv);
}
