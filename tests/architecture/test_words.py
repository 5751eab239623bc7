"""One word, one meaning: identifiers and files avoid words that mean nothing, and private coinages.

A name is the term that a practitioner would search for: worker pool, follow-up, retry policy.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EMPTY = frozenset({"job", "manager", "helper", "util", "common"})
COINED = frozenset(
    {
        *("crew", "book", "bookkeeper", "bell"),  # worker pool, attempt loop, event
        *("debt", "owe", "owed", "owing", "pay", "paid"),  # follow-up
        *("told", "tell", "telling"),  # describe, report, log
        *("touch", "touched", "passing"),  # DST note, superseded fire time
        *("settle", "settling"),  # acknowledge, decide
        *("stand", "standing", "stood"),  # stored, valid
        *("whoever", "nobody", "somebody"),  # the role that acts
    }
)
NOT_USED = EMPTY | COINED
FORCED_BY_A_LIBRARY: frozenset[str] = frozenset()  # whole identifiers, each with its reason


def words_of(identifier: str) -> list[str]:
    """`JobRescuers` and `job_rescuers` are `job`, `rescuer`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)
    return [word.lower().removesuffix("s") for word in words]


def names_given(tree: ast.Module) -> Iterator[str]:
    """What the code itself calls things; what a library calls its own is not our business."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name


def strange(names: Iterator[str] | list[str]) -> set[str]:
    return {
        name
        for name in names
        if name not in FORCED_BY_A_LIBRARY and not NOT_USED.isdisjoint(words_of(name))
    }


def files() -> dict[str, Path]:
    """The files by their names in the repository."""
    paths = [path for top in ("lambdas", "duetime") for path in sorted((ROOT / top).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): path for path in paths}


def test_no_identifier_uses_a_word_that_is_not_ours():
    given = {name: names_given(ast.parse(path.read_text())) for name, path in files().items()}
    assert len(given) > 300
    assert {name: found for name, names in given.items() if (found := strange(names))} == {}


def test_no_file_or_folder_uses_a_word_that_is_not_ours():
    parts = {name: list(Path(name).with_suffix("").parts) for name in files()}
    assert {name: found for name, words in parts.items() if (found := strange(words))} == {}


@pytest.mark.parametrize(
    "source",
    [
        "def run_job(): ...",
        "async def run_jobs(): ...",
        "class LeaseManager: ...",
        "self.max_jobs = 1",
        "def f(*, helper): ...",
        "import aws.items as common",
        "for util in utils: ...",
        "HELPERS: int = 1",
    ],
)
def test_a_word_that_is_not_ours_is_found_wherever_a_name_is_given(source):
    assert strange(names_given(ast.parse(source)))


@pytest.mark.parametrize("word", sorted(NOT_USED))
def test_each_word_that_is_not_ours_is_found_in_every_spelling(word):
    spellings = [word, f"{word}s", f"_{word}", f"run_{word}", f"{word.upper()}_LIMIT", word.title()]

    assert strange(spellings) == set(spellings)


@pytest.mark.parametrize(
    "source",
    [
        "from contextlib import contextmanager",
        "ThreadPoolExecutor(max_workers=4)",
        "utilisation = 1",
        "def commonly(): ...",
        "lane = 'crew'",
        "worker_pool = WorkerPool()",
        "path.touch()",
        "standard = understood",
    ],
)
def test_other_words_and_the_words_of_others_are_left_alone(source):
    assert strange(names_given(ast.parse(source))) == set()
