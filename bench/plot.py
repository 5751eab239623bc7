"""Line charts as PNG files: with matplotlib if it is installed, else with a small writer."""

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from pathlib import Path

Points = Sequence[tuple[float, float]]

COLORS = ((200, 60, 50), (50, 110, 190), (90, 160, 70), (150, 110, 40))
WIDTH, HEIGHT = 420, 260  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 40, 26  # margins of its axes
BLACK, GREY, WHITE = (20, 20, 20), (215, 215, 215), (255, 255, 255)
SCALE = 2  # pixels of a dot of the font

# Each character is five rows of three dots: the bits of five digits.
CHARACTERS = "0123456789%.,-:/ abcdefghijklmnopqrstuvwxyz"
GLYPHS = (
    "75557262277174771717557117471774757711117575775717"  # digits
    "51245000020002400700020201124400000"
    "25755656563444365556746477464434553557557222711152556554444757755"
    "65555255526564425563656553421672222555575555255775552555522271247"
)
FONT = {each: GLYPHS[5 * place : 5 * place + 5] for place, each in enumerate(CHARACTERS)}


@dataclass(frozen=True)
class Panel:
    title: str
    x_label: str
    lines: Mapping[str, Points]
    y_max: float = 100.0


def save(path: Path, panels: Sequence[Panel]) -> str:
    """Draws the panels side by side. Returns what has drawn them."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        path.write_bytes(_drawn(panels))
        return "bench/plot.py"
    matplotlib.use("Agg")
    _with_matplotlib(path, panels)
    return "matplotlib"


def _with_matplotlib(path: Path, panels: Sequence[Panel]) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.5 * len(panels), 3), squeeze=False)
    for panel, axis in zip(panels, axes[0], strict=True):
        for name, points in panel.lines.items():
            axis.plot(*zip(*points, strict=True), label=name)
        axis.set(title=panel.title, xlabel=panel.x_label, ylim=(0, panel.y_max))
        axis.legend()
    figure.tight_layout()
    figure.savefig(path)


class Canvas:
    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._rows = [bytearray(WHITE * width) for _ in range(height)]

    def dot(self, x: int, y: int, color: tuple[int, int, int]) -> None:
        if 0 <= x < self.width and 0 <= y < self.height:
            self._rows[y][3 * x : 3 * x + 3] = bytes(color)

    def line(
        self, start: tuple[float, float], end: tuple[float, float], color: tuple[int, int, int]
    ) -> None:
        (x0, y0), (x1, y1) = start, end
        steps = max(ceil(abs(x1 - x0)), ceil(abs(y1 - y0)), 1)
        for step in range(steps + 1):
            x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            self.dot(round(x), round(y), color)
            self.dot(round(x), round(y) + 1, color)

    def text(self, x: int, y: int, text: str, color: tuple[int, int, int] = BLACK) -> None:
        for number, character in enumerate(text.lower()):
            for row, bits in enumerate(FONT.get(character, FONT[" "])):
                for column in range(3):
                    if int(bits) >> (2 - column) & 1:
                        self._block(x + (number * 4 + column) * SCALE, y + row * SCALE, color)

    def png(self) -> bytes:
        raw = b"".join(b"\0" + bytes(row) for row in self._rows)
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        chunks = (b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)

    def _block(self, x: int, y: int, color: tuple[int, int, int]) -> None:
        for dx in range(SCALE):
            for dy in range(SCALE):
                self.dot(x + dx, y + dy, color)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _drawn(panels: Sequence[Panel]) -> bytes:
    canvas = Canvas(WIDTH * len(panels), HEIGHT)
    for number, panel in enumerate(panels):
        _draw(canvas, WIDTH * number, panel)
    return canvas.png()


def _draw(canvas: Canvas, offset: int, panel: Panel) -> None:
    times = [x for points in panel.lines.values() for x, _ in points]
    first, last = min(times, default=0), max(times, default=1)
    left, right = offset + LEFT, offset + WIDTH - RIGHT
    bottom, top = HEIGHT - BOTTOM, TOP
    canvas.text(left, 6, panel.title)
    for part in range(5):
        value = panel.y_max * part / 4
        y = round(bottom - (bottom - top) * part / 4)
        canvas.line((left, y), (right, y), GREY)
        canvas.text(offset + 4, y - 5, f"{value:.0f}")
    canvas.line((left, top), (left, bottom), BLACK)
    canvas.line((left, bottom), (right, bottom), BLACK)
    canvas.text(left, bottom + 10, f"{first:.0f}")
    canvas.text(right - 8 * len(f"{last:.0f}"), bottom + 10, f"{last:.0f}")
    canvas.text((left + right) // 2 - 4 * len(panel.x_label), bottom + 10, panel.x_label)

    def place(point: tuple[float, float]) -> tuple[float, float]:
        x = left + (right - left) * (point[0] - first) / max(last - first, 1e-9)
        return x, bottom - (bottom - top) * min(point[1], panel.y_max) / panel.y_max

    for number, (name, points) in enumerate(panel.lines.items()):
        color = COLORS[number % len(COLORS)]
        canvas.text(left + number * 90, 22, name, color)
        for start, end in pairwise(points):
            canvas.line(place(start), place(end), color)
