# SPDX-License-Identifier: Apache-2.0
"""Stands where Firecracker would: takes its options, answers on its socket, and plays the machine.

Requests are held to the published description of the interface (schema.json beside this file), without mercy: a path,
method or field that it does not have, a wrong type, a missing field, a value outside its bounds or a request at the
wrong time gets status 400, and the call fails.  The machine's first process is played over the sockets that a vsock
device would connect: it takes a call, and does what the command's words say through the shares of the view.

The file "mode" beside it may name a fault."""
import json
import os
import re
import socket
import struct
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import ninep  # noqa: E402
import play  # noqa: E402

SCHEMA = json.load(open(HERE + '/schema.json'))
MODE = open(HERE + '/mode').read().strip() if os.path.exists(HERE + '/mode') else ''


class Bad(Exception):
    pass


def check(value, schema, where):
    if '$ref' in schema:
        schema = SCHEMA['definitions'][schema['$ref'].rsplit('/', 1)[1]]
    kind = schema.get('type', 'object')
    good = {'object': isinstance(value, dict), 'string': isinstance(value, str),
            'integer': isinstance(value, int) and not isinstance(value, bool),
            'boolean': isinstance(value, bool), 'array': isinstance(value, list)}[kind]
    if not good:
        raise Bad(f'{where}: not of type {kind}')
    if 'enum' in schema and value not in [str(e) for e in schema['enum']]:
        raise Bad(f'{where}: {value!r} is not one of its values')
    if 'minimum' in schema and value < schema['minimum'] or 'maximum' in schema and value > schema['maximum']:
        raise Bad(f'{where}: out of bounds')
    if kind == 'object':
        known = schema.get('properties', {})
        for name in value:
            if name not in known:
                raise Bad(f'{where}: unknown field {name}')
            check(value[name], known[name], f'{where}.{name}')
        for name in schema.get('required', []):
            if name not in value:
                raise Bad(f'{where}: {name} is missing')
    if kind == 'array':
        for item in value:
            check(item, schema['items'], where + '[]')


class Server:
    def __init__(self):
        self.log = []
        self.state = 'new'
        self.done = {}

    def find(self, method, path):
        for template, methods in SCHEMA['paths'].items():
            if re.fullmatch(re.sub(r'\{[^}]*\}', '[A-Za-z0-9_]+', template), path):
                if method.lower() not in methods:
                    raise Bad(f'{path} has no {method}')
                return methods[method.lower()]
        raise Bad(f'no such path: {path}')

    def request(self, method, path, body):
        operation = self.find(method, path)
        wanted = [p for p in operation.get('parameters', []) if p['in'] == 'body']
        if bool(wanted) != bool(body):
            raise Bad(f'{path}: a body too many or too few')
        value = json.loads(body) if body else None
        for parameter in wanted:
            check(value, parameter['schema'], path)
        when = operation['summary'] + operation.get('description', '')
        if 'Pre-boot only' in when and self.state != 'new':
            raise Bad(f'{path}: the machine runs already')
        if 'Post-boot only' in when and self.state == 'new':
            raise Bad(f'{path}: the machine does not run yet')
        self.log.append([method, path, value])
        # What the description says only in words.
        name = path.strip('/').replace('-', '_').replace('/', '_')
        getattr(self, 'do_' + name, lambda v: None)(value)
        self.done[path] = value

    def do_logger(self, value):
        os.close(os.open(value['log_path'], os.O_WRONLY | os.O_NONBLOCK))

    def do_boot_source(self, value):
        if open(value['kernel_image_path'], 'rb').read(4) != b'\x7fELF':
            raise Bad('the kernel is not an ELF file')
        if open(value['initrd_path'], 'rb').read(6) != b'070701':
            raise Bad('the initrd is no archive')

    def do_vsock(self, value):
        self.listen(value['uds_path'])

    def listen(self, path):
        # Firecracker makes the socket for connections from outside, and fails when there is one.
        self.uds = path
        self.host = socket.socket(socket.AF_UNIX)
        self.host.bind(path)
        self.host.listen()

    def do_actions(self, value):
        if value['action_type'] == 'InstanceStart':
            if self.state != 'new':
                raise Bad('started twice')
            for needed in '/boot-source', '/machine-config', '/vsock':
                if needed not in self.done:
                    raise Bad(f'started without {needed}')
            self.start()

    def do_vm(self, value):
        if self.state == 'new':
            raise Bad('/vm: the machine does not run yet')
        self.state = value['state']

    def do_snapshot_create(self, value):
        if self.state != 'Paused':
            raise Bad('a snapshot of a machine that runs')
        saved = {'log': self.log, 'uds': self.uds, 'memory': self.done['/machine-config']['mem_size_mib']}
        with open(value['snapshot_path'], 'w') as f:
            json.dump(saved, f)
        with open(value['mem_file_path'], 'r+b') as f:
            f.write(b'memory of the machine')
            f.truncate(saved['memory'] * 1024 * 1024)

    def do_snapshot_load(self, value):
        if set(self.done) - {'/logger', '/metrics'}:
            raise Bad('a snapshot is loaded into a machine that was configured')
        if ('mem_backend' in value) == ('mem_file_path' in value):
            raise Bad('exactly one of mem_backend and mem_file_path')
        saved = json.load(open(value['snapshot_path']))
        memory = open(value['mem_backend']['backend_path'], 'rb')
        if memory.read(21) != b'memory of the machine' or os.fstat(memory.fileno()).st_size != saved['memory'] << 20:
            raise Bad('that is not its memory')
        self.saved = saved
        self.listen(saved['uds'])
        self.start() if value.get('resume_vm') else None

    def start(self):
        self.state = 'Resumed'
        threading.Thread(target=play.guest, args=(self, MODE), daemon=True).start()


def head_of(f):
    line = f.readline()
    if not line:
        return None
    match = re.fullmatch(rb'(GET|PUT|PATCH) (/[a-z/_-]*) HTTP/1\.1\r\n', line)
    if not match:
        raise Bad('not a request line')
    fields = {}
    while (line := f.readline()) != b'\r\n':
        name, value = re.fullmatch(rb'([A-Za-z-]+): ([^\r\n]*)\r\n', line).groups()
        fields[name.decode().lower()] = value.decode()
    return match[1].decode(), match[2].decode(), fields


def serve(server, f):
    while (head := head_of(f)) is not None:
        method, path, fields = head
        body = f.read(int(fields.get('content-length', 0)))
        status, answer = 204, b''
        if MODE == 'garbage':
            f.write(b'SSH-2.0-OpenSSH\r\n\r\n')
            f.flush()
            continue
        if MODE == 'mute':
            time.sleep(60)
        try:
            if body and fields.get('content-type') != 'application/json':
                raise Bad('a body that is not JSON')
            if MODE == 'refuse' and path == '/snapshot/load':
                raise Bad('the snapshot was made by another version')
            server.request(method, path, body)
        except Exception as e:  # the tests see every slip of ours as a refusal
            status, answer = 400, json.dumps({'fault_message': str(e) or repr(e)}).encode()
        f.write(b'HTTP/1.1 %d \r\nServer: Firecracker API\r\nConnection: keep-alive\r\n' % status)
        f.write(b'Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' % (len(answer), answer) if answer
                else b'\r\n')
        f.flush()


def confined():
    """What Firecracker must not have: the call's view, a capability, a network, other processes than ours."""
    status = open('/proc/self/status').read()
    if os.listdir('/view'):
        raise Bad('it sees the view')
    if not re.search(r'^CapEff:\s0+$', status, re.M) or not re.search(r'^NoNewPrivs:\s1$', status, re.M):
        raise Bad('it has capabilities')
    if len(open('/proc/net/dev').readlines()) > 3:
        raise Bad('it has a network')
    if sorted(os.listdir('/')) != sorted(set(os.listdir('/')) & set(
            'usr bin sbin lib lib32 lib64 nix gnu view run dev proc host'.split())):
        raise Bad('it has more of the host than it needs')


def main():
    if sys.argv[1:2] != ['--api-sock'] or sys.argv[3:4] != ['--id'] or len(sys.argv) != 5:
        sys.exit(f'error: unexpected options {sys.argv[1:]}')
    if MODE == 'crash':
        sys.exit('cannot open /dev/kvm as wished')
    try:
        confined()
    except Bad as e:
        sys.exit(f'not confined: {e}')
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[2])
    listener.listen()
    server = Server()
    while True:
        connection, _ = listener.accept()
        serve(server, connection.makefile('rwb'))


main()
