// A window network on the CPU. A step: cut windows, two matrix products with the activation between
// them, glue; hidden units never leave the registers. And features of rows, for training.
//
// A vector holds the same cell of neighbouring windows, not neighbouring cells of one window. So
// every size of window and of block fills the vectors, and weights are read as single numbers.
// Everything of a block of windows stays in the first-level cache; blocks are dealt to threads.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "xla/ffi/api/ffi.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace ffi = xla::ffi;

namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64, kVectors = 4, kUnits = 6;  // 24 of 32 registers hold sums
#elif defined(__AVX__)
constexpr int kBytes = 32, kVectors = 3, kUnits = 4;  // 12 of 16
#else
constexpr int kBytes = 16, kVectors = 2, kUnits = 4;
#endif

template <typename T>
struct Lane {
  typedef T Vector __attribute__((vector_size(kBytes)));
  static constexpr int lanes = kBytes / sizeof(T);
  static constexpr int windows = lanes * kVectors;  // of a block
};

// Write a vector to any place; only the first `left` lanes of it, if there are fewer.
template <typename T>
[[gnu::always_inline]] inline void Store(typename Lane<T>::Vector vector, T* to, int64_t left) {
  if (left >= Lane<T>::lanes) std::memcpy(to, &vector, kBytes);
  else std::memcpy(to, &vector, left * sizeof(T));
}

// The square root of numbers of at least 4: a guess of the reciprocal root, refined.
template <typename T>
inline typename Lane<T>::Vector Root(typename Lane<T>::Vector square) {
  typename Lane<T>::Vector root;
  for (int i = 0; i < Lane<T>::lanes; ++i) root[i] = std::sqrt(square[i]);
  return root;
}

#if defined(__AVX512F__)
template <>
inline Lane<float>::Vector Root<float>(Lane<float>::Vector square) {
  const Lane<float>::Vector guess = _mm512_rsqrt14_ps(square);
  const Lane<float>::Vector root = square * guess;
  return root + root * (0.5f - root * (0.5f * guess));
}

template <>
inline Lane<double>::Vector Root<double>(Lane<double>::Vector square) {
  const Lane<double>::Vector guess = _mm512_rsqrt14_pd(square);
  Lane<double>::Vector root = square * guess, half = 0.5 * guess;
  const Lane<double>::Vector off = 0.5 - root * half;
  root += root * off;
  half += half * off;
  return root + half * (square - root * root);
}
#endif

// The reciprocal root, to all digits.
template <typename T>
inline typename Lane<T>::Vector InverseRoot(typename Lane<T>::Vector square) {
  return Root<T>(square) / square;
}

#if defined(__AVX512F__)
template <>
inline Lane<double>::Vector InverseRoot<double>(Lane<double>::Vector square) {
  Lane<double>::Vector inverse = _mm512_rsqrt14_pd(square);
  for (int turn = 0; turn < 2; ++turn) inverse *= 1.5 - 0.5 * square * inverse * inverse;
  return inverse;
}
#endif

// What a step reads and writes for one member of a batch.
template <typename T>
struct Network {
  const T *field, *context, *basis, *weights, *bias, *readout, *answers;
  T* following;
};

// Sizes, and where cells lie: offsets within a window or a block, pitches between neighbouring ones.
// Hidden units count once for all their mirror images; parities tell how many inputs and answers
// there are of each kind, one kind more for every image.
struct Shape {
  int64_t values, rank, inputs, hidden, windows = 1, field_size, following_size;
  std::vector<int64_t> tiles, window_pitch, block_pitch, cells, outputs, input_parities, answer_parities;
};

// Sums of some vectors for `units` columns of a matrix: first + rows · matrix[:, column...].
template <typename T, int units, int vectors>
inline void Multiply(const T* rows, int64_t count, const T* matrix, int64_t pitch, const T* first,
                     typename Lane<T>::Vector (&sums)[units][vectors]) {
  using Vector = typename Lane<T>::Vector;
  for (int unit = 0; unit < units; ++unit)
    for (int v = 0; v < vectors; ++v) sums[unit][v] = first ? Vector{} + first[unit] : Vector{};
  for (int64_t k = 0; k < count; ++k) {
    const Vector* row = reinterpret_cast<const Vector*>(rows + k * Lane<T>::windows);
#pragma GCC unroll 8
    for (int unit = 0; unit < units; ++unit) {
      const T weight = matrix[k * pitch + unit];
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sums[unit][v] += weight * row[v];
    }
  }
}

// Sums and differences of images, from parities to images and back: the Walsh-Hadamard transform.
template <typename Vector, int images, int units, int vectors>
inline void Mix(Vector (&sums)[images][units][vectors]) {
#pragma GCC unroll 8
  for (int half = 1; half < images; half *= 2)
#pragma GCC unroll 8
    for (int i = 0; i < images; ++i)
      if (!(i & half))
#pragma GCC unroll 8
        for (int j = 0; j < units; ++j)
#pragma GCC unroll 8
          for (int v = 0; v < vectors; ++v) {
            const Vector one = sums[i][j][v], other = sums[i | half][j][v];
            sums[i][j][v] = one + other;
            sums[i | half][j][v] = one - other;
          }
}

// Some hidden units with their images, for some vectors of a block, and what they add to its answers.
template <typename T, int images, int units, int vectors>
inline void Units(const T* inputs, const Network<T>& net, const Shape& shape, int64_t unit, T* answers) {
  using Vector = typename Lane<T>::Vector;
  Vector sums[images][units][vectors];
  const T* weights = net.weights + unit;
#pragma GCC unroll 8
  for (int i = 0; i < images; ++i) {
    const int64_t count = images > 1 ? shape.input_parities[i] : shape.inputs;
    Multiply<T, units, vectors>(inputs, count, weights, shape.hidden, net.bias + i * shape.hidden + unit, sums[i]);
    inputs += count * Lane<T>::windows;
    weights += count * shape.hidden;
  }
  Mix<Vector, images, units, vectors>(sums);
#pragma GCC unroll 8
  for (int i = 0; i < images; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < units; ++j)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) {
        const Vector x = sums[i][j][v];
        sums[i][j][v] = x + Root<T>(x * x + T(4));  // twice the activation: halved at the end
      }
  Mix<Vector, images, units, vectors>(sums);
  const int64_t pitch = shape.outputs.size();
  int64_t o = 0;
#pragma GCC unroll 8
  for (int i = 0; i < images; ++i)
    for (const int64_t end = images > 1 ? o + shape.answer_parities[i] : pitch; o < end; ++o) {
      Vector* answer = reinterpret_cast<Vector*>(answers + o * Lane<T>::windows);
      Vector total[vectors];
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) total[v] = answer[v];
#pragma GCC unroll 8
      for (int j = 0; j < units; ++j) {
        const T weight = net.readout[(unit + j) * pitch + o];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) total[v] += weight * sums[i][j][v];
      }
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) answer[v] = total[v];
    }
}

// All hidden units of a block; as many at a time as fill the registers.
template <typename T, int images>
void AllUnits(const T* inputs, const Network<T>& net, const Shape& shape, T* answers) {
  constexpr int vectors = kVectors % images ? 1 : kVectors / images;
  constexpr int units = std::max(1, kUnits * kVectors / images / vectors);
  const auto everywhere = [&](const auto& some) {
    for (int v = 0; v < kVectors; v += vectors) some(v * Lane<T>::lanes);
  };
  int64_t unit = 0;
  for (; unit + units <= shape.hidden; unit += units)
    everywhere([&](int w) { Units<T, images, units, vectors>(inputs + w, net, shape, unit, answers + w); });
  for (; unit < shape.hidden; ++unit)
    everywhere([&](int w) { Units<T, images, 1, vectors>(inputs + w, net, shape, unit, answers + w); });
}

// Rows times some columns of a matrix, for a block of windows.
template <typename T, int units>
inline void Columns(const T* rows, int64_t count, const T* matrix, int64_t pitch, int64_t k, T* products) {
  typename Lane<T>::Vector sums[units][kVectors];
  Multiply<T, units, kVectors>(rows, count, matrix + k, pitch, nullptr, sums);
  for (int j = 0; j < units; ++j)
    for (int v = 0; v < kVectors; ++v)
      reinterpret_cast<typename Lane<T>::Vector*>(products + (k + j) * Lane<T>::windows)[v] = sums[j][v];
}

// Rows times a matrix with `pitch` columns.
template <typename T>
void Product(const T* rows, int64_t count, const T* matrix, int64_t pitch, T* products) {
  int64_t k = 0;
  for (; k + kUnits <= pitch; k += kUnits) Columns<T, kUnits>(rows, count, matrix, pitch, k, products);
  for (; k < pitch; ++k) Columns<T, 1>(rows, count, matrix, pitch, k, products);
}

// A block of windows from `first` on. `space` has room for its cells, inputs, answers and outputs.
template <typename T>
void Block(const Network<T>& net, const Shape& shape, int64_t first, T* space) {
  constexpr int width = Lane<T>::windows;
  const int64_t count = std::min<int64_t>(width, shape.windows - first);
  const int64_t cells = shape.cells.size(), outputs = shape.outputs.size();
  T* seen = space;
  T* inputs = shape.rank ? seen + cells * width : seen;
  T* answer = inputs + shape.inputs * width;
  int64_t window[width], from[width], to[width];
  for (int64_t w = 0; w < width; ++w) {
    int64_t rest = window[w] = first + std::min(w, count - 1);  // the last one is repeated
    from[w] = to[w] = 0;
    for (int64_t axis = shape.tiles.size() - 1; axis >= 0; --axis) {
      const int64_t place = rest % shape.tiles[axis];
      rest /= shape.tiles[axis];
      from[w] += place * shape.window_pitch[axis];
      to[w] += place * shape.block_pitch[axis];
    }
  }
  for (int64_t c = 0; c < cells; ++c)
    for (int w = 0; w < width; ++w) seen[c * width + w] = net.field[from[w] + shape.cells[c]];
  if (shape.rank) Product<T>(seen, cells, net.basis, shape.rank, inputs);
  T* beside = answer - shape.values * width;
  for (int64_t k = 0; k < shape.values; ++k)
    for (int w = 0; w < width; ++w) beside[k * width + w] = net.context[window[w] * shape.values + k];
  std::fill(answer, answer + outputs * width, T(0));
  const int64_t images = shape.input_parities.size();
  (images == 8 ? AllUnits<T, 8> : images == 4 ? AllUnits<T, 4> : images == 2 ? AllUnits<T, 2> : AllUnits<T, 1>)(
      inputs, net, shape, answer);
  if (images > 1) {
    Product<T>(answer, outputs, net.answers, outputs, answer + outputs * width);
    answer += outputs * width;
  }
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t w = 0; w < count; ++w)
      net.following[to[w] + shape.outputs[o]] = T(0.5) * answer[o * width + w];
}

// Calls work(k) for k = 0 ... count - 1 on several threads; launch(turn) starts one. The calling one
// works as well, and waits only for calls that have begun: busy threads cannot hold it up.
template <typename Launch, typename Work>
void Deal(int64_t threads, const Launch& launch, int64_t count, const Work& work) {
  struct Progress {
    std::atomic<int64_t> next{0}, done{0};
  };
  const auto progress = std::make_shared<Progress>();
  const auto turn = [progress, count, &work] {
    int64_t finished = 0;
    for (int64_t k; (k = progress->next.fetch_add(1)) < count; ++finished) work(k);
    progress->done.fetch_add(finished);
  };
  for (int64_t helper = 1; helper < std::min(threads, count); ++helper) launch([turn] { turn(); });
  turn();
  for (int spins = 0; progress->done.load() < count; ++spins)
    if (spins > 1000) std::this_thread::yield();
}

// An operand of a batched call: an axis of the batch along which it has length 1 is shared.
int64_t Offset(const ffi::AnyBuffer& operand, ffi::Span<const int64_t> batch, int64_t member, int64_t size) {
  int64_t offset = 0;
  for (int64_t axis = batch.size() - 1; axis >= 0; --axis) {
    const int64_t length = operand.dimensions()[axis];
    if (length > 1) offset += member % batch[axis] * size;
    size *= length;
    member /= batch[axis];
  }
  return offset;
}

// The offsets of cells in a box, channel by channel.
std::vector<int64_t> Offsets(int64_t channels, int64_t size, const std::vector<int64_t>& sides,
                             const std::vector<int64_t>& pitch) {
  std::vector<int64_t> found(channels);
  for (int64_t channel = 0; channel < channels; ++channel) found[channel] = channel * size;
  for (size_t axis = 0; axis < sides.size(); ++axis) {
    std::vector<int64_t> finer;
    for (const int64_t start : found)
      for (int64_t i = 0; i < sides[axis]; ++i) finer.push_back(start + i * pitch[axis]);
    found = std::move(finer);
  }
  return found;
}

template <typename T>
ffi::Error Step(ffi::ThreadPool pool, ffi::AnyBuffer field, ffi::AnyBuffer context, ffi::AnyBuffer basis,
                ffi::AnyBuffer weights, ffi::AnyBuffer bias, ffi::AnyBuffer readout, ffi::AnyBuffer answers,
                ffi::Result<ffi::AnyBuffer> following, ffi::Span<const int64_t> extent,
                ffi::Span<const int64_t> stride, ffi::Span<const int64_t> input_parities,
                ffi::Span<const int64_t> answer_parities) {
  const int64_t axes = extent.size();
  const ffi::Span<const int64_t> batch = following->dimensions().first(following->dimensions().size() - 1 - axes);
  const ffi::Span<const int64_t> points = field.dimensions().last(1 + axes);
  Shape shape;
  shape.values = context.dimensions().back();
  shape.rank = basis.dimensions().back();
  shape.inputs = weights.dimensions().last(2)[0];
  shape.hidden = weights.dimensions().back();
  shape.input_parities.assign(input_parities.begin(), input_parities.end());
  shape.answer_parities.assign(answer_parities.begin(), answer_parities.end());
  std::vector<int64_t> sides(axes), blocks(axes), pitch(axes), block_pitch(axes);
  shape.tiles = shape.window_pitch = shape.block_pitch = pitch;
  shape.field_size = shape.following_size = 1;
  for (int64_t axis = axes - 1; axis >= 0; --axis) {
    sides[axis] = 2 * extent[axis] + stride[axis];
    blocks[axis] = stride[axis];
    shape.tiles[axis] = (points[1 + axis] - sides[axis]) / stride[axis] + 1;
    shape.windows *= shape.tiles[axis];
    pitch[axis] = shape.field_size;
    block_pitch[axis] = shape.following_size;
    shape.window_pitch[axis] = stride[axis] * pitch[axis];
    shape.block_pitch[axis] = stride[axis] * block_pitch[axis];
    shape.field_size *= points[1 + axis];
    shape.following_size *= shape.tiles[axis] * stride[axis];
  }
  shape.cells = Offsets(points[0], shape.field_size, sides, pitch);
  const int64_t channels = following->dimensions()[batch.size()];  // without fields of the context
  shape.outputs = Offsets(channels, shape.following_size, blocks, block_pitch);
  const int64_t cells = shape.cells.size(), outputs = shape.outputs.size();
  constexpr int width = Lane<T>::windows;
  const int64_t turns = (shape.windows + width - 1) / width;
  int64_t members = 1;
  for (const int64_t length : batch) members *= length;
  const auto work = [&](int64_t k) {
    const auto at = [&](const ffi::AnyBuffer& operand, int64_t size) {
      return reinterpret_cast<const T*>(operand.untyped_data()) + Offset(operand, batch, k / turns, size);
    };
    const Network<T> net = {
        at(field, points[0] * shape.field_size),
        at(context, shape.windows * shape.values),
        at(basis, cells * shape.rank),
        at(weights, shape.inputs * shape.hidden),
        at(bias, shape.hidden * input_parities.size()),
        at(readout, shape.hidden * outputs),
        at(answers, outputs * outputs),
        reinterpret_cast<T*>(following->untyped_data()) + k / turns * channels * shape.following_size,
    };
    thread_local std::vector<typename Lane<T>::Vector> space;
    space.resize((cells + shape.inputs + 2 * outputs) * kVectors);
    Block<T>(net, shape, k % turns * width, reinterpret_cast<T*>(space.data()));
  };
  const auto launch = [&](auto turn) { pool.Schedule(std::move(turn)); };
  Deal(pool.num_threads(), launch, members * turns, work);
  return ffi::Error::Success();
}

ffi::Error Either(ffi::ThreadPool pool, ffi::AnyBuffer field, ffi::AnyBuffer context, ffi::AnyBuffer basis,
                  ffi::AnyBuffer weights, ffi::AnyBuffer bias, ffi::AnyBuffer readout, ffi::AnyBuffer answers,
                  ffi::Result<ffi::AnyBuffer> following, ffi::Span<const int64_t> extent,
                  ffi::Span<const int64_t> stride, ffi::Span<const int64_t> inputs,
                  ffi::Span<const int64_t> outputs) {
  const auto step = field.element_type() == ffi::F32 ? Step<float> : Step<double>;
  return step(pool, field, context, basis, weights, bias, readout, answers, following, extent, stride, inputs,
              outputs);
}

// Hidden units, and their slopes, of a block of rows.
template <typename T, int units>
inline void Values(const T* inputs, const Network<T>& net, const Shape& shape, int64_t unit, T* values, T* slopes) {
  using Vector = typename Lane<T>::Vector;
  Vector sums[units][kVectors];
  Multiply<T, units, kVectors>(inputs, shape.inputs, net.weights + unit, shape.hidden, net.bias + unit, sums);
  for (int j = 0; j < units; ++j)
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = (unit + j) * Lane<T>::windows + v * Lane<T>::lanes;
      const Vector x = sums[j][v], square = x * x + T(4), inverse = InverseRoot<T>(square);
      *reinterpret_cast<Vector*>(values + at) = T(0.5) * (x + square * inverse);
      if (slopes) *reinterpret_cast<Vector*>(slopes + at) = T(0.5) + T(0.5) * x * inverse;
    }
}

void Launch(std::function<void()> turn) { std::thread(std::move(turn)).detach(); }

// Columns j ... of a triangular solve: x = (b - rows above) / diagonal, for a block of right-hand sides.
template <typename T, int units>
inline void Substitute(const T* factor, int64_t size, int64_t j, T* panel) {
  using Vector = typename Lane<T>::Vector;
  Vector sums[units][kVectors];
  Multiply<T, units, kVectors>(panel, j, factor + j, size, nullptr, sums);
  Vector* rows = reinterpret_cast<Vector*>(panel + j * Lane<T>::windows);
  for (int unit = 0; unit < units; ++unit)
    for (int v = 0; v < kVectors; ++v) {
      Vector rest = rows[unit * kVectors + v] - sums[unit][v];
      for (int k = 0; k < unit; ++k) rest -= factor[(j + k) * size + j + unit] * rows[k * kVectors + v];
      rows[unit * kVectors + v] = rest / factor[(j + unit) * size + j + unit];
    }
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(onesnap_step, Either,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()  // field, with what lies beyond its ends
                                  .Arg<ffi::AnyBuffer>()  // context
                                  .Arg<ffi::AnyBuffer>()  // basis, of rank 0 where there is none
                                  .Arg<ffi::AnyBuffer>()  // weights
                                  .Arg<ffi::AnyBuffer>()  // bias
                                  .Arg<ffi::AnyBuffer>()  // readout
                                  .Arg<ffi::AnyBuffer>()  // answers to outputs, where there are parities
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<ffi::Span<const int64_t>>("extent")
                                  .Attr<ffi::Span<const int64_t>>("stride")
                                  .Attr<ffi::Span<const int64_t>>("inputs")  // of each parity
                                  .Attr<ffi::Span<const int64_t>>("outputs"));

// Plain functions for training, which work in NumPy's memory; all arrays are in the order of C.
extern "C" {

// Features and slopes of rows `(rows, cells)` and their context `(rows, values)`; a basis of rank 0 is
// none, and slopes may be null. Each unit comes with all its images, `elements` of them, which are
// multiplied by waves `(element, coefficient)` if there are several; coefficient k of unit j is
// written, a row each, to starts[k] + j · pitches[k].
void onesnap_features(const double* cells, const double* context, const double* basis, const double* weights,
                      const double* bias, const double* waves, const int64_t* starts, const int64_t* pitches,
                      double* values, double* slopes, int64_t rows, int64_t count, int64_t told, int64_t rank,
                      int64_t hidden, int64_t elements, int64_t coefficients, int64_t threads) {
  constexpr int width = Lane<double>::windows, lanes = Lane<double>::lanes;
  Shape shape;
  shape.cells.resize(count);
  shape.values = told;
  shape.rank = rank;
  shape.inputs = (rank ? rank : count) + told;
  shape.hidden = hidden;
  const Network<double> net = {nullptr, nullptr, basis, weights, bias};
  Deal(threads, Launch, (rows + width - 1) / width, [&](int64_t block) {
    thread_local std::vector<Lane<double>::Vector> space;
    space.resize((count + shape.inputs + 2 * hidden + coefficients) * kVectors);
    double* seen = reinterpret_cast<double*>(space.data());
    double* inputs = rank ? seen + count * width : seen;
    double* beside = inputs + (shape.inputs - told) * width;
    const int64_t first = block * width;
    for (int w = 0; w < width; ++w) {
      const int64_t row = std::min(first + w, rows - 1);
      for (int64_t c = 0; c < count; ++c) seen[c * width + w] = cells[row * count + c];
      for (int64_t k = 0; k < told; ++k) beside[k * width + w] = context[row * told + k];
    }
    if (rank) Product<double>(seen, count, basis, rank, inputs);
    double* all = inputs + shape.inputs * width;
    double* steep = slopes ? all + hidden * width : nullptr;
    double* mixed = all + 2 * hidden * width;
    int64_t unit = 0;
    for (; unit + kUnits <= hidden; unit += kUnits) Values<double, kUnits>(inputs, net, shape, unit, all, steep);
    for (; unit < hidden; ++unit) Values<double, 1>(inputs, net, shape, unit, all, steep);
    const auto write = [&](const double* panel, double* to) {
      for (int64_t j = 0; j < hidden / elements; ++j) {
        const double* images = panel + j * elements * width;
        if (elements > 1) Product<double>(images, elements, waves, coefficients, mixed);
        for (int64_t k = 0; k < coefficients; ++k)
          for (int v = 0; v < kVectors; ++v) {
            const int64_t done = v * lanes, left = rows - first - done;
            if (left <= 0) break;
            const double* from = (elements > 1 ? mixed : images) + k * width + done;
            Store<double>(*reinterpret_cast<const Lane<double>::Vector*>(from),
                          to + starts[k] + j * pitches[k] + first + done, left);
          }
      }
    };
    write(all, values);
    if (slopes) write(steep, slopes);
  });
}

// Solves Rᵀ X = B for a triangular factor R `(size, size)` and B `(size, columns)`, which X replaces.
void onesnap_whiten(const double* factor, double* columns, int64_t size, int64_t count, int64_t threads) {
  constexpr int width = Lane<double>::windows;
  Deal(threads, Launch, (count + width - 1) / width, [&](int64_t block) {
    thread_local std::vector<Lane<double>::Vector> space;
    space.resize(size * kVectors);
    double* panel = reinterpret_cast<double*>(space.data());
    const int64_t first = block * width, these = std::min<int64_t>(width, count - first);
    for (int64_t j = 0; j < size; ++j)
      std::memcpy(panel + j * width, columns + j * count + first, these * sizeof(double));
    int64_t j = 0;
    for (; j + kUnits <= size; j += kUnits) Substitute<double, kUnits>(factor, size, j, panel);
    for (; j < size; ++j) Substitute<double, 1>(factor, size, j, panel);
    for (j = 0; j < size; ++j)
      std::memcpy(columns + j * count + first, panel + j * width, these * sizeof(double));
  });
}

}  // extern "C"
