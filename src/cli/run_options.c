/* SPDX-License-Identifier: Apache-2.0 */
/* See run_options.h. */
#include "cli/run_options.h"

#include "base/parse.h"
#include "policy/publish.h"
#include "cli/commands.h"

#include <string.h>

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define INTO(kind, member) OPTION_INTO_##kind(struct run_options, member)

#define GROUP_POLICY "Policy and isolation"
#define GROUP_FILES "Files"
#define GROUP_NET "Network"
#define GROUP_LIMITS "Limits"
#define GROUP_INSIDE "Environment and devices"
#define GROUP_RESULT "Verdict and result"

const struct option run_option_rows[] = {
	{'c', "command", "STRING", INTO(STRING, command), .is_empty_ok = true,
	 .help = "run a shell string instead of a command", .group = GROUP_POLICY},
	COMMAND_OPTION_POLICY(struct run_options, policies, GROUP_POLICY),
	{'l', "level", "LEVEL", INTO(ENUM, level), .group = GROUP_POLICY,
	 .names = NAMES("none", "process", "wasm", "container", "vm"),
	 .help = "the weakest isolation that will do"},
	{'b', "backend", "NAME", INTO(ENUM, backend), .group = GROUP_POLICY,
	 .names = NAMES("auto", "strongest", "noop", "native", "landlock", "bwrap", "nsjail",
			"chroot", "docker", "podman", "gvisor", "firecracker", "qemu", "wasm",
			"seatbelt", "apple-container"),
	 .help = "the mechanism to use"},
	{0, "image", "REF", INTO(STRING, image), .complete = COMPLETE_DIR, .group = GROUP_POLICY,
	 .help = "container image or root directory instead of the host's"},
	{0, "tool", "NAME", INTO(STRING, tool), .group = GROUP_POLICY,
	 .help = "name by which policy rules know this call (default: " RUN_TOOL_DEFAULT ")"},
	{0, "agent", "NAME", INTO(STRING, agent), .group = GROUP_POLICY,
	 .help = "the agent that makes this call, for the thresholds of the policy"},
	{0, "session", "NAME", INTO(STRING, session), .group = GROUP_POLICY,
	 .help = "the session that this call belongs to; what it does is remembered"},

	{'C', "cwd", "DIR", INTO(PATH, cwd), .complete = COMPLETE_DIR, .group = GROUP_FILES,
	 .help = "working directory and workspace (default: the current one)"},
	{'r', "read", "PATH", INTO(LIST, read), .complete = COMPLETE_FILE, .group = GROUP_FILES,
	 .help = "allow reading"},
	{'w', "write", "PATH", INTO(LIST, write), .complete = COMPLETE_FILE, .group = GROUP_FILES,
	 .help = "allow reading and writing"},
	{'x', "deny", "PATH", INTO(LIST, deny), .complete = COMPLETE_FILE, .group = GROUP_FILES,
	 .help = "deny, also inside what is allowed"},
	{0, "write-xor-execute", INTO(FLAG, write_xor_execute), .group = GROUP_FILES,
	 .help = "what can be written cannot be executed"},
	{0, "exec", "PATH", INTO(LIST, exec), .complete = COMPLETE_FILE, .group = GROUP_FILES,
	 .help = "a writable path that --write-xor-execute leaves executable"},
	{0, "fs", "MODE", INTO(ENUM, fs), .group = GROUP_FILES,
	 .names = NAMES("deny", "read-only", "scoped", "full"), .help = "filesystem mode"},
	{0, "workspace", "MODE", INTO(ENUM, workspace), .group = GROUP_FILES,
	 .names = NAMES("direct", "cow", "discard"),
	 .help = "write through, keep the change set for commit or rollback, or throw it away"},
	{0, "submount", "PATH", INTO(LIST, submount), .complete = COMPLETE_DIR,
	 .group = GROUP_FILES,
	 .help = "a mount in the workspace that is left out of the change set; read-only without --write"},
	{0, "rollback-on-failure", INTO(FLAG, rollback_on_failure), .group = GROUP_FILES,
	 .help = "restore the workspace when the command fails or is judged MALICIOUS"},
	{0, "cache", "NAME", INTO(LIST, cache), .names = NAMES("npm", "pip", "cargo", "go"),
	 .group = GROUP_FILES, .help = "a persistent cache directory of this project"},

	{0, "net", "MODE", INTO(ENUM, net), .group = GROUP_NET,
	 .names = NAMES("deny", "allowlist", "allow-all"), .help = "network mode"},
	{0, "allow-host", "HOST[:PORT]", INTO(LIST, allow_host), .complete = COMPLETE_HOST,
	 .group = GROUP_NET, .help = "allow connections to a host; implies allowlist"},
	{0, "allow-private", "CIDR", INTO(LIST, allow_private), .group = GROUP_NET,
	 .help = "allow an address range that is refused otherwise (private, loopback, metadata)"},
	{0, "ask-hosts", INTO(FLAG, ask_hosts), .group = GROUP_NET,
	 .help = "ask on the terminal about hosts that are on no list; implies allowlist"},
	{0, "publish", "[[ADDRESS:]HOSTPORT:]PORT", INTO(LIST, publish), .group = GROUP_NET,
	 .help = "let the host reach a port of the sandbox (by default on 127.0.0.1)"},
	{0, "allow-port", "PORT", INTO(LIST, allow_port), .group = GROUP_NET,
	 .help = "allow one port of the host's loopback; inside it is on localhost, too"},
	{0, "allow-socket", "PATH", INTO(LIST, allow_socket), .complete = COMPLETE_FILE,
	 .group = GROUP_NET, .help = "allow one Unix socket of the host, by its exact path"},

	{'m', "memory", "SIZE", INTO(SIZE, memory_bytes), .min = 1, .group = GROUP_LIMITS,
	 .help = "memory of all processes together, in bytes or as in 512M, 2G"},
	{0, "cpu-shares", "N", INTO(INT, cpu_shares), .min = 2, .max = 262144,
	 .group = GROUP_LIMITS, .help = "relative share of the processors, 2 to 262144"},
	{0, "cpu-percent", "N", INTO(INT, cpu_percent), .min = 1, .max = 100000,
	 .group = GROUP_LIMITS, .help = "processor time, in percent of one processor"},
	{0, "max-processes", "N", INTO(INT, max_processes), .min = 1, .max = 4194304,
	 .group = GROUP_LIMITS, .help = "processes and threads at one time"},
	{0, "max-open-files", "N", INTO(INT, max_open_files), .min = 3, .max = 1073741816,
	 .group = GROUP_LIMITS, .help = "open descriptors of one process"},
	{'t', "timeout", "DURATION", INTO(DURATION, timeout_ms), .min = 1, .group = GROUP_LIMITS,
	 .help = "end the command after this time; exit code 124"},
	{0, "grace", "DURATION", INTO(DURATION, grace_ms), .group = GROUP_LIMITS,
	 .help = "time between SIGTERM and SIGKILL on timeout (default: 2s)"},
	{0, "max-output", "SIZE", INTO(SIZE, max_output_bytes), .group = GROUP_LIMITS,
	 .help = "bytes of output that are passed on"},

	{'e', "env", "NAME[=VALUE]", INTO(LIST, env), .complete = COMPLETE_VARIABLE,
	 .group = GROUP_INSIDE, .help = "pass a variable on, or set it; others are removed"},
	{0, "secret", "NAME[@HOST,...]", INTO(LIST, secrets), .group = GROUP_INSIDE,
	 .help = "inject a stored secret by the manifest's method"},
	{0, "device", "PATH", INTO(LIST, device), .complete = COMPLETE_FILE, .group = GROUP_INSIDE,
	 .help = "allow a device node"},
	{0, "gpu", INTO(FLAG, gpu), .group = GROUP_INSIDE, .help = "allow the graphics processors"},
	{0, "allow-debug", INTO(FLAG, allow_debug), .group = GROUP_INSIDE,
	 .help = "let debuggers trace processes of the call"},
	{0, "deny-syscall", "NAME", INTO(LIST, deny_syscall), .group = GROUP_INSIDE,
	 .help = "refuse a system call, or a set of them, beside those that always are"},

	{0, "constrain", INTO(FLAG, constrain), .group = GROUP_RESULT,
	 .help = "hold the call as a SUSPICIOUS one is held, whatever the verdict"},
	{0, "enforce", INTO(SET, enforcement), .value = RUN_ENFORCE, .group = GROUP_RESULT,
	 .help = "act on verdicts"},
	{0, "dry-run", INTO(SET, enforcement), .value = RUN_DRY_RUN, .group = GROUP_RESULT,
	 .help = "only record what verdicts would do; the sandbox itself is always enforced"},
	{0, "report", "FILE|fd:N", INTO(STRING, report), .complete = COMPLETE_FILE,
	 .group = GROUP_RESULT, .help = "write the result as JSON"},
	{0, "json", INTO(FLAG, json), .group = GROUP_RESULT,
	 .help = "write the result to standard output, with the command's output inside"},
	{0},
};

void run_options_done(struct run_options *o)
{
	if (!o)
		return;
	strv_done(&o->policies);
	strv_done(&o->read);
	strv_done(&o->write);
	strv_done(&o->deny);
	strv_done(&o->allow_host);
	strv_done(&o->allow_private);
	strv_done(&o->env);
	strv_done(&o->secrets);
	strv_done(&o->allow_socket);
	strv_done(&o->publish);
	strv_done(&o->allow_port);
	strv_done(&o->cache);
	strv_done(&o->device);
	strv_done(&o->exec);
	strv_done(&o->submount);
	strv_done(&o->deny_syscall);
	*o = (struct run_options){0};
}

/* A portable variable name: letters, digits and underscores, not a digit first. */
static bool run_options_is_variable(const char *name, size_t len)
{
	if (len == 0 || (name[0] >= '0' && name[0] <= '9'))
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    c != '_')
			return false;
	}
	return true;
}

int run_options_check(const struct run_options *o, struct cordon_error *err)
{
	int64_t number;

	for (size_t i = 0; i < o->env.n; i++) {
		size_t len = strcspn(o->env.v[i], "=");

		if (!run_options_is_variable(o->env.v[i], len))
			return cordon_fail(err, CORDON_E_INVALID,
					   "option '--env': '%.*s' is not a variable name",
					   len < 200 ? (int)len : 200, o->env.v[i]);
	}
	for (size_t i = 0; i < o->publish.n; i++) {
		struct publish publish;
		int r = publish_parse(o->publish.v[i], &publish, err);

		if (r < 0)
			return cordon_wrap(err, r, "option '--publish'");
	}
	for (size_t i = 0; i < o->allow_port.n; i++)
		if (parse_int(o->allow_port.v[i], 1, 65535, &number) < 0)
			return cordon_fail(
				err, CORDON_E_INVALID,
				"option '--allow-port': '%.200s' is not a port from 1 to 65535",
				o->allow_port.v[i]);
	if (o->report && str_starts(o->report, "fd:") &&
	    parse_int(o->report + 3, 0, INT32_MAX, &number) < 0)
		return cordon_fail(err, CORDON_E_INVALID,
				   "option '--report': '%.200s' is not a descriptor", o->report);
	if (o->net && strcmp(o->net, "allowlist") != 0 && o->allow_host.n > 0)
		return cordon_fail(err, CORDON_E_INVALID,
				   "option '--allow-host': contradicts '--net %s'", o->net);
	return 0;
}
