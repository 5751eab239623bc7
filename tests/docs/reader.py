"""A reader who follows a page: saves its files, runs its Python and types its commands, in order.

Duetime runs in the process of the test, with a stepped clock. What a page starts in a terminal of
its own (`duetime local`, `uvicorn`, `flask run`) is loaded here and answers in the same process.
"""

import ast
import importlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import typer.main

from duetime.cli import app as cli
from duetime.local.declared_schedules import Call, DeclaredSchedules
from duetime.local.reload import Reloader
from tests.curl import curl
from tests.docs.page import Block, commands

DUETIME = "http://127.0.0.1:8080"
SITE = "http://127.0.0.1:8000"  # where the pages run their web applications
ID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")  # of a task or a schedule
FILE_IN_COMMAND = re.compile(r"\$\(cat ([\w.-]+)\)")
BEFOREHAND = ("git", "cd", ".", "python3", "make", "pip")  # this environment is the reader's
# The other plugins that are installed here take seconds to load.
PLUGIN = ("--disable-plugin-autoload", "-p", "duetime.testing.plugin")


class Reader:
    """`output` is what each command has printed; `$ID` and `ID` in a command are the last id that
    one has named."""

    def __init__(self, url: str, shell: Any, run_due: Callable[[], None], call: Call) -> None:
        self.names: dict[str, Any] = {"__name__": "page"}
        self.output: dict[str, str] = {}
        self.failed: dict[str, str] = {}  # what each command printed that failed
        self.site: httpx.Client | None = None
        self._url, self._shell, self._run_due, self._call = url, shell, run_due, call
        self._id = ""
        self._reloader: Reloader | None = None
        self._schedules: DeclaredSchedules | None = None

    def read(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            try:
                self._follow(block)
            except BaseException as error:
                error.add_note(f"at {block}")
                raise

    def _follow(self, block: Block) -> None:
        if block.of_another_system:
            if block.language == "python":
                ast.parse(block.text)
        elif block.is_file:
            path = Path(block.title)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:  # a second block with the same title is added to it
                file.write(f"\n\n{block.text}" if file.tell() else block.text)
            self._reload()
        elif block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, block.page, "exec"), self.names)
        elif block.language == "sh":
            for command in commands(block.text):
                self.type(command)
        else:
            assert block.language in ("text", "json"), f"{block.language} cannot be checked"

    def type(self, command: str) -> str:
        """Returns what the command prints. One that fails is also in `failed`."""
        typed = FILE_IN_COMMAND.sub(lambda found: Path(found[1]).read_text(), command)
        words = shlex.split(re.sub(r"\$?\bID\b", self._id, typed), comments=True)
        match words:
            case ["duetime", "local", *options]:
                self._start(options)
                printed, code = "", 0
            case ["duetime", *rest]:
                result = self._shell(*rest)
                printed, code = result.output, result.exit_code
            case ["curl", *rest]:
                answer = curl(rest, self._send)
                printed, code = answer.text, int(not answer.is_success)
            case ["uvicorn" | "flask", *_]:
                self._serve(words)
                printed, code = "", 0
            case ["export", setting]:
                name, _, value = setting.partition("=")
                os.environ[name] = value
                printed, code = "", 0
            case ["pytest", *rest]:
                printed, code = _run([sys.executable, "-m", "pytest", *PLUGIN, *rest])
            case ["mypy", *rest]:
                printed, code = _run([sys.executable, "-m", "mypy", *rest])
            case ["python", script, *rest]:
                printed, code = _run_here(script, rest)
            case [first, *_] if first in BEFOREHAND:
                _check_extras(command)
                printed, code = "", 0
            case _:
                printed, code = _run(words)
        self._run_due()
        self.output[command] = printed
        if code:
            self.failed[command] = printed
        if named := ID.findall(printed):
            self._id = named[0]
        return printed

    def _start(self, options: list[str]) -> None:
        """Loads the handlers of `duetime local …`, after a check of all of its options."""
        group: Any = typer.main.get_command(cli)
        given = group.commands["local"].make_context("local", list(options)).params
        if not given["handlers"]:
            return
        sources = [str(source) for source in given["handlers"]]
        self._reloader = Reloader(sources)
        assert self._reloader.load() == []  # each of them registers a handler
        self._schedules = DeclaredSchedules(sources, self._call)
        self._schedules.sync()

    def _reload(self) -> None:
        """Does what the runner does when files have changed. The second poll finds them whole."""
        if self._reloader is not None and self._schedules is not None:
            self._reloader.poll()
            if self._reloader.poll() is not None:
                self._schedules.sync()

    def _serve(self, words: list[str]) -> None:
        if words[0] == "uvicorn":
            from fastapi.testclient import TestClient

            module, _, name = words[1].partition(":")
            app = getattr(importlib.import_module(module), name)
            self.site = TestClient(app, base_url=SITE)
            self.site.__enter__()  # starts the lifespan
        else:
            module = words[words.index("--app") + 1]
            self.site = wsgi_client(importlib.import_module(module).app)

    def _send(self, method: str, url: str, **request: Any) -> httpx.Response:
        if url.startswith(DUETIME):
            return httpx.request(method, url.replace(DUETIME, self._url), **request)
        assert url.startswith(SITE)
        assert self.site is not None, "nothing was started at this address"
        return self.site.request(method, url, **request)


def wsgi_client(app: Any) -> httpx.Client:
    return httpx.Client(transport=httpx.WSGITransport(app=app), base_url=SITE)


def _run_here(script: str, arguments: list[str]) -> tuple[str, int]:
    """Runs a script in this process, where waiting for a task runs it."""
    printed = io.StringIO()
    given = patch.object(sys, "argv", [script, *arguments])
    with redirect_stdout(printed), redirect_stderr(printed), given:
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            return printed.getvalue(), int(end.code or 0)
    return printed.getvalue(), 0


def _run(words: list[str]) -> tuple[str, int]:
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr, ran.returncode


def _check_extras(command: str) -> None:
    from duetime.extras import PACKAGES

    for extras in re.findall(r"duetime\[([\w,]+)\]", command):
        assert set(extras.split(",")) <= PACKAGES.keys(), command
