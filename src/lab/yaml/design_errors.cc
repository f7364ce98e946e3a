#include "lab/yaml/design_errors.h"

#include "base/status.h"

namespace stele::internal::lab {

void DesignErrors::Add(Mark mark, std::string_view what) {
  if (++count_ > kListedMax) return;
  lines_.push_back(fmt::format("{}:{}:{}: {}", file_, mark.line, mark.column, what));
}

bool DesignErrors::AddForFile(Mark mark, std::string_view what) {
  if (!is_stored_) Add(mark, what);
  return !is_stored_;
}

absl::Status DesignErrors::ToStatus() const {
  if (empty()) return absl::OkStatus();
  std::string text;
  for (const std::string& line : lines_) text.append(text.empty() ? "" : "\n").append(line);
  if (count_ > lines_.size())
    text += fmt::format("\n{}: and {} more errors", file_, count_ - lines_.size());
  return InvalidArgument("{}", text);
}

}  // namespace stele::internal::lab
