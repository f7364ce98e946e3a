#include "lab/import_modes/import_mode.h"

#include <algorithm>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr size_t kSamplesMax = 5;
constexpr size_t kNotesMessageBytes = 400;

}  // namespace

void AddNote(std::string_view id, std::string_view severity, std::string_view message,
             std::string_view sample, DynamoDbImportReport* report, uint64_t count) {
  message = message.substr(0, kNotesMessageBytes);
  auto found = std::find_if(report->notes.begin(), report->notes.end(), [&](const auto& note) {
    return note.id == id && note.message == message;
  });
  if (found == report->notes.end()) {
    report->notes.push_back({.id = std::string(id),
                             .severity = std::string(severity),
                             .message = std::string(message)});
    found = report->notes.end() - 1;
  }
  found->count += count;
  if (!sample.empty() && found->samples.size() < kSamplesMax)
    found->samples.push_back(Printable(sample));
}

}  // namespace stele::internal::lab
