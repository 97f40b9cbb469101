/* Permutation SGD, one row at a time: the declarations that Python (cffi) and PostgreSQL share.
 * The build strips the lines that begin with '#' and hands the rest to cffi, so there is one copy. */
#ifndef HOLDFAST_SGD_H
#define HOLDFAST_SGD_H
#include <stddef.h>
#include <stdint.h>

enum hf_loss { HF_LOGISTIC, HF_HUBER, HF_SQUARED };

/* HF_REJECTED: a row or label was not finite; it took its place in its batch as a null record.
 * HF_NO_STEP, HF_DIVERGED: the run is over and keeps saying so. */
enum hf_status { HF_OK, HF_REJECTED, HF_BAD_OPTION, HF_NO_STEP, HF_DIVERGED };

/* What is public and fixed before the first row. */
typedef struct {
    size_t dimension;       /* 1 <= d <= 2^24 */
    int64_t batch;          /* b >= 1: rows per batch, and the divisor of every batch */
    int32_t loss;           /* an hf_loss */
    double width;           /* h > 0, HF_HUBER only */
    double label_bound;     /* Y: labels are clipped to [-Y, Y], HF_SQUARED only */
    double row_norm;        /* X in [1e-100, 1e100]: rows are clipped to this L2 norm */
    double penalty;         /* lambda >= 0 */
    double radius;          /* R > 0 of the L2 ball to project on; infinity for none */
    double step_cap;        /* eta_t = min(step_cap, step_scale / (step_offset + t)), t = 1, 2, ... */
    double step_scale;
    double step_offset;
    const double *steps;    /* or the steps themselves, owned by the caller; NULL for the formula */
    int64_t n_steps;
    int64_t average_from;   /* average w_t over t >= this; 0 for the last iterate */
} hf_sgd_options;

typedef struct {
    hf_sgd_options options;
    int64_t step;           /* t: batches closed so far */
    int64_t rows;           /* rows in the open batch, always < b between calls */
    int64_t averaged;       /* iterates in the average */
    int64_t rejected;       /* rows that counted as null records */
    int32_t status;         /* HF_OK, HF_NO_STEP or HF_DIVERGED */
    double *weights;        /* d each, inside the workspace */
    double *gradient;
    double *average;
    double *row;            /* a row brought to unit size; only rows near over- or underflow need it */
} hf_sgd;

/* How many doubles hf_sgd_initialise wants as workspace. */
size_t hf_sgd_workspace(size_t dimension);

/* Start at `weights` (NULL for zero), projected on the ball. */
int hf_sgd_initialise(hf_sgd *state, const hf_sgd_options *options, const double *weights, double *workspace);

/* Take one row; close the batch when it is the b-th. */
int hf_sgd_transition(hf_sgd *state, const double *x, double y);

/* Take n rows, row i at x + i * stride (or order[i], where order is given), until the run is over. */
int hf_sgd_rows(hf_sgd *state, const double *x, size_t stride, const double *y, const int64_t *order, size_t n);

/* Close the open batch if it has a row: the end of a pass. */
int hf_sgd_end_pass(hf_sgd *state);

/* End the pass and write the average, or the last iterate, to out; zeros if the run failed. */
int hf_sgd_final(hf_sgd *state, double *out);

/* The row as the pass sees it: clipped to row_norm, or HF_REJECTED and zeros. */
int hf_clip(const double *x, size_t dimension, double row_norm, double *out);

#endif
