#include "ops/copy.h"
#include "ops/create.h"
#include "ops/random/kernel.h"
#include "ops/random/plan.h"
#include "ops/record_builder.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

// A record's output can be drawn in place where it is a whole store in its own order.
bool is_whole_store(const Array& array) {
  const Store& store = *array.store;
  return array.view == partition::dense_view(store.base_shape, array.view.dtype, array.view.itemsize) &&
         store.base_itemsize == array.view.itemsize;
}

Scalar low_of(const Draw& what) {
  return cast(Scalar::of(DType::kUInt64, what.low), what.dtype);
}

}  // namespace

void RandomStream::set(const RandomState& state) {
  state_ = state;
  pending_.reset();
}

RandomState RandomStream::state() {
  if (!pending_) return state_;
  RandomState end;
  try {
    to_host(*pending_, &end);
  } catch (const Error&) {  // the draw failed: the stream is where it was when last known
    pending_.reset();
    throw;
  }
  pending_.reset();
  return state_ = end;
}

Array RandomStream::draw(const Draw& what, const Dims& shape, const Array* out) {
  if (what.distribution == Distribution::kIntegers && what.range == 0) {  // takes nothing from the stream
    const Array constant = full(shape, low_of(what));
    if (!out) return constant;
    assign(*out, Input::of(constant));
    return *out;
  }
  const bool in_place = out && is_whole_store(*out);
  const Array result = in_place ? *out : new_array(shape, what.dtype);
  const int64_t count = result.view.count();
  if (count > 0) {
    // A small array is known to the leader only if its start is; and what the leader has computed is there at once.
    if (pending_ && (count < session::min_tile() || pending_->store->residence == Store::Residence::kKnown)) state();
    const auto kernel = random_kernel(what);
    const bool fixed = kernel->fixed();
    const RandomCall call{what, pending_ ? RandomState() : state_, pending_.has_value()};
    const Array end = new_array({kStateWords}, DType::kUInt64);
    const bool has_end = !fixed || pending_;

    const Array* in = pending_ ? &*pending_ : nullptr;
    const Array* outputs[] = {&result, &end};
    record_call(random_family(), call.bytes(), {&in, pending_ ? size_t{1} : 0}, {outputs, has_end ? size_t{2} : 1});
    if (has_end) pending_ = end;
    else state_ = kernel->state_at(state_, kernel->position_behind(count));
  }
  if (!out || in_place) return result;
  assign(*out, Input::of(result));
  return *out;
}

}  // namespace tilewise::ops
