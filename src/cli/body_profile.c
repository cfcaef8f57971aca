/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon profile seccomp|landlock`, which are Linux's; body_profile_seatbelt.c has the third. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "backend/confine/ruleset.h"
#include "backend/confine/seccomp.h"
#include "base/json.h"
#include "base/limits.h"
#include "core/effective.h"
#include "policy/names.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct seccomp_policy profile_seccomp_policy(const struct profile_seccomp_options *o)
{
	struct seccomp_policy p = o->host ? SECCOMP_POLICY_HOST : (struct seccomp_policy){0};

	p.allows_inet = strv_has(&o->allow, "inet");
	p.allows_unix = strv_has(&o->allow, "unix");
	p.allows_netlink_route = strv_has(&o->allow, "netlink");
	p.allows_ptrace = strv_has(&o->allow, "ptrace");
	p.allows_userns = strv_has(&o->allow, "userns");
	return p;
}

int cmd_profile_seccomp_main(struct cli *cli, const struct profile_seccomp_options *options)
{
	enum seccomp_arch arch = options->arch ? seccomp_arch_find(options->arch)
					       : seccomp_native_arch();
	struct seccomp_policy policy = profile_seccomp_policy(options);
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct seccomp_program program;
	struct cordon_error err = {0};
	int r;

	if (arch == SECCOMP_ARCH_COUNT)
		return cli_fail(cli, (cordon_fail(&err, CORDON_E_UNSUPPORTED,
						  "there is no table for this architecture"),
				      &err));
	if (!options->text && isatty(cli->out.fd)) {
		r = cordon_fail(&err, CORDON_E_INVALID, "the program is binary, stdout a terminal");
		(void)cordon_hint(&err, r, "redirect it, or --text for a listing");
		return cli_fail(cli, &err);
	}
	r = seccomp_build_for(arch, &policy, &program);
	if (r < 0)
		return cli_fail(cli, (cordon_fail_leaf(&err, r, "filter"), &err));
	if (options->text) {
		seccomp_text(arch, &policy, &program, &b);
		if (buf_error(&b) < 0)
			(void)cordon_fail_leaf(&err, buf_error(&b), "filter");
		out_add(&cli->out, buf_cstr(&b), b.len);
	} else {
		out_add(&cli->out, program.insns, program.len * sizeof(program.insns[0]));
	}
	buf_done(&b);
	return err.code ? cli_fail(cli, &err) : 0;
}

struct profile_landlock {
	struct ruleset rules;
	int abi;
};

/* Rights depend on what stands there: ret_is_dir is true for what does not exist (yet). */
static bool profile_exists(const char *path, bool *ret_is_dir)
{
	struct stat st;
	bool is_there = stat(path, &st) == 0;

	*ret_is_dir = !is_there || S_ISDIR(st.st_mode);
	return is_there;
}

static void profile_landlock_json(const struct profile_landlock *p, struct json *j)
{
	bool is_dir;

	json_object(j, NULL);
	json_int(j, "abi", p->abi);
	json_array(j, "handled");
	for (unsigned bit = 0; bit < 64; bit++)
		if (landlock_handled(p->abi) >> bit & 1)
			json_str(j, NULL, landlock_right_name(bit));
	json_end_array(j);
	json_bool(j, "denies_tcp", p->rules.denies_tcp && p->abi >= LANDLOCK_ABI_TCP);
	json_bool(j, "scopes_signals", p->abi >= LANDLOCK_ABI_SCOPES);
	json_bool(j, "scopes_abstract_unix", p->abi >= LANDLOCK_ABI_SCOPES);
	json_array(j, "rules");
	for (size_t i = 0; i < p->rules.n; i++) {
		const struct ruleset_entry *e = &p->rules.entries[i];
		bool is_there = profile_exists(e->path, &is_dir);
		uint64_t rights = landlock_rights(p->abi, e->access, is_dir);

		json_object(j, NULL);
		json_str(j, "path", e->path);
		json_str(j, "access", landlock_access_name(e->access));
		json_str(j, "from", e->why);
		json_bool(j, "exists", is_there);
		json_array(j, "rights");
		for (unsigned bit = 0; bit < 64; bit++)
			if (rights >> bit & 1)
				json_str(j, NULL, landlock_right_name(bit));
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "not_held");
	for (size_t i = 0; i < p->rules.not_held.n; i++)
		json_str(j, NULL, p->rules.not_held.v[i]);
	json_end_array(j);
	json_end_object(j);
	buf_char(j->out, '\n');
}

static int profile_landlock_text(const struct profile_landlock *p, struct cli *cli)
{
	static const char *const headings[] = {"PATH", "ACCESS", "FROM", ""};
	struct table t;
	bool is_dir;
	int r;

	out_printf(&cli->out, "Landlock ABI %d%s\n", p->abi,
		   p->abi ? "" : ": this kernel does not have it");
	out_printf(&cli->out, "TCP: %s\n",
		   !p->rules.denies_tcp         ? "not restricted"
		   : p->abi >= LANDLOCK_ABI_TCP ? "refused"
						: "to be refused, but ABI 4 is needed");
	out_printf(&cli->out, "signals and abstract sockets to the outside: %s\n",
		   p->abi >= LANDLOCK_ABI_SCOPES ? "refused" : "not restricted, ABI 6 is needed");
	table_init(&t, ARRAY_LEN(headings), headings);
	for (size_t i = 0; i < p->rules.n; i++) {
		table_cell(&t, p->rules.entries[i].path);
		table_cell(&t, landlock_access_name(p->rules.entries[i].access));
		table_styled_cell(&t, OUT_DIM, p->rules.entries[i].why);
		table_styled_cell(&t, OUT_DIM,
				  profile_exists(p->rules.entries[i].path, &is_dir) ? ""
										    : "not there");
	}
	r = table_print(&t, &cli->out);
	table_done(&t);
	out_str(&cli->out, "Not held by these rules:\n");
	for (size_t i = 0; i < p->rules.not_held.n; i++) {
		out_str(&cli->out, "  ");
		out_escaped(&cli->out, p->rules.not_held.v[i]);
		out_str(&cli->out, "\n");
	}
	return r;
}

int cmd_profile_landlock_main(struct cli *cli, const struct policy_options *options)
{
	AUTO(effective_done) struct effective e = {0};
	struct profile_landlock p = {.abi = landlock_abi()};
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	struct cordon_error err = {0};
	int r = effective_init(options->cwd, &e, &err);

	if (r == 0)
		r = effective_load(&e, &options->policies, /* options= */ NULL, &err);
	if (r == 0)
		r = ruleset_from_policy(e.policy, e.workspace, &p.rules, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	if (options->json) {
		profile_landlock_json(&p, &j);
		r = buf_error(&b);
		if (r == 0)
			out_add(&cli->out, buf_cstr(&b), b.len);
	} else {
		r = profile_landlock_text(&p, cli);
	}
	if (r < 0)
		r = cordon_fail_leaf(&err, r, "rules");
	buf_done(&b);
	ruleset_done(&p.rules);
	return r < 0 ? cli_fail(cli, &err) : 0;
}
