#include "runtime/failures.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/progress.h"

namespace tilewise {

void describe(const std::exception_ptr& error, TaskFailure* failure) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    failure->kind = e.kind();
    failure->reason = e.what();
  } catch (const std::bad_alloc&) {
    failure->kind = ErrorKind::kMemory;
    failure->reason = "out of memory";
  } catch (const std::exception& e) {
    failure->reason = e.what();
  } catch (...) {
    failure->reason = "unknown error";
  }
}

// ---- Between ranks ------------------------------------------------------------------------------------------------

namespace {

void put(std::vector<char>* to, const void* data, size_t bytes) {
  to->insert(to->end(), static_cast<const char*>(data), static_cast<const char*>(data) + bytes);
}
void put_number(std::vector<char>* to, uint64_t v) { put(to, &v, sizeof v); }
void put_text(std::vector<char>* to, const std::string& text) {
  put_number(to, text.size());
  put(to, text.data(), text.size());
}

class Reader {
 public:
  Reader(const char* at, size_t bytes) : at_(at), left_(bytes) {}
  uint64_t number() {
    uint64_t v;
    std::memcpy(&v, take(sizeof v), sizeof v);
    return v;
  }
  std::string text() {
    const size_t n = number();
    return {take(n), n};
  }
  bool empty() const { return left_ == 0; }

 private:
  const char* take(size_t n) {
    TW_CHECK(n <= left_, "a report of failures is cut short");
    left_ -= n;
    return std::exchange(at_, at_ + n);
  }
  const char* at_;
  size_t left_;
};

}  // namespace

std::vector<char> encode(const std::vector<FailurePtr>& failures) {
  std::vector<char> bytes;
  for (const FailurePtr& f : failures) {
    put_number(&bytes, static_cast<uint64_t>(f->kind));
    put_number(&bytes, f->fatal);
    put_number(&bytes, f->only_read);
    put_number(&bytes, f->line);
    put_text(&bytes, f->operation);
    put_text(&bytes, f->reason);
    put_number(&bytes, f->stores.size());
    for (StoreId store : f->stores) put_number(&bytes, store);
  }
  return bytes;
}

std::vector<FailurePtr> decode_failures(const char* data, size_t bytes) {
  Reader r(data, bytes);
  std::vector<FailurePtr> failures;
  while (!r.empty()) {
    auto f = std::make_shared<TaskFailure>();
    f->kind = static_cast<ErrorKind>(r.number());
    f->fatal = r.number() != 0;
    f->only_read = r.number() != 0;
    f->line = static_cast<uint32_t>(r.number());
    f->operation = r.text();
    f->reason = r.text();
    for (uint64_t left = r.number(); left > 0; --left) f->stores.push_back(r.number());
    failures.push_back(std::move(f));
  }
  return failures;
}

// ---- The log ------------------------------------------------------------------------------------------------------

std::string IssuedWork::name() const {
  if (kind == RecordKind::kCall) return tilewise::family(family).name;
  if (kind == RecordKind::kHostData) return "data from the host";
  if (kind == RecordKind::kRead) return "reading values";
  std::string text;
  for (Opcode op : operations) text += (text.empty() ? "" : ", ") + std::string(op_info(op).name);
  return text.empty() ? "copy" : text;
}

Queue& FailureLog::queue(int number) const {
  return number < job_.devices_per_rank() ? job_.local[static_cast<size_t>(number)]->queue() : *job_.comm_queue;
}

bool FailureLog::wanted() const {
  if (!works_.empty() || Progress::failed()) return true;
  for (int q = 0; q < queues(); ++q)
    if (!queue(q).idle()) return true;
  return false;
}

bool FailureLog::finished(const IssuedWork& work) const {
  for (int q = 0; q < queues(); ++q)
    if (!done({queue(q).id(), work.last[q]})) return false;
  return true;
}

bool FailureLog::note(IssuedWork work) {
  for (int q = 0; q < queues(); ++q) work.last.push_back(queue(q).last().sequence);
  const bool lost = spreads(work);
  works_.push_back(std::move(work));
  if (holds_ > 0) return lost;
  // Two for one, so that the list does not grow while work finishes.
  for (int i = 0; i < 2 && works_.size() > 1 && finished(works_.front()); ++i) {
    if (Progress::failed()) look();
    works_.pop_front();
  }
  return lost;
}

void FailureLog::poison(StoreId store, const FailurePtr& failure) {
  if (poisoned_.try_emplace(store, failure).second) failure->stores.push_back(store);
}

bool FailureLog::spreads(const IssuedWork& work) {
  if (poisoned_.empty()) return false;
  FailurePtr cause;
  for (StoreId store : work.reads)
    if (auto found = poisoned_.find(store); found != poisoned_.end()) cause = found->second;
  for (int i = 0; i < work.writes.size(); ++i) {
    if (cause)
      poison(work.writes[i], cause);
    else if (work.whole[i])
      poisoned_.erase(work.writes[i]);
  }
  return cause != nullptr;
}

// One failure, found late, through work that was issued meanwhile. What was overwritten since has values again.
void FailureLog::spread(const FailurePtr& failure, size_t first, bool overwritten) {
  for (size_t w = first; w < works_.size(); ++w) {
    const IssuedWork& work = works_[w];
    const bool reads = std::any_of(work.reads.begin(), work.reads.end(), [&](StoreId s) { return of(s) == failure; });
    for (int i = 0; i < work.writes.size(); ++i) {
      if (reads)
        poison(work.writes[i], failure);
      else if (overwritten && work.whole[i] && of(work.writes[i]) == failure)
        poisoned_.erase(work.writes[i]);
    }
  }
}

FailurePtr FailureLog::refuse(const IssuedWork& work, const std::exception_ptr& error) {
  auto failure = std::make_shared<TaskFailure>();
  describe(error, failure.get());
  failure->operation = work.name();
  failure->line = work.line;
  failure->reported = true;  // by whoever called us
  for (StoreId store : work.writes) {
    poisoned_.erase(store);
    poison(store, failure);
  }
  return failure;
}

void FailureLog::lack_memory(const IssuedWork& work, const std::exception_ptr& error) {
  const FailurePtr failure = refuse(work, error);
  failure->reason = str("rank ", job_.rank, ": ", failure->reason);
  failure->reported = false;
  if (work.kind == RecordKind::kRead) {
    failure->only_read = true;
    for (StoreId store : work.reads) failure->stores.push_back(store);
    failed_reads_.push_back(failure);
  }
  unreported_.push_back(failure);
  new_.push_back(failure);
  Progress::note_failure();
}

FailurePtr FailureLog::take_failed_read(StoreId store) {
  const auto found = std::find_if(failed_reads_.begin(), failed_reads_.end(), [&](const FailurePtr& failure) {
    return std::find(failure->stores.begin(), failure->stores.end(), store) != failure->stores.end();
  });
  if (found == failed_reads_.end()) return nullptr;
  const FailurePtr failure = *found;
  failed_reads_.clear();
  return failure;
}

void FailureLog::look() {
  std::vector<std::pair<size_t, FailurePtr>> found;
  for (int q = 0; q < queues(); ++q) {
    for (const Failure& f : queue(q).take_failures()) {
      auto failure = std::make_shared<TaskFailure>();
      describe(f.error, failure.get());
      failure->fatal = q >= job_.devices_per_rank();
      const auto work = std::find_if(works_.begin(), works_.end(),
                                     [&](const IssuedWork& w) { return w.last[q] >= f.event.sequence; });
      if (work != works_.end()) {
        failure->operation = work->name();
        failure->line = work->line;
      }
      found.push_back({static_cast<size_t>(work - works_.begin()), std::move(failure)});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [at, failure] : found) {
    if (failure->fatal && !fatal_) fatal_ = failure;
    // Parts of one operation that fail for one reason are one failure.
    const bool again = !new_.empty() && new_.back()->reason == failure->reason && new_.back()->line == failure->line;
    const FailurePtr& known = again ? new_.back() : failure;
    if (at < works_.size())
      for (StoreId store : works_[at].writes) poison(store, known);
    spread(known, at + 1, true);
    if (again) continue;
    unreported_.push_back(failure);
    new_.push_back(failure);
  }
}

void FailureLog::adopt(FailurePtr failure) {
  if (failure->fatal && !fatal_) fatal_ = failure;
  if (failure->only_read) {
    failed_reads_.push_back(failure);
    unreported_.push_back(std::move(failure));
    return;
  }
  for (const FailurePtr& known : unreported_) {
    if (known->reason != failure->reason || known->line != failure->line) continue;
    for (StoreId store : failure->stores) poison(store, known);
    spread(known, 0, false);
    return;
  }
  for (StoreId store : std::exchange(failure->stores, {})) poison(store, failure);
  spread(failure, 0, false);
  unreported_.push_back(std::move(failure));
}

FailurePtr FailureLog::of(StoreId store) const {
  const auto found = poisoned_.find(store);
  return found == poisoned_.end() ? nullptr : found->second;
}

FailurePtr FailureLog::take_unreported() {
  FailurePtr first;
  for (const FailurePtr& failure : std::exchange(unreported_, {})) {
    if (!failure->reported && !first) first = failure;
    failure->reported = true;
  }
  return first;
}

std::vector<FailurePtr> FailureLog::take_new() {
  // What was overwritten meanwhile has values again.
  for (const FailurePtr& failure : new_)
    if (!failure->only_read) std::erase_if(failure->stores, [&](StoreId store) { return of(store) != failure; });
  return std::exchange(new_, {});
}

}  // namespace tilewise
