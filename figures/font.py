"""The figures' own font, so that Chinese labels need no font of the machine and every machine draws the same."""

import hashlib
import os
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "node_modules/@fontsource/noto-sans-sc"
SOURCE = PACKAGE / "files/noto-sans-sc-chinese-simplified-400-normal.woff"  # holds Latin letters too


def make_ttf(folder):
    """Return the path of the font as TrueType, the form matplotlib reads, making it in `folder` if it is not there."""
    name = hashlib.sha256(SOURCE.read_bytes() + Path(__file__).read_bytes()).hexdigest()[:16]
    target = folder / f"{name}.ttf"
    if not target.exists():
        from fontTools.ttLib import TTFont

        font = TTFont(SOURCE, recalcTimestamp=False)
        font.flavor = None
        for record in font["name"].names:  # this weight was cut from a variable font and still calls itself "Thin"
            if record.nameID in (1, 4, 6):
                record.string = {1: "Noto Sans SC", 4: "Noto Sans SC Regular", 6: "NotoSansSC-Regular"}[record.nameID]
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}.part"
        font.save(part)
        part.replace(target)
    return target
