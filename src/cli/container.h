/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon container` and `cordon image`, as those of commands.h. */
#pragma once

#include "cli/commands.h"

struct container_options {
	struct policy_options policy;
	const char *engine;
	const char *file;
	const char *image;
	struct strv writes;
	bool is_forced;
};
int cmd_container_start_main(struct cli *cli, const struct container_options *options);
int cmd_container_stop_main(struct cli *cli, const struct container_options *options);
int cmd_container_swap_main(struct cli *cli, const struct container_options *options);
int cmd_container_status_main(struct cli *cli, const struct container_options *options);
int cmd_image_build_main(struct cli *cli, const struct container_options *options);
int cmd_image_status_main(struct cli *cli, const struct container_options *options);
int cmd_image_invalidate_main(struct cli *cli, const struct container_options *options);
int cmd_image_swap_main(struct cli *cli, const struct container_options *options);
/* words: the command. */
int cmd_container_exec_main(struct cli *cli, const struct run_options *options);
