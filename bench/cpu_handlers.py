"""A handler that computes for 5 ms, in two forms: see cores.py."""

from duetime import task

ROUNDS = 180_000  # 5 ms on the machine of the figures


def work() -> int:
    total = 0
    for number in range(ROUNDS):
        total += number & 7
    return total


@task("cpu.burn")
def burn() -> int:
    return work()


@task("cpu.isolated", isolated=True)
def isolated() -> int:
    return work()
