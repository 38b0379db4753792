"""docs/api.md is what the code says."""

from pathlib import Path

import numpy
import pytest
from tilewise import _api_table

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not numpy.__version__.startswith("2.4."), reason="the table lists the names of NumPy 2.4")
def test_api_table_is_current():
    written = (ROOT / "docs" / "api.md").read_text()
    assert written == _api_table.table(), "run: python -m tilewise._api_table > docs/api.md"
