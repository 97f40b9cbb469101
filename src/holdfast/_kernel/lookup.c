/* Scores and clipped gradients of rows whose features are looked up (soundness notes, sections 16 and 24).
 *
 * A row's features are z = (1, T_1[c_1], ..., T_F[c_F], and one part per pair of columns). Its score w.z is a sum of one
 * number per cell, T_j[c] w_j, and so is |z|^2. Its gradient r z, shortened to the norm C, is a z with
 * a = r min(1, C / (|r| |z|)), and the sum of gradients is T_j^T h_j with h_j[c] the sum of a over the rows of cell c.
 *
 * a is cut towards zero to a whole multiple of a grid, so that |a z| stays within C, and whole numbers are summed: the
 * sum is exact, one row moves it by its own gradient and by nothing else, and the order of rows does not matter. */
#include "lookup.h"
#include <math.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "lookup.c needs IEEE arithmetic: fast-math lets a NaN pass the clipping"
#endif

/* Where one row's numbers lie in a table. */
static void cells_of(const hf_lookup *o, const uint16_t *codes, int64_t *at)
{
    size_t j;

    for (j = 0; j < o->columns; j++) {
        int64_t code = codes[j], last = o->column_cells[j] - 1;
        at[j] = o->first_cell[j] + (code < last ? code : last);
    }
    for (j = 0; j < o->pairs; j++)
        at[o->columns + j] = o->pair_cell[j] + o->levels * o->level[at[o->left[j]]] + o->level[at[o->right[j]]];
}

/* The K scores of a row, and the squared length of its features. */
static double summed(const hf_lookup *o, const int64_t *at, const double *table, const double *constant, double *score)
{
    size_t total = o->columns + o->pairs, wide = o->outputs + 1, j, k;
    double square = 1;

    for (k = 0; k < o->outputs; k++)
        score[k] = constant[k];
    if (wide == 2) {
        double one = score[0];
        for (j = 0; j < total; j++) {
            one += table[2 * at[j]];
            square += table[2 * at[j] + 1];
        }
        score[0] = one;
        return square;
    }
    for (j = 0; j < total; j++) {
        const double *row = table + wide * (size_t)at[j];
        for (k = 0; k < o->outputs; k++)
            score[k] += row[k];
        square += row[o->outputs];
    }
    return square;
}

/* Scores become derivatives of the loss in them; returns their length. */
static double derivatives(int32_t loss, size_t outputs, double label, double *score)
{
    double sign = label > 0 ? 1 : -1, most, total = 0, square = 0;
    size_t k;

    switch (loss) {
    case HF_LOOKUP_LOGISTIC:
        score[0] = -sign / (1 + exp(sign * score[0]));
        return fabs(score[0]);
    case HF_LOOKUP_SQUARED:
        score[0] -= label;
        return fabs(score[0]);
    default: /* softmax; the label is a class */
        most = score[0];
        for (k = 1; k < outputs; k++)
            most = score[k] > most ? score[k] : most;
        for (k = 0; k < outputs; k++)
            total += score[k] = exp(score[k] - most);
        for (k = 0; k < outputs; k++) {
            score[k] = score[k] / total - ((double)k == label);
            square += score[k] * score[k];
        }
        return sqrt(square);
    }
}

void hf_lookup_scores(const hf_lookup *o, const uint16_t *codes, size_t rows, const double *table,
                      const double *constant, int64_t *at, double *out)
{
    size_t i;

    for (i = 0; i < rows; i++) {
        cells_of(o, codes + i * o->columns, at);
        summed(o, at, table, constant, out + i * o->outputs);
    }
}

void hf_lookup_gradient(const hf_lookup *o, int32_t loss, const uint16_t *codes, size_t rows, const double *labels,
                        const double *table, const double *constant, double clip, double steps_per_unit,
                        int64_t *at, double *work, int64_t *out)
{
    size_t total = o->columns + o->pairs, outputs = o->outputs, i, j, k;
    int64_t *last = out;

    for (j = 0; j < o->columns; j++)
        last += outputs * (size_t)o->column_cells[j];
    if (o->pairs)
        last = out + outputs * (size_t)(o->pair_cell[o->pairs - 1] + o->levels * o->levels);
    for (i = 0; i < rows; i++) {
        double square, length, scale;

        cells_of(o, codes + i * o->columns, at);
        square = summed(o, at, table, constant, work);
        length = derivatives(loss, outputs, labels[i], work) * sqrt(square);
        if (!(length > 0) || !isfinite(length))
            continue; /* no derivative; or weights beyond the range of numbers, where nothing may be added */
        scale = (length > clip ? clip / length : 1) * steps_per_unit;
        if (outputs == 1) {
            int64_t whole = (int64_t)(work[0] * scale); /* towards zero */
            *last += whole;
            for (j = 0; j < total; j++)
                out[at[j]] += whole;
            continue;
        }
        for (k = 0; k < outputs; k++) {
            int64_t whole = (int64_t)(work[k] * scale);
            last[k] += whole;
            for (j = 0; j < total; j++)
                out[outputs * (size_t)at[j] + k] += whole;
        }
    }
}

/* Rows of mostly zeros. Sums are taken over blocks of rows, and those added up: fewer roundings than one after the
 * other, and the bound that callers have for them. */

int64_t hf_gather(const double *rows, size_t count, size_t columns, size_t stride, int64_t room, int64_t *first,
                  uint16_t *column, double *value)
{
    int64_t found = 0;
    size_t i, j;

    for (i = 0; i < count; i++) {
        const double *x = rows + i * stride;

        first[i] = found;
        for (j = 0; j < columns; j++) {
            if (x[j] == 0)
                continue;
            if (found == room)
                return -1;
            column[found] = (uint16_t)j;
            value[found++] = x[j];
        }
    }
    first[count] = found;
    return found;
}

void hf_gathered_products(const hf_gathered *o, const double *weights, double *out)
{
    size_t i;
    int64_t k;

    for (i = 0; i < o->rows; i++) {
        double sum = 0;
        for (k = o->first[i]; k < o->first[i + 1]; k++)
            sum += o->value[k] * weights[o->column[k]];
        out[i] = sum;
    }
}

void hf_gathered_forms(const hf_gathered *o, const double *form, double *out)
{
    size_t i;
    int64_t k, l;

    for (i = 0; i < o->rows; i++) {
        double sum = 0;
        for (k = o->first[i]; k < o->first[i + 1]; k++) {
            const double *line = form + o->column[k] * o->columns;
            double inner = 0;
            for (l = o->first[i]; l < o->first[i + 1]; l++)
                inner += line[o->column[l]] * o->value[l];
            sum += o->value[k] * inner;
        }
        out[i] = sum;
    }
}

void hf_gathered_sum(const hf_gathered *o, const double *a, size_t block, double *part, double *out)
{
    size_t i, j, start;
    int64_t k;

    for (start = 0; start < o->rows; start += block) {
        for (j = 0; j < o->columns; j++)
            part[j] = 0;
        for (i = start; i < o->rows && i < start + block; i++)
            for (k = o->first[i]; k < o->first[i + 1]; k++)
                part[o->column[k]] += a[i] * o->value[k];
        for (j = 0; j < o->columns; j++)
            out[j] += part[j];
    }
}

void hf_gathered_gram(const hf_gathered *o, const double *t, size_t block, double *part, double *out)
{
    size_t cells = o->columns * o->columns, i, j, start;
    int64_t k, l;

    for (start = 0; start < o->rows; start += block) {
        for (j = 0; j < cells; j++)
            part[j] = 0;
        for (i = start; i < o->rows && i < start + block; i++)
            for (k = o->first[i]; k < o->first[i + 1]; k++) {
                double *line = part + o->column[k] * o->columns, own = t[i] * o->value[k];
                for (l = k; l < o->first[i + 1]; l++)
                    line[o->column[l]] += own * (t[i] * o->value[l]);
            }
        for (j = 0; j < cells; j++)
            out[j] += part[j];
    }
}
