#include "steled/services/hot_tablets.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "remote/wire/names.h"
#include "remote/wire/timestamps.h"
#include "steled/base/errors.h"

namespace stele::server {

using internal::MicrosOf;
using internal::ToWireTime;
using internal::WireTableName;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

constexpr int kTabletsPerPage = 50;
constexpr int64_t kDayMicros = int64_t{86'400} * 1'000'000;

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The field is a string, but a row key may be any bytes. Bytes other than printable ASCII are
// escaped.
std::string KeyText(const std::string& row_key) {
  const bool is_plain =
      std::all_of(row_key.begin(), row_key.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain ? row_key : absl::CEscape(row_key);
}

struct Window {
  int64_t begin_micros;
  int64_t end_micros;
};

absl::StatusOr<Window> WindowOf(const admin_wire::ListHotTabletsRequest& request,
                                int64_t now_micros) {
  const Window window{
      .begin_micros =
          request.has_start_time() ? MicrosOf(request.start_time()) : now_micros - kDayMicros,
      .end_micros = request.has_end_time() ? MicrosOf(request.end_time()) : now_micros};
  if (window.begin_micros >= window.end_micros)
    return InField(InvalidArgument("must be before end_time"), "start_time");
  if (window.end_micros - window.begin_micros > 2 * kDayMicros)
    return InField(InvalidArgument("must be within 48 hours of start_time"), "end_time");
  if (window.begin_micros < now_micros - 14 * kDayMicros)
    return InField(InvalidArgument("must be within the last 14 days"), "start_time");
  return window;
}

absl::StatusOr<size_t> OffsetOf(const std::string& page_token) {
  size_t offset = 0;
  const std::from_chars_result parsed =
      std::from_chars(page_token.data(), page_token.data() + page_token.size(), offset);
  const bool is_number =
      parsed.ec == std::errc() && parsed.ptr == page_token.data() + page_token.size();
  if (!page_token.empty() && !is_number)
    return InField(InvalidArgument("was not given by this server"), "page_token");
  return offset;
}

}  // namespace

std::function<double()> ProcessCpuPercent() {
  using Clock = std::chrono::steady_clock;
  return [cpu = CpuSeconds(), time = Clock::now()]() mutable {
    const double cpu_before = std::exchange(cpu, CpuSeconds());
    const Clock::time_point time_before = std::exchange(time, Clock::now());
    const double seconds = std::chrono::duration<double>(time - time_before).count();
    const double cores = std::max(1u, std::thread::hardware_concurrency());
    return seconds <= 0 ? 0 : std::min(100.0, (cpu - cpu_before) / seconds / cores * 100);
  };
}

HotTablets::HotTablets(OpenTables* tables, std::shared_ptr<TimestampClock> clock,
                       std::function<double()> cpu_percent)
    : tables_(*tables), clock_(std::move(clock)), cpu_percent_(std::move(cpu_percent)) {}

void HotTablets::Sample() {
  const absl::StatusOr<std::vector<std::string>> names = tables_.List("");
  if (!names.ok()) return;
  const double cpu_percent = cpu_percent_();
  const int64_t begin_micros = std::exchange(sample_micros_, clock_->Now().micros());
  Counts counts;
  std::vector<Hot> tablets;
  double total = 0;
  for (const std::string& name : *names) {
    const absl::StatusOr<Table> table = tables_.Open(name);
    const absl::StatusOr<TableStats> stats = table.ok() ? table->Stats() : table.status();
    const std::string table_name = WireTableName(name);
    if (!stats.ok() || table_name.empty()) continue;  // deleted meanwhile, or not a client's table
    for (const TabletStats& tablet : stats->tablets) {
      const uint64_t count = tablet.reads + tablet.writes;
      counts[{table_name, tablet.start}] = count;
      const auto before = counts_.find({table_name, tablet.start});
      // A new tablet was split off and has half of the other's counts.
      if (before == counts_.end() || count <= before->second) continue;
      const auto operations = static_cast<double>(count - before->second);
      total += operations;
      tablets.push_back({table_name, KeyText(tablet.start), KeyText(tablet.end), begin_micros,
                         sample_micros_, operations});
    }
  }
  counts_ = std::move(counts);
  for (Hot& tablet : tablets) tablet.percent *= cpu_percent / total;
  std::erase_if(tablets, [](const Hot& tablet) { return tablet.percent < kPercentMin; });
  std::sort(tablets.begin(), tablets.end(),
            [](const Hot& a, const Hot& b) { return a.percent > b.percent; });
  if (tablets.size() > kTabletsPerSample) tablets.resize(kTabletsPerSample);
  const std::lock_guard lock(mutex_);
  bytes_ += BytesOf(tablets);
  samples_.push_back(std::move(tablets));
  while (samples_.size() > kSamplesMax || (bytes_ > kBytesMax && samples_.size() > 1)) {
    bytes_ -= BytesOf(samples_.front());
    samples_.pop_front();
  }
}

size_t HotTablets::BytesOf(const std::vector<Hot>& sample) {
  size_t bytes = 0;
  for (const Hot& tablet : sample)
    bytes += tablet.table_name.size() + tablet.start.size() + tablet.end.size();
  return bytes;
}

absl::Status HotTablets::List(const admin_wire::ListHotTabletsRequest& request,
                              admin_wire::ListHotTabletsResponse* response) const {
  if (request.page_size() < 0) return InvalidArgument("page_size must not be negative");
  STELED_ASSIGN_OR_RETURN(const Window window, WindowOf(request, clock_->Now().micros()));
  STELED_ASSIGN_OR_RETURN(const size_t offset, OffsetOf(request.page_token()));
  const std::string prefix =
      request.parent().substr(0, request.parent().rfind("/clusters/")) + "/tables/";
  std::vector<Hot> found;
  {
    const std::lock_guard lock(mutex_);
    for (const std::vector<Hot>& sample : samples_) {
      for (const Hot& tablet : sample) {
        const bool is_within =
            tablet.begin_micros >= window.begin_micros && tablet.begin_micros <= window.end_micros;
        if (is_within && tablet.table_name.starts_with(prefix)) found.push_back(tablet);
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Hot& a, const Hot& b) { return a.percent > b.percent; });
  const int page =
      request.page_size() == 0 ? kTabletsPerPage : std::min(request.page_size(), kTabletsPerPage);
  for (size_t i = offset; i < found.size(); ++i) {
    if (response->hot_tablets_size() == page) {
      response->set_next_page_token(std::to_string(i));
      break;
    }
    admin_wire::HotTablet* const tablet = response->add_hot_tablets();
    tablet->set_name(
        fmt::format("{}/hotTablets/{}-{}", request.parent(), found[i].begin_micros, i));
    tablet->set_table_name(found[i].table_name);
    *tablet->mutable_start_time() = ToWireTime(found[i].begin_micros);
    *tablet->mutable_end_time() = ToWireTime(found[i].end_micros);
    tablet->set_start_key(found[i].start);
    tablet->set_end_key(found[i].end);
    tablet->set_node_cpu_usage_percent(static_cast<float>(found[i].percent));
  }
  return absl::OkStatus();
}

}  // namespace stele::server
