"""These tests build the package, install it into an empty environment, and use it there."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

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


def test_package(tmp_path: Path) -> None:
    # The environment of the tests has hatchling, so nothing is downloaded.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path, PROJECT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    (source,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        check_source(archive.getnames())
    check_wheel(wheel)
    if os.name != "nt":  # the paths are of Unix
        check_empty_environment(wheel, tmp_path)


def check_source(names: list[str]) -> None:
    folders = {each.split("/")[1] for each in names}
    assert folders == {"src", "README.md", "LICENSE", "PKG-INFO", "pyproject.toml", ".gitignore"}


def check_wheel(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "signalbox/py.typed" in names
    assert all(each.startswith(("signalbox/", "signalbox-")) for each in names)
    assert wheel.stat().st_size < 100_000
    (found,) = (each for each in names if each.endswith("LICENSE"))
    assert zipfile.ZipFile(wheel).read(found) == (PROJECT.parents[1] / "LICENSE").read_bytes()
    (metadata,) = (each for each in names if each.endswith("METADATA"))
    required = [line for line in zipfile.ZipFile(wheel).read(metadata).decode().splitlines() if line.startswith("Requires-Dist")]
    assert [each for each in required if "extra ==" not in each] == ["Requires-Dist: websockets>=13"]


def check_empty_environment(wheel: Path, folder: Path) -> None:
    venv.create(folder / "empty", with_pip=False)
    python = folder / "empty" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel, cwd=folder)
    # The one dependency, as it is installed for the tests.
    import websockets  # noqa: PLC0415

    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    (packages / "websockets").symlink_to(Path(websockets.__file__).parent)
    assert run(python, "-c", PROGRAM, cwd=folder).strip() == __import__("signalbox").__version__
