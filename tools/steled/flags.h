// steled/flags.h: what steled's command line asks for.
//
// Errors:    InvalidArgument naming the flag.
// Threads:   values and pure functions.
#pragma once

#include <cstdint>
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
  std::string backup_directory;  // "": beside the database
  std::string listen = "127.0.0.1:8086";
  uint64_t memory_budget_bytes = uint64_t{256} << 20;
  // Bigtable's acknowledgements outlive a loss of power, so steled's do.
  Durability durability = Durability::kDisk;
  int calls_max = 256;
  size_t message_bytes_max = kDefaultMessageBytesMax;
  std::string metrics;  // "HOST:PORT"; "": none
  bool allow_remote = false;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;
};

// Where backups are: beside the database unless told otherwise, whatever way its path is written; "" for a database in memory.
std::string BackupRootOf(const Flags& flags);

absl::StatusOr<Flags> ParseFlags(std::span<const std::string> args);

// Whether "HOST:PORT" is this machine's own: 127.x.x.x, ::1 or localhost.
bool IsLoopback(std::string_view listen);

extern const std::string_view kHelpText;

}  // namespace stele::server
