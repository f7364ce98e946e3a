#include "lab/rules/parameters.h"

#include "base/invariant.h"
#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr double kMinRows = 20;
constexpr double kMinOperations = 100;
constexpr double kValueMax = 1e18;

std::string NameOf(std::string_view rule, std::string_view parameter) {
  return fmt::format("{}.{}", rule, parameter);
}

}  // namespace

Parameters::Parameters() {
  values_["lint.min_rows"] = kMinRows;
  values_["lint.min_ops"] = kMinOperations;
  for (const stele::lab::LintRule& rule : stele::lab::Rules()) {
    for (const auto& parameter : rule.parameters)
      values_[NameOf(rule.id, parameter.name)] = parameter.default_value;
  }
}

absl::Status Parameters::Set(std::string_view name, double value) {
  const auto known = values_.find(name);
  if (known == values_.end())
    return internal::InvalidArgument(
        "\"{}\" is not a parameter: write RULE.PARAMETER; stele lint --explain RULE lists them",
        internal::Printable(name));
  if (!(value >= 0 && value <= kValueMax))
    return internal::InvalidArgument("{} must be a number from 0 to 1e18", name);
  known->second = value;
  return absl::OkStatus();
}

double Parameters::Get(std::string_view rule, std::string_view parameter) const {
  const auto known = values_.find(NameOf(rule, parameter));
  STELE_CHECK(known != values_.end());
  return known->second;
}

}  // namespace stele::internal::lab
