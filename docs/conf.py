"""The documentation site: `make docs` builds it into docs/_build/html."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "FocusedCleaner"
author = "The FocusedCleaner developers"
copyright = f"2026, {author}"  # Sphinx's name for it
release = metadata.version("focusedcleaner")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "myst_nb",
    "docstrings",
    "method_pages",
]
exclude_patterns = ["_build", "_ext", "conf.py", "results"]
default_role = "py:obj"  # names in docstrings link to what the API pages document, and are code elsewhere

html_theme = "furo"
html_title = f"FocusedCleaner {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
html_show_sphinx = False
html_copy_source = False
html_extra_path: list[str] = []
pygments_style, pygments_dark_style = "friendly", "github-dark"
language = "en"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("BoolArray", "FloatArray", "IntArray")}
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
napoleon_google_docstring, napoleon_numpy_docstring = True, False
napoleon_use_rtype = False

# The examples are scripts in jupytext's percent format. Each is run once and again only when it has changed.
os.environ["PYTHONWARNINGS"] = (
    "ignore:IProgress not found"  # tqdm's, without ipywidgets; it names this machine's folders
)
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parent / "_build" / "jupyter_cache")
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
