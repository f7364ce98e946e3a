#include "support/crash_fs/crash_faults.h"

namespace stele::internal {

bool CrashFaults::Hits(Planned& planned, CallKind kind, std::string_view path) const {
  if (path.find(planned.fault.path_part) == std::string_view::npos) return false;
  uint64_t number = 0;
  switch (planned.counter) {
    case Planned::Counter::kCalls:
      if (!IsMutating(kind)) return false;
      number = calls_;
      break;
    case Planned::Counter::kReads:
      if (IsMutating(kind)) return false;
      number = reads_;
      break;
    case Planned::Counter::kKind:
      if (kind != planned.kind) return false;
      number = ++planned.seen;
      break;
  }
  return number == planned.at || (planned.fault.sticky && number > planned.at);
}

CrashFaults::Outcome CrashFaults::Count(CallKind kind, std::string_view path) {
  if (!crashed_ && IsMutating(kind)) crashed_ = crash_at_call_ != 0 && calls_ + 1 >= crash_at_call_;
  if (crashed_) return {.crashed = true};
  ++(IsMutating(kind) ? calls_ : reads_);
  Outcome outcome;
  for (Planned& planned : planned_) {  // Check all of them, so that each counts the call.
    if (!Hits(planned, kind, path) || !outcome.ok()) continue;
    outcome = {.error_number = planned.fault.error_number,
               .partial = planned.fault.partial,
               .whole = planned.fault.whole};
  }
  return outcome;
}

}  // namespace stele::internal
