#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cases of term.bats that need a terminal: each is a function, run by its name.

A case drives a program on a pty as a person would: types keys, waits for text, changes the window.
It ends with an AssertionError, which says what was on the screen, or quietly."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

CORDON = os.environ["CORDON"]
BACKEND = os.environ.get("BACKEND", "native")
WAIT = float(os.environ.get("TERM_WAIT", "20"))


class Term:
    """A program on a pty that is its controlling terminal."""

    def __init__(self, argv, rows=24, columns=80, env=None):
        self.seen = b""
        self.mark = 0
        self.code = None
        told, tell = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.read(told, 1)  # the settings are known
                # A parent that ignores signals must not make job control deaf.
                for sig in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP):
                    signal.signal(sig, signal.SIG_DFL)
                os.environ.update(env or {})
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.execvp(argv[0], argv)
            finally:
                os._exit(99)
        self.before = termios.tcgetattr(self.fd)
        os.write(tell, b"x")
        os.close(told)
        os.close(tell)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, text):
        os.write(self.fd, text if isinstance(text, bytes) else text.encode())

    def read(self, timeout):
        if not select.select([self.fd], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def expect(self, pattern, timeout=WAIT):
        end = time.monotonic() + timeout
        pattern = pattern if isinstance(pattern, bytes) else pattern.encode()
        while True:
            found = re.search(pattern, self.seen[self.mark:])
            if found:
                self.mark += found.end()
                return found
            left = end - time.monotonic()
            assert left > 0, f"no {pattern!r} in {self.seen[self.mark:]!r}"
            if not self.read(left):
                found = re.search(pattern, self.seen[self.mark:])
                assert found, f"ended without {pattern!r}: {self.seen[self.mark:]!r}"

    def lflag(self):
        return termios.tcgetattr(self.fd)[3]

    def is_raw(self):
        return not self.lflag() & termios.ICANON

    def until(self, test, what):
        end = time.monotonic() + WAIT
        while not test():
            assert time.monotonic() < end, f"never: {what}; seen {self.seen!r}"
            self.read(0.02)

    def wait(self):
        """The exit code; reads on meanwhile, so that nobody hangs in a write."""
        end = time.monotonic() + WAIT
        while self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                while self.read(0.1):
                    pass
                break
            assert time.monotonic() < end, f"does not end: {self.seen!r}"
            self.read(0.02)
        return self.code

    def put_back(self):
        """Are the settings what they were?  Asked of the pty, which outlives the program."""
        return termios.tcgetattr(self.fd) == self.before


def run(*words, backend=BACKEND):
    return [CORDON, "run", "-q", "--backend", backend, *words]


def shell(*words):
    """An outer shell with job control."""
    return Term(["bash", "--norc", "--noprofile", "-i"], env={"PS1": "outer$ ", "HISTFILE": ""})


def case_tty():
    t = Term(run("--", "sh", "-c", "tty; test -t 0 && test -t 1 && test -t 2 && echo all"))
    t.expect(r"/dev/pts/\d+\r\nall\r\n")
    assert t.wait() == 0
    assert t.put_back()


def case_noop_tty():
    t = Term([CORDON, "run", "-q", "-l", "none", "--backend", "noop", "--", "sh", "-c",
              "tty; ps -o stat= -p $$; stty size"], rows=31, columns=77)
    t.expect(r"/dev/pts/\d+\r\n")
    t.expect("31 77")
    assert t.wait() == 0
    assert t.put_back()


def case_host_streams():
    """All three are one terminal, and not the caller's."""
    look = "stat -Lc %s=%%t.%%T /proc/self/fd/0"
    t = Term(["sh", "-c", look % "out" + f"; '{CORDON}' run -q --backend {BACKEND} -- sh -c '" + look % "in" +
              "; test -t 0 && test -t 1 && test -t 2 && echo all'"])
    outer = t.expect(r"out=(\w+\.\w+)").group(1)
    inner = t.expect(r"in=(\w+\.\w+)").group(1)
    assert outer != inner, "the caller's terminal is inside"
    t.expect("all")
    assert t.wait() == 0
    assert t.put_back()


def case_size():
    t = Term(run("--", "sh", "-c", "trap 'stty size' WINCH; stty size; while :; do sleep 0.1; done"),
             rows=33, columns=99)
    t.expect("33 99\r\n")
    t.resize(40, 120)
    t.expect("40 120\r\n")
    t.send(b"\x03")
    assert t.wait() == 130, t.code
    assert t.put_back()


def case_interrupt():
    t = Term(run("--", "sh", "-c", "trap 'echo caught; exit 7' INT; echo ready; "
                 "while :; do sleep 0.1; done"))
    t.expect("ready")
    t.send(b"\x03")
    t.expect("caught")
    assert t.wait() == 7
    t = Term(run("--", "sleep", "100"))
    t.until(t.is_raw, "raw")
    time.sleep(0.2)
    t.send(b"\x1c")
    assert t.wait() == 131, t.code
    assert t.put_back()


def case_control_d():
    t = Term(run("--", "cat"))
    t.until(t.is_raw, "raw")
    t.send(b"hello\r")
    t.expect("hello\r\nhello\r\n")
    t.send(b"\x04")
    assert t.wait() == 0


def case_colours():
    t = Term(run("--", "sh", "-c", r"printf '\033]52;c;aGVsbG8=\007\033[31mred\033[0m end\n'"))
    t.expect(rb"\x1b\[31mred\x1b\[0m end")
    t.wait()
    assert b"]52" not in t.seen and b"aGVsbG8" not in t.seen, t.seen


def case_colours_control():
    """Without the sandbox the clipboard is reached."""
    t = Term(["sh", "-c", r"printf '\033]52;c;aGVsbG8=\007end\n'"])
    t.expect(rb"\x1b\]52;c;aGVsbG8=\x07end")


def case_colours_stderr():
    """Output that is a terminal is filtered although input is none, and by way of /dev/tty too."""
    t = Term(["sh", "-c", f"echo in | '{CORDON}' run -q --backend {BACKEND} -- sh -c "
              r"""'read x; printf "\033]52;c;eA==\007got $x\n" >&2; """
              r"""printf "\033]52;c;eA==\007tty\n" >/dev/tty; tty <&2'"""])
    t.expect("got in")
    t.expect("tty")
    t.expect("/dev/pts/")
    t.wait()
    assert b"]52" not in t.seen, t.seen


def case_denied():
    t = Term([CORDON, "run", "--backend", BACKEND, "--", "sh", "-c", "ls /usr; ls /srv"])
    t.expect(r"denied: read /srv \(inferred\): .*allow it with --read /srv")
    t.wait()
    assert b"denied: read /usr" not in t.seen
    t = Term([CORDON, "run", "--backend", BACKEND, "--read", "/srv", "--", "sh", "-c", "ls /srv; echo end"])
    t.expect("end")
    t.wait()
    assert b"denied: " not in t.seen


def case_put_back_screen():
    """What a killed program leaves changed is put back."""
    t = Term(run("-t", "0.3s", "--grace", "100ms", "--", "sh", "-c",
                 r"printf '\033[?1049h\033[?25l\033[31m'; sleep 100"))
    assert t.wait() == 124, t.code
    assert t.seen.endswith(b"\x1b[?25h\x1b[?1049l\x1b[0m"), t.seen
    assert t.put_back()


def case_pipe_keyboard():
    """In `cordon ... | reader` the keys are the reader's."""
    t = Term(["sh", "-c", f"'{CORDON}' run -q --backend {BACKEND} -- sh -c 'echo data; sleep 1' | "
              "{ cat; read key </dev/tty; echo key=$key; }"])
    t.expect("data")
    assert not t.is_raw()
    t.send(b"mine\r")
    t.expect("key=mine")
    t.wait()


def case_pipe_wants():
    """... until the command asks for them."""
    t = Term(["sh", "-c", f"'{CORDON}' run -q --backend {BACKEND} -- sh -c "
              "'echo asking >&2; read x; echo got=$x' | cat"])
    t.expect("asking")
    t.until(t.is_raw, "raw")
    t.send(b"word\r")
    t.expect("got=word")
    t.wait()
    assert t.put_back()


def case_suspend():
    t = shell()
    t.expect(r"outer\$ ")
    t.send(f"'{CORDON}' run -q --backend {BACKEND} -- sh -c 'echo go; sleep 2; echo done; sleep 100'\r")
    t.expect(r"[\r\n]go\r\n")
    t.until(t.is_raw, "raw")
    time.sleep(0.5)  # a shell that is about to execute something waits for a child that stops before it did
    t.send(b"\x1a")
    t.expect("Stopped")
    t.expect(r"outer\$ ")
    t.send(b"echo out=$((1+1))\r")
    t.expect("out=2")
    t.send(b"fg\r")
    t.expect(r"done\r\n")  # the echo of Ctrl-Z may stand before it
    time.sleep(0.5)  # dash forgets a Ctrl-C between two commands
    t.send(b"\x03")
    t.expect(r"outer\$ ")
    t.send(b"echo code=$?; exit\r")
    t.expect("code=130")
    t.wait()


def case_suspend_none():
    """Where the command leads its session: Ctrl-Z neither stops nor ends anything, and Ctrl-C still works."""
    t = shell()
    t.expect(r"outer\$ ")
    t.send(f"'{CORDON}' run -q --backend {BACKEND} -- sh -c 'echo go; sleep 2; echo done; sleep 100'\r")
    t.expect(r"[\r\n]go\r\n")
    t.until(t.is_raw, "raw")
    time.sleep(0.5)
    t.send(b"\x1a")
    t.expect(r"done\r\n")
    time.sleep(0.5)
    t.send(b"\x03")
    t.expect(r"outer\$ ")
    t.send(b"echo code=$?; exit\r")
    t.expect("code=130")
    t.wait()


def case_background():
    """A job in the background runs, and stops when it wants the keyboard."""
    t = shell()
    t.expect(r"outer\$ ")
    t.send(f"'{CORDON}' run -q --backend {BACKEND} -- sh -c "
           "'sleep 0.5; echo one; read x; echo x=$x' &\r")
    t.expect("one\r\n")
    time.sleep(0.5)
    t.send(b"jobs\r")
    t.expect("Stopped")
    t.send(b"fg\r")
    t.until(t.is_raw, "raw")
    time.sleep(0.3)
    t.send(b"key\r")
    t.expect("x=key")
    t.expect(r"outer\$ ")
    t.send(b"exit\r")
    t.wait()


def case_killed():
    """The settings are put back whoever ends what."""
    for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGSEGV):
        t = Term(run("--", "sleep", "100"))
        t.until(t.is_raw, "raw")
        os.kill(t.pid, sig)
        t.wait()
        assert t.put_back(), sig
    t = Term(run("--", "sh", "-c", "kill -9 $$"))
    assert t.wait() == 137, t.code
    assert t.put_back()
    t = Term(run("--", "/nonexistent/command"))
    assert t.wait() == 127, t.code
    assert t.put_back()


def case_output_limit():
    t = Term(run("--max-output", "10k", "--grace", "100ms", "--", "sh", "-c",
                 "while :; do echo 0123456789; done"))
    assert t.wait() != 0
    assert 9000 < len(t.seen) < 13000, len(t.seen)
    assert t.put_back()


def case_flood():
    """Nothing is lost of what a program writes just before its end."""
    t = Term(run("--", "sh", "-c", "seq 1 20000; printf last"))
    assert t.wait() == 0
    assert t.seen.endswith(b"20000\r\nlast"), t.seen[-100:]
    assert t.seen.count(b"\n") == 20000, t.seen.count(b"\n")


def case_no_host_terminal():
    """Nothing inside is the caller's terminal."""
    t = Term(["sh", "-c", f"tty; '{CORDON}' run -q --backend {BACKEND} -- python3 -c '"
              "import os, stat\n"
              "def dev(p):\n"
              "  s = os.stat(p); return (s.st_dev, s.st_rdev)\n"
              "print(\"inside\", len({dev(p) for p in [\"/proc/self/fd/0\", \"/proc/self/fd/1\", "
              "\"/proc/self/fd/2\", \"/dev/pts/0\"]}), os.listdir(\"/dev/pts\"))'"])
    t.expect(r"inside 1 \['ptmx', '0'\]|inside 1 \['0', 'ptmx'\]")
    t.wait()


def in_sandbox_shell(*options):
    t = Term([CORDON, "shell", "-q", "--backend", BACKEND, *options],
             env={"SHELL": "/bin/bash"})
    t.expect(r"\(cordon\)")
    return t


def case_shell():
    t = in_sandbox_shell()
    t.send(b"echo is=$((40+2)) $CORDON_SANDBOX; tty\r")
    # A pty of the host's has no name inside.
    t.expect("is=42 1\r\n/dev/pts/" if BACKEND == "native" else "is=42 1\r\n")
    t.expect(r"\(cordon\)")
    t.send(b"exit 5\r")
    assert t.wait() == 5
    assert t.put_back()


def case_shell_jobs():
    t = in_sandbox_shell()
    t.send(b"sleep 100\r")
    time.sleep(0.3)
    t.send(b"\x1a")
    t.expect("Stopped")
    t.send(b"bg\r")
    t.expect(r"sleep 100 &")
    t.send(b"jobs\r")
    t.expect("Running")
    t.send(b"fg\r")
    t.expect("sleep 100\r")
    time.sleep(0.3)
    t.send(b"\x03")
    t.expect(r"\(cordon\)")
    t.send(b"echo code=$?\r")
    t.expect("code=130")
    t.send(b"exit\r")
    t.wait()
    assert t.put_back()


def case_shell_suspend():
    """`suspend` of the inner shell stops the whole job of the outer one."""
    t = shell()
    t.expect(r"outer\$ ")
    t.send(f"SHELL=/bin/bash '{CORDON}' shell -q --backend {BACKEND}\r")
    t.expect(r"\(cordon\)")
    t.send(b"suspend\r")
    t.expect("Stopped")
    t.expect(r"outer\$ ")
    t.send(b"fg\r")
    time.sleep(0.3)
    t.send(b"echo again=$((1+1))\r")
    t.expect("again=2")
    t.send(b"exit 3\r")
    t.expect(r"outer\$ ")
    t.send(b"echo code=$?; exit\r")
    t.expect("code=3")
    t.wait()


def case_shell_tmux():
    t = in_sandbox_shell()
    t.send(b"tmux -f /dev/null new-session -s x\r")
    t.expect(r"\[x\]")
    t.send(b"echo in=$((40+2)) ${TMUX:+tmux}\r")
    t.expect("in=42 tmux")
    t.send(b"exit\r")
    t.expect("exited")
    t.send(b"exit\r")
    t.wait()
    assert t.put_back()


def main():
    globals()["case_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
