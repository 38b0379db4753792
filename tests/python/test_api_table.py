"""docs/api.md is what the code says."""

from pathlib import Path

from tilewise import _api_table

ROOT = Path(__file__).resolve().parents[2]


def test_api_table_is_current():
    written = (ROOT / "docs" / "api.md").read_text()
    assert written == _api_table.table(), "run: python -m tilewise._api_table > docs/api.md"
