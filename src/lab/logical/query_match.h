// logical/query_match.h: finds the query of a design, and the values of its fields, that make an
// operation of a recorded trace.
//
// A query matches an operation if it makes the same request for the fields: the same rows, or the
// same range. Of the queries that match, the first one with the same limit, order and filter is
// chosen, else the first one.
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
  std::string reason;  // why there is no query; "": there is one
  const DesignQuery* query = nullptr;
  stele::lab::Design::Record fields = {};
  // True for a request of a query that fans out, except the first one. It becomes no operation.
  bool continues_fan_out = false;
};

class QueryMatcher {
 public:
  // The table must have a query. Errors: NotFound for an unknown table.
  static absl::StatusOr<QueryMatcher> Make(const stele::lab::Design& design,
                                           const std::string& table);

  // A get, mget or scan.
  QueryMatch MatchRead(const TraceRecord& operation) const;
  // The fields of a row key. Nothing if the key is not one of the design.
  std::optional<stele::lab::Design::Record> FieldsOfKey(const std::string& row_key) const;

  const std::vector<QueryInputs>& uses() const { return uses_; }
  const DesignTable& table() const { return uses_[0].table(); }

 private:
  using Bounds = std::pair<std::string, std::string>;
  // The rows of an operation.
  struct Rows {
    std::vector<std::string> keys;
    std::vector<Bounds> ranges;
  };
  explicit QueryMatcher(std::vector<QueryInputs> uses) : uses_(std::move(uses)) {}

  static Rows RowsOf(const TraceRecord& operation);
  QueryMatch MatchQuery(const DesignQuery& query, const Rows& rows) const;
  bool FindFieldsOf(const DesignRead& read, const Rows& rows, FoundFields* found) const;
  // Matches keys and templates in the order of the keys that fits.
  bool FindFieldsOfKeys(const DesignRead& read, std::vector<std::string> keys,
                        FoundFields* found) const;
  bool Find(const DesignRead& read, const Template& pattern, const std::string& text,
            bool is_whole_key, FoundFields* found) const;

  std::vector<QueryInputs> uses_;  // of each query
};

}  // namespace stele::internal::lab
