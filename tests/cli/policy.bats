#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `cordon policy validate|show|explain|schema`.

bats_require_minimum_version 1.5.0

setup() {
	CORDON=${CORDON:-$BATS_TEST_DIRNAME/../../build/cordon}
	[ -x "$CORDON" ]
	export HOME=$BATS_TEST_TMPDIR/home CORDON_STATE_DIR=$BATS_TEST_TMPDIR/state CORDON_CONFIG_DIR=$BATS_TEST_TMPDIR/config
	mkdir -p "$HOME" "$BATS_TEST_TMPDIR/work" "$CORDON_CONFIG_DIR"
	cd "$BATS_TEST_TMPDIR/work" || return
}

@test "validate: a good file of each kind, and its kind" {
	printf 'claw: "0.3.0"\nkind: Sandbox\nmetadata: {name: a}\nspec: {level: process}\n' >sandbox.yaml
	printf 'claw: "0.3.0"\nkind: Policy\nmetadata: {name: a}\nspec: {rules: [{id: a, action: allow, scope: all}]}\n' >policy.yaml
	printf 'version: "1"\nverdicts: {thresholds: {suspicious_floor: 0.3, malicious_floor: 0.7}}\ndry_run: true\n' >guard.yaml
	printf 'sandbox: {level: vm}\nenforcement: {enabled: true}\n' >own.yaml
	: >empty.yaml
	run --separate-stderr "$CORDON" policy validate sandbox.yaml policy.yaml guard.yaml own.yaml empty.yaml
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$output")" -eq 5 ]
	[ "$(grep -c ': valid (' <<<"$output")" -eq 5 ]
	[[ ${lines[0]} == *Sandbox* && ${lines[1]} == *Policy* ]]
	[ -z "$stderr" ]
}

@test "validate: file, line and column, a hint, exit 125, and the good ones are still named" {
	printf 'sandbox: {level: none}\n' >good.yaml
	while IFS='|' read -r text place word; do
		printf '%b' "$text" >bad.yaml
		run --separate-stderr "$CORDON" policy validate bad.yaml good.yaml
		echo "$text: $status $stderr"
		[ "$status" -eq 125 ]
		[[ $stderr == *"bad.yaml:$place"*"$word"* ]]
		[[ $output == *"good.yaml: valid"* ]]
	done <<-'END'
		sandbox:\n  level: nonw\n|2:10:|none
		sandbox:\n  levle: none\n|2:3:|level
		sandbox:\n  level: none\n  level: vm\n|3:3:|level
		sandbox:\n  level: [none]\n|2:10:|level
		sandbox:\n  level: vm\n  runtime: docker\n|3:12:|runtime
		sandbox:\n  resource_limits:\n    memory_mb: -1\n|3:16:|memory_mb
		sandbox:\n  capabilities:\n    shell:\n      blocked_patterns: ["("]\n|4:26:|regular expression
		sandbox:\n  capabilities:\n    shell:\n      blocked_patterns: ["(a+)+b"]\n|4:26:|a regular expression that can take
		sandbox:\n\tlevel: none\n|2:|tab
	END
	run --separate-stderr "$CORDON" policy validate no-such.yaml
	[ "$status" -eq 125 ]
	run --separate-stderr "$CORDON" policy validate
	[ "$status" -eq 125 ]
}

# The policy of a file, shown, read again and shown again.
round_trip() { # FILE
	"$CORDON" policy show -p "$1" >shown.yaml 2>/dev/null
	"$CORDON" policy validate shown.yaml >/dev/null
	"$CORDON" policy show -p shown.yaml >again.yaml
	diff shown.yaml again.yaml
	"$CORDON" policy show --json -p "$1" 2>/dev/null >shown.json
	"$CORDON" policy show --json -p shown.yaml >again.json
	diff shown.json again.json
	python3 -m json.tool shown.json >/dev/null
}

@test "show: what it prints is valid and says the same" {
	: >empty.yaml
	round_trip empty.yaml
	# no mounts at all: the workspace must not come back
	printf 'claw: "0.3.0"\nkind: Sandbox\nmetadata: {name: a}\nspec: {level: process, capabilities: {filesystem: {mode: scoped}}}\n' >none.yaml
	round_trip none.yaml
	grep -q '"mount_paths": \[\]' shown.yaml
	cat >all.yaml <<-'END'
		sandbox:
		  level: container
		  workspace: cow
		  image: debian
		  capabilities:
		    network: {mode: allowlist, allowed_hosts: ["*.a.org", "b.org:8443"], allow_private: [10.0.0.0/8], publish: [80]}
		    filesystem: {mode: scoped, mount_paths: [{path: ./sub, permissions: ro}, {path: ~/x, permissions: rw}], denied_paths: ["**/.env", /x], protected_paths: [Makefile]}
		    secrets: {injection: file-mount, grants: [{name: a, hosts: [a.org]}]}
		    shell: {mode: restricted, blocked_commands: ["rm -rf /", "a: 'b' \"c\""], blocked_patterns: ["\\|\\s*bash", "#x"]}
		    caches: [npm]
		    git: {commit: false}
		  environment: {pass: [FOO], set: {A: "1", B: "yes", C: "# x: [y]"}}
		  resource_limits: {memory_mb: 512, timeout_ms: 1500, max_output_bytes: 5, grace_ms: 0}
		policy:
		  rules:
		  - {id: "a: b", action: require-approval, scope: tool, reason: "it's\nso", match: {name: "X*", arguments: {url: "169.*"}}, conditions: {path_within: ./sub}, approval: {timeout_seconds: 5, default_if_timeout: deny}}
		  - {id: "yes", action: allow, scope: all}
		  audit: {retention: 30d, log_inputs: true}
		  input_validation: {max_size_bytes: 5, encoding: utf-8}
		  rate_limits: {tool_calls_per_minute: 3}
		enforcement:
		  enabled: true
		  thresholds: {suspicious_floor: 0.25, malicious_floor: 0.75}
		  overrides: {tool_name: {"B: c": {suspicious_floor: 0.1}}, agent_type: {g: {malicious_floor: 0.9}}}
		  suspicious: {Bash: {filesystem_writable: [/tmp], network_allow: [a.org]}}
		  actions: {SUSPICIOUS: block}
	END
	round_trip all.yaml
}

@test "show: the examples of the originals" {
	[ -n "$SHARED" ] && [ -d "$SHARED/spec/ckp/manifests" ] || skip "../shared not there"
	n=0
	while read -r file; do
		# what is no policy, or refers to files that are not there, has its own message
		"$CORDON" policy validate "$file" >/dev/null 2>&1 || continue
		echo "$file"
		"$CORDON" policy show -p "$file" >shown.yaml 2>/dev/null
		round_trip "$file"
		n=$((n + 1))
	done < <(find "$SHARED/spec/ckp/manifests" -name '*.yaml' | sort | head -40)
	[ "$n" -gt 0 ]
}

# Three layers, each with values of its own.
three_layers() {
	printf 'sandbox:\n  level: none\n  resource_limits:\n    timeout_ms: 9000\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	printf '# project\nsandbox:\n  resource_limits:\n    timeout_ms: 8000\n  capabilities:\n    filesystem:\n      denied_paths: [/project]\n' >.cordon.yaml
	printf 'sandbox:\n  capabilities:\n    filesystem:\n      denied_paths:\n      - /file\n' >p.yaml
}

@test "explain: layer, file and line of each value" {
	three_layers
	run "$CORDON" policy explain -p p.yaml
	[ "$status" -eq 0 ]
	grep -qE "^sandbox.level +none +user $CORDON_CONFIG_DIR/policy.yaml:2:10" <<<"$output"
	grep -qE "^sandbox.resource_limits.timeout_ms +8000 +project .*/.cordon.yaml:4:17" <<<"$output"
	grep -qE "/project +project .*/.cordon.yaml:7:22" <<<"$output"
	grep -qE "/file +--policy p.yaml:5:9" <<<"$output"
	grep -qE "^sandbox.capabilities.network.mode +deny +built-in" <<<"$output"
}

@test "explain --json: the same" {
	three_layers
	"$CORDON" policy explain -p p.yaml --json >e.json
	python3 - <<-'END'
		import json
		rows = json.load(open('e.json'))
		def find(field, value):
		    found = [r for r in rows if r['field'] == field and r['value'] == value]
		    assert len(found) == 1, (field, value, found)
		    return found[0]
		for r in rows:
		    assert r['layer'] and isinstance(r['implied'], bool) and isinstance(r['value'], str), r
		    assert ('line' in r) == ('file' in r) == ('column' in r), r
		    assert r['layer'] != 'built-in' or 'line' not in r, r
		level = find('sandbox.level', 'none')
		assert (level['layer'], level['line'], level['column']) == ('user', 2, 10) and level['file'].endswith('/policy.yaml')
		assert find('sandbox.resource_limits.timeout_ms', '8000')['layer'] == 'project'
		denied = 'sandbox.capabilities.filesystem.denied_paths'
		assert (find(denied, '/project')['layer'], find(denied, '/project')['line']) == ('project', 7)
		assert (find(denied, '/file')['layer'], find(denied, '/file')['line']) == ('--policy', 5)
		assert find('sandbox.capabilities.network.mode', 'deny')['layer'] == 'built-in'
	END
}

@test "the user's file of the original is read where ours is not there" {
	mkdir -p "$HOME/.cloneguard"
	printf 'version: "1"\ndry_run: false\n' >"$HOME/.cloneguard/policy.yaml"
	run "$CORDON" policy explain
	grep -qE "enforcement.dry_run +false +user .*/.cloneguard/policy.yaml:2:" <<<"$output"
	printf 'sandbox: {level: none}\n' >"$CORDON_CONFIG_DIR/policy.yaml"
	run "$CORDON" policy explain
	! grep -q cloneguard <<<"$output" || false
}

@test "schema: JSON, and every field of show is in it" {
	"$CORDON" policy schema >s.json
	"$CORDON" policy show --json >p.json
	python3 - <<-'END'
		import json
		schema, policy = json.load(open('s.json')), json.load(open('p.json'))
		assert schema['type'] == 'object' and schema['additionalProperties'] is False
		def walk(s, p, path):
		    for key, value in p.items():
		        assert key in s['properties'], path + key
		        if isinstance(value, dict) and 'properties' in s['properties'][key]:
		            walk(s['properties'][key], value, path + key + '.')
		walk(schema, policy, '')
	END
}
