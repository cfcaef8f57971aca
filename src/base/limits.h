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
#define LIMIT_WALK_ENTRIES 2000000 /* names looked at for git directories and denied globs */
#define LIMIT_WALK_DEPTH 200       /* directories inside one another */
#define LIMIT_PLAN_OPS 20000       /* steps of one plan */

/* grants */
#define LIMIT_SOCKETS 16      /* Unix sockets of the host that one call may be given */
#define LIMIT_SOCKET_LINKS 64 /* connections to them at one time */

/* texts for a model */
#define LIMIT_TEXT_PIECE 65536           /* bytes that are in normal form at one time */
#define LIMIT_TEXT_DEPTH 4               /* texts decoded out of texts */
#define LIMIT_TEXT_LAYERS 256            /* texts decoded out of one text */
#define LIMIT_TEXT_DECODED (1024 * 1024) /* bytes of all of them */
#define LIMIT_TEXT_HITS 4096             /* cues in one piece */

/* findings and reports */
#define LIMIT_FINDINGS 256
#define LIMIT_DENIED 1024
#define LIMIT_SEEN 4096         /* different facts seen of one call; the rest is counted */
#define LIMIT_MESSAGE_LINE 8192 /* of a command's messages that is looked at; longer ones are not */
#define LIMIT_LEARN_ROUNDS 16   /* runs of one `cordon learn` */
#define LIMIT_SENSITIVE 256     /* files of a workspace that are watched for being opened */
#define LIMIT_REPORT_BYTES (256 * 1024 * 1024) /* as JSON: both captures, six bytes each */
#define LIMIT_CAPTURE_BYTES (16 * 1024 * 1024) /* each of stdout and stderr with --json */

/* audit */
#define LIMIT_AUDIT_RECORD (256 * 1024)     /* one line */
#define LIMIT_AUDIT_FILE (64 * 1024 * 1024) /* rotate beyond this */
#define LIMIT_AUDIT_KEPT 16                 /* rotated files kept */
#define LIMIT_AUDIT_FILES 256 /* rotated files that are looked at, damaged ones included */
#define LIMIT_AUDIT_TORN (64 * 1024 * 1024) /* the side file for torn bytes */
#define LIMIT_AUDIT_RULES 4096              /* rules in one exported document */
#define LIMIT_AUDIT_LOCK_MS 10000           /* wait for another writer */
