// trace/trace_record.h: the name of the engine's trace records in the lab.
#pragma once

#include "trace/trace_record.h"

namespace stele::internal::lab {

using internal::TraceOp;
using internal::TraceRecord;

}  // namespace stele::internal::lab
