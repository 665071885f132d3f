"""Stability: why softmax turns into NaN, and the forms that do not."""
