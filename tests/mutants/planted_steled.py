"""Planted bugs of tools/steled/, of the translation in src/wire/ and of src/remote/. run.py imports this for what it adds to the list."""
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
plant(
    "remote", ["unit_remote"], "src/remote/row_source.cc",
    ("a reversed read is taken up on the wrong side", 'reversed ? KeyRange{"", last, false} : KeyRange', 'KeyRange'),
    ("rows that came do not count against the limit", "if (rows_left_ > 0 && --rows_left_ == 0) {", "if (rows_left_ < 0) {"),
    ("what a request left out is never asked for", "ranges_ = std::move(later_);", "ranges_.clear();"),
)
plant(
    "remote", ["unit_remote"], "src/remote/chunk_merger.cc",
    ("a row that was cut off is read again though pieces of it were shown", "has_shown_piece_ = !is_last_piece;", "has_shown_piece_ = false;"),
    ("a row's half is kept when the next stream begins", "  DropRow();\n  return absl::OkStatus();\n}\n\nabsl::Status ChunkMerger::EndStream",
     "  return absl::OkStatus();\n}\n\nabsl::Status ChunkMerger::EndStream"),
)
plant(
    "remote", ["unit_remote"], "src/remote/bulk_writer.cc",
    ("what adds is sent twice", "IsTransient(answer) && entry.repeatable", "IsTransient(answer)"),
    ("a row is twice in a request", "if (!row_keys.insert(mutation.row_key()).second) break;", "row_keys.insert(mutation.row_key());"),
)
plant(
    "remote", ["unit_remote"], "src/remote/backoff.cc",
    ("pauses stay short", "pause_ = std::min(2 * pause_, kPauseMax);", ""),
)
