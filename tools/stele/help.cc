// tools/stele/help.cc: the table of verbs; help, version.
#include "base/status.h"
#include "command.h"
#include "help_text.h"

namespace stele::cli {
namespace {

constexpr Command kCommands[] = {
    {"addtocell", "Add a value to an aggregate cell (write)",
     "addtocell TABLE ROW FAMILY:COLUMN=VALUE[@TIMESTAMP] ...\n\n"
     "  VALUE is a number; in a family of type inthll it is added as it stands. TIMESTAMP is in microseconds; 0 if left out.\n",
     RunAddToCell},
    {"bench", "Measure this machine", "bench\n\n  Not offered yet.\n", RunBench},
    {"checkpoint", "Make a copy that can be opened",
     "checkpoint DIRECTORY\n\n"
     "  A consistent copy of the whole database; shares files with it by hard links where the file system allows.\n",
     RunCheckpoint},
    {"compact", "Drop what the garbage-collection policies condemn",
     "compact [TABLE]\n\n"
     "  Rewrites each table, or one, into one layer: condemned versions and deleted cells go.\n",
     RunCompact},
    {"copy", "Copy tables to another database",
     "copy SOURCE DESTINATION [TABLE ...] [--to NAME] [--prefix PREFIX | start=ROW end=ROW] [--verify] [--resume FILE]\n"
     "            [batch-size=10000] [workers=4]\n\n"
     "  SOURCE, DESTINATION  directories, or bigtable://PROJECT/INSTANCE[?endpoint=HOST:PORT]; --db is not looked at\n"
     "  TABLE                these tables, else all; made at the destination where they are not there\n"
     "  --to                 the copy's name, of one table\n"
     "  --verify             reads both sides at the end and compares them\n"
     "  --resume             where the copy's marks are kept; else beside the directory of DESTINATION, or of SOURCE\n"
     "  batch-size, workers  rows in a batch, of 8 MiB at most; threads\n\n"
     "  Cut off at any moment, the same command goes on where it was. Copied twice is the same as once.\n",
     RunCopy},
    {"count", "Count rows in a table", "count TABLE [prefix=PREFIX]\n", RunCount},
    {"createfamily", "Create a column family", "createfamily TABLE FAMILY[:GCPOLICY]\n", RunCreateFamily},
    {"createtable", "Create a table",
     "createtable TABLE [families=FAMILY[:GCPOLICY],...] [splits=ROW,...]\n\n"
     "  families  column families and their policies; see setgcpolicy. Quote policies with && or ||.\n"
     "  splits    row keys where the table is split from the start\n\n"
     "  Makes the database, too, where there is none.\n"
     "  Example: stele --db DIR createtable events \"families=stats:maxage=10d||maxversions=1,raw\" splits=m\n",
     RunCreateTable},
    {"deleteallrows", "Delete all rows", "deleteallrows TABLE\n", RunDeleteAllRows},
    {"deletecolumn", "Delete all cells in a column", "deletecolumn TABLE ROW FAMILY COLUMN\n", RunDeleteColumn},
    {"deletefamily", "Delete a column family", "deletefamily TABLE FAMILY\n", RunDeleteFamily},
    {"deleterow", "Delete a row", "deleterow TABLE ROW\n", RunDeleteRow},
    {"deletetable", "Delete a table", "deletetable TABLE\n", RunDeleteTable},
    {"droprowrange", "Delete a range of rows",
     "droprowrange TABLE prefix=PREFIX\n  droprowrange TABLE [start=ROW] [end=ROW]\n\n"
     "  From start on and up to, not with, end. All rows: deleteallrows.\n",
     RunDropRowRange},
    {"dump", "Show a file of a database as text",
     "dump FILE [cells=true]\n\n"
     "  A log segment, an SSTable, a manifest or CURRENT; cells=true lists the cells of an SSTable.\n",
     RunDump},
    {"export", "Write a table out",
     "export TABLE [format=jsonl|csv] [prefix=PREFIX] [start=ROW] [end=ROW]\n\n"
     "  jsonl (the default) is taken back by: import TABLE FILE.jsonl\n"
     "  csv is taken back by: import TABLE FILE.csv timestamp=value-encoded\n",
     RunExport},
    {"flush", "Write what is in memory to SSTables", "flush [TABLE]\n", RunFlush},
    {"help", "Print help text", "help [COMMAND]\n", RunHelp},
    {"import", "Batch write many rows based on the input file",
     "import TABLE FILE [column-family=FAMILY] [batch-size=500] [timestamp=now|value-encoded] [format=csv|jsonl]\n"
     "            [aggregates=state|add]\n\n"
     "  FILE           CSV, or JSON lines as export writes them (by the name .jsonl or format=); - is standard input\n"
     "  column-family  the family of all columns, where the CSV file has no line of families\n"
     "  batch-size     rows in a batch\n"
     "  timestamp      value-encoded: a CSV value may end in @MICROSECONDS\n"
     "  aggregates     what values for aggregate families are: states, as export writes them, or what is added: numbers, items of an\n"
     "                 inthll; twice imported counts twice\n\n"
     "  CSV: a line of families, a line of columns, both with an empty first field, then lines of row key and values. A family holds\n"
     "  for the columns to its right until the next one; an empty value makes no cell.\n"
     "  A file is checked whole before anything is written; standard input is written as it comes.\n",
     RunImport},
    {"lookup", "Read from a single row",
     "lookup TABLE ROW [columns=FAMILY:COLUMN,...] [cells-per-column=N] [filter=FILTER] [keys-only=true|false]\n"
     "              [include-stats=full]\n\n"
     "  as in read\n",
     RunLookup},
    {"ls", "List tables and column families", "ls          list tables\n  ls TABLE    list a table's column families\n", RunLs},
    {"read", "Read rows",
     "read TABLE [start=ROW] [end=ROW] [prefix=PREFIX] [regex=REGEX] [reversed=true|false] [columns=FAMILY:COLUMN,...]\n"
     "            [count=N] [cells-per-column=N] [filter=FILTER] [keys-only=true|false] [include-stats=full]\n\n"
     "  start, end        from start on and up to, not with, end\n"
     "  regex             rows whose whole key matches\n"
     "  columns           FAMILY:COLUMN, FAMILY: or COLUMN; names with one of \\^$*+?()[]{}| are regular expressions\n"
     "  count             rows at most\n"
     "  cells-per-column  newest versions only\n"
     "  filter            applied last, as stele/filter.h writes it: 'chain(family(\"f\"), value_regex(\"a.*\"))'\n"
     "  format-file and authorized-view are not offered yet.\n",
     RunRead},
    {"salvage", "Save what can be read of a damaged database", "salvage\n\n  Not offered yet.\n", RunSalvage},
    {"set", "Set value of a cell (write)",
     "set TABLE ROW FAMILY:COLUMN=VALUE[@TIMESTAMP] ...\n\n"
     "  TIMESTAMP is in microseconds, a multiple of 1000; without it: now. What follows @ and is no number belongs to the value.\n",
     RunSet},
    {"setgcpolicy", "Set the garbage-collection policy (age, versions) for a column family",
     "setgcpolicy TABLE FAMILY ((maxage=AGE | maxversions=N) [(and|or) (maxage=AGE | maxversions=N) ...] | never)\n\n"
     "  AGE has the unit ms, s, m, h or d. Example: stele --db DIR setgcpolicy events stats maxage=10d or maxversions=1\n",
     RunSetGcPolicy},
    {"setvaluetype", "Update column family's value type.",
     "setvaluetype TABLE FAMILY TYPE\n\n  Refused: a family's type is fixed when it is created.\n", RunSetValueType},
    {"stats", "Show sizes and counts", "stats [TABLE]\n\n  Of the database, or of a table by family and tablet.\n", RunStats},
    {"verify", "Read and check every byte", "verify\n\n  Lists damage and exits with 1 if there is any.\n", RunVerify},
    {"version", "Print the version", "version\n", RunVersion},
};

constexpr std::string_view kHead =
    "Usage: stele [flags] <command> ...\n"
    "  --db DIR         the database; else the environment variable STELE_DB\n"
    "  --format FORMAT  of what is listed: table, json, jsonl or csv; may also follow the command\n"
    "  -o FILE          write there instead of to standard output\n"
    "  cbt's -project, -instance, -creds and other flags about servers are taken and ignored.\n"
    "  \"--\" ends flags: stele --db DIR lookup -- TABLE --format\n\n";

}  // namespace

std::span<const Command> Commands() { return kCommands; }

absl::Status WrongUsage(std::string_view verb) {
  for (const Command& command : Commands()) {
    if (command.verb != verb) continue;
    const std::string_view lines = command.usage.substr(0, command.usage.find("\n\n"));
    return UsageError(fmt::format("usage: stele {}", lines.substr(0, lines.find_last_not_of('\n') + 1)));
  }
  return UsageError(verb);
}

std::string HelpText() {
  std::string text(kHead);
  for (const Command& command : Commands()) text += fmt::format("stele {:<16}{}\n", command.verb, command.summary);
  return text + "\n\"stele help COMMAND\" tells more.\n";
}

absl::Status RunHelp(Session& session, const std::vector<std::string>& args) {
  if (args.empty()) {
    session.Print(HelpText());
    return absl::OkStatus();
  }
  for (const Command& command : Commands()) {
    if (command.verb != args[0]) continue;
    session.Print(fmt::format("stele {}", command.usage));
    return absl::OkStatus();
  }
  return UsageError(fmt::format("Don't know command \"{}\"; \"stele help\" lists the commands", args[0]));
}

absl::Status RunVersion(Session& session, const std::vector<std::string>& args) {
  if (!args.empty()) return WrongUsage("version");
  session.Print("stele " STELE_VERSION "\n");
  return absl::OkStatus();
}

}  // namespace stele::cli
