# SPDX-License-Identifier: Apache-2.0
# For tests with engines of their own; tests/engines/engine and tests/engines/between say what the words mean.

# engines_start KIND [SIZE]: in setup_file, one after the other; why there is none is in KIND_ABSENT.
engines_start() {
	local said
	if [ -z "${ENGINES-}" ]; then
		ENGINES=$(mktemp -d /var/tmp/cordon-engines-XXXXXX)
		export ENGINES
		chmod 755 "$ENGINES"
	fi
	if said=$("$SRCDIR/tests/engines/engine" start "$1" "$ENGINES/$1" "${@:2}"); then
		export "$(engine_variable "$1")=$said"
	else
		export "$1_ABSENT=$said"
	fi
}

engines_stop() {
	local place
	for place in "$ENGINES"/*/started; do
		[ ! -e "$place" ] || "$SRCDIR/tests/engines/engine" stop "$(dirname "$place")"
	done
	rm -rf "$ENGINES"
}

# engine_variable KIND: what names its socket to cordon.
engine_variable() {
	[ "$1" = podman ] && echo CONTAINER_HOST || echo DOCKER_HOST
}

# has KIND: skips the test where there is no such engine.
has() {
	local absent=$1_ABSENT
	[ -z "${!absent-}" ] || skip "${!absent}"
}

# engine_api KIND METHOD PATH [ARG...]
engine_api() {
	local host
	host=$(engine_variable "$1")
	host=${!host}
	curl -s -X "$2" --unix-socket "${host#unix://}" "http://engine$3" "${@:4}"
}

# between LISTENER ENGINE ACT WORD...: starts it, as SERVER, and waits until it listens.
between() {
	rm -f "$1" "$1.on"
	"$SRCDIR/tests/engines/between" "$@" 3>&- &
	SERVER=$!
	for _ in $(seq 50); do
		[ ! -S "$1" ] || return 0
		sleep 0.1
	done
	return 1
}
