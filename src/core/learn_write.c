/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest that `cordon learn` prints.  Every string is a JSON string, which is YAML as well. */
#include "core/learn.h"

#include "base/json.h"
#include "base/limits.h"

#include <string.h>

static void learn_quote(struct buf *out, const char *text)
{
	json_quote(out, text, strlen(text));
}

static void learn_list(struct buf *out, const char *indent, const char *key, const struct strv *v)
{
	if (v->n == 0)
		return;
	buf_printf(out, "%s%s:\n", indent, key);
	for (size_t i = 0; i < v->n; i++) {
		buf_printf(out, "%s  - ", indent);
		learn_quote(out, v->v[i]);
		buf_char(out, '\n');
	}
}

static void learn_mount(struct buf *out, const char *path, bool is_rw)
{
	buf_str(out, "        - {path: ");
	learn_quote(out, path);
	buf_printf(out, ", permissions: %s}\n", is_rw ? "rw" : "ro");
}

static void learn_filesystem(const struct learn_input *in, const struct learned *l, struct buf *out)
{
	buf_str(out, "    filesystem:\n");
	if (in->policy->fs_mode == FS_FULL) {
		buf_str(out, "      mode: full\n");
		return;
	}
	buf_str(out, "      mode: scoped\n      mount_paths:\n");
	learn_mount(out, ".", l->writes_workspace);
	for (size_t i = 0; i < l->reads.n; i++)
		learn_mount(out, l->reads.v[i], false);
	for (size_t i = 0; i < l->writes.n; i++)
		learn_mount(out, l->writes.v[i], true);
}

static void learn_network(const struct learn_input *in, const struct learned *l, struct buf *out)
{
	const struct policy *p = in->policy;

	buf_str(out, "    network:\n");
	if (p->net_mode == NET_ALLOW_ALL)
		buf_str(out, "      mode: allow-all # which hosts are needed is not seen\n");
	else if (l->hosts.n || p->net_mode == NET_ALLOWLIST)
		buf_str(out, "      mode: allowlist\n");
	else
		buf_str(out, "      mode: deny\n");
	if (p->net_mode == NET_ALLOWLIST || l->hosts.n) {
		buf_str(out, "      allowed_hosts:\n");
		for (size_t i = 0; i < p->allowed_hosts.n; i++) {
			buf_str(out, "        - ");
			learn_quote(out, p->allowed_hosts.items[i].text);
			buf_char(out, '\n');
		}
		for (size_t i = 0; i < l->hosts.n; i++) {
			buf_str(out, "        - ");
			learn_quote(out, l->hosts.v[i]);
			buf_char(out, '\n');
		}
	}
	learn_list(out, "      ", "allow_private", &l->privates);
	learn_list(out, "      ", "sockets", &l->sockets);
}

/* Given on the command line, and needed again. */
static void learn_environment(const struct policy *p, struct buf *out)
{
	if (p->env_pass.n == 0 && p->env_set.n == 0)
		return;
	buf_str(out, "  environment:\n");
	if (p->env_pass.n)
		buf_str(out, "    pass:\n");
	for (size_t i = 0; i < p->env_pass.n; i++) {
		buf_str(out, "      - ");
		learn_quote(out, p->env_pass.items[i].text);
		buf_char(out, '\n');
	}
	if (p->env_set.n)
		buf_str(out, "    set:\n");
	for (size_t i = 0; i < p->env_set.n; i++) {
		const struct word *w = p->env_set.records[i];

		buf_str(out, "      ");
		learn_quote(out, w->name);
		buf_str(out, ": ");
		learn_quote(out, w->value);
		buf_char(out, '\n');
	}
}

static void learn_head(const struct request *request, int exit_code, struct buf *out)
{
	buf_str(out, "# What this command needed, as cordon learn saw it: ");
	str_escape(out, request->text, request->text_len < 200 ? request->text_len : 200);
	buf_str(out, "\n# Read every line before you use it: cordon run -p THIS_FILE -- COMMAND\n");
	if (exit_code)
		buf_printf(out,
			   "# The command ended with exit code %d, perhaps before it had asked for "
			   "all: learn again with -p THIS_FILE, or with --rounds 5.\n",
			   exit_code);
}

void learn_write(const struct learn_input *in, const struct learned *l,
		 const struct request *request, int exit_code, struct buf *out)
{
	learn_head(request, exit_code, out);
	buf_str(out, "sandbox:\n");
	buf_printf(out, "  level: %s\n  capabilities:\n",
		   names_word(&names_level, in->policy->level));
	learn_filesystem(in, l, out);
	learn_network(in, l, out);
	learn_list(out, "    ", "devices", &l->devices);
	learn_environment(in->policy, out);
	if (l->refused.n == 0)
		return;
	buf_str(out,
		"# Denied, and not granted here: nothing opens it, too much would be open, or only a "
		"message says so.\n");
	for (size_t i = 0; i < l->refused.n; i++)
		buf_printf(out, "#   %s\n", l->refused.v[i]);
}
