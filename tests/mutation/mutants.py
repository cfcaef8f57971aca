# SPDX-License-Identifier: Apache-2.0
"""Protections taken away one at a time: what is in the file, what stands there instead, and which tests are tried
first.  What none of these tests notices is tried with the whole conformance table before it counts as survived.

Tests: "run USER WORD", "run@BACKEND USER WORD", "layers USER WORD" (tests/conformance), "unit NAME",
"bats FILE NAME" (the name of a test, or a part of it), "egress PROGRAM WORD..." or "egress BACKEND ROW" (tests/egress).

Left out on purpose, because another check makes the call fail first and its loss alone changes nothing: the look at
the mount namespace before the first mount and at the network once it is entered, privileges_verify(), the checks at the
end of view_root_enter().  That no link is followed to a source and that its inode is compared hold for each other; they
are taken away together.
"""

import collections

Mutant = collections.namedtuple('Mutant', 'file old new why tests')
MUTANTS = []


def mutant(file, why, old, new, *tests):
    MUTANTS.append(Mutant('src/' + file, old, new, why, tests))


# namespaces and descriptors
N = 'backend/native/native.c'
mutant(N, 'the pid namespace', 'shield_is_off(SHIELD_PIDNS) ? 0 : CLONE_NEWPID', '0', 'run self process:')
mutant(N, 'the IPC namespace', 'shield_is_off(SHIELD_IPCNS) ? 0 : CLONE_NEWIPC', '0', 'layers self ipcns')
mutant(N, 'the network namespace', 'flags |= CLONE_NEWNET;', ';', 'run self network:')
mutant('backend/command.c', 'directories as standard input', 'if (S_ISDIR(st.st_mode))', 'if (!st.st_mode)', 'bats cli/native.bats standard descriptor')
mutant(N, 'set-id files', '.denies_set_id = true', '.denies_set_id = false', 'run self set-id')
mutant(N, 'Unix sockets where one can be reached', '.allows_unix = !plan->seals_unix', '.allows_unix = true',
       'run self network:')
mutant(N, 'the UTS namespace', 'CLONE_NEWUTS | ', '', 'layers self namespaces')
mutant(N, 'the cgroup namespace', ' | CLONE_NEWCGROUP |', ' |', 'layers self namespaces')
mutant(N, 'that nothing begins before its start record', 'if (r == 0 && plan->before)', 'if (false)', 'bats cli/audit.bats begins only')
mutant('backend/native/ahead.c', 'sockets that the helper has read', '\treturn ahead_sockets_text;', '\treturn ahead_sockets_text + len;',
       'run self network:')
H = 'backend/native/hold.c'
mutant(H, 'holding on to names that are missing', 'if (r == 0 && got == want)', 'if (r != 0)', 'bats cli/native.bats appears on the host')
mutant('backend/view/step.c', 'whose the held names are', 'st.st_uid == nobody && !(st.st_mode & 0222)', 'fd >= 0',
       'bats cli/native.bats appears on the host')
C = 'backend/native/child.c'
mutant(C, 'a session of its own', '!plan->keeps_group && setsid() < 0', 'false', 'run self session')
mutant(C, 'the name of the machine', 'return (int)raw_call(SYS_sethostname, CHILD_HOSTNAME, sizeof(CHILD_HOSTNAME) - 1);', 'return 0;',
       'run self machine')
mutant(C, 'Landlock', 'return view_landlock(c->program, c->landlock_abi);', 'return 0;', 'layers self landlock')
mutant(C, 'the system call filter', 'return c->is_told_late ? 0 : native_child_filter(c);', 'return 0;', 'run self process:')
mutant('backend/native/start.c', 'the filter when nobody listens', '\t\treturn seccomp_install(c->seccomp);', '\t\treturn 0;', 'layers self listens')
mutant(C, 'giving up privileges', 'return privileges_drop();', 'return 0;', 'run self works:')
mutant(C, 'dying with cordon', 'prctl(PR_SET_PDEATHSIG, SIGKILL) < 0', 'false', 'run self works:', 'layers self tie')
mutant(C, "that the caller's words are not shown", '(void)!proc_hide_words();', ';', 'run self command line')
mutant(C, "the caller's mask of new files", '(void)umask(c->mask);', '', 'run self mask')
mutant('backend/command.c', 'closing descriptors',
       'return fd_cloexec_between(3, COMMAND_FD_LAST);', 'return 0;',
       'run self descriptor')
P = 'backend/confine/privileges.c'
mutant(P, 'capabilities', 'syscall(SYS_capset, &header, none) < 0)\n\t\treturn -errno;\n\treturn privileges_bind();\n}\n\nint privileges_renounce(',
       'false)\n\t\treturn -errno;\n\treturn privileges_bind();\n}\n\nint privileges_renounce(', 'run self works:')
mutant(P, 'no_new_privs', 'prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0', 'false', 'run self works:')
mutant(P, 'that the first process cannot be looked into', 'prctl(PR_SET_DUMPABLE, 0) < 0', 'false', 'run self pid')
mutant(P, "that no core handler of the machine's is started", 'limit.rlim_cur = limit.rlim_max = 1;', ';', 'run self crashes')
for call, jump in (('setrlimit', '1'), ('prlimit64', '2 * SKIP_NULL + 2')):
    mutant('backend/confine/seccomp_answer.c', 'that the limit of core files stays: ' + call,
           'seccomp_jump_equal(b, RLIMIT_CORE, 0, %s);' % jump, 'seccomp_jump_equal(b, 99, 0, %s);' % jump, 'run self crashes')

# Landlock
L = 'backend/confine/landlock.c'
for right, name in (('write_file', 'WRITE_FILE, 1'), ('remove_dir', 'REMOVE_DIR, 1'), ('remove_file', 'REMOVE_FILE, 1'),
                    ('make_dir', 'MAKE_DIR, 1'), ('make_reg', 'MAKE_REG, 1'), ('make_sock', 'MAKE_SOCK, 1'),
                    ('make_fifo', 'MAKE_FIFO, 1'), ('make_sym', 'MAKE_SYM, 1'),
                    ('truncate', 'TRUNCATE, LANDLOCK_ABI_TRUNCATE'), ('ioctl_dev', 'IOCTL_DEV, LANDLOCK_ABI_IOCTL')):
    mutant(L, 'the right ' + right, 'RIGHT("%s", %s, WRITE,' % (right, name), 'RIGHT("%s", %s, READ,' % (right, name),
           'layers self landlock')
mutant(L, 'the right refer', 'RIGHT("refer", REFER, LANDLOCK_ABI_REFER, WRITE,',
       'RIGHT("refer", REFER, LANDLOCK_ABI_REFER, READ,', 'layers self landlock', 'unit test_landlock')
mutant(L, 'the rights of the newest ABI', 'if (landlock_rights_table[i].abi <= abi)\n\t\t\trights |=',
       'if (landlock_rights_table[i].abi < 2)\n\t\t\trights |=', 'layers self landlock', 'unit test_landlock')
mutant(L, 'signals to other processes', 'attr.scoped |= LANDLOCK_SCOPE_SIGNAL;', ';', 'layers self landlock')
mutant(L, 'abstract sockets', 'attr.scoped |= LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET;', ';', 'layers self landlock')

# the filter
S = 'backend/confine/seccomp.c'
mutant(S, 'other architectures', 'seccomp_return(&b, SECCOMP_RET_KILL_PROCESS);', 'seccomp_return(&b, SECCOMP_RET_ALLOW);',
       'layers self seccomp')
mutant(S, 'x32 numbers', 'seccomp_add_range(b, NR_X32, SECCOMP_ACT_KILL);', 'seccomp_add_range(b, NR_X32, SECCOMP_ACT_ALLOW);',
       'layers self seccomp')
A = 'backend/confine/seccomp_answer.c'
mutant(A, 'user namespaces', 'CLONE_NEWIPC | CLONE_NEWUSER |', 'CLONE_NEWIPC |', 'layers self seccomp')
mutant(A, 'set-id bits', '((uint32_t)(S_ISUID | S_ISGID))', '((uint32_t)0)', 'run self set-id')
mutant(A, 'set-id bits of new files', '020000100u ', '0u ', 'run self set-id')
mutant(A, 'typing into the terminal', '#define IOCTL_TIOCSTI 0x5412u', '#define IOCTL_TIOCSTI 0x5499u', 'run self TIOC')
mutant(A, 'pasting into the terminal', '#define IOCTL_TIOCLINUX 0x541cu', '#define IOCTL_TIOCLINUX 0x5499u', 'run self TIOC')
N = 'backend/confine/seccomp_socket.c'
mutant(N, 'socket families', 'seccomp_return_errno(b, EAFNOSUPPORT);\n}\n\n/*\n * Pairs',
       'seccomp_return(b, SECCOMP_RET_ALLOW);\n}\n\n/*\n * Pairs', 'run self network:')
mutant(N, 'netlink protocols', 'seccomp_return_errno(b, EPROTONOSUPPORT);\n\t}\n\tif (b->policy->waits_connect)',
       'seccomp_return(b, SECCOMP_RET_ALLOW);\n\t}\n\tif (b->policy->waits_connect)', 'run self network:')
mutant(N, 'datagram pairs', 'seccomp_jump_equal(b, SOCK_SEQPACKET, 1, 0);', 'seccomp_jump_equal(b, SOCK_DGRAM, 1, 0);',
       'layers self pairs')
D = 'backend/confine/syscalls.def'
for name, numbers, when in (('ptrace', '101, 117', 'NO_PTRACE'), ('process_vm_readv', '310, 270', 'NO_PTRACE'),
                            ('pidfd_getfd', '438, 438', 'NO_TAKING'), ('io_uring_setup', '425, 425', 'ALWAYS'),
                            ('userfaultfd', '323, 282', 'ALWAYS'), ('perf_event_open', '298, 241', 'ALWAYS'),
                            ('add_key', '248, 217', 'ALWAYS'), ('keyctl', '250, 219', 'ALWAYS'),
                            ('bpf', '321, 280', 'ALWAYS'), ('mount', '165, 40', 'ALWAYS'), ('umount2', '166, 39', 'ALWAYS'),
                            ('fsopen', '430, 430', 'ALWAYS'), ('chroot', '161, 51', 'ALWAYS'), ('setns', '308, 268', 'ALWAYS'),
                            ('sethostname', '170, 161', 'ALWAYS')):
    mutant(D, 'the call ' + name, 'SYSCALL(%s, %s, %s, EPERM,' % (name, numbers, when),
           'SYSCALL(%s, -1, -1, %s, EPERM,' % (name, when), 'layers self seccomp', 'unit test_seccomp')
mutant(D, 'the call clone3', 'SYSCALL(clone3, 435, 435, ALWAYS, ENOSYS,', 'SYSCALL(clone3, -1, -1, ALWAYS, ENOSYS,',
       'run self clone3')
mutant(D, 'the call openat2', 'SYSCALL(openat2, 437, 437, NO_SET_ID, ENOSYS,', 'SYSCALL(openat2, -1, -1, NO_SET_ID, ENOSYS,',
       'run self set-id')

# connections made on behalf
for name, numbers, act in (('bind', '49, 200', 'EPERM'), ('listen', '50, 201', 'EPERM'), ('setsockopt', '54, 208', 'SETSOCKOPT')):
    mutant(D, 'TCP that waits: ' + name, 'SYSCALL(%s, %s, WAITS_CONNECT, %s,' % (name, numbers, act),
           'SYSCALL(%s, -1, -1, WAITS_CONNECT, %s,' % (name, act), 'egress landlock race: shut')
for name, numbers, act in (('sendto', '44, 206', 'FAST_OPEN_ARG3'), ('sendmsg', '46, 211', 'FAST_OPEN_ARG2'),
                           ('sendmmsg', '307, 269', 'FAST_OPEN_ARG3')):
    mutant(D, 'fast open by ' + name, 'SYSCALL(%s, %s, WAITS_CONNECT, %s,' % (name, numbers, act),
           'SYSCALL(%s, -1, -1, WAITS_CONNECT, %s,' % (name, act), 'egress landlock race: fastopen', 'unit test_seccomp')
mutant(N, 'protocols of TCP that waits', 'seccomp_jump_equal(b, IPPROTO_TCP, 1, 0);', 'seccomp_jump_equal(b, 262, 1, 0);', 'unit test_seccomp')
mutant('backend/landlock/landlock.c', 'sockets that cannot be connected', 'p.waits_connect = plan->net == PLAN_NET_PROXY;',
       'p.allows_inet |= plan->net == PLAN_NET_PROXY;', 'egress landlock race: shut')
mutant('backend/landlock/bridge.c', 'whoever else comes to the door', 'if (other >= 0 && bridge_is_pair(sock, other))',
       'if (other >= 0 && (bridge_is_pair(sock, other) || true))',
       'unit test_bridge', 'egress landlock race: a stranger')
mutant('backend/landlock/scope.c', 'the table of names of the host', 'r = scope_guard(s, op->path, /* is_denied= */ true);\n\t\tbreak;\n\tcase PLAN_OP_COW:',
       'break;\n\tcase PLAN_OP_COW:', 'egress landlock table: a name of the host')
mutant(L, 'the one port of TCP', '.port = p->tcp_port,', '.port = 0,', 'unit test_landlock')

# the view
B = 'backend/view/build.h'
mutant(B, 'nosuid', '#define ATTRS_COMMON (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)', '#define ATTRS_COMMON (MOUNT_ATTR_NODEV)',
       'layers self no-suid')
mutant(B, 'nodev', '#define ATTRS_COMMON (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)', '#define ATTRS_COMMON (MOUNT_ATTR_NOSUID)',
       'layers self no-dev')
mutant('backend/view/step.h', 'the size of private directories', '#define VIEW_ROOT_SIZE "30%"', '#define VIEW_ROOT_SIZE "50%"',
       'run self memory')
G = 'backend/view/guard.c'
mutant(G, 'what closes denied files', 'S_ISDIR(g->st.st_mode) ? VIEW_CLOSED_DIR : VIEW_CLOSED_FILE,',
       'S_ISDIR(g->st.st_mode) ? VIEW_EMPTY_DIR : VIEW_ABSENT,', 'run self denied')
mutant(G, 'what is there and protected', 'return view_bind(p, g->at, &g->st, ATTRS_COMMON | MOUNT_ATTR_RDONLY);',
       'return view_bind(p, g->at, &g->st, ATTRS_COMMON);', 'run self protected:')
mutant(G, 'what is missing and protected', 'return view_cover(p, g->owner, g->at, VIEW_ABSENT, !g->op->is_looked_for);',
       'return 0;', 'layers self missing')
mutant(G, 'what is missing, protected and needs content', 'return guard_cover_text(p, g);', 'return 0;', 'layers self missing')
mutant('backend/view/layer.c', 'that nobody owns placeholders', 'cache->is_owned ? 0 : step_disown(lower, cache);', '0;',
       'layers self disowned')
mutant(G, 'what stands above denied files', 'view_bind(p, dir, &st, ATTRS_COMMON);', '0;', 'run self above')
V = 'backend/view/program.c'
mutant(V, 'what private directories hold where nothing counts it', 'memory_bytes.value / 4 + 1)', 'memory_bytes.value * 4)',
       'bats cli/limits.bats closed or sized')
mutant(V, 'overlays of placeholders', 'p->guarded[owner] = true;', 'p->guarded[owner] = false;', 'run self protected:')
mutant(V, 'read grants', 'attrs |= MOUNT_ATTR_RDONLY;', ';', 'layers self read-only')
mutant('backend/view/special.c', 'keys of the machine', '{"/proc/keys", true, true},', '', 'run self machine')
mutant('backend/view/special.c', 'that /proc is read-only', 'is_root && !shield_is_off(SHIELD_PROC) ? MOUNT_ATTR_RDONLY : 0;', '0;',
       'layers self proc')
mutant('backend/view/special.c', 'settings of the machine', '{"/proc/sys", false, false},', '', 'unit test_launch')
mutant('backend/view/special.c', 'the timers of the machine', '{"/proc/timer_list", true, false},', '', 'run self machine')
mutant('backend/view/public.c', "root's private files", 'MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY', 'MOUNT_ATTR_RDONLY',
       'run self password')
T = 'backend/view/step.c'
mutant('backend/view/root.c', 'letting go of the old root', 'return (int)raw_call(SYS_umount2, ".", MNT_DETACH);', 'return 0;',
       'layers self parent')
mutant(T, 'what a source was when the plan was made', 'int fd = step_open(AT_FDCWD, step->source);\n',
       'int fd = open(step->source, O_PATH | O_CLOEXEC);\n\n\tif (fd >= 0)\n\t\treturn fd;\n', 'run self race:', 'run nobody race:')
mutant('backend/view/layer.c', 'that no attribute is written on a workspace', 'step_option(fs, "uuid", "null");', 'fs;',
       'run self host:')
mutant('backend/view/trace.c', 'attributes on the host', '(void)fremovexattr(fd, trace_names[i]);', ';', 'run self host:')

# the plan
F = 'core/fsplan.c'
U = 'core/fsguard.c'
mutant(U, "the machine's credentials", 'r = fsguard_add_system_credentials(b);', ';', 'run self hashes')
mutant(U, "the machine's credentials by a group", 'faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0 &&', 'geteuid() != 0 &&',
       'bats cli/protected.bats group of the caller')
mutant(U, 'credentials', 'i < credential_path_count; i++', 'i < 1; i++', 'run self credentials')
mutant(U, 'our own state', 'const char *own[] = {b->in->state_dir, b->in->config_dir, b->in->runtime_dir};',
       'const char *own[] = {NULL, b->in->config_dir, b->in->runtime_dir};', 'run self state')
mutant(U, 'protected names in the workspace', 'r = fsguard_protect_names(b, b->workspace);', 'r = 0;', 'run self protected:')
mutant(U, 'protected names in home', 'r = fsguard_protect_names(b, b->home);', 'r = 0;', 'run self mode')
mutant(U, 'names that the policy protects', 'r = fsguard_add_listed(b, PLAN_OP_PROTECT, &b->in->policy->protected_paths);',
       'r = 0;', 'run self policy')
mutant(U, 'repositories', 'r = fsgit_protect_dir(b, path);', 'r = 0;', 'run self git:')
mutant('core/fsgit.c', 'what a repository is configured to run', 'return fsgit_configured(b, gitdir,\n', 'return b ? 0 : fsgit_configured(b, gitdir,\n',
       'run self git:')
mutant(U, 'pointers to repositories', 'r = fsguard_protect_pointer(b, path, names);', 'r = 0;', 'run self git:')
mutant(U, 'globs', 'if (!glob_match(denied->items[i].text, full))', 'if (true)', 'run self glob')
mutant(U, 'where a protected link leads',
       'return fsbuild_add(b, (struct plan_op){.kind = kind, .path = real, .is_dir = n->is_dir});', 'return 0;', 'run self link')
mutant(U, 'sockets of the system', 'r = fsguard_deny_sockets(b);', 'r = 0;', 'run self network:')
mutant(U, 'that of sockets only connections are passed by', 'strncmp(at, "0001 03 ", 8) == 0', 'strncmp(at, "0001 0", 6) == 0', 'run self network:')
mutant(F, 'sockets in grants', 'if (!is_rw || strcmp(real, b->workspace) != 0)', 'if (false)', 'layers self Unix')
mutant(F, 'grants that are links', 'if (fsgrant_leads_out(b->workspace, path, real))', 'if (false)', 'run self policy:')
mutant('core/fsgrant.c', 'grants of the machine', 'if (!why)', 'if (true)', 'run self policy:')
mutant(F, 'a private home', 'r = fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_TMPFS,\n\t\t\t\t\t    .path = b->home,',
       'r = fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_BIND_RW,\n\t\t\t\t\t    .path = b->home,', 'run self write:')
mutant(F, 'mode read-only', 'm->permissions == PERMISSION_RW && p->fs_mode != FS_READ_ONLY', 'm->permissions == PERMISSION_RW',
       'run self mode')
W = 'workspace/protected.c'
mutant(W, 'one protected name', '\t{".mcp.json", false},\n', '', 'run self protected:')
mutant(W, 'one credential', '\t".git-credentials",\n', '', 'run self credentials')
mutant(W, 'the configuration of a repository', '\t{"config", false, ""},\n', '', 'run self git:')
I = 'workspace/gitdir.c'
mutant(I, 'pointers that do not point back', 'gitdir_points_back(l.gitdir, workspace) &&', '', 'run self git:')
mutant(I, 'pointers that a call made up', 'gitdir_belongs(l.gitdir, l.commondir, workspace)', 'true', 'run self git:')
mutant(I, 'repositories taken apart', '(config && gitdir_has_config(path))', 'false', 'run self git:')
K = 'workspace/walk.c'
mutant(K, 'directories that changed since they were remembered', ' ||\n\t    walk_ctime_ns(&st) != d.ctime_ns)', ')', 'unit test_walk')
mutant(K, 'directories that changed while they were remembered', 'ctime_ns < w->begun_ns - WALK_SETTLED_NS &&', '', 'unit test_walk')
mutant('workspace/cow/commit.c', 'directories that were exchanged outside', 'if (moved_is(&c->moved, ch->path) != 0)', 'if (false)',
       'bats cli/cow.bats exchanged outside')
mutant('workspace/gitconfig.c', "the user's aliases", 'case SECTION_OTHER:\n\tcase SECTION_COUNT:\n\t\tbreak;\n\t}\n\treturn false;',
       'case SECTION_OTHER:\n\tcase SECTION_COUNT:\n\t\tbreak;\n\t}\n\treturn true;', 'run self configuration', 'unit test_workspace')

# the environment, the supervisor, the choice
mutant('core/environment.c', 'the scrubbed environment', 'return shield_is_off(SHIELD_SCRUB) ||', 'return true ||',
       'run self environment')
# macOS's half of the supervisor
mutant('run/catch_darwin.c', 'that a signal that was told of is taken away', '\tcatch_swallow(ret->sig);\n', '', 'unit test_supervise_kqueue')
mutant('run/catch_darwin.c', 'hearing of signals', 'if (sigismember(set, sig) != 1)', 'if (sig > 0)', 'unit test_supervise_kqueue')
mutant('backend/noop/start_darwin.c', 'waiting for the execution', 'if (r > 0)\n', 'if (r < 0)\n', 'unit test_supervise_kqueue')
mutant('base/path_open_darwin.c', 'that no link is followed on the way', 'O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC',
       'O_RDONLY | O_DIRECTORY | O_CLOEXEC', 'unit test_darwin')
mutant('base/path_open_darwin.c', 'that nothing above is opened', 'if (strcmp(name, "..") == 0)', 'if (!*name)', 'unit test_darwin')
mutant('backend/registry.c', 'what no backend of the build gives', '\tret->guarantees &= ~registry_lacks;\n', '', 'unit test_darwin')
R = 'run/supervise.c'
mutant(R, 'the end after the timeout', 's->result->is_timed_out = true;\n\t\tsupervise_end(s);', 's->result->is_timed_out = true;',
       'unit test_supervise')
mutant(R, 'SIGKILL after the grace', 'case PHASE_TERMINATING:\n\t\tsupervise_kill(s);', 'case PHASE_TERMINATING:',
       'unit test_supervise')
mutant(R, 'the end of an output flood', 'if (s->budget.is_exceeded)\n\t\t\tsupervise_end(s);', '', 'run self flood')
mutant('backend/select.c', 'guarantees that a backend lacks', 'return INELIGIBLE_LACKS;', 'return ELIGIBLE;', 'unit test_select')
mutant('backend/select.c', 'the level that was asked for', 'return INELIGIBLE_FLOOR;', 'return ELIGIBLE;', 'unit test_select')
mutant('core/needs.c', 'that every call needs protected names', 'GUARANTEE_BIT(DENY_INSIDE_ALLOW) | GUARANTEE_BIT(PROTECT_MISSING) |',
       '0 |', 'unit test_pipeline', 'unit test_needs')

# gvisor
G = 'backend/gvisor/spec.c'
mutant(G, 'files are changed where the covers are seen', '"--directfs=false",', '',
       'bats cli/gvisor.bats neither replaced nor removed')
mutant(G, "gVisor's own network", 'is_closed ? "--network=none" : "--network=host"', '"--network=host"',
       'bats cli/gvisor.bats no network')
mutant('backend/gvisor/gvisor.c', 'no promise of write-xor-execute', ' | GUARANTEE_BIT(WRITE_XOR_EXECUTE))', ')',
       'bats cli/gvisor.bats a denied name')
mutant('backend/launch/launch.c', 'that gVisor ends who writes to nobody', 's->pumps_stdout = fstat(', 's->pumps_stdout = false && fstat(',
       'bats cli/gvisor.bats ended by SIGPIPE')
mutant('backend/launch/launch.c', "that the caller's pipes stay as they are", 'tool->bundle && i < (int)ARRAY_LEN(own)', 'false && i < (int)ARRAY_LEN(own)',
       'bats cli/gvisor.bats stay as they are')
mutant('backend/launch/inner.c', 'that /proc is covered', '\t\tif (r == 0)\n\t\t\tr = inner_is_covered(path);', '', 'bats cli/kin.bats the launcher misses')
mutant('backend/launch/launch.c', 'what is denied in another /proc', 'line->n_covers++;\n				if (is_proc)',
       'if (is_proc)', 'bats cli/gvisor.bats a denied name')
# Firecracker
mutant('backend/vm/share_core.c', 'that a share follows no link', 'RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS',
       '0', 'bats cli/firecracker.bats nothing leads out')
mutant('backend/firecracker/engine.c', 'that Firecracker does not see the view', 'umount2(ROOM_VIEW, MNT_DETACH) < 0 ||', 'false ||',
       'bats cli/firecracker.bats nothing leads out', 'bats cli/firecracker.bats')
# WebAssembly
W = 'backend/wasm/'
mutant(W + 'host.c', 'the metering of fuel', 'engine.cost_limit(engine.statistics(vm), (uint64_t)c->fuel);', '(void)vm;',
       'bats cli/wasm.bats an endless loop')
mutant(W + 'cache.c', 'the digest of a compiled module', 'memcmp(data, digest, SHA256_HEX_LEN - 1) != 0', 'false',
       'bats cli/wasm.bats a compiled module')
mutant(W + 'wasm.c', 'an engine that the call could write', 'plan_op_is_writable(plan->ops[i].kind) &&', 'false &&',
       'bats cli/wasm.bats an engine in a directory')
mutant(W + 'preopen.c', "that a module does not get the system's directories", 'kind == PLAN_OP_BIND_RO ||',
       'kind == PLAN_OP_SYSTEM || kind == PLAN_OP_PROC || kind == PLAN_OP_BIND_RO ||', 'unit test_wasm')
mutant(W + 'wasm.c', 'the empty environment of an engine', 'h->plan.envp = wasm_no_environment;', '',
       'bats cli/wasm.bats arguments, variables')
# what came later
mutant('core/fsgrant.c', 'that a link to a listed mount gives no more than the listing',
       'return !fsgrant_is_submount(p, real) || fsgrant_is_writable(p, real);', 'return real && p;', 'bats cli/cow.bats')
mutant('backend/container/container.c', 'a runtime that the policy names is tried by itself', 'r = container_runtime(e, plan, socket_path, err);',
       'r = plan->runtime && strcmp(plan->runtime, "third") == 0 ? container_runtime(e, plan, socket_path, err) : 0;',
       'bats cli/container.bats another runtime of the engine')
mutant('backend/container/container.c', 'what a directory that stands for the system may not have in it', ': container_check_root(plan, c->root, err);',
       ': 0;', 'bats cli/container.bats a directory that does not stand')
mutant('backend/container/root.c', 'places of steps in a directory that stands for the system', 'if (!root_lacks(r, path))', 'if (true)',
       'bats cli/container.bats a directory stands for')
mutant('backend/container/inside.c', 'what the kernel of a runtime lacks', 'call < 0 || lacks.len > 0', 'call < 0',
       'bats cli/container.bats gVisor as a runtime')
mutant('backend/container/inside.c', 'that limits are in force in a container', 'r = inside_limits(&parcel.plan, &err);', 'r = 0;',
       'bats cli/container.bats leaves limits out')
mutant('backend/container/inside.c', 'that a limit which is not shown is refused', 'SPEC_OWN_PROCESSES, &what);\n\n\tif (r == 0)',
       'SPEC_OWN_PROCESSES, &what);\n\n\tif (r == 0 || r == -ENOENT)', 'bats cli/container.bats no control group')
mutant('backend/container/group.c', 'that a limit is not a larger one', '(uint64_t)value <= most', '(uint64_t)value > 0', 'unit test_group')
mutant('backend/container/group.c', 'that each limit is looked at', 'r == 0 && i < ARRAY_LEN(rows)', 'r == 0 && i < 1', 'unit test_group')
mutant('backend/devenv/terms.c', "the runtime of a project's container", 'json_str(j, "Runtime", d->plan->runtime);', '(void)j;',
       'bats cli/container_env.bats a runtime that the policy names')
mutant('backend/devenv/client.c', 'that limits of another runtime are not promised', 'set &= ~(GUARANTEE_BIT(MEMORY_TREE) | GUARANTEE_BIT(MEMORY_PROCESS) |',
       'set &= ~(GUARANTEE_BIT(PIDS) |', 'bats cli/container_env.bats a runtime that the policy names')
mutant('backend/devenv/hold.c', 'our filter where the engine has none', 'setsid() < 0 || hold_filter() < 0 ||', 'setsid() < 0 ||',
       'bats cli/container_env.bats gVisor as the runtime')
mutant('backend/devenv/hold.c', 'that a command waits for the look at its container', '< 0 || !hold_is_checked() ||',
       '< 0 || (null < 0 && !hold_is_checked()) ||', 'bats cli/container_env.bats not what was asked for')
mutant('backend/devenv/hold.c', 'the end of what a command left', '(void)kill(hold_number(pid), SIGKILL);', ';',
       'bats cli/container_env.bats nothing that a command started')
TURNS = 'bats cli/container_env.bats turns on who ends it'
mutant('backend/devenv/hold.c', 'that who cannot list processes ends the container', '\t\thold_give_up();', '\t\t;', TURNS)
mutant('backend/devenv/hold.c', 'that the first process looks for what is left', 'kill(1, HOLD_BEGIN) < 0 ||', 'false ||', TURNS)
mutant('backend/devenv/hold.c', 'that the parent of a command cannot be looked into', 'null < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||', 'null < 0 ||', TURNS)
mutant('backend/devenv/hold.c', 'that a parent which was stopped is killed', "(p[2] == 'T' || p[2] == 't')", "p[2] == '-'", TURNS)
mutant('backend/devenv/main.c', 'that a command which ended with its container was lost', 'r = work_lost(w, id, code);', 'r = 0;', TURNS)
mutant('run/supervise.c', 'a kernel that was lost', '((s->tells_end && !has_status)', '((false && !has_status)',
       'bats cli/gvisor.bats killed in the middle')
mutant('run/supervise.c', 'an engine of modules that was lost', 's->is_engine && outcome_is_fault(end.signal)', 'false', 'bats cli/wasm.bats crashes')
mutant('backend/launch/launch.c', "that a command on gVisor cannot kill who tells its end", 'policy.lacks_link_attributes = policy.guards_first =',
       'policy.lacks_link_attributes =', 'bats cli/gvisor.bats killed in the middle')
mutant('backend/launch/inner.c', 'a process group of the command on gVisor', 'watcher.leads_group = call.setting.has_kernel;', '',
       'bats cli/gvisor.bats killed in the middle')
mutant('backend/scratch.c', 'that a note waits for its own call alone', 'id = line + 1;', ';', 'bats cli/container_faults.bats what native leaves')
mutant('backend/container/warm.c', 'how many containers wait', 'warm_count(registry, NULL) >= WARM_TOTAL', 'false', 'unit test_warm')
mutant('proxy/exfil.c', 'codings that nobody can read where values are sought', 'is_sought = b->secrets[i].is_inside && !e->passes[i];',
       'is_sought = false;', 'unit test_exfil')
mutant('backend/vm/wire.c', 'room for what a stream sends', 'return vm_link_has_room(l, WIRE_CHUNK + WIRE_SPARE);', 'return l != NULL;',
       'unit test_vm')
mutant('backend/native/child.c', 'that the command may use all processors', 'if (c->cpus.bytes == 0)', 'if (c->cpus.bytes >= 0)',
       'bats cli/start.bats all processors')
mutant('backend/native/ahead.c', 'the cgroup namespace that is made ahead', 'CLONE_NEWCGROUP);', '0);', 'layers self namespaces')
mutant('backend/native/serve.c', "a sandbox's own home and place for files", 'serve_environment(host ? host->env : NULL, words + request->n_args + 1);',
       'serve_environment(NULL, words + request->n_args + 1);',
       'bats cli/sandbox_backends.bats')
mutant('backend/native/start.c', 'that a call cannot look into who serves', 'r = landlock_step_below();', 'r = 0;',
       'bats cli/sandbox_backends.bats even where who serves is open')
mutant('backend/native/still.c', 'that nobody else is looked at where there is no pid namespace', '(has_host_pids && still_is_other((pid_t)pid))',
       '(has_host_pids && still_is_other((pid_t)pid) && pid == 0)',
       'bats cli/sandbox_backends.bats by signals')
mutant('backend/landlock/child.c', 'that who serves is in the domain of the commands', 'int r = c->watcher.is_scoped ? landlock_scope_signals() : -EPERM;',
       'int r = c ? 0 : -EPERM;', 'bats cli/sandbox_backends.bats')
mutant('core/keeper_plan.c', 'that a list of hosts is refused where it cannot be held between calls', 'if (b->copies_workspace && egress_is_needed(p))',
       'if (false)', 'bats cli/sandbox_backends.bats')
mutant('backend/native/serve.c', 'signals of the caller as bytes', 'serve_pass(s, command, byte);', '(void)byte;', 'bats cli/sandbox_backends.bats')
mutant('backend/vm/guest_group.c', 'the share of the processor in a machine', 'c->head.cpu_percent * (GROUP_PERIOD_US / 100), period', '0, period',
       'bats cli/qemu.bats')
mutant('backend/vm/guest_group.c', 'the memory of all processes in a machine', 'group_limit(GUEST_GROUP "/memory.max", c->head.memory_bytes, "")',
       'group_limit(GUEST_GROUP "/memory.max", 0, "")', 'bats cli/qemu.bats')
mutant('lib/wrap.c', 'every option of a wrapped command', 'r == 0 && i < o->words.n', 'r == 0 && i + 1 < o->words.n', 'bats lib/wrap.bats')
mutant('backend/native/child.c', 'that a command waits for its proxy', 'r = doors_await(c->served);', 'r = 0;', 'egress kill self 1')
mutant('proxy/loop.c', 'the word that the proxy serves', 'r = proxy_is_serving(p);', 'r = p ? 0 : proxy_is_serving(p);', 'egress kill self 1')
mutant('inspect/shell/run.c', 'who writes when a list or a pipeline is redirected', 'run_outputs(r, call, before);', "(void)before;", "unit test_command")
mutant('inspect/shell/exec.c', 'what programs that nobody listed are told to run', 'launch_guess(r, c);', '', 'unit test_command')
mutant('inspect/shell/word.c', 'that a word goes on where the grammar tears it', 'end = shell_tree_torn_end(r->tree, end);', 'end += 0;',
       'unit test_command')
mutant('inspect/shell/run.c', 'that a command writes into a pipe', 'r->m->commands[i].is_piped |= r->m->commands[i].group == group;', ';',
       'bats cli/families.bats dangerous commands')
mutant('inspect/shell/launch_hook.c', 'what expect spawns', 'value = hook_spawn(r, value);', 'value = NULL;',
       'bats cli/families.bats dangerous commands')
mutant('inspect/shell/launch_guess.c', 'the command that a script of sed runs', 'guess_sed(r, c);', ';',
       'bats cli/families.bats dangerous commands')
mutant('secrets/leak_assigned.c', 'that the nearest name before an entry tells what its value is', 'while (kind == NAME_PLAIN && name > from) {',
       'while (false) {', 'unit test_leak')
mutant('inspect/code/when_command.c', 'that some programs run what they are given', 'return !is_launcher(program);', 'return true;',
       'bats cli/programs.bats programs that do harm')
mutant('inspect/code/reach.c', 'items of dictionaries', '*v = *code_eval(s, value);', ';', 'bats cli/programs.bats programs that do harm')
mutant('secrets/needle_form.c', 'that pieces end where lines do', "if (value[i - 1] == '\\n')", 'if (value[i - 1] == 0)', 'unit test_needle')
mutant('proxy/exchange.c', 'how often a server speaks before its answer', '++x->interim > EXCHANGE_INTERIM_MAX', 'false',
       'egress run self before')
mutant('core/keeper_ask.c', 'that a host allowed once is closed when the call ends', 'if (a->proxy && proxy_take_back(a->proxy, (uint32_t)i) < 0)', 'if (false)',
       'egress run self ask:')
mutant('core/sandbox_set.c', 'that a snapshot of a copy gives back only what the sandbox had changed', 'if (strcmp(text, which) == 0)', 'if (text)',
       'bats cli/sandbox_backends.bats')
mutant('core/keeper.c', 'that nobody is asked where a tainted session was', 'if (k->is_tainted)\n\t\treturn -1;', 'if (k->is_tainted && k->turns == 0)\n\t\treturn -1;',
       'egress run self tainted')
mutant('core/fsguard.c', 'that a policy in force is not written by its call', 'r = fsguard_protect_policy(b);', 'r = b ? 0 : fsguard_protect_policy(b);',
       'bats cli/outfile.bats the policy of a call', 'run self protected: agent')
mutant('workspace/protected.c', "that a project's own policy is protected", '{".cordon.yaml", false},', '{".cordon.yanl", false},', 'run self protected: .cordon')
mutant('cli/outfile.c', 'that a report is not written through a link', 'if (is_there && S_ISLNK(st.st_mode))', 'if (false)', 'bats cli/outfile.bats through a link')
mutant('base/io.c', 'that a report takes the place of what a call wrote', 'renameat(dirfd, temp, dirfd, path) < 0', 'linkat(dirfd, temp, dirfd, path, 0) < 0',
       'bats cli/outfile.bats whatever the call')
mutant('core/grants.c', 'that a socket is not granted through a link', 'if (fsgrant_leads_out(in->workspace, sockets->items[i].text, real))', 'if (false)',
       'bats cli/outfile.bats a socket')

# the caller's terminal
S = 'run/supervise.c'
mutant(S, "that the caller's terminal is no standard input inside", 'if (isatty(plan->stdin_fd) != 1 || backend->info->level == LEVEL_NONE)',
       'if (backend->info)', 'bats cli/streams.bats streams on bwrap')
mutant(S, 'that output to a terminal goes through us', '(o->uses_terminal && isatty(fd) == 1)', 'false', 'bats cli/streams.bats streams on landlock')
mutant(S, 'the filter of what a pipe brings to a terminal', 'if (sink >= 0 && isatty(sink) == 1)', 'if (sink < -1)',
       'bats cli/streams.bats streams on landlock')
mutant('run/vtrules.c', 'that nobody asks who cannot read the answer', '(row->asks && f->is_deaf)', 'false', 'unit test_vtfilter')
mutant('run/show.c', 'the filter of output that was held', 'if (isatty(fd) != 1)', 'if (fd >= 0)', 'bats cli/streams.bats streams on native')
mutant('cli/out.c', 'the filter of what verbs show', 'if (isatty(o->fd) != 1)', 'if (o->fd >= 0)', 'bats cli/streams.bats shown:')
mutant('cli/body_learn.c', 'a terminal of its own for what is learned from', '.uses_terminal = true,', '', 'bats cli/streams.bats is learned from')
mutant('core/fsdeny.c', 'that sensitive files beyond the limit are not forgotten', '*ret_is_cut = true;', ';',
       'bats cli/session.bats more names')
mutant('core/since.c', 'that those of a layer are not either', 'w->is_sensitive_cut = true;', ';', 'bats cli/sandbox_report.bats more names')
mutant('core/since.c', 'that a copy may have secrets where it cannot be looked at', ' || (is_copy && ret->is_cut)', '',
       'bats cli/sandbox_report.bats a copy hides')
mutant('core/keeper_view.c', 'that a sandbox remembers that some are not watched', 'if (view->is_sensitive_cut)', 'if (view->n == 0)',
       'bats cli/sandbox_report.bats more names')
mutant('core/remember.c', 'that what was not watched counts as opened', 'if (r == 0 && report->result.misses_opened &&', 'if (r == 1 &&',
       'bats cli/session.bats more names')
mutant('hook/before.c', 'that what a search names is read', 'r = before_path(b, named.v[k], false);', ';', 'bats cli/hook.bats files:')
mutant('hook/search.c', 'that a glob with stars reaches credentials', 'if (hit == SEARCH_NAMED)', 'if (hit > SEARCH_NAMED)', 'bats cli/hook.bats files:')
mutant('hook/search.c', 'that a search of home reaches credentials', 's->ret->is_kind |= hit == SEARCH_KIND;', ';', 'bats cli/hook.bats files:',
       'unit test_cli_hook')
mutant('hook/search.c', 'that a glob may leave its directory', 'if (rest > glob + strspn(glob, "/") &&', 'if (s->lists_only && rest > glob + strspn(glob, "/") &&',
       'bats cli/hook.bats files:')
mutant('hook/search.c', 'that a glob may lead behind a link', 'return r == 0 && behind ?', 'return r == 0 && behind && !rest ?', 'bats cli/hook.bats files:')
mutant('hook/before.c', 'that blanks around a path are taken off', 'if (r == 0 && trimmed && b->answer->act != HOOK_ACT_DENY)',
       'if (r == 0 && trimmed && !b)', 'bats cli/hook.bats files:')
mutant('backend/seen.c', 'that a message hides nothing', 'e->cause = SEEN_CAUSE_NONE;', ';', 'unit test_seen', 'bats cli/denied.bats messages hide')
mutant('backend/seen.c', 'the room that messages have', 'if (is_inferred && s->n_inferred >= LIMIT_SEEN_INFERRED)',
       'if (is_inferred && s->n_inferred > LIMIT_SEEN)', 'unit test_seen', 'bats cli/denied.bats messages hide')
mutant('core/learn.c', 'that a message grants nothing', '|| d->is_inferred)', '|| !d)', 'bats cli/learn.bats only a message')
mutant('backend/confine/syscalls.def', 'that a descriptor sends the first process of gVisor nothing', 'GUARDS_FIRST, FCNTL_FIRST,', 'ALWAYS, FCNTL,',
       'bats cli/gvisor.bats killed in the middle')
mutant('workspace/cow/commit.c', 'that what a commit makes a repository is told of', 'if (c->rows[i]->op != CHANGE_DELETED &&',
       'if (commit_is_dir_made(c->rows[i]) &&', 'bats cli/sandbox_report.bats repository')
mutant('core/workset.c', 'that what a call makes a repository is told of', 'if (r < 0 || !is_git || (runs.n == 0 && !is_made))',
       'if (r < 0 || !is_git || !is_made)', 'bats cli/sandbox_report.bats repository')
mutant('cli/sandbox_exec.c', 'that a person is told of it', 'findings_print(report, "exec");', ';', 'bats cli/sandbox_report.bats repository')
mutant('run/opened.c', 'that a file which is renamed counts as opened', 'if (events & IN_MOVE_SELF)\n\t\treturn true;', '',
       'bats cli/session.bats gets another name')
mutant('run/opened.c', 'that one with a new name does', 'return st.st_nlink > f->links && !f->is_dir;', 'return false;',
       'bats cli/session.bats gets another name')
mutant('run/opened.c', 'that one with a new name instead does', '? f->links <= 1 :', '? false :',
       'bats cli/session.bats gets another name')
mutant('run/opened.c', 'that our own closed file may be opened', ' || st.st_uid == geteuid()', '', 'bats cli/session.bats closed before')
mutant('core/approve_text.c', 'that a question says what the call is run under', 'r = approve_scene(call, out, err);', 'r = approve_scene(&(struct approve_call){0}, out, err);',
       'bats cli/run.bats the question says')
mutant('core/approve_text.c', 'that blanks hide nothing of a question', 'count > APPROVE_BLANKS', 'count > LIMIT_ARG_BYTES', 'bats cli/run.bats the question says')
mutant('core/approve_text.c', 'that a question says what it leaves out', 'if (r == 0 && rows.n > APPROVE_ROWS_MAX)', 'if (r > 0)',
       'bats cli/run.bats the question says')

# requests that say one thing to the rules and another to a server
mutant('proxy/refuse.c', 'a body where none is allowed', 'if (!reads || head->body == HTTP_BODY_NONE)', 'if (head)',
       'egress run self chunks')
mutant('proxy/refuse.c', 'fields that name another request', 'reads || is_narrow ? httpclaim_field(head) : NULL', 'NULL', 'egress run self X-Forwarded-Uri')
mutant('proxy/refuse.c', 'a query that names another method', 'name = httpclaim_query(head->path);', ';', 'egress run self ?_method')
mutant('proxy/exchange.c', 'fields after a body', 'return !exchange_has_trailer(c);', 'return true;', 'egress run self rules:')
mutant('net/authority.c', 'methods in small letters', '&& !authority_is_method(method, method))', '&& !method)', 'unit test_authority')
mutant('net/authority.c', 'other names of a path that is closed', '(rule->is_denial && authority_closes_path(rule->paths[i], path))', 'false',
       'unit test_authority')
mutant('net/authority.c', 'paths of two minds', 'return !authority_has_lookalike(out);', 'return true;', 'unit test_authority')
mutant('net/httphead.c', 'fields like those that frame a message', 'if (http_is_disguised(f->name))', 'if (false)', 'unit test_wire')

# what makes git run commands
mutant('workspace/gitini.c', 'that a value goes on in the next line', "if (c == '\\n' || c == GITINI_END)\n\t\treturn;\n\tbuf_char(&g->value, (char)(c == 't'",
       "if (c == '\\n' || c == GITINI_END) {\n\t\tg->p -= c == '\\n';\n\t\treturn;\n\t}\n\tbuf_char(&g->value, (char)(c == 't'", 'unit test_workspace')
mutant('workspace/gitexec.c', 'programs that nobody listed, and all others', 'if (!gitexec_match(e))', 'if (!e->value[0] || gitexec_match(e) != gitexec_rows)',
       'unit test_workspace')
mutant('workspace/gitexec.c', 'what a new repository shares with another directory', 'if (r == 0 && gitdir_common(gitdir, &common) == 0 &&', 'if (r > 0 &&',
       'bats cli/protected.bats shares')
mutant('core/fsgit.c', "programs that git's configuration names", 'r = fsgit_protect_word(b, trees->v[k], word);\n\t\t\twhile', 'while',
       'bats cli/protected.bats programs of')
mutant('core/fsgit.c', "what the person's own configuration names", 'return r < 0 ? r : fsgit_person(b, &named.trees);', 'return r;',
       'bats cli/protected.bats programs of')
mutant('core/fsgit.c', 'what a repository around the workspace names', 'return fsgit_configured(b, gitdir, dir);', 'return 0;',
       'bats cli/protected.bats programs of')

# what others do, and what they wait for
mutant('backend/confine/seccomp_answer.c', 'leases', '{FCNTL_SETLEASE, FCNTL_NOTIFY}', '{FCNTL_NOTIFY, FCNTL_NOTIFY}', 'unit test_seccomp')
mutant('backend/landlock/broker_meta.c', 'that a watch is held to what can be read', 'opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);',
       'opened = dup3(watcher, 99, O_CLOEXEC);', 'run@landlock self watching')
mutant('scan/tree.c', 'that no pipe is waited for', 'return S_ISREG(st.st_mode) ? io_read_all(', 'return st.st_mode ? io_read_all(', 'bats cli/scan.bats a pipe where')
mutant('scan/tree.c', 'that a repository among the files acts', 'e = tree_bare(t, dirfd, path);', 'e = 0;', 'bats cli/scan_trees.bats hostile')
mutant('scan/read_embedded.c', 'that commands in other languages count', 'f->level < THREAT_HIGH', 'f->level <= THREAT_CRITICAL',
       'bats cli/scan_trees.bats hostile')
mutant('scan/read_embedded.c', 'that only grave ones do', 'f->level < THREAT_HIGH', 'f->level < THREAT_LOW', 'bats cli/scan_trees.bats ordinary')
mutant('scan/read_build.c', 'that recipes go on over lines', 'len = build_continued(r, line, len);', ';', 'bats cli/scan_trees.bats ordinary')
mutant('workspace/cow/node.c', 'that what one of two files has behind a hole counts', 'at = other < next ? other : next;', 'at = next;', 'unit test_cow')
mutant('cli/out.c', 'that a diff hides none of its lines', 'if (!isatty(o->fd)) {\n\t\tout_add(', 'if (len) {\n\t\tout_add(', 'bats cli/term.bats diff hides')

# what an earlier call may have prepared, and what nobody inside does
mutant('backend/chroot/child.c', 'the one that watches over the watcher', 'r = watcher_guard(&c->watcher);', 'r = 0;', 'bats cli/kin.bats who kills the watcher')
mutant('backend/confine/watcher.c', 'that no call goes on without it', 'if (pid == w->guard)', 'if (pid == 0)', 'bats cli/kin.bats who kills the watcher')
mutant('hook/before.c', 'where a link and dot-dot behind it lead', 'r = look_behind_links(&b->scene->place, path, &behind);', 'r = 0;', 'bats cli/hook.bats dot-dot')
mutant('hook/before.c', "where a search's do", 'r = look_behind_links(&s->place, b->roots.v[i], &behind);', 'r = 0;', 'bats cli/hook.bats dot-dot')
mutant('hook/before.c', 'URLs of files where a path is meant', 'int r = look_is_file_url(path) ? before_file_url(b, path, write) : 0;', 'int r = 0;',
       'bats cli/hook.bats dot-dot')
