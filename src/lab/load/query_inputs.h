// load/query_inputs.h: a query of a design, with the inputs and the fields that it uses.
//
// Errors:    InvalidArgument or NotFound, with the name of the query or the field.
// Threads:   values; thread-compatible.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/design/design_model.h"
#include "lab/template/field_source.h"
#include "stele/lab/design.h"

namespace stele::internal::lab {

class QueryInputs {
 public:
  static absl::StatusOr<QueryInputs> Find(const stele::lab::Design& design, std::string_view table,
                                          std::string_view query);

  const DesignModel& model() const { return *model_; }
  const DesignTable& table() const { return *table_; }
  const DesignQuery& query() const { return *query_; }
  // True if the query reads records of this input, or writes them.
  bool UsesInput(std::string_view input) const;

  // Adds the fields that the query uses, without the bucket.
  void AddFieldsTo(std::set<std::string, std::less<>>* fields) const;
  // Returns an error if the query cannot use the record. Also returns one if the result differs for
  // `texts`, which has only the texts of the fields: the function json of a template needs more
  // than the text.
  absl::Status Check(const FieldSource& record, const FieldSource& texts) const;

 private:
  QueryInputs() = default;
  absl::Status CheckRead(const FieldSource& record, const FieldSource& texts) const;
  absl::Status CheckWrite(const FieldSource& record, const FieldSource& texts) const;

  std::shared_ptr<const DesignModel> model_;
  const DesignTable* table_ = nullptr;
  const DesignQuery* query_ = nullptr;
};

}  // namespace stele::internal::lab
