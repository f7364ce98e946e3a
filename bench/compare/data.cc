#include "data.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace stele_compare {
namespace {

constexpr uint64_t kKeyGap = 8;         // average distance between the numbers of consecutive keys
constexpr size_t kValueBytes = 100;     // as documented for the workloads
constexpr size_t kSmallValueBytes = 8;  // of the first column of wide rows
constexpr size_t kLargeValueBytes = 1000;
constexpr uint64_t kVersionCount = 100;            // of DataSet::kVersions
constexpr uint64_t kLoggedBytesMax = 160'000'000;  // of DataSet::kLogged
constexpr uint64_t kRowBytes = 579;                // UserBytes of a row of kColumns
constexpr int64_t kFirstMillis = 1'700'000'000'000;

constexpr uint64_t kMatchingRows = 10;  // of DataSet::kBench: 1 row in 10

constexpr std::array<ColumnName, 5> kColumns = {
    {{"0", "st"}, {"1", "addr"}, {"1", "mail"}, {"1", "name"}, {"1", "note"}}};
constexpr std::array<ColumnName, 5> kBenchColumns = {
    {{"0", "field0"}, {"0", "field1"}, {"0", "field2"}, {"0", "field3"}, {"0", "field4"}}};
constexpr std::array<ColumnName, 6> kBenchColumnsAndCounter = {
    {kBenchColumns[0],
     kBenchColumns[1],
     kBenchColumns[2],
     kBenchColumns[3],
     kBenchColumns[4],
     {kCounterFamily, kCounterQualifier}}};
constexpr std::array<std::string_view, 24> kWideQualifiers = {
    "c01", "c02", "c03", "c04", "c05", "c06", "c07", "c08", "c09", "c10", "c11", "c12",
    "c13", "c14", "c15", "c16", "c17", "c18", "c19", "c20", "c21", "c22", "c23", "c24"};

std::string KeyOfNumber(std::string_view start, uint64_t number) {
  char text[32];
  const int bytes =
      std::snprintf(text, sizeof text, "%012llu", static_cast<unsigned long long>(number));
  return std::string(start).append(text, static_cast<size_t>(bytes));
}

std::span<const ColumnName> ColumnsOf(DataSet data_set) {
  return data_set == DataSet::kBench ? std::span<const ColumnName>(kBenchColumns) : kColumns;
}

bool IsLarge(DataSet data_set) {
  return data_set == DataSet::kLarge || data_set == DataSet::kLargeRandom;
}

}  // namespace

std::string_view NameOf(DataSet data_set) {
  switch (data_set) {
    case DataSet::kSorted:
      return "sorted";
    case DataSet::kRandom:
      return "random";
    case DataSet::kWide:
      return "wide";
    case DataSet::kVersions:
      return "versions";
    case DataSet::kOverwrite:
      return "overwrite";
    case DataSet::kSynced:
      return "synced";
    case DataSet::kYcsb:
      return "ycsb";
    case DataSet::kLarge:
      return "large";
    case DataSet::kLargeRandom:
      return "large-random";
    case DataSet::kRangeDelete:
      return "range-delete";
    case DataSet::kLogged:
      return "logged";
    case DataSet::kCounters:
      return "counters";
    case DataSet::kBench:
      return "bench";
  }
  return "";
}

uint64_t UserBytes(const RowData& row) {
  uint64_t bytes = row.row_key.size();
  for (const CellData& cell : row.cells)
    bytes += cell.family.size() + cell.qualifier.size() + 8 + cell.value.size();
  return bytes;
}

std::string EncodedCounter(uint64_t count) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(count >> shift);
  return bytes;
}

Pool::Pool(size_t bytes) {
  constexpr size_t kWordCount = 4096;
  std::vector<std::string> words(kWordCount);
  for (size_t i = 0; i < kWordCount; ++i) {
    const uint64_t chance = Mix(i);
    const size_t letters = 3 + chance % 8;
    for (size_t letter = 0; letter < letters; ++letter)
      words[i] += static_cast<char>('a' + Mix(chance + letter) % 26);
  }
  text_.reserve(bytes + 64);
  for (uint64_t step = 0; text_.size() < bytes; ++step) {
    const uint64_t chance = Mix(step ^ 0x5bd1e995);
    if (chance % 4 != 0) {
      // The square makes some words frequent, as in a natural language.
      const uint64_t rank = (chance >> 8) % kWordCount;
      text_ += words[rank * rank / kWordCount];
    } else {
      for (int digit = 0; digit < 6; ++digit)
        text_ += static_cast<char>('0' + ((chance >> (8 + 6 * digit)) & 63));
    }
    text_ += ' ';
  }
}

std::string RowKeyOf(uint64_t row_index) {
  return KeyOfNumber("usr:", row_index * kKeyGap + Mix(row_index) % (kKeyGap - 1));
}

std::string MissingKeyAfter(uint64_t row_index) {
  return KeyOfNumber("usr:", row_index * kKeyGap + kKeyGap - 1);
}

std::string BenchKeyOf(uint64_t row_index) { return KeyOfNumber("user", row_index); }

std::span<const ColumnName> BenchColumns() { return kBenchColumns; }

std::span<const ColumnName> BenchColumnsAndCounter() { return kBenchColumnsAndCounter; }

uint64_t RowCountOf(DataSet data_set, uint64_t rows) {
  switch (data_set) {
    case DataSet::kSorted:
    case DataSet::kRandom:
    case DataSet::kYcsb:
    case DataSet::kBench:
      return rows;
    case DataSet::kRangeDelete:
      return std::max<uint64_t>(4, rows);  // so that some are deleted and some are not
    case DataSet::kWide:
    case DataSet::kOverwrite:
      return std::max<uint64_t>(1, rows / 10);
    case DataSet::kVersions:
      return std::max<uint64_t>(1, rows / 100);
    case DataSet::kLarge:
    case DataSet::kLargeRandom:
      return std::max<uint64_t>(1, rows / 4);
    case DataSet::kLogged:
      return std::min(rows, kLoggedBytesMax / kRowBytes);
    case DataSet::kCounters:
      return std::min<uint64_t>(rows, 100'000);
    case DataSet::kSynced:
      return std::min<uint64_t>(rows, 300'000);
  }
  return 0;
}

uint64_t CellsInRow(DataSet data_set) {
  if (data_set == DataSet::kWide) return 1 + kWideQualifiers.size();
  if (IsLarge(data_set) || data_set == DataSet::kCounters) return 1;
  return ColumnsOf(data_set).size() * (data_set == DataSet::kVersions ? kVersionCount : 1);
}

std::vector<uint32_t> Shuffled(uint64_t count, uint64_t seed) {
  std::vector<uint32_t> order(count);
  for (uint64_t i = 0; i < count; ++i) order[i] = static_cast<uint32_t>(i);
  for (uint64_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[Mix(seed * 0x100000001b3 + i) % i]);
  return order;
}

void RowMaker::AddVersions(std::string_view family, std::string_view qualifier,
                           uint64_t column_chance, uint64_t overwrite) {
  const uint64_t versions = data_set_ == DataSet::kVersions ? kVersionCount : 1;
  for (uint64_t version = versions; version-- > 0;) {
    const int64_t millis = kFirstMillis + static_cast<int64_t>(overwrite + version);
    cells_.push_back({family, qualifier, millis * 1000,
                      pool_.Slice(Mix(column_chance + overwrite + version), kValueBytes)});
  }
}

void RowMaker::AddColumn(uint64_t row_index, size_t column, uint64_t overwrite) {
  const ColumnName& name = ColumnsOf(data_set_)[column];
  AddVersions(name.family, name.qualifier, (Mix(row_index) << 16) + column * 1000, overwrite);
  if (data_set_ != DataSet::kBench || column != 0 || row_index % kMatchingRows != 0) return;
  std::string_view& value = cells_.back().value;
  matching_value_ = kMatchingValue;
  matching_value_ += value.substr(kMatchingValue.size());
  value = matching_value_;
}

const RowData& RowMaker::Make(uint64_t row_index, uint64_t overwrite) {
  row_key_ = data_set_ == DataSet::kBench ? BenchKeyOf(row_index) : RowKeyOf(row_index);
  cells_.clear();
  const uint64_t chance = Mix(row_index) << 16;
  if (data_set_ == DataSet::kWide) {
    cells_.push_back({"0", "st", kFirstMillis * 1000, pool_.Slice(Mix(chance), kSmallValueBytes)});
    for (size_t i = 0; i < kWideQualifiers.size(); ++i)
      AddVersions("1", kWideQualifiers[i], chance + (i + 1) * 1000, overwrite);
  } else if (IsLarge(data_set_)) {
    cells_.push_back(
        {"1", "body", kFirstMillis * 1000, pool_.Slice(Mix(chance), kLargeValueBytes)});
  } else {
    for (size_t i = 0; i < ColumnsOf(data_set_).size(); ++i) AddColumn(row_index, i, overwrite);
  }
  row_ = {row_key_, cells_};
  return row_;
}

const RowData& RowMaker::MakeOneCell(uint64_t row_index, uint64_t overwrite, uint64_t chance) {
  row_key_ = data_set_ == DataSet::kBench ? BenchKeyOf(row_index) : RowKeyOf(row_index);
  cells_.clear();
  AddColumn(row_index, chance % ColumnsOf(data_set_).size(), overwrite);
  row_ = {row_key_, cells_};
  return row_;
}

}  // namespace stele_compare
