"""What pyproject.toml cannot say: a compiled kernel for every CPython from 3.11 on, or none and a wheel that says so.

Where the kernel cannot be compiled, or HOLDFAST_PURE=1 leaves it out, the wheel is named py3-none-any, and
`holdfast._kernel.implementation` says "numpy" wherever it is installed.
"""

import os
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class HonestWheel(bdist_wheel):
    """Compiles before it takes its name: a platform stands in it only where something was compiled for one."""

    def run(self):
        self.run_command("build_ext")
        compiled = self.get_finalized_command("build_ext").get_outputs()
        if not any(Path(file).is_file() for file in compiled):
            self.distribution.ext_modules = []
            self.root_is_pure, self.py_limited_api = True, False
        super().run()


if os.environ.get("HOLDFAST_PURE") == "1":
    setup()
else:
    setup(
        cffi_modules=["src/holdfast/_kernel/build.py:ffibuilder"],
        cmdclass={"bdist_wheel": HonestWheel},
        options={"bdist_wheel": {"py_limited_api": "cp311"}},
    )
