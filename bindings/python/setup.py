"""Build the package in a temporary directory, so that pip leaves no build/ and no tutti.egg-info in the clone.  Add the generated
module tutti._api, which is not in the source tree.  All other settings are in pyproject.toml.

SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import subprocess
import sys
import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
GENERATOR = TOP / "scripts/gen_python_api.py"


def api_module(scratch):
    """Return the text of tutti._api: shipped with the archive, generated from the headers of a clone, or from a source
    distribution."""
    shipped = [p for p in (TOP / "generated/python/_api.py", HERE / "tutti/_api.py") if p.is_file()]
    if GENERATOR.is_file() and TOP / "generated/python/_api.py" not in shipped:
        shipped = [pathlib.Path(scratch, "_api.py")]
        subprocess.run([sys.executable, "-B", GENERATOR, shipped[0]], check=True)
    return shipped[0].read_text(encoding="ascii")


class BuildModules(build_py):
    def run(self):
        super().run()
        package = HERE / "tutti" if getattr(self, "editable_mode", False) else pathlib.Path(self.build_lib, "tutti")
        (package / "_api.py").write_text(API, encoding="ascii")


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        pathlib.Path(base_dir, "tutti/_api.py").write_text(API, encoding="ascii")


with tempfile.TemporaryDirectory() as temporary:
    API = api_module(temporary)
    setup(version=re.search(r'VERSION = "(.*)"', API)[1],
          cmdclass={"build_py": BuildModules, "sdist": SourceDistribution},
          options={"build": {"build_base": temporary}, "egg_info": {"egg_base": temporary}})
