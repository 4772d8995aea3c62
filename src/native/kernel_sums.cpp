// Sums of windows over all pairs, over the boxes of a k-d tree, and of windows of different shapes.
//
//   log Σ_i w_i k(|q - x_i|²)      at any distance: where all terms of a Gaussian or Laplace window are below the least
//                                  number, they are added about the largest
#include "kernel_sums.hpp"

#include <cmath>
#include <numbers>

#include "tiles.hpp"

namespace tractable {
namespace {

// Points met at a time: their squared distances and exponentials stay in the first-level cache.
constexpr Index TILE = 512;
// Queries of a task, and pairs of a query and a point that make a task.
constexpr Index MOST_QUERIES = 64, PAIRS = 1 << 15;
// Sums below this are taken again about their largest term.
constexpr double FAR = 1e-280;

Index queries_of(Index n) { return std::clamp<Index>(PAIRS / std::max<Index>(n, 1), 1, MOST_QUERIES); }

// A query whose entries lie one after another.
struct Query {
  Buffer<double> entries;

  const double* of(const View<const double>& queries, Index q) {
    double* to = entries.grow(std::max<Index>(queries.columns, 1));
    for (Index c = 0; c < queries.columns; ++c) to[c] = queries(q, c);
    return to;
  }
};

void squares(const double* query, const View<const double>& columns, Index start, Index size, double* values) {
  squares_of_columns(columns.data + start, columns.down, size, query, columns.rows, values,
                     [=](Index j, double v) { values[j] = v; });
}

// Turn squared distances into heights of the window.
void heights(int kind, double* __restrict v, Index n, double shift) {
  switch (kind) {
    case GAUSSIAN:
      for (Index j = 0; j < n; ++j) {
        double depth = shift - 0.5 * v[j];
        v[j] = depth > 0.0 ? 0.0 : depth;
      }
      return exp_tile(v, n);
    case LAPLACE:
      for (Index j = 0; j < n; ++j) {
        double depth = shift - std::sqrt(v[j]);
        v[j] = depth > 0.0 ? 0.0 : depth;
      }
      return exp_tile(v, n);
    case TOPHAT:
      for (Index j = 0; j < n; ++j) v[j] = v[j] <= 1.0 ? 1.0 : 0.0;
      return;
    case TRIANGULAR:
      for (Index j = 0; j < n; ++j) v[j] = std::max(1.0 - std::sqrt(v[j]), 0.0);
      return;
    case EPANECHNIKOV:
      for (Index j = 0; j < n; ++j) v[j] = std::max(1.0 - v[j], 0.0);
      return;
    case BIWEIGHT:
      for (Index j = 0; j < n; ++j) {
        double t = std::max(1.0 - v[j], 0.0);
        v[j] = t * t;
      }
      return;
    default:
      for (Index j = 0; j < n; ++j)
        v[j] = v[j] < 1.0 ? std::sin(0.5 * std::numbers::pi * (1.0 - std::sqrt(v[j]))) : 0.0;
  }
}

bool endless(int kind) { return kind == GAUSSIAN || kind == LAPLACE; }
double depth_of(int kind, double square) { return kind == GAUSSIAN ? 0.5 * square : std::sqrt(square); }

// What is kept of the weight of a point; the maximum is no sum, which would be reordered with others and cancel.
double kept(const Column<const double>& w, Index own, double left) { return std::max(w(own) - left, 0.0); }

// Add up a tile of points from `start` on, without the point `own`.
double tile_sum(double* v, const Column<const double>& w, Index start, Index n, Index own) {
  if (own >= start && own < start + n) v[own - start] = 0.0;
  double total = 0.0;
  if (!w) {
    for (Index j = 0; j < n; ++j) total += v[j];
  } else {
    for (Index j = 0; j < n; ++j) total += v[j] * w(start + j);
  }
  return total;
}

double nearest_of_tile(const double* v, const Column<const double>& w, Index start, Index n, Index own, double near) {
  for (Index j = 0; j < n; ++j)
    if (v[j] < near && start + j != own && w(start + j) > 0.0) near = v[j];
  return near;
}

// The same in logarithms: about the nearest point, whose own term is then one.
double far(const double* query, const View<const double>& columns, const Column<const double>& w, int kind, Index own, double* values) {
  Index n = columns.columns;
  double near = INFINITY, total = 0.0;
  for (Index start = 0; start < n; start += TILE) {
    Index size = std::min(TILE, n - start);
    squares(query, columns, start, size, values);
    near = nearest_of_tile(values, w, start, size, own, near);
  }
  if (near == INFINITY) return -INFINITY;
  double shift = depth_of(kind, near);
  for (Index start = 0; start < n; start += TILE) {
    Index size = std::min(TILE, n - start);
    squares(query, columns, start, size, values);
    heights(kind, values, size, shift);
    total += tile_sum(values, w, start, size, own);
  }
  return std::log(total) - shift;
}

}  // namespace

void log_kernel_sums(View<const double> queries, View<const double> columns, Column<const double> w, int kind,
                     const double* left, Index first, double* out) {
  Index n = columns.columns;
  parallel_for(queries.rows, queries_of(n), [&](Index begin, Index end) {
    alignas(64) double values[TILE];
    Query query;
    for (Index q = begin; q < end; ++q) {
      const double* at = query.of(queries, q);
      Index own = left ? first + q : -1;
      double total = 0.0;
      for (Index start = 0; start < n; start += TILE) {
        Index size = std::min(TILE, n - start);
        squares(at, columns, start, size, values);
        heights(kind, values, size, 0.0);
        total += tile_sum(values, w, start, size, own);
      }
      if (own >= 0) total += kept(w, own, left[q]);
      if (total >= FAR || !endless(kind)) out[q] = total > 0.0 ? std::log(total) : total == total ? -INFINITY : total;
      else out[q] = far(at, columns, w, kind, own, values);
    }
  });
}

void spreads(View<const double> queries, View<const double> columns, Column<const double> w, Index first,
             const double* log_sums, double* out) {
  Index n = columns.columns;
  parallel_for(queries.rows, queries_of(n), [&](Index begin, Index end) {
    alignas(64) double values[TILE], apart[TILE];
    Query query;
    for (Index q = begin; q < end; ++q) {
      const double* at = query.of(queries, q);
      double total = 0.0;
      for (Index start = 0; start < n; start += TILE) {
        Index size = std::min(TILE, n - start);
        squares(at, columns, start, size, apart);
        double log_sum = log_sums[q];
        for (Index j = 0; j < size; ++j) {
          double depth = -0.5 * apart[j] - log_sum;
          values[j] = depth > 0.0 ? 0.0 : depth;
        }
        exp_tile(values, size);
        for (Index j = 0; j < size; ++j) values[j] *= apart[j];
        total += tile_sum(values, w, start, size, first + q);
      }
      out[q] = total;
    }
  });
}

void left_out_scales(View<const double> queries, View<const double> columns, Column<const double> w, Index first,
                     const double* rates, Index n_rates, Index own_rates, double* out) {
  Index n = columns.columns;
  parallel_for(queries.rows, queries_of(n), [&](Index begin, Index end) {
    alignas(64) double apart[TILE];
    static thread_local Buffer<double> terms;
    Query query;
    for (Index q = begin; q < end; ++q) {
      const double* at = query.of(queries, q);
      double* sums = out + q * n_rates;
      std::fill_n(sums, n_rates, 0.0);
      for (Index start = 0; start < n; start += TILE) {
        Index size = std::min(TILE, n - start);
        squares(at, columns, start, size, apart);
        for (Index k = 0; k < n_rates; ++k) {
          double *__restrict row = terms.grow(own_rates * TILE) + k % own_rates * TILE, rate = rates[k];
          if (k < own_rates) {
            for (Index j = 0; j < size; ++j) row[j] = -rate * apart[j];
            exp_tile(row, size);
          } else {  // squares below the least normal number would be a hundred times slower
            for (Index j = 0; j < size; ++j) row[j] = row[j] > 1e-145 ? row[j] * row[j] : 0.0;
          }
          sums[k] += tile_sum(row, w, start, size, first + q);
        }
      }
    }
  });
}

// ------------------------------------------------------------------------------------------------------- trees

namespace {

// Queries of a task of a tree.
constexpr Index TREE_QUERIES = 16;

// Squared distance from a query to a box (d, 2).
double apart(const double* query, const double* box, Index d) {
  double total = 0.0;
  for (Index c = 0; c < d; ++c) {
    double step = std::max({box[2 * c] - query[c], query[c] - box[2 * c + 1], 0.0});
    total += step * step;
  }
  return total;
}

// One query's way through a tree.
struct Walk {
  const Tree& tree;
  const double *boxes, *query;
  Index* stack;

  const double* box(Index node) const { return boxes + node * tree.d * 2; }

  // Call leaf(first, last) for leaves that `closed` leaves open, the nearer child first.
  template <class Closed, class Leaf> void go(Closed&& closed, Leaf&& leaf) const {
    Index top = 0;
    stack[top++] = 0;
    while (top) {
      Index node = stack[--top], right = tree.node(node)[2];
      if (closed(apart(query, box(node), tree.d))) continue;
      if (!right) {
        leaf(tree.node(node)[0], tree.node(node)[1]);
        continue;
      }
      bool closer = apart(query, box(node + 1), tree.d) <= apart(query, box(right), tree.d);
      stack[top++] = closer ? right : node + 1;
      stack[top++] = closer ? node + 1 : right;
    }
  }

  // Call use(start, size) with the squared distances to points from `start` on.
  template <class Use> void tiles(Index first, Index last, double* values, Use&& use) const {
    View<const double> columns{tree.packed + first * tree.d, tree.d, last - first, last - first, 1};
    for (Index start = 0; start < last - first; start += TILE) {
      Index size = std::min(TILE, last - first - start);
      squares(query, columns, start, size, values);
      use(first + start, size);
    }
  }
};

}  // namespace

void tree_boxes(const Tree& tree, double* boxes) {
  Index d = tree.d;
  for (Index i = tree.size; i-- > 0;) {
    Index first = tree.node(i)[0], last = tree.node(i)[1], right = tree.node(i)[2];
    for (Index c = 0; c < d; ++c) {
      double* box = boxes + (i * d + c) * 2;
      if (right) {
        const double *a = boxes + ((i + 1) * d + c) * 2, *b = boxes + (right * d + c) * 2;
        box[0] = std::min(a[0], b[0]), box[1] = std::max(a[1], b[1]);
      } else {
        const double* tile = tree.packed + first * d + c * (last - first);
        box[0] = *std::min_element(tile, tile + (last - first)), box[1] = *std::max_element(tile, tile + (last - first));
      }
    }
  }
}

void log_tree_sums(View<const double> queries, const Tree& tree, const double* boxes, double whole,
                   Column<const double> w, int kind, const double* left, const int64_t* positions, double tol,
                   double* out, int64_t* met) {
  Index deepest = 0;
  for (Index i = 0; i < tree.size; ++i) deepest = std::max<Index>(deepest, tree.node(i)[3]);
  parallel_for(queries.rows, TREE_QUERIES, [&](Index begin, Index end) {
    alignas(64) double values[TILE];
    static thread_local Buffer<Index> stack;
    Query query;
    for (Index q = begin; q < end; ++q) {
      Walk walk{tree, boxes, query.of(queries, q), stack.grow(deepest + 3)};
      Index own = left ? positions[q] : -1, seen = 0;
      double spared = own >= 0 ? kept(w, own, left[q]) : 0.0, near = 0.0;
      if (endless(kind) && !(spared > 0.0)) {
        near = INFINITY;
        walk.go([&](double away) { return !(away < near); }, [&](Index first, Index last) {
          walk.tiles(first, last, values, [&](Index start, Index n) { near = nearest_of_tile(values, w, start, n, own, near); });
        });
      }
      out[q] = -INFINITY, met[q] = 0;
      if (near == INFINITY) continue;
      double shift = endless(kind) ? depth_of(kind, near) : 0.0, total = spared;
      // What is left closed has less than `tol` of the sum, since every unit of its weight has less of it.
      walk.go([&](double away) {
        if (!endless(kind)) return away > 1.0;
        double height = shift - depth_of(kind, away);
        return height < 0.0 && std::exp(height) * whole < tol * total;
      }, [&](Index first, Index last) {
        seen += last - first;
        walk.tiles(first, last, values, [&](Index start, Index n) {
          heights(kind, values, n, shift);
          total += tile_sum(values, w, start, n, own);
        });
      });
      if (total > 0.0) out[q] = std::log(total) - shift;
      met[q] = seen;
    }
  });
}

// ------------------------------------------------------------------------------------------------ local windows

namespace {

// Columns after which it is looked whether a block can still count; rows of a task.
constexpr Index LOOKED_AT = 8, LOCAL_ROWS = 8;

double largest_of(const double* v, Index n) {
  double largest = v[0];
  for (Index j = 1; j < n; ++j) largest = v[j] > largest ? v[j] : largest;
  return largest;
}

// Write h_j - |W (x - x_j)|²/2 of a block, or what all of them fell to below `least`.
void exponents(const double* row, Index d, const double* points, const double* triangles, bool of_rows,
               const double* heights, Index n, double least, double* away, double* __restrict white, double* __restrict values) {
  std::copy_n(heights, n, values);
  Index entry = 0;
  for (Index k = 0; k < d; ++k) {
    double* __restrict step = away + k * n;
    for (Index j = 0; j < n; ++j) step[j] = row[k] - points[k * n + j], white[j] = 0.0;
    for (Index l = 0; l <= k; ++l, ++entry) {
      const double* other = away + l * n;
      if (of_rows) {
        double w = triangles[entry];
        for (Index j = 0; j < n; ++j) white[j] += w * other[j];
      } else {
        const double* shape = triangles + entry * n;
        for (Index j = 0; j < n; ++j) white[j] += shape[j] * other[j];
      }
    }
    for (Index j = 0; j < n; ++j) values[j] -= 0.5 * white[j] * white[j];
    if (k % LOOKED_AT == LOOKED_AT - 1 && largest_of(values, n) < least) return;
  }
}

}  // namespace

void log_local_windows(View<const double> x, const Shapes& s, double negligible, double* out) {
  Index d = x.columns, entries = d * (d + 1) / 2, largest = 1;
  for (Index b = 0; b < s.blocks; ++b) largest = std::max<Index>(largest, s.first[b + 1] - s.first[b]);
  parallel_for(x.rows, LOCAL_ROWS, [&](Index begin, Index end) {
    static thread_local Buffer<double> away, white, heights, limits;
    away.grow(d * largest), white.grow(largest);
    double *values = heights.grow(largest), *bounds = limits.grow(s.blocks);
    Query query;
    for (Index i = begin; i < end; ++i) {
      const double* row = query.of(x, i);
      Index best = 0;
      for (Index b = 0; b < s.blocks; ++b) {
        double gaps = 0.0;
        for (Index c = 0; c < d; ++c) {
          double gap = std::max({s.low[b * d + c] - row[c], row[c] - s.high[b * d + c], 0.0});
          gaps += gap * gap;
        }
        bounds[b] = s.top[b] - s.rates[s.of_rows ? i : b] * gaps;
        if (bounds[b] > bounds[best]) best = b;
      }
      double peak = -INFINITY, total = 0.0, least = -INFINITY;
      // Blocks beside the best one first: they are near it, and their sum leaves out most of the others.
      for (Index step = 0; step < 2 * s.blocks; ++step) {
        Index b = step % 2 ? best + (step + 1) / 2 : best - step / 2;
        if (b < 0 || b >= s.blocks || bounds[b] < least) continue;
        Index start = s.first[b], n = s.first[b + 1] - start;
        const double* shape = s.triangles + (s.of_rows ? i * entries : start * entries);
        exponents(row, d, s.packed + start * d, shape, s.of_rows, s.heights + start, n, least, away.data(), white.data(), values);
        double highest = largest_of(values, n);
        if (!(highest > least)) continue;
        if (highest > peak) total *= std::exp(peak - highest), peak = highest;
        for (Index j = 0; j < n; ++j) values[j] -= peak;
        exp_tile(values, n);
        double sum = 0.0;
        for (Index j = 0; j < n; ++j) sum += values[j];
        total += sum;
        least = peak + std::log(total) - negligible;
      }
      out[i] = total > 0.0 ? peak + std::log(total) : -INFINITY;
    }
  });
}

}  // namespace tractable
