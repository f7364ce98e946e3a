#include "support/wal_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "io/file_names.h"

namespace stele::internal {

void WalNumbers::SkipExisting(FileSystem* file_system, const std::string& directory) {
  const auto names = file_system->List(directory);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (const std::optional<FileName> parsed = ParseFileName(name))
      last_ = std::max(last_.load(), parsed->number);
  }
}

WalReplay ReplayWal(FileSystem* file_system, const std::string& directory, uint64_t oldest_segment,
                    AtDamage at_damage, LogPosition end) {
  WalReplay replay;
  const LogReadOptions options{.file_system = file_system,
                               .directory = directory,
                               .database_id = kWalDatabaseId,
                               .oldest_segment = oldest_segment,
                               .end = end,
                               .at_damage = at_damage};
  absl::StatusOr<LogTail> tail = ReadLog(options, [&](uint64_t sequence, std::string_view payload) {
    replay.records.push_back({sequence, std::string(payload)});
    return absl::OkStatus();
  });
  replay.status = tail.status();
  if (tail.ok()) replay.tail = *std::move(tail);
  return replay;
}

CommitLogOptions WalOptions(FileSystem* file_system, const std::string& directory,
                            WalNumbers* numbers, uint64_t segment_bytes) {
  CommitLogOptions options;
  options.file_system = file_system;
  options.directory = directory;
  options.database_id = kWalDatabaseId;
  options.segment_bytes = segment_bytes;
  options.first_segment_bytes = 4096;
  options.next_file_number = [numbers] { return numbers->Next(); };
  return options;
}

std::string WalPayload(uint64_t sequence, size_t bytes) {
  std::string payload = fmt::format("<{}>", sequence);
  while (payload.size() < bytes)
    payload.push_back(static_cast<char>('a' + (sequence + payload.size()) % 26));
  return payload;
}

absl::Status AppendWal(CommitLog* log, uint64_t first, uint64_t count, size_t payload_bytes) {
  for (uint64_t sequence = first; sequence < first + count; ++sequence) {
    const std::string payload = WalPayload(sequence, payload_bytes);
    const LogRecord record{sequence, payload};
    absl::Status status = log->Append({&record, 1});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace stele::internal
