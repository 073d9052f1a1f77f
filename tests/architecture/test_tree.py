"""The shape of the tree: short files, no forgotten top-level folders."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {
    "pyproject.toml", "README.md", "README.ja.md", "LICENSE", ".gitignore", ".ci",
    "pagedesk", "kernels", "resources", "tests", "packaging",
}  # fmt: skip
MAX_LINES = 400


def tracked_files() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).exists()]


def test_no_python_file_is_longer_than_400_lines():
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines()) for path in tracked_files() if path.suffix == ".py"
    }

    assert lengths
    assert {str(path): length for path, length in lengths.items() if length > MAX_LINES} == {}


def test_the_top_level_holds_only_the_agreed_names():
    assert {path.relative_to(ROOT).parts[0] for path in tracked_files()} <= TOP_LEVEL


def test_no_file_in_git_is_large():
    assert {str(path): path.stat().st_size for path in tracked_files() if path.stat().st_size > 400_000} == {}
