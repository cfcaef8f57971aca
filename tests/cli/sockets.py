#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unix sockets for term.bats: `serve PATH...` answers "NAME:" and what it heard; `ask PATH` says what it got
for "hello"; `many PATH` passes much through many connections at once."""
import os
import socket
import sys
import threading


def serve(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(64)
    while True:
        c, _ = s.accept()
        threading.Thread(target=answer, args=(c, path), daemon=True).start()


def answer(c, path):
    c.sendall(os.path.basename(path).encode() + b":")
    while data := c.recv(65536):
        c.sendall(data)
    c.close()


def ask(path, data):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)

    def send():
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)

    t = threading.Thread(target=send)
    t.start()
    got = b""
    while piece := s.recv(65536):
        got += piece
    t.join()
    return got


def many(path):
    data = os.urandom(1000) * 4000
    wrong = []

    def one():
        if ask(path, data).split(b":", 1)[1] != data:
            wrong.append(1)

    threads = [threading.Thread(target=one) for _ in range(20)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    print(f"{len(threads)} connections, {len(data)} bytes each")


if sys.argv[1] == "serve":
    for name in sys.argv[3:]:
        threading.Thread(target=serve, args=(name,), daemon=True).start()
    serve(sys.argv[2])
elif sys.argv[1] == "ask":
    print(ask(sys.argv[2], b"hello").decode())
else:
    many(sys.argv[2])
