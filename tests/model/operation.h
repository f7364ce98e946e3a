// tests/model/operation.h: histories as text, one operation per line. A failure is a file that can
// be kept and run again.
//
// Format:    name(argument,...). An argument is again a term, and an atom is a term without
//            arguments. Bytes of a name other than [A-Za-z0-9_.:+-] are written as %XX. An empty
//            name is %. Blank lines and lines that begin with # are ignored.
// The words (generator.cc writes them; reference_store.cc and history_runner.cc read them):
//   create(T,ms|us,none|fast|balanced,splits(K..),fam(F,RULE[,TYPE])..)   deletetable(T)
//   families(T,create(F,RULE[,TYPE])|update(F,RULE)|drop(F)..)     TYPE: sum min max hll; none:
//   bytes apply(p|d,row(T,K,CHANGE..))   bulk(p|d,row..)   batch(p|d,row..)
//     p, d: durability kProcess, kDisk
//   load(T,row(T,K,CHANGE..)..)
//   tok(TOKEN,OPERATION)   an apply, bulk, batch, cam or rmw under an idempotency token
//   tok(TOKEN,ENTRY,OPERATION[,matched|unmatched|row])   the same in the journal
//     OPERATION: apply or, for a cam whose branch is empty, nothing
//   cam(p|d,T,K,FILTER,row(T,K,CHANGE..),row(T,K,CHANGE..))
//   rmw(p|d,T,K,inc(F,Q,AMOUNT)|app(F,Q,VALUE)..)
//     CHANGE: set(F,Q,TIMESTAMP,VALUE) setnow(F,Q,VALUE) delcol(F,Q) delrange(F,Q,START,END|*)
//             delfam(F) delrow add(F,Q,TIMESTAMP,NUMBER) item(F,Q,TIMESTAMP,ITEM)
//             merge(F,Q,TIMESTAMP,number(N)|sketch(A,B)|bytes(BYTES))
//     VALUE: BYTES:SEED, or = and the bytes themselves
//     RULE: none n(COUNT) age(MICROS) any(RULE..) all(RULE..)
//   readrow(T,K,FILTER,GC,SNAPSHOT)  exists(...same)  readmany(T,keys(K..),FILTER,GC,SNAPSHOT)
//     GC: 1|0   SNAPSHOT: a name or -
//   scan(T,rows(K-or-range..),FILTER,LIMIT,REVERSE,GC,SNAPSHOT,PIECE_BYTES[,FILL_CACHE])
//     range: all key(K) closed(A,B) open(A,B) ropen(A,B) lopen(A,B) from(A) to(B) prefix(P) FILTER:
//     all latest(N) fam(F) col(F,Q) colrange(F,range) ts(START,END|*) limit(N)
//             chain(FILTER..)
//             text(BYTES), a filter in the text form of stele/filter.h, not inside a chain
//   snapshot(NAME) release(NAME)  flush(T) compact(T,range) droprange(T,range) sync waitidle
//   clock(MICROS) sample(T) check   the clock goes forward, or back if MICROS < 0
//   between(read|create,OPERATION,OPERATION)   runs the first operation when the second reads or
//                                              creates an SSTable; after it if it never does
//   reopen  crash(kill|drop|keep|loss|random,SEED)  crashat(CALLS,POLICY,SEED)
//   checkpoint(NAME,stay|adopt)
// Threads:   Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stele::internal {

struct Term {
  std::string name = {};
  std::vector<Term> arguments = {};

  Term() = default;
  Term(std::string_view name_in)
      : name(name_in) {}  // NOLINT(google-explicit-constructor): an atom is a term
  Term(const char* name_in) : name(name_in) {}             // NOLINT(google-explicit-constructor)
  Term(std::string name_in) : name(std::move(name_in)) {}  // NOLINT(google-explicit-constructor)
  Term(int64_t number) : name(std::to_string(number)) {}   // NOLINT(google-explicit-constructor)
  Term(std::string_view name_in, std::vector<Term> arguments_in)
      : name(name_in), arguments(std::move(arguments_in)) {}

  bool Is(std::string_view word) const { return name == word; }
  const Term& operator[](size_t index) const { return arguments[index]; }
  const std::string& Text(size_t index) const { return arguments[index].name; }
  int64_t Number(size_t index) const;
  int64_t ToNumber() const;
  size_t size() const { return arguments.size(); }

  bool operator==(const Term&) const = default;
};

using History = std::vector<Term>;

std::string ToText(const Term& term);
std::string ToText(const History& history);
// Returns nothing if the text is not a term.
std::optional<Term> ParseTerm(std::string_view text);
std::optional<History> ParseHistory(std::string_view text);

// Returns the bytes that a VALUE represents.
std::string ExpandValue(const Term& value);

}  // namespace stele::internal
