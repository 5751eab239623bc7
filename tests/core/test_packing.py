import pytest

from duetime.core.packing import FAST, PACK_FROM, SMALL, pack, unpack


@pytest.mark.parametrize("level", [FAST, SMALL])
def test_long_text_is_packed_and_unpacked(level: int):
    text = '{"größe": "🚀"}' * 500
    packed = pack(text, level)

    assert isinstance(packed, bytes)
    assert len(packed) < len(text) // 10
    assert unpack(packed) == text


def test_short_text_is_stored_as_it_is():
    text = "x" * (PACK_FROM - 1)

    assert pack(text, SMALL) == text == unpack(text)


def test_text_that_does_not_shrink_is_stored_as_it_is():
    text = "x" * 5_000

    assert pack(text, level=0) == text


@pytest.mark.parametrize("stored", [b"", b"broken", pack("x" * 5_000, FAST)[:-3]])
def test_packed_text_that_is_damaged_cannot_be_read(stored: bytes):
    with pytest.raises(ValueError, match=r"Error -|not complete"):
        unpack(stored)
