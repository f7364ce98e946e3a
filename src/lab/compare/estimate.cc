#include "lab/compare/estimate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "lab/design/parse_design.h"
#include "lab/values/shown_text.h"
#include "lab/yaml/member_reader.h"

namespace stele::internal::lab {
namespace {

using stele::lab::EstimateSettings;

constexpr double kHoursPerMonth = 730;
constexpr double kNumberMin = 1e-9;
constexpr double kNumberMax = 1e15;
constexpr double kNodesMax = 1e15;

// Returns the positive number that is a member, if there is one.
std::optional<double> Positive(const MemberReader& members, std::string_view name, double most,
                               DesignErrors* errors) {
  const std::optional<std::string> text = members.Text(name);
  if (!text.has_value()) return std::nullopt;
  double number = 0;
  const bool is_decimal = text->find_first_not_of("0123456789.eE+-") == text->npos;
  if (is_decimal && absl::SimpleAtod(*text, &number) && number >= kNumberMin && number <= most)
    return number;
  errors->Add(members.Find(name)->mark,
              fmt::format("{} must be a number from {:g} to {:g}", name, kNumberMin, most));
  return std::nullopt;
}

EstimateSettings ParseEstimate(const YamlNode& root, DesignErrors* errors) {
  const MemberReader members(root, "an estimate",
                             {"reads", "writes", "scan_mb", "storage_tb", "target", "rate",
                              "data_factor", "node_hour", "gb_month"},
                             errors);
  const auto number = [&](std::string_view name) {
    return Positive(members, name, name == "target" ? 1 : kNumberMax, errors);
  };
  EstimateSettings settings;
  settings.node_reads_per_second = number("reads").value_or(settings.node_reads_per_second);
  settings.node_writes_per_second = number("writes").value_or(settings.node_writes_per_second);
  settings.node_scan_mb_per_second = number("scan_mb").value_or(settings.node_scan_mb_per_second);
  settings.node_storage_tb = number("storage_tb").value_or(settings.node_storage_tb);
  settings.target = number("target").value_or(settings.target);
  settings.operations_per_second = number("rate");
  settings.data_factor = number("data_factor").value_or(settings.data_factor);
  settings.node_hour = number("node_hour");
  settings.gb_month = number("gb_month");
  if (settings.node_hour.has_value() != settings.gb_month.has_value() && errors->empty())
    errors->Add(members.mark(), "node_hour and gb_month are needed together");
  return settings;
}

}  // namespace

absl::Status CheckEstimateSettings(const EstimateSettings& settings) {
  for (const double number :
       {settings.node_reads_per_second, settings.node_writes_per_second,
        settings.node_scan_mb_per_second, settings.node_storage_tb, settings.target,
        settings.data_factor, settings.operations_per_second.value_or(1),
        settings.node_hour.value_or(1), settings.gb_month.value_or(1)}) {
    if (!(number >= kNumberMin && number <= kNumberMax))
      return InvalidArgument("the numbers of EstimateSettings must be from {:g} to {:g}, not {:g}",
                             kNumberMin, kNumberMax, number);
  }
  if (settings.target > 1)
    return InvalidArgument("EstimateSettings::target is {:g}, and must be at most 1",
                           settings.target);
  if (settings.node_hour.has_value() != settings.gb_month.has_value())
    return InvalidArgument(
        "EstimateSettings::node_hour and EstimateSettings::gb_month are needed together");
  return absl::OkStatus();
}

stele::lab::CompareReport::Estimate EstimateOf(const EstimateSettings& settings,
                                               double operations_per_second,
                                               const LoadCounts& counts) {
  const double per_count =
      operations_per_second / static_cast<double>(std::max<uint64_t>(counts.operations, 1));
  stele::lab::CompareReport::Estimate estimate;
  estimate.reads_per_second = per_count * static_cast<double>(counts.point_rows + counts.scans);
  estimate.writes_per_second = per_count * static_cast<double>(counts.written_rows);
  estimate.scan_mb_per_second = per_count * static_cast<double>(counts.scanned_bytes) / 1e6;
  estimate.storage_gb = static_cast<double>(counts.table_bytes) * settings.data_factor / 1e9;
  estimate.load = estimate.reads_per_second / settings.node_reads_per_second +
                  estimate.writes_per_second / settings.node_writes_per_second +
                  estimate.scan_mb_per_second / settings.node_scan_mb_per_second;
  const double for_load = std::ceil(estimate.load / settings.target);
  const double for_storage =
      std::ceil(estimate.storage_gb / 1000 / (settings.node_storage_tb * settings.target));
  estimate.nodes =
      static_cast<uint64_t>(std::min(std::max({1.0, for_load, for_storage}), kNodesMax));
  if (settings.node_hour.has_value()) {
    estimate.month_price =
        static_cast<double>(estimate.nodes) * *settings.node_hour * kHoursPerMonth +
        estimate.storage_gb * *settings.gb_month;
  }
  return estimate;
}

}  // namespace stele::internal::lab

namespace stele {
inline namespace v0 {
namespace lab {

absl::StatusOr<EstimateSettings> EstimateSettings::Load(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const std::string text, internal::lab::ReadDesignFile(path));
  internal::lab::DesignErrors errors{internal::lab::ShownText(path)};
  const auto root = internal::lab::ParseYaml(text, &errors);
  EstimateSettings settings;
  if (root.has_value()) settings = internal::lab::ParseEstimate(*root, &errors);
  STELE_RETURN_IF_ERROR(errors.ToStatus());
  return settings;
}

}  // namespace lab
}  // namespace v0
}  // namespace stele
