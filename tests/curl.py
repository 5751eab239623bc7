"""Sends what a `curl …` of the documentation would send."""

from collections.abc import Callable

import httpx

Send = Callable[..., httpx.Response]


def curl(words: list[str], send: Send) -> httpx.Response:
    """`words` are those after `curl`; `send` is `request` of httpx, or of one of its clients."""
    method, url, headers, data = None, "", {}, None
    rest = iter(words)
    for word in rest:
        match word:
            case "-s":
                continue
            case "-X":
                method = next(rest)
            case "-H":
                name, _, value = next(rest).partition(": ")
                headers[name] = value
            case "-d":
                data = next(rest)
            case _:
                assert word.startswith("http"), f"this test does not know what {word} means"
                url = word
    return send(method or ("GET" if data is None else "POST"), url, headers=headers, content=data)
