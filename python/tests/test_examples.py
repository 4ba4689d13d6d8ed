"""The notebooks of python/examples run from their first cell to the last."""

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


def test_there_are_examples():
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_a_notebook_runs(example, tmp_path):
    """Each code cell runs without an error, and the last one shows something. Outputs are not kept in the repository."""
    pytest.importorskip("ipykernel")
    for name in ("matplotlib", "pandas"):
        pytest.importorskip(name)
    notebook = nbformat.read(example, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert code[-1].outputs
