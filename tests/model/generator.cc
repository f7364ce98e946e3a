#include "model/generator.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "model/access.h"
#include "model/filter_node.h"
#include "support/model_naive_filter.h"

namespace stele::internal {
namespace {

constexpr std::string_view kFamilies[] = {"a", "b", "cf", "d", "e.1", "Z"};
constexpr std::string_view kTypes[] = {"sum", "min", "max", "hll"};
constexpr std::string_view kTables[] = {"t0", "t1", "t2"};

template <typename List>
auto Pick(const List& list, uint64_t random) {
  return list[random % std::size(list)];
}

// An estimate of the steps that a filter takes per cell and of the copies it makes of a cell. The
// estimate is high. The engine rejects filters above 65,536 steps.
struct FilterWork {
  uint64_t steps = 1;
  uint64_t copies = 1;
};
constexpr uint64_t kStepsMax = 20'000;

FilterWork WorkOf(const FilterNode& node) {
  FilterWork all;
  if (node.kind == FilterKind::kInterleave) all.copies = 0;
  for (const Filter& filter : node.children) {
    const FilterWork one = WorkOf(Access::Node(filter));
    if (node.kind == FilterKind::kChain) {
      all.steps += all.copies * one.steps;
      all.copies *= one.copies;
    } else {
      all.steps += one.steps;
      all.copies = node.kind == FilterKind::kInterleave ? all.copies + one.copies
                                                        : std::max(all.copies, one.copies);
    }
  }
  return all;
}

}  // namespace

HistoryGenerator::HistoryGenerator(uint64_t seed, HistoryKind kind) : kind_(kind), random_(seed) {
  const size_t key_count = 2 + Below(OneIn(3) ? 60 : 12);
  constexpr std::string_view kLetters("ab\0c\xff", 5);
  while (keys_.size() < key_count) {
    std::string key(1 + Below(3), '\0');
    for (char& c : key) c = kLetters[Below(kLetters.size())];
    if (OneIn(20)) key.append(Below(300), 'k');
    keys_.push_back(key);
  }
  qualifiers_ = {"", "q", "q1", "r"};
  if (OneIn(2)) qualifiers_.push_back(std::string("q\0", 2));
  if (OneIn(3)) qualifiers_.push_back(std::string(500, 'x'));
  for (uint64_t i = OneIn(3) ? 40 : 0; i > 0; --i) qualifiers_.push_back("n" + std::to_string(i));
  durable_one_in_ = OneIn(3) ? 3 : 30;
  big_value_one_in_ = OneIn(3) ? 8 : 100;
}

RunnerOptions HistoryGenerator::Options() {
  RunnerOptions options;
  options.crash_file_system = !OneIn(3);
  if (kind_ == HistoryKind::kEventful) {
    options.memtable_bytes = 16 << 10;
    options.row_group_bytes = 1 << 10;
    options.cache_bytes = 64 << 10;
    options.segment_bytes = 8 << 10;
    options.tablet_bytes = 64 << 10;
    options.open_files = 3;
    return options;
  }
  options.memtable_bytes = uint64_t{16 << 10} << Below(7);
  if (OneIn(3)) options.memtable_bytes = 16 << 10;
  options.row_group_bytes = uint32_t{1} << (10 + Below(6));
  options.cache_bytes = OneIn(3) ? 0 : uint64_t{16 << 10} << Below(8);
  options.segment_bytes = uint64_t{64 << 10} << Below(4);
  options.threads = OneIn(4) ? 2 : 0;
  if (!OneIn(3)) options.tablet_bytes = uint64_t{4 << 10} << Below(5);
  if (OneIn(2)) options.open_files = 1 + Below(4);
  return options;
}

std::string HistoryGenerator::TableName() {
  if (tables_.empty() || OneIn(100)) return std::string(Pick(kTables, random_()));
  return std::next(tables_.begin(), static_cast<ptrdiff_t>(Below(tables_.size())))->first;
}

std::string HistoryGenerator::Family(const std::string& table) {
  const auto it = tables_.find(table);
  if (it == tables_.end() || it->second.families.empty() || OneIn(200))
    return std::string(Pick(kFamilies, random_()));
  return Pick(it->second.families, random_());
}

// Returns a family without aggregates in most cases, if there is one.
std::string HistoryGenerator::PlainFamily(const std::string& table) {
  std::string family = Family(table);
  const auto it = tables_.find(table);
  for (int tries = 0; tries < 8 && it != tables_.end() && it->second.types.contains(family);
       ++tries)
    family = Family(table);
  return family;
}

std::string HistoryGenerator::Key() { return OneIn(400) ? "" : Pick(keys_, random_()); }
std::string HistoryGenerator::Qualifier() { return Pick(qualifiers_, random_()); }

int64_t HistoryGenerator::Micros(const std::string& table) {
  const auto it = tables_.find(table);
  const bool micros = it != tables_.end() && it->second.micros;
  if (OneIn(300)) return OneIn(2) ? -1000 : 1500;
  if (OneIn(60)) return int64_t{9'223'372'036'854'775'000};
  int64_t when = 0;
  if (OneIn(3)) {
    when = now_ - now_ % 1000 + (static_cast<int64_t>(Below(12)) - 9) * 1'000'000;
  } else {
    when = static_cast<int64_t>(Below(10)) * 1000;
  }
  if (micros && OneIn(3)) when += static_cast<int64_t>(Below(3));
  return std::max<int64_t>(when, 0);
}

Term HistoryGenerator::Value() {
  uint64_t bytes = Below(20);
  if (OneIn(6)) bytes = Below(3000);
  if (OneIn(big_value_one_in_)) bytes = Below(40'000);
  if (OneIn(2000)) bytes = Below(600'000);
  return std::to_string(bytes) + ":" + std::to_string(Below(1000));
}

Term HistoryGenerator::Rule(int depth) {
  const uint64_t form = Below(depth > 2 ? 5 : 8);
  if (form == 0) return "none";
  if (form <= 2) return {"n", {static_cast<int64_t>(1 + Below(4))}};
  if (form <= 4) return {"age", {OneIn(40) ? int64_t{5} : static_cast<int64_t>(1000 << Below(13))}};
  std::vector<Term> children;
  for (uint64_t i = Below(3) + (OneIn(10) ? 0 : 1); i > 0; --i) children.push_back(Rule(depth + 1));
  return {form == 7 ? "any" : "all", std::move(children)};
}

Term HistoryGenerator::Set(const std::string& table, const std::string& family) {
  if (OneIn(5)) return {"setnow", {family, Qualifier(), Value()}};
  return {"set", {family, Qualifier(), Micros(table), Value()}};
}

Term HistoryGenerator::Addition(const std::string& table, const std::string& family,
                                const std::string& type) {
  const std::string form = OneIn(100) ? std::string(Pick(kTypes, random_())) : type;
  const std::string qualifier = Qualifier();
  const int64_t when = Micros(table);
  const auto number = [this]() -> int64_t {
    if (OneIn(20))
      return OneIn(2) ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
    return static_cast<int64_t>(Below(2000)) - 1000;
  };
  if (form != "hll") {
    if (!OneIn(5)) return {"add", {family, qualifier, when, number()}};
    if (OneIn(20))
      return {"merge", {family, qualifier, when, Term("bytes", {std::string(Below(10), 'x')})}};
    return {"merge", {family, qualifier, when, Term("number", {number()})}};
  }
  if (!OneIn(6)) return {"item", {family, qualifier, when, "item " + std::to_string(Below(5000))}};
  const auto first = static_cast<int64_t>(Below(5000));
  if (OneIn(20))
    return {"merge", {family, qualifier, when, Term("bytes", {std::string(Below(10), '\1')})}};
  return {"merge",
          {family, qualifier, when,
           Term("sketch", {first, first + static_cast<int64_t>(Below(OneIn(8) ? 4000 : 200))})}};
}

// Returns a family with a GC rule; sometimes also with a type.
Term HistoryGenerator::NewFamily(std::string_view word, const std::string& family,
                                 TableInfo* info) {
  Term term(word, {family, Rule(0)});
  info->types.erase(family);
  if (!OneIn(3)) return term;
  info->types[family] = Pick(kTypes, random_());
  term.arguments.emplace_back(info->types[family]);
  return term;
}

Term HistoryGenerator::Change(const std::string& table) {
  const uint64_t kind = Below(20);
  const std::string family = Family(table);
  if (kind == 0) return "delrow";
  if (kind == 1) return {"delfam", {family}};
  if (kind == 2) return {"delcol", {family, Qualifier()}};
  if (kind <= 5) {
    int64_t start = Micros(table);
    int64_t end = Micros(table);
    if (start > end && !OneIn(40)) std::swap(start, end);
    if (start == end && !OneIn(40))
      end = start + std::min<int64_t>(1000, std::numeric_limits<int64_t>::max() - start);
    if (OneIn(4)) start = 0;
    return {"delrange", {family, Qualifier(), start, OneIn(4) ? Term("*") : Term(end)}};
  }
  if (const auto it = tables_.find(table); it != tables_.end() && !OneIn(200)) {
    if (const auto type = it->second.types.find(family); type != it->second.types.end())
      return Addition(table, family, type->second);
  }
  return Set(table, family);
}

Term HistoryGenerator::Row(const std::string& table) {
  Term row("row", {table, Key()});
  for (uint64_t i = OneIn(300) ? 0 : 1 + Below(OneIn(4) ? 8 : 2); i > 0; --i)
    row.arguments.push_back(Change(table));
  ++written_;
  return row;
}

Term HistoryGenerator::Range() {
  std::string start = Key();
  std::string end = Key();
  if (start > end && !OneIn(30)) std::swap(start, end);
  switch (Below(9)) {
    case 0:
    case 1:
      return "all";
    case 2:
      return {"from", {start}};
    case 3:
      return {"to", {end}};
    case 4:
      return {"prefix", {start.substr(0, 1 + Below(2))}};
    case 5:
      return {"open", {start, end}};
    case 6:
      return {"lopen", {start, end}};
    case 7:
      return {"closed", {start, end}};
    default:
      return {"ropen", {start, end}};
  }
}

Term HistoryGenerator::QualifierRange() {
  std::string start = Qualifier();
  std::string end = Qualifier();
  if (start > end && !OneIn(30)) std::swap(start, end);
  constexpr std::string_view kForms[] = {"closed", "open", "ropen", "lopen"};
  if (OneIn(5)) return {OneIn(2) ? "from" : "to", {start}};
  return {Pick(kForms, random_()), {start, end}};
}

// Returns a random filter in text form.
Term HistoryGenerator::TextFilter(const std::string& table, int samples_max) {
  FilterWords words{.families = {Family(table), Family(table), Family(table)},
                    .qualifiers = {Qualifier(), Qualifier(), Qualifier(), Qualifier()},
                    .values = {"", "m", ExpandValue("1:5"), ExpandValue("2:77")},
                    .row_keys = {Pick(keys_, random_()), Pick(keys_, random_())},
                    .timestamps = {},
                    .samples_max = samples_max};
  for (int i = 0; i < 4; ++i) {
    const int64_t micros = std::max<int64_t>(Micros(table), 0);
    words.timestamps.push_back(micros - micros % 1000);
  }
  Random random(random_());
  const stele::Filter filter = RandomFilter(random, words, 1 + static_cast<int>(Below(4)));
  if (Access::Node(filter).wire_bytes > kFilterWireBytesMax ||
      WorkOf(Access::Node(filter)).steps > kStepsMax)
    return "all";
  return {"text", {filter.ToString()}};
}

Term HistoryGenerator::Filter(const std::string& table, int depth, int samples_max) {
  if (depth == 0 && OneIn(3)) return TextFilter(table, samples_max);
  switch (Below(depth > 2 ? 10 : 13)) {
    case 0:
    case 1:
    case 2:
      return "all";
    case 3:
    case 4:
      return {"latest", {static_cast<int64_t>(OneIn(50) ? 0 : 1 + Below(3))}};
    case 5:
      return {"fam", {Family(table)}};
    case 6:
      return {"col", {Family(table), Qualifier()}};
    case 7:
      return {"colrange", {Family(table), QualifierRange()}};
    case 8: {
      int64_t start = std::max<int64_t>(Micros(table), 0);
      int64_t end = std::max<int64_t>(Micros(table), 0);
      if (start > end && !OneIn(30)) std::swap(start, end);
      return {"ts", {start, OneIn(3) ? Term("*") : Term(end)}};
    }
    case 9:
      return {"limit", {static_cast<int64_t>(1 + Below(6))}};
    default: {
      std::vector<Term> stages;
      for (uint64_t i = OneIn(50) ? 1 : 2 + Below(2); i > 0; --i)
        stages.push_back(Filter(table, depth + 1));
      return {"chain", std::move(stages)};
    }
  }
}

Term HistoryGenerator::SnapshotName() {
  return snapshots_.empty() || OneIn(2) ? "-" : Pick(snapshots_, random_());
}

void HistoryGenerator::AddApply() { Add("apply", {Durability(), Row(TableName())}); }

void HistoryGenerator::AddBulk() {
  const std::string table = TableName();
  std::vector<Term> arguments = {Durability()};
  for (uint64_t i = 1 + Below(OneIn(4) ? 60 : 6); i > 0; --i) arguments.push_back(Row(table));
  Add("bulk", std::move(arguments));
}

void HistoryGenerator::AddBatch() {
  std::vector<Term> arguments = {Durability()};
  for (uint64_t i = Below(OneIn(6) ? 20 : 5); i > 0; --i) arguments.push_back(Row(TableName()));
  Add("batch", std::move(arguments));
}

// Adds a bulk load. Most are valid; some end with a row that is likely to be rejected.
void HistoryGenerator::AddLoad() {
  const std::string table = TableName();
  std::set<std::string> keys;
  for (uint64_t i = Below(OneIn(4) ? 60 : 6); i > 0; --i) keys.insert(Key());
  std::vector<Term> arguments = {table};
  for (const std::string& key : keys) {
    Term row("row", {table, key});
    for (uint64_t i = 1 + Below(OneIn(4) ? 8 : 2); i > 0; --i)
      row.arguments.push_back(Set(table, PlainFamily(table)));
    arguments.push_back(std::move(row));
    ++written_;
  }
  if (OneIn(5)) arguments.push_back(Row(table));
  Add("load", std::move(arguments));
}

// Adds a write under a token, or repeats an earlier token. Most repetitions are of the same write.
void HistoryGenerator::AddUnderToken() {
  if (!under_tokens_.empty() && OneIn(2)) {
    history_.push_back(Pick(under_tokens_, random_()));
    return;
  }
  using G = HistoryGenerator;
  constexpr void (G::*kWrites[])() = {&G::AddApply,          &G::AddBulk,
                                      &G::AddBatch,          &G::AddCheckAndMutate,
                                      &G::AddCheckAndMutate, &G::AddReadModifyWrite,
                                      &G::AddReadModifyWrite};
  (this->*kWrites[Below(std::size(kWrites))])();
  Term& write = history_.back();
  write = Term("tok", {"token number " + std::to_string(Below(40)), write});
  if (under_tokens_.size() < 12) {
    under_tokens_.push_back(write);
  } else {
    under_tokens_[Below(under_tokens_.size())] = write;
  }
}

Term HistoryGenerator::Branch(const std::string& table, const std::string& row_key) {
  Term branch("row", {table, row_key});
  for (uint64_t i = Below(OneIn(4) ? 6 : 3); i > 0; --i) branch.arguments.push_back(Change(table));
  return branch;
}

void HistoryGenerator::AddCheckAndMutate() {
  const std::string table = TableName();
  const std::string row_key = Key();
  // RowSample is left out of the predicate: the reference cannot predict whether a sample contains
  // a row.
  const Term predicate = Filter(table, 0, /*samples_max=*/0);
  Add("cam",
      {Durability(), table, row_key, predicate, Branch(table, row_key), Branch(table, row_key)});
}

// Chooses columns whose values fit the rule in most cases.
Term HistoryGenerator::ModifyRule(const std::string& table) {
  const bool increments = OneIn(2);
  std::string qualifier = OneIn(3) ? Qualifier() : increments ? "count" : "log";
  if (!increments)
    return {"app",
            {Family(table), std::move(qualifier),
             std::to_string(Below(20)) + ":" + std::to_string(Below(1000))}};
  const int64_t amount =
      OneIn(8) ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(Below(20)) - 10;
  return {"inc", {Family(table), std::move(qualifier), amount}};
}

void HistoryGenerator::AddReadModifyWrite() {
  const std::string table = TableName();
  std::vector<Term> arguments = {Durability(), table, Key()};
  for (uint64_t i = OneIn(100) ? 0 : 1 + Below(OneIn(3) ? 4 : 1); i > 0; --i)
    arguments.push_back(ModifyRule(table));
  Add("rmw", std::move(arguments));
}

void HistoryGenerator::AddReadRow() {
  const std::string table = TableName();
  Add(OneIn(3) ? "exists" : "readrow", {table, Key(), Filter(table, 0), GcFlag(), SnapshotName()});
}

void HistoryGenerator::AddReadMany() {
  const std::string table = TableName();
  std::vector<Term> keys;
  for (uint64_t i = 1 + Below(5); i > 0; --i) keys.emplace_back(Key());
  Add("readmany",
      {table, Term("keys", std::move(keys)), Filter(table, 0), GcFlag(), SnapshotName()});
}

void HistoryGenerator::AddScan() {
  const std::string table = TableName();
  std::vector<Term> rows;
  for (uint64_t i = OneIn(20) ? 0 : 1 + Below(OneIn(3) ? 5 : 1); i > 0; --i) {
    rows.push_back(OneIn(3) ? Term("key", {Key()}) : Range());
  }
  const int64_t limit = OneIn(2) ? 0 : static_cast<int64_t>(1 + Below(6));
  const int64_t piece_bytes = OneIn(3) ? static_cast<int64_t>(1 + Below(2000)) : 16 << 20;
  Add("scan", {table, Term("rows", std::move(rows)), Filter(table, 0),
               OneIn(200) ? Term("-1") : Term(limit), OneIn(3) ? "1" : "0", GcFlag(),
               SnapshotName(), piece_bytes, OneIn(8) ? "0" : "1"});
}

void HistoryGenerator::AddSnapshot() {
  if (snapshots_.size() >= 4) return AddRelease();
  snapshots_.push_back("s" + std::to_string(history_.size()));
  Add("snapshot", {snapshots_.back()});
}

void HistoryGenerator::AddRelease() {
  if (snapshots_.empty()) return;
  const auto it = snapshots_.begin() + static_cast<ptrdiff_t>(Below(snapshots_.size()));
  Add("release", {*it});
  snapshots_.erase(it);
}

void HistoryGenerator::AddMaintenance() {
  switch (Below(8)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return Add("flush", {TableName()});
    case 4:
      return Add("sync", {});
    case 5:
      return Add("waitidle", {});
    case 6:
      return Add("sample", {TableName()});
    default:
      return Add("check", {});
  }
}

void HistoryGenerator::AddCompact() {
  Add("compact", {TableName(), OneIn(2) ? Term("all") : Term("from", {Pick(keys_, random_())})});
}
void HistoryGenerator::AddDropRange() { Add("droprange", {TableName(), Range()}); }

void HistoryGenerator::AddCreate() {
  constexpr std::string_view kCompressions[] = {"none", "fast", "balanced"};
  const std::string name(Pick(kTables, random_()));
  std::vector<Term> splits;
  for (uint64_t i = OneIn(2) ? Below(4) : 0; i > 0; --i)
    splits.emplace_back(Pick(keys_, random_()));
  TableInfo info{.micros = OneIn(4)};
  Term create("create", {name, info.micros ? "us" : "ms", Pick(kCompressions, random_()),
                         Term("splits", std::move(splits))});
  for (const std::string_view family : kFamilies) {
    if (!OneIn(2)) continue;
    info.families.emplace_back(family);
    create.arguments.push_back(NewFamily("fam", std::string(family), &info));
  }
  history_.push_back(std::move(create));
  tables_.emplace(name, std::move(info));
}

void HistoryGenerator::AddDeleteTable() {
  if (tables_.size() < 2 && !OneIn(4)) return AddCreate();
  const std::string name = TableName();
  Add("deletetable", {name});
  tables_.erase(name);
}

void HistoryGenerator::AddFamilies() {
  const std::string table = TableName();
  Term change("families", {table});
  for (uint64_t i = 1 + Below(3); i > 0; --i) {
    const std::string family = OneIn(2) ? std::string(Pick(kFamilies, random_())) : Family(table);
    auto& families = tables_[table].families;
    const auto it = std::find(families.begin(), families.end(), family);
    if (it == families.end() && !OneIn(30)) {
      change.arguments.push_back(NewFamily("create", family, &tables_[table]));
      families.push_back(family);
    } else if (OneIn(2)) {
      change.arguments.emplace_back("update", std::vector<Term>{family, Rule(0)});
    } else {
      change.arguments.emplace_back("drop", std::vector<Term>{family});
      if (it != families.end()) families.erase(it);
    }
  }
  history_.push_back(std::move(change));
}

void HistoryGenerator::AddClock() {
  int64_t step = static_cast<int64_t>(Below(OneIn(3) ? 20'000'000 : 20'000));
  if (OneIn(12)) step += 880'000'000;  // about as long as tokens are remembered
  if (OneIn(4) && step < now_) step = -step;
  now_ += step;
  Add("clock", {step});
}

void HistoryGenerator::AddReopen() {
  snapshots_.clear();
  Add("reopen", {});
}

void HistoryGenerator::AddCrash() {
  constexpr std::string_view kPolicies[] = {"kill", "drop", "keep", "loss", "random"};
  const auto seed = static_cast<int64_t>(Below(1'000'000));
  if (OneIn(2)) {
    Add("crashat",
        {static_cast<int64_t>(1 + Below(OneIn(3) ? 400 : 30)), Pick(kPolicies, random_()), seed});
  } else {
    snapshots_.clear();
    Add("crash", {Pick(kPolicies, random_()), seed});
  }
}

void HistoryGenerator::AddCheckpoint() {
  const bool adopt = OneIn(4);
  if (adopt) {
    snapshots_.clear();
    Add("checkpoint", {"copy" + std::to_string(checkpoint_count_++), "adopt"});
  } else {
    Add("checkpoint", {"backup" + std::to_string(checkpoint_count_), "stay"});
  }
}

History HistoryGenerator::Make(size_t operation_count) {
  using G = HistoryGenerator;
  std::vector<CompactionPick> picks = {
      {30, &G::AddApply},        {8, &G::AddBulk},           {8, &G::AddBatch},
      {10, &G::AddReadRow},      {4, &G::AddReadMany},       {10, &G::AddScan},
      {2, &G::AddSnapshot},      {2, &G::AddRelease},        {6, &G::AddMaintenance},
      {2, &G::AddCompact},       {1, &G::AddDropRange},      {0.5, &G::AddCreate},
      {0.7, &G::AddDeleteTable}, {1.5, &G::AddFamilies},     {4, &G::AddClock},
      {1, &G::AddReopen},        {1.5, &G::AddCrash},        {0.5, &G::AddCheckpoint},
      {2, &G::AddLoad},          {5, &G::AddCheckAndMutate}, {5, &G::AddReadModifyWrite},
      {8, &G::AddUnderToken}};
  if (kind_ == HistoryKind::kEventful) picks.push_back({6, &G::AddEvent});
  for (CompactionPick& pick : picks) {
    if (OneIn(4)) pick.weight *= OneIn(2) ? 0.1 : 4;
  }
  std::vector<double> weights;
  for (const CompactionPick& pick : picks) weights.push_back(pick.weight);
  std::discrete_distribution<size_t> pick(weights.begin(), weights.end());
  AddCreate();
  while (history_.size() + written_ < operation_count) (this->*picks[pick(random_)].add)();
  return std::move(history_);
}

}  // namespace stele::internal
