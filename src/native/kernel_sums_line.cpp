// Sums of windows over sorted points of a line: a fast Gauss transform, running totals, two passes.
//
// Gaussian: points fall into bins of half a bandwidth h, and every bin keeps moments. With u = (x - c)/h, v = (q - c)/h,
//   exp(-(u - v)²/2) = exp(-v²/2) Σ_k v^k [exp(-u²/2) u^k / k!]
// As |u| ≤ 1/4 and |v| ≤ 10.5, the series is short and nearly free of cancellation: 26 terms leave 1e-13 of every bin.
//
// Bounded support: within a bin of a quarter of the window, the window is a sum of few functions of the point about the
// centre (powers, or a sine and a cosine), whose running totals are kept: a part of a bin is one difference. Where that
// might not leave eleven digits, the points are added one by one.
//
// Differences are taken before they are divided by h, so that points far from zero keep their digits; this file is
// compiled without reordering sums.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernel_sums.hpp"

namespace tractable {
namespace {

constexpr double PI = std::numbers::pi;
// Queries of a task.
constexpr Index QUERIES = 256;
// Bins whose centres are farther than this are summed point by point; queries that are farther than NEAR from every
// point are answered in logarithms; what may be missing of a sum.
constexpr double REACH = 10.5, NEAR = 5.0, TOLERANCE = 1e-13;

Index first_at_least(const double* x, Index n, double v) { return std::lower_bound(x, x + n, v) - x; }
Index first_above(const double* x, Index n, double v) { return std::upper_bound(x, x + n, v) - x; }
Index bin_of(const Bins& bins, Index i) { return std::upper_bound(bins.first, bins.first + bins.count + 1, i) - bins.first - 1; }

// How many terms of exp(uv) leave 1e-14 of it, for |u| ≤ 0.255 and |v| ≤ 0, 1, 2, …
struct TermCounts {
  Index of[12];
  TermCounts() {
    for (int v = 0; v < 12; ++v) {
      double product = 0.255 * v, term = 1.0;
      Index k = 0;
      while (term > 1e-14 * std::exp(-product) && k < GAUSS_TERMS) term *= product / double(++k);
      of[v] = std::max<Index>(k, 2);
    }
  }
};
const TermCounts counts;

// The fast Gauss transform of the points of a line.
struct Gauss {
  const Line& line;
  double whole;
  const Bins& bins;
  const double* moments;

  double at(double q, Index i) const { return (q - line.x[i]) / line.h; }
  double beyond(double weight) const { return 2.0 * std::log(whole / (weight * TOLERANCE)); }

  // Call near(v, moments) or far(i) for bins, or their points, within reach of a query.
  template <class Near, class Far> void visit(double q, double reach, Near&& near, Far&& far) const {
    Index b = first_at_least(bins.starts, bins.count, q - (reach + 0.5) * line.h);
    Index last = first_at_least(bins.starts, bins.count, q + reach * line.h);
    for (; b < last; ++b) {
      double v = (q - bins.centres[b]) / line.h;
      if (std::abs(v) <= REACH) near(v, moments + b * GAUSS_TERMS);
      else
        for (Index i = bins.first[b]; i < bins.first[b + 1]; ++i) far(i);
    }
  }
  double sum(double q, double reach) const {
    double total = 0.0;
    visit(q, reach, [&](double v, const double* m) {
      double s = 0.0;
      for (Index k = counts.of[int(std::abs(v)) + 1]; k-- > 0;) s = s * v + m[k];
      total += s * std::exp(-0.5 * v * v);
    }, [&](Index i) { total += line.w[i] * std::exp(-0.5 * at(q, i) * at(q, i)); });
    return total;
  }
  // Σ w u² exp(-u²/2), from the second derivative of the sum: exp(-v²/2) (P'' - 2 v P' + v² P).
  double spread(double q, double reach) const {
    double total = 0.0;
    visit(q, reach, [&](double v, const double* m) {
      double p = 0.0, dp = 0.0, ddp = 0.0;
      for (Index k = GAUSS_TERMS; k-- > 0;) {
        ddp = ddp * v + 2.0 * dp;
        dp = dp * v + p;
        p = p * v + m[k];
      }
      total += (ddp - 2.0 * v * dp + v * v * p) * std::exp(-0.5 * v * v);
    }, [&](Index i) {
      double square = at(q, i) * at(q, i);
      total += line.w[i] * square * std::exp(-0.5 * square);
    });
    return total;
  }
  // Sum about the nearest point, in logarithms: only those within reach count, and `own` for `kept`.
  double about_nearest(double q, double near, double beyond, Index own, double kept) const {
    double reach = near + beyond / (near + std::sqrt(near * near + beyond));  // √(near² + beyond), without cancellation
    Index high = first_above(line.x, line.n, q + reach * line.h);
    double total = 0.0;
    for (Index i = first_at_least(line.x, line.n, q - reach * line.h); i < high; ++i) {
      double away = std::abs(at(q, i)), weight = i == own ? kept : line.w[i];
      if (weight > 0.0) total += weight * std::exp(-0.5 * (away - near) * (away + near));
    }
    return std::log(total) - 0.5 * near * near;
  }
  double spread_about(double q, Index own, double log_sum) const {
    if (log_sum == -INFINITY) return 0.0;
    double reach = std::sqrt(std::max(-2.0 * log_sum, 0.0) + 100.0), total = 0.0;
    Index high = first_above(line.x, line.n, q + reach * line.h);
    for (Index i = first_at_least(line.x, line.n, q - reach * line.h); i < high; ++i) {
      double square = at(q, i) * at(q, i);
      if (i != own) total += line.w[i] * square * std::exp(-0.5 * square - log_sum);
    }
    return total;
  }
};

}  // namespace

Index bin_points(const double* x, Index n, double width, double* starts, int64_t* first, double* centres) {
  Index count = 0;
  double end = -INFINITY;
  for (Index i = 0; i < n; ++i) {
    if (!(x[i] > end)) continue;
    first[count++] = i;
    end = x[i] + width;
    if (std::abs((end - x[i]) - width) > 0.01 * width) end = x[i];  // numbers lie as far apart as bins are wide
  }
  first[count] = n;
  for (Index b = 0; b < count; ++b) {
    double start = x[first[b]], centre = start + 0.5 * width;
    bool exact = std::abs((centre - start) - 0.5 * width) <= 0.01 * width;
    starts[b] = start, centres[b] = exact ? centre : start;
  }
  return count;
}

void gauss_moments(const Line& line, const Bins& bins, double* moments) {
  constexpr Index LANES = 16;  // points at a time, each with a sum of its own
  parallel_for(bins.count, 16, [&](Index begin, Index end) {
    double u[LANES], term[LANES], sums[GAUSS_TERMS][LANES];
    for (Index b = begin; b < end; ++b) {
      for (auto& row : sums) std::fill_n(row, LANES, 0.0);
      for (Index i = bins.first[b]; i < bins.first[b + 1]; i += LANES) {
        Index size = std::min<Index>(LANES, bins.first[b + 1] - i);
        for (Index j = 0; j < LANES; ++j) {
          u[j] = j < size ? (line.x[i + j] - bins.centres[b]) / line.h : 0.0;
          term[j] = j < size ? line.w[i + j] * std::exp(-0.5 * u[j] * u[j]) : 0.0;
        }
        for (Index k = 0; k < GAUSS_TERMS; ++k) {
          double reciprocal = 1.0 / double(k + 1);
          for (Index j = 0; j < LANES; ++j) sums[k][j] += term[j], term[j] *= u[j] * reciprocal;
        }
      }
      for (Index k = 0; k < GAUSS_TERMS; ++k) {
        double total = 0.0;
        for (double each : sums[k]) total += each;
        moments[b * GAUSS_TERMS + k] = total;
      }
    }
  });
}

void gauss_log_sums(const Line& line, double whole, const Bins& bins, const double* moments, const double* queries,
                    Index m, double* out) {
  Gauss gauss{line, whole, bins, moments};
  parallel_for(m, QUERIES, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      double q = queries[j];
      Index at = first_at_least(line.x, line.n, q), nearest = std::min(at, line.n - 1);
      if (at > 0 && std::abs(q - line.x[at - 1]) < std::abs(q - line.x[nearest])) nearest = at - 1;
      double near = std::abs(gauss.at(q, nearest)), beyond = gauss.beyond(line.w[nearest]);
      out[j] = near > NEAR ? gauss.about_nearest(q, near, beyond, -1, 0.0)
                           : std::log(gauss.sum(q, std::sqrt(near * near + beyond)));
    }
  });
}

void gauss_sums_at_points(const Line& line, double whole, const Bins& bins, const double* moments, Index begin, Index m,
                          double* out) {
  constexpr int NODES = 14;   // of Chebyshev's polynomials, by which the sum is interpolated within a bin
  constexpr Index FEW = 18;   // points, which are summed one by one
  Gauss gauss{line, whole, bins, moments};
  Index end = begin + m, from = bin_of(bins, begin), until = m ? bin_of(bins, end - 1) + 1 : from;
  double angles[NODES];
  for (int k = 0; k < NODES; ++k) angles[k] = PI * (k + 0.5) / NODES;
  parallel_for(until - from, 8, [&](Index low, Index high) {
    for (Index b = from + low; b < from + high; ++b) {
      Index i = std::max<Index>(begin, bins.first[b]), stop = std::min<Index>(bins.first[b + 1], end);
      if (stop - i < FEW || bins.centres[b] == bins.starts[b]) {
        for (; i < stop; ++i) out[i - begin] = gauss.sum(line.x[i], std::sqrt(gauss.beyond(line.w[i])));
        continue;
      }
      double reach = std::sqrt(gauss.beyond(*std::min_element(line.w + i, line.w + stop)));
      double values[NODES], c[NODES];
      for (int k = 0; k < NODES; ++k)
        values[k] = gauss.sum(bins.centres[b] + 0.25 * line.h * std::cos(angles[k]), reach);
      for (int n = 0; n < NODES; ++n) {
        c[n] = 0.0;
        for (int k = 0; k < NODES; ++k) c[n] += std::cos(n * angles[k]) * values[k] * (n ? 2.0 : 1.0) / NODES;
      }
      for (; i < stop; ++i) {  // Clenshaw's sum
        double s = (line.x[i] - bins.centres[b]) * (4.0 / line.h), later = 0.0, latest = 0.0;
        for (int n = NODES - 1; n > 0; --n) {
          double next = c[n] + 2.0 * s * later - latest;
          latest = later, later = next;
        }
        out[i - begin] = c[0] + s * later - latest;
      }
    }
  });
}

void gauss_log_left_out(const Line& line, double whole, const Bins& bins, const double* moments, const double* sums,
                        const double* left, Index begin, Index m, double* out, double* spread) {
  Gauss gauss{line, whole, bins, moments};
  parallel_for(m, QUERIES, [&](Index low, Index high) {
    for (Index j = low; j < high; ++j) {
      Index i = begin + j;
      double q = line.x[i], kept = std::max(line.w[i] - left[j], 0.0), rest = sums[j] - left[j];
      bool direct = rest <= 1e-3 * left[j];
      if (direct) {
        double near = kept > 0.0 ? 0.0 : INFINITY, weight = kept;
        if (kept <= 0.0 && i > 0) near = gauss.at(q, i - 1), weight = line.w[i - 1];
        if (kept <= 0.0 && i + 1 < line.n && -gauss.at(q, i + 1) < near) near = -gauss.at(q, i + 1), weight = line.w[i + 1];
        out[j] = near == INFINITY ? -INFINITY : gauss.about_nearest(q, near, gauss.beyond(weight), i, kept);
      } else {
        out[j] = std::log(rest);
      }
      if (spread)
        spread[j] = direct ? gauss.spread_about(q, i, out[j]) : gauss.spread(q, std::sqrt(gauss.beyond(line.w[i]))) / rest;
    }
  });
}

// --------------------------------------------------------------------------------------------- bounded support

namespace {

// Fewer points than this are added one by one; what a sum of running totals may lose, beside what it is.
constexpr Index FEW_POINTS = 24;
constexpr double LOST = 1e-11;

// The first sorted point that is no farther than h, and the first beyond.
std::pair<Index, Index> within(const Line& line, double q) {
  const double* x = line.x;
  Index low = first_at_least(x, line.n, q - line.h), high = first_above(x, line.n, q + line.h);
  // The ends of the window are rounded, and may have met a number that is farther than they are.
  if (low < high && q - x[low] > line.h) low = first_above(x, line.n, x[low]);
  if (low < high && x[high - 1] - q > line.h) high = first_at_least(x, line.n, x[high - 1]);
  return {low, high};
}

double height(int kind, double r) {
  if (r > 1.0) return 0.0;
  if (kind == TOPHAT) return 1.0;
  if (kind == TRIANGULAR) return 1.0 - r;
  if (kind == EPANECHNIKOV) return 1.0 - r * r;
  if (kind == BIWEIGHT) return (1.0 - r * r) * (1.0 - r * r);
  return std::sin(0.5 * PI * (1.0 - r));
}

// Σ w k(v - u) from the sums of w u^k (or of cosine and sine); a triangle on one side of the query.
double combined(int kind, double v, const double* m, double side) {
  double c = 1.0 - v * v;
  if (kind == TOPHAT) return m[0];
  if (kind == TRIANGULAR) return m[0] - side * (v * m[0] - m[1]);
  if (kind == EPANECHNIKOV) return c * m[0] + 2.0 * v * m[1] - m[2];
  if (kind == BIWEIGHT)
    return c * c * m[0] + 4.0 * v * c * m[1] + (4.0 * v * v - 2.0 * c) * m[2] - 4.0 * v * m[3] + m[4];
  return std::cos(0.5 * PI * v) * m[1] + std::sin(0.5 * PI * v) * m[2];
}

// Σ w (F(t) - 1/2) of t = v - u, an odd function.
double odd(int kind, double v, const double* m, double sign) {
  if (kind == COSINE) return 0.5 * (std::sin(0.5 * PI * v) * m[1] - std::cos(0.5 * PI * v) * m[2]);
  double first = v * m[0] - m[1];
  if (kind == TOPHAT) return 0.5 * first;
  if (kind == TRIANGULAR) return first - sign * 0.5 * (v * v * m[0] - 2.0 * v * m[1] + m[2]);
  double third = v * v * v * m[0] - 3.0 * v * v * m[1] + 3.0 * v * m[2] - m[3];
  if (kind == EPANECHNIKOV) return 0.75 * first - 0.25 * third;
  double v2 = v * v, v4 = v2 * v2;
  double fifth = v4 * v * m[0] - 5.0 * v4 * m[1] + 10.0 * v2 * v * m[2] - 10.0 * v2 * m[3] + 5.0 * v * m[4] - m[5];
  return (15.0 * first - 10.0 * third + 3.0 * fifth) / 16.0;
}

// F(t), the mass of a window below t, with the digits of the lower tail.
double mass_below(int kind, double t) {
  double s = 1.0 - std::min(std::abs(t), 1.0), below;
  if (kind == TOPHAT) below = 0.5 * s;
  else if (kind == TRIANGULAR) below = 0.5 * s * s;
  else if (kind == EPANECHNIKOV) below = 0.25 * s * s * (3.0 - s);
  else if (kind == BIWEIGHT) below = s * s * s * (20.0 - 15.0 * s + 3.0 * s * s) / 16.0;
  else below = std::sin(0.25 * PI * s) * std::sin(0.25 * PI * s);
  return t > 0.0 ? 1.0 - below : below;
}

// Call use(v, m) for the bins with points from low to high, m the sums over these; return a bound on the rounding.
template <class Use>
double ranged(const Line& line, const Bins& bins, const double* totals, double q, Index low, Index high, Use&& use) {
  double lost = 0.0, m[TOTALS];
  if (high <= low) return lost;
  for (Index b = bin_of(bins, low); b < bins.count && bins.first[b] < high; ++b) {
    Index first = bins.first[b], begin = std::max(low, first), end = std::min<Index>(high, bins.first[b + 1]);
    const double* last = totals + (end - 1) * TOTALS;
    for (Index k = 0; k < TOTALS; ++k) m[k] = last[k] - (begin > first ? totals[(begin - 1) * TOTALS + k] : 0.0);
    lost += 1e-15 * (8.0 + std::sqrt(double(end - first))) * last[0];
    use((q - bins.centres[b]) / line.h, m);
  }
  return lost;
}

}  // namespace

void running_totals(const Line& line, const Bins& bins, int kind, double* totals) {
  parallel_for(bins.count, 16, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b)
      for (Index i = bins.first[b]; i < bins.first[b + 1]; ++i) {
        double u = (line.x[i] - bins.centres[b]) / line.h, w = line.w[i], *row = totals + i * TOTALS;
        for (Index k = 0; k < TOTALS; ++k, w *= u) row[k] = kind == COSINE ? 0.0 : w;
        if (kind == COSINE) {
          row[0] = line.w[i];
          row[1] = line.w[i] * std::cos(0.5 * PI * u);
          row[2] = line.w[i] * std::sin(0.5 * PI * u);
        }
        if (i > bins.first[b])
          for (Index k = 0; k < TOTALS; ++k) row[k] += row[k - TOTALS];
      }
  });
}

void disc_log_sums(const Line& line, const Bins& bins, const double* totals, int kind, const double* queries, Index m,
                   const double* left, Index begin, double* out) {
  parallel_for(m, QUERIES, [&](Index from, Index until) {
    for (Index j = from; j < until; ++j) {
      double q = queries[j], away = left ? left[j] : 0.0, total = 0.0;
      Index own = left ? begin + j : -1;
      auto [low, high] = within(line, q);
      bool settled = high - low > FEW_POINTS;
      if (settled) {
        Index middle = kind == TRIANGULAR ? first_at_least(line.x, line.n, q) : high;
        double lower = 0.0, upper = 0.0;
        double lost = ranged(line, bins, totals, q, low, middle, [&](double v, const double* s) { lower += combined(kind, v, s, 1.0); });
        lost += ranged(line, bins, totals, q, middle, high, [&](double v, const double* s) { upper += combined(kind, v, s, -1.0); });
        total = lower + upper - away;
        settled = lost <= LOST * total && total > 1e-3 * away;
      }
      if (!settled) {
        total = 0.0;
        for (Index i = low; i < high; ++i) {
          double w = i == own ? std::max(line.w[i] - away, 0.0) : line.w[i];
          total += w * height(kind, std::abs(q - line.x[i]) / line.h);
        }
      }
      out[j] = total > 0.0 ? std::log(total) : -INFINITY;
    }
  });
}

// ---------------------------------------------------------------------------------------------------- Laplace

void laplace_passes(const Line& line, double* below, double* above) {
  double total = 0.0;
  for (Index i = 0; i < line.n; ++i)
    below[i] = total = line.w[i] + (i ? total * std::exp((line.x[i - 1] - line.x[i]) / line.h) : 0.0);
  for (Index i = line.n; i-- > 0;)
    above[i] = total = line.w[i] + (i + 1 < line.n ? total * std::exp((line.x[i] - line.x[i + 1]) / line.h) : 0.0);
}

void laplace_log_sums(const Line& line, const double* below, const double* above, const double* queries, Index m,
                      const double* left, Index begin, double* out) {
  parallel_for(m, QUERIES, [&](Index low, Index high) {
    for (Index j = low; j < high; ++j) {
      double q = queries[j];
      Index at = left ? begin + j : first_at_least(line.x, line.n, q), after = left ? at + 1 : at;
      double lower = at > 0 ? std::log(below[at - 1]) - (q - line.x[at - 1]) / line.h : -INFINITY;
      double upper = after < line.n ? std::log(above[after]) - (line.x[after] - q) / line.h : -INFINITY;
      double kept = left ? std::max(line.w[at] - left[j], 0.0) : 0.0;
      double top = std::max({lower, upper, kept > 0.0 ? std::log(kept) : -INFINITY});
      double own = kept > 0.0 ? kept * std::exp(-top) : 0.0;
      out[j] = top == -INFINITY ? top : top + std::log(std::exp(lower - top) + std::exp(upper - top) + own);
    }
  });
}

// ------------------------------------------------------------------------------------------------------ tails

namespace {

// Beyond so many bandwidths a Gaussian window lies on one side of a query, but for less than a rounding; bins farther
// on the wrong side are summed point by point, since their series cancel; what may be left out.
constexpr double WHOLE = 8.5, SERIES = 10.5, LEFT_OUT = 1e-14;

double normal_below(double z) { return 0.5 * std::erfc(-0.7071067811865476 * z); }

double bin_tail(const double* m, double v, int side) {
  double total = m[0] * normal_below(side * v);
  if (side * v >= WHOLE + 0.5) return total;
  double before = 0.0, he = 1.0, s = 0.0;
  for (Index k = 1; k < TAIL_TERMS; ++k) {
    s += he * m[k];
    double next = v * he - double(k - 1) * before;
    before = he, he = next;
  }
  return total - side * s * std::exp(-0.5 * v * v) * 0.3989422804014327;
}

}  // namespace

void plain_moments(const Line& line, const Bins& bins, double* moments) {
  parallel_for(bins.count, 16, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      double row[TAIL_TERMS] = {};
      for (Index i = bins.first[b]; i < bins.first[b + 1]; ++i) {
        double u = (line.x[i] - bins.centres[b]) / line.h, term = line.w[i];
        for (Index k = 0; k < TAIL_TERMS; ++k) row[k] += term, term *= u / double(k + 1);
      }
      std::copy_n(row, TAIL_TERMS, moments + b * TAIL_TERMS);
    }
  });
}

void normal_tails(const Line& line, const Bins& bins, const double* moments, const double* running, int side,
                  const double* queries, Index m, double* out) {
  parallel_for(m, QUERIES, [&](Index from, Index until) {
    for (Index j = from; j < until; ++j) {
      double q = queries[j], total;
      Index b, end;
      if (side > 0) {
        b = std::max<Index>(first_at_least(bins.starts, bins.count, q - (WHOLE + 0.5) * line.h) - 1, 0), end = bins.count;
        total = running[bins.first[b]];
      } else {
        b = first_above(bins.starts, bins.count, q + WHOLE * line.h), end = -1;
        total = running[bins.first[b--]];
      }
      for (; b != end; b += side) {
        // No point of this bin or of those to come is nearer, or farther on this side.
        double edge = side > 0 ? (q - bins.starts[b]) / line.h : -(q - line.x[bins.first[b + 1] - 1]) / line.h;
        double rest = side > 0 ? running[line.n] - running[bins.first[b]] : running[0] - running[bins.first[b + 1]];
        if (edge < -2.0 && rest * normal_below(edge) <= LEFT_OUT * total) break;
        double v = (q - bins.centres[b]) / line.h;
        if (side * v < -SERIES) {
          for (Index i = bins.first[b]; i < bins.first[b + 1]; ++i)
            total += line.w[i] * normal_below(side * (q - line.x[i]) / line.h);
        } else {
          total += bin_tail(moments + b * TAIL_TERMS, v, side);
        }
      }
      out[j] = total;
    }
  });
}

void disc_tails(const Line& line, const Bins& bins, const double* totals, int kind, const double* running, int side,
                const double* queries, Index m, double* out) {
  parallel_for(m, QUERIES, [&](Index from, Index until) {
    for (Index j = from; j < until; ++j) {
      double q = queries[j];
      auto [low, high] = within(line, q);
      double whole = side > 0 ? running[low] : running[high], total = whole;
      bool settled = high - low > FEW_POINTS;
      if (settled) {
        Index middle = kind == TRIANGULAR ? first_at_least(line.x, line.n, q) : high;
        double lost = ranged(line, bins, totals, q, low, middle, [&](double v, const double* s) {
          total += 0.5 * s[0] + side * odd(kind, v, s, 1.0);
        });
        lost += ranged(line, bins, totals, q, middle, high, [&](double v, const double* s) {
          total += 0.5 * s[0] + side * odd(kind, v, s, -1.0);
        });
        settled = lost <= LOST * total;
      }
      if (!settled) {
        total = whole;
        for (Index i = low; i < high; ++i) total += line.w[i] * mass_below(kind, side * (q - line.x[i]) / line.h);
      }
      out[j] = total;
    }
  });
}

void laplace_tails(const Line& line, const double* below, const double* above, const double* running, int side,
                   const double* queries, Index m, double* out) {
  parallel_for(m, QUERIES, [&](Index from, Index until) {
    for (Index j = from; j < until; ++j) {
      double q = queries[j];
      Index at = side > 0 ? first_above(line.x, line.n, q) : first_at_least(line.x, line.n, q);
      double lower = at > 0 ? 0.5 * below[at - 1] * std::exp(-(q - line.x[at - 1]) / line.h) : 0.0;
      double upper = at < line.n ? 0.5 * above[at] * std::exp(-(line.x[at] - q) / line.h) : 0.0;
      out[j] = running[at] + side * (upper - lower);
    }
  });
}

}  // namespace tractable
