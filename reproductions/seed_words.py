"""What the page on seed 000, figures 4.1 to 4.25, says in words; the numbers are the script's."""

HEAD = "x"
LASSO_WORDS = LOGISTIC_WORDS = DIMENSION_WORDS = MULTINOMIAL_WORDS = THRESHOLD_WORDS = DELTA_WORDS = "x"
