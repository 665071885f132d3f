"""The code of the book, one package a chapter.

Nothing is re-exported: import `snippets.temperature.numpy_reference`.
"""
