// The scripts of eventful histories. Each script is short, causes one event of the engine, and uses
// its own table, so that no other operation interferes. The data is random where that is possible.
// Reads are compared with the reference, as always.
#include "model/generator.h"

namespace stele::internal {
namespace {

Term SetCell(std::string_view qualifier, int64_t millis, uint64_t bytes, uint64_t seed) {
  return {"set",
          {"f", qualifier, millis * 1000, std::to_string(bytes) + ":" + std::to_string(seed)}};
}
Term DeleteRange(std::string_view qualifier, int64_t first_millis, int64_t end_millis) {
  return {"delrange", {"f", qualifier, first_millis * 1000, end_millis * 1000}};
}
Term Apply(const std::string& table, const std::string& row_key, std::vector<Term> changes) {
  changes.insert(changes.begin(), {table, row_key});
  return {"apply", {"p", Term("row", std::move(changes))}};
}
Term Scan(const std::string& table, Term rows, Term filter, bool reverse) {
  return {"scan",
          {table, Term("rows", {std::move(rows)}), std::move(filter), "0", reverse ? "1" : "0", "1",
           "-", int64_t{16} << 20}};
}

}  // namespace

// Calls the scripts in turn, so that every history contains all of them.
void HistoryGenerator::AddEvent() {
  using G = HistoryGenerator;
  constexpr void (G::*kEvents[])() = {&G::AddRetry,         &G::AddGcFence, &G::AddStricterRule,
                                      &G::AddFallToHistory, &G::AddExpiry,  &G::AddDiscard,
                                      &G::AddSpill,         &G::AddGrowth,  &G::AddRepeat,
                                      &G::AddDropBesideJob};
  if (event_count_ == 0) event_count_ = Below(std::size(kEvents));
  (this->*kEvents[event_count_++ % std::size(kEvents)])();
}

// Creates the table with one family, "f". Every script calls this, because a crash may have removed
// the table. If the table exists, the call has no effect.
void HistoryGenerator::AddOwnTable(const std::string& table, const Term& rule) {
  Add("create", {table, "ms", "fast", Term("splits"), Term("fam", {"f", rule})});
}

// A write to a row between the read and the commit of an operation that reads before it writes
// (engine rule 5). The operation is a range delete in a family whose rule counts versions (engine
// rule 8), or a conditional write.
void HistoryGenerator::AddRetry() {
  AddOwnTable("retried", {"n", {int64_t{2}}});
  const std::string row_key = Key();
  const auto newest = static_cast<int64_t>(3 + Below(5));
  history_.push_back(Apply(
      "retried", row_key,
      {SetCell("q", 1, 10, 1), SetCell("q", 2, 10, 2), SetCell("q", newest, 10, Below(1000))}));
  Add("flush", {"retried"});
  Term reader = Apply("retried", row_key, {DeleteRange("q", newest, newest + 1)});
  if (OneIn(3)) reader = {"rmw", {"p", "retried", row_key, Term("app", {"f", "q", "5:7"})}};
  if (OneIn(3)) {
    const Term branch("row", {"retried", row_key, Term("delcol", {"f", "q"})});
    reader = {"cam",
              {"p", "retried", row_key, Term("ts", {(newest + 1) * 1000, "*"}), branch,
               Term("row", {"retried", row_key})}};
  }
  Add("between", {"read",
                  Apply("retried", row_key,
                        {SetCell("q", newest + static_cast<int64_t>(Below(2)), 10, Below(1000))}),
                  std::move(reader)});
  Add("readrow", {"retried", row_key, "all", "1", "-"});
}

// Range deletes of the newest versions while older versions are garbage already (engine rule 8).
void HistoryGenerator::AddGcFence() {
  AddOwnTable("fenced", {"n", {int64_t{2}}});
  const std::string row_key = Key();
  std::vector<Term> versions;
  for (int64_t millis = 1; millis <= 6; ++millis) {
    versions.push_back(SetCell("q", millis, 20, Below(1000)));
    versions.push_back(SetCell("r", millis, 20, Below(1000)));
  }
  history_.push_back(Apply("fenced", row_key, std::move(versions)));
  if (OneIn(2)) Add("flush", {"fenced"});
  const auto first = static_cast<int64_t>(5 + Below(2));
  history_.push_back(
      Apply("fenced", row_key, {DeleteRange("q", first, 7), DeleteRange("r", 6, 7)}));
  if (OneIn(2)) Add("compact", {"fenced", "all"});
  Add("readrow", {"fenced", row_key, "all", "1", "-"});
}

// A GC rule becomes stricter after a range delete that got no GC fence for it. A compaction whose
// inputs do not contain the delete does not know the version ordinals (engine rule 9).
void HistoryGenerator::AddStricterRule() {
  const std::string table = OneIn(2) ? "stricter" : "strict";
  AddOwnTable(table, table == "strict" ? Term("n", {int64_t{5}}) : Term("none"));
  Add("families",
      {table, Term("update", {"f", table == "strict" ? Term("n", {int64_t{5}}) : Term("none")})});
  const std::string row_key = Key();
  std::vector<Term> versions;
  for (int64_t millis = 1; millis <= 5; ++millis)
    versions.push_back(SetCell("q", millis, 20, Below(1000)));
  history_.push_back(Apply(table, row_key, std::move(versions)));
  if (OneIn(2)) Add("flush", {table});
  history_.push_back(
      Apply(table, row_key, {DeleteRange("q", static_cast<int64_t>(3 + Below(3)), 6)}));
  if (OneIn(2)) Add("flush", {table});
  if (OneIn(3)) history_.push_back(Apply(table, Key(), {SetCell("q", 9, 20, Below(1000))}));
  Add("families", {table, Term("update", {"f", Term("n", {static_cast<int64_t>(1 + Below(3))})})});
  if (OneIn(2)) {
    Add("waitidle", {});
  } else {
    Add("compact", {table, "all"});
  }
  Add("readrow", {table, row_key, "all", "1", "-"});
}

// A newer source hides the newest version in a file whose older versions are in a separate section
// (engine rule 13).
void HistoryGenerator::AddFallToHistory() {
  AddOwnTable("history", "none");
  const std::string row_key = Key();
  std::vector<Term> versions;
  std::vector<Term> deletes;
  for (const std::string_view qualifier : {"q", "r", "s"}) {
    for (int64_t millis = 1; millis <= 8; ++millis)
      versions.push_back(SetCell(qualifier, millis, 30, Below(1000)));
    deletes.push_back(DeleteRange(qualifier, static_cast<int64_t>(2 + Below(6)), 9));
  }
  history_.push_back(Apply("history", row_key, std::move(versions)));
  if (OneIn(2)) {
    Add("compact", {"history", "all"});
  } else {
    Add("flush", {"history"});
  }
  history_.push_back(Apply("history", row_key, std::move(deletes)));
  for (const bool reverse : {false, true}) {
    for (const int64_t versions_read : {1, 2}) {
      history_.push_back(Scan("history", {"key", {row_key}}, {"latest", {versions_read}}, reverse));
      history_.push_back(Scan("history", "all", {"latest", {versions_read}}, reverse));
    }
  }
}

// Files in which all cells expire at the same time (engine rule 11).
void HistoryGenerator::AddExpiry() {
  AddOwnTable("expiring", {"age", {int64_t{1'000'000}}});
  for (uint64_t files = 1 + Below(3); files > 0; --files) {
    Term row("row", {"expiring", Key()});
    for (uint64_t left = 1 + Below(3); left > 0; --left)
      row.arguments.push_back({"setnow", {"f", Qualifier(), Value()}});
    Add("apply", {"p", std::move(row)});
    Add("flush", {"expiring"});
  }
  now_ += 2'000'000;
  Add("clock", {int64_t{2'000'000}});
  Add("waitidle", {});
  history_.push_back(Scan("expiring", "all", "all", OneIn(2)));
}

// The schema changes while a job writes its output (engine rule 6).
void HistoryGenerator::AddDiscard() {
  AddOwnTable("changed", {"n", {int64_t{3}}});
  const std::string row_key = Key();
  history_.push_back(
      Apply("changed", row_key, {SetCell("q", static_cast<int64_t>(Below(9)), 20, Below(1000))}));
  Term change("families",
              {"changed", Term("update", {"f", Term("n", {static_cast<int64_t>(1 + Below(4))})})});
  const bool compacts = OneIn(3);
  Add("between", {"create", std::move(change),
                  compacts ? Term("compact", {"changed", "all"}) : Term("flush", {"changed"})});
  Add("readrow", {"changed", row_key, "all", "1", "-"});
}

// Rows are dropped while a compaction of them runs (engine rule 14). Rows and deletes are in
// several files. Some files have no row in the dropped range. An earlier drop leaves file
// references that cover only part of their file.
void HistoryGenerator::AddDropBesideJob() {
  AddOwnTable("dropped", OneIn(2) ? Term("none") : Term("n", {int64_t{1}}));
  const auto row_key = [this] {
    return std::string(1, static_cast<char>('a' + Below(8))) + std::to_string(Below(3));
  };
  const auto range = [this] {
    const auto first = static_cast<char>('a' + Below(8));
    return Term("prefix", {std::string(1, first)});
  };
  for (uint64_t flushes = 2 + Below(3); flushes > 0; --flushes) {
    for (uint64_t rows = 2 + Below(5); rows > 0; --rows) {
      Term change = SetCell("q", static_cast<int64_t>(Below(9)), 20, Below(1000));
      if (OneIn(5)) change = DeleteRange("q", 0, static_cast<int64_t>(1 + Below(9)));
      history_.push_back(Apply("dropped", row_key(), {std::move(change)}));
    }
    Add("flush", {"dropped"});
    if (OneIn(4)) Add("droprange", {"dropped", range()});
  }
  Add("between",
      {"create", Term("droprange", {"dropped", range()}), Term("compact", {"dropped", "all"})});
  history_.push_back(Scan("dropped", "all", "all", OneIn(3)));
}

// A snapshot pins a memtable after its flush (engine rule 16).
void HistoryGenerator::AddSpill() {
  AddOwnTable("pinned", "none");
  const std::string row_key = Key();
  history_.push_back(Apply("pinned", row_key, {SetCell("q", 1, 9000, Below(1000))}));
  const std::string name = "p" + std::to_string(history_.size());
  Add("snapshot", {name});
  history_.push_back(Apply("pinned", row_key,
                           {SetCell("q", 1, 20, Below(1000)), SetCell("r", 1, 3000, Below(1000))}));
  Add("flush", {"pinned"});
  Add("waitidle", {});
  Add("readrow", {"pinned", row_key, "all", "1", name});
  Add("release", {name});
}

// Conditional writes under tokens. They are repeated after the row was changed, after a reopening,
// and after a crash.
void HistoryGenerator::AddRepeat() {
  AddOwnTable("repeated", "none");
  const std::string row_key = Key();
  const std::string suffix = std::to_string(history_.size());
  const Term filter = OneIn(2) ? Term("all") : Term("col", {"f", "q"});
  Term if_matched("row", {"repeated", row_key});
  if (!OneIn(3))
    if_matched.arguments.insert(if_matched.arguments.end(),
                                {SetCell("r", 1, 20, Below(1000)), Term("delcol", {"f", "q"})});
  const Term if_not_matched("row", {"repeated", row_key, SetCell("q", 1, 20, Below(1000))});
  const Term check("tok",
                   {"check under a token " + suffix,
                    Term("cam", {"d", "repeated", row_key, filter, if_matched, if_not_matched})});
  const Term increment("tok",
                       {"increment under a token " + suffix,
                        Term("rmw", {"d", "repeated", row_key, Term("inc", {"f", "n", "1"})})});
  history_.push_back(check);
  history_.push_back(increment);
  if (OneIn(2))
    history_.push_back(
        Apply("repeated", row_key, {OneIn(2) ? Term("delrow") : SetCell("q", 2, 20, Below(1000))}));
  if (OneIn(3)) Add("flush", {"repeated"});
  if (OneIn(3)) {
    AddReopen();
  } else {
    snapshots_.clear();
    Add("crash", {OneIn(2) ? "drop" : "random", static_cast<int64_t>(Below(1'000'000))});
  }
  history_.push_back(check);
  history_.push_back(increment);
  Add("readrow", {"repeated", row_key, "all", "1", "-"});
}

// A table grows beyond the size of a tablet. Then most of it is dropped.
void HistoryGenerator::AddGrowth() {
  AddOwnTable("grown", "none");
  Term bulk("bulk", {"p"});
  for (uint64_t i = 0; i < 24; ++i) {
    const std::string row_key = "g" + std::to_string(100 + Below(900));
    bulk.arguments.push_back(
        {"row",
         {"grown", row_key, SetCell("q", static_cast<int64_t>(Below(4)), 5000, Below(100'000))}});
  }
  history_.push_back(std::move(bulk));
  Add("flush", {"grown"});
  Add("waitidle", {});
  history_.push_back(Scan("grown", Term("closed", {"g3", "g5"}), "all", OneIn(2)));
  if (OneIn(2)) return;
  Add("droprange", {"grown", OneIn(3) ? Term("all") : Term("from", {"g2"})});
  Add("waitidle", {});
}

}  // namespace stele::internal
