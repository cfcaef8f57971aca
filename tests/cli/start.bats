#!/usr/bin/env bats
# The object that starts the static program (tools/start-object).

setup()
{
  archive=$(cc -print-file-name=libc.a)
  [ -e "$archive" ] || skip "no static C library"
  tool=$SRCDIR/tools/start-object
}

@test "functions that are known are shortened, and a program starts with the object" {
  [ "$(uname -m)" = x86_64 ] || skip "not x86-64"
  grep -q '^VERSION_ID="12"' /etc/os-release || skip "not Debian 12: its C library is not known"
  run "$tool" "$archive" "$BATS_TEST_TMPDIR/start.o"
  [ "$status" -eq 0 ]
  [ "$output" = "start-object: 7 functions shortened" ]
  cat >"$BATS_TEST_TMPDIR/sizes.c" <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	return printf("%ld %ld %ld %ld\n", sysconf(_SC_LEVEL1_DCACHE_SIZE), sysconf(_SC_LEVEL1_DCACHE_LINESIZE),
		      sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL4_CACHE_SIZE)) < 0;
}
END
  cc -static-pie -o "$BATS_TEST_TMPDIR/sizes" "$BATS_TEST_TMPDIR/sizes.c" "$BATS_TEST_TMPDIR/start.o"
  run "$BATS_TEST_TMPDIR/sizes"
  [ "$status" -eq 0 ]
  if grep -q GenuineIntel /proc/cpuinfo; then
    [ "$output" = "32768 64 16777216 0" ]
  fi
}

@test "what functions of the C library are chosen by is known as before" {
  [ "$(uname -m)" = x86_64 ] || skip "not x86-64"
  cat >"$BATS_TEST_TMPDIR/leaves.c" <<'END'
#include <stdio.h>
#include <sys/platform/x86.h>
int main(void)
{
	static const unsigned leaves[] = {CPUID_INDEX_1, CPUID_INDEX_7, CPUID_INDEX_80000001};

	for (unsigned i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
		const struct cpuid_feature *f = __x86_get_cpuid_feature_leaf(leaves[i]);

		/* Without the number of the processor that the first one was asked on. */
		printf("%x %x %x %x\n", f->cpuid_array[2], f->cpuid_array[3], f->active_array[1], f->active_array[2]);
	}
	return 0;
}
END
  cd "$BATS_TEST_TMPDIR"
  "$tool" "$archive" start.o
  cc -static-pie -o before leaves.c || skip "a C library that does not tell"
  cc -static-pie -o after leaves.c start.o
  ./before >before.txt
  ./after >after.txt
  cmp before.txt after.txt
  grep -qv '^0 0 0 0$' after.txt
}

@test "a program that starts with the object asks four questions at most" {
  [ "$(uname -m)" = x86_64 ] || skip "not x86-64"
  grep -q '^VERSION_ID="12"' /etc/os-release || skip "not Debian 12: its C library is not known"
  cat >"$BATS_TEST_TMPDIR/count.c" <<'END'
/* How many cpuid instructions a program executes, step by step. */
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct user_regs_struct regs;
	int status = 0;
	int asked = 0;
	pid_t pid = fork();

	if (pid == 0 && argc > 1 && ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)
		execv(argv[1], argv + 1);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (ptrace(PTRACE_GETREGS, pid, 0, &regs) == 0)
			asked += (ptrace(PTRACE_PEEKTEXT, pid, (void *)regs.rip, 0) & 0xffff) == 0xa20f;
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) < 0)
			return 1;
	}
	return printf("%d\n", asked) < 0;
}
END
  cd "$BATS_TEST_TMPDIR"
  "$tool" "$archive" start.o
  echo 'int main(void) { return 0; }' >empty.c
  cc -o count count.c
  cc -static-pie -o before empty.c
  cc -static-pie -o after empty.c start.o
  [ "$(./count ./after)" -le 4 ]
  [ "$(./count ./before)" -gt 10 ]
}

@test "a function that differs by one byte is left alone, and so is the other" {
  [ "$(uname -m)" = x86_64 ] || skip "not x86-64"
  cd "$BATS_TEST_TMPDIR"
  ar x "$archive" libc-start.o
  place=$((16#$(nm libc-start.o | sed -n 's/ t handle_intel.constprop.0$//p')))
  text=$((16#$(readelf -SW libc-start.o | sed -n 's/.* \.text  *PROGBITS  *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')))
  printf '\220' | dd of=libc-start.o bs=1 seek=$((text + place + 100)) conv=notrunc status=none
  ar rc other.a libc-start.o
  run "$tool" other.a start.o
  [ "$status" -eq 0 ]
  [ "$output" = "start-object: 0 functions shortened" ]
  cmp libc-start.o start.o
}

@test "what is no archive with that object is an error" {
  echo text >"$BATS_TEST_TMPDIR/none.a"
  run "$tool" "$BATS_TEST_TMPDIR/none.a" "$BATS_TEST_TMPDIR/start.o"
  [ "$status" -eq 1 ]
  [[ "$output" == *"has no libc-start.o"* ]]
  [ ! -e "$BATS_TEST_TMPDIR/start.o" ]
}

@test "the command and what it runs may use all processors that the caller may" {
  before=$(grep Cpus_allowed: /proc/self/status)
  cd "$BATS_TEST_TMPDIR"
  run "$CORDON" run -- grep Cpus_allowed: /proc/self/status
  [ "$status" -eq 0 ]
  [ "$output" = "$before" ]
  # And no more than that.
  run taskset -c 0 "$CORDON" run -- grep Cpus_allowed_list: /proc/self/status
  [ "$status" -eq 0 ]
  [ "$output" = "$(printf 'Cpus_allowed_list:\t0')" ]
}
