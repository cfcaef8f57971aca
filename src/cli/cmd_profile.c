/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon profile`: the tables of its subverbs; the bodies are cmd_profile_*_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

static const struct option profile_seccomp_rows[] = {
	{0, "text", OPTION_INTO_FLAG(struct profile_seccomp_options, text),
	 .help = "a listing with names and reasons instead of the program"},
	{0, "allow", "WHAT", OPTION_INTO_LIST(struct profile_seccomp_options, allow),
	 .names = (const char *const[]){"inet", "unix", "netlink", "ptrace", "userns", NULL},
	 .help = "what a policy may open"},
	{0, "host", OPTION_INTO_FLAG(struct profile_seccomp_options, host),
	 .help = "for a process that shares the host's IPC and pid namespaces"},
	{0, "arch", "ARCH", OPTION_INTO_ENUM(struct profile_seccomp_options, arch),
	 .names = (const char *const[]){"x86_64", "aarch64", "riscv64", NULL},
	 .help = "the architecture (default: this machine's)"},
	{0},
};

static const struct option profile_landlock_rows[] = {
	COMMAND_OPTION_POLICY(struct policy_options, policies, NULL),
	COMMAND_OPTION_DIR(struct policy_options, cwd),
	COMMAND_OPTION_JSON(struct policy_options, json),
	{0},
};

static void profile_seccomp_options_done(struct profile_seccomp_options *o)
{
	strv_done(&o->allow);
}

static int profile_seccomp_run(struct cli *cli)
{
	AUTO(profile_seccomp_options_done) struct profile_seccomp_options options = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	return cmd_profile_seccomp_main(cli, &options);
}

static int profile_landlock_run(struct cli *cli)
{
	AUTO(policy_options_done) struct policy_options options = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	return cmd_profile_landlock_main(cli, &options);
}

static int profile_seatbelt_run(struct cli *cli)
{
	AUTO(policy_options_done) struct policy_options options = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	return cmd_profile_seatbelt_main(cli, &options);
}

static const struct verb profile_seccomp = {
	.name = "seccomp",
	.summary = "print the system call filter",
	.synopsis =
		(const char *const[]){"[--allow WHAT]... [--host] [--arch ARCH] [--text]", NULL},
	.options = profile_seccomp_rows,
	.description =
		"Writes the filter that the process backends install, as raw _struct sock\\_filter_ "
		"instructions for seccomp(2) or for the _--seccomp_ option of *bwrap*(1). A terminal "
		"is refused. With *--text*, each refused call with its reason, what was left out on "
		"purpose, and the instructions.",
	.run = profile_seccomp_run,
};

static const struct verb profile_landlock = {
	.name = "landlock",
	.summary = "print the file rules that a policy gives",
	.synopsis = (const char *const[]){"[-p FILE]... [-C DIR] [--json]", NULL},
	.options = profile_landlock_rows,
	.description =
		"Prints the Landlock rules of the effective policy with the rights that this kernel "
		"knows, and what of the policy such rules cannot hold. Where the kernel has no "
		"Landlock the rules are shown without rights.",
	.run = profile_landlock_run,
};

static const struct option profile_seatbelt_rows[] = {
	COMMAND_OPTION_POLICY(struct policy_options, policies, NULL),
	COMMAND_OPTION_DIR(struct policy_options, cwd),
	{0},
};

static const struct verb profile_seatbelt = {
	.name = "seatbelt",
	.summary = "print a profile for macOS's sandbox",
	.synopsis = (const char *const[]){"[-p FILE]... [-C DIR]", NULL},
	.options = profile_seatbelt_rows,
	.description =
		"Prints the effective policy as a profile for *sandbox-exec*(1): strict, or what "
		"_enforcement.seatbelt.profile_ says (moderate: everything can be read that is not "
		"denied; a path: that file as it is). Paths are those of this machine. Where a call "
		"would see something of its own, like /tmp and home, the profile shuts the user's.",
	.run = profile_seatbelt_run,
};

static const struct verb *const profile_subverbs[] = {&profile_seccomp, &profile_landlock,
						      &profile_seatbelt, NULL};

const struct verb verb_profile = {
	.name = "profile",
	.summary = "print what a mechanism is given",
	.synopsis = (const char *const[]){"seccomp|landlock|seatbelt [OPTIONS]", NULL},
	.subverbs = profile_subverbs,
	.description = "Prints a policy in the form that one mechanism takes, for use by other "
		       "programs and for reading. Nothing is run.",
	.examples =
		(const struct verb_example[]){
			{"cordon profile seccomp --text",
			 "which system calls are refused, and why"},
			{"cordon profile seccomp >filter.bpf", "the program, for another launcher"},
			{"cordon profile landlock -p strict.yaml", "what the manifest opens"},
			{"cordon profile seatbelt >call.sb", "for sandbox-exec -f call.sb"},
			{0},
		},
};
