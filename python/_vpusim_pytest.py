"""The entry point of the plug-in for pytest, which loads it in every run: so it does not import
vpusim, whose library may not be there, before a test asks for the fixture."""
from pathlib import Path
from typing import Any, Callable

import pytest


@pytest.fixture
def vpu_case(tmp_path: Path) -> Callable[..., Any]:
    """Runs a layer and fails the test where it is wrong or too slow: vpusim.pytest_plugin."""
    from vpusim.pytest_plugin import make_case
    return make_case(tmp_path)
