#!/usr/bin/env python3
"""Makes a Python wheel of a build of tune, by which `pip install FILE` installs it without root's rights.

    src/wheel.py BUILD [FOLDER]    writes FOLDER/tune-VERSION-...whl (default: BUILD); BUILD is of the preset portable

The wheel has what `cmake --install` installs; pip puts it below the prefix of the environment: bin/tune, libexec/tune,
share/tune and so on. It has no code in Python.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

METADATA = """Metadata-Version: 2.1
Name: tune
Version: {version}
Summary: Autotuner for CUDA, HIP and CPU kernels and for programs
License: MIT
"""

WHEEL = """Wheel-Version: 1.0
Generator: tune
Root-Is-Purelib: false
Tag: {tag}
"""


def version_of(build):
    """The version that CMake knows of the build."""
    cache = build / "CMakeCache.txt"
    if not cache.exists():
        sys.exit(f"wheel: {build} is no build; first: cmake --preset portable && cmake --build --preset portable")
    return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", cache.read_text(), re.MULTILINE)[1]


def needed_glibc(files):
    """The newest version of glibc that these executables and libraries ask for, such as (2, 36)."""
    versions = {(2, 17)}
    for file in files:
        versions.update((int(a), int(b)) for a, b in re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=[.\0])", file))
    return max(versions)


def place_of(path):
    """Where an installed file belongs. The manual lies beside what it links; a wheel has no symbolic links for that."""
    return re.sub("^share/doc/tune/", "share/tune/", path.as_posix())


def make(build, folder):
    version = version_of(build)
    with tempfile.TemporaryDirectory() as stage:
        subprocess.run(["cmake", "--install", build, "--prefix", stage, "--strip"], check=True,
                       stdout=subprocess.DEVNULL)
        files = {place_of(path.relative_to(stage)): (path.read_bytes(), os.access(path, os.X_OK))
                 for path in sorted(pathlib.Path(stage).rglob("*")) if path.is_file() and not path.is_symlink()
                 and not any(parent.is_symlink() for parent in path.parents)}
    major, minor = needed_glibc(text for text, _ in files.values() if text.startswith(b"\x7fELF"))
    tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
    entries = {f"tune-{version}.data/data/{place}": file for place, file in files.items()}
    info = f"tune-{version}.dist-info/"
    entries[info + "METADATA"] = (METADATA.format(version=version).encode(), False)
    entries[info + "WHEEL"] = (WHEEL.format(tag=tag).encode(), False)
    record = "".join(f"{name},sha256={digest_of(text)},{len(text)}\n" for name, (text, _) in entries.items())
    entries[info + "RECORD"] = (f"{record}{info}RECORD,,\n".encode(), False)
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"tune-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (text, executable) in entries.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return wheel


def digest_of(text):
    return base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    print(make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[-1])))
