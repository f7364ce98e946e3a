// support/db_script.h: the public API as lines of text: one call a line, and what it answers, a line each.
//
//   table FAMILY[:RULE|:sum|:min|:max|:hll],.. [us]   a table "t", anew; rules as GcRule::Parse takes them, without blanks
//   apply ROW CHANGE [; CHANGE]..                     bulk ROW CHANGE.. [| ROW CHANGE..]..
//     CHANGE: set F Q MICROS VALUE, setnow F Q VALUE, add F Q MICROS NUMBER, item F Q MICROS BYTES, merge F Q MICROS STATE,
//             delcol F Q, delcol F Q START [END], delfam F, delrow, none
//   check ROW FILTER ? CHANGES : CHANGES              modify ROW inc F Q NUMBER|app F Q VALUE [; ..]
//   read [FILTER]                                     scan SET [limit=N] [reverse] [FILTER]; SET: all, none, or ROW and RANGE parted by +
//     RANGE: [a,b] (a,b] [a,b) (a,b), an empty bound for none
//   exists ROW   count   seen [FILTER]   samples   drop RANGE|prefix=P|all
//   families create F[:..] | update F:RULE | drop F, parted by ;     tables   create NAME   delete NAME   compact   clock MILLIS
//
// FILTER is what Filter::Parse takes, to the line's end. Words are parted by blanks; \xNN, \n and \\ are escapes in them, "" is an empty
// one, and N*C is the byte C, N times; in a FILTER {N*C}. Answers: OK, a code, or what was read as "row f:q@micros=value #label"; a number
// of eight bytes as #number.
//
// Threads:   thread-compatible.
#pragma once

#include <string>
#include <string_view>

#include "stele/stele.h"
#include "support/db_contract.h"

namespace stele::internal {

class DatabaseScript {
 public:
  // Answers with line ends.
  std::string Run(std::string_view line);

 private:
  std::string MakeTable(std::string_view rest);
  std::string Bulk(std::string_view rest);
  std::string Check(std::string_view rest);
  std::string Modify(std::string_view rest);
  std::string Scan(std::string_view rest);
  std::string Seen(std::string_view rest);
  std::string Samples();
  std::string Drop(std::string_view rest);
  std::string ChangeFamilies(std::string_view rest);
  std::string Care(std::string_view word, std::string_view rest);

  ContractDatabase store_;
  Table table_;
};

}  // namespace stele::internal
