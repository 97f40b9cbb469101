/* Gradients and Bregman gaps of a sum of losses of linear predictions: the hot loops of the certified sampler.
 * The build strips the lines that begin with '#' and hands the rest to cffi, as for sgd.h. */
#ifndef HOLDFAST_BREGMAN_H
#define HOLDFAST_BREGMAN_H
#include <stddef.h>
#include <stdint.h>

enum hf_gap_loss { HF_GAP_LOGISTIC, HF_GAP_HINGE, HF_GAP_HUBER };
enum hf_verdict { HF_PASSED, HF_FIRED, HF_MORE_WORDS };

/* Rows that are already clipped, and labels as the loss takes them. */
typedef struct {
    size_t rows;
    size_t dimension;
    const double *values;    /* dense rows one after the other, or the entries that are not zero */
    const int64_t *starts;   /* where each row's entries begin, rows + 1 of them; NULL for dense rows */
    const int32_t *columns;  /* the column of each entry; NULL for dense rows */
    const double *labels;
    int32_t loss;            /* an hf_gap_loss */
    double width;            /* of the smoothed hinge, or where the Huber loss becomes linear */
} hf_rows;

/* predictions[i] = <w, x_i>, and sum = the sum of slope_i x_i; block and carry are scratch of `dimension` each. */
void hf_gap_gradient(const hf_rows *data, const double *w, double *predictions, double *sum, double *block,
                     double *carry);

/* The sum over rows of loss(p_i + u_i) - loss(p_i) - slope(p_i) u_i, u_i = <v, x_i>. */
double hf_gap_sum(const hf_rows *data, const double *predictions, const double *v);

/* Rows are met at the times of a Poisson process up to `until`; row i fires with chance gap_i / bound. Three words a
 * meeting: time, row, chance. *clock and *used say how far it came, for a call with more words. */
int hf_gap_thinned(const hf_rows *data, const double *predictions, const double *v, double bound, double until,
                   const uint64_t *words, size_t n_words, double *clock, size_t *used);

#endif
