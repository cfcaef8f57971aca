/* SPDX-License-Identifier: Apache-2.0 */
/* See load.h. */
#include "policy/load.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/glob.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "policy/check.h"
#include "policy/document.h"
#include "policy/uri.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct loader {
	const struct policy_context *context;
	const char *config_dir;
	struct policy *names; /* whose files and warnings are used */
	unsigned depth;       /* of references */
};

static int load_text(struct loader *l, const char *text, size_t len, const char *name,
		     enum layer layer, uint16_t *root, bool follow, struct policy *into,
		     enum document_kind want, unsigned *ret_kinds, struct cordon_error *err);

static int load_read(const char *path, char **ret_text, size_t *ret_len, struct cordon_error *err)
{
	int r = io_read_file_at(AT_FDCWD, path, LIMIT_MANIFEST_BYTES, ret_text, ret_len);

	if (r == 0)
		return 0;
	if (r == -EFBIG)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_LIMIT, "%s:1:1: larger than %d bytes",
					       path, LIMIT_MANIFEST_BYTES),
				   "a policy is a small file; is this the right one?");
	if (r == -EINVAL || r == -EISDIR)
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_POLICY, "%s:1:1: not a regular file", path),
			"name a file");
	return cordon_fail_leaf(err, r, "read policy '%s'", path);
}

/* One referenced file, or every file that a glob names. */
static int load_reference(struct loader *l, struct policy_reader *r, const struct ynode *node,
			  const char *path, enum document_kind want)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	uint16_t root = r->root;
	struct cordon_error *err = r->err;
	int e = load_read(path, &text, &len, err);

	if (e < 0)
		return cordon_wrap(err, e, "%s:%u:%u", r->name, node->line, node->column);
	return load_text(l, text, len, path, r->layer, &root, true, r->into, want, NULL, err);
}

static int load_uri(struct loader *l, struct policy_reader *r, const struct ynode *node,
		    const char *ref, enum document_kind want)
{
	AUTO_FREE char *path = NULL;
	struct claw_uri uri;
	int e = claw_uri_parse(ref, &uri, r->err);

	if (e < 0)
		return cordon_wrap(r->err, e, "%s:%u:%u", r->name, node->line, node->column);
	if (uri.authority == URI_REGISTRY)
		return cordon_hint(r->err,
				   policy_read_fail(r, node, CORDON_E_UNSUPPORTED,
						    "cordon fetches nothing from registries"),
				   "save the manifest and refer to the file");
	if (strcmp(uri.kind, want == DOCUMENT_CKP_SANDBOX ? "sandbox" : "policy") != 0)
		return policy_read_fail(r, node, CORDON_E_POLICY, "'%s' does not name a %s", ref,
					want == DOCUMENT_CKP_SANDBOX ? "sandbox" : "policy");
	if (!l->config_dir)
		return policy_read_fail(r, node, CORDON_E_NOT_FOUND,
					"'%s': there is no configuration directory", ref);
	if (asprintf(&path, "%s/manifests/%s/%s.yaml", l->config_dir, uri.kind, uri.name) < 0) {
		path = NULL;
		return cordon_nomem(r->err);
	}
	return load_reference(l, r, node, path, want);
}

static int load_glob(struct loader *l, struct policy_reader *r, const struct ynode *node,
		     const char *pattern, enum document_kind want)
{
	glob_t found = {0};
	AUTO_FREE char *dir = strdup(pattern);
	int e;

	if (!dir)
		return cordon_nomem(r->err);
	/* One directory is listed, not a tree; in order, because the first rule that matches decides. */
	*strrchr(dir, '/') = '\0';
	if (glob_has_magic(dir))
		return cordon_hint(r->err,
				   policy_read_fail(r, node, CORDON_E_POLICY,
						    "a glob above the last part of '%s'", pattern),
				   "globs are read in file names only, such as policies/*.yaml");
	e = glob(pattern, GLOB_ERR, NULL, &found);

	if (e == GLOB_NOMATCH || (e == 0 && found.gl_pathc == 0))
		e = policy_read_fail(r, node, CORDON_E_NOT_FOUND, "'%s' names no file", pattern);
	else if (e != 0)
		e = policy_read_fail(r, node, CORDON_E_SYSTEM, "'%s' cannot be listed", pattern);
	for (size_t i = 0; e == 0 && i < found.gl_pathc; i++) {
		struct origin *rules = &r->into->origin[POLICY_RULES];
		struct origin first = *rules;

		*rules = (struct origin){0}; /* concatenated, as the entries of 'policies' are */
		e = load_reference(l, r, node, found.gl_pathv[i], want);
		if (origin_is_set(&first))
			*rules = first;
	}
	globfree(&found);
	return e;
}

static int load_fetch(void *data, struct policy_reader *r, const struct ynode *node,
		      const char *ref, enum document_kind want)
{
	struct loader *l = data;
	AUTO_FREE char *dir = NULL;
	AUTO_FREE char *path = NULL;
	char *slash;
	int e;

	if (l->depth >= LIMIT_POLICY_REFS)
		return policy_read_fail(r, node, CORDON_E_LIMIT, "references nested too deeply");
	if (claw_uri_is(ref)) {
		l->depth++;
		e = load_uri(l, r, node, ref, want);
		l->depth--;
		return e;
	}
	dir = realpath(r->name, NULL);
	slash = dir ? strrchr(dir, '/') : NULL;
	if (!slash)
		return policy_read_fail(r, node, CORDON_E_UNSUPPORTED,
					"a reference from a text that is not a file");
	slash[slash == dir] = '\0';
	e = path_join(dir, ref, &path);
	if (e < 0)
		return policy_read_fail(r, node, CORDON_E_LIMIT, "a path that is too long");
	l->depth++;
	e = glob_has_magic(path) ? load_glob(l, r, node, path, want)
				 : load_reference(l, r, node, path, want);
	l->depth--;
	return e;
}

static int load_documents(struct loader *l, const struct ystream *stream, struct policy_reader *r,
			  bool follow, enum document_kind want, unsigned *ret_kinds,
			  struct cordon_error *err)
{
	struct document_refs refs = {.fetch = follow ? load_fetch : NULL, .data = l};

	for (size_t i = 0; i < stream->n_docs; i++) {
		enum document_kind kind;
		int e = document_read(r, stream->docs[i], &refs, &kind, err);

		if (e < 0)
			return e;
		if (want != DOCUMENT_EMPTY && kind != want)
			return policy_read_fail(r, stream->docs[i], CORDON_E_POLICY,
						"expected a %s here, this is a %s",
						document_kind_name(want), document_kind_name(kind));
		if (ret_kinds)
			*ret_kinds |= 1u << kind;
	}
	return 0;
}

static int load_text(struct loader *l, const char *text, size_t len, const char *name,
		     enum layer layer, uint16_t *root, bool follow, struct policy *into,
		     enum document_kind want, unsigned *ret_kinds, struct cordon_error *err)
{
	struct ystream stream = {0};
	struct policy_reader r = {
		.context = l->context,
		.into = into,
		.warnings = &l->names->warnings,
		.name = name,
		.layer = layer,
	};
	int e = policy_add_file(l->names, name);

	if (e < 0)
		return cordon_fail_leaf(err, e, "policy '%s'", name);
	r.file = (uint16_t)e;
	r.root = root ? *root : r.file;
	e = ystream_parse(text, len, name, &stream, err);
	if (e < 0)
		return e;
	e = load_documents(l, &stream, &r, follow, want, ret_kinds, err);
	ystream_done(&stream);
	if (e == 0 && !root)
		e = policy_check(into, &l->names->files, &l->names->warnings, err);
	return e;
}

int policy_parse(const struct policy_context *c, const char *text, size_t len, const char *name,
		 enum layer layer, bool follow, struct policy *into, unsigned *ret_kinds,
		 struct cordon_error *err)
{
	struct loader l = {.context = c, .names = into};

	return load_text(&l, text, len, name, layer, NULL, follow, into, DOCUMENT_EMPTY, ret_kinds,
			 err);
}

int policy_parse_file(const struct policy_context *c, const char *path, enum layer layer,
		      struct policy *into, unsigned *ret_kinds, struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int e = load_read(path, &text, &len, err);

	return e < 0 ? e : policy_parse(c, text, len, path, layer, true, into, ret_kinds, err);
}

/* Applies one layer that was read.  A complete sandbox manifest replaces rather than overlays. */
static int load_apply(struct policy *p, const struct policy *layer, unsigned kinds, bool tighten,
		      const struct policy *builtin, const struct policy_context *c,
		      struct cordon_error *err)
{
	unsigned complete = 1u << DOCUMENT_CKP_SANDBOX | 1u << DOCUMENT_CKP_CLAW;
	int e;

	if (!tighten && (kinds & complete)) {
		e = policy_reset_sandbox(p, builtin, err);
		if (e < 0)
			return e;
	}
	return policy_merge(p, layer, tighten ? MERGE_TIGHTEN : MERGE_REPLACE, c, err);
}

struct load_state {
	struct loader loader;
	struct policy *p;
	struct policy *builtin;
};

static int load_layer_text(struct load_state *s, const char *text, size_t len, const char *name,
			   enum layer layer, bool follow, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *fragment = policy_new();
	unsigned kinds = 0;
	int e;

	if (!fragment)
		return cordon_nomem(err);
	/* A project's file refers to nothing: it could make us read, and quote in an error, what the
	 * project's author cannot read himself. */
	e = load_text(&s->loader, text, len, name, layer, NULL, follow && layer != LAYER_PROJECT,
		      fragment, DOCUMENT_EMPTY, &kinds, err);
	if (e < 0)
		return e;
	if (layer == LAYER_CEILING)
		return policy_merge(s->p, fragment, MERGE_CEILING, s->loader.context, err);
	return load_apply(s->p, fragment, kinds, layer_only_tightens(layer), s->builtin,
			  s->loader.context, err);
}

/* Can somebody else than root and us change what stands there? */
static bool load_is_shared(const struct stat *st)
{
	return (st->st_mode & (S_IWGRP | S_IWOTH)) || (st->st_uid != 0 && st->st_uid != geteuid());
}

/* A configuration file that others can write, or replace in its directory, would let them set our
 * policy.  A sticky directory protects the names in it. */
static int load_check_owner(int fd, const char *dir, const char *path, struct cordon_error *err)
{
	struct stat st, parent;

	if (fstat(fd, &st) < 0)
		return cordon_fail_errno(err, errno, "stat '%s'", path);
	if (!S_ISREG(st.st_mode))
		return cordon_fail(err, CORDON_E_POLICY, "%s:1:1: not a regular file", path);
	if (load_is_shared(&st))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_POLICY,
					       "%s:1:1: other users can change this file", path),
				   "chown it to yourself or root, and chmod go-w");
	if (stat(dir, &parent) < 0)
		return cordon_fail_errno(err, errno, "stat '%s'", dir);
	if (load_is_shared(&parent) && !(parent.st_mode & S_ISVTX))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_POLICY,
					       "%s:1:1: other users can replace this file", path),
				   "chown its directory to yourself or root, and chmod go-w");
	return 0;
}

/* Reads a layer's file if it is there.  `trusted`: it must not be writable by others.
 * Returns 1 when it was there. */
static int load_optional(struct load_state *s, const char *dir, const char *file, enum layer layer,
			 bool trusted, struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	size_t len = 0;
	int e;

	if (asprintf(&path, "%s/%s", dir, file) < 0) {
		path = NULL;
		return cordon_nomem(err);
	}
	/* A project's file must be a plain file: a link could make us read, and quote in an error,
	 * something that the project's author cannot read himself. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (trusted ? 0 : O_NOFOLLOW));
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	/* In a sandbox of ours what stands for a name that is missing: a socket, or a link to nowhere. */
	if (fd < 0 && layer == LAYER_PROJECT && (errno == ENXIO || errno == ELOOP) &&
	    env_get("CORDON_SANDBOX"))
		return 0;
	if (fd < 0 && errno == ELOOP)
		return cordon_fail(err, CORDON_E_POLICY, "%s:1:1: a symbolic link", path);
	if (fd < 0)
		return cordon_fail_errno(err, errno, "open policy '%s'", path);
	if (trusted) {
		e = load_check_owner(fd, dir, path, err);
		if (e < 0)
			return e;
	} else {
		struct stat st;

		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			return cordon_fail(err, CORDON_E_POLICY, "%s:1:1: not a regular file",
					   path);
	}
	e = io_read_all(fd, LIMIT_MANIFEST_BYTES, CLOCK_NEVER, &text, &len);
	if (e == -EFBIG)
		return cordon_fail(err, CORDON_E_LIMIT, "%s:1:1: larger than %d bytes", path,
				   LIMIT_MANIFEST_BYTES);
	if (e < 0)
		return cordon_fail_leaf(err, e, "read policy '%s'", path);
	e = load_layer_text(s, text, len, path, layer, /* follow= */ true, err);
	return e < 0 ? e : 1;
}

static int load_user(struct load_state *s, const struct policy_sources *src,
		     struct cordon_error *err)
{
	int e = 0;

	if (src->config_dir)
		e = load_optional(s, src->config_dir, "policy.yaml", LAYER_USER, true, err);
	if (e == 0 && src->home)
		e = load_optional(s, src->home, ".cloneguard/policy.yaml", LAYER_USER, true, err);
	return e < 0 ? e : 0;
}

static int load_named(struct load_state *s, const char *name, enum layer layer,
		      struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int e;

	if (claw_uri_is(name)) {
		struct claw_uri uri;

		e = claw_uri_parse(name, &uri, err);
		if (e < 0)
			return e;
		if (uri.authority == URI_REGISTRY || !s->loader.config_dir)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_UNSUPPORTED,
						       "'%s' cannot be fetched", name),
					   "save the manifest and name the file");
		if (asprintf(&path, "%s/manifests/%s/%s.yaml", s->loader.config_dir, uri.kind,
			     uri.name) < 0) {
			path = NULL;
			return cordon_nomem(err);
		}
		name = path;
	}
	e = load_read(name, &text, &len, err);
	return e < 0 ? e : load_layer_text(s, text, len, name, layer, /* follow= */ true, err);
}

/* Mode read-only written out as mounts: the mounts and the workspace, read-only. */
static int load_write_out(struct policy *p, const char *workspace, struct cordon_error *err)
{
	bool has_workspace = false;
	struct mount *m;

	for (size_t i = 0; i < p->mounts.n; i++) {
		m = p->mounts.records[i];
		m->permissions = PERMISSION_RO;
		has_workspace |= path_is_within(workspace, m->path);
	}
	if (has_workspace)
		return 0;
	m = record_list_add(&p->mounts, shape_policy.fields[POLICY_MOUNTS].shape);
	if (m)
		m->path = strdup(workspace);
	if (!m || !m->path)
		return cordon_nomem(err);
	m->permissions = PERMISSION_RO;
	m->origin[MOUNT_PATH] = m->origin[MOUNT_PERMISSIONS] = p->origin[POLICY_FS_MODE];
	p->origin[POLICY_MOUNTS] = p->origin[POLICY_FS_MODE];
	return 0;
}

/*
 * A grant on the command line needs a mode in which grants count.  The tighter mode is written out as
 * mounts first, so that nothing else opens and nothing closes.
 */
static int load_open_mode(struct policy *p, const struct policy *options, const char *workspace,
			  struct cordon_error *err)
{
	if (options->mounts.n && p->fs_mode < FS_SCOPED) {
		if (p->fs_mode == FS_DENY)
			field_clear(&shape_policy, POLICY_MOUNTS, p);
		else if (load_write_out(p, workspace, err) < 0)
			return CORDON_E_NOMEM;
		p->fs_mode = FS_SCOPED;
		p->origin[POLICY_FS_MODE] = options->origin[POLICY_MOUNTS];
	}
	if (!options->allowed_hosts.n && !options->net_ask &&
	    !(policy_has(options, POLICY_NET_MODE) && options->net_mode == NET_ALLOWLIST))
		return 0;
	/* A list that the policy kept closed stays closed. */
	if (p->net_mode == NET_DENY)
		field_clear(&shape_policy, POLICY_ALLOWED_HOSTS, p);
	if (!policy_has(options, POLICY_NET_MODE)) {
		p->net_mode = NET_ALLOWLIST;
		p->origin[POLICY_NET_MODE] =
			options->origin[options->allowed_hosts.n ? POLICY_ALLOWED_HOSTS
								 : POLICY_NET_ASK];
	}
	return 0;
}

/* The files and texts that the caller named: the first replaces, the others only tighten. */
static int load_given(struct load_state *s, const struct policy_sources *src,
		      struct cordon_error *err)
{
	size_t n_files = src->files ? src->files->n : 0;
	int e = 0;

	for (size_t i = 0; e >= 0 && i < n_files; i++)
		e = load_named(s, src->files->v[i], i ? LAYER_FILE_NEXT : LAYER_FILE, err);
	for (size_t i = 0; e >= 0 && i < src->n_texts; i++) {
		const struct policy_text *t = &src->texts[i];

		e = load_layer_text(s, t->text, t->len, t->name,
				    n_files + i ? LAYER_FILE_NEXT : LAYER_FILE,
				    /* follow= */ false, err);
	}
	return e;
}

static int load_all(struct load_state *s, const struct policy_sources *src,
		    struct cordon_error *err)
{
	int e = 0;

	if (src->system_dir)
		e = load_optional(s, src->system_dir, "policy.yaml", LAYER_SYSTEM, true, err);
	if (e >= 0 && !src->no_user)
		e = load_user(s, src, err);
	if (e >= 0 && !src->no_project)
		e = load_optional(s, src->workspace, ".cordon.yaml", LAYER_PROJECT, false, err);
	if (e >= 0)
		e = load_given(s, src, err);
	if (e >= 0 && src->options) {
		e = load_open_mode(s->p, src->options, src->workspace, err);
		if (e == 0)
			e = policy_merge(s->p, src->options, MERGE_EXTEND, s->loader.context, err);
	}
	if (e >= 0 && src->system_dir)
		e = load_optional(s, src->system_dir, "ceiling.yaml", LAYER_CEILING, true, err);
	if (e >= 0)
		e = policy_check(s->p, &s->p->files, &s->p->warnings, err);
	return e < 0 ? e : 0;
}

int policy_load(const struct policy_sources *src, struct policy **ret, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *p = policy_new();
	AUTO(policy_freep) struct policy *builtin = policy_new();
	struct policy_context context = {
		.workspace = src->workspace,
		.home = src->home,
		.venv = src->venv,
		.tmp = "/tmp",
		.checks = src->checks,
	};
	struct load_state s = {
		.loader = {.context = &context, .config_dir = src->config_dir, .names = p},
		.p = p,
		.builtin = builtin,
	};
	int e;

	if (!p || !builtin)
		return cordon_nomem(err);
	e = policy_default(p, src->workspace, err);
	if (e == 0)
		e = policy_default(builtin, src->workspace, err);
	if (e == 0)
		e = load_all(&s, src, err);
	if (e < 0)
		return e;
	*ret = TAKE_PTR(p);
	return 0;
}
