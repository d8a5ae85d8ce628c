"""Runs a program to its end and prints, as JSON, what it took: python3 rusage.py OUTPUT PROGRAM ARG...

Node tells nothing of a child's CPU time. wait4 tells all of it, with that of the children it waited
for itself. Peak memory cannot come out lower than this interpreter's, about 10 MB: Linux counts
what a process was before its exec. OUTPUT is a file, or "|" for a pipe that cat reads.
"""

import json
import os
import sys
import time

STDOUT = 1
STDIN = 0


def spawn(command, redirections):
    actions = [(os.POSIX_SPAWN_DUP2, fd, to) for fd, to in redirections]
    return os.posix_spawnp(command[0], command, os.environ, file_actions=actions)


def piped_to_reader():
    read_end, write_end = os.pipe()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    reader = spawn(["cat"], [(read_end, STDIN), (nowhere, STDOUT)])
    os.close(read_end)
    return write_end, reader


def open_output(path):
    if path == "|":
        return piped_to_reader()
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), None


def main(path, command):
    output, reader = open_output(path)
    start = time.monotonic()
    program = spawn(command, [(output, STDOUT)])
    os.close(output)
    _, status, usage = os.wait4(program, 0)
    wall = time.monotonic() - start
    if reader is not None:
        os.waitpid(reader, 0)
    report = {
        "code": os.waitstatus_to_exitcode(status),
        "wall": wall,
        "user": usage.ru_utime,
        "system": usage.ru_stime,
        # macOS counts in bytes, Linux in kB
        "peakRss": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    }
    print(json.dumps(report))


main(sys.argv[1], sys.argv[2:])
