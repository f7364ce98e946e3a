#include "lab/trace/prefix_scans.h"

#include <algorithm>

#include "stele/keys.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kOnePrefixBytesMax = 65'535;  // no table has a longer key
constexpr size_t kPrefixOverheadBytes = 128;

}  // namespace

bool IsPrefixScan(const TraceRecord& record) {
  return record.op == TraceOp::kScan && record.start.has_value() && !record.start->empty() &&
         record.start->size() <= kOnePrefixBytesMax && record.end.has_value() &&
         keys::PrefixEnd(*record.start) == record.end;
}

size_t PrefixScans::Add(const TraceRecord& record, bool accepts_new) {
  if (!IsPrefixScan(record)) return 0;
  auto known = scans_.find(*record.start);
  size_t bytes = 0;
  if (known == scans_.end()) {
    if (!accepts_new) return 0;
    known = scans_.emplace(*record.start, Scan{.order = scans_.size()}).first;
    bytes = record.start->size() + kPrefixOverheadBytes;
  }
  known->second.count += record.sample;
  return bytes;
}

void PrefixScans::Start(std::string_view delimiter) {
  delimiter_ = delimiter;
  std::erase_if(scans_, [&](const auto& scan) {
    return delimiter.empty() || scan.first.ends_with(delimiter);
  });
  next_ = scans_.begin();
}

void PrefixScans::Match(std::string_view row_key) {
  while (!open_.empty() && !row_key.starts_with(open_.back()->first)) open_.pop_back();
  for (; next_ != scans_.end() && next_->first <= row_key; ++next_)
    if (row_key.starts_with(next_->first)) open_.push_back(next_);
  for (const Scans::iterator scan : open_) {
    const std::string_view rest = row_key.substr(scan->first.size());
    bool& is_seen = rest.empty() || rest.starts_with(delimiter_) ? scan->second.has_whole
                                                                 : scan->second.has_longer;
    is_seen = true;
  }
}

Offenders PrefixScans::Clashes() const {
  std::vector<Scans::const_iterator> found;
  Offenders clashes;
  for (auto scan = scans_.begin(); scan != scans_.end(); ++scan) {
    if (!scan->second.has_whole || !scan->second.has_longer) continue;
    clashes.count += scan->second.count;
    found.push_back(scan);
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a->second.order < b->second.order; });
  for (size_t i = 0; i < std::min(found.size(), kFindingSamplesMax); ++i)
    clashes.samples.push_back(found[i]->first.substr(0, kSampleBytesMax));
  return clashes;
}

}  // namespace stele::internal::lab
