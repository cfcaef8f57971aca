/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon profile seccomp|landlock` on macOS, which has neither. */
#include "cli/cli.h"
#include "cli/commands.h"

static int profile_fail(struct cli *cli, const char *name)
{
	struct cordon_error err = {0};

	(void)cordon_hint(
		&err, cordon_fail(&err, CORDON_E_UNSUPPORTED, "%s is a mechanism of Linux's", name),
		"cordon profile seatbelt");
	return cli_fail(cli, &err);
}

int cmd_profile_seccomp_main(struct cli *cli, const struct profile_seccomp_options *options)
{
	(void)options;
	return profile_fail(cli, "seccomp");
}

int cmd_profile_landlock_main(struct cli *cli, const struct policy_options *options)
{
	(void)options;
	return profile_fail(cli, "landlock");
}
