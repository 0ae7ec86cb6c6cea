"""The notebook runs, and its cells show what they should."""
import shutil

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")


@pytest.fixture
def notebook(root, tmp_path):
    for path in (root / "examples").iterdir():
        shutil.copy(path, tmp_path)
    return nbformat.read(tmp_path / "notebook.ipynb", as_version=4)


def test_outputs_are_stripped(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


def test_cells_show_tables_and_pictures(notebook, tmp_path):
    nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [set(output.get("data", {})) for cell in notebook.cells if cell.cell_type == "code"
             for output in cell.outputs]
    assert {"text/plain", "text/html"} in shown
    assert {"text/plain", "image/png", "image/svg+xml"} in shown
    assert len(nbformat.writes(notebook)) < 3 << 20
