"""A figure whose title is no question, or whose texts are cut off or touch, is refused while it is drawn."""

from matplotlib.text import Annotation, Text


def check(figure):
    """Raise ValueError unless the title asks a question, every text lies in the figure, and no two touch."""
    title = figure.get_suptitle()
    if not title.endswith(("?", "？")):
        raise ValueError(f"the title must be a question: {title!r}")
    texts = list(shown_texts(figure))
    for i, (text, box) in enumerate(texts):
        if box.x0 < figure.bbox.x0 - 1 or box.x1 > figure.bbox.x1 + 1:
            raise ValueError(f"cut off at a side: {text!r}")
        if box.y0 < figure.bbox.y0 - 1 or box.y1 > figure.bbox.y1 + 1:
            raise ValueError(f"cut off at the top or bottom: {text!r}")
        for other, place in texts[:i]:
            across = min(box.x1, place.x1) - max(box.x0, place.x0)
            down = min(box.y1, place.y1) - max(box.y0, place.y0)
            if across > 1 and down > 3:  # boxes include room for descenders that may not be there
                raise ValueError(f"{text!r} touches {other!r}")


def shown_texts(figure):
    """Yield (text, box in points) for every text that is drawn; labels of ticks outside the axis are not."""
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not (axes.axison and low <= tick.get_loc() <= high):
                    hidden |= {tick.label1, tick.label2}
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            # an annotation's own box includes its arrow
            box = Text.get_window_extent(text) if isinstance(text, Annotation) else text.get_window_extent()
            yield text.get_text(), box
