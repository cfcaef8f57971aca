/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every ceiling on something that comes from outside, in one place.  docs/ARCHITECTURE.md refers
 * here; an input that exceeds one of them is an error (CORDON_E_LIMIT), never a truncation.
 */
#pragma once

/* policy files */
#define LIMIT_MANIFEST_BYTES (1024 * 1024) /* one policy file */
#define LIMIT_YAML_DEPTH 32                /* nesting of one document */
#define LIMIT_YAML_NODES 50000             /* nodes after aliases are expanded */
#define LIMIT_YAML_ALIASES 256             /* uses of anchors in one file */
#define LIMIT_YAML_SCALAR 65536            /* bytes of one scalar */
#define LIMIT_YAML_DOCUMENTS 64            /* documents in one stream */
#define LIMIT_POLICY_ITEMS 5000            /* entries of one list or map */
#define LIMIT_POLICY_FILES 64              /* files that one policy is made of */
#define LIMIT_POLICY_REFS 8                /* depth of references from file to file */

/* patterns */
#define LIMIT_POLICY_PATTERNS 512 /* patterns of one list: each is provoked */
#define LIMIT_REGEX_BYTES 4096    /* source of one pattern */
#define LIMIT_REGEX_MATCH 200000  /* PCRE2 match limit: backtracking steps */
#define LIMIT_REGEX_MS 30         /* one search; then it counts as a match */
#define LIMIT_REGEX_DEPTH 2000    /* PCRE2 depth limit */
#define LIMIT_REGEX_HEAP_KB 4096  /* PCRE2 heap limit */
#define LIMIT_GLOB_BYTES 4096     /* source of one glob */

/* requests */
#define LIMIT_REQUEST_BYTES (4 * 1024 * 1024) /* one request as JSON */
#define LIMIT_JSON_DEPTH 64
#define LIMIT_ARGV 65536                  /* words of a command */
#define LIMIT_ARG_BYTES (2 * 1024 * 1024) /* all words together */
#define LIMIT_ENV 4096                    /* variables passed in */
#define LIMIT_PATH_BYTES 4096             /* PATH_MAX */
#define LIMIT_NAME_BYTES 256              /* a tool, agent, session or category */
#define LIMIT_URI_BYTES 512
#define LIMIT_HOST_BYTES 253                 /* a host name, RFC 1035 */
#define LIMIT_PASSWD_BYTES (4 * 1024 * 1024) /* /etc/passwd */
#define LIMIT_HOST_INPUT 1024                /* bytes looked at before giving up */
#define LIMIT_URL_BYTES 65536                /* a URL of which the host is wanted */

/* control groups */
#define LIMIT_MOUNTINFO_BYTES (16 * 1024 * 1024) /* /proc/self/mountinfo */
#define LIMIT_CGROUP_FILE 65536                  /* a control file, /proc/self/cgroup */
#define LIMIT_CGROUP_ENTRIES 65536   /* names in a group's directory that are looked at */
#define LIMIT_SAMPLE_PROCESSES 65536 /* of one call that are looked at for their memory */
#define LIMIT_SCRATCH_ENTRIES 65536  /* names looked at for leftovers, or in one */
#define LIMIT_SCRATCH_NOTE 65536     /* a note about leftovers */
#define LIMIT_CGROUP_STALE 32 /* leftovers of killed calls that one call removes, per hierarchy */
/* workspaces */
#define LIMIT_WALK_ENTRIES 2000000        /* names looked at for git directories and denied globs */
#define LIMIT_WALK_DEPTH 200              /* directories inside one another */
#define LIMIT_PLAN_OPS 20000              /* steps of one plan */
#define LIMIT_CHANGES 500000              /* paths of one change set that are told or committed */
#define LIMIT_COW_LOCK_MS 10000           /* wait for somebody else who works with a change set */
#define LIMIT_COW_FILE (64 * 1024 * 1024) /* a list that is kept beside a change set */
#define LIMIT_COW_COPY_BYTES (UINT64_C(4) << 30) /* of a workspace that has to be copied */
#define LIMIT_COW_COPY_FILES 200000
#define LIMIT_DIFF_BYTES (4 * 1024 * 1024) /* of a file whose lines are compared */
#define LIMIT_RENAME_LOOKS 64 /* deleted files of one size that an added one is compared with */
#define LIMIT_XATTR_BYTES (1024 * 1024) /* extended attributes of one file */

/* snapshots */
#define LIMIT_SNAPSHOTS 1000                             /* kept in one store */
#define LIMIT_SNAPSHOT_STORE (64LL * 1024 * 1024 * 1024) /* bytes of all objects */
#define LIMIT_SNAPSHOT_FILES 1000000                     /* names in one snapshot */
#define LIMIT_SNAPSHOT_MANIFEST (512LL * 1024 * 1024)    /* bytes of its listing */
#define LIMIT_SNAPSHOT_FILE                                                                        \
	(4LL * 1024 * 1024 * 1024 * 1024)   /* bytes of one file, holes included */
#define LIMIT_SNAPSHOT_DEPTH 1024           /* directories inside one another */
#define LIMIT_SNAPSHOT_ROOTS 64             /* trees in one snapshot */
#define LIMIT_SNAPSHOT_NAME 64              /* bytes of its name */
#define LIMIT_SNAPSHOT_XATTRS (1024 * 1024) /* bytes of one file's attributes */
#define LIMIT_SNAPSHOT_EXTENTS 65536 /* pieces of one sparse file; the rest counts as written */
#define LIMIT_SNAPSHOT_MS 600000     /* to take or restore one, unless the caller says otherwise */
#define LIMIT_SNAPSHOT_LOCK_MS 60000 /* wait for another user of the store */

/* grants */
#define LIMIT_SOCKETS 16       /* Unix sockets of the host that one call may be given */
#define LIMIT_PORTS 16         /* ports of the host's loopback that one call may be given */
#define LIMIT_PUBLISH 16       /* ports of the call that the host may reach */
#define LIMIT_PUBLISH_LINKS 32 /* connections to those at one time */
#define LIMIT_SOCKET_LINKS 64  /* connections of all these kinds at one time */

/* texts to judge */
#define LIMIT_CHECK_BYTES (16 * 1024 * 1024) /* of one text; what goes on is a finding */
#define LIMIT_CHECK_LINE                                                                           \
	(48 * 1024 * 1024) /* of `check --jsonl`; longer ones are answered with an error */
#define LIMIT_OUTPUT_LEAKS                                                                         \
	65536 /* secrets in one stream that can be hidden; with more nothing is passed on */
#define LIMIT_SCRIPT_BYTES                                                                         \
	(1024 * 1024)    /* of a script that a call names; what goes on is a finding */
#define LIMIT_SCRIPTS 16 /* that are read of one call; more are a finding */

/* session memory */
#define LIMIT_SESSIONS 1000                    /* remembered at one time */
#define LIMIT_SESSION_BYTES (64 * 1024 * 1024) /* of the database */
#define LIMIT_SESSION_LOCK_MS 10000            /* wait for another writer */

/* persistent sandboxes */
#define LIMIT_SANDBOXES 4096    /* at one time; a caller may set fewer */
#define LIMIT_SANDBOX_CALLS 256 /* in one of them at one time */
#define LIMIT_SANDBOX_LOG                                                                          \
	(4 * 1024 * 1024)              /* of its background processes; then the old half goes */
#define LIMIT_SANDBOX_VIEW (64U << 20) /* bytes of what is kept about its view */
#define LIMIT_SINCE_NAMES 20000        /* of a change set, when only one call's changes are told */
#define LIMIT_SANDBOX_LOCK_MS 30000    /* wait for another command on the same sandbox */
#define LIMIT_SANDBOX_ANSWER_MS 10000  /* wait for a sandbox's keeper */

/* hooks of agents */
#define LIMIT_HOOK_BYTES (16 * 1024 * 1024)   /* one question: a tool's arguments or its output */
#define LIMIT_HOOK_SETTINGS (4 * 1024 * 1024) /* an agent's settings file */

/* scans of a tree */
#define LIMIT_SCAN_FILE (4 * 1024 * 1024) /* of one file that is read; the rest is a finding */
#define LIMIT_SCAN_FILES 200000           /* files of one tree; beyond it only what acts is read */
#define LIMIT_SCAN_INDEX (64 * 1024 * 1024) /* git's list of files */
#define LIMIT_SCAN_DEPTH 64                 /* directories inside one another */
#define LIMIT_SCAN_MS 120000                /* one scan */
#define LIMIT_SCAN_FINDINGS 5000            /* of one tree; the gravest are kept */
#define LIMIT_IGNORE_BYTES (1024 * 1024)    /* one .gitignore */
#define LIMIT_IGNORE_RULES 20000            /* that hold at one place */

/* texts for a model */
#define LIMIT_TEXT_PIECE 65536           /* bytes that are in normal form at one time */
#define LIMIT_TEXT_DEPTH 4               /* texts decoded out of texts */
#define LIMIT_TEXT_LAYERS 256            /* texts decoded out of one text */
#define LIMIT_TEXT_DECODED (1024 * 1024) /* bytes of all of them */
#define LIMIT_TEXT_HITS 4096             /* cues in one piece */

/* findings and reports */
#define LIMIT_FINDINGS 256
#define LIMIT_DENIED 1024
#define LIMIT_REPORT_CHANGES 10000 /* of a workspace that a report lists; the rest is counted */
#define LIMIT_SEEN 4096            /* different facts seen of one call; the rest is counted */
#define LIMIT_SEEN_INFERRED 1024   /* of these, from messages */
#define LIMIT_MESSAGE_LINE 8192 /* of a command's messages that is looked at; longer ones are not */
#define LIMIT_LEARN_ROUNDS 16   /* runs of one `cordon learn` */
/* Files of a workspace that are watched for being opened.  With more of them nobody knows which were: such a call taints its
 * session.  So it is far above what projects have, and below the watches that the oldest kernels give a user (8192). */
#define LIMIT_SENSITIVE 4096
#define LIMIT_REPORT_BYTES (256 * 1024 * 1024) /* as JSON: both captures, six bytes each */
#define LIMIT_CAPTURE_BYTES (16 * 1024 * 1024) /* each of stdout and stderr with --json */

/* leaks */
#define LIMIT_LEAK_WINDOW (256 * 1024) /* of a stream that is kept at one time */
#define LIMIT_LEAK_SPAN 16384          /* one credential: a longer one is found by its beginning */
#define LIMIT_LEAK_LEAD 1024           /* looked at before the place that gives it away */
#define LIMIT_LEAK_VALUE 1024          /* the value of an assignment or a header */
#define LIMIT_LEAK_JSON 4096           /* one part of a web token, decoded */
#define LIMIT_LEAK_PENDING                                                                         \
	65536 /* credentials of one window before those that overlap become one */

/* stored secrets */
#define LIMIT_SECRETS 256                     /* in one store */
#define LIMIT_SECRET_BYTES 65536              /* one value */
#define LIMIT_SECRET_NAME 128                 /* bytes of a name */
#define LIMIT_SECRET_BINDINGS 64              /* hosts, methods or paths of one */
#define LIMIT_SECRET_HEAD 16384               /* what is stored beside a value: name and bindings */
#define LIMIT_SECRETS_FILE (32 * 1024 * 1024) /* the whole store */
#define LIMIT_SECRETS_LOCK_MS 10000           /* wait for another writer */
#define LIMIT_PROXY_MEMORY                                                                         \
	(256 * 1024 * 1024)                   /* that one process of the egress proxy may ask for */
#define LIMIT_NEEDLE_PIECE 1024               /* of a value that is looked for at one time */
#define LIMIT_NEEDLE_BYTES (64 * 1024 * 1024) /* all forms of a call's values in its output */
#define LIMIT_PASSPHRASE_BYTES 1024
#define LIMIT_PASSPHRASE_MS 120000          /* for a person to type it */
#define LIMIT_ARGON_PASSES 16               /* that a store may ask for */
#define LIMIT_ARGON_MEMORY_KB (1024 * 1024) /* that a store may ask for */

/* audit */
#define LIMIT_AUDIT_RECORD (256 * 1024)     /* one line */
#define LIMIT_AUDIT_FILE (64 * 1024 * 1024) /* rotate beyond this */
#define LIMIT_AUDIT_KEPT 16                 /* rotated files kept */
#define LIMIT_AUDIT_FILES 256 /* rotated files that are looked at, damaged ones included */
#define LIMIT_AUDIT_TORN (64 * 1024 * 1024) /* the side file for torn bytes */
#define LIMIT_AUDIT_RULES 4096              /* rules in one exported document */
#define LIMIT_AUDIT_LOCK_MS 10000           /* wait for another writer */

/* commands for a shell that are judged */
#define LIMIT_SHELL_BYTES (1024 * 1024)       /* one text */
#define LIMIT_SHELL_NODES 200000              /* of its syntax tree */
#define LIMIT_SHELL_DEPTH 400                 /* of its syntax tree */
#define LIMIT_SHELL_NESTING 150               /* statements, words and texts inside one another */
#define LIMIT_SHELL_PARSE_MS 500              /* one text */
#define LIMIT_SHELL_RUN_MS 1000               /* the whole walk, all texts inside it too */
#define LIMIT_SHELL_STEPS 4000000             /* of the whole walk */
#define LIMIT_SHELL_MEMORY (64 * 1024 * 1024) /* of the whole model */
#define LIMIT_SHELL_WORD (1024 * 1024)        /* one word after expansion */
#define LIMIT_SHELL_WORDS 20000               /* of one command */
#define LIMIT_SHELL_BRACES 256                /* words that braces may make of one */
#define LIMIT_SHELL_NAMES 4096                /* variables, functions, files */
#define LIMIT_SHELL_REFS 8                    /* names that stand for names, in a row */
#define LIMIT_SHELL_COMMANDS 20000            /* of one model */
#define LIMIT_SHELL_LOOSE 512                 /* a text with errors that is read word by word too */
#define LIMIT_EGRESS_PIECES 1000              /* commands in the middle of a text */
#define LIMIT_EGRESS_BYTES (4 * 1024 * 1024)  /* of all of them */
#define LIMIT_SHELL_GATHERED 64               /* items of a loop that only puts them together */
#define LIMIT_GUESS_DEPTH 120 /* of LIMIT_SHELL_NESTING, in which one more is looked for */
#define LIMIT_WEAK_BYTES 8000 /* of a program that is read as a whole */
#define LIMIT_WEAK_LINES 80   /* of the same */
#define LIMIT_SHELL_SHORT 25  /* commands of what is no script yet */
#define LIMIT_INSPECT_DEPTH 8 /* texts inside texts, across languages */
#define LIMIT_INSPECT_MS 1000 /* a text with all texts inside it, and one more for each so many */
#define LIMIT_INSPECT_MS_BYTES 400 /* bytes */

/* code */
#define LIMIT_CODE_BYTES (2 * 1024 * 1024)  /* source of one file; more is a finding */
#define LIMIT_CODE_NODES 2000000            /* of its syntax tree that mean something */
#define LIMIT_CODE_MS 500                   /* to parse it, and again to walk it, and more for */
#define LIMIT_CODE_MS_BYTES 800             /* each so many bytes: a millisecond */
#define LIMIT_CODE_DEPTH 4                  /* of code in strings of code */
#define LIMIT_CODE_EVAL 100                 /* expressions inside one another that are followed */
#define LIMIT_CODE_CLIMB 64                 /* ancestors that are looked at */
#define LIMIT_CODE_TERMS 20000              /* of one sum of strings */
#define LIMIT_CODE_STRING 65536             /* bytes of one folded string */
#define LIMIT_CODE_ARENA (64 * 1024 * 1024) /* bytes of what is known about its expressions */
#define LIMIT_CODE_TWICE 65536              /* files up to this size are walked twice */
#define LIMIT_CODE_COMMANDS 64              /* commands in code that are inspected */
#define LIMIT_CODE_VIOLATIONS 1000          /* that one verification lists */
