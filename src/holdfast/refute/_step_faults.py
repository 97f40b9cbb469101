"""STEP_FAULTS: mistakes in the private steps of a pipeline, each of which replay must see."""

from __future__ import annotations

from holdfast.refute._planting import PlantedFault


def _fault(name: str, target: str, old: str, new: str, why: str, subject: str) -> PlantedFault:
    return PlantedFault(
        name=name,
        target=f"learn._steps.{target}",
        old=old,
        new=new,
        why=why,
        subjects=(subject,),
        test="replay",
    )


STEP_FAULTS: tuple[PlantedFault, ...] = (
    _fault(
        "scaler_replace_counts_once",
        "scaler:box_sensitivity",
        "4.0 if",
        "2.0 if",
        "a row in the place of another moves sums and squares as one more does",
        "scaler replace",
    ),
    _fault(
        "scaler_forgets_the_squares",
        "scaler:box_sensitivity",
        "else 2.0",
        "else 1.0",
        "the sums of squares are released beside the sums, and not counted",
        "scaler add_remove",
    ),
    _fault(
        "scaler_without_its_bounds",
        "scaler:PrivateScaler._rows",
        "np.clip((X - middle) / half, -1.0, 1.0)",
        "(X - middle) / half",
        "values outside the declared bounds are summed as they are",
        "scaler zero_out",
    ),
    _fault(
        "pca_forgets_the_mean",
        "pca:moment_sensitivity",
        "row_norm**2 + 2.0 * constant**2",
        "row_norm**2",
        "the mean is released beside the second moment, and not counted",
        "pca zero_out",
    ),
    _fault(
        "pca_replace_counts_once",
        "pca:moment_sensitivity",
        "adjacency is Adjacency.replace",
        "False",
        "a row in the place of another moves the second moment as one more does",
        "pca replace",
    ),
    _fault(
        "pca_divides_by_private_n",
        "step:release_mean",
        "count = examples.public_count",
        "count = len(examples.features)",
        "the number of rows that is divided by is the true one",
        "pca add_remove",
    ),
    _fault(
        "scaler_half_of_the_noise_by_hand",
        "step:release_mean",
        "account.release(noise.mechanism, total, label=label)",
        "account.release(noise.mechanism, np.zeros_like(total), label=label) * 0.5 + total",
        "noise is drawn for zeros, halved, and added by hand",
        "scaler replace",
    ),
)
