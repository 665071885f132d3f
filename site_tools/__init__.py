"""The build's own code. `site_tools/build.py` is the way in."""
