#include "runtime/stream.h"

#include <cstring>

#include "runtime/base/error.h"

namespace tilewise {
namespace {

class Writer {
 public:
  explicit Writer(std::vector<char>* to) : to_(*to) {}
  void number(uint64_t v) {
    for (; v >= 128; v >>= 7) to_.push_back(static_cast<char>(v | 128));
    to_.push_back(static_cast<char>(v));
  }
  // Small negative numbers stay short.
  void integer(int64_t v) { number((static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63)); }
  void bytes(const void* data, size_t n) {
    const auto* p = static_cast<const char*>(data);
    to_.insert(to_.end(), p, p + n);
  }
  void dims(const Dims& d) {
    number(d.size());
    for (int64_t v : d) integer(v);
  }

 private:
  std::vector<char>& to_;
};

class Reader {
 public:
  Reader(const char* at, const char* end) : at_(at), end_(end) {}
  uint64_t number() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      need(1);
      const auto byte = static_cast<unsigned char>(*at_++);
      v |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return v;
    }
    fail();
  }
  int64_t integer() {
    const uint64_t v = number();
    return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
  }
  size_t count(size_t limit = 1u << 20) {
    const uint64_t n = number();
    if (n > limit) fail();
    return n;
  }
  void bytes(void* to, size_t n) {
    need(n);
    std::memcpy(to, at_, n);
    at_ += n;
  }
  Dims dims() {
    Dims d(static_cast<int>(count(1024)));
    for (int64_t& v : d) v = integer();
    return d;
  }
  const char* at() const { return at_; }

 private:
  void need(size_t n) {
    if (static_cast<size_t>(end_ - at_) < n) fail();
  }
  [[noreturn]] void fail() { throw Error(ErrorKind::kRuntime, "the operation stream is damaged"); }
  const char* at_;
  const char* end_;
};

void put_ref(Writer& w, const Ref& ref) {
  w.number(ref.store);
  w.dims(ref.view.shape);
  for (int64_t stride : ref.view.strides) w.integer(stride);
  w.integer(ref.view.offset);
  w.number(static_cast<uint64_t>(ref.view.dtype));
  w.number(static_cast<uint64_t>(ref.view.itemsize));
}

Ref get_ref(Reader& r) {
  Ref ref;
  ref.store = r.number();
  ref.view.shape = r.dims();
  ref.view.strides = Dims(ref.view.shape.size());
  for (int64_t& stride : ref.view.strides) stride = r.integer();
  ref.view.offset = r.integer();
  ref.view.dtype = static_cast<DType>(r.number());
  ref.view.itemsize = static_cast<int32_t>(r.number());
  return ref;
}

// A drop is the most frequent record after the elementwise ones: a store number is all of it.
bool bare(RecordKind kind) { return kind == RecordKind::kDrop || kind >= RecordKind::kFlush; }

}  // namespace

void encode(const Record& record, std::vector<char>* to) {
  Writer w(to);
  w.number(static_cast<uint64_t>(record.kind));
  if (bare(record.kind)) {
    w.number(record.inputs.empty() ? 0 : record.inputs[0].store);
    return;
  }
  w.number(record.line);
  w.number(record.watch);
  if (record.watch) w.number(record.told_as);
  w.number(record.births.size());
  for (const Birth& birth : record.births) {
    w.number(birth.store);
    w.dims(birth.base_shape);
    w.integer(birth.base_itemsize);
  }
  w.number(record.inputs.size());
  for (const Ref& in : record.inputs) put_ref(w, in);
  w.number(record.outputs.size());
  for (const Ref& out : record.outputs) put_ref(w, out);
  switch (record.kind) {
    case RecordKind::kElementwise:
      w.number(record.params.size());
      for (const Scalar& p : record.params) {
        w.number(static_cast<uint64_t>(p.dtype));
        w.bytes(p.bytes, itemsize(p.dtype));
      }
      w.number(record.code.size());
      for (int i = 0; i < record.code.size(); ++i) {
        w.bytes(&record.code[i], sizeof(Instr));
        w.number(static_cast<uint64_t>(record.types[i]));
      }
      for (uint16_t result : record.results) w.number(result);
      break;
    case RecordKind::kReduce:
      w.number(static_cast<uint64_t>(record.reduction.state));
      w.number(record.reduction.op);
      w.number(record.reduction.axes);
      break;
    case RecordKind::kCall:
      w.number(record.family);
      [[fallthrough]];
    default:
      w.number(record.bytes.size());
      w.bytes(record.bytes.data(), record.bytes.size());
  }
}

Record decode(const char** at, const char* end) {
  Reader r(*at, end);
  Record record;
  record.kind = static_cast<RecordKind>(r.count(static_cast<size_t>(RecordKind::kSync)));
  if (bare(record.kind)) {
    record.inputs.resize(1);
    record.inputs[0].store = r.number();
    *at = r.at();
    return record;
  }
  record.line = static_cast<uint32_t>(r.number());
  record.watch = static_cast<uint8_t>(r.number());
  if (record.watch) record.told_as = static_cast<uint8_t>(r.count(kFpNames - 1));
  record.births.resize(r.count());
  for (Birth& birth : record.births) {
    birth.store = r.number();
    birth.base_shape = r.dims();
    birth.base_itemsize = r.integer();
  }
  record.inputs.resize(r.count());
  for (Ref& in : record.inputs) in = get_ref(r);
  record.outputs.resize(r.count());
  for (Ref& out : record.outputs) out = get_ref(r);
  switch (record.kind) {
    case RecordKind::kElementwise: {
      const size_t params = r.count();
      for (size_t i = 0; i < params; ++i) {
        Scalar p;
        p.dtype = static_cast<DType>(r.count(kNumericDTypes - 1));
        r.bytes(p.bytes, itemsize(p.dtype));
        record.params.push_back(p);
      }
      const size_t code = r.count();
      for (size_t i = 0; i < code; ++i) {
        Instr instr;
        r.bytes(&instr, sizeof(instr));
        record.code.push_back(instr);
        record.types.push_back(static_cast<DType>(r.count(kNumericDTypes)));
      }
      for (size_t i = 0; i < record.outputs.size(); ++i) record.results.push_back(static_cast<uint16_t>(r.number()));
      break;
    }
    case RecordKind::kReduce:
      record.reduction.state = static_cast<ReduceState>(r.number());
      record.reduction.op = static_cast<Opcode>(r.number());
      record.reduction.axes = r.number();
      break;
    case RecordKind::kCall:
      record.family = static_cast<uint16_t>(r.number());
      [[fallthrough]];
    default: {
      record.bytes.resize(r.count(size_t{1} << 40));
      r.bytes(record.bytes.data(), record.bytes.size());
      if (record.kind == RecordKind::kHostData && !record.bytes.empty()) {
        auto kept = std::make_shared<std::vector<char>>(record.bytes);
        record.data = std::shared_ptr<const void>(kept, kept->data());
      }
    }
  }
  *at = r.at();
  return record;
}

std::string print(const Record& record) {
  static constexpr const char* kKinds[] = {"elementwise", "reduce", "call", "host-data", "drop", "read", "flush", "sync"};
  std::ostringstream out;
  out << kKinds[static_cast<int>(record.kind)];
  if (record.kind >= RecordKind::kFlush) return out.str();
  if (record.kind == RecordKind::kDrop) {
    out << " s" << record.inputs[0].store;
    return out.str();
  }
  if (record.kind == RecordKind::kCall) out << " " << family(record.family).name;
  for (const Birth& birth : record.births) out << " new s" << birth.store << birth.base_shape;
  auto ref = [&](const Ref& r) {
    out << " s" << r.store << "+" << r.view.offset << r.view.shape << "/" << r.view.strides << ":" << name(r.view.dtype);
  };
  for (const Ref& in : record.inputs) ref(in);
  if (record.kind == RecordKind::kElementwise)
    for (const Instr& instr : record.code)
      out << (instr.op >= kFirstRow ? " " + std::string(op_info(instr.op).name) : instr.op == kCast ? " cast" : " index");
  if (record.kind == RecordKind::kReduce)
    out << " " << (record.reduction.op >= kFirstRow ? op_info(record.reduction.op).name : "state") << " axes "
        << record.reduction.axes;
  if (!record.outputs.empty()) out << " ->";
  for (const Ref& to : record.outputs) ref(to);
  return out.str();
}

}  // namespace tilewise
