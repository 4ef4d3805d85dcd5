"""The package builds, installs into an empty environment, and works there."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]

PROGRAM = """
import sys
import signalbox, signalbox.testing
box = signalbox.testing.FakeBox({"checkout-v2": True})
assert box.boolean("checkout-v2", default=False)() is True
assert not {"asyncio", "openfeature", "structlog", "loguru", "django", "pydantic"} & set(sys.modules), sys.modules.keys()
print(signalbox.__version__)
"""


def run(*command: str | Path, cwd: Path) -> str:
    ended = subprocess.run([str(each) for each in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_wheel(tmp_path: Path) -> None:
    # The environment of the tests has hatchling, so nothing is downloaded.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path, PROJECT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert list(tmp_path.glob("*.tar.gz"))
    names = zipfile.ZipFile(wheel).namelist()
    assert "signalbox/py.typed" in names
    assert all(each.startswith(("signalbox/", "signalbox-")) for each in names)
    assert wheel.stat().st_size < 100_000
    (found,) = (each for each in names if each.endswith("LICENSE"))
    assert zipfile.ZipFile(wheel).read(found) == (PROJECT.parents[1] / "LICENSE").read_bytes()
    (metadata,) = (each for each in names if each.endswith("METADATA"))
    required = [line for line in zipfile.ZipFile(wheel).read(metadata).decode().splitlines() if line.startswith("Requires-Dist")]
    assert [each for each in required if "extra ==" not in each] == ["Requires-Dist: websockets>=13"]


@pytest.mark.skipif(os.name == "nt", reason="the paths are of Unix")
def test_wheel_in_an_empty_environment(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, PROJECT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "empty", with_pip=False)
    python = tmp_path / "empty" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel, cwd=tmp_path)
    # The one dependency, as it is installed for the tests.
    import websockets  # noqa: PLC0415

    folder = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    (folder / "websockets").symlink_to(Path(websockets.__file__).parent)
    assert run(python, "-c", PROGRAM, cwd=tmp_path).strip() == __import__("signalbox").__version__
