// The functions of the core as Python has them: each checks the shapes of its arrays, lets go of the interpreter's lock
// and calls its kernel. Callers check the rest.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <string>
#include <tuple>

#include "kernel_sums.hpp"
#include "kmeans.hpp"
#include "python.hpp"

namespace tractable {
namespace {

// ---------------------------------------------------------------------------------------------------- kmeans

template <class T>
ScaledRows<T> scaled(const Matrix<T>& x, const Weights& w, const WholeVector<double>& shift, double scale) {
  require(shift.shape(0) == x.shape(1), "shift must have an entry for each column of x");
  require(!w || w->shape(0) == x.shape(0), "weights must have an entry for each row of x");
  return {view(x), column(w), shift.data(), scale};
}

template <class T>
SparseRows<T> sparse(const WholeVector<T>& data, const WholeVector<int32_t>& columns, const WholeVector<int64_t>& starts,
                     Index width, const Weights& w) {
  Index n = Index(starts.shape(0)) - 1, stored = data.shape(0);
  require(n >= 0 && Index(columns.shape(0)) == stored, "sparse rows must have a column for each entry");
  bool ordered = starts(0) == 0 && starts(n) == stored;
  for (Index r = 0; r < n; ++r) ordered &= starts(r) <= starts(r + 1);
  require(ordered, "sparse rows must begin one after another");
  require(!w || Index(w->shape(0)) == n, "weights must have an entry for each row of x");
  return {data.data(), columns.data(), starts.data(), n, width, column(w)};
}

void require_labels(const int32_t* labels, Index n, Index K, int32_t least) {
  require(K > 0 && labels_within(labels, n, least, K), "labels must be numbers of centres");
}

using Before = std::optional<Whole<double>>;
using Bound = std::optional<OutVector<float>>;

Bounds bounds(const Before& before, const Bound& upper, const Bound& lower, size_t n, const Whole<double>& centers) {
  require(!before || (before->shape(0) == centers.shape(0) && before->shape(1) == centers.shape(1)),
          "centers must have the shape of those before");
  if (!upper || !lower) return {nullptr, nullptr, nullptr};
  require(upper->shape(0) == n && lower->shape(0) == n, "bounds must have an entry for each row");
  return {before ? before->data() : nullptr, upper->data(), lower->data()};
}

std::tuple<double, double, Index> parts(const Change& c) { return {c.cost, c.gain, c.changed}; }
std::tuple<double, double, Index> parts(const Spread& s) { return {s.cost, s.away, s.row}; }

template <class T>
auto dense_reassign(Matrix<T> x, Weights w, WholeVector<double> shift, double scale, Whole<double> centers, Before before,
                    OutVector<int32_t> labels, Bound upper, Bound lower, OutMatrix<double> sums,
                    OutVector<double> counts) {
  size_t n = x.shape(0), d = x.shape(1), K = centers.shape(0);
  ScaledRows<T> rows = scaled(x, w, shift, scale);
  require(centers.shape(1) == d && sums.shape(0) == K && sums.shape(1) == d && counts.shape(0) == K && labels.shape(0) == n,
          "centers, sums, counts and labels must have the shapes of x");
  require_labels(labels.data(), n, K, -1);
  Bounds kept = bounds(before, upper, lower, n, centers);
  Unlocked unlocked;
  return parts(reassign(rows, view(Matrix<double>(centers)), kept, labels.data(), sums.data(), counts.data()));
}

template <class T>
auto sparse_reassign(WholeVector<T> data, WholeVector<int32_t> columns, WholeVector<int64_t> starts, Weights w,
                     Whole<double> points, WholeVector<double> squares, double scale, Whole<double> centers, Before before,
                     OutVector<int32_t> labels, Bound upper, Bound lower, OutMatrix<double> sums, OutVector<double> counts) {
  size_t d = points.shape(0), K = points.shape(1);
  SparseRows<T> rows = sparse(data, columns, starts, Index(d), w);
  require(K > 0 && upper && lower && squares.shape(0) == K && centers.shape(0) == K && centers.shape(1) == d && sums.shape(0) == K && sums.shape(1) == d && counts.shape(0) == K &&
          Index(labels.shape(0)) == rows.rows, "points, sums, counts and labels must have the shapes of x");
  require_labels(labels.data(), rows.rows, K, -1);
  Bounds kept = bounds(before, upper, lower, rows.rows, centers);
  Unlocked unlocked;
  return parts(reassign(rows, view(Matrix<double>(points)), squares.data(), scale, centers.data(), kept, labels.data(),
                        sums.data(), counts.data()));
}

template <class T>
auto dense_cluster_sums(Matrix<T> x, Weights w, WholeVector<double> shift, double scale, Whole<double> centers,
                        WholeVector<int32_t> labels, OutMatrix<double> sums, OutVector<double> counts) {
  size_t n = x.shape(0), d = x.shape(1), K = centers.shape(0);
  ScaledRows<T> rows = scaled(x, w, shift, scale);
  require(centers.shape(1) == d && sums.shape(0) == K && sums.shape(1) == d && counts.shape(0) == K && labels.shape(0) == n,
          "centers, sums, counts and labels must have the shapes of x");
  require_labels(labels.data(), n, K, 0);
  Unlocked unlocked;
  return parts(cluster_sums(rows, view(Matrix<double>(centers)), labels.data(), sums.data(), counts.data()));
}

template <class T>
auto sparse_cluster_sums(WholeVector<T> data, WholeVector<int32_t> columns, WholeVector<int64_t> starts, Weights w,
                         Whole<double> points, WholeVector<double> squares, WholeVector<int32_t> labels,
                         OutMatrix<double> sums, OutVector<double> counts) {
  size_t d = points.shape(0), K = points.shape(1);
  SparseRows<T> rows = sparse(data, columns, starts, Index(d), w);
  require(squares.shape(0) == K && sums.shape(0) == K && sums.shape(1) == d && counts.shape(0) == K &&
          Index(labels.shape(0)) == rows.rows, "points, sums, counts and labels must have the shapes of x");
  require_labels(labels.data(), rows.rows, K, 0);
  Unlocked unlocked;
  return parts(cluster_sums(rows, view(Matrix<double>(points)), squares.data(), labels.data(), sums.data(), counts.data()));
}

template <class T>
void seeds(Matrix<T> x, Weights w, Matrix<double> uniforms, OutVector<int64_t> chosen) {
  require(!w || w->shape(0) == x.shape(0), "weights must have an entry for each row of x");
  require(x.shape(0) > 0 && uniforms.shape(1) > 0 && chosen.shape(0) == uniforms.shape(0),
          "uniforms must have a row for each of the chosen, and x a row");
  Unlocked unlocked;
  kmeans_plus_plus(view(x), column(w), view(uniforms), chosen.data());
}

template <class T>
void group_distances(Matrix<T> x, Whole<double> columns, WholeVector<double> weights, WholeVector<int64_t> starts,
                     OutMatrix<double> out) {
  Index groups = Index(starts.shape(0)) - 1, m = columns.shape(1);
  require(groups >= 0 && columns.shape(0) == x.shape(1) && Index(weights.shape(0)) == m && out.shape(0) == x.shape(0) &&
          Index(out.shape(1)) == groups, "columns, weights and out must have the shapes of x and of each other");
  bool ordered = starts(0) >= 0 && starts(groups) <= m;
  for (Index k = 0; k < groups; ++k) ordered &= starts(k) <= starts(k + 1);
  require(ordered, "starts must rise from 0 to at most the number of columns");
  Unlocked unlocked;
  distance_sums(view(x), view(Matrix<double>(columns)), weights.data(), starts.data(), groups, out.data());
}

// ----------------------------------------------------------------------------------------------- kernel sums

using In = WholeVector<double>;
using Out = OutVector<double>;
using Left = std::optional<In>;

void require_pairs(const Matrix<double>& queries, const Matrix<double>& columns, const Weights& w, Index first, bool points) {
  Index n = columns.shape(1), m = queries.shape(0);
  require(queries.shape(1) == columns.shape(0) && queries.shape(1) > 0, "queries must have the columns of the points");
  require(columns.shape(1) < 2 || columns.stride(1) == 1, "a column of the points must lie in one piece");
  require(!w || Index(w->shape(0)) == n, "weights must have an entry for each point");
  require(!points || (first >= 0 && first + m <= n), "queries must be points");
}
const double* given(const Left& left, size_t m) {
  require(!left || left->shape(0) == m, "left must have an entry for each query");
  return left ? left->data() : nullptr;
}

void pair_sums(Matrix<double> queries, Matrix<double> columns, Weights w, int kind, Left left, Index first, Out out) {
  require_pairs(queries, columns, w, first, left.has_value());
  require(out.shape(0) == queries.shape(0), "out must have an entry for each query");
  const double* less = given(left, out.shape(0));
  Unlocked unlocked;
  log_kernel_sums(view(queries), view(columns), column(w), kind, less, first, out.data());
}
void pair_spreads(Matrix<double> queries, Matrix<double> columns, Weights w, Index first, In log_sums, Out out) {
  require_pairs(queries, columns, w, first, true);
  require(out.shape(0) == queries.shape(0) && log_sums.shape(0) == out.shape(0), "out must have an entry for each query");
  Unlocked unlocked;
  spreads(view(queries), view(columns), column(w), first, log_sums.data(), out.data());
}
void pair_scales(Matrix<double> queries, Matrix<double> columns, Weights w, Index first, In rates, Index own, OutMatrix<double> out) {
  require_pairs(queries, columns, w, first, true);
  require(own > 0 && out.shape(0) == queries.shape(0) && out.shape(1) == rates.shape(0), "out must have a column for each rate");
  Unlocked unlocked;
  left_out_scales(view(queries), view(columns), column(w), first, rates.data(), rates.shape(0), own, out.data());
}

Tree tree_of(const Whole<int64_t>& nodes, const In& packed, Index d) {
  Index n = d > 0 ? Index(packed.shape(0)) / d : 0;
  require(d > 0 && nodes.shape(0) > 0 && nodes.shape(1) == 4 && Index(packed.shape(0)) == n * d, "a tree must have nodes and points");
  Tree tree{nodes.data(), Index(nodes.shape(0)), packed.data(), d};
  bool right = true;
  for (Index i = 0; i < tree.size; ++i) {
    const int64_t* node = tree.node(i);
    right &= 0 <= node[0] && node[0] < node[1] && node[1] <= n && node[3] >= 0 && node[3] <= tree.size &&
             (node[2] == 0 || (node[2] > i + 1 && node[2] < tree.size));
  }
  require(right, "nodes must hold points, and come before their children");
  return tree;
}
void boxes_of(Whole<int64_t> nodes, In packed, OutVector<double> boxes, Index d) {
  Tree tree = tree_of(nodes, packed, d);
  require(Index(boxes.shape(0)) == tree.size * d * 2, "boxes must have two corners for each node");
  tree_boxes(tree, boxes.data());
}
void tree_sums(Matrix<double> queries, Whole<int64_t> nodes, In packed, In boxes, double whole, Weights w, int kind,
               Left left, std::optional<WholeVector<int64_t>> positions, double tol, Out out, OutVector<int64_t> met) {
  Tree tree = tree_of(nodes, packed, queries.shape(1));
  Index n = Index(packed.shape(0)) / tree.d;
  size_t m = queries.shape(0);
  require(Index(boxes.shape(0)) == tree.size * tree.d * 2 && out.shape(0) == m && met.shape(0) == m,
          "boxes, out and met must have the shapes of the tree and the queries");
  require(!w || Index(w->shape(0)) == n, "weights must have an entry for each point");
  require(!left || (positions && positions->shape(0) == m), "positions must have an entry for each query");
  bool inside = true;
  for (size_t q = 0; left && q < m; ++q) inside &= (*positions)(q) >= 0 && (*positions)(q) < n;
  require(inside, "positions must be those of points");
  const double* less = given(left, m);
  Unlocked unlocked;
  log_tree_sums(view(queries), tree, boxes.data(), whole, column(w), kind, less, left ? positions->data() : nullptr, tol,
                out.data(), met.data());
}

void local_windows(Matrix<double> x, In packed, In triangles, In heights, bool of_rows, WholeVector<int64_t> first,
                   Whole<double> low, Whole<double> high, In top, In rates, double negligible, Out out) {
  Index d = x.shape(1), n = heights.shape(0), blocks = top.shape(0), m = x.shape(0), shapes = of_rows ? m : n;
  require(Index(packed.shape(0)) == n * d && Index(triangles.shape(0)) == shapes * d * (d + 1) / 2 && Index(out.shape(0)) == m &&
          Index(rates.shape(0)) == (of_rows ? m : blocks), "points, shapes and rates must have the shapes of x");
  require(Index(first.shape(0)) == blocks + 1 && Index(low.shape(0)) == blocks && Index(high.shape(0)) == blocks &&
          Index(low.shape(1)) == d && Index(high.shape(1)) == d && blocks > 0, "blocks must have boxes");
  bool ordered = first(0) == 0 && first(blocks) == n;
  for (Index b = 0; b < blocks; ++b) ordered &= first(b) < first(b + 1);
  require(ordered, "blocks must follow each other");
  Unlocked unlocked;
  log_local_windows(view(x), {packed.data(), triangles.data(), heights.data(), of_rows, first.data(), blocks, low.data(),
                              high.data(), top.data(), rates.data()}, negligible, out.data());
}

Line line_of(const In& x, const In& w, double h) {
  require(x.shape(0) == w.shape(0) && h > 0.0, "weights must have an entry for each point");
  return {x.data(), w.data(), Index(x.shape(0)), h};
}
Bins bins_of(const Line& line, const In& starts, const WholeVector<int64_t>& first, const In& centres) {
  Index count = centres.shape(0);
  require(Index(starts.shape(0)) == count && Index(first.shape(0)) == count + 1, "bins must have a start and a centre");
  bool ordered = first(0) == 0 && first(count) == line.n;
  for (Index b = 0; b < count; ++b) ordered &= first(b) < first(b + 1);
  require(ordered, "bins must follow each other");
  return {starts.data(), first.data(), centres.data(), count};
}
void require_size(size_t found, Index expected) { require(Index(found) == expected, "an array has another size than the line"); }
void require_points(const Line& line, Index begin, size_t m) {
  require(begin >= 0 && begin + Index(m) <= line.n, "queries must be points");
}

Index cut_line(In x, double width, Out starts, OutVector<int64_t> first, Out centres) {
  Index n = x.shape(0);
  require_size(starts.shape(0), n), require_size(first.shape(0), n + 1), require_size(centres.shape(0), n);
  return bin_points(x.data(), n, width, starts.data(), first.data(), centres.data());
}
using Starts = WholeVector<int64_t>;

template <auto moments, Index terms>
void line_moments(In x, In w, double h, In starts, Starts first, In centres, Out out) {
  Line line = line_of(x, w, h);
  Bins bins = bins_of(line, starts, first, centres);
  require_size(out.shape(0), bins.count * terms);
  Unlocked unlocked;
  moments(line, bins, out.data());
}
void gauss_queries(In x, In w, double h, double whole, In starts, Starts first, In centres, In moments, In queries, Out out) {
  Line line = line_of(x, w, h);
  Bins bins = bins_of(line, starts, first, centres);
  require_size(moments.shape(0), bins.count * GAUSS_TERMS), require_size(out.shape(0), queries.shape(0));
  require(line.n > 0, "a line must have points");
  Unlocked unlocked;
  gauss_log_sums(line, whole, bins, moments.data(), queries.data(), queries.shape(0), out.data());
}
void gauss_left_out(In x, In w, double h, double whole, In starts, Starts first, In centres, In moments, In left, Index begin,
                    Out sums, Out out, std::optional<Out> spread) {
  Line line = line_of(x, w, h);
  Bins bins = bins_of(line, starts, first, centres);
  Index m = left.shape(0);
  require_size(moments.shape(0), bins.count * GAUSS_TERMS), require_points(line, begin, m);
  require_size(sums.shape(0), m), require_size(out.shape(0), m), require_size(spread ? spread->shape(0) : m, m);
  Unlocked unlocked;
  gauss_sums_at_points(line, whole, bins, moments.data(), begin, m, sums.data());
  gauss_log_left_out(line, whole, bins, moments.data(), sums.data(), left.data(), begin, m, out.data(),
                     spread ? spread->data() : nullptr);
}
void disc_totals(In x, In w, double h, In starts, Starts first, In centres, int kind, Out totals) {
  Line line = line_of(x, w, h);
  Bins bins = bins_of(line, starts, first, centres);
  require_size(totals.shape(0), line.n * TOTALS);
  Unlocked unlocked;
  running_totals(line, bins, kind, totals.data());
}
void disc_queries(In x, In w, double h, In starts, Starts first, In centres, In totals, int kind, In queries, Left left,
                  Index begin, Out out) {
  Line line = line_of(x, w, h);
  Bins bins = bins_of(line, starts, first, centres);
  size_t m = queries.shape(0);
  require_size(totals.shape(0), line.n * TOTALS), require_size(out.shape(0), m);
  const double* less = given(left, m);
  if (less) require_points(line, begin, m);
  Unlocked unlocked;
  disc_log_sums(line, bins, totals.data(), kind, queries.data(), m, less, begin, out.data());
}
void laplace_sweeps(In x, In w, double h, Out below, Out above) {
  Line line = line_of(x, w, h);
  require_size(below.shape(0), line.n), require_size(above.shape(0), line.n);
  Unlocked unlocked;
  laplace_passes(line, below.data(), above.data());
}
void laplace_queries(In x, In w, double h, In below, In above, In queries, Left left, Index begin, Out out) {
  Line line = line_of(x, w, h);
  size_t m = queries.shape(0);
  require_size(below.shape(0), line.n), require_size(above.shape(0), line.n), require_size(out.shape(0), m);
  const double* less = given(left, m);
  if (less) require_points(line, begin, m);
  Unlocked unlocked;
  laplace_log_sums(line, below.data(), above.data(), queries.data(), m, less, begin, out.data());
}
void normal_masses(In x, In w, double h, In starts, Starts first, In centres, In moments, In running, int side, In queries, Out out) {
  Line line = line_of(x, w, h);
  Bins bins = bins_of(line, starts, first, centres);
  require_size(moments.shape(0), bins.count * TAIL_TERMS), require_size(running.shape(0), line.n + 1);
  require_size(out.shape(0), queries.shape(0));
  Unlocked unlocked;
  normal_tails(line, bins, moments.data(), running.data(), side, queries.data(), queries.shape(0), out.data());
}
void disc_masses(In x, In w, double h, In starts, Starts first, In centres, In totals, int kind, In running, int side,
                 In queries, Out out) {
  Line line = line_of(x, w, h);
  Bins bins = bins_of(line, starts, first, centres);
  require_size(totals.shape(0), line.n * TOTALS), require_size(running.shape(0), line.n + 1);
  require_size(out.shape(0), queries.shape(0));
  Unlocked unlocked;
  disc_tails(line, bins, totals.data(), kind, running.data(), side, queries.data(), queries.shape(0), out.data());
}
void laplace_masses(In x, In w, double h, In below, In above, In running, int side, In queries, Out out) {
  Line line = line_of(x, w, h);
  require_size(below.shape(0), line.n), require_size(above.shape(0), line.n), require_size(running.shape(0), line.n + 1);
  require_size(out.shape(0), queries.shape(0));
  Unlocked unlocked;
  laplace_tails(line, below.data(), above.data(), running.data(), side, queries.data(), queries.shape(0), out.data());
}

// ------------------------------------------------------------------------------------------------ tests of the pool

// Blocks of so many microseconds, of which one may throw, each with as many inside it.
double probe(Index blocks, double microseconds, Index bad, Index inside) {
  struct Sum {
    double value = 0.0;
    void clear() { value = 0.0; }
    void operator+=(const Sum& other) { value += other.value; }
  };
  Unlocked unlocked;
  auto pass = [&](auto&& self, Index n, Index within) -> double {
    Sum total;
    parallel_sum(n, 1, 1, total, [] { return Sum(); }, [&](Sum& into, Index i, Index) {
      using Clock = std::chrono::steady_clock;
      for (auto until = Clock::now() + std::chrono::duration<double, std::micro>(microseconds);
           microseconds > 0.0 && Clock::now() < until;) {}
      if (i == bad) throw std::invalid_argument("block " + std::to_string(i));
      into.value += 1.0 / (1.0 + double(i)) + (within ? self(self, within, 0) : 0.0);
    });
    return total.value;
  };
  return pass(pass, blocks, inside);
}

nb::object* complaint = nullptr;  // never deleted: it outlives the interpreter

}  // namespace
}  // namespace tractable

NB_MODULE(MODULE, m) {
  m.doc() = "The native core for one level of processors.";
  using namespace tractable;
  namespace blas = tractable::blas;
  blas::dgemm = blas::Dgemm(capsule("scipy.linalg.cython_blas", "dgemm"));
  blas::sgemm = blas::Sgemm(capsule("scipy.linalg.cython_blas", "sgemm"));
  Unlocked::main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  pool::between = Unlocked::look_at_signals;
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(pool::close));

  // A function of rows in double and in single precision; no argument is converted.
  auto both = [&](const char* name, auto of_double, auto of_single) {
    m.def(name, of_double), m.def(name, of_single);
  };
  both("reassign", dense_reassign<double>, dense_reassign<float>);
  both("sparse_reassign", sparse_reassign<double>, sparse_reassign<float>);
  both("cluster_sums", dense_cluster_sums<double>, dense_cluster_sums<float>);
  both("sparse_cluster_sums", sparse_cluster_sums<double>, sparse_cluster_sums<float>);
  both("kmeans_plus_plus", seeds<double>, seeds<float>);
  both("distance_sums", group_distances<double>, group_distances<float>);

  m.def("log_kernel_sums", pair_sums);
  m.def("spreads", pair_spreads);
  m.def("left_out_scales", pair_scales);
  m.def("tree_boxes", boxes_of);
  m.def("log_tree_sums", tree_sums);
  m.def("log_local_windows", local_windows);
  m.def("bin_points", cut_line);
  m.def("gauss_moments", line_moments<gauss_moments, GAUSS_TERMS>);
  m.def("gauss_log_sums", gauss_queries);
  m.def("gauss_log_left_out", gauss_left_out);
  m.def("running_totals", disc_totals);
  m.def("disc_log_sums", disc_queries);
  m.def("laplace_passes", laplace_sweeps);
  m.def("laplace_log_sums", laplace_queries);
  m.def("plain_moments", line_moments<plain_moments, TAIL_TERMS>);
  m.def("normal_tails", normal_masses);
  m.def("disc_tails", disc_masses);
  m.def("laplace_tails", laplace_masses);

  m.def("probe", &probe, nb::arg("blocks"), nb::arg("microseconds") = 0.0, nb::arg("bad") = -1, nb::arg("inside") = 0);
  m.def("threads", [] { pool::read_variables(); return pool::threads(); });
  m.def("set_threads", &pool::set_threads);
  m.def("set_cores", &pool::set_cores);
  m.def("work_alone", &pool::work_alone);
  m.def("add_limit", [](size_t address) { pool::add_limit(reinterpret_cast<int (*)()>(address)); });
  m.def("on_bad_variable", [](nb::callable called) {
    complaint = new nb::object(called);
    Unlocked::complain = [] { (*complaint)(); };
  });
}
