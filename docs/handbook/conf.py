"""Sphinx's settings for the handbook; scripts/handbook.py calls it with a tree of pages."""
import re
from pathlib import Path

project = "Tutti"
author = copyright = "The Tutti authors"
release = re.search(r'TUTTI_VERSION_STRING "(.*)"', Path(__file__).with_name("version").read_text()).group(1)
extensions = ["myst_parser"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown"}
exclude_patterns = ["handbook"]
html_theme = "sphinx_rtd_theme"
html_theme_options = {"navigation_depth": 2, "collapse_navigation": True}
html_static_path = ["static"]
html_css_files = ["handbook.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]
