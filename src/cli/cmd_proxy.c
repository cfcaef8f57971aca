/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon proxy`: its table; the body is cmd_proxy_main(). */
#include "cli/cli.h"
#include "cli/commands.h"

#include "core/outlet.h"

#define INTO(kind, member) OPTION_INTO_##kind(struct proxy_cli_options, member)
#define GROUP_WHERE "Where it listens"
#define GROUP_WHAT "What is let through"

static const struct option proxy_option_rows[] = {
	{0, "listen", "ADDRESS:PORT", INTO(STRING, listen), .group = GROUP_WHERE,
	 .help = "an address of loopback; port 0 is any (default: 127.0.0.1:0)"},
	{0, "unix", "PATH", INTO(PATH, unix_path), .complete = COMPLETE_FILE, .group = GROUP_WHERE,
	 .help = "a Unix socket instead, for this user alone"},
	{0, "connections", "N", INTO(INT, connections), .min = 1, .max = OUTLET_CONNECTIONS_MAX,
	 .group = GROUP_WHERE,
	 .help = "at one time (default: 4096); as many processes as they need descriptors for"},
	{0, "mode", "MODE", INTO(ENUM, mode), .group = GROUP_WHAT,
	 .names = (const char *const[]){"allowlist", "blocklist", "open", "closed", NULL},
	 .help = "what goes for hosts that no list names (default: allowlist)"},
	{0, "allow", "HOST", INTO(LIST, allow), .complete = COMPLETE_HOST, .group = GROUP_WHAT,
	 .help = "HOST (ports 80 and 443), HOST:PORT or *.DOMAIN"},
	{0, "block", "HOST", INTO(LIST, block), .complete = COMPLETE_HOST, .group = GROUP_WHAT,
	 .help = "the same, without a port on every port; wins over --allow, in every mode"},
	{0, "allow-private", "CIDR", INTO(LIST, allow_private), .group = GROUP_WHAT,
	 .help = "a private or otherwise special network that is not closed"},
	{0, "dev", INTO(FLAG, dev), .group = GROUP_WHAT,
	 .help = "allow what developers fetch packages, sources and images from"},
	COMMAND_OPTION_POLICY(struct proxy_cli_options, policy.policies, GROUP_WHAT),
	{0, "ca-file", "FILE", INTO(PATH, ca_file), .complete = COMPLETE_FILE, .group = GROUP_WHAT,
	 .help = "end TLS where the policy names methods or paths; trust this file"},
	COMMAND_OPTION_DIR(struct proxy_cli_options, policy.cwd),
	{0, "log", "FILE", INTO(PATH, log), .complete = COMPLETE_FILE,
	 .help = "append a JSON line for every request; - is standard error"},
	COMMAND_OPTION_JSON(struct proxy_cli_options, policy.json),
	{0},
};

static void proxy_cli_options_done(struct proxy_cli_options *o)
{
	policy_options_done(&o->policy);
	strv_done(&o->allow);
	strv_done(&o->block);
	strv_done(&o->allow_private);
}

static int proxy_check(const struct cli *cli, const struct proxy_cli_options *o,
		       struct cordon_error *err)
{
	if (o->listen && o->unix_path)
		return cordon_fail(err, CORDON_E_INVALID,
				   "option '--listen': not together with '--unix'");
	if (o->policy.policies.n > 0 && (o->mode || o->dev))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "option '%s': not together with '--policy'",
					       o->mode ? "--mode" : "--dev"),
				   "the policy's network section says it");
	if (o->unix_path && cli->n_words > 0)
		return cordon_fail(err, CORDON_E_INVALID,
				   "option '--unix': no variable can tell a command of it");
	if (o->policy.json && cli->n_words > 0)
		return cordon_fail(err, CORDON_E_INVALID, "option '--json': not with a command");
	return 0;
}

static int cmd_proxy_run(struct cli *cli)
{
	AUTO(proxy_cli_options_done) struct proxy_cli_options options = {0};
	struct cordon_error err = {0};
	int code = 0;

	if (!cli_parse(cli, &options, &code))
		return code;
	if (proxy_check(cli, &options, &err) < 0)
		return cli_fail(cli, &err);
	return cmd_proxy_main(cli, &options);
}

const struct verb verb_proxy = {
	.name = "proxy",
	.summary = "run the egress proxy by itself",
	.synopsis = (const char *const[]){"[OPTIONS]", "[OPTIONS] -- CMD [ARG...]", NULL},
	.options = proxy_option_rows,
	.words = {.name = "CMD",
		  .max = VERB_WORDS_ANY,
		  .complete = COMPLETE_COMMAND,
		  .starts_command = true},
	.description =
		"Speaks HTTP/1.1 (forward requests and CONNECT) and SOCKS 5 on one socket, judges every "
		"request as the proxy of a sandbox does and passes on what is allowed. Names are looked up "
		"once, all their addresses are judged, and private, loopback, link-local, metadata and other "
		"special addresses and those of this machine are closed unless *--allow-private* opens them, "
		"in every mode.\n"
		"\n"
		"Without a command it prints lines *NAME=VALUE*: *CORDON_PROXY* is the address, the others are "
		"the variables for programs that should use it. It ends with SIGTERM or SIGINT. With a "
		"command it runs that with the variables set, prints nothing, and ends with it.\n"
		"\n"
		"Programs use it if they look at the variables. Nothing forces them to: for that there is "
		"*cordon run --allow-host*. Every user of this machine can connect to a port on loopback; a "
		"socket of *--unix* is for this user alone.\n"
		"\n"
		"Where *network.egress* of the policy names methods or paths for a host, HTTPS to it is refused, "
		"because nobody could read it: the error that a program gets says so, and a warning at the "
		"start. With *--ca-file* TLS to these hosts ends in the proxy (*cordon-proxy*), which reads "
		"the requests and checks the server's certificate. FILE is written: a bundle of the proxy's own "
		"certificate and the system's; variables that name it are among those that are set. The key "
		"never leaves the process, so that the file is worth nothing after it. Secrets of the policy "
		"are only put in by *cordon run*: a policy that grants some at the boundary is refused.\n"
		"\n"
		"A line of the log has *time*, *method*, *host*, *port*, *allowed*, *status*, *rule* and "
		"*remedy*. A reader that is too slow misses lines, and a line *lost* says how many.",
	.exit_status =
		"*0*\n\tended by a signal\n\n"
		"*125*\n\tit could not be started, or ended by itself\n\n"
		"With a command as *cordon run*: its own code, *126*, *127*, or *128+N* when it was "
		"killed by signal N.",
	.examples =
		(const struct verb_example[]){
			{"cordon proxy --dev -- npm install",
			 "a command that should only fetch packages"},
			{"cordon proxy --allow example.org --log requests.ndjson",
			 "for whoever reads the variables that it prints"},
			{"cordon proxy --mode blocklist --block '*.example.net' --unix /tmp/p.sock",
			 "all but one domain, on a Unix socket"},
			{0},
		},
	.run = cmd_proxy_run,
};
