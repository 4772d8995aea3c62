#pragma once
#include "core.hpp"

namespace tractable {

// Rows and how often each counts; distances are those of (x - shift) scale.
template <class T> struct ScaledRows {
  View<const T> x;
  Column<const double> w;
  const double* shift;
  double scale;
};

// Sparse rows with sorted columns: entries, their columns, and where each row begins.
template <class T> struct SparseRows {
  const T* data;
  const int32_t* columns;
  const int64_t* starts;
  Index rows, width;
  Column<const double> w;
};

// Bounds on the distances to a row's own centre and to any other, in single precision, which are true of the centres
// `before`; without `before` there are none yet. Without `upper` none are kept.
struct Bounds {
  const double* before;
  float *upper, *lower;
};

// What the new labels change: Σ w |x - c|² of rows that had none, by how much the others came nearer, how many changed.
struct Change {
  double cost = 0.0, gain = 0.0;
  Index changed = 0;
};

// Σ w |x - c|², and the row that is farthest from its centre among those that count (-1: there is none).
struct Spread {
  double cost = 0.0, away = -1.0;
  Index row = -1;
};

// Whether all labels are at least `low` and below `end`.
bool labels_within(const int32_t* labels, Index n, int32_t low, Index end);

// Give rows to their nearest centres (K, d), the first of equals; labels of -1 are none yet. Write by how much
// Σ w x (K, d) and Σ w (K) of the rows of each centre change.
template <class T>
Change reassign(const ScaledRows<T>& rows, View<const double> centers, Bounds bounds, int32_t* labels, double* sums,
                double* counts);
// The same of sparse rows, which are neither shifted nor scaled, as points (d, K) and their squares are not; bounds are
// those of the scaled centres (K, d).
template <class T>
Change reassign(const SparseRows<T>& rows, View<const double> points, const double* squares, double scale,
                const double* centers, Bounds bounds, int32_t* labels, double* sums, double* counts);

// Write Σ w x (K, d) and Σ w (K) of the rows of each label.
template <class T>
Spread cluster_sums(const ScaledRows<T>& rows, View<const double> centers, const int32_t* labels, double* sums,
                    double* counts);
template <class T>
Spread cluster_sums(const SparseRows<T>& rows, View<const double> points, const double* squares, const int32_t* labels,
                    double* sums, double* counts);

// Write the rows that greedy k-means++ chooses as centres, by uniforms (K, trials).
template <class T>
void kmeans_plus_plus(View<const T> x, Column<const double> w, View<const double> uniforms, int64_t* chosen);

// Write Σ_j w_j |x_i - y_j| over the columns y_j (d, m) of each group, (n, groups); group k begins at starts[k].
template <class T>
void distance_sums(View<const T> x, View<const double> columns, const double* weights, const int64_t* starts,
                   Index groups, double* out);

}  // namespace tractable
