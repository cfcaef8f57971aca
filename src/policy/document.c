/* SPDX-License-Identifier: Apache-2.0 */
/* See document.h. */
#include "policy/document.h"

#include "base/mem.h"
#include "policy/uri.h"

#include <string.h>

static const char *const document_names[DOCUMENT_COUNT] = {
	[DOCUMENT_EMPTY] = "empty document",
	[DOCUMENT_CKP_SANDBOX] = "CKP manifest, kind Sandbox",
	[DOCUMENT_CKP_POLICY] = "CKP manifest, kind Policy",
	[DOCUMENT_CKP_CLAW] = "CKP manifest, kind Claw",
	[DOCUMENT_CLONEGUARD] = "CloneGuard policy",
	[DOCUMENT_CORDON] = "cordon policy",
};

/* CKP's other kinds: known, but nothing that a sandbox policy can be made of. */
static const char *const document_other_kinds[] = {
	"Identity", "Provider",   "Channel", "Tool",      "Skill",
	"Memory",   "WorldModel", "Swarm",   "Telemetry",
};

/* Keys that only CloneGuard's files have at the top, and keys that only ours have. */
static const char *const document_guard_keys[] = {
	"version", "verdicts",   "detection", "sequences", "tools",
	"actions", "scan_modes", "dry_run",   "enabled",   "adapter",
};
static const char *const document_own_keys[] = {"cordon", "policy"};

const char *document_kind_name(enum document_kind kind)
{
	return document_names[kind];
}

static const struct ynode *document_key_of(const struct ynode *root, const char *const *keys,
					   size_t n)
{
	for (size_t i = 0; i < root->n; i++)
		for (size_t k = 0; k < n; k++)
			if (strcmp(root->items[2 * i]->text, keys[k]) == 0)
				return root->items[2 * i];
	return NULL;
}

static int document_guard_or_own(const struct policy_reader *r, const struct ynode *root,
				 enum document_kind *ret)
{
	const struct ynode *sandbox = ynode_get(root, "sandbox");
	const struct ynode *guard =
		document_key_of(root, document_guard_keys, ARRAY_LEN(document_guard_keys));
	const struct ynode *own =
		document_key_of(root, document_own_keys, ARRAY_LEN(document_own_keys));

	/* `enforcement:` alone reads the same in both, but for this block. */
	if (ynode_get(ynode_get(root, "enforcement"), "malicious"))
		guard = guard ? guard : ynode_get(root, "enforcement");
	if (ynode_get(sandbox, "preferred") || ynode_get(sandbox, "fallback"))
		guard = guard ? guard : sandbox;
	else if (sandbox)
		own = own ? own : sandbox;
	if (guard && own)
		return cordon_hint(
			r->err,
			policy_read_fail(
				r, guard, CORDON_E_POLICY,
				"keys of a CloneGuard policy and of a cordon policy in one file"),
			"in a cordon policy these values stand under 'enforcement:'");
	*ret = guard ? DOCUMENT_CLONEGUARD : DOCUMENT_CORDON;
	return 0;
}

static int document_ckp_kind(const struct policy_reader *r, const struct ynode *root,
			     enum document_kind *ret)
{
	const struct ynode *kind = ynode_get(root, "kind");
	int code;

	if (!kind || kind->kind != YNODE_SCALAR)
		return cordon_hint(r->err,
				   policy_read_fail(r, kind ? kind : root, CORDON_E_POLICY,
						    "a CKP manifest without 'kind'"),
				   "kind: Sandbox, Policy or Claw");
	if (strcmp(kind->text, "Sandbox") == 0)
		*ret = DOCUMENT_CKP_SANDBOX;
	else if (strcmp(kind->text, "Policy") == 0)
		*ret = DOCUMENT_CKP_POLICY;
	else if (strcmp(kind->text, "Claw") == 0)
		*ret = DOCUMENT_CKP_CLAW;
	else {
		bool known = false;

		for (size_t i = 0; i < ARRAY_LEN(document_other_kinds); i++)
			known |= strcmp(kind->text, document_other_kinds[i]) == 0;
		code = policy_read_fail(r, kind, CORDON_E_POLICY,
					known ? "a manifest of kind '%.60s' is not a sandbox policy"
					      : "'%.60s' is not a kind of CKP manifest",
					kind->text);
		return cordon_hint(r->err, code, "kind: Sandbox, Policy or Claw");
	}
	return 0;
}

static int document_metadata(const struct policy_reader *r, const struct ynode *root)
{
	const struct ynode *meta = ynode_get(root, "metadata");
	const struct ynode *name, *version, *labels;

	if (!meta || meta->kind != YNODE_MAP)
		return cordon_hint(r->err,
				   policy_read_fail(r, meta ? meta : root, CORDON_E_POLICY,
						    "a CKP manifest needs 'metadata'"),
				   "metadata: {name: my-sandbox}");
	name = ynode_get(meta, "name");
	if (!name || name->kind != YNODE_SCALAR || !claw_name_is_valid(name->text))
		return cordon_hint(
			r->err,
			policy_read_fail(r, name ? name : meta, CORDON_E_POLICY,
					 "'metadata.name' is missing or not a CKP name"),
			"1 to 63 letters, digits and hyphens, not starting with a hyphen");
	version = ynode_get(meta, "version");
	if (version && (version->kind != YNODE_SCALAR || !claw_version_is_valid(version->text)))
		return cordon_hint(r->err,
				   policy_read_fail(r, version, CORDON_E_POLICY,
						    "'metadata.version' is not a version"),
				   "MAJOR.MINOR.PATCH, such as 1.0.0");
	labels = ynode_get(meta, "labels");
	if (labels && labels->kind != YNODE_MAP)
		return policy_read_fail(r, labels, CORDON_E_POLICY,
					"'metadata.labels' must be a map");
	for (size_t i = 0; labels && i < labels->n; i++)
		if (labels->items[2 * i + 1]->kind != YNODE_SCALAR)
			return policy_read_fail(r, labels->items[2 * i + 1], CORDON_E_POLICY,
						"a label must be a string");
	if (ynode_get(meta, "annotations") && ynode_get(meta, "annotations")->kind != YNODE_MAP)
		return policy_read_fail(r, ynode_get(meta, "annotations"), CORDON_E_POLICY,
					"'metadata.annotations' must be a map");
	return 0;
}

/* claw, kind, metadata, spec and nothing else. */
static int document_envelope(const struct policy_reader *r, const struct ynode *root,
			     const struct ynode **ret_spec)
{
	static const char *const keys[] = {"claw", "kind", "metadata", "spec"};
	const struct ynode *claw = ynode_get(root, "claw");
	int e;

	for (size_t i = 0; i < root->n; i++) {
		const struct ynode *key = root->items[2 * i];
		bool known = false;

		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			known |= strcmp(keys[k], key->text) == 0;
		if (!known)
			return cordon_hint(
				r->err,
				policy_read_fail(r, key, CORDON_E_POLICY,
						 "unknown key '%.100s' in a CKP manifest",
						 key->text),
				"known here: claw, kind, metadata, spec");
	}
	if (claw->kind != YNODE_SCALAR ||
	    (strcmp(claw->text, "0.2.0") != 0 && strcmp(claw->text, "0.3.0") != 0))
		return cordon_hint(r->err,
				   policy_read_fail(r, claw, CORDON_E_POLICY,
						    "this version of CKP is not known"),
				   "claw: \"0.3.0\" or \"0.2.0\"");
	e = document_metadata(r, root);
	if (e < 0)
		return e;
	*ret_spec = ynode_get(root, "spec");
	if (!*ret_spec || (*ret_spec)->kind != YNODE_MAP)
		return policy_read_fail(r, *ret_spec ? *ret_spec : root, CORDON_E_POLICY,
					"a CKP manifest needs a map under 'spec'");
	return 0;
}

/* What a CKP manifest leaves out is denied, not inherited. */
static void document_imply(const struct policy_reader *r, const struct ynode *node)
{
	static const struct {
		enum policy_row row;
		int value;
	} rows[] = {
		{POLICY_NET_MODE, NET_DENY},
		{POLICY_FS_MODE, FS_DENY},
		{POLICY_SHELL_MODE, SHELL_RESTRICTED},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct origin *o = &r->into->origin[rows[i].row];

		if (origin_is_set(o))
			continue;
		*(int *)field_value(&shape_policy.fields[rows[i].row], r->into) = rows[i].value;
		*o = policy_read_origin(r, node);
		o->implied = true;
	}
}

/* A body of kind Sandbox. */
static int document_sandbox(struct policy_reader *r, const struct ynode *spec)
{
	int e = policy_read_map(r, spec, "sandbox");

	if (e < 0)
		return e;
	if (!policy_has(r->into, POLICY_LEVEL))
		return cordon_hint(r->err,
				   policy_read_fail(r, spec, CORDON_E_POLICY, "'level' is missing"),
				   "level: none, process, wasm, container or vm");
	document_imply(r, spec);
	return 0;
}

/* The body of {inline: {...}}. */
static int document_inline(struct policy_reader *r, const struct ynode *inline_node,
			   const char *prefix)
{
	/* A copy of the map that leaves 'name' out: names of inline bodies only label them. */
	AUTO_FREE struct ynode **items = NULL;
	struct ynode body = *inline_node;

	if (inline_node->kind != YNODE_MAP)
		return policy_read_fail(r, inline_node, CORDON_E_POLICY, "'inline' must be a map");
	items = calloc(2 * inline_node->n + 1, sizeof(*items));
	if (!items)
		return cordon_nomem(r->err);
	body.items = items;
	body.n = 0;
	for (size_t i = 0; i < inline_node->n; i++) {
		if (strcmp(inline_node->items[2 * i]->text, "name") == 0)
			continue;
		items[2 * body.n] = inline_node->items[2 * i];
		items[2 * body.n + 1] = inline_node->items[2 * i + 1];
		body.n++;
	}
	return strcmp(prefix, "sandbox") == 0 ? document_sandbox(r, &body)
					      : policy_read_map(r, &body, prefix);
}

/* One entry of a Claw manifest: a reference or an inline body. */
static int document_entry(struct policy_reader *r, const struct ynode *node,
			  const struct document_refs *refs, const char *prefix,
			  enum document_kind want)
{
	const struct ynode *body;

	if (node->kind == YNODE_SCALAR && !ynode_is_null(node)) {
		if (!refs || !refs->fetch)
			return policy_read_fail(
				r, node, CORDON_E_UNSUPPORTED,
				"a reference to another file cannot be followed here");
		return refs->fetch(refs->data, r, node, node->text, want);
	}
	body = ynode_get(node, "inline");
	if (node->kind != YNODE_MAP || !body || node->n != 1)
		return cordon_hint(r->err,
				   policy_read_fail(r, node, CORDON_E_POLICY,
						    "neither a reference nor an inline body"),
				   "a path, a claw:// URI, or 'inline:' with the body");
	return document_inline(r, body, prefix);
}

/* Several policies of one manifest form one list of rules; other values may stand once. */
static int document_policies(struct policy_reader *r, const struct ynode *list,
			     const struct document_refs *refs)
{
	if (list->kind != YNODE_SEQ)
		return policy_read_fail(r, list, CORDON_E_POLICY, "'policies' must be a list");
	for (size_t i = 0; i < list->n; i++) {
		struct origin *o = &r->into->origin[POLICY_RULES];
		struct origin first = *o;
		int e;

		*o = (struct origin){0}; /* rules are concatenated, not set twice */
		e = document_entry(r, list->items[i], refs, "policy", DOCUMENT_CKP_POLICY);
		if (e < 0)
			return e;
		if (origin_is_set(&first))
			*o = first;
	}
	return 0;
}

static int document_claw(struct policy_reader *r, const struct ynode *spec,
			 const struct document_refs *refs)
{
	static const char *const keys[] = {"identity", "providers", "channels",    "tools",
					   "skills",   "memory",    "sandbox",     "policies",
					   "swarm",    "telemetry", "world_models"};
	const struct ynode *sandbox = ynode_get(spec, "sandbox");
	const struct ynode *policies = ynode_get(spec, "policies");
	const struct ynode *providers = ynode_get(spec, "providers");
	int e = 0;

	for (size_t i = 0; i < spec->n; i++) {
		const struct ynode *key = spec->items[2 * i];
		bool known = false;

		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			known |= strcmp(keys[k], key->text) == 0;
		if (!known)
			return policy_read_fail(r, key, CORDON_E_POLICY,
						"unknown key '%.100s' in a Claw manifest",
						key->text);
	}
	if (!ynode_get(spec, "identity") || !providers || providers->kind != YNODE_SEQ ||
	    providers->n == 0)
		return policy_read_fail(
			r, spec, CORDON_E_POLICY,
			"a Claw manifest needs 'identity' and at least one provider");
	if (sandbox)
		e = document_entry(r, sandbox, refs, "sandbox", DOCUMENT_CKP_SANDBOX);
	else
		document_imply(r, spec); /* no sandbox: the most restrictive one */
	if (e == 0 && policies)
		e = document_policies(r, policies, refs);
	return e;
}

static int document_ckp(struct policy_reader *r, const struct ynode *root,
			const struct document_refs *refs, enum document_kind kind)
{
	const struct ynode *spec = NULL;
	int e = document_envelope(r, root, &spec);

	if (e < 0)
		return e;
	if (kind == DOCUMENT_CKP_SANDBOX)
		return document_sandbox(r, spec);
	if (kind == DOCUMENT_CKP_CLAW)
		return document_claw(r, spec, refs);
	e = policy_read_map(r, spec, "policy");
	if (e == 0 && !policy_has(r->into, POLICY_RULES))
		e = policy_read_fail(r, spec, CORDON_E_POLICY, "a CKP Policy needs 'rules'");
	return e;
}

/* A cordon.yaml: the tables' own paths, and `cordon: 1`. */
static int document_own(struct policy_reader *r, const struct ynode *root)
{
	const struct ynode *version = ynode_get(root, "cordon");
	AUTO_FREE struct ynode **items = NULL;
	struct ynode body = *root;

	if (!version)
		return policy_read_map(r, root, "");
	if (version->kind != YNODE_SCALAR || strcmp(version->text, "1") != 0)
		return cordon_hint(r->err,
				   policy_read_fail(r, version, CORDON_E_POLICY,
						    "this version of the format is not known"),
				   "cordon: 1");
	items = calloc(2 * root->n, sizeof(*items));
	if (!items)
		return cordon_nomem(r->err);
	body.items = items;
	body.n = 0;
	for (size_t i = 0; i < root->n; i++) {
		if (root->items[2 * i + 1] == version)
			continue;
		items[2 * body.n] = root->items[2 * i];
		items[2 * body.n + 1] = root->items[2 * i + 1];
		body.n++;
	}
	return policy_read_map(r, &body, "");
}

int document_read(struct policy_reader *r, const struct ynode *root,
		  const struct document_refs *refs, enum document_kind *ret_kind,
		  struct cordon_error *err)
{
	enum document_kind kind = DOCUMENT_EMPTY;
	int e = 0;

	r->err = err;
	*ret_kind = DOCUMENT_EMPTY;
	if (ynode_is_null(root))
		return 0;
	if (root->kind != YNODE_MAP)
		return cordon_hint(err,
				   policy_read_fail(r, root, CORDON_E_POLICY,
						    "a policy must be a map, not %s",
						    ynode_describe(root)),
				   "see 'cordon policy schema'");
	if (ynode_get(root, "claw"))
		e = document_ckp_kind(r, root, &kind);
	else
		e = document_guard_or_own(r, root, &kind);
	if (e < 0)
		return e;
	*ret_kind = kind;
	switch (kind) {
	case DOCUMENT_CKP_SANDBOX:
	case DOCUMENT_CKP_POLICY:
	case DOCUMENT_CKP_CLAW:
		r->flags = 0;
		return document_ckp(r, root, refs, kind);
	case DOCUMENT_CLONEGUARD:
		r->flags = READ_OWN | READ_ALIASES;
		return policy_read_map(r, root, "");
	case DOCUMENT_CORDON:
		r->flags = READ_OWN;
		return document_own(r, root);
	case DOCUMENT_EMPTY:
	case DOCUMENT_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "a document of no kind");
}
