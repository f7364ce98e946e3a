#include "steled/base/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace stele::server {
namespace {

using Json = nlohmann::ordered_json;

LogFormat log_format = LogFormat::kText;

std::string_view NameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      break;
  }
  return "error";
}

std::string TimeText(std::chrono::system_clock::time_point time) {
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  return fmt::format(
      "{:%FT%T}.{:03}Z",
      fmt::gmtime(std::chrono::system_clock::time_point(std::chrono::seconds(millis / 1000))),
      millis % 1000);
}

bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }

// Bytes that could end a line or confuse a terminal are escaped.
std::string Printable(std::string_view text) {
  std::string printable;
  for (const char c : text) {
    if (IsPrintable(c)) {
      printable += c;
    } else {
      printable += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return printable;
}

std::string Dump(const Json& json) {
  // Bytes that are not UTF-8 become U+FFFD.
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

// Returns the value, in quotes if its end would be ambiguous.
std::string ValueText(const LogValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) {
    return std::visit([](const auto& other) { return fmt::format("{}", other); }, value);
  }
  const bool is_plain = !text->empty() && std::all_of(text->begin(), text->end(), [](char c) {
    return IsPrintable(c) && c != ' ' && c != '"' && c != '=';
  });
  return is_plain ? *text : Dump(Json(*text));
}

std::string JsonLine(std::chrono::system_clock::time_point time, LogLevel level,
                     std::string_view message, const LogFields& fields) {
  Json line = {{"time", TimeText(time)}, {"level", NameOf(level)}, {"message", message}};
  for (const auto& [name, value] : fields)
    std::visit([&, &name = name](const auto& known) { line[std::string(name)] = known; }, value);
  return Dump(line) + "\n";
}

}  // namespace

void UseLogFormat(LogFormat format) { log_format = format; }

void Log(LogLevel level, std::string_view message, const LogFields& fields) {
  const std::string line =
      LogLine(log_format, std::chrono::system_clock::now(), level, message, fields);
  std::fputs(line.c_str(), stderr);
}

std::string LogLine(LogFormat format, std::chrono::system_clock::time_point time, LogLevel level,
                    std::string_view message, const LogFields& fields) {
  if (format == LogFormat::kJson) return JsonLine(time, level, message, fields);
  std::string line = fmt::format("{} {}: {}", TimeText(time), NameOf(level), Printable(message));
  for (const auto& [name, value] : fields) line += fmt::format(" {}={}", name, ValueText(value));
  return line + "\n";
}

bool LogLimit::Take(TimePoint now, int64_t* suppressed) {
  const std::lock_guard lock(mutex_);
  const int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now - refilled_at_).count();
  if (seconds > 0) {
    used_ = std::max<int64_t>(0, used_ - seconds);
    refilled_at_ = used_ == 0 ? now : refilled_at_ + std::chrono::seconds(seconds);
  }
  if (used_ >= kBurst) {
    ++suppressed_;
    return false;
  }
  ++used_;
  *suppressed = std::exchange(suppressed_, 0);
  return true;
}

int64_t LogLimit::TakeSuppressed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(suppressed_, 0);
}

void LogLimited(LogLimit* limit, LogLevel level, std::string_view message, LogFields fields) {
  int64_t suppressed = 0;
  if (!limit->Take(std::chrono::steady_clock::now(), &suppressed)) return;
  if (suppressed > 0) fields.emplace_back("suppressed", suppressed);
  Log(level, message, fields);
}

}  // namespace stele::server
