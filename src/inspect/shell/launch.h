/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function for each kind of program that runs other programs; launch.c has the table.  Each gets the index of its
 * command in the model and gives what that writes.
 */
#pragma once

#include "inspect/shell/run.h"

/* The next word of a command, from *at on, that names a file whose code the command runs: `bash -o pipefail x.sh`,
 * `python3 x.py`, `go run x.go`, `./x`.  Gives its place and its language. */
bool launch_file(const struct shell_command *cmd, size_t *at, enum shell_language *ret);

/* w with every mark in it replaced. */
struct shell_word launch_replace(struct run *r, const struct shell_word *w, const char *mark,
				 const struct shell_word *with);

/* launch_guess.c: what code of another language writes to a file is judged as if tee wrote it. */
void launch_write(struct run *r, size_t c, const char *path, size_t len);

/* launch_runner.c: tools of projects that run another program; false when this is none. */
bool launch_runner(struct run *r, size_t c, struct shell_text *ret_out);

struct shell_text launch_ssh(struct run *r, size_t c);
struct shell_text launch_su(struct run *r, size_t c);
struct shell_text launch_script_c(struct run *r, size_t c);
struct shell_text launch_cordon(struct run *r, size_t c);
struct shell_text launch_flock(struct run *r, size_t c);
struct shell_text launch_watch(struct run *r, size_t c);
struct shell_text launch_tmux(struct run *r, size_t c);
struct shell_text launch_screen(struct run *r, size_t c);
struct shell_text launch_container(struct run *r, size_t c);
struct shell_text launch_tar(struct run *r, size_t c);
struct shell_text launch_git(struct run *r, size_t c);
struct shell_text launch_netcat(struct run *r, size_t c);
struct shell_text launch_socat(struct run *r, size_t c);
struct shell_text launch_rsync(struct run *r, size_t c);
struct shell_text launch_at(struct run *r, size_t c);
struct shell_text launch_crontab(struct run *r, size_t c);
struct shell_text launch_trap(struct run *r, size_t c);
struct shell_text launch_alias(struct run *r, size_t c);
struct shell_text launch_hash(struct run *r, size_t c);
struct shell_text launch_cd(struct run *r, size_t c);
struct shell_text launch_read(struct run *r, size_t c);
struct shell_text launch_unset(struct run *r, size_t c);
struct shell_text launch_exec(struct run *r, size_t c);
struct shell_text launch_set(struct run *r, size_t c);
struct shell_text launch_shift(struct run *r, size_t c);
struct shell_text launch_mapfile(struct run *r, size_t c);
struct shell_text launch_bind(struct run *r, size_t c);
struct shell_text launch_complete(struct run *r, size_t c);
struct shell_text launch_cmd(struct run *r, size_t c);
struct shell_text launch_editor(struct run *r, size_t c);
