/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the code verifier as rows (rules_*.def).  A row names what it looks for, why that matters,
 * one example that it must find and one that it must not; the tests are made from the rows.
 *
 * Two questions have two answers.  The verifier lists violations, errors and warnings, as a reviewer
 * would.  A verdict about a call needs more: weak hashes and temporary names are no attack, so most rows
 * are LINT, reported with a confidence below every default threshold.
 */
#pragma once

#include "inspect/code/tree.h"
#include "verdict/verdict.h"

struct code_scan;
struct code_call;

enum code_weight {
	CODE_NOTE, /* the verifier's alone */
	CODE_LINT, /* reported, never a verdict by default */
	CODE_ODD,  /* SUSPICIOUS in a script that stands for itself; elsewhere only reported */
	CODE_DUAL, /* SUSPICIOUS in a script; in a function of a long file only reported */
	CODE_RISK, /* SUSPICIOUS wherever it stands */
	CODE_BAD,  /* MALICIOUS */
	CODE_WEIGHT_COUNT
};

/* What the code that holds an act is, as far as its text tells. */
enum code_standing {
	CODE_SCRIPT,  /* short, run as it is */
	CODE_PART,    /* part of something larger: published, a test, or inside a command */
	CODE_LIBRARY, /* long: what people and tests look at */
	CODE_STANDING_COUNT
};

enum code_rule_kind {
	CODE_RULE_CALL,   /* names: qualified names of what is called; *.x on any receiver */
	CODE_RULE_IMPORT, /* names: modules, with what is below them */
	CODE_RULE_USE,    /* names: qualified names that are only mentioned */
	CODE_RULE_FIELD,  /* names: key=value of keyword arguments and of fields of literals */
	CODE_RULE_ACT,    /* found by a function of act_*.c */
	CODE_RULE_KIND_COUNT
};

enum code_rule_language { CODE_FOR_PYTHON = 1, CODE_FOR_GO = 2, CODE_FOR_BOTH = 3 };

struct code_rule {
	const char *id;
	enum code_rule_language language; /* of the examples, when both: python */
	enum code_rule_kind kind;
	const char *names; /* separated by blanks; "" for CODE_RULE_ACT */
	bool (*when)(struct code_scan *s, const struct code_call *c); /* may be NULL */
	enum finding_type type;
	bool is_error;
	enum code_weight weight;
	const char *reason;
	const char *hit, *miss;
};

enum code_rule_id {
#define CODE_RULE(sym, id, language, kind, names, when, type, error, weight, reason, hit, miss)    \
	CODE_RULE_##sym,
#include "inspect/code/rules_python.def"
#include "inspect/code/rules_lint.def"
#include "inspect/code/rules_go.def"
#undef CODE_RULE
	CODE_RULE_COUNT
};

extern const struct code_rule code_rules[CODE_RULE_COUNT];

/* The rows of that kind and language that name this; *next starts at 0, NULL at the end. */
const struct code_rule *code_rule_next(enum code_rule_kind kind, enum code_language language,
				       const char *name, unsigned *next);
/* How the weight counts for a verdict. */
void code_weight_of(enum code_weight weight, enum code_standing standing, enum threat *ret_level,
		    double *ret_confidence);

/* What kind of place a path is.  Holes stand for parts that are not known. */
enum code_path {
	CODE_PATH_SECRET = 1 << 0,   /* credentials */
	CODE_PATH_PERSIST = 1 << 1,  /* what is run later by itself */
	CODE_PATH_TAKEOVER = 1 << 2, /* who may log in, what every program loads */
	CODE_PATH_SYSTEM = 1 << 3,   /* of the system's directories */
	CODE_PATH_ROOT = 1 << 4,     /* the root or a home as a whole */
	CODE_PATH_PRIVATE = 1 << 5,  /* of other users, logs, accounts, the kernel's own files */
	CODE_PATH_TEMP = 1 << 6,
};

unsigned code_path_class(const char *path, size_t len);
/* Is this the address of a host that is a bare public address, or a relay that hides its owner? */
bool code_url_is_address(const char *url, size_t len);
bool code_url_is_shady(const char *url, size_t len);

#define CODE_WHEN(name) bool code_when_##name(struct code_scan *s, const struct code_call *c)
CODE_WHEN(constant);
CODE_WHEN(code_dynamic);
CODE_WHEN(code_decoded);
CODE_WHEN(code_net);
CODE_WHEN(code_file);
CODE_WHEN(shell_constant);
CODE_WHEN(shell_everyday);
CODE_WHEN(shell_dynamic);
CODE_WHEN(shell_net);
CODE_WHEN(shell_decoded);
CODE_WHEN(process_dynamic);
CODE_WHEN(process_constant);
CODE_WHEN(process_net);
CODE_WHEN(process_decoded);
CODE_WHEN(process_silent);
CODE_WHEN(go_exec_any);
CODE_WHEN(go_exec_named);
CODE_WHEN(first_dynamic);
CODE_WHEN(first_built);
CODE_WHEN(first_tainted);
CODE_WHEN(any_tainted);
CODE_WHEN(from_socket);
CODE_WHEN(import_dangerous);
CODE_WHEN(import_dynamic);
CODE_WHEN(getattr_unknown);
CODE_WHEN(pickle_payload);
CODE_WHEN(pickle_data);
CODE_WHEN(yaml_unsafe);
CODE_WHEN(query_built);
CODE_WHEN(sql_built);
CODE_WHEN(sends_secret);
CODE_WHEN(sends_environment);
CODE_WHEN(sends_system);
CODE_WHEN(sends_capture);
CODE_WHEN(to_address);
CODE_WHEN(to_metadata);
CODE_WHEN(socket_out);
CODE_WHEN(library_unknown);
CODE_WHEN(weak_hash_name);
CODE_WHEN(small_key);
CODE_WHEN(setuid_mode);
CODE_WHEN(open_mode);
CODE_WHEN(open_dir_mode);
CODE_WHEN(writable_mode);
CODE_WHEN(binds_all);
CODE_WHEN(plain_url);
CODE_WHEN(ftp_url);
CODE_WHEN(no_timeout);
CODE_WHEN(no_autoescape);
CODE_WHEN(no_args);
CODE_WHEN(extract_all);
CODE_WHEN(temp_path);
CODE_WHEN(hook_class);
CODE_WHEN(reference);
CODE_WHEN(secret_log);
CODE_WHEN(sandboxed_kill);
CODE_WHEN(go_syscall_used);
CODE_WHEN(go_shell);
CODE_WHEN(go_command_tainted);
CODE_WHEN(go_listen_all);
CODE_WHEN(go_weak_perm);
CODE_WHEN(go_readable);
CODE_WHEN(go_path_named);
CODE_WHEN(go_path_tainted);
CODE_WHEN(go_url_tainted);
CODE_WHEN(go_copy_decoder);
CODE_WHEN(go_constant_nonce);
CODE_WHEN(go_html_dynamic);
CODE_WHEN(go_root_dir);
CODE_WHEN(any_origin);
CODE_WHEN(second_constant);
CODE_WHEN(unsafe_type);
CODE_WHEN(go_write_built);
CODE_WHEN(go_walk_loss);
CODE_WHEN(at_address);
#undef CODE_WHEN
