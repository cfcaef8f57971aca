/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon container` and `cordon image`: the tables of their subverbs; the bodies are in body_container.c. */
#include "cli/cli.h"
#include "cli/container.h"

static const char *const container_engines[] = {"docker", "podman", NULL};

#define CONTAINER_ROWS                                                                             \
	COMMAND_OPTION_POLICY(struct container_options, policy.policies, NULL),                    \
		COMMAND_OPTION_DIR(struct container_options, policy.cwd),                          \
		{'b',                                                                              \
		 "backend",                                                                        \
		 "ENGINE",                                                                         \
		 OPTION_INTO_ENUM(struct container_options, engine),                               \
		 .names = container_engines,                                                       \
		 .help = "the engine (default: docker)"},                                          \
		COMMAND_OPTION_JSON(struct container_options, policy.json)

#define CONTAINER_FILE                                                                             \
	{                                                                                          \
		'f', "file", "FILE", OPTION_INTO_PATH(struct container_options, file),             \
			.complete = COMPLETE_FILE,                                                 \
			.help = "the Dockerfile, from the project (default: Dockerfile)"           \
	}

#define CONTAINER_WRITE                                                                            \
	{                                                                                          \
		'w', "write", "DIR", OPTION_INTO_LIST(struct container_options, writes),           \
			.complete = COMPLETE_DIR,                                                  \
			.help = "a directory of the project that can be written"                   \
	}

#define CONTAINER_IMAGE                                                                            \
	{                                                                                          \
		0, "image", "IMAGE", OPTION_INTO_STRING(struct container_options, image),          \
			.help = "an image that the engine has (default: the one that was built)"   \
	}

static const struct option container_rows[] = {CONTAINER_ROWS, {0}};
static const struct option container_start_rows[] = {
	CONTAINER_IMAGE, CONTAINER_WRITE, CONTAINER_ROWS, {0}};
static const struct option image_rows[] = {CONTAINER_FILE, CONTAINER_ROWS, {0}};
static const struct option image_build_rows[] = {
	CONTAINER_FILE,
	{0, "force", OPTION_INTO_FLAG(struct container_options, is_forced),
	 .help = "build again, from nothing"},
	CONTAINER_ROWS,
	{0},
};
static const struct option image_swap_rows[] = {
	CONTAINER_FILE, CONTAINER_WRITE, CONTAINER_ROWS, {0}};

#define EXEC_INTO(kind, member) OPTION_INTO_##kind(struct run_options, member)

static const struct option container_exec_rows[] = {
	{'c', "command", "STRING", EXEC_INTO(STRING, command), .is_empty_ok = true,
	 .help = "run a shell string instead of a command; the image needs a /bin/sh"},
	COMMAND_OPTION_POLICY(struct run_options, policies, NULL),
	COMMAND_OPTION_DIR(struct run_options, cwd),
	{'b', "backend", "ENGINE", EXEC_INTO(ENUM, backend), .names = container_engines,
	 .help = "the engine (default: docker)"},
	{'e', "env", "NAME[=VALUE]", EXEC_INTO(LIST, env), .complete = COMPLETE_VARIABLE,
	 .help = "pass a variable on, or set it"},
	{'t', "timeout", "DURATION", EXEC_INTO(DURATION, timeout_ms), .min = 1,
	 .help = "end the command after this time; exit code 124"},
	{0, "max-output", "SIZE", EXEC_INTO(SIZE, max_output_bytes),
	 .help = "bytes of output that are passed on"},
	{0, "tool", "NAME", EXEC_INTO(STRING, tool),
	 .help = "name by which policy rules know this call (default: " RUN_TOOL_DEFAULT ")"},
	{0, "session", "NAME", EXEC_INTO(STRING, session),
	 .help = "the session that this call belongs to"},
	{0, "report", "FILE|fd:N", EXEC_INTO(STRING, report), .complete = COMPLETE_FILE,
	 .help = "write the result as JSON"},
	{0, "json", EXEC_INTO(FLAG, json),
	 .help = "write the result to standard output, with the command's output inside"},
	{0},
};

static void container_options_done(struct container_options *o)
{
	policy_options_done(&o->policy);
	strv_done(&o->writes);
}

static int container_parsed(struct cli *cli,
			    int (*body)(struct cli *cli, const struct container_options *options))
{
	AUTO(container_options_done) struct container_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? body(cli, &options) : code;
}

static int container_start_run(struct cli *cli)
{
	return container_parsed(cli, cmd_container_start_main);
}

static int container_stop_run(struct cli *cli)
{
	return container_parsed(cli, cmd_container_stop_main);
}

static int container_swap_run(struct cli *cli)
{
	return container_parsed(cli, cmd_container_swap_main);
}

static int container_status_run(struct cli *cli)
{
	return container_parsed(cli, cmd_container_status_main);
}

static int image_build_run(struct cli *cli)
{
	return container_parsed(cli, cmd_image_build_main);
}

static int image_status_run(struct cli *cli)
{
	return container_parsed(cli, cmd_image_status_main);
}

static int image_invalidate_run(struct cli *cli)
{
	return container_parsed(cli, cmd_image_invalidate_main);
}

static int image_swap_run(struct cli *cli)
{
	return container_parsed(cli, cmd_image_swap_main);
}

static int container_exec_run(struct cli *cli)
{
	AUTO(run_options_done) struct run_options options = {0};
	int code = 0;

	return cli_parse(cli, &options, &code) ? cmd_container_exec_main(cli, &options) : code;
}

static const struct verb container_start_verb = {
	.name = "start",
	.summary = "start the container of a project",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = container_start_rows,
	.description =
		"Prints its id. It has no capabilities and no way to gain any, the engine's filter of system "
		"calls, a root that cannot be written, a _/tmp_ of its own, the policy's limits, and no "
		"network unless the policy allows all of it; a list of hosts cannot be held here and is "
		"refused. Its first process is ours and looks whether all this is so.\n"
		"\n"
		"The project is there at its path and cannot be written, denied files in it are hidden; "
		"*--write* opens a directory in which nothing is protected or denied. It stays until "
		"*cordon container stop*.",
	.run = container_start_run,
};

static const struct verb container_exec_verb = {
	.name = "exec",
	.summary = "run a command in the container of a project",
	.synopsis =
		(const char *const[]){"[OPTIONS] [--] CMD [ARG...]", "[OPTIONS] -c STRING", NULL},
	.options = container_exec_rows,
	.words = {.name = "CMD",
		  .max = VERB_WORDS_ANY,
		  .complete = COMPLETE_COMMAND,
		  .starts_command = true},
	.description =
		"The call is judged and recorded as by *cordon run*. It has no standard input and no terminal; "
		"its _PATH_ is the image's. At its end, at its time-out and when *cordon* itself is killed "
		"all that it started ends. A call that the policy would hold tighter than the container is "
		"refused, and so is every call when policy or denied files are not what they were at the "
		"start: *cordon container swap*.",
	.exit_status = "As *cordon run*.",
	.run = container_exec_run,
};

static const struct verb container_stop_verb = {
	.name = "stop",
	.summary = "end the container of a project",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = container_rows,
	.description = "All that runs in it is killed. It is no error when there is none.",
	.run = container_stop_run,
};

static const struct verb container_swap_verb = {
	.name = "swap",
	.summary = "replace the container of a project by a new one",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = container_start_rows,
	.description =
		"The old one is ended when the new one runs; if that does not start, the old one stays.",
	.run = container_swap_run,
};

static const struct verb container_status_verb = {
	.name = "status",
	.summary = "show the container of a project",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = container_rows,
	.run = container_status_run,
};

static const struct verb image_build_verb = {
	.name = "build",
	.summary = "build the image of a project, if it is not there",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = image_build_rows,
	.description =
		"Prints its name. An image is known by the hash of the Dockerfile and of the files that *COPY* "
		"and *ADD* name, less those of _.dockerignore_ and those that the policy denies; only these "
		"are given to the engine. Of several builds of the same at one time one builds and the others "
		"wait for it. A build has no network, and an image that the engine does not have is not "
		"fetched, unless the policy allows all of the network.",
	.run = image_build_run,
};

static const struct verb image_status_verb = {
	.name = "status",
	.summary = "is the image of a project what it would be built from now?",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = image_rows,
	.run = image_status_run,
};

static const struct verb image_invalidate_verb = {
	.name = "invalidate",
	.summary = "the next build of a project begins from nothing",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = container_rows,
	.run = image_invalidate_run,
};

static const struct verb image_swap_verb = {
	.name = "swap",
	.summary = "build the image from nothing and replace the container",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.options = image_swap_rows,
	.description = "If the build or the new container fails, the old container stays.",
	.run = image_swap_run,
};

const struct verb verb_container = {
	.name = "container",
	.summary = "a container that stays, for a project",
	.synopsis = (const char *const[]){"start|exec|swap|stop|status [ARG...]", NULL},
	.subverbs = (const struct verb *const[]){&container_start_verb, &container_exec_verb,
						 &container_swap_verb, &container_stop_verb,
						 &container_status_verb, NULL},
	.description =
		"A project has at most one, by the engine's own interface on its Unix socket "
		"(_DOCKER_HOST_, _CONTAINER_HOST_).",
};

const struct verb verb_image = {
	.name = "image",
	.summary = "the image that a project's Dockerfile describes",
	.synopsis = (const char *const[]){"build|status|invalidate|swap [ARG...]", NULL},
	.subverbs = (const struct verb *const[]){&image_build_verb, &image_status_verb,
						 &image_invalidate_verb, &image_swap_verb, NULL},
	.description = "*cordon container start* starts containers from it.",
};
