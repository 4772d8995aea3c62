// Squared distances and exponentials of a tile of numbers, written so that they use the lanes of the processor.
#pragma once
#include "core.hpp"

namespace tractable {

// exp of this is the least normal number, nearly; what lies below counts as zero.
inline constexpr double LOWEST = -708.0;

// Replace x[:n] ≤ 0 by exp(x), to the last digits; by zero below `LOWEST`.
void exp_tile(double* __restrict x, Index n);

namespace tiles {
// `More` says whether sums go on from those before: a test in the loop would cost more than its arithmetic.
template <int D, bool More, class Use>
inline void squares(const double* __restrict block, Index down, Index n, const double* p, const double* before, Use&& use) {
  for (Index j = 0; j < n; ++j) {
    double sum = More ? before[j] : 0.0;
    for (int i = 0; i < D; ++i) {
      double v = block[i * down + j] - p[i];
      sum += v * v;
    }
    use(j, sum);
  }
}

template <bool More, class Use>
inline void last(const double* block, Index down, Index n, const double* p, Index d, const double* before, Use&& use) {
  if (d == 4) squares<4, More>(block, down, n, p, before, use);
  if (d == 3) squares<3, More>(block, down, n, p, before, use);
  if (d == 2) squares<2, More>(block, down, n, p, before, use);
  if (d == 1) squares<1, More>(block, down, n, p, before, use);
  if (d == 0) squares<0, More>(block, down, n, p, before, use);
}
}  // namespace tiles

// Call use(j, |y_j - p|²) for n columns y_j of a block (d, n) whose rows are `down` apart: four coordinates at a time,
// summed in `partial` (n), of which `use` may write entry j.
template <class Use>
inline void squares_of_columns(const double* block, Index down, Index n, const double* p, Index d, double* partial, Use&& use) {
  if (d <= 4) return tiles::last<false>(block, down, n, p, d, partial, use);
  auto write = [=](Index j, double sum) { partial[j] = sum; };
  tiles::squares<4, false>(block, down, n, p, partial, write);
  Index i = 4;
  for (; i + 4 < d; i += 4) tiles::squares<4, true>(block + i * down, down, n, p + i, partial, write);
  tiles::last<true>(block + i * down, down, n, p + i, d - i, partial, use);
}

}  // namespace tractable
