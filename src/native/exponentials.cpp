// Exponentials of a tile of numbers. This file is compiled without reordering sums: what is subtracted in two parts
// must not become one.
#include <bit>

#include "tiles.hpp"

namespace tractable {

namespace {

constexpr Index TILE = 256;

void exps(const double* __restrict x, double* __restrict out, Index n) {
  for (Index j = 0; j < n; ++j) {
    double given = x[j], v = given > LOWEST ? given : LOWEST;
    int32_t k = int32_t(v * 1.4426950408889634 - 0.5);  // truncated: rounded, since v is not positive
    double r = (v - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double p = 2.08767569878681e-09;  // 1/12!, and then 1/11! to 1
    p = 2.505210838544172e-08 + r * p;
    p = 2.7557319223985893e-07 + r * p;
    p = 2.7557319223985893e-06 + r * p;
    p = 2.48015873015873e-05 + r * p;
    p = 1.984126984126984e-04 + r * p;
    p = 1.388888888888889e-03 + r * p;
    p = 8.333333333333333e-03 + r * p;
    p = 4.1666666666666664e-02 + r * p;
    p = 1.6666666666666666e-01 + r * p;
    p = 0.5 + r * p;
    p = 1.0 + r * p;
    p = 1.0 + r * p;
    double power = std::bit_cast<double>((int64_t(k) + 1023) << 52);
    out[j] = p * power;
  }
}

}  // namespace

void exp_tile(double* __restrict x, Index n) {
  alignas(64) double found[TILE];
  for (; n > 0; n -= TILE, x += TILE) {
    Index size = n < TILE ? n : TILE;
    exps(x, found, size);
    for (Index j = 0; j < size; ++j) {  // a loop of its own: with the first, GCC would branch for each number
      double low = x[j] <= LOWEST ? 0.0 : x[j];  // NaN stays
      x[j] = x[j] > LOWEST ? found[j] : low;
    }
  }
}

}  // namespace tractable
