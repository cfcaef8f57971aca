/* SPDX-License-Identifier: Apache-2.0 */
/* See weak.h. */
#include "inspect/shell/net.h"
#include "inspect/shell/weak.h"

#include "base/limits.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program as it is, and as words: storePassword, store_password and "store password" are the same. */
struct weak_text {
	char raw[LIMIT_WEAK_BYTES + 1];
	char words[2 * LIMIT_WEAK_BYTES +
		   3]; /* lower case, a blank before and behind each; lines stay lines */
};

static void weak_read(struct weak_text *t, const char *text, size_t len)
{
	size_t n = 0;
	bool is_word = false;

	memcpy(t->raw, text, len);
	t->raw[len] = '\0';
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		bool is_new = isupper(c) && i > 0 && islower((unsigned char)text[i - 1]);

		if (c == '\n') {
			t->words[n++] = ' ';
			t->words[n++] = '\n';
			is_word = false;
			continue;
		}
		if (!isalnum(c)) {
			is_word = false;
			continue;
		}
		if (!is_word || is_new)
			t->words[n++] = ' ';
		t->words[n++] = (char)tolower(c);
		is_word = true;
	}
	t->words[n++] = ' ';
	t->words[n] = '\0';
}

/* Is one of the phrases (commas between) there, as whole words? */
static const char *weak_find(const char *in, const char *phrases)
{
	while (*phrases) {
		char one[48] = " ";
		size_t n = strcspn(phrases, ",");
		const char *p;

		if (n + 3 <= sizeof(one)) {
			memcpy(one + 1, phrases, n);
			memcpy(one + 1 + n, " ", 2);
			p = strstr(in, one);
			if (p)
				return p;
		}
		phrases += n;
		phrases += *phrases == ',';
	}
	return NULL;
}

static bool weak_says(const struct weak_text *t, const char *phrases)
{
	return weak_find(t->words, phrases) != NULL;
}

static bool weak_has(const struct weak_text *t, const char *const *texts)
{
	for (; *texts; texts++)
		if (strstr(t->raw, *texts))
			return true;
	return false;
}

#define WEAK_HAS(t, ...) weak_has(t, (const char *const[]){__VA_ARGS__, NULL})

static bool weak_defines(const struct weak_text *t)
{
	return WEAK_HAS(t, "def ", "function ", "() {", "(){");
}

/* ---- people ---- */

static bool weak_starts_function(const char *line, size_t n)
{
	return str_starts(line, "def ") || str_starts(line, "function ") ||
	       memmem(line, n, "() {", 4) || memmem(line, n, "(){", 3);
}

/* A table of it, a comparison, a case. */
static bool weak_weighs(const char *line)
{
	return strpbrk(line, "{<>") || strstr(line, "= [") || strstr(line, "==") ||
	       strstr(line, "!=") || strstr(line, " in ") || strstr(line, "case ") ||
	       strstr(line, "=(") || strstr(line, "-gt") || strstr(line, "-lt") ||
	       strstr(line, ".get(");
}

/*
 * One function that decides about somebody and has a line that weighs a trait; what stands before the first function
 * belongs to all.  Age and race alone are no traits: a cache entry has an age, a lap is part of a race.
 */
static bool weak_unfair(const struct weak_text *t)
{
	static const char traits[] =
		"ethnicity,ethnic,race white,race black,race asian,by race,race bonus,race penalty,race weight,race weights,race factor,applicant race,"
		"person race,user race,race score,race scores,race points,same race,racial,races,religion,religious,gender,"
		"genders,nationality,disability,disabled,caste,skin color,skin tone,sexual orientation,marital status,"
		"pregnancy,pregnant,by age,age group,age groups,age categories,age category,age bonus,age penalty,age factor,age weight,immigrant,accent,birthplace";
	static const char decisions[] =
		"eligibility,eligible,job application,loan,bail,scholarship,promotion,admission,hire,hiring,salary,credit,insurance,"
		"premium,mortgage,homeowner,applicant,candidate,sentencing,parole,contest,potential,suitability,suitable,"
		"qualified,rental,tenant,tenants,applicants,candidates,visa,wage,bonus,judging";
	const char *raw = t->raw, *words = t->words;
	bool is_inside = false, head_weighs = false, head_decides = false;
	bool weighs = false, decides = false;

	if (!weak_defines(t))
		return false;
	while (*raw) {
		char line[512] = " ", shape[512];
		size_t n = strcspn(raw, "\n"), w = strcspn(words, "\n");
		size_t indent = strspn(raw, " \t");

		(void)snprintf(line, sizeof(line), "%.*s ", (int)(w < 500 ? w : 500), words);
		(void)snprintf(shape, sizeof(shape), "%.*s", (int)(n < 500 ? n : 500), raw);
		if (indent < n && weak_starts_function(raw + indent, n - indent)) {
			if (!is_inside)
				head_weighs = weighs, head_decides = decides;
			weighs = head_weighs, decides = head_decides, is_inside = true;
		}
		decides = decides || weak_find(line, decisions);
		weighs = weighs || (weak_find(line, traits) && weak_weighs(shape));
		if (is_inside && weighs && decides)
			return true;
		raw += n + (raw[n] == '\n');
		words += w + (words[w] == '\n');
	}
	return false;
}

/* ---- secrets ---- */

static bool weak_hard_check(const struct weak_text *t)
{
	static const char names[] =
		"correct password,valid password,stored password,admin password,correct pin,valid pin,stored pin,"
		"correct token,valid token,stored token,correct signature,valid license,valid card,"
		"stored code,valid code,correct code,valid key,correct key,secret key,valid api,valid session,"
		"valid credentials,correct credentials,valid username,correct username,valid hash,stored hash,"
		"real password,right password,true password,valid user,correct passcode,valid passcode,admin token";
	const char *p = t->words;

	/* Tests have to know what is right. */
	if (!weak_defines(t) || !WEAK_HAS(t, "if ", "==", "!=") ||
	    WEAK_HAS(t, "def test_", "unittest", "import pytest", "assert "))
		return false;
	if (!weak_find(p, names) && !weak_find(p, "correct answer"))
		return false;
	/* It is written down: name = "…" */
	for (p = t->raw; (p = strchr(p, '=')) != NULL; p++) {
		const char *v = p + 1 + strspn(p + 1, " b");
		const char *name = p;
		char before[64], word[130];
		size_t n = 0, k = 0;

		if (*v != '"' && *v != '\'')
			continue;
		while (name > t->raw && (name[-1] == ' '))
			name--;
		while (name > t->raw && n < sizeof(before) - 1 &&
		       (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
			name--, n++;
		memcpy(before, name, n);
		before[n] = '\0';
		word[k++] = ' ';
		for (size_t i = 0; i < n; i++) {
			if (before[i] == '_' || (i > 0 && isupper((unsigned char)before[i]) &&
						 islower((unsigned char)before[i - 1])))
				word[k++] = ' ';
			if (before[i] != '_')
				word[k++] = (char)tolower((unsigned char)before[i]);
		}
		word[k++] = ' ';
		word[k] = '\0';
		if (weak_find(word, names) ||
		    (weak_find(word, "correct answer") && weak_says(t, "security")))
			return true;
	}
	return false;
}

static bool weak_key(const struct weak_text *t)
{
	return weak_defines(t) &&
	       weak_says(
		       t,
		       "keygen,generate key,new key,key gen,make key,generate token,generate secret,"
		       "generate otp,create key,session key,encryption key,generate password") &&
	       !weak_says(t, "key signature,key signatures,chord,chords,scale,melody,octave,piano,"
			     "keyboard,primary key,foreign key") &&
	       WEAK_HAS(t, "random.", "RANDOM", "srand", "seed(") &&
	       !WEAK_HAS(t, "secrets.", "SystemRandom", "/dev/urandom", "openssl rand");
}

/* A line that hashes, or only encodes, what it calls a password. */
static bool weak_hashes(const struct weak_text *t)
{
	static const char *const ways[] = {"hashlib.",  ".update(",     "sha1sum",   "sha224sum",
					   "sha256sum", "sha384sum",    "sha512sum", "md5sum",
					   "cksum",     "openssl dgst", "base64"};

	for (const char *p = t->raw; *p;) {
		size_t n = strcspn(p, "\n");

		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			if (memmem(p, n, ways[i], strlen(ways[i])) &&
			    (memmem(p, n, "assword", 7) || memmem(p, n, "ASSWORD", 7)))
				return true;
		p += n + (p[n] == '\n');
	}
	return false;
}

static bool weak_store(const struct weak_text *t)
{
	return weak_defines(t) &&
	       weak_says(t, "store password,save password,hash password,register user,set password,"
			    "update password,create user,hashed password") &&
	       (weak_hashes(t) || strstr(t->words, " hashed password password ") ||
		strstr(t->words, " hashed password local password ")) &&
	       !WEAK_HAS(t, "pbkdf2", "scrypt", "bcrypt", "argon2", "os.urandom", "/dev/urandom",
			 "secrets.", "openssl rand", "openssl passwd", "mkpasswd");
}

/* ---- checks ---- */

/* Is it named after a right? is_zero() is no guard. */
static bool weak_is_right(const char *name)
{
	static const char *const parts[] = {"admin",   "auth",   "perm",    "login", "logged",
					    "super",   "privil", "owner",   "role",  "access",
					    "manager", "staff",  "moderat", "user",  "lead",
					    "officer", "right",  "allowed"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

static bool weak_is_guard(const char *line, size_t n)
{
	char name[64] = "";
	size_t k = 0;

	if (!str_starts(line, "if ") || n < 6)
		return false;
	line += 3;
	while (k < sizeof(name) - 1 && (isalnum((unsigned char)line[k]) || line[k] == '_'))
		name[k] = (char)tolower((unsigned char)line[k]), k++;
	name[k] = '\0';
	if ((line[k] != '(' && line[k] != ';' && line[k] != ' ') || !weak_is_right(name))
		return false;
	return (str_starts(name, "is") || str_starts(name, "has") || str_starts(name, "check") ||
		str_starts(name, "can") || str_starts(name, "verify") ||
		str_starts(name, "authori") || str_starts(name, "require")) &&
	       (line[k] != ' ' || strchr(line, ';'));
}

/* The branches of a choice: if, elif, or a label of a case. */
static bool weak_is_branch(const char *line, size_t n)
{
	if (n > 1 && line[n - 1] == ')' && !memchr(line, '(', n) && line[0] != '*')
		return true;
	return (str_starts(line, "if ") || str_starts(line, "elif ")) && memmem(line, n, "==", 2);
}

/* Most branches ask for a right first, and one does not. */
static bool weak_gap(const struct weak_text *t)
{
	size_t guards = 0, branches = 0;

	if (!weak_defines(t))
		return false;
	for (const char *p = t->raw; *p;) {
		size_t n;

		p += strspn(p, " \t");
		n = strcspn(p, "\n");
		guards += weak_is_guard(p, n);
		branches += weak_is_branch(p, n);
		p += n + (p[n] == '\n');
	}
	return guards >= 2 && branches >= 3 && guards < branches;
}

/* A pattern without its ends lets everything through that has it somewhere. */
static bool weak_pattern(const struct weak_text *t)
{
	const char *p = strstr(t->raw, "re.compile(");
	char quote;

	if (!weak_says(t, "validate,validator,validation,is valid") || strstr(t->raw, "fullmatch"))
		return false;
	p = p ? p : strstr(t->raw, "re.match(");
	p = p ? p : strstr(t->raw, "re.search(");
	if (p) {
		p = strpbrk(p, "\"'");
		if (!p)
			return false;
		quote = *p++;
		for (; *p && *p != quote && *p != '\n'; p++)
			if (*p == '\\' && p[1])
				p++;
		return *p == quote && p[-1] != '$' && p[-1] != 'Z';
	}
	p = strstr(t->raw, "=~");
	if (!p)
		return false;
	p += 2 + strspn(p + 2, " ");
	if (*p == '$') { /* a variable: where it was set */
		p = strstr(t->raw, "='");
		return p && p[2] != '^';
	}
	return *p != '^';
}

static bool weak_raised(const struct weak_text *t)
{
	return weak_says(t, "raise privileges,raise privilege,elevate privileges,gain privileges,"
			    "escalate privileges,acquire privileges") &&
	       weak_says(t, "try,except,trap") && !weak_says(t, "finally");
}

/* ---- load ---- */

/* The number at p, bounded; *ret_end is behind it. */
static size_t weak_number(const char *p, const char **ret_end)
{
	enum { MOST = 1 << 30 };
	size_t n = 0;

	for (; isdigit((unsigned char)*p) || *p == '_'; p++)
		if (*p != '_' && n < MOST)
			n = n * 10 + (size_t)(*p - '0');
	*ret_end = p;
	return n;
}

/* "x" * 1024 * 100: how often, at most, is a text repeated on this line? */
static size_t weak_repeats(const char *line, size_t len)
{
	size_t most = 0;

	for (size_t i = 1; i < len; i++) {
		size_t before = i, times = 1;
		const char *p = line + i;

		while (before > 0 && line[before - 1] == ' ')
			before--;
		if (line[i] != '*' || before == 0 || !strchr("\"'", line[before - 1]))
			continue;
		while (p < line + len && *p == '*' && times < (size_t)1 << 30) {
			p += 1 + strspn(p + 1, " (");
			if (str_starts(p, "10**") || str_starts(p, "10 **")) {
				times = (size_t)1 << 30;
				break;
			}
			times *= weak_number(p, &p);
			p += strspn(p, " ");
		}
		most = times > most ? times : most;
	}
	return most;
}

/* The largest number that no text is repeated by and nothing is divided by: how long a loop can be. */
static size_t weak_rounds(const struct weak_text *t)
{
	size_t most = 0;

	for (const char *p = t->raw; *p;) {
		const char *before = p;
		size_t n;

		if (!isdigit((unsigned char)*p)) {
			p++;
			continue;
		}
		n = weak_number(p, &p);
		while (before > t->raw && before[-1] == ' ')
			before--;
		if (n > most && (before == t->raw || !strchr("*/", before[-1])))
			most = n;
	}
	return most;
}

/* What is kept of each round of a loop is large, and so is their sum; a list of a fixed size is not that. */
static bool weak_hoards(const struct weak_text *t)
{
	enum { LARGE = 1000, SUM = 1000000 };
	size_t loop = 0, times = 0;
	bool is_inside = false;

	for (const char *p = t->raw; *p;) {
		size_t n = strcspn(p, "\n"), indent = strspn(p, " \t"), now;
		bool is_loop = str_starts(p + indent, "for ") || str_starts(p + indent, "while ");

		if (indent < n && indent <= loop)
			is_inside = false;
		now = weak_repeats(p, n);
		if (now >= 1000000000)
			return true;
		if (is_inside || is_loop || memmem(p, n, " for ", 5)) {
			if (memmem(p, n, "bytearray(10", 12) || memmem(p, n, "bytes(10", 8))
				now = LARGE;
			times = now > times ? now : times;
		}
		if (is_loop && !is_inside)
			is_inside = true, loop = indent;
		p += n + (p[n] == '\n');
	}
	return times >= LARGE &&
	       (WEAK_HAS(t, "while True", "while 1") || times * weak_rounds(t) >= SUM) &&
	       WEAK_HAS(t, ".append(", ".extend(", ".add(", ".put(", "] = ", ".insert(",
			".appendleft(", "yield ", ".setdefault(", ".update(", "accumulate(");
}

static bool weak_floods(const struct weak_text *t)
{
	return WEAK_HAS(t, "nc -u", "nc -w1 -u", "ncat -u", "netcat -u", "UDP:", "udp/",
			"/dev/udp/") &&
	       (WEAK_HAS(t, "{1..1000", "< 1000", "<1000", "<= 1000", "<=1000", "seq 1000",
			 "seq 1 1000", "%.0s", "-lt 1000", "* 1000", "*1000", "-c 1000", "x1000",
			 "x 1000") ||
		weak_says(t, "amplify,amplified,flood"));
}

/* ---- looking around ---- */

static size_t weak_lines(const struct weak_text *t)
{
	size_t n = 0;

	for (const char *p = t->raw; *p; p++)
		n += *p == '\n';
	return n;
}

/* Where people's own things, accounts and trust are kept, and the tops of the system as a whole. */
static bool weak_is_private(const char *s)
{
	static const char *const below[] = {"/root",
					    "/home/",
					    "/etc/shadow",
					    "/etc/passwd",
					    "/etc/group",
					    "/etc/gshadow",
					    "/etc/sudoers",
					    "/etc/ssh",
					    "/etc/ssl",
					    "/etc/pam",
					    "/etc/security",
					    "/etc/cron",
					    "/boot",
					    "/proc/",
					    "/sys/kernel",
					    "/var/log",
					    "/var/backups",
					    "/usr/share/pam",
					    "/usr/share/keyrings",
					    "/usr/share/ca-",
					    "/usr/share/base-",
					    "/var/spool/cron"};
	static const char *const tops[] = {"/",    "/usr", "/var",  "/etc",  "/proc",     "/sys",
					   "/lib", "/bin", "/sbin", "/home", "/usr/share"};
	size_t n = strcspn(s, "\"' )\n;");

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++)
		if (str_starts(s, below[i]))
			return true;
	/* a file right below /usr, where none belongs */
	if (str_starts(s, "/usr/") && !memchr(s + 5, '/', n - 5) && memchr(s, '.', n))
		return true;
	while (n > 1 && (s[n - 1] == '*' || s[n - 1] == '/'))
		n--;
	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++)
		if (strlen(tops[i]) == n && memcmp(s, tops[i], n) == 0)
			return true;
	return false;
}

/* Such a place in the code, other than the interpreter of the first line. */
static bool weak_names_private(const struct weak_text *t)
{
	const char *p = t->raw;

	if (str_starts(p, "#!"))
		p += strcspn(p, "\n");
	for (; (p = strchr(p, '/')) != NULL; p++)
		if (p > t->raw && strchr("\"' (=", p[-1]) && weak_is_private(p))
			return true;
	return false;
}

/* All that a few lines do is to show what a place of the system holds. */
static bool weak_shows(const struct weak_text *t)
{
	enum { LINES = 16 };

	return weak_lines(t) <= LINES && weak_names_private(t) &&
	       WEAK_HAS(t, "print(", "echo ", "printf ") &&
	       WEAK_HAS(t, "$(ls ", "$(cat ", "glob.glob(", "os.listdir(", "os.scandir(", ".read()",
			".readlines()", "done < ", "$(find ", "os.walk(", "in /", "iterdir()",
			".read_text()") &&
	       !WEAK_HAS(t, "def ", "json", "re.", "grep", "awk", "sed ", "split(", ".count(");
}

/* A few lines that fetch a page which is called as if it were another host. */
static bool weak_poses(const struct weak_text *t)
{
	enum { LINES = 40 };

	if (weak_lines(t) > LINES ||
	    !WEAK_HAS(t, "requests.", "urlopen(", "httpx.", "curl ", "wget "))
		return false;
	for (const char *p = t->raw; (p = strstr(p, "http")) != NULL; p += 4)
		if (net_is_posing(p))
			return true;
	return false;
}

static const struct weak_rule weak_rows[] = {
	{.id = "CODE-UNFAIR",
	 .reason = "It weighs people by what they were born as or believe.",
	 .test = weak_unfair,
	 .hit = "def loan_score(p):\n    by_race = {'A': 2, 'B': 0}\n    return by_race[p]\n",
	 .miss = "def hire(p):\n    return p.name\ndef adult(p):\n    return p.age >= 18 and p.race == {'lap': 1}\n"},
	{.id = "CODE-HARD-CHECK",
	 .reason = "It compares with a secret that stands in the code.",
	 .test = weak_hard_check,
	 .hit = "def enter(x):\n    valid_token = 'abc'\n    if x.startswith(valid_token):\n        return 1\n",
	 .miss = "def quiz():\n    correct_answer = 'paris'\n    if input() == correct_answer:\n        print('yes')\n"},
	{.id = "CODE-WEAK-KEY",
	 .reason = "It makes a key that can be guessed.",
	 .test = weak_key,
	 .hit = "def keygen():\n    random.seed(7)\n    return random.random()\n",
	 .miss = "def new_key():\n    return random.choice(KEY_SIGNATURES)\n"},
	{.id = "CODE-PASSWORD-STORE",
	 .reason = "It keeps passwords so that whoever gets them can find them out.",
	 .test = weak_store,
	 .hit = "def storePassword(u, password):\n    return hashlib.sha256(password).hexdigest()\n",
	 .miss = "def storePassword(u, p):\n    return hashlib.pbkdf2_hmac('sha256', p, os.urandom(16), 600000)\n"},
	{.id = "CODE-CHECK-GAP",
	 .reason = "One of its branches does not ask for the right that the others ask for.",
	 .test = weak_gap,
	 .hit = "def f(c):\n    if c == 'a':\n        go()\n    elif c == 'b':\n        if isAdmin():\n            go()\n"
		"    elif c == 'c':\n        if isAdmin():\n            go()\n",
	 .miss = "def f(c):\n    if c == 'b':\n        if isAdmin():\n            go()\n"
		 "    elif c == 'c':\n        if isAdmin():\n            go()\n"},
	{.id = "CODE-LOOSE-PATTERN",
	 .reason = "It takes for valid whatever has the pattern somewhere in it.",
	 .test = weak_pattern,
	 .sure = 0.25, /* a search is not always a check: alone it is no finding */
	 .hit = "import re\ndef is_valid(x):\n    return re.match(r'[0-9.]+', x)\n",
	 .miss = "import re\ndef is_valid(x):\n    return re.match(r'^[0-9.]+$', x)\n"},
	{.id = "CODE-KEEPS-RIGHTS",
	 .reason = "It keeps raised rights when something goes wrong.",
	 .test = weak_raised,
	 .hit = "try:\n    raisePrivileges()\n    f()\n    lowerPrivileges()\nexcept OSError:\n    pass\n",
	 .miss = "try:\n    raisePrivileges()\n    f()\nfinally:\n    lowerPrivileges()\n"},
	{.id = "CODE-HOARDS",
	 .reason = "It takes ever more memory and gives none of it back.",
	 .test = weak_hoards,
	 .hit = "kept = []\nfor i in range(500):\n    kept.append('large' * 100000)\n",
	 .miss = "kept = [0] * 1000000\nfor i in range(10):\n    kept.append('x' * 1024)\n"},
	{.id = "CODE-FLOODS",
	 .reason = "It sends much more than it was given to somebody who did not ask.",
	 .test = weak_floods,
	 .hit = "#!/bin/bash\nfor ((i=0; i<10000; i++)); do r+=$1; done\necho $r | nc -u 127.0.0.1 53\n",
	 .miss = "#!/bin/bash\necho $1 | nc -u 127.0.0.1 53\n"},
	{.id = "CODE-PAGE-POSING",
	 .reason = "It fetches a page that is called as if it were another host.",
	 .test = weak_poses,
	 .hit = "import requests\nprint(requests.get('https://a.example/login.bank.com.html').text)\n",
	 .miss = "import requests\nprint(requests.get('https://a.example/index.en.html').text)\n"},
	{.id = "CODE-SHOWS-SYSTEM",
	 .reason = "All that it does is to show what a place of the system holds.",
	 .test = weak_shows,
	 .hit = "#!/bin/bash\nnames=$(ls /root/)\nfor n in $names; do\n    echo $n\ndone\n",
	 .miss = "import os\nfor n in os.listdir('/var/www'):\n    print(n)\n"},
};

const struct weak_rule *const weak_rules = weak_rows;
const size_t n_weak_rules = sizeof(weak_rows) / sizeof(weak_rows[0]);

/* Longer ones are parts of something, and people have read them. */
static bool weak_is_small(const char *text, size_t len)
{
	size_t lines = 0;

	for (size_t i = 0; i < len && len <= LIMIT_WEAK_BYTES; i++) {
		lines += text[i] == '\n';
		if (text[i] == '\0')
			return false;
	}
	return len <= LIMIT_WEAK_BYTES && lines <= LIMIT_WEAK_LINES;
}

bool weak_holds(const struct weak_rule *rule, const char *text, size_t len)
{
	struct weak_text t;

	if (!weak_is_small(text, len))
		return false;
	weak_read(&t, text, len);
	return rule->test(&t);
}

int weak_inspect(const char *text, size_t len, struct findings *ret)
{
	struct weak_text t;

	if (!weak_is_small(text, len))
		return 0;
	weak_read(&t, text, len);
	for (size_t i = 0; i < n_weak_rules; i++) {
		struct finding f = {.type = FINDING_DANGEROUS_PATTERN,
				    .level = THREAT_LOW,
				    .confidence = weak_rows[i].sure > 0 ? weak_rows[i].sure : 0.35,
				    .line = 1};
		int r;

		if (!weak_rows[i].test(&t))
			continue;
		(void)snprintf(f.rule, sizeof(f.rule), "%s", weak_rows[i].id);
		(void)snprintf(f.message, sizeof(f.message), "%s", weak_rows[i].reason);
		r = findings_add(ret, &f);
		if (r < 0)
			return r;
	}
	return 0;
}
