// design/design_json.h: writes a design in its normal form: JSON, which is a design file again.
//
// Format:    compact JSON with every default. Members are in the order of the file, families in
//            byte order. Texts are those of the file.
// Threads:   pure functions.
#pragma once

#include <string>
#include <string_view>

#include "lab/design/design_model.h"

namespace stele::internal::lab {

// bytes intsum intmin intmax inthll.
std::string_view ValueTypeName(ValueType type);
std::string DesignJson(const DesignModel& design);
// One table, with the inputs that its rows read, but without their files.
std::string TableDesignJson(const DesignModel& design, const DesignTable& table);

}  // namespace stele::internal::lab
