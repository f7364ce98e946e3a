// steled/flags.h: the settings of one steled, from its command line and its environment.
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

#include "absl/status/statusor.h"
#include "read_rows.h"
#include "stele/options.h"

namespace stele::server {

struct Flags {
  enum class Wish : uint8_t { kServe, kHelp, kVersion };

  Wish wish = Wish::kServe;
  std::string database;
  std::string backup_directory;           // "": beside the database
  std::string listen = "127.0.0.1:8086";  // or "unix:PATH"
  uint64_t memory_budget_bytes = uint64_t{256} << 20;
  // Bigtable's acknowledgements outlive a loss of power, so steled's do.
  Durability durability = Durability::kDisk;
  int calls_max = 256;
  std::chrono::seconds stall_timeout{60};
  size_t message_bytes_max = kDefaultMessageBytesMax;
  std::string metrics;  // "HOST:PORT"; "": none
  bool allow_remote = false;
  bool allow_plaintext = false;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;
};

// Where backups are: beside the database unless told otherwise, whatever way its path is written; "" for a database in memory.
std::string BackupRootOf(const Flags& flags);

// The value of an environment variable; none if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment ProcessEnvironment();

absl::StatusOr<Flags> ParseFlags(std::span<const std::string> args, const Environment& environment);

// Whether only this machine can connect to it: "unix:PATH", or "HOST:PORT" with 127.x.x.x, ::1 or localhost.
bool IsLocal(std::string_view address);
// Whether clients of other machines connect without TLS.
bool ServesPlaintextRemotely(const Flags& flags);

// What --help prints.
std::string HelpText();

}  // namespace stele::server
