#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What libcordon exports: headers, version script and library say the same, and it imports nothing
# with which a library could print or end its program.

setup() {
	headers=$BATS_TEST_TMPDIR/headers map=$BATS_TEST_TMPDIR/map library=$BATS_TEST_TMPDIR/library
	python3 - "$SRCDIR"/include/cordon/*.h >"$headers" <<-'EOF'
	import re, sys
	names = set()
	for header in sys.argv[1:]:
	    text = re.sub(r'/\*.*?\*/', '', open(header).read(), flags=re.S)
	    names.update(re.findall(r'\bCORDON_API\b[^;{]*?\b(cordon_\w+)\s*\(', text))
	print('\n'.join(sorted(names)))
	EOF
	sed -n '/^global:/,/^local:/s/^\t\([a-z0-9_]*\);$/\1/p' "$SRCDIR/src/lib/libcordon.map" | LC_ALL=C sort >"$map"
	nm -D --defined-only "$BUILDDIR/src/libcordon.so" | awk '$2 == "T" { sub("@@CORDON_0$", "", $3); print $3 }' |
		LC_ALL=C sort >"$library"
}

@test "every function of the headers is in the version script, and nothing else" {
	[ "$(wc -l <"$headers")" -gt 80 ]
	diff "$headers" "$map"
}

@test "the library exports exactly the version script, all as CORDON_0" {
	diff "$map" "$library"
	run bash -c 'nm -D --defined-only "$BUILDDIR/src/libcordon.so" | grep -v -e "@@CORDON_0$" -e " A CORDON_0$"'
	[ -z "$output" ]
}

@test "a CORDON_API is never without a cordon_ function" {
	run grep -c CORDON_API "$SRCDIR"/include/cordon/*.h
	total=$(cat "$SRCDIR"/include/cordon/*.h | grep -c '^CORDON_API')
	[ "$total" -eq "$(wc -l <"$headers")" ]
}

@test "the soname is libcordon.so.0" {
	objdump -p "$BUILDDIR/src/libcordon.so" | grep -q 'SONAME *libcordon\.so\.0$'
}

@test "nothing that prints, ends the process or changes it is imported" {
	run bash -c 'nm -D --undefined-only "$BUILDDIR/src/libcordon.so" | awk "{ sub(\"@.*\", \"\", \$NF); print \$NF }"'
	[ "$status" -eq 0 ]
	# umask() is there: native calls it in the cloned child, whose mask is its own.
	for name in exit quick_exit abort atexit on_exit printf __printf_chk vprintf puts putchar fprintf \
		__fprintf_chk vfprintf __vfprintf_chk fputs fputc fwrite perror syslog psignal stdout stderr \
		setenv putenv unsetenv clearenv signal setlocale srand rand strtok getenv; do
		if grep -qx -- "$name" <<<"$output"; then
			echo "libcordon imports $name"
			return 1
		fi
	done
}

@test "every exported function is abused in test_lib_silence.c" {
	while read -r name; do
		grep -qw -- "$name" "$SRCDIR/tests/unit/test_lib_silence.c" || {
			echo "$name is not there"
			return 1
		}
	done <"$headers"
}

@test "the man page names every function of the headers, and no other" {
	grep -o 'cordon_[a-z0-9_]*()' "$SRCDIR/man/libcordon.3.scd" | tr -d '()' | LC_ALL=C sort -u |
		grep -vx 'cordon_[a-z_]*_fn' >"$BATS_TEST_TMPDIR/man"
	diff "$headers" "$BATS_TEST_TMPDIR/man"
}
