import pytest

from pagedesk.ui.formats import age, breakable, count, file_size, shortened, speed

NOW = 1_764_400_000.0


def test_thousands_have_a_comma():
    assert count(2112) == "2,112"


@pytest.mark.parametrize(("size", "text"), [(98_362_432, "98 MB"), (4_900_000_000, "4.9 GB")])
def test_file_sizes_are_decimal(size, text):
    assert file_size(size) == text


def test_a_long_path_may_be_broken_over_lines_and_short_words_stay_whole():
    parts = breakable(f"The file /{'x' * 100} is missing.").split("\u200b")
    assert len(parts) == 4
    assert "".join(parts) == f"The file /{'x' * 100} is missing."


def test_a_long_name_keeps_its_beginning_and_its_end():
    assert shortened("Qwen3-8B.gguf") == "Qwen3-8B.gguf"
    assert shortened(f"Qwen3-{'x' * 200}-Q4_K_M.gguf").startswith("Qwen3-x")
    assert shortened(f"Qwen3-{'x' * 200}-Q4_K_M.gguf").endswith("x-Q4_K_M.gguf")
    assert len(shortened("x" * 200)) == 60


def test_a_speed_has_one_decimal():
    assert speed(72) == "72.0 tok/s"


@pytest.mark.parametrize(("seconds", "text"), [(0, "just now"), (59, "just now"), (190, "3 min ago")])
def test_an_age_is_told_in_words(seconds, text):
    assert age(NOW - seconds, NOW) == text
