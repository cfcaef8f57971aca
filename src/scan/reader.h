/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of single kinds of file share. */
#pragma once

#include "scan/document.h"
#include "scan/rules.h"

struct scan_reader {
	const struct scan_source *source;
	struct findings *findings;
	struct cordon_error *err;
};

/* Adds a finding of a rule; at points into the text, or is NULL. */
CORDON_MUST_CHECK int scan_found(struct scan_reader *r, enum scan_rule_id id, const char *at,
				 const char *snippet);
/* A command that something will run: judged by its structure.  at as above. */
CORDON_MUST_CHECK int scan_command(struct scan_reader *r, const char *command, size_t len,
				   const char *at);
/* The line of a place in the text; 0: it is none. */
unsigned scan_line_number(const struct scan_reader *r, const char *at);
/* Where a text that was taken out of the source stands in it; NULL when it is not to be found as it is. */
const char *scan_place(const struct scan_reader *r, const char *text);
/* Secrets in the whole text; weakened, because having one is no attack. */
CORDON_MUST_CHECK int scan_secrets(struct scan_reader *r);

/* Does a command pass its input on to another machine? */
bool scan_sends_input(const char *command, size_t len);

/* One kind of file. */
typedef int scan_read_fn(struct scan_reader *r);
scan_read_fn scan_read_instructions, scan_read_hooks, scan_read_claude, scan_read_mcp,
	scan_read_devcontainer, scan_read_tasks, scan_read_vscode, scan_read_package,
	scan_read_python, scan_read_pyproject, scan_read_make, scan_read_workflow, scan_read_script,
	scan_read_gitconfig, scan_read_gitmodules, scan_read_gitattributes, scan_read_npmrc,
	scan_read_pip, scan_read_yarnrc, scan_read_env, scan_read_ci, scan_read_characters,
	scan_read_embedded, scan_read_mentions, scan_read_comments, scan_read_codex,
	scan_read_aider, scan_read_opencode, scan_read_idea, scan_read_compose, scan_read_cargo,
	scan_read_sources, scan_read_wrapper, scan_read_jvm, scan_read_nix, scan_read_terraform,
	scan_read_editor, scan_read_pth, scan_read_variables, scan_read_repositories,
	scan_read_locked, scan_read_hidden_python, scan_read_sends, scan_read_installer,
	scan_read_prepended;
