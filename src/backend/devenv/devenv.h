/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-devenv: a program of its own that builds images and keeps containers for projects, through an engine's
 * interface (the command stays free of libcurl).  One process does one thing and ends; when its caller goes first it
 * stops, and what it had begun is undone.
 *
 * What is known of a project stands in $STATE/containers/KEY.json, KEY being a hash of the state directory and the
 * project's; KEY.lock is held while its container changes, HASH.build while an image is built.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DEVENV_NAME "cordon-devenv"

/* Its descriptors; of 0 to 2 it uses the outputs for those of a command. */
#define DEVENV_CONTROL 3 /* a socket of datagrams: words come over it */
#define DEVENV_BRIEF 4   /* a file with the brief, JSON */
#define DEVENV_CALLER 5  /* the caller, by pidfd */

#define DEVENV_BRIEF_MAX (8 * 1024 * 1024)
#define DEVENV_PLACE "containers" /* in the state directory */
#define DEVENV_TAG "localhost/cordon-devenv"
#define DEVENV_TAG_HEX 16                    /* digits of the hash in a tag */
#define DEVENV_LABEL "dev.cordon.devenv"     /* of containers: the project's key */
#define DEVENV_HASH "dev.cordon.devenv.hash" /* of images: what they were built from */
#define DEVENV_IMAGE_MAX 256
#define DEVENV_ID_MAX 129

/* X(ID, name) */
#define DEVENV_VERB_TABLE(X)                                                                       \
	X(BUILD, "build")                                                                          \
	X(STATUS, "status")                                                                        \
	X(INVALIDATE, "invalidate")                                                                \
	X(START, "start")                                                                          \
	X(STOP, "stop")                                                                            \
	X(SWAP, "swap")                                                                            \
	X(EXEC, "exec")

enum devenv_verb {
#define DEVENV_VERB_ENUM(id, name) DEVENV_##id,
	DEVENV_VERB_TABLE(DEVENV_VERB_ENUM)
#undef DEVENV_VERB_ENUM
		DEVENV_VERB_COUNT
};

enum devenv_word_kind {
	DEVENV_WORD_STEP,  /* of a build: n, total and text */
	DEVENV_WORD_BEGUN, /* EXEC: the command runs; its end is the program's own */
	DEVENV_WORD_DONE,  /* what there is now */
	DEVENV_WORD_ERROR, /* code, text, hint */
};

struct devenv_status {
	char image[DEVENV_IMAGE_MAX];  /* that was built last; "": none */
	char hash[65];                 /* what that was built from */
	char wanted[65];               /* what it would be built from now; "" when nobody looked */
	char container[DEVENV_ID_MAX]; /* "": none */
	char runs[DEVENV_IMAGE_MAX];   /* the image that the container was started from */
	bool is_running;
	bool is_stale;
	bool was_built;   /* this time */
	bool has_network; /* the container */
	bool can_write;   /* the container: something of the project */
};

struct devenv_word {
	int32_t kind; /* enum devenv_word_kind */
	int32_t code; /* CORDON_E_* */
	uint32_t n;
	uint32_t total; /* 0: not known */
	char text[512];
	char hint[256];
	struct devenv_status status;
};
