// steled/base/log.h: the server's log, on standard error.
//
// Text:      2026-11-24T14:16:46.123Z warning: a call was slow method=/... duration_ms=2041
// JSON:      {"time":"2026-11-24T14:16:46.123Z","level":"warning","message":"a call was slow",
//            "method":"/...","duration_ms":2041}, one object a line.
// Bounds:    lines that clients cause pass a LogLimit, so that clients cannot fill a disk.
// Errors:    none: a line that cannot be written is lost.
// Threads:   thread-safe, except UseLogFormat. A line is written by one call.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stele::server {

enum class LogFormat : uint8_t { kText, kJson };
enum class LogLevel : uint8_t { kInfo, kWarning, kError };

// Additional fields of a line, by names in lower case. The names "time", "level" and "message" are
// reserved.
using LogValue = std::variant<std::string, int64_t, double>;
using LogFields = std::vector<std::pair<std::string_view, LogValue>>;

// Sets the format; the default is text. Call it before there are other threads.
void UseLogFormat(LogFormat format);

void Log(LogLevel level, std::string_view message, const LogFields& fields = {});

// A line as Log writes it, with its newline. Text has no other control characters, and JSON is
// valid whatever bytes the values have.
std::string LogLine(LogFormat format, std::chrono::system_clock::time_point time, LogLevel level,
                    std::string_view message, const LogFields& fields);

// Limits lines of one kind: kBurst at once, and one more each second.
class LogLimit {
 public:
  static constexpr int kBurst = 100;
  using TimePoint = std::chrono::steady_clock::time_point;

  // Returns true if a line may be written at `now`, and sets `suppressed` to the number of lines
  // that were left out since the last one.
  bool Take(TimePoint now, int64_t* suppressed);
  // Returns the number of lines that were left out since the last one, and resets it.
  int64_t TakeSuppressed();

 private:
  std::mutex mutex_;
  int64_t used_ = 0;  // lines of the burst; guarded by mutex_, as the next two
  TimePoint refilled_at_;
  int64_t suppressed_ = 0;
};

// Logs a line if `limit` allows it. Adds the number of earlier lines that were left out, as
// `suppressed`, if there are some.
void LogLimited(LogLimit* limit, LogLevel level, std::string_view message, LogFields fields = {});

}  // namespace stele::server
