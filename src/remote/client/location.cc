#include "remote/client/location.h"

#include <algorithm>
#include <charconv>

#include "base/status.h"
#include "model/validate.h"

namespace stele::internal {
namespace {

constexpr std::string_view kScheme = "bigtable://";
constexpr int kRetrySecondsMax = 3600;

bool IsIdCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == ':';
}

absl::Status CheckId(std::string_view what, std::string_view id) {
  if (what == "project" && id == kUnsetProjectId) return absl::OkStatus();
  if (!id.empty() && id.size() <= 64 && id.front() != '-' && id.front() != '.' &&
      std::all_of(id.begin(), id.end(), IsIdCharacter)) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      "location: {} \"{}\"; a location is bigtable://PROJECT/INSTANCE, each 1 to 64 of "
      "[-_.:a-zA-Z0-9]",
      what, Printable(id));
}

absl::Status CheckEndpoint(std::string_view endpoint) {
  if (endpoint.starts_with("unix:/")) return absl::OkStatus();
  if (endpoint.find("//") != std::string_view::npos)
    return InvalidArgument(
        "location: endpoint \"{}\": it must be HOST:PORT or unix:/PATH, without another scheme; "
        "tls=1 selects TLS",
        Printable(endpoint));
  const size_t colon = endpoint.rfind(':');
  int port = 0;
  const std::string_view host = endpoint.substr(0, std::min(colon, endpoint.size()));
  const bool is_bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  const std::string_view name = is_bracketed ? host.substr(1, host.size() - 2) : host;
  const bool has_port = !endpoint.ends_with(']');
  if (has_port && (name.find_first_of("[]") != std::string_view::npos ||
                   (!is_bracketed && name.find(':') != std::string_view::npos)))
    return InvalidArgument(
        "location: endpoint \"{}\": an IPv6 address has brackets, as in [::1]:8086",
        Printable(endpoint));
  if (colon != std::string_view::npos && colon > 0) {
    const char* const end = endpoint.data() + endpoint.size();
    const auto parsed = std::from_chars(endpoint.data() + colon + 1, end, port);
    if (parsed.ec == std::errc() && parsed.ptr == end && port > 0 && port < 65'536)
      return absl::OkStatus();
  }
  return InvalidArgument("location: endpoint \"{}\": it must be HOST:PORT or unix:/PATH",
                         Printable(endpoint));
}

// Parses one NAME=VALUE from the part after '?'.
absl::Status TakeParameter(std::string_view parameter, RemoteLocation* out) {
  const size_t equals = std::min(parameter.find('='), parameter.size());
  const std::string_view name = parameter.substr(0, equals);
  const std::string_view value = parameter.substr(std::min(equals + 1, parameter.size()));
  if (name == "endpoint") {
    STELE_RETURN_IF_ERROR(CheckEndpoint(value));
    out->data_endpoint = value;
    return absl::OkStatus();
  }
  if (name == "app_profile") {
    out->app_profile = value;
    return CheckId("app_profile", value);
  }
  if (name == "tls") {
    out->tls = value == "1";
    return value == "0" || value == "1"
               ? absl::OkStatus()
               : InvalidArgument("location: tls={}: it must be 0 or 1", Printable(value));
  }
  if (name == "retry_seconds") {
    int seconds = -1;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), seconds);
    out->retry_time = std::chrono::seconds(seconds);
    const bool fits =
        parsed.ptr == value.data() + value.size() && seconds >= 0 && seconds <= kRetrySecondsMax;
    return fits ? absl::OkStatus()
                : InvalidArgument("location: retry_seconds={}: it must be 0 to {}",
                                  Printable(value), kRetrySecondsMax);
  }
  return InvalidArgument(
      "location: unknown parameter \"{}\"; known are endpoint, tls, app_profile and retry_seconds",
      Printable(name));
}

}  // namespace

std::string RemoteLocation::InstanceName() const {
  return fmt::format("projects/{}/instances/{}", project, instance);
}

std::string RemoteLocation::TableName(std::string_view table_id) const {
  return fmt::format("{}/tables/{}", InstanceName(), table_id);
}

std::string RemoteLocation::ToString() const {
  return fmt::format("bigtable://{}/{} at {}", project, instance, data_endpoint);
}

absl::StatusOr<RemoteLocation> ParseRemoteLocation(std::string_view location,
                                                   std::string_view emulator_host) {
  RemoteLocation result;
  std::string_view rest = location.substr(std::min(location.size(), kScheme.size()));
  const size_t question = std::min(rest.find('?'), rest.size());
  std::string_view parameters = rest.substr(std::min(question + 1, rest.size()));
  rest = rest.substr(0, question);
  const size_t slash = std::min(rest.find('/'), rest.size());
  result.project = rest.substr(0, slash);
  result.instance = rest.substr(std::min(slash + 1, rest.size()));
  STELE_RETURN_IF_ERROR(CheckId("project", result.project));
  STELE_RETURN_IF_ERROR(CheckId("instance", result.instance));
  while (!parameters.empty()) {
    const size_t end = std::min(parameters.find('&'), parameters.size());
    STELE_RETURN_IF_ERROR(TakeParameter(parameters.substr(0, end), &result));
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
  }
  if (result.data_endpoint.empty() && !emulator_host.empty()) {
    STELE_RETURN_IF_ERROR(WithContext(CheckEndpoint(emulator_host), "BIGTABLE_EMULATOR_HOST"));
    result.data_endpoint = emulator_host;
  }
  result.admin_endpoint = result.data_endpoint;
  if (result.data_endpoint.empty()) {
    result.is_google = true;
    result.data_endpoint = "bigtable.googleapis.com:443";
    result.admin_endpoint = "bigtableadmin.googleapis.com:443";
  }
  return result;
}

}  // namespace stele::internal
