// The joint distribution of the columns of a table, a mixture, and its conditional distributions: the
// mathematics of the panel of a report, as `condition`, `marginal` and `log_prob` have it in Python.
"use strict";

const LOG_2PI = Math.log(2 * Math.PI);
const sum = (xs) => xs.reduce((a, b) => a + b, 0);
const range = (n) => Array.from({ length: n }, (_, i) => i);
const isKnown = (x) => x !== null && !Number.isNaN(x);

function logSumExp(xs) {
  const peak = Math.max(...xs);
  return Number.isFinite(peak) ? peak + Math.log(sum(xs.map((x) => Math.exp(x - peak)))) : peak;
}

// 1 - erf x: a series of positive terms for small x, a continued fraction for large.
function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x > 27) return 0;
  if (x < 2.5) {
    let term = x, total = x;
    for (let n = 1; term > 1e-17 * total; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      total += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
  }
  let fraction = x;
  for (let k = 40; k > 0; k--) fraction = x + k / 2 / fraction;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
}

// The lower factor L of a covariance L Lᵀ, by rows.
function cholesky(a) {
  const n = a.length, l = range(n).map(() => new Float64Array(n));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let s = a[i][j];
      for (let k = 0; k < j; k++) s -= l[i][k] * l[j][k];
      l[i][j] = i === j ? Math.sqrt(Math.max(s, Number.MIN_VALUE)) : s / l[j][j];
    }
  }
  return l;
}

// L⁻¹ b, and L⁻ᵀ b.
function forward(l, b) {
  const x = Float64Array.from(b);
  for (let i = 0; i < x.length; i++) {
    for (let k = 0; k < i; k++) x[i] -= l[i][k] * x[k];
    x[i] /= l[i][i];
  }
  return x;
}

function backward(l, b) {
  const x = Float64Array.from(b);
  for (let i = x.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < x.length; k++) x[i] -= l[k][i] * x[k];
    x[i] /= l[i][i];
  }
  return x;
}

function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}

const halfLogDet = (l) => sum(l.map((row, i) => Math.log(row[i])));

// A mixture of normal numbers: p(x) = Σ w_k N(x | m_k, s_k²).
class NumberMixture {
  constructor(weights, means, deviations) {
    Object.assign(this, { weights, means, deviations });
  }

  average(f) {
    let total = 0;
    for (let k = 0; k < this.weights.length; k++) {
      if (this.weights[k] > 0) total += this.weights[k] * f(this.means[k], this.deviations[k]);
    }
    return total;
  }

  get mean() {
    return this.average((m) => m);
  }

  density(x) {
    return this.average((m, s) => Math.exp(-0.5 * ((x - m) / s) ** 2 - 0.5 * LOG_2PI) / s);
  }

  cdf(x) {
    return this.average((m, s) => 0.5 * erfc((m - x) / (s * Math.SQRT2)));
  }

  // Newton's method, by halves where it would leave the bracket.
  quantile(q) {
    const present = range(this.weights.length).filter((k) => this.weights[k] > 0);
    let low = Math.min(...present.map((k) => this.means[k] - 9 * this.deviations[k]));
    let high = Math.max(...present.map((k) => this.means[k] + 9 * this.deviations[k]));
    const least = 2.3e-16 * Math.max(Math.abs(low), Math.abs(high));
    let x = Math.min(Math.max(this.mean, low), high);
    for (let i = 0; i < 200 && high - low > least; i++) {
      const excess = this.cdf(x) - q;
      if (excess > 0) high = x;
      else low = x;
      let next = x - excess / this.density(x);
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (Math.abs(next - x) <= least) return next;
      x = next;
    }
    return x;
  }
}

// p(row) = Σ_k π_k N(x | μ_k, Σ_k) Π_j p_kj(c_j). A row has a number or a code a column, NaN where free.
class JointModel {
  constructor({ weights, normal, means, covariances, tables }, columns) {
    Object.assign(this, { weights, normal, means, covariances, columns });
    this.logWeights = weights.map(Math.log);
    this.categorical = Object.keys(tables).map(Number).sort((a, b) => a - b);
    this.tables = tables;
    this.logTables = Object.fromEntries(
      this.categorical.map((j) => [j, tables[j].map((row) => row.map(Math.log))]));
  }

  // The factors of Σ_k over some of the numbers, and what else does not depend on a row's entries.
  factors(fixed) {
    const key = fixed.join();
    if (this.factored?.key !== key) {
      const of = this.covariances.map((S) => cholesky(fixed.map((i) => fixed.map((j) => S[i][j]))));
      this.factored = { key, of, logs: of.map((l) => -halfLogDet(l) - 0.5 * fixed.length * LOG_2PI) };
    }
    return this.factored;
  }

  fixedNumbers(row) {
    return range(this.normal.length).filter((i) => isKnown(row[this.normal[i]]));
  }

  // log π_k p_k of the entries that a row has, and L_k⁻¹ (x - μ_k).
  logJoint(row, fixed, { of, logs }) {
    const given = this.categorical.filter((j) => isKnown(row[j]));
    const whitened = [];
    const joint = this.weights.map((_, k) => {
      const z = forward(of[k], fixed.map((i) => row[this.normal[i]] - this.means[k][i]));
      whitened.push(z);
      let log = this.logWeights[k] + logs[k] - 0.5 * dot(z, z);
      for (const j of given) log += this.logTables[j][k][row[j]];
      return log;
    });
    return { joint, whitened };
  }

  logDensity(row) {
    const fixed = this.fixedNumbers(row);
    return logSumExp(this.logJoint(row, fixed, this.factors(fixed)).joint);
  }

  // The log densities of many rows in some columns, which they all have; loops without arrays, for speed.
  logDensities(rows, columns) {
    const fixed = range(this.normal.length).filter((i) => columns.includes(this.normal[i]));
    const given = this.categorical.filter((j) => columns.includes(j));
    const { of, logs } = this.factors(fixed), n = fixed.length, K = this.weights.length;
    const joint = new Float64Array(K), z = new Float64Array(n);
    return Float64Array.from(rows, (row) => {
      let peak = -Infinity;
      for (let k = 0; k < K; k++) {
        const l = of[k], mean = this.means[k];
        let log = this.logWeights[k] + logs[k];
        for (let i = 0; i < n; i++) {
          const line = l[i];
          let s = row[this.normal[fixed[i]]] - mean[fixed[i]];
          for (let m = 0; m < i; m++) s -= line[m] * z[m];
          z[i] = s / line[i];
          log -= 0.5 * z[i] * z[i];
        }
        for (const j of given) log += this.logTables[j][k][row[j]];
        joint[k] = log;
        if (log > peak) peak = log;
      }
      let total = 0;
      for (let k = 0; k < K; k++) total += Math.exp(joint[k] - peak);
      return peak + Math.log(total);
    });
  }

  // The other columns given the entries of a row: by column a mixture of numbers, or probabilities.
  condition(row) {
    const fixed = this.fixedNumbers(row), factors = this.factors(fixed);
    const { joint, whitened } = this.logJoint(row, fixed, factors);
    const logDensity = logSumExp(joint);
    // Where no component explains the entries, the weights stay as they are.
    const weights = Number.isFinite(logDensity)
      ? joint.map((log) => Math.exp(log - logDensity)) : this.weights;
    const of = range(this.columns.length).map(() => null);
    this.normal.forEach((j, b) => {
      if (isKnown(row[j])) return;
      const means = [], deviations = [];
      this.covariances.forEach((S, k) => {
        const w = forward(factors.of[k], fixed.map((i) => S[i][b]));
        means.push(this.means[k][b] + dot(w, whitened[k]));
        deviations.push(Math.sqrt(S[b][b] - dot(w, w)));
      });
      of[j] = new NumberMixture(weights, means, deviations);
    });
    for (const j of this.categorical) {
      if (!isKnown(row[j])) {
        of[j] = this.columns[j].levels.map((_, c) => sum(weights.map((w, k) => w * this.tables[j][k][c])));
      }
    }
    return { logDensity, weights, of };
  }

  // One column given the entries of the others.
  conditionOthers(row, j) {
    return this.condition(row.map((x, i) => (i === j ? NaN : x))).of[j];
  }

  // Σ_k⁻¹ and the whole factors, for completions.
  get precisions() {
    this.inverted ??= this.covariances.map((S) => {
      const l = cholesky(S), unit = (i) => S.map((_, j) => +(i === j));
      return { of: S.map((_, i) => backward(l, forward(l, unit(i)))), log: -halfLogDet(l) };
    });
    return this.inverted;
  }

  // The row with its free entries at the highest mode that EM finds from each component's.
  complete(row) {
    const free = range(this.normal.length).filter((i) => !isKnown(row[this.normal[i]]));
    const open = this.categorical.filter((j) => !isKnown(row[j]));
    const given = this.condition(row);
    const starts = given.weights.map((weight, k) => {
      const start = [...row];
      for (const i of free) start[this.normal[i]] = given.of[this.normal[i]].means[k];
      for (const j of open) start[j] = best(this.tables[j][k]);
      return { start, weight };
    });
    let found = null;
    for (const { start, weight } of starts) {
      if (weight < 1e-12) continue;
      const one = this.climb(start, free, open);
      if (found === null || one.log > found.log) found = one;
    }
    return found;
  }

  // log π_k p_k of a whole row, by the precisions.
  logWhole(row) {
    return this.precisions.map(({ of, log }, k) => {
      const step = this.normal.map((j, i) => row[j] - this.means[k][i]);
      let total = this.logWeights[k] + log - 0.5 * step.length * LOG_2PI;
      for (let i = 0; i < step.length; i++) total -= 0.5 * step[i] * dot(of[i], step);
      for (const j of this.categorical) total += this.logTables[j][k][row[j]];
      return total;
    });
  }

  climb(start, free, open) {
    let row = start, joint = this.logWhole(row), log = logSumExp(joint);
    for (let step = 0; step < 500; step++) {
      const next = this.shifted(row, joint.map((x) => Math.exp(x - log)), free, open);
      const after = this.logWhole(next), higher = logSumExp(after);
      const moved = higher - log;
      if (moved >= 0) [row, joint, log] = [next, after, higher];
      if (!(moved > 1e-14 * Math.abs(log))) {
        const jump = this.jump(row, log, open);
        if (jump === null) break;
        [row, joint, log] = jump;
      }
    }
    return { row, log };
  }

  // One step of EM for the free entries: the precision-weighted mean, and the best category of each column.
  shifted(row, weights, free, open) {
    const next = [...row], n = free.length;
    if (n) {
      const a = range(n).map(() => new Float64Array(n)), b = new Float64Array(n);
      weights.forEach((w, k) => {
        if (w < 1e-300) return;
        const P = this.precisions[k].of;
        const step = this.normal.map((j, i) => this.means[k][i] - row[j]);
        free.forEach((i, at) => {
          b[at] += w * dot(P[i], step);
          free.forEach((j, to) => { a[at][to] += w * P[i][j]; });
        });
      });
      const l = cholesky(a), change = backward(l, forward(l, b));
      free.forEach((i, at) => { next[this.normal[i]] += change[at]; });
    }
    for (const j of open) {
      next[j] = best(this.columns[j].levels.map((_, c) =>
        sum(weights.map((w, k) => (w > 0 ? w * this.logTables[j][k][c] : 0)))));
    }
    return next;
  }

  // A row that differs in one category and has a higher density, if there is one.
  jump(row, log, open) {
    for (const j of open) {
      for (const c of this.columns[j].levels.keys()) {
        const other = row.map((x, i) => (i === j ? c : x)), joint = this.logWhole(other);
        const higher = logSumExp(joint);
        if (higher > log + 1e-12 * Math.abs(log)) return [other, joint, higher];
      }
    }
    return null;
  }
}

const best = (xs) => xs.indexOf(Math.max(...xs));
