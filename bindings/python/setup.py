"""Builds in a temporary directory: pip leaves no build/ and no tutti.egg-info in the clone.  All else is in pyproject.toml.

SPDX-License-Identifier: BSD-3-Clause"""
import tempfile

from setuptools import setup

with tempfile.TemporaryDirectory() as scratch:
    setup(options={"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}})
