#pragma once
#include "core.hpp"

namespace tractable {

// Windows by number, of a distance r: exp(-r²/2), and those of bounded support, and exp(-r).
enum Kind { GAUSSIAN = -1, TOPHAT = 0, TRIANGULAR = 1, EPANECHNIKOV = 2, BIWEIGHT = 3, COSINE = 4, LAPLACE = 5 };

// ---- all pairs of queries (m, d) and points, which are columns (d, n); of a query that is point `first` + j the
// weight `left` is left out, if it is given.

// Write log Σ_i w_i k(|q - x_i|²) of every query.
void log_kernel_sums(View<const double> queries, View<const double> columns, Column<const double> w, int kind,
                     const double* left, Index first, double* out);
// Write Σ_i w_i |q - x_i|² exp(-|q - x_i|²/2) / S of every query but itself, with log S given.
void spreads(View<const double> queries, View<const double> columns, Column<const double> w, Index first,
             const double* log_sums, double* out);
// Write Σ_{i ≠ j} w_i exp(-rate_k |x_j - x_i|²), (m, K); rate k is twice rate k - own.
void left_out_scales(View<const double> queries, View<const double> columns, Column<const double> w, Index first,
                     const double* rates, Index n_rates, Index own, double* out);

// ---- a k-d tree: rows of nodes are first point, last + 1, right child (0 of a leaf), depth; coordinates of a leaf are
// packed column by column.
struct Tree {
  const int64_t* nodes;
  Index size;
  const double* packed;
  Index d;

  const int64_t* node(Index i) const { return nodes + 4 * i; }
};

// Write the least box (d, 2) about the points of every node; children come after their parents.
void tree_boxes(const Tree& tree, double* boxes);
// Write log Σ_i w_i k(|q - x_i|²), and how many terms were added: what is left out is below `tol` of the sum. Query j is
// the point at positions[j] of the tree, if `left` is given. `whole` is Σ w.
void log_tree_sums(View<const double> queries, const Tree& tree, const double* boxes, double whole,
                   Column<const double> w, int kind, const double* left, const int64_t* positions, double tol,
                   double* out, int64_t* met);

// ---- Gaussian windows of different shapes: blocks of points, packed as leaves are, and the lower triangles of their
// shapes (one a row if `of_rows`), with the box, the largest height and the slowest rate of each block.
struct Shapes {
  const double *packed, *triangles, *heights;
  bool of_rows;
  const int64_t* first;
  Index blocks;
  const double *low, *high, *top, *rates;
};
// Write log Σ_j exp(h_j - |W (x_i - x_j)|²/2) of every row; terms are left out below exp(-negligible) of the sum.
void log_local_windows(View<const double> x, const Shapes& shapes, double negligible, double* out);

// ---- sorted points on a line with positive weights, in bins: `first` point and centre of each.
struct Line {
  const double *x, *w;
  Index n;
  double h;  // the bandwidth, by which differences are divided
};
struct Bins {
  const double* starts;
  const int64_t* first;
  const double* centres;
  Index count;
};
// Terms of the series of a bin, running totals of a point, terms of the series of a tail.
inline constexpr Index GAUSS_TERMS = 26, TOTALS = 6, TAIL_TERMS = 28;

// Cut points into bins no wider than `width`; return how many. Arrays have room for n, and n + 1.
Index bin_points(const double* x, Index n, double width, double* starts, int64_t* first, double* centres);

// Σ w exp(-u²/2) u^k / k! of each bin, u = (x - c)/h.
void gauss_moments(const Line& line, const Bins& bins, double* moments);
void gauss_log_sums(const Line& line, double whole, const Bins& bins, const double* moments, const double* queries,
                    Index m, double* out);
// The sums at the points from `begin` on, and their logarithms without `left` of each own weight, and the mean of
// ((x_i - x_j)/h)² weighted by the terms, if `spread` is given.
void gauss_sums_at_points(const Line& line, double whole, const Bins& bins, const double* moments, Index begin, Index m,
                          double* out);
void gauss_log_left_out(const Line& line, double whole, const Bins& bins, const double* moments, const double* sums,
                        const double* left, Index begin, Index m, double* out, double* spread);

// Windows of bounded support, by running totals within bins; the queries are points from `begin` on if `left` is given.
void running_totals(const Line& line, const Bins& bins, int kind, double* totals);
void disc_log_sums(const Line& line, const Bins& bins, const double* totals, int kind, const double* queries, Index m,
                   const double* left, Index begin, double* out);

// The Laplace window, by Σ w exp(-|x_i - x_j|/h) over the points up to each, and from each on.
void laplace_passes(const Line& line, double* below, double* above);
void laplace_log_sums(const Line& line, const double* below, const double* above, const double* queries, Index m,
                      const double* left, Index begin, double* out);

// Σ w_i F(side (q - x_i)/h), F the distribution function of the window; `running` is the weight before each point, as
// that side counts it, (n + 1,).
void plain_moments(const Line& line, const Bins& bins, double* moments);
void normal_tails(const Line& line, const Bins& bins, const double* moments, const double* running, int side,
                  const double* queries, Index m, double* out);
void disc_tails(const Line& line, const Bins& bins, const double* totals, int kind, const double* running, int side,
                const double* queries, Index m, double* out);
void laplace_tails(const Line& line, const double* below, const double* above, const double* running, int side,
                   const double* queries, Index m, double* out);

}  // namespace tractable
