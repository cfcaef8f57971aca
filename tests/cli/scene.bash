# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Scenes for tests that run as the caller and, from root, as nobody: a directory per user with a workspace w, a
# home, state and configuration, and a copy of the command that both can execute.

SCENE_NOBODY=65534
SCENE_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

scene_make() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	BACKEND=${BACKEND:-native}
	PLACE=$(mktemp -d /tmp/cordon-scene-XXXXXX)
	chmod 755 "$PLACE"
	cp "$CORDON" "$PLACE/cordon"
	WHO=self
	# Nobody but root can chroot.
	[ "$(id -u)" -ne 0 ] || [ "$BACKEND" = chroot ] || WHO='self nobody'
	for who in $WHO; do
		mkdir -p "$PLACE/$who"/{w,h,out,home,state,config}
		printf '[user]\n\tname = N\n\temail = n@example.org\n[init]\n\tdefaultBranch = main\n' >"$PLACE/$who/home/.gitconfig"
		scene_give "$who"
	done
	cd "$PLACE/self/w" || return
	[ "$BACKEND" != nsjail ] || scene_has_nsjail || skip "nsjail is not installed"
	inside self -- true || skip "backend $BACKEND is not available here"
	cd "$PLACE" || return
}

scene_remove() {
	cd / || return
	[ -z "${PLACE-}" ] || rm -rf "$PLACE"
}

# Few machines have it: no distribution's archive does.
scene_has_nsjail() {
	[ -e /usr/bin/nsjail ] || [ -e /bin/nsjail ] || [ -e /usr/local/bin/nsjail ]
}

# Everything of a user's scene is that user's.
scene_give() {
	[ "$1" = self ] || chown -hR "$SCENE_NOBODY:$SCENE_NOBODY" "$PLACE/$1"
}

# as USER COMMAND...: with nothing of the test's environment, in the directory where we are.
as() {
	local who=$1 drop=()
	shift
	[ "$who" = self ] || drop=(setpriv --reuid "$SCENE_NOBODY" --regid "$SCENE_NOBODY" --clear-groups)
	"${drop[@]}" env -i PATH="${TOOL_PATH:-$SCENE_PATH}" HOME="$PLACE/$who/home" LANG=C.UTF-8 USER=n SHELL=/bin/sh \
		CORDON_STATE_DIR="$PLACE/$who/state" CORDON_CONFIG_DIR="$PLACE/$who/config" "$@"
}

# inside USER [OPTION...] -- COMMAND...: the same in a sandbox.
inside() {
	local who=$1
	shift
	as "$who" "$PLACE/cordon" run -q --backend "$BACKEND" "$@"
}

# works SCRIPT [OPTION...]: for every user on the host (the control, in h) and in a sandbox (in w).
works() {
	local script=$1 who
	shift
	for who in $WHO; do
		cd "$PLACE/$who/h" || return
		as "$who" sh -ec "$script" </dev/null >"$PLACE/log" 2>&1 || {
			echo "control of $who: status $?"
			cat "$PLACE/log"
			return 1
		}
		cd "$PLACE/$who/w" || return
		inside "$who" "$@" -- sh -ec "$script" </dev/null >"$PLACE/log" 2>&1 || {
			echo "inside as $who: status $?"
			cat "$PLACE/log"
			return 1
		}
	done
}

# refused SCRIPT [OPTION...]: works on the host, fails inside with a status that is not cordon's own.
refused() {
	local script=$1 who status
	shift
	for who in $WHO; do
		cd "$PLACE/$who/h" || return
		as "$who" sh -ec "$script" </dev/null >"$PLACE/log" 2>&1 || {
			echo "control of $who: status $?"
			cat "$PLACE/log"
			return 1
		}
		cd "$PLACE/$who/w" || return
		status=0
		inside "$who" "$@" -- sh -ec "$script" </dev/null >"$PLACE/log" 2>&1 || status=$?
		if [ "$status" -eq 0 ] || [ "$status" -eq 125 ]; then
			echo "inside as $who: status $status"
			cat "$PLACE/log"
			return 1
		fi
	done
}

# needs TOOL...: in the PATH that the tests use.
needs() {
	local tool
	for tool; do
		PATH=${TOOL_PATH:-$SCENE_PATH} command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}
