#include "steled/backups/backup_list.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>

#include "remote/wire/timestamps.h"
#include "steled/base/errors.h"

namespace stele::server {

using internal::MicrosOf;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

using Operator = BackupFilter::Operator;

// Limits the depth of recursion for parentheses.
constexpr size_t kTextBytesMax = 2048;

constexpr std::array<std::pair<std::string_view, BackupField>, 7> kFields = {
    {{"name", BackupField::kName},
     {"source_table", BackupField::kSourceTable},
     {"state", BackupField::kState},
     {"start_time", BackupField::kStartTime},
     {"end_time", BackupField::kEndTime},
     {"expire_time", BackupField::kExpireTime},
     {"size_bytes", BackupField::kSizeBytes}}};
// Longer operators first.
constexpr std::array<std::pair<std::string_view, Operator>, 7> kOperators = {
    {{"<=", Operator::kLessOrEqual},
     {">=", Operator::kGreaterOrEqual},
     {"!=", Operator::kNotEqual},
     {"<", Operator::kLess},
     {">", Operator::kGreater},
     {"=", Operator::kEqual},
     {":", Operator::kHas}}};

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::optional<BackupField> FieldOf(std::string_view word) {
  const std::string lower = InLowerCase(word);
  for (const auto& [name, field] : kFields) {
    if (name == lower) return field;
  }
  return std::nullopt;
}

bool IsText(BackupField field) {
  return field == BackupField::kName || field == BackupField::kSourceTable;
}

std::string TextOfField(BackupField field, const admin_wire::Backup& backup) {
  return InLowerCase(field == BackupField::kName ? backup.name() : backup.source_table());
}

int64_t NumberOfField(BackupField field, const admin_wire::Backup& backup) {
  switch (field) {
    case BackupField::kState:
      return backup.state();
    case BackupField::kStartTime:
      return MicrosOf(backup.start_time());
    case BackupField::kEndTime:
      return MicrosOf(backup.end_time());
    case BackupField::kExpireTime:
      return MicrosOf(backup.expire_time());
    case BackupField::kSizeBytes:
      return backup.size_bytes();
    case BackupField::kName:
    case BackupField::kSourceTable:
      break;
  }
  return 0;
}

// Returns a negative number, 0 or a positive number.
int Compare(BackupField field, const admin_wire::Backup& a, const admin_wire::Backup& b) {
  if (IsText(field)) return TextOfField(field, a).compare(TextOfField(field, b));
  const int64_t number_a = NumberOfField(field, a);
  const int64_t number_b = NumberOfField(field, b);
  return number_a < number_b ? -1 : static_cast<int>(number_a > number_b);
}

bool ReadTime(const std::string& text, google::protobuf::Timestamp* time) {
  return google::protobuf::util::TimeUtil::FromString(text, time);
}

bool SetField(BackupField field, const std::string& value, admin_wire::Backup* backup) {
  int64_t number = 0;
  switch (field) {
    case BackupField::kName:
      backup->set_name(value);
      return true;
    case BackupField::kSourceTable:
      backup->set_source_table(value);
      return true;
    case BackupField::kState:
      backup->set_state(InLowerCase(value) == "ready" ? admin_wire::Backup::READY
                                                      : admin_wire::Backup::CREATING);
      return InLowerCase(value) == "ready" || InLowerCase(value) == "creating";
    case BackupField::kStartTime:
      return ReadTime(value, backup->mutable_start_time());
    case BackupField::kEndTime:
      return ReadTime(value, backup->mutable_end_time());
    case BackupField::kExpireTime:
      return ReadTime(value, backup->mutable_expire_time());
    case BackupField::kSizeBytes: {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      backup->set_size_bytes(number);
      return error == std::errc() && end == value.data() + value.size();
    }
  }
  return false;
}

bool Holds(const BackupFilter::Comparison& comparison, const admin_wire::Backup& backup) {
  if (comparison.op == Operator::kHas) {
    const std::string text = TextOfField(comparison.field, backup);
    return text.find(TextOfField(comparison.field, comparison.value)) != std::string::npos;
  }
  const int order = Compare(comparison.field, backup, comparison.value);
  switch (comparison.op) {
    case Operator::kNotEqual:
      return order != 0;
    case Operator::kLess:
      return order < 0;
    case Operator::kLessOrEqual:
      return order <= 0;
    case Operator::kGreater:
      return order > 0;
    case Operator::kGreaterOrEqual:
      return order >= 0;
    default:
      return order == 0;
  }
}

class FilterReader {
 public:
  explicit FilterReader(std::string_view text) : rest_(text) {}

  absl::Status ReadAll(std::vector<BackupFilter::Comparison>* comparisons) {
    STELED_RETURN_IF_ERROR(ReadExpression(comparisons));
    return rest_.empty() ? absl::OkStatus() : Unexpected();
  }

 private:
  absl::Status Unexpected() const {
    return InField(InvalidArgument("cannot be read from \"{}\" on", rest_), "filter");
  }

  void SkipBlanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size()));
  }

  bool Skip(std::string_view text) {
    SkipBlanks();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // Reads up to a blank or one of `ends`.
  std::string_view ReadWord(std::string_view ends) {
    SkipBlanks();
    const std::string_view word =
        rest_.substr(0, rest_.find_first_of(std::string(" \t\n()") + std::string(ends)));
    rest_.remove_prefix(word.size());
    return word;
  }

  absl::Status ReadExpression(std::vector<BackupFilter::Comparison>* comparisons) {
    while (true) {
      if (Skip("(")) {
        STELED_RETURN_IF_ERROR(ReadExpression(comparisons));
        if (!Skip(")")) return Unexpected();
      } else {
        STELED_RETURN_IF_ERROR(ReadComparison(comparisons));
      }
      SkipBlanks();
      if (rest_.empty() || rest_.starts_with(')')) return absl::OkStatus();
      const std::string_view before = rest_;
      const std::string word = InLowerCase(ReadWord(""));
      if (word == "or") return InField(Unimplemented("OR is not offered; list twice"), "filter");
      if (word == "and") continue;
      rest_ = before;
      return Unexpected();
    }
  }

  absl::Status ReadComparison(std::vector<BackupFilter::Comparison>* comparisons) {
    SkipBlanks();
    const std::string_view before = rest_;
    const std::string_view word = ReadWord("<>=!:");
    if (InLowerCase(word) == "not" || word.starts_with('-'))
      return InField(Unimplemented("NOT is not offered; use !="), "filter");
    const std::optional<BackupField> field = FieldOf(word);
    if (!field.has_value()) {
      rest_ = before;
      return Unexpected();
    }
    const auto* const op = std::find_if(kOperators.begin(), kOperators.end(),
                                        [this](const auto& known) { return Skip(known.first); });
    if (op == kOperators.end()) return Unexpected();
    SkipBlanks();
    const std::string_view at_value = rest_;
    const bool is_quoted = Skip("\"");
    BackupFilter::Comparison comparison{.field = *field, .op = op->second, .value = {}};
    const std::optional<std::string> value = is_quoted ? ReadQuoted() : std::string(ReadWord(""));
    if (!value.has_value() || value->empty() || !SetField(*field, *value, &comparison.value)) {
      rest_ = at_value;
      return Unexpected();
    }
    if (comparison.op == Operator::kHas && (is_quoted || !IsText(*field)))
      comparison.op = Operator::kEqual;
    comparisons->push_back(std::move(comparison));
    return absl::OkStatus();
  }

  // Reads after the opening quote. Returns nullopt if there is no closing one.
  std::optional<std::string> ReadQuoted() {
    std::string value;
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return value;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
      value.push_back(rest_[i]);
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

}  // namespace

absl::StatusOr<BackupFilter> BackupFilter::Parse(std::string_view text) {
  BackupFilter filter;
  if (text.find_first_not_of(" \t\n") == std::string_view::npos) return filter;
  if (text.size() > kTextBytesMax)
    return InField(InvalidArgument("of at most {} bytes", kTextBytesMax), "filter");
  STELED_RETURN_IF_ERROR(FilterReader(text).ReadAll(&filter.comparisons_));
  return filter;
}

bool BackupFilter::Matches(const admin_wire::Backup& backup) const {
  return std::all_of(comparisons_.begin(), comparisons_.end(),
                     [&](const Comparison& comparison) { return Holds(comparison, backup); });
}

absl::StatusOr<BackupOrder> BackupOrder::Parse(std::string_view text) {
  BackupOrder order;
  if (text.size() > kTextBytesMax)
    return InField(InvalidArgument("of at most {} bytes", kTextBytesMax), "order_by");
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    std::array<std::string_view, 3> words;
    for (std::string_view& word : words) {
      item.remove_prefix(std::min(item.find_first_not_of(" \t\n"), item.size()));
      word = item.substr(0, item.find_first_of(" \t\n"));
      item.remove_prefix(word.size());
    }
    const std::optional<BackupField> field = FieldOf(words[0]);
    const std::string direction = InLowerCase(words[1]);
    const bool is_read = field.has_value() &&
                         (direction.empty() || direction == "asc" || direction == "desc") &&
                         words[2].empty();
    if (!is_read)
      return InField(InvalidArgument("cannot order by \"{} {}\"", words[0], words[1]), "order_by");
    order.fields_.emplace_back(*field, direction == "desc");
  }
  if (order.fields_.empty()) order.fields_.emplace_back(BackupField::kStartTime, true);
  return order;
}

bool BackupOrder::operator()(const admin_wire::Backup& a, const admin_wire::Backup& b) const {
  for (const auto& [field, is_descending] : fields_) {
    const int order = Compare(field, a, b);
    if (order != 0) return is_descending ? order > 0 : order < 0;
  }
  return a.name() < b.name();
}

}  // namespace stele::server
