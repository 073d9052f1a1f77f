from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from launcher.checks import checks


def launch(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "packaging" / "launch.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_installs_nothing_and_tells_the_two_commands(root: Path) -> None:
    done = launch(root, "--help")

    assert done.returncode == 0
    assert "packaging/launch.py" in done.stdout
    assert "test" in done.stdout


def test_a_wrong_argument_gives_a_sentence_and_no_trace(root: Path) -> None:
    done = launch(root, "--torch", "abacus")

    assert done.returncode == 1
    assert "abacus" in done.stderr
    assert "Traceback" not in done.stderr


def test_launch_itself_is_written_for_pythons_that_are_too_old(root: Path) -> None:
    """Python 2 and early 3 read the whole file before they can refuse it: nothing newer may stand in it."""
    tree = ast.parse((root / "packaging" / "launch.py").read_text(encoding="ascii"))
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Match)

    assert not [node for node in ast.walk(tree) if isinstance(node, newer)]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "__future__"]


def test_the_launcher_needs_the_standard_library_only(root: Path) -> None:
    script = (
        "import sys, pathlib; sys.path.insert(0, 'packaging')\n"
        "for path in pathlib.Path('packaging/launcher').glob('*.py'):\n"
        "    __import__('launcher.' + path.stem)\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], cwd=root, env=environment, check=False)

    assert done.returncode == 0


def test_the_checks_run_from_fast_to_slow() -> None:
    assert [check.title for check in checks([])] == ["format", "lint", "types", "layers", "tests", "long runs"]


def test_long_runs_are_left_out_when_tests_are_named() -> None:
    assert [check.title for check in checks(["tests/unit"])][-1] == "tests"


def test_the_checks_of_a_change_are_the_readmes_test_command(root: Path) -> None:
    last_line = (root / ".ci" / "run").read_text(encoding="utf-8").rstrip().splitlines()[-1]

    assert last_line == "python3 packaging/launch.py test"
