# SPDX-License-Identifier: Apache-2.0
# For tests with an engine of their own; tests/engines/between says what the words mean.

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
