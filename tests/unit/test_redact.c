/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redaction as rows: what must go, what must stay, and how long the worst texts take.  A row of
 * secrets names the bytes that may not be left over; ordinary commands pass unchanged.
 */
#include "secrets/redact.h"

#include "base/clock.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TOKEN "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
#define KEY                                                                                        \
	"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nplantedbody==\n"                    \
	"-----END RSA PRIVATE KEY-----"

/* {text, what may not be left, what the whole becomes (NULL: not compared)} */
static const struct {
	const char *text, *secret, *want;
} secret_rows[] = {
	{"PASSWORD=hunter2", "hunter2", "PASSWORD=[redacted]"},
	{"DB_PASS=hunter2 ./run", "hunter2", "DB_PASS=[redacted] ./run"},
	{"export API_KEY='a b c'; make", "b c", "export API_KEY=[redacted]; make"},
	{"export API_KEY=\"a\\\"b c\"; make", "b c", "export API_KEY=[redacted]; make"},
	{"userToken=abc", "abc", "userToken=[redacted]"},
	{"MYSQL_PWD=abc mysql", "abc", "MYSQL_PWD=[redacted] mysql"},
	{"AWS_SECRET_ACCESS_KEY=abc/def+ghi aws s3 ls", "abc", NULL},
	{"x=password=hunter2", "hunter2", "x=password=[redacted]"},
	{"password=a,b", ",b", "password=[redacted]"},
	{"password = hunter2", "hunter2", "password = [redacted]"},
	{"password:\thunter2", "hunter2", NULL},
	{"password:\n  hunter2", "hunter2", NULL},
	{"password='a'\"hunter2\"", "hunter2", "password=[redacted]"},
	{"password=a\\ hunter2 x", "hunter2", "password=[redacted] x"},
	{"mysql --password hunter2 db", "hunter2", "mysql --password [redacted] db"},
	{"mysql --password=hunter2 db", "hunter2", "mysql --password=[redacted] db"},
	{"mysql --password \"a hunter2\" db", "hunter2", "mysql --password [redacted] db"},
	{"mysql --password 'a hunter2' db", "hunter2", "mysql --password [redacted] db"},
	{"tool --api-key   abc --verbose", "abc", "tool --api-key   [redacted] --verbose"},
	{"tool -token abc", "abc", "tool -token [redacted]"},
	{"{\"password\":\"hunter2\",\"a\":1}", "hunter2", "{\"password\":[redacted],\"a\":1}"},
	{"{\"password\": \"hun\\\"ter2 x\"}", "ter2", "{\"password\": [redacted]}"},
	{"{\"password\":\n\t\"hunter2\"}", "hunter2", NULL},
	{"{\"password\" : \"hunter2\"}", "hunter2", NULL},
	{"{'password': 'hunter2'}", "hunter2", "{'password': [redacted]}"},
	{"\"{\\\"password\\\": \\\"hunter2\\\"}\"", "hunter2", NULL},
	{"{\"key\":12345678,\"b\":2}", "12345678", NULL},
	{"curl -H 'Authorization: Bearer hunter2abc' http://h", "hunter2abc",
	 "curl -H 'Authorization: [redacted]' http://h"},
	{"curl -H \"Authorization: token hunter2\" http://h", "hunter2", NULL},
	{"curl -H 'Cookie: a=planted1; b=planted2' http://h", "planted2", NULL},
	{"curl -H 'X-Api-Key: hunter2' http://h", "hunter2", NULL},
	{"Bearer hunter2hunter2", "hunter2", "Bearer [redacted]"},
	{"Basic dXNlcjpwYXNz", "dXNlcjpwYXNz", NULL},
	{"Authorization: Basic dXNlcjpwYXNz\nnext", "dXNlcjpwYXNz", NULL},
	{"curl -u me:hunter2 http://h", "hunter2", "curl -u [redacted] http://h"},
	{"curl --user me:hunter2 http://h", "hunter2", NULL},
	{"git clone https://me:hunter2@host/r", "hunter2",
	 "git clone https://me:[redacted]@host/r"},
	{"psql postgres://u:p@ss@h:5432/db", "p@ss", NULL},
	{"git clone https://" TOKEN "@github.com/r", "7710c838", NULL},
	{"git clone https://x-access-token-abcdef@h/r", "token-abcdef", NULL},
	{"curl 'https://h/?token=hunter2&x=1'", "hunter2",
	 "curl 'https://h/?token=[redacted]&x=1'"},
	{"curl https://h/?a=1&api_key=hunter2", "hunter2", NULL},
	{"curl https://h/" TOKEN "/x", "7710c838", NULL},
	{"echo " TOKEN, "7710c838", "echo [redacted]"},
	{"FOO=" TOKEN " x", "7710c838", "FOO=[redacted] x"},
	{"a:" TOKEN, "7710c838", "a:[redacted]"},
	{"aws AKIAIOSFODNN7EXAMPLE", "IOSFODNN", "aws [redacted]"},
	{"glpat-abcdefghij", "abcdefghij", "[redacted]"},
	{"xoxb-1234567890-abc", "1234567890", "[redacted]"},
	{"sk-proj-abcd1234efgh5678", "abcd1234", "[redacted]"},
	{"sk_live_abcdefgh", "abcdefgh", "[redacted]"},
	{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.abc", "hbGciOi", "[redacted]"},
	{"AIzaSyA1234567890abcdefghij", "SyA123", "[redacted]"},
	{"npm_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5", "aB3dE5", "[redacted]"},
	{"hf_abcdefghijklmnopqrs", "abcdefgh", "[redacted]"},
	{"github_pat_11ABCDEFG0", "11ABC", "[redacted]"},
	{"age-secret-key-1QQQQQQ", "1QQQ", "[redacted]"},
	{"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1", "wJalr", "[redacted]"},
	{"echo q8Zx2Lm9Vt4Kp7Rn1Wb6", "q8Zx2", "echo [redacted]"},
	{KEY, "plantedbody", "[redacted]"},
	{"x " KEY " y", "plantedbody", "x [redacted] y"},
	{"KEY=" KEY " y", "plantedbody", NULL},
	{"foo=" KEY, "plantedbody", NULL},
	{"echo '" KEY "' > f", "plantedbody", "echo '[redacted]' > f"},
	{"-----BEGIN OPENSSH PRIVATE KEY-----\nplantedbody", "plantedbody", "[redacted]"},
	{"{\"k\":\"-----BEGIN EC PRIVATE KEY-----\\nplantedbody\\n-----END EC PRIVATE KEY-----\"}",
	 "plantedbody", NULL},
	{KEY KEY " z", "plantedbody", "[redacted][redacted] z"},
	{"don't; PASSWORD=hunter2", "hunter2", NULL},
	{"password=\"unclosed hunter2", "hunter2", NULL},
	{"--password", "\1", "--password"},
	{"password=", "\1", "password="},
	{"", "\1", ""},
};

static const char *const ordinary_rows[] = {
	"ls -la",
	"git status",
	"git commit -m 'fix the parser' --author 'A B <a@b.c>'",
	"git log --oneline -20 --author=alice",
	"git push origin feature/new-keyboard-layout",
	"git clone https://github.com/torvalds/linux.git",
	"git clone git@github.com:user/repo.git",
	"git clone ssh://git@github.com/user/repo.git",
	"make -j8 test",
	"cmake -DCMAKE_BUILD_TYPE=Release -S . -B build",
	"npm install --save-dev typescript@5.2.2",
	"npm run build:production",
	"npx create-react-app my-app --template typescript",
	"pip install -r requirements.txt",
	"pip install 'django>=4.2,<5'",
	"python3 -m pytest tests/test_parser.py::test_nested -k 'not slow'",
	"cargo build --release --target x86_64-unknown-linux-gnu",
	"go test ./... -run TestParse -count=1",
	"docker run --rm -it -u 1000:1000 -v /home/me/src:/src ubuntu:22.04 bash",
	"docker build -t registry.example.com/team/app:1.2.3 .",
	"docker compose up -d",
	"kubectl get pods -n kube-system -o wide",
	"kubectl logs deploy/web --tail=100",
	"curl -fsSL https://example.com/install.sh -o install.sh",
	"curl -X POST -H 'Content-Type: application/json' -d '{\"name\":\"x\"}' http://localhost:8080/api",
	"wget --no-check-certificate https://example.org/a.tar.gz",
	"tar --keep-newer-files -xzf archive-2024-01-02.tar.gz -C /opt",
	"find . -name '*.c' -not -path './build/*' -exec grep -l main {} +",
	"grep -rn 'TODO' --include='*.py' src",
	"sed -i 's/foo/bar/g' file.txt",
	"awk -F: '{print $1}' /etc/passwd",
	"ssh -i ~/.ssh/id_ed25519 user@host.example.com uptime",
	"scp file.txt user@host:/var/tmp/",
	"rsync -avz --delete src/ backup:/srv/backup/src/",
	"cat /etc/ssl/certs/ca-certificates.crt",
	"PWD=/home/me OLDPWD=/tmp ./run.sh",
	"LC_ALL=C sort -k2,2 -t, data.csv",
	"tmux new-session -d -s work",
	"echo \"hello world\" > out.txt",
	"for i in 1 2 3; do echo $i; done",
	"node --max-old-space-size=4096 dist/server.js",
	"java -Xmx2g -jar target/app-1.0.0-SNAPSHOT.jar --max-tokens 100",
	"gcc -O2 -Wall -Wextra -o main main.c -lm",
	"gdb --args ./a.out --verbose",
	"psql -h localhost -p 5432 -U postgres -d mydb -c 'select 1'",
	"redis-cli -h 127.0.0.1 -p 6379 ping",
	"systemctl status nginx.service",
	"journalctl -u ssh --since '2024-01-01 00:00:00'",
	"cat /nix/store/0c5jl1q8yv7xk3r9m2b4-hello-2.12/bin/hello",
	"ls build-x86_64-linux-gnu/tests/unit",
	"patch -p1 < 0001-net-ipv4-fix-leak.patch",
	"vim src/secrets/redact.c",
	"basic training and a bearer of news",
	"chmod 755 scripts/deploy.sh && ./scripts/deploy.sh staging",
};

/* Ordinary, and yet taken out: each of these could as well be a secret. */
static const char *const arguable_rows[] = {
	"git show 3f86a9f2c4d15e7b8a0913c6d2e4f5a7b9c8d1e0",  /* a commit's full hash */
	"sort --key 2 data",                                  /* the option's name */
	"openssl req -key server.pem -new",                   /* the same */
	"curl http://h/550e8400-e29b-41d4-a716-446655440000", /* a UUID may be a capability */
	"kubectl logs deploy/web-6d4cf56db6",                 /* a pod's hash */
	"cache-key: linux-build-v2",                          /* a name that ends in key */
};

static char *redacted(const char *text, size_t len)
{
	struct buf b = BUF_INIT((size_t)64 << 20);
	char *ret = NULL;
	size_t n = 0;

	redact_text(&b, text, len);
	assert_int_equal(buf_take(&b, &ret, &n), 0);
	return ret ? ret : strdup("");
}

static void test_secrets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(secret_rows); i++) {
		AUTO_FREE char *got = redacted(secret_rows[i].text, strlen(secret_rows[i].text));

		if (strstr(got, secret_rows[i].secret) ||
		    (secret_rows[i].want && strcmp(got, secret_rows[i].want) != 0))
			fail_msg("'%s' became '%s'", secret_rows[i].text, got);
	}
}

static void test_ordinary(void **state)
{
	(void)state;
	assert_true(ARRAY_LEN(ordinary_rows) >= 50);
	for (size_t i = 0; i < ARRAY_LEN(ordinary_rows); i++) {
		AUTO_FREE char *got = redacted(ordinary_rows[i], strlen(ordinary_rows[i]));

		if (strcmp(got, ordinary_rows[i]) != 0)
			fail_msg("'%s' became '%s'", ordinary_rows[i], got);
	}
}

static void test_arguable(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(arguable_rows); i++) {
		AUTO_FREE char *got = redacted(arguable_rows[i], strlen(arguable_rows[i]));

		if (!strstr(got, "[redacted]"))
			fail_msg("'%s' stays: list it as ordinary", arguable_rows[i]);
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *argv[6];
		const char *want;
	} rows[] = {
		{{"echo", "a b"}, "echo 'a b'"},
		{{"mysql", "--password=a hunter2 b"}, "mysql '--password=[redacted]'"},
		{{"mysql", "--password", "a hunter2"}, "mysql --password '[redacted]'"},
		{{"mysql", "--password", "a;hunter2"}, "mysql --password '[redacted]'"},
		{{"curl", "-H", "Authorization: Bearer x hunter2", "u"},
		 "curl -H 'Authorization: [redacted]' u"},
		{{"curl", "-u", "me:hunter2 x", "u"}, "curl -u '[redacted]' u"},
		{{"env", "API_KEY=a b'c", "make"}, "env 'API_KEY=[redacted]' make"},
		{{"sh", "-c", "TOKEN=hunter2 make; ls"}, "sh -c 'TOKEN=[redacted]'"},
		{{"git", "clone", "https://me:hunter2@h/r"},
		 "git clone 'https://me:[redacted]@h/r'"},
		{{"tool", "--token", "--verbose"}, "tool --token --verbose"},
		{{"tool", ""}, "tool ''"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf b = BUF_INIT(65536);
		char *argv[7] = {0};

		for (size_t k = 0; rows[i].argv[k]; k++)
			argv[k] = strdup(rows[i].argv[k]);
		redact_words(&b, argv);
		assert_null(strstr(buf_cstr(&b), "hunter2"));
		assert_string_equal(buf_cstr(&b), rows[i].want);
		buf_done(&b);
		for (size_t k = 0; argv[k]; k++)
			free(argv[k]);
	}
}

/* The worst that a megabyte can ask for. */
static void test_time(void **state)
{
	static const char *const units[] = {
		"a",     "-",        "=",       "\"",      "sk-",        "password=",
		"key",   "--key ",   "://",     "x://a@",  "-----BEGIN", "-----BEGIN -----END",
		"a 'b ", "\\\"",     "key: \"", "Bearer ", "-u a:",      "password \"",
		"eyJ",   "basic ' ", "ghp_",    "a1B",     "/a1B2",      "-sk_",
	};
	const size_t len = 1 << 20;
	char *text = malloc(len);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		size_t n = strlen(units[i]);
		int64_t start = clock_ms();

		for (size_t k = 0; k < len; k++)
			text[k] = units[i][k % n];
		free(redacted(text, len));
		/* 0.1 s is usual; sanitizers and a busy machine need more, n^2 would need hours */
		if (clock_ms() - start > 10000)
			fail_msg("1 MiB of '%s' took %lld ms", units[i],
				 (long long)(clock_ms() - start));
	}
	free(text);
}

/* NUL and bytes above 127 are bytes like others. */
static void test_bytes(void **state)
{
	static const char text[] = "a\0password=\0x\xff y \x80";
	struct buf b = BUF_INIT(4096);

	(void)state;
	redact_text(&b, text, sizeof(text) - 1);
	assert_int_equal(buf_error(&b), 0);
	assert_null(memmem(b.data, b.len, "x\xff", 2));
	assert_non_null(memmem(b.data, b.len, "y \x80", 3));
	buf_done(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secrets),  cmocka_unit_test(test_ordinary),
		cmocka_unit_test(test_arguable), cmocka_unit_test(test_words),
		cmocka_unit_test(test_time),     cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
