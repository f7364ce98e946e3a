// tests/support/db_script.h: the public API as a script: one call per line of text, and its result
// as lines of text.
//
//   table FAMILY[:RULE|:sum|:min|:max|:hll],.. [us]   create table "t" again, empty; a RULE is in
//   the
//                                                     form of GcRule::Parse, without blanks
//   apply ROW CHANGE [; CHANGE]..                     bulk ROW CHANGE.. [| ROW CHANGE..]..
//     CHANGE: set F Q MICROS VALUE, setnow F Q VALUE, add F Q MICROS NUMBER, item F Q MICROS BYTES,
//             merge F Q MICROS STATE, delcol F Q, delcol F Q START [END], delfam F, delrow, none
//   check ROW FILTER ? CHANGES : CHANGES
//   modify ROW inc F Q NUMBER|app F Q VALUE [; ..]
//   read [FILTER]
//   scan SET [limit=N] [reverse] [FILTER]             SET: all, none, or ROW and RANGE joined by +
//     RANGE: [a,b] (a,b] [a,b) (a,b), with an empty text for an open bound
//   exists ROW   count   seen [FILTER]   samples   drop RANGE|prefix=P|all
//   families create F[:..] | update F:RULE | drop F   several, separated by ;
//   tables   create NAME   delete NAME   compact   clock MILLIS
//
// FILTER extends to the end of the line and has the form of Filter::Parse. Words are separated by
// blanks. In a word, \xNN, \n and \\ are escapes, "" is an empty word, and N*C is the byte C
// repeated N times. In a FILTER, write {N*C} for that.
// The result is OK, the name of an error code, or the cells read as "row f:q@micros=value #label".
// A value of eight bytes is printed as #number.
//
// Threads:   Thread-compatible.
#pragma once

#include <string>
#include <string_view>

#include "stele/stele.h"
#include "support/db_contract.h"

namespace stele::internal {

class DatabaseScript {
 public:
  // Runs one line and returns its result, lines that each end with a newline.
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
  std::string Maintenance(std::string_view word, std::string_view rest);

  ContractDatabase store_;
  Table table_;
};

}  // namespace stele::internal
