// yaml/member_choice.h: reads a member whose text is one of several names.
//
// Errors:    are added to DesignErrors, with the position of the member.
// Threads:   pure functions.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "lab/yaml/member_reader.h"

namespace stele::internal::lab {

template <typename Value>
struct Choice {
  std::string_view name;
  Value value;
};

// Returns the value that a member names, or `otherwise` if it is missing.
template <typename Value>
Value ChoiceOf(const MemberReader& members, std::string_view name,
               std::initializer_list<Choice<Value>> choices, Value otherwise,
               DesignErrors* errors) {
  const auto text = members.Text(name);
  if (!text.has_value()) return otherwise;
  std::string names;
  for (const Choice<Value>& choice : choices) {
    if (choice.name == *text) return choice.value;
    names.append(names.empty() ? "" : ", ").append(choice.name);
  }
  errors->Add(members.Find(name)->mark, fmt::format("{} must be one of {}", name, names));
  return otherwise;
}

}  // namespace stele::internal::lab
