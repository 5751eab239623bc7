"""What is killed when an isolated handler is: everything below it, whatever state it is in."""

import select
import subprocess
import sys

import pytest

from duetime.executor.isolation import process_tree

# The main thread of the middle process has ended, so the process counts as a zombie, while another
# thread lives, as for a moment whenever a process with threads is killed.
MIDDLE = """
import ctypes, subprocess, threading, time

def start_a_program():
    subprocess.Popen(["sleep", "120"], start_new_session=True)
    ended.wait()
    while True:
        with open("/proc/self/stat") as file:
            if " Z " in file.read():
                break
        time.sleep(0.005)
    print("ready", flush=True)
    time.sleep(120)

ended = threading.Event()
threading.Thread(target=start_a_program).start()
ended.set()
ctypes.CDLL(None).pthread_exit(None)
"""
TOP = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {MIDDLE!r}])"


@pytest.mark.skipif(not process_tree.LINUX, reason="lists processes in /proc")
def test_program_below_a_process_whose_main_thread_has_ended_is_killed():
    top = subprocess.Popen([sys.executable, "-c", TOP], stdout=subprocess.PIPE)
    assert top.stdout is not None
    hung_up = select.poll()
    hung_up.register(top.stdout, select.POLLHUP)
    try:
        assert top.stdout.readline() == b"ready\n"

        assert process_tree.kill_below(top.pid, timeout=60)

        assert hung_up.poll(20_000), "a program still has its standard output"
    finally:
        top.kill()
        top.wait()
        top.stdout.close()
