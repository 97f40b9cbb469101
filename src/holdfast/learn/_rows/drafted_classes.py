"""What a release says about target classes that a schema draft added for missing and for unlisted values."""

from __future__ import annotations

from holdfast._assumption import ACCURACY, Assumption
from holdfast.data._schema import Categorical, Numeric


def drafted_classes(column: Numeric | Categorical) -> tuple[Assumption, ...]:
    """The assumption to report where classes of the target were added by a draft and not declared by anybody.

    >>> ill = Categorical("ill", ["no", "yes"], other="(other)", null="(missing)", taken_from_data=True)
    >>> print(drafted_classes(ill)[0])
    '(other)', '(missing)' are classes of 'ill', by a draft and not by the data: ...
    >>> drafted_classes(Categorical("ill", ["no", "yes"], taken_from_data=True))
    ()
    """
    if not (isinstance(column, Categorical) and column.taken_from_data):
        return ()
    added = [repr(label) for label in column.labels if label not in column.declared_labels]
    if not added:
        return ()
    classes = f"{', '.join(added)} {'are classes' if len(added) > 1 else 'is a class'} of {column.name!r}"
    text = (
        f"{classes}, by a draft and not by the data: rows with a missing or an unlisted value count as having it. "
        f"holdfast schema draft --target {column.name} leaves such rows out; or remove other = and null = from "
        "that column of the schema"
    )
    return (Assumption(kind=ACCURACY, subject=column.name, text=text),)
