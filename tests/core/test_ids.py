import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.ids import ALPHABET, LENGTH, RANDOM_BITS, created_at, is_id, new_id
from tests.strategies import moments, task_ids

randomness = st.integers(0, 2**RANDOM_BITS - 1)
any_time = st.integers(0, 2**48 - 1)


@given(any_time, randomness)
def test_id_has_26_characters_of_the_alphabet(now, bits):
    task_id = new_id(now, bits)

    assert len(task_id) == LENGTH
    assert is_id(task_id)


@given(any_time, randomness)
def test_id_contains_the_time_of_its_creation(now, bits):
    assert created_at(new_id(now, bits)) == now


@given(moments, moments, randomness, randomness)
def test_ids_sort_by_time_then_by_randomness(one, other, bits, other_bits):
    expected = (one, bits) < (other, other_bits)

    assert (new_id(one, bits) < new_id(other, other_bits)) == expected


@given(moments, st.sets(randomness, min_size=2, max_size=5))
def test_other_bits_make_another_id(now, many_bits):
    assert len({new_id(now, bits) for bits in many_bits}) == len(many_bits)


def test_the_first_and_the_last_id():
    assert new_id(0, 0) == "0" * LENGTH
    assert new_id(2**48 - 1, 2**RANDOM_BITS - 1) == "7" + "Z" * (LENGTH - 1)


@given(task_ids, st.integers(0, LENGTH - 1), st.characters())
def test_text_with_a_foreign_character_is_not_an_id(task_id, place, character):
    spoiled = task_id[:place] + character + task_id[place + 1 :]
    fits = character in ALPHABET and (place > 0 or character <= "7")

    assert is_id(spoiled) == fits


@pytest.mark.parametrize(
    "text",
    ["", "0" * 25, "0" * 27, "8" + "0" * 25, "0" * 25 + "u", "0" * 25 + "I", "0" * 25 + "\n"],
)
def test_is_id_rejects_other_texts(text):
    assert not is_id(text)
