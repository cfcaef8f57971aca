/* SPDX-License-Identifier: Apache-2.0 */
/* The cordon command.  Everything is in the tables: see verbs.c and cli.c. */
#include "backend/cgroup/scope.h"
#include "backend/native/ahead.h"
#include "cli/cli.h"

int main(int argc, char **argv)
{
	int code;

	scope_permit(); /* this process is cordon and nothing else */
	code = cli_main(&verb_cordon, argc, argv);
	native_ahead_done(); /* one that the program's entry started, and nobody used */
	return code;
}
