// logical/query_match.h: finds the query of a design, and the values of its fields, whose request
// equals an operation of a recorded trace.
//
// A query matches an operation if it makes the same request for the fields: the same rows, or the
// same range. If several queries match, the first one with the same limit, order and filter is
// chosen. If there is none, the first match is chosen.
//
// Threads:   thread-compatible.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/load/query_inputs.h"
#include "lab/template/template_inverse.h"
#include "lab/trace/trace_record.h"
#include "stele/lab/design.h"

namespace stele::internal::lab {

struct QueryMatch {
  std::string reason;  // why no query matches; "": `query` matches
  // With a reason: the query that lacks the value of a field, or null.
  const DesignQuery* query = nullptr;
  stele::lab::Design::Record fields = {};
  // True for a request of a query that fans out, except the first one. It becomes no operation.
  bool continues_fan_out = false;
};

class QueryMatcher {
 public:
  // The design must have the table, and the table must have a query.
  static absl::StatusOr<QueryMatcher> Make(const stele::lab::Design& design,
                                           const std::string& table);

  // Matches a get, mget or scan.
  QueryMatch MatchRead(const TraceRecord& operation) const;
  // Returns the fields of a row key, or nothing if the design makes no such key.
  std::optional<stele::lab::Design::Record> FieldsOfKey(const std::string& row_key) const;

  const std::vector<QueryInputs>& query_inputs() const { return query_inputs_; }
  const DesignTable& table() const { return query_inputs_[0].table(); }

 private:
  using Bounds = std::pair<std::string, std::string>;
  // The rows of an operation.
  struct Rows {
    std::vector<std::string> keys;
    std::vector<Bounds> ranges;
  };
  explicit QueryMatcher(std::vector<QueryInputs> query_inputs)
      : query_inputs_(std::move(query_inputs)) {}

  static Rows RowsOf(const TraceRecord& operation);
  QueryMatch MatchQuery(const DesignQuery& query, const Rows& rows) const;
  bool FindFieldsOf(const DesignRead& read, const Rows& rows, FoundFields* found) const;
  // Matches the keys with the templates of the query. Up to four keys may be in any order.
  bool FindFieldsOfKeys(const DesignRead& read, std::vector<std::string> keys,
                        FoundFields* found) const;
  bool Find(const DesignRead& read, const Template& pattern, const std::string& text,
            bool is_whole_key, FoundFields* found) const;

  std::vector<QueryInputs> query_inputs_;  // of each query
};

}  // namespace stele::internal::lab
