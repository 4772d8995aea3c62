// The functions of the core as Python has them: each checks the shapes of its arrays, lets go of the interpreter's lock
// and calls its kernel. Callers check the rest.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <string>
#include <tuple>

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
