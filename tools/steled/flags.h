// steled/flags.h: parses the command line and the environment of steled.
//
// A flag --some-name can also be given as the variable STELED_SOME_NAME. The command line wins.
//
// Errors:    InvalidArgument naming the flag or the variable.
// Threads:   values and pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "stele/options.h"
#include "steled/base/log.h"
#include "steled/services/read_rows.h"

namespace stele::server {

struct Flags {
  enum class FlagAction : uint8_t { kServe, kHelp, kVersion };

  FlagAction action = FlagAction::kServe;
  std::string database;
  std::string backup_directory;           // "": next to the database
  std::string listen = "127.0.0.1:8086";  // or "unix:PATH"
  uint64_t memory_budget_bytes = uint64_t{256} << 20;
  // Bigtable's acknowledged writes survive a power failure, so steled's do, too.
  Durability durability = Durability::kDisk;
  int calls_max = 256;
  std::chrono::seconds stall_timeout{60};
  size_t message_bytes_max = kDefaultMessageBytesMax;
  std::string metrics;  // "HOST:PORT"; "": none
  std::string trace;    // a file that records operations; "": none
  uint32_t trace_sample = 1;
  bool heat_map = false;
  bool allow_remote = false;
  bool allow_plaintext = false;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;
  bool strict_instances = false;
  std::chrono::seconds undelete_period = std::chrono::days(7);
  LogFormat log_format = LogFormat::kText;
  std::chrono::milliseconds slow_call{1'000};  // 0: no call is logged as slow

  // Flags and variables that were given; the command line wins.
  struct Given {
    std::string name;    // without dashes
    std::string source;  // the flag or the variable, as its user wrote it
    std::string value;
  };
  std::vector<Given> given;
  // Variables that begin with STELED_ and set no flag.
  std::vector<std::string> unknown_variables;
};

// Returns the source of the flag's value: "--metrics", or "STELED_METRICS" if that variable set it.
std::string SourceOf(const Flags& flags, std::string_view name);
// Flags::given as a command line: "--db /var/lib/db --max-calls 64".
std::string GivenText(const Flags& flags);

// Returns the directory of backups. By default it is next to the database; "" for a database in
// memory.
std::string BackupRootOf(const Flags& flags);

// Returns the value of an environment variable; nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment ProcessEnvironment();
// The names of all variables of the process.
std::vector<std::string> VariableNames();

// `variable_names` are all variables of the environment, to report unknown ones.
absl::StatusOr<Flags> ParseFlags(std::span<const std::string> args, const Environment& environment,
                                 std::span<const std::string> variable_names = {});

// True if only this machine can connect to it: "unix:PATH", or "HOST:PORT" with 127.x.x.x, ::1 or
// localhost.
bool IsLocal(std::string_view address);
// True if clients of other machines connect without TLS.
bool ServesPlaintextRemotely(const Flags& flags);

// The output of --help.
std::string HelpText();

}  // namespace stele::server
