"""Planted bugs of tools/steled/ and of the translation in src/wire/. run.py imports this for what it adds to the list."""
from planted import plant

PARTS = ["steled_test --gtest_filter=MutateRows.*:CommandLine.*:RowChunker.*"]
TRANSLATION = ["unit_wire"]

plant(
    "steled", PARTS, "tools/steled/read_rows.cc",
    ("a qualifier is told only with its family", "const bool new_qualifier = new_family || cell.qualifier() != qualifier_;",
     "const bool new_qualifier = new_family;"),
)
plant(
    "wire", TRANSLATION, "src/wire/filter_translation.cc",
    ("a switch that is off passes for one that is on", "if (!on) return InvalidArgument", "if (on && !on) return InvalidArgument"),
)
plant(
    "wire", TRANSLATION, "src/wire/mutation_translation.cc",
    ("a client's clock is cut in tables of microseconds, too", "is_clients_clock_ && traits_.granularity == TimestampGranularity::kMillis",
     "is_clients_clock_"),
)
plant(
    "wire", TRANSLATION, "src/wire/row_set_translation.cc",
    ("an open end is taken for a closed one", "end_closed ? RowRange::LeftOpen(start, end) : RowRange::Open(start, end)",
     "RowRange::LeftOpen(start, end)"),
)
plant(
    "steled", PARTS, "tools/steled/flags.cc",
    ("a name that begins as a loopback address is taken for one", "std::all_of(host.begin(), host.end(), allowed);", "allowed(host.front());"),
)
