// bench/compare/arguments.h: the arguments of stele_compare, and the text of --help.
#pragma once

#include <string>

#include "rounds.h"

namespace stele_compare {

struct Arguments {
  Plan plan;
  bool is_json = false;
  bool asks_for_help = false;
  std::string error;  // one line; "": valid
};

// Parses until the first error. --help or -h anywhere makes the other arguments irrelevant.
Arguments ParseArguments(int argument_count, char** texts);

// Returns the flags with their defaults, the workloads with their timed parts, and the engines.
std::string Usage();

}  // namespace stele_compare
