// K-means: seeding by k-means++, assignment to the nearest centres, and sums of distances to clusters.
//
//   labels_i = argmin_k |x_i - c_k|²      sums_k = Σ_i w_i x_i      counts_k = Σ_i w_i      cost = Σ_i w_i |x_i - c|²
//
// Bounds on distances (Hamerly 2010) leave most rows alone once centres move little. Of few columns, distances are
// differences, with rows along the lanes of the processor. Of many, |c|² - 2 c·x is a product of matrices in single
// precision; rows that its rounding leaves open have another in double precision, and rows that this leaves open,
// differences.
#include "kmeans.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tiles.hpp"

namespace tractable {
namespace {

// Columns up to which differences take less time than products.
constexpr Index FEW_COLUMNS = 8;
// Rows that meet the centres at once, and numbers: rows in both precisions, and scores, stay in the second-level cache.
constexpr Index ROWS = 256, NUMBERS = 1 << 15, SCORES = 1 << 17;
// Rows whose bounds are looked at together, at most: few of them are open, and meet the centres at once.
constexpr Index CHUNK = 4096;
// Loops over rows are of a multiple of so many: what is left of the lanes of a processor is done one by one.
constexpr Index LANES = 16;
constexpr Index padded(Index n) { return (n + LANES - 1) / LANES * LANES; }
// Terms of the distances of a row to all centres, up to which no bounds are kept: it is less work to measure all.
constexpr Index FEW_DISTANCES = 64;
// Bounds are kept in single precision, rounded to the safe side: more than two roundings away.
constexpr float UP = 1.0f + 0x1p-22f, DOWN = 1.0f - 0x1p-22f;
inline float above(double v) { return float(v) * UP; }
inline float below(double v) { return float(v) * DOWN; }
constexpr double EPS = 0x1p-52;

struct Sums {
  Index K, d;
  Buffer<double> sums{K * d}, counts{K};
  Change change{};
  bool used = true;

  void clear() {
    if (used) sums.fill(K * d, 0.0), counts.fill(K, 0.0);
    change = {}, used = false;
  }
  void operator+=(const Sums& other) {
    change.cost += other.change.cost, change.gain += other.change.gain, change.changed += other.change.changed;
    if (!other.used) return;
    used = true;
    for (Index i = 0; i < K * d; ++i) sums[i] += other.sums[i];
    for (Index k = 0; k < K; ++k) counts[k] += other.counts[k];
  }
  void write(double* to, double* weights) const {
    std::copy_n(sums.data(), K * d, to), std::copy_n(counts.data(), K, weights);
  }
};

struct SpreadSums : Sums {
  Spread spread{};

  void clear() { Sums::clear(), spread = {}; }
  void operator+=(const SpreadSums& other) {
    Sums::operator+=(other);
    spread.cost += other.spread.cost;
    if (other.spread.away > spread.away) spread.away = other.spread.away, spread.row = other.spread.row;
  }
};

// What a thread writes to, for a block: kept, because new memory takes longer than the arithmetic.
template <class T> struct Lanes {
  Buffer<T> rows, scores, best, second;
  Buffer<std::conditional_t<sizeof(T) == 8, int64_t, int32_t>> arg;  // as wide as the numbers beside it
};
struct Scratch {
  Lanes<float> single;
  Lanes<double> full;
  Buffer<double> norms, products;
  Buffer<Index> queue;
  Buffer<int32_t> found;
};

template <class T> struct Centers {
  Index K, d;
  Buffer<T> points{K * d}, squares{K};
  double longest = 0.0;

  explicit Centers(const View<const double>& c) : K(c.rows), d(c.columns) {
    for (Index k = 0; k < K; ++k) {
      double square = 0.0;
      for (Index i = 0; i < d; ++i) {
        points[k * d + i] = T(c(k, i));
        square += c(k, i) * c(k, i);
      }
      squares[k] = T(square);
      longest = std::max(longest, std::sqrt(square));
    }
  }
};

// Call use(i, (x_ri - shift_i) scale) for the columns of a row.
template <class T, class Use> inline void each(const ScaledRows<T>& rows, Index r, Use&& use) {
  const T* from = rows.x.row(r);
  Index d = rows.x.columns, step = rows.x.across;
  if (step == 1) {
    for (Index i = 0; i < d; ++i) use(i, (double(from[i]) - rows.shift[i]) * rows.scale);
  } else {
    for (Index i = 0; i < d; ++i) use(i, (double(from[i * step]) - rows.shift[i]) * rows.scale);
  }
}

template <class T> double distance(const ScaledRows<T>& rows, Index r, const double* c) {
  double total = 0.0;
  each(rows, r, [&](Index i, double v) { total += (v - c[i]) * (v - c[i]); });
  return total;
}

// Find the smallest two squared distances of the columns of a block (d, ROWS), the first of equals.
void by_differences(const double* block, Index n, const Centers<double>& c, Lanes<double>& at) {
  double *__restrict best = at.best.fill(n, INFINITY), *__restrict second = at.second.fill(n, INFINITY);
  double* partial = at.scores.grow(n);
  int64_t* __restrict arg = at.arg.fill(n, 0);
  for (Index k = 0; k < c.K; ++k) {
    squares_of_columns(block, ROWS, n, c.points.data() + k * c.d, c.d, partial, [=](Index j, double v) {
      double first = best[j], next = second[j];
      auto number = arg[j];
      double behind = v < first ? first : v;
      second[j] = behind < next ? behind : next;
      arg[j] = v < first ? k : number;
      best[j] = v < first ? v : first;
    });
  }
}

// Find the smallest two of |c|² - 2 c·x for n rows, by a product of matrices.
template <class T> void by_products(Index n, const Centers<T>& c, Lanes<T>& at) {
  constexpr Index across = ROWS + 16;  // no power of two, whose columns would fall on one another in the cache
  T* scores = at.scores.grow(c.K * across);
  blas::gemm(false, true, int(c.K), int(n), int(c.d), T(-2), c.points.data(), int(c.d), at.rows.data(), int(c.d), scores,
             int(across));
  T *__restrict best = at.best.fill(n, INFINITY), *__restrict second = at.second.fill(n, INFINITY);
  auto* __restrict arg = at.arg.fill(n, 0);
  for (Index k = 0; k < c.K; ++k) {
    const T *row = scores + k * across, square = c.squares[k];
    for (Index j = 0; j < n; ++j) {
      T v = row[j] + square, behind = v < best[j] ? best[j] : v;
      second[j] = behind < second[j] ? behind : second[j];
      arg[j] = v < best[j] ? k : arg[j];
      best[j] = v < best[j] ? v : best[j];
    }
  }
}

// How centres moved since bounds were true: half the distance to the nearest other centre, the move of each, and the
// largest move of another. Half distances are or become less, and moves more, by what rounding may have added.
struct Movement {
  Buffer<float> half, move, drop;

  Movement(const double* before, const double* points, Index K, Index d) {
    half.fill(K, 0.0f), move.fill(K, 0.0f), drop.fill(K, 0.0f);
    if (!before) return;
    Index farthest = 0;
    Buffer<double> squares(K);
    double longest = 0.0;
    float next = 0.0f;
    for (Index k = 0; k < K; ++k) {
      double square = 0.0, step = 0.0;
      for (Index i = k * d; i < (k + 1) * d; ++i) {
        square += points[i] * points[i];
        step += (points[i] - before[i]) * (points[i] - before[i]);
      }
      longest = std::max(longest, squares[k] = square);
      move[k] = above(std::sqrt(step));
      if (move[k] > move[farthest]) farthest = k;
    }
    for (Index k = 0; k < K; ++k) next = k == farthest ? next : std::max(next, move[k]);
    for (Index k = 0; k < K; ++k) drop[k] = k == farthest ? next : move[farthest];
    double slack = 1e-15 * double(d + 4) * longest;
    parallel_for(K, BLOCK, [&](Index begin, Index end) {
      static thread_local Buffer<double> found;
      double* products = found.grow(BLOCK * K);
      blas::gemm(false, true, int(end - begin), int(K), int(d), -2.0, points + begin * d, int(d), points, int(d), products, int(K));
      for (Index k = begin; k < end; ++k) {
        const double* row = products + (k - begin) * K;
        double least = INFINITY;
        for (Index l = 0; l < K; ++l) {
          double apart = row[l] + squares[l];
          least = l != k && apart < least ? apart : least;
        }
        half[k] = below(0.5 * std::sqrt(std::max(least + squares[k] - slack, 0.0)));
      }
    });
  }

 private:
  static constexpr Index BLOCK = 32;  // centres that meet all others at once
};

// Move the bounds of rows with the centres, and say which they leave open. Arguments that may not overlap let the
// compiler use the lanes of the processor.
void move_bounds(const float* __restrict half, const float* __restrict move, const float* __restrict drop,
                 const int32_t* __restrict labels, Index n, float* __restrict upper, float* __restrict lower,
                 int32_t* __restrict open) {
  for (Index j = 0; j < n; ++j) {
    int32_t label = labels[j], none = label >> 31, a = label & ~none;
    float least = lower[j] - drop[a], most = (upper[j] + move[a]) * UP, apart = half[a];
    least = (least > 0.0f ? least : 0.0f) * DOWN;
    lower[j] = least, upper[j] = most;
    apart = apart > least ? apart : least;
    open[j] = (most < apart ? 0 : 1) | none;
  }
}

// One pass over the rows: what `reassign` returns, and what it works with.
template <class T> struct Pass {
  const ScaledRows<T>& rows;
  Bounds bounds;
  int32_t* labels;
  Centers<double> exact;
  Centers<float> rough;
  bool few, bounded;
  Movement moved;
  Index batch, block;

  Pass(const ScaledRows<T>& given, View<const double> centers, Bounds kept, int32_t* held)
      : rows(given), bounds(kept), labels(held), exact(centers), rough(centers), few(exact.d <= FEW_COLUMNS),
        bounded(kept.upper && exact.K * (exact.d + 2) > FEW_DISTANCES),
        moved(bounded ? kept.before : nullptr, exact.points.data(), exact.K, exact.d),
        batch(few ? ROWS : std::clamp<Index>(std::min(NUMBERS / exact.d, SCORES / exact.K) / LANES * LANES, 32, ROWS)),
        block(bounded ? std::clamp<Index>(rows.x.rows / SLOTS, ROWS, CHUNK) : batch) {}

  // Move the bounds of rows with the centres, and queue the rows that they leave undecided.
  Index undecided(Index begin, Index end, Index* queue) const {
    static thread_local Buffer<int32_t> doubt;
    Index left = 0, m = 0, n = end - begin;
    const float* half = moved.half.data();
    int32_t* open = doubt.grow(CHUNK);
    move_bounds(half, moved.move.data(), moved.drop.data(), labels + begin, n, bounds.upper + begin, bounds.lower + begin, open);
    for (Index j = 0; j < n; ++j) {  // without branches
      queue[m] = begin + j;
      m += open[j] != 0;
    }
    for (Index q = 0; q < m; ++q) {
      Index r = queue[q];
      if (labels[r] >= 0) {
        float most = above(std::sqrt(distance(rows, r, exact.points.data() + labels[r] * exact.d)));
        bounds.upper[r] = most;
        if (most < std::max(bounds.lower[r], half[labels[r]])) continue;
      }
      queue[left++] = r;
    }
    return left;
  }

  // Find the nearest centres of queued rows, and bounds; -1 where rounding leaves a row open.
  template <class S> Index clear(Index n, Lanes<S>& at, const Centers<S>& c, Scratch& scratch, const Index* queue) const {
    by_products(padded(n), c, at);
    double rounding = double(c.d + 6) * std::numeric_limits<S>::epsilon();
    Index open = 0;
    for (Index j = 0; j < n; ++j) {  // NaN, where rows overflow, is open too
      double length = scratch.norms[j], low = at.best[j], high = at.second[j];
      double slack = rounding * (2.0 * std::sqrt(length) * c.longest + c.longest * c.longest + std::numeric_limits<S>::min());
      bool sure = high - low > slack;
      scratch.found[j] = sure ? int32_t(at.arg[j]) : -1;
      open += !sure;
      if (bounded) {
        bounds.upper[queue[j]] = above(std::sqrt(std::max(low + length, 0.0) + slack));
        bounds.lower[queue[j]] = below(std::sqrt(std::max(high + length - slack, 0.0)));
      }
    }
    return open;
  }

  void bound(Index r, double near, double next) const {  // by differences
    double error = double(exact.d + 6) * EPS * near;
    bounds.upper[r] = above(std::sqrt(near + error));
    bounds.lower[r] = below(std::sqrt(std::max(next - error, 0.0)));
  }

  int32_t measure(Index j, Index r, Scratch& at) const {
    const double* row = at.full.rows.data() + j * exact.d;
    double near = INFINITY, next = INFINITY;
    int32_t nearest = 0;
    for (Index k = 0; k < exact.K; ++k) {
      const double* p = exact.points.data() + k * exact.d;
      double square = 0.0;
      for (Index i = 0; i < exact.d; ++i) square += (row[i] - p[i]) * (row[i] - p[i]);
      if (square < near) next = near, near = square, nearest = int32_t(k);
      else if (square < next) next = square;
    }
    if (bounded) bound(r, near, next);
    return nearest;
  }

  // Give rows of the queue to their nearest centres, found. Entry i of row j is at block[i * down + j * across];
  // one of the two is 1.
  void give(const Index* queue, Index n, const double* block, Index down, Index across, const double* near, Scratch& at,
            Sums& into) const {
    const int32_t* found = at.found.data();
    Index d = exact.d;
    // Entries of a row lie one after another, or those of a column do.
    auto each = [&](Index j, auto&& use) {
      if (across == 1) {
        for (Index i = 0; i < d; ++i) use(i, block[i * down + j]);
      } else {
        for (Index i = 0; i < d; ++i) use(i, block[i + j * across]);
      }
    };
    auto add = [&](Index j, double w, Index k) {
      double* __restrict s = into.sums.data() + k * d;
      into.counts[k] += w;
      each(j, [=](Index i, double v) { s[i] += w * v; });
    };
    auto from = [&](Index j, Index k) {
      const double* p = exact.points.data() + k * d;
      double total = 0.0;
      each(j, [&](Index i, double v) { total += (v - p[i]) * (v - p[i]); });
      return total;
    };
    double cost = 0.0, gain = 0.0;
    Index changed = 0;
    for (Index j = 0; j < n; ++j) {
      Index r = queue ? queue[j] : 0;
      int32_t k = found[j], old = labels[r];
      if (k == old) continue;
      labels[r] = k;
      ++changed;
      double w = rows.w(r), square = near && near[j] < INFINITY ? near[j] : from(j, k);
      add(j, w, k);
      if (old < 0) {
        cost += w * square;
      } else {
        gain += std::max(w * (from(j, old) - square), 0.0);
        add(j, -w, old);
      }
    }
    into.change.cost += cost, into.change.gain += gain, into.change.changed += changed;
    into.used |= changed > 0;
  }

  // Find the nearest centre of a row, with entry i at row[i * ROWS], by |c|² - 2 c·x: of rows far from all centres
  // differences have lost what products still tell. Where rounding leaves these open, it is the one found before.
  int32_t by_score(const double* row, int32_t before) const {
    double best = INFINITY, second = INFINITY, length = 0.0;
    int32_t nearest = before;
    for (Index i = 0; i < exact.d; ++i) length += row[i * ROWS] * row[i * ROWS];
    for (Index k = 0; k < exact.K; ++k) {
      double score = exact.squares[k];
      for (Index i = 0; i < exact.d; ++i) score -= 2.0 * row[i * ROWS] * exact.points[k * exact.d + i];
      if (score < best) second = best, best = score, nearest = int32_t(k);
      else if (score < second) second = score;
    }
    double slack = double(exact.d + 6) * EPS * (2.0 * std::sqrt(length) * exact.longest + exact.longest * exact.longest);
    return second - best > slack ? nearest : before;
  }

  void few_columns(const Index* queue, Index n, Scratch& at, Sums& into) const {
    Index d = exact.d;
    double* __restrict block = at.full.rows.grow(d * ROWS);
    for (Index i = 0; i < d; ++i) {
      double shift = rows.shift[i], scale = rows.scale;
      if (queue[n - 1] - queue[0] == n - 1) {
        const T* from = &rows.x(queue[0], i);
        for (Index j = 0; j < n; ++j) block[i * ROWS + j] = (double(from[j * rows.x.down]) - shift) * scale;
      } else {
        for (Index j = 0; j < n; ++j) block[i * ROWS + j] = (double(rows.x(queue[j], i)) - shift) * scale;
      }
    }
    for (Index i = 0; i < d; ++i) std::fill(block + i * ROWS + n, block + i * ROWS + padded(n), 0.0);
    by_differences(block, padded(n), exact, at.full);
    const double *best = at.full.best.data(), *second = at.full.second.data();
    Index open = 0;
    for (Index j = 0; j < n; ++j) {
      at.found[j] = int32_t(at.full.arg[j]);
      open += second[j] - best[j] <= double(d + 6) * EPS * best[j];
    }
    if (open)
      for (Index j = 0; j < n; ++j)
        if (second[j] - best[j] <= double(d + 6) * EPS * best[j]) at.found[j] = by_score(block + j, at.found[j]);
    if (bounded)
      for (Index j = 0; j < n; ++j) bound(queue[j], at.full.best[j], at.full.second[j]);
    give(queue, n, block, ROWS, 1, at.full.best.data(), at, into);
  }

  void many_columns(const Index* queue, Index n, Scratch& at, Sums& into) const {
    Index d = exact.d;
    double *to = at.full.rows.grow(padded(n) * d), *norms = at.norms.grow(n);
    float* single = at.single.rows.grow(padded(n) * d);
    for (Index j = 0; j < n; ++j) {
      double square = 0.0;
      double* __restrict row = to + j * d;
      each(rows, queue[j], [&](Index i, double v) { row[i] = v, square += v * v; });
      norms[j] = square;
    }
    std::fill(to + n * d, to + padded(n) * d, 0.0);
    for (Index i = 0; i < padded(n) * d; ++i) single[i] = float(to[i]);
    Index open = clear(n, at.single, rough, at, queue);
    if (open > n / 8) open = clear(n, at.full, exact, at, queue);
    if (open)
      for (Index j = 0; j < n; ++j)
        if (at.found[j] < 0) at.found[j] = measure(j, queue[j], at);
    give(queue, n, to, 1, d, nullptr, at, into);
  }

  void operator()(Sums& into, Index begin, Index end) const {
    static thread_local Scratch at;
    Index *queue = at.queue.grow(CHUNK), n = end - begin;
    at.found.grow(ROWS);
    if (bounded) n = undecided(begin, end, queue);
    else
      for (Index j = 0; j < n; ++j) queue[j] = begin + j;
    for (Index done = 0; done < n; done += batch) {
      Index more = std::min(batch, n - done);
      if (few) few_columns(queue + done, more, at, into);
      else many_columns(queue + done, more, at, into);
    }
  }
};

}  // namespace

bool labels_within(const int32_t* labels, Index n, int32_t low, Index end) {
  int32_t least = low, most = low;
  for (Index r = 0; r < n; ++r) {
    int32_t k = labels[r];
    least = k < least ? k : least, most = k > most ? k : most;
  }
  return least >= low && most < end;
}

template <class T>
Change reassign(const ScaledRows<T>& rows, View<const double> centers, Bounds bounds, int32_t* labels, double* sums,
                double* counts) {
  Pass<T> pass(rows, centers, bounds, labels);
  Index K = centers.rows, d = centers.columns;
  Sums total{K, d};
  parallel_sum(rows.x.rows, pass.block, 4 * K, total, [&] { return Sums{K, d}; }, pass);
  total.write(sums, counts);
  return total.change;
}

template <class T>
Spread cluster_sums(const ScaledRows<T>& rows, View<const double> centers, const int32_t* labels, double* sums,
                    double* counts) {
  Index K = centers.rows, d = centers.columns;
  Centers<double> c(centers);
  SpreadSums total{{K, d}};
  parallel_sum(rows.x.rows, 4 * ROWS, 4 * K, total, [&] { return SpreadSums{{K, d}}; }, [&](SpreadSums& into, Index begin, Index end) {
    Spread spread = into.spread;
    into.used = true;
    for (Index r = begin; r < end; ++r) {
      Index k = labels[r];
      double w = rows.w(r), square = 0.0;
      const double* p = c.points.data() + k * d;
      double* __restrict s = into.sums.data() + k * d;
      each(rows, r, [&](Index i, double v) { s[i] += w * v, square += (v - p[i]) * (v - p[i]); });
      into.counts[k] += w;
      spread.cost += w * square;
      if (w > 0.0 && square > spread.away) spread.away = square, spread.row = r;
    }
    into.spread = spread;
  });
  total.write(sums, counts);
  return total.spread;
}

// ------------------------------------------------------------------------------------------------ sparse rows

namespace {

// A squared distance below this fraction of the squared lengths has lost digits in their difference.
constexpr double CANCELLED = 1e-6;

template <class T> struct SparseRow {
  const T* data;
  const int32_t* at;
  Index n;

  SparseRow(const SparseRows<T>& rows, Index r)
      : data(rows.data + rows.starts[r]), at(rows.columns + rows.starts[r]), n(rows.starts[r + 1] - rows.starts[r]) {
    uint32_t largest = 0;
    for (Index i = 0; i < n; ++i) largest = std::max(largest, uint32_t(at[i]));
    if (n && Index(largest) >= rows.width) throw std::invalid_argument("X has a column index beyond its columns");
  }

  // Return |x|², and write the products with all points (d, K).
  double products(const View<const double>& points, double* __restrict out) const {
    Index K = points.columns, i = 0;
    double length = 0.0;
    std::fill_n(out, K, 0.0);
    for (; i + 4 <= n; i += 4) {  // four entries at a time: products are read and written less often
      double a = data[i], b = data[i + 1], c = data[i + 2], e = data[i + 3];
      const double *first = points.row(at[i]), *second = points.row(at[i + 1]);
      const double *third = points.row(at[i + 2]), *fourth = points.row(at[i + 3]);
      length += a * a + b * b + c * c + e * e;
      for (Index k = 0; k < K; ++k) out[k] += a * first[k] + b * second[k] + c * third[k] + e * fourth[k];
    }
    for (; i < n; ++i) {
      double a = data[i];
      const double* first = points.row(at[i]);
      length += a * a;
      for (Index k = 0; k < K; ++k) out[k] += a * first[k];
    }
    return length;
  }
  double length() const {
    double total = 0.0;
    for (Index i = 0; i < n; ++i) total += double(data[i]) * double(data[i]);
    return total;
  }
  double product(const View<const double>& points, Index k) const {
    double total = 0.0;
    for (Index i = 0; i < n; ++i) total += data[i] * points(at[i], k);
    return total;
  }
  void add(double w, double* into) const {
    for (Index i = 0; i < n; ++i) into[at[i]] += w * data[i];
  }
  // Return |x - y_k|², of which |x|² + |y|² - 2 x·y is `square` and |x|² + |y|² is `size`; by differences if that
  // has cancelled.
  double distance(const View<const double>& points, Index k, double square, double size) const {
    if (square >= CANCELLED * size) return square;
    double total = 0.0;
    for (Index j = 0, i = 0; j < points.rows; ++j) {
      double v = i < n && at[i] == j ? double(data[i++]) : 0.0;
      total += (v - points(j, k)) * (v - points(j, k));
    }
    return total;
  }
};

// Rows of a block of sparse rows, and of a partial sum: it is merged in all its columns.
constexpr Index SPARSE_ROWS = 64;
template <class T> Index sparse_share(const SparseRows<T>& rows, Index K) {
  Index stored = rows.rows ? rows.starts[rows.rows] / rows.rows + 1 : 1;
  return K * rows.width / stored + 1;
}

}  // namespace

template <class T>
Change reassign(const SparseRows<T>& rows, View<const double> points, const double* squares, double scale,
                const double* centers, Bounds bounds, int32_t* labels, double* sums, double* counts) {
  Index K = points.columns, d = points.rows;
  double longest = *std::max_element(squares, squares + K);
  Movement moved(bounds.before, centers, K, d);
  auto one = [&](Index r, double* products, Sums& into) {
    Index old = labels[r];
    SparseRow<T> x(rows, r);
    double rounding = double(x.n + 6) * EPS;
    if (old >= 0) {
      bounds.lower[r] = std::max(bounds.lower[r] - moved.drop[old], 0.0f) * DOWN;
      bounds.upper[r] = (bounds.upper[r] + moved.move[old]) * UP;
      if (bounds.upper[r] < std::max(bounds.lower[r], moved.half[old])) return;
      double size = x.length() + squares[old], own = size - 2.0 * x.product(points, old);
      bounds.upper[r] = above(scale * std::sqrt(std::max(own, 0.0) + rounding * size));
      if (bounds.upper[r] < std::max(bounds.lower[r], moved.half[old])) return;
    }
    double length = x.products(points, products), best = INFINITY, second = INFINITY;
    Index near = 0;
    for (Index k = 0; k < K; ++k) {
      double score = squares[k] - 2.0 * products[k];
      if (score < best) near = k, second = best, best = score;
      else if (score < second) second = score;
    }
    double slack = rounding * (length + longest);
    bounds.upper[r] = above(scale * std::sqrt(std::max(best + length, 0.0) + slack));
    bounds.lower[r] = below(scale * std::sqrt(std::max(second + length - slack, 0.0)));
    if (near == old) return;
    labels[r] = int32_t(near);
    auto from = [&](Index k) {
      return x.distance(points, k, squares[k] - 2.0 * products[k] + length, squares[k] + length);
    };
    double w = rows.w(r), square = from(near);
    into.used = true, ++into.change.changed;
    if (old < 0) {
      into.change.cost += w * square;
    } else {
      into.change.gain += std::max(w * (from(old) - square), 0.0);
      into.counts[old] -= w, x.add(-w, into.sums.data() + old * d);
    }
    into.counts[near] += w, x.add(w, into.sums.data() + near * d);
  };
  Sums total{K, d};
  parallel_sum(rows.rows, SPARSE_ROWS, sparse_share(rows, K), total, [&] { return Sums{K, d}; }, [&](Sums& into, Index begin, Index end) {
    static thread_local Buffer<double> products;
    products.grow(K);
    for (Index r = begin; r < end; ++r) one(r, products.data(), into);
  });
  total.write(sums, counts);
  return total.change;
}

template <class T>
Spread cluster_sums(const SparseRows<T>& rows, View<const double> points, const double* squares, const int32_t* labels,
                    double* sums, double* counts) {
  Index K = points.columns, d = points.rows;
  SpreadSums total{{K, d}};
  parallel_sum(rows.rows, SPARSE_ROWS, sparse_share(rows, K), total, [&] { return SpreadSums{{K, d}}; },
               [&](SpreadSums& into, Index begin, Index end) {
    into.used = true;
    for (Index r = begin; r < end; ++r) {
      Index k = labels[r];
      SparseRow<T> x(rows, r);
      double w = rows.w(r), size = x.length() + squares[k];
      double square = x.distance(points, k, size - 2.0 * x.product(points, k), size);
      into.spread.cost += w * square;
      into.counts[k] += w, x.add(w, into.sums.data() + k * d);
      if (w > 0.0 && square > into.spread.away) into.spread.away = square, into.spread.row = r;
    }
  });
  total.write(sums, counts);
  return total.spread;
}

// ---------------------------------------------------------------------------------------------------- seeding

namespace {

// Rows of a block of seeding, whose columns lie in the second-level cache.
constexpr Index SEEDED = 512;
// Columns from which on the triangle inequality spares more than it takes to look at every row.
constexpr Index SPARED = 8;
// A quarter, less what rounding may add to the squared distances that it multiplies.
constexpr double QUARTER = 0.25 - 1e-11;

// Candidates whose costs differ by no more than this part of the cost before are equal, and the first of them is taken:
// of two rows far from all others either has the same cost, but for rounding.
constexpr double SAME = 1e-12;

struct Totals {
  Index n;
  Buffer<double> values{n};

  void clear() { values.fill(n, 0.0); }
  void operator+=(const Totals& other) {
    for (Index t = 0; t < n; ++t) values[t] += other.values[t];
  }
};

template <class T> struct Seeding {
  View<const T> x;
  Column<const double> w;
  Index n = x.rows, d = x.columns, blocks = (n + SEEDED - 1) / SEEDED, trials, K;
  Buffer<double> closest{n}, masses{blocks}, candidates{trials * d}, apart{trials * K}, points{K * d};
  Buffer<int32_t> owner{n};

  Index rows(Index b) const { return std::min((b + 1) * SEEDED, n); }
  double mass(Index i, bool even) const { return even ? w(i) : w(i) * closest[i]; }

  // The row in which the cumulative mass first exceeds a fraction of the whole.
  Index drawn(double level, const double* masses, double total, bool even) const {
    Index b = 0, last = 0, found = -1;
    double before = 0.0, held = 0.0;
    for (Index c = 0; c < blocks; ++c) last = masses[c] > 0.0 ? c : last;
    for (level *= total; b < last && before + masses[b] <= level; ++b) before += masses[b];
    for (Index i = b * SEEDED; i < rows(b); ++i) {
      double m = mass(i, even);
      if (m > 0.0) found = i;
      held += m;
      if (held > level - before) break;
    }
    return std::max<Index>(found, 0);
  }

  double square(Index i, const double* c) const {
    const T* row = x.row(i);
    double total = 0.0;
    if (x.across == 1) {
      for (Index j = 0; j < d; ++j) total += (double(row[j]) - c[j]) * (double(row[j]) - c[j]);
    } else {
      for (Index j = 0; j < d; ++j) total += (double(row[j * x.across]) - c[j]) * (double(row[j * x.across]) - c[j]);
    }
    return total;
  }

  // Call nearer(t, i, |x_i - c_t|²) for the rows of a block that may be nearer to candidate t than to their centre.
  // A row that is nearer to its own centre than half the distance between that and the candidate is not.
  template <class Use> void measure(Index begin, Index end, Index first, Index count, Index known, Use&& nearer) const {
    static thread_local Buffer<double> block, squares;
    static thread_local Buffer<Index> queue;
    Index m = end - begin;
    if (d < SPARED) {
      double *to = block.grow(d * SEEDED), *out = squares.grow(SEEDED);
      for (Index c = 0; c < d; ++c)
        for (Index j = 0; j < m; ++j) to[c * SEEDED + j] = double(x(begin + j, c));
      for (Index t = first; t < first + count; ++t) {
        squares_of_columns(to, SEEDED, m, candidates.data() + t * d, d, out, [=](Index j, double v) { out[j] = v; });
        for (Index j = 0; j < m; ++j) nearer(t, begin + j, out[j]);
      }
      return;
    }
    Index* open = queue.grow(SEEDED);
    for (Index t = first; t < first + count; ++t) {
      Index left = 0;
      for (Index i = begin; i < end; ++i) {  // without branches
        open[left] = i;
        left += known == 0 || closest[i] > apart[t * K + owner[i]];
      }
      for (Index q = 0; q < left; ++q) nearer(t, open[q], square(open[q], candidates.data() + t * d));
    }
  }

  void choose(View<const double> uniforms, int64_t* chosen) {
    Buffer<double> counts(blocks);
    Buffer<Index> tried(trials);
    Totals gains{trials};
    double whole = 0.0, total = 0.0;
    for (Index b = 0; b < blocks; ++b) {
      counts[b] = 0.0;
      for (Index i = b * SEEDED; i < rows(b); ++i) counts[b] += w(i);
      whole += counts[b];
    }
    closest.fill(n, INFINITY), owner.fill(n, 0);
    for (Index k = 0; k < K; ++k) {
      bool greedy = k && total > 0.0 && total < INFINITY;
      Index best = 0, m = greedy ? trials : 1;
      for (Index t = 0; t < m; ++t) {
        tried[t] = greedy ? drawn(uniforms(k, t), masses.data(), total, false) : drawn(uniforms(k, 0), counts.data(), whole, true);
        for (Index j = 0; j < d; ++j) candidates[t * d + j] = double(x(tried[t], j));
        for (Index l = 0; l < k && d >= SPARED; ++l) {
          double sum = 0.0;
          for (Index j = 0; j < d; ++j) {
            double v = candidates[t * d + j] - points[l * d + j];
            sum += v * v;
          }
          apart[t * K + l] = QUARTER * sum;
        }
      }
      if (greedy) {
        parallel_sum(n, SEEDED, 1, gains, [&] { return Totals{trials}; }, [&](Totals& into, Index begin, Index end) {
          double* __restrict sums = into.values.data();
          measure(begin, end, 0, trials, k, [&](Index t, Index i, double v) { sums[t] += std::max(closest[i] - v, 0.0) * w(i); });
        });
        double most = *std::max_element(gains.values.data(), gains.values.data() + trials);
        while (gains.values[best] < most - SAME * total) ++best;
      }
      chosen[k] = tried[best];
      std::copy_n(candidates.data() + best * d, d, points.data() + k * d);
      parallel_for(n, SEEDED, [&](Index begin, Index end) {
        measure(begin, end, best, 1, k, [&](Index, Index i, double v) {
          owner[i] = v < closest[i] ? int32_t(k) : owner[i];
          closest[i] = v < closest[i] ? v : closest[i];
        });
        double sum = 0.0;
        for (Index i = begin; i < end; ++i) sum += mass(i, false);
        masses[begin / SEEDED] = sum;
      });
      total = 0.0;
      for (Index b = 0; b < blocks; ++b) total += masses[b];
    }
  }
};

}  // namespace

template <class T>
void kmeans_plus_plus(View<const T> x, Column<const double> w, View<const double> uniforms, int64_t* chosen) {
  Seeding<T> seeding{.x = x, .w = w, .trials = uniforms.columns, .K = uniforms.rows};
  seeding.choose(uniforms, chosen);
}

// ------------------------------------------------------------------------------------------ sums of distances

namespace {

// Rows and columns that meet at once; sixteen tiles of columns fit the first-level cache.
constexpr Index MET_ROWS = 32, MET = 256;
// Above this dimension a product of matrices is faster than differences, though most pairs pass through memory.
constexpr Index LARGEST_DIRECT = 96;
// A squared distance below this fraction of the squared lengths has lost two digits in their difference.
constexpr double LOST = 0.01;

}  // namespace

template <class T>
void distance_sums(View<const T> x, View<const double> columns, const double* weights, const int64_t* starts,
                   Index groups, double* out) {
  Index d = x.columns;
  bool products = d > LARGEST_DIRECT;
  Buffer<double> lengths;
  if (products) {
    lengths.fill(columns.columns, 0.0);
    for (Index i = 0; i < d; ++i)
      for (Index j = 0; j < columns.columns; ++j) lengths[j] += columns(i, j) * columns(i, j);
  }
  parallel_for(x.rows, MET_ROWS, [&](Index begin, Index end) {
    static thread_local Buffer<double> rows, found;
    Index n = end - begin;
    rows.grow(MET_ROWS * d), found.grow(MET_ROWS * MET);
    double row_lengths[MET_ROWS];
    for (Index r = 0; r < n; ++r) {
      row_lengths[r] = 0.0;
      for (Index i = 0; i < d; ++i) {
        double v = rows[r * d + i] = double(x(begin + r, i));
        row_lengths[r] += v * v;
      }
    }
    std::fill_n(out + begin * groups, n * groups, 0.0);
    for (Index k = 0; k < groups; ++k) {
      for (Index start = starts[k]; start < starts[k + 1]; start += MET) {
        Index m = std::min<Index>(MET, starts[k + 1] - start);
        const double* tile = columns.data + start;
        if (products)
          blas::gemm(false, false, int(n), int(m), int(d), -2.0, rows.data(), int(d), tile, int(columns.down), found.data(), int(MET));
        for (Index r = 0; r < n; ++r) {
          double *__restrict squares = found.data() + r * MET, total = 0.0;
          const double* row = rows.data() + r * d;
          if (products) {
            Index doubtful = 0;
            for (Index j = 0; j < m; ++j) {
              double both = row_lengths[r] + lengths[start + j];
              squares[j] += both;
              doubtful += squares[j] < LOST * both;
            }
            for (Index j = 0; doubtful && j < m; ++j) {  // by differences where the products have cancelled
              if (!(squares[j] < LOST * (row_lengths[r] + lengths[start + j]))) continue;
              squares[j] = 0.0;
              for (Index i = 0; i < d; ++i) squares[j] += (tile[i * columns.down + j] - row[i]) * (tile[i * columns.down + j] - row[i]);
            }
          } else {
            squares_of_columns(tile, columns.down, m, row, d, squares, [=](Index j, double v) { squares[j] = v; });
          }
          for (Index j = 0; j < m; ++j) total += weights[start + j] * std::sqrt(squares[j]);
          out[(begin + r) * groups + k] += total;
        }
      }
    }
  });
}

#define INSTANCES(T)                                                                                                   \
  template Change reassign(const ScaledRows<T>&, View<const double>, Bounds, int32_t*, double*, double*);             \
  template Change reassign(const SparseRows<T>&, View<const double>, const double*, double, const double*, Bounds,    \
                           int32_t*, double*, double*);                                                                \
  template Spread cluster_sums(const ScaledRows<T>&, View<const double>, const int32_t*, double*, double*);            \
  template Spread cluster_sums(const SparseRows<T>&, View<const double>, const double*, const int32_t*, double*,       \
                               double*);                                                                               \
  template void kmeans_plus_plus(View<const T>, Column<const double>, View<const double>, int64_t*);                   \
  template void distance_sums(View<const T>, View<const double>, const double*, const int64_t*, Index, double*);
INSTANCES(double)
INSTANCES(float)

}  // namespace tractable
