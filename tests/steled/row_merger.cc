#include "steled/row_merger.h"

#include <algorithm>

namespace stele::server {
namespace {

std::string ValueText(const std::string& value) {
  if (value.size() <= 40) return value;
  const bool alike =
      std::all_of(value.begin(), value.end(), [&](char c) { return c == value.front(); });
  return "<" + std::to_string(value.size()) + " bytes" +
         (alike ? std::string(" of '") + value.front() + "'" : "") + ">";
}

// No chunk is longer. A message may have this much free space.
constexpr size_t kChunkBytesMost = size_t{300} << 10;

}  // namespace

void RowMerger::Expect(bool holds, const std::string& rule) {
  if (!holds) errors_.push_back(rule);
}

void RowMerger::Take(const google::bigtable::v2::ReadRowsResponse& message) {
  Expect(message.ByteSizeLong() <= message_bytes_max_, "a message is not above the most");
  for (const auto& chunk : message.chunks()) {
    if (!in_row_) row_bytes_ = 0;
    row_bytes_ += chunk.ByteSizeLong();
    TakeChunk(chunk);
    Expect(in_row_ || !spans_ || row_bytes_ > message_bytes_max_ - kChunkBytesMost,
           "a row that fits comes in one message");
    spans_ = spans_ && in_row_;
  }
  spans_ = in_row_;
}

void RowMerger::TakeChunk(const google::bigtable::v2::ReadRowsResponse::CellChunk& chunk) {
  Expect(!chunk.reset_row(), "this server resets no row");
  if (!in_row_) {
    Expect(!chunk.row_key().empty() && chunk.has_family_name() && chunk.has_qualifier(),
           "a row begins with key, family and qualifier");
    const bool ascends =
        reversed_ ? chunk.row_key() < last_row_key_ : chunk.row_key() > last_row_key_;
    Expect(!has_last_row_ || ascends, "row keys are in order");
    row_key_ = chunk.row_key();
    text_ = row_key_;
    in_row_ = true;
    has_column_ = false;
  } else {
    Expect(chunk.row_key().empty() || chunk.row_key() == row_key_, "a row keeps its key");
  }
  if (in_value_) {
    const bool plain = !chunk.has_family_name() && !chunk.has_qualifier() &&
                       chunk.timestamp_micros() == 0 && chunk.labels().empty();
    Expect(plain, "a value goes on with value alone");
  } else {
    BeginCell(chunk);
  }
  value_ += chunk.value();
  if (chunk.value_size() > 0) {
    Expect(!in_value_ || value_bytes_ == static_cast<size_t>(chunk.value_size()),
           "the length of a value stays");
    value_bytes_ = static_cast<size_t>(chunk.value_size());
    in_value_ = true;
    Expect(!chunk.commit_row(), "no commit within a value");
    return;
  }
  EndCell();
  if (!chunk.commit_row()) return;
  rows_.push_back(text_);
  last_row_key_ = row_key_;
  has_last_row_ = true;
  in_row_ = false;
}

void RowMerger::BeginCell(const google::bigtable::v2::ReadRowsResponse::CellChunk& chunk) {
  Expect(!chunk.has_family_name() || chunk.has_qualifier(), "a family comes with a qualifier");
  Expect(has_column_ || chunk.has_family_name(), "a row's first cell has a family");
  if (chunk.has_family_name()) family_ = chunk.family_name().value();
  if (chunk.has_qualifier()) qualifier_ = chunk.qualifier().value();
  has_column_ = true;
  timestamp_micros_ = chunk.timestamp_micros();
  labels_.clear();
  for (const std::string& label : chunk.labels()) labels_ += "#" + label;
  value_.clear();
}

void RowMerger::EndCell() {
  Expect(!in_value_ || value_.size() == value_bytes_, "a value has the length that was announced");
  in_value_ = false;
  text_ += " " + family_ + ":" + qualifier_ + "@" + std::to_string(timestamp_micros_) + "=" +
           ValueText(value_) + labels_;
}

void RowMerger::End() { Expect(!in_row_, "the stream ends between rows"); }

}  // namespace stele::server
