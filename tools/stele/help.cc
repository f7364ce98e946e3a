// tools/stele/help.cc: the table of verbs; the verbs help and version.
#include "base/status.h"
#include "command.h"
#include "help_text.h"

namespace stele::cli {
namespace {

constexpr Command kCommands[] = {
    {"addtocell", "Add a value to an aggregate cell (write)",
     "addtocell TABLE ROW FAMILY:COLUMN=VALUE[@TIMESTAMP] ...\n\n"
     "  VALUE is a number; in a family of type inthll it is an item.\n"
     "  TIMESTAMP is in microseconds; default: 0.\n",
     RunAddToCell},
    {"archive", "Move old cells to another database",
     "archive TABLE --before TIME --to DIRECTORY [--dry-run] [--resume FILE] [prefix=PREFIX "
     "| start=ROW end=ROW]\n\n"
     "  Copies the cells with a timestamp before TIME to the table of the same name in the "
     "database\n"
     "  DIRECTORY, which is created if necessary, compares both, and then deletes them\n"
     "  from TABLE.\n"
     "  After an interruption, the same command continues.\n\n"
     "  --before 2015-01-01 or 2015-01-01T06:30:00Z\n"
     "  --dry-run   prints how many rows, cells and bytes would move\n"
     "  --resume    the state file: a run with other parameters, or with an archive that lost "
     "cells,\n"
     "              is an error. Default: a file next to DIRECTORY, its own for each job\n"
     "  --format json   default: text\n\n"
     "  Example: stele --db shop.db archive orders --before 2024-01-01 --to /slow/orders.db\n",
     RunArchive, true},
    {"bench", "Measure reads, scans and writes of a database",
     "bench WORKLOAD[,WORKLOAD...] [FLAGS]\n"
     "bench --design FILE --query QUERY[,QUERY...] [--input NAME=PATH]... [FLAGS]\n\n"
     "  Reads    get, get-missing, mget (10 rows), scan, reverse, prefix (100 rows), range,\n"
     "           project (one column), latest (newest versions), filter (a value regex)\n"
     "  Writes   put, update, delete, increment, check-and-mutate, bulk (100 rows)\n"
     "  Mixed    ycsb-a to ycsb-f; all: get to latest, put, update, increment, check-and-mutate\n\n"
     "  --rows 1000000, --fields 10, --value-bytes 100, --versions 1   the table's contents\n"
     "  --key-format user|hash|FORMAT   user and 12 digits, 16 hex digits, or a text with %0Nd\n"
     "  --distribution uniform|zipfian|latest|sequential|hotspot:SHARE:OPS, --theta 0.99\n"
     "  --scan-rows 100, --selectivity 0.001 (of range)\n"
     "  --threads 1, --duration 30s | --operations N, --warmup 5s (0s with --operations)\n"
     "  --rate N/s      open loop: latency counts from the time at which an operation is due\n"
     "  --seed 1        the same seed gives the same operations and values\n"
     "  --table bench   created, filled, and deleted at the end; never a table of yours\n"
     "  --load auto|only|never, --keep   fill it if necessary; only fill it; keep it for the next "
     "run\n"
     "  --dry-run N     prints the first N operations and opens no database\n"
     "  --design FILE   measures queries on the design's own table, which \"load\" filled. It is "
     "not\n"
     "                  changed. A record of the design's input gives the row keys of an "
     "operation.\n"
     "  --hgrm FILE, --hlog FILE   percentiles and an interval log for HdrHistogram's tools\n"
     "  --format text|json|csv   default: text\n\n"
     "  Example: stele --db /tmp/bench.db bench scan,get --rows 100000 --duration 10s\n",
     RunBench, true},
    {"checkpoint", "Make a copy of the database",
     "checkpoint DIRECTORY\n\n"
     "  A consistent copy of the whole database. It shares files by hard links if the file system\n"
     "  supports them.\n",
     RunCheckpoint},
    {"clock", "Show or confirm the database's clock",
     "clock [confirm]\n\n"
     "  Shows the time of reads, the time up to which cells are removed by their age, and whether "
     "the\n"
     "  clock is trusted. It is not after a leap, or if nothing changed for more than a day; then "
     "the\n"
     "  second time stays behind. confirm states that the clock is right now.\n",
     RunClock},
    {"compact", "Remove garbage and deleted cells",
     "compact [TABLE]\n\n"
     "  Compacts each table, or one, into one sorted run. Removes deleted cells, and versions that "
     "are\n"
     "  garbage by the garbage-collection policies.\n",
     RunCompact},
    {"compare-designs", "Run one workload on several designs, and compare them",
     "compare-designs DESIGN DESIGN... [--input NAME=PATH]... [--operations 10000] [FLAGS]\n\n"
     "  DESIGN           design files (docs/lab/designs.md) with the same queries\n"
     "  --input NAME=PATH  replaces the file of an input of all designs\n"
     "  --table T        the table that is compared; default: the only one with the queries\n"
     "  --operations N   queries by their weights in the first DESIGN, with fields of records\n"
     "  --distribution uniform|zipfian|latest|sequential|hotspot:SHARE:OPS   of the records\n"
     "  --seed 1         the same seed gives the same operations\n"
     "  --trace LOGICAL  runs a logical trace, which \"trace synth\" or your program wrote\n"
     "  --rounds 3, --threads 1   latencies are medians of the rounds\n"
     "  --rate max|N/s|recorded|FACTORx   N/s and the times of LOGICAL are open loops\n"
     "  --cache warm|cold|both   cold: a block cache of 4 MiB, files dropped from the page cache\n"
     "  --limit N        only the first N records of each input\n"
     "  --time MICROS    of cells without a timestamp; default: now\n"
     "  --allow-duplicates   the later of two records with one cell wins, as for load\n"
     "  --keep DIR       keeps the databases and traces in the new directory DIR\n"
     "  --estimate FILE  nodes of Cloud Bigtable; examples/lab/nodes/bigtable-ssd.yaml is such a "
     "file\n"
     "  -o FILE.html     also a page with plots and heat maps; or FILE.json, FILE.txt\n"
     "  --format text|json\n\n"
     "  Loads the records into a temporary database per design, and never changes --db.\n"
     "  The exit status is 3 if the answers of an operation differ.\n"
     "  Example: stele compare-designs one.yaml other.yaml --operations 2000\n",
     RunCompareDesigns, true},
    {"copy", "Copy tables to another database",
     "copy SOURCE DESTINATION [TABLE ...] [--to NAME] [--prefix PREFIX | start=ROW end=ROW]\n"
     "            [--verify] [--resume FILE] [batch-size=10000] [workers=4]\n\n"
     "  SOURCE, DESTINATION  directories, or bigtable://PROJECT/INSTANCE[?endpoint=HOST:PORT];\n"
     "                       --db is ignored\n"
     "  TABLE                the tables to copy; default: all. Created at the destination if "
     "missing\n"
     "  --to                 the copy's name, if one table is copied\n"
     "  --verify             reads both sides at the end and compares them\n"
     "  --resume             file of the copy's progress marks; default: next to the directory of\n"
     "                       DESTINATION, or of SOURCE\n"
     "  batch-size, workers  rows per batch (at most 8 MiB); threads\n\n"
     "  After an interruption, the same command resumes the copy. Copying a row twice has no "
     "further\n"
     "  effect.\n",
     RunCopy},
    {"count", "Count rows in a table", "count TABLE [prefix=PREFIX]\n", RunCount},
    {"createfamily", "Create a column family",
     "createfamily TABLE FAMILY[:GCPOLICY[:TYPE]]\n\n"
     "  GCPOLICY  see setgcpolicy; never: all cells stay\n"
     "  TYPE      intsum, intmin, intmax or inthll, for a family of aggregates\n"
     "  Example: stele --db DIR createfamily events hits:never:intsum\n",
     RunCreateFamily},
    {"createtable", "Create a table",
     "createtable TABLE [families=FAMILY[:GCPOLICY[:TYPE]],...] [splits=ROW,...]\n\n"
     "  families  column families, as for createfamily. Quote policies with && or ||.\n"
     "  splits    row keys at which the new table is split\n\n"
     "  Also creates the database if there is none.\n"
     "  Example: stele --db DIR createtable events "
     "\"families=stats:maxage=10d||maxversions=1,raw\" splits=m\n",
     RunCreateTable},
    {"deleteallrows", "Delete all rows", "deleteallrows TABLE\n", RunDeleteAllRows},
    {"deletecolumn", "Delete all cells in a column", "deletecolumn TABLE ROW FAMILY COLUMN\n",
     RunDeleteColumn},
    {"deletefamily", "Delete a column family", "deletefamily TABLE FAMILY\n", RunDeleteFamily},
    {"deleterow", "Delete a row", "deleterow TABLE ROW\n", RunDeleteRow},
    {"deletetable", "Delete a table", "deletetable TABLE\n", RunDeleteTable},
    {"design", "Check, show or apply design files",
     "design check FILE ...\n  design show FILE\n  design apply FILE [--table TABLE]\n\n"
     "  check  reads the files, and prints their errors with line and column\n"
     "  show   prints the normal form as JSON, with every default\n"
     "  apply  creates the tables of the design; a table that exists must have the same schema and "
     "key\n"
     "  A design is a YAML file: docs/lab/designs.md.\n",
     RunDesign, true},
    {"doctor", "Say what state a directory is in, and what to do next",
     "doctor DIRECTORY\n\n"
     "  Says in plain words whether the database in DIRECTORY is intact, in use, incomplete or\n"
     "  damaged, and which command helps. Reads every byte and changes none. The exit status is 1\n"
     "  unless the database is intact. --db is ignored. A database in use is reported at once,\n"
     "  unless --wait is given.\n",
     RunDoctor},
    {"droprowrange", "Delete a range of rows",
     "droprowrange TABLE prefix=PREFIX\n  droprowrange TABLE [start=ROW] [end=ROW]\n\n"
     "  From start (inclusive) to end (exclusive). For all rows, use deleteallrows.\n",
     RunDropRowRange},
    {"dump", "Print a file of a database as text",
     "dump FILE [cells=true]\n\n"
     "  A log segment, an SSTable, a manifest or CURRENT; cells=true lists the cells of an "
     "SSTable.\n",
     RunDump},
    {"export", "Write a table to a file",
     "export TABLE [format=jsonl|csv] [prefix=PREFIX] [start=ROW] [end=ROW]\n\n"
     "  jsonl (default): read it back with: import TABLE FILE.jsonl\n"
     "  csv: read it back with: import TABLE FILE.csv timestamp=value-encoded\n",
     RunExport},
    {"export dynamodb", "Write items of DynamoDB",
     "export dynamodb TABLE [-o FILE|DIR] [prefix=PREFIX] [start=ROW] [end=ROW] [--keep-index]\n"
     "                [--mapping FILE]\n\n"
     "  Writes the items of a table that import dynamodb made, one {\"Item\":{...}} per line.\n"
     "  DIR           an existing directory, or a name that ends in /: writes AWSDynamoDB/ID in "
     "it,\n"
     "                in the layout of an export to S3. Missing directories are created\n"
     "  --keep-index  also the rows of the tables of --gsi, after the items: whole items, or only\n"
     "                their keys. TABLE may be such a table. Default: they are left out\n"
     "  --mapping     the file of the import's --mapping\n"
     "  Rows that are no items are listed on standard error and left out; the exit status is then "
     "3.\n"
     "  For a table that is named dynamodb: stele export table=dynamodb\n",
     RunExportDynamoDb, true},
    {"flush", "Write memtables to SSTables", "flush [TABLE]\n", RunFlush},
    {"heatmap", "Show the load of tables by key range and time",
     "heatmap TRACE ... [--table T] [--db L] [--metric M] [FLAGS]\n\n"
     "  TRACE            recorded operations: JSON lines, also .gz and .zst, or the binary form\n"
     "                   (docs/lab/trace.md)\n\n"
     "  --table T        only this table; default: a map of each table\n"
     "  --db L           the bands have the same number of rows of this database, and its tablets\n"
     "                   are compared; default: the same number of the keys in the trace. "
     "$STELE_DB\n"
     "                   is not used\n"
     "  --metric M       ops, reads, writes, rows, bytes, latency or seen-ratio; default: ops\n"
     "  --bands 256      ranges of rows, at most 1000\n"
     "  --columns 240    time steps, at most 2000\n"
     "  --step 10s       the width of a step; default: the smallest that --columns allows\n"
     "  --from, --to T   operations from a time on, and before a time\n"
     "  --tag TAG        operations with this tag\n"
     "  --skip-bad       leaves wrong lines out; exit status 3\n"
     "  -o FILE          .html (a page with all tables), .png, .json, .csv or .txt; of several "
     "tables\n"
     "                   FILE-TABLE.png, ...\n"
     "  --scale N        pixels of a cell in .png; default: at least 800 x 400 pixels in all\n"
     "  --compare TRACE  a second map beside the first one, on the same colors; needs -o "
     "FILE.html\n"
     "  --follow         draws the map again in each second in which a trace grew, until Ctrl-C\n"
     "  --fail-on never|warning|info   exit status 3 for such patterns; default: never\n"
     "  --format text|json\n\n"
     "  Without -o, prints the map: in color on a terminal, else with the characters .:-=+*#%@\n"
     "  Example: stele heatmap shop.jsonl --table orders -o orders.html\n",
     RunHeatMap, true},
    {"help", "Print help text", "help [COMMAND]\n", RunHelp},
    {"import", "Batch write many rows based on the input file",
     "import TABLE FILE [column-family=FAMILY] [batch-size=500] [timestamp=now|value-encoded]\n"
     "            [format=csv|jsonl] [aggregates=state|add]\n"
     "            [--header] [--key NAME,...] [--separator C|tab]\n\n"
     "  FILE           CSV or JSON lines of export, plain or compressed with gzip or zstd;\n"
     "                 - is standard input\n"
     "  format         default: jsonl if the name ends in .jsonl, .jsonl.gz or .jsonl.zst, else "
     "csv\n"
     "  column-family  the family of all columns. Needed if the CSV file has no line of families;\n"
     "                 with --header, the default is the only family of the table\n"
     "  batch-size     rows per batch\n"
     "  timestamp      value-encoded: a CSV value may end in @MICROSECONDS\n"
     "  aggregates     state: values of aggregate families are states, as export writes them;\n"
     "                 add: they are numbers, or items of inthll, to add (a second import adds "
     "again)\n\n"
     "  --header       the first line of the CSV file names all fields: id,name,...\n"
     "  --key          the fields that make the row key, joined with #; default: the first field.\n"
     "                 Implies --header\n"
     "  --separator    the character between fields, or tab; default: a comma\n\n"
     "  CSV without --header: a line of families and a line of columns, both with an empty first\n"
     "  field, then lines of row key and values. A family applies to the columns to its right "
     "until\n"
     "  the next family. An empty value makes no cell. Two lines of a batch with different values "
     "for\n"
     "  one cell are an error, unless their timestamps differ.\n"
     "  Example: stele --db DIR import users users.csv.gz --key country,id column-family=info\n"
     "  A file is checked completely before the first write. Standard input is written as it is "
     "read.\n"
     "  For exports of DynamoDB: stele help import dynamodb\n",
     RunImport, true},
    {"import dynamodb", "Import items of DynamoDB",
     "import dynamodb PATH ... --table T --partition-key NAME [--sort-key NAME] [FLAGS]\n\n"
     "  PATH   the directory of an export to S3, or files: DynamoDB JSON, the output of aws "
     "dynamodb\n"
     "         scan or query, or requests of batch-write-item. Files may be gzip or zstd. - is\n"
     "         standard input. Or a model of NoSQL Workbench: its sample items, keys and indexes;\n"
     "         --table selects one of its tables, default: each one under its own name\n\n"
     "  --mode native|google          google: what Google's migration job makes of the export\n"
     "  --family cf1                  the family of --mode google\n"
     "  --check                       reads and checks everything, and writes nothing\n"
     "  --key delimited|ordered       PK, delimiter, SK; or ordered code\n"
     "  --delimiter auto|D            auto: the first of # | / ~ that is in no partition key\n"
     "  --sets columns|json           a column per member, or one cell; default: columns\n"
     "  --maps json|columns           the same for maps; default: json\n"
     "  --counters A,...              numbers as 8 bytes, for increments; other types are kept\n"
     "  --ttl A [--keep-expired]      the attribute of the expiry time; keep what has expired\n"
     "  --timestamp A                 the attribute of the cells' time\n"
     "  --timestamp-micros N          the cells' time; default: the time of the export\n"
     "  --model FILE                  a model of NoSQL Workbench with the keys and indexes of T\n"
     "  --gsi NAME=PK[,SK][:keys|all] a table T.NAME for an index; may be repeated. Default: keys\n"
     "  --mapping FILE                stores the mapping in a file, for servers\n"
     "  --skip-bad N|all --bad-file F leaves bad items out, and writes them to F; exit status 3\n"
     "  --no-verify                   does not compare MD5 sums with the manifest\n"
     "  --workers N                   threads that write, 1 to 64; default: 4\n"
     "  --resume FILE                 the state file; default: next to the database\n"
     "  --report FILE                 writes the report as JSON\n"
     "  --format text|json            of the report on standard output\n\n"
     "  Everything is checked before the first row is written. After an interruption, the same "
     "command\n"
     "  continues. An incremental export is applied to the table of a full one.\n"
     "  For a table that is named dynamodb: stele import table=dynamodb FILE\n",
     RunImportDynamoDb, true},
    {"key", "Build, parse and inspect row keys",
     "key FUNCTION [flags] WORD ...\n\n"
     "  join [--delimiter D] [--escape] PART ...        one key of all parts; default: #\n"
     "  split [--delimiter D] [--escape] KEY ...        the parts, one per line\n"
     "  pad WIDTH N ...                                 zeros before a number\n"
     "  rev-ts N ...                                    9223372036854775807 - N\n"
     "  rev-date DATE ...                               99999999 - yyyymmdd; also yyyy-mm-dd\n"
     "  rev-digits [--width W] N ...                    the digits in reverse, after pad W\n"
     "  rev-domain HOST ...                             com.google.maps for maps.google.com\n"
     "  salt [--key] N KEY ...                          the bucket of N, or BUCKET#KEY\n"
     "  bucket-time --width W [--unit s|ms|us] N ...    rounds down; W is 15m, 1h, 1d, ...\n"
     "  prefix-end PREFIX ...                           the end of a prefix scan\n"
     "  inspect [--delimiter D] KEY ...                 what each part of a key looks like\n"
     "  encode SCHEMA FIELD=VALUE ...                   a key of typed fields\n"
     "  decode SCHEMA KEY ...                           the fields of such a key\n\n"
     "  SCHEMA        --schema FILE (YAML or JSON), or --fields NAME:TYPE[:ENCODING],...\n"
     "                [--encoding ordered_code|delimited|singleton] [--delimiter D].\n"
     "                TYPE: string, bytes, int64, timestamp; ENCODING: ordered_code, big_endian\n"
     "  -             as the only word: one result per line of standard input; tabs separate the\n"
     "                parts of join and the fields of encode\n"
     "  --from-hex    words are hex. Otherwise \\xNN is a byte and \\\\ a backslash\n"
     "  --hex         results are hex. Otherwise they have the same escapes\n"
     "  --format      text or json: one JSON object per line\n"
     "  Example: stele key rev-ts 1425330757685\n",
     RunKey, true},
    {"lint", "Check the schema and the rows of tables",
     "lint [TABLE ...] [--design FILE [--input NAME=FILE] ... | --keys FILE | --rows FILE]\n"
     "     [--trace FILE ...] [FLAGS]\n\n"
     "  Checks tables (default: all) against rules about sizes, families and row keys.\n\n"
     "  --design FILE    the tables of a design, with the rows of its inputs\n"
     "  --input NAME=FILE  the path of an input, instead of the one in the design\n"
     "  --limit N        the first N records of each input; default: 100,000\n"
     "  --keys FILE      one row key per line, with \\xNN for bytes; - is standard input\n"
     "  --rows FILE      JSON lines of export; - is standard input\n"
     "  --trace FILE     recorded operations: JSON lines or the binary form; may be repeated\n"
     "  --skip-bad       skips wrong lines of traces; the exit status is then 3\n"
     "  --delimiter D    between the parts of keys; default: the one of # / : | that most keys "
     "have\n"
     "  --sample N       reads about N rows per table\n"
     "  --only, --skip RULE,...         runs only these rules; suppresses findings\n"
     "  --set RULE.PARAMETER=VALUE      a threshold; may be repeated\n"
     "  --config FILE    accepted findings and thresholds; default: stele-lint.yaml, if it exists\n"
     "  --fail-on error|warning|info|never   exit status 3 for such findings; default: warning\n"
     "  --format text|json|sarif\n"
     "  --explain RULE|all              what a rule checks, and why\n\n"
     "  lint.ignore of a design and the table's property lint.ignore suppress findings, too.\n"
     "  Example: stele --db game.db lint game\n",
     RunLint, true},
    {"load", "Load records into the tables of a design",
     "load FILE [--input NAME=PATH] ... [--table TABLE] [--limit N] [--time MICROS] [--check]\n"
     "            [--skip-bad N|all --bad-file F] [--allow-duplicates]\n\n"
     "  FILE              a design (docs/lab/designs.md). Every record is checked before the "
     "first\n"
     "                    row is written\n"
     "  --input           the path of an input, instead of the one in the design. Its ending "
     "states "
     "the\n"
     "                    format, unless the design does\n"
     "  --limit           only the first N records of each input\n"
     "  --time            the timestamp of cells without another one; default: now\n"
     "  --check           writes nothing\n"
     "  --skip-bad        leaves out up to N bad records and duplicates, and writes them to F; "
     "the\n"
     "                    exit status is then 3\n"
     "  --allow-duplicates  a later record may replace a cell of an earlier one\n",
     RunLoad, true},
    {"lookup", "Read from a single row",
     "lookup TABLE ROW [columns=FAMILY:COLUMN,...] [cells-per-column=N] [filter=FILTER]\n"
     "              [keys-only=true|false] [include-stats=full] [--decode-keys]\n\n"
     "  ROW may contain any byte: \\xNN is a byte, and \\\\ a backslash. The other arguments are "
     "those\n"
     "  of read.\n\n"
     "  Example: stele --db game.db lookup scores '\\x00\\x00\\x00*'\n",
     RunLookup},
    {"ls", "List tables and column families",
     "ls          list tables\n  ls TABLE    list a table's column families\n", RunLs},
    {"read", "Read rows",
     "read TABLE [start=ROW] [end=ROW] [prefix=PREFIX] [regex=REGEX] [reversed=true|false]\n"
     "            [columns=FAMILY:COLUMN,...] [count=N] [cells-per-column=N] [filter=FILTER]\n"
     "            [keys-only=true|false] [include-stats=full] [--decode-keys]\n\n"
     "  start, end        from start (inclusive) to end (exclusive)\n"
     "  regex             only rows whose whole key matches\n"
     "  columns           FAMILY:COLUMN, FAMILY: or COLUMN. A name with one of \\^$*+?()[]{}| is "
     "a\n"
     "                    regular expression: f:a\\+b is the column a+b of the family f,\n"
     "                    f:a\\x2cb is a,b, and f:a\\x3ab is a:b\n"
     "  count             maximum number of rows\n"
     "  cells-per-column  only this many newest versions\n"
     "  filter            applied last, in the form of stele/filter.h:\n"
     "                    'chain(family(\"f\"), value_regex(\"a.*\"))'\n"
     "  --decode-keys     prints the fields of each row key, if the table has a row key schema\n"
     "  format-file and authorized-view are not implemented.\n",
     RunRead},
    {"replay", "Run a recorded workload, and measure it",
     "replay TRACE [--rate recorded|FACTORx|N/s|max] [--threads 8] [--map OLD=NEW,...] [FLAGS]\n"
     "replay LOGICAL --design DESIGN [--table T] [FLAGS]\n\n"
     "  TRACE            recorded operations (docs/lab/replay.md), in JSON lines, also .gz and "
     ".zst,\n"
     "                   or in the binary form\n\n"
     "  --rate R         when operations are due: at the recorded times (default), FACTOR times "
     "as\n"
     "                   fast, or N per second; max: when the thread's previous one ends\n"
     "  --threads 8      operations on one row keep their order\n"
     "  --map OLD=NEW    replays the operations of table OLD on table NEW\n"
     "  --design DESIGN  runs LOGICAL, a trace of queries (docs/lab/compare.md), on the table T "
     "of\n"
     "                   DESIGN; default: its only table with queries\n"
     "  --writes apply|skip|apply-drops   writes run, but range deletes only with apply-drops;\n"
     "                   default: apply\n"
     "  --warmup N|TIME  the first operations run and are not counted; default: 0\n"
     "  --limit N        only the first N operations\n"
     "  --seed 1         of the values that are written: a trace has no values\n"
     "  --skip-bad       leaves wrong lines out; exit status 3\n"
     "  --hgrm FILE, --hlog FILE   percentiles and an interval log for HdrHistogram's tools\n"
     "  -o FILE.html     also a page with plots; or FILE.json, FILE.txt\n"
     "  --format text|json\n\n"
     "  The table of TRACE must exist, with the recorded families. Latency counts from the time "
     "at\n"
     "  which an operation is due. The exit status is 1 if operations failed.\n"
     "  Example: stele --db copy.db replay shop.jsonl --rate 2x\n",
     RunReplay, true},
    {"salvage", "Copy the readable data of a damaged database",
     "salvage DIRECTORY NEW\n\n"
     "  Copies all rows of DIRECTORY that are readable to NEW, a new database, and lists what is\n"
     "  not: damaged places, lost commits, and rows that are not copied. DIRECTORY is not "
     "changed.\n"
     "  The exit status is 0 if everything is copied, and 3 if something is lost.\n\n"
     "  Example: stele salvage /var/lib/app /var/lib/app.new\n",
     RunSalvage},
    {"set", "Set value of a cell (write)",
     "set TABLE ROW FAMILY:COLUMN=VALUE[@TIMESTAMP] ...\n\n"
     "  TIMESTAMP is in microseconds, a multiple of 1000; default: now. Text after @ that is not "
     "a\n"
     "  number is part of the value. A value that itself ends in @ and digits needs a TIMESTAMP.\n"
     "  Example: stele --db DIR set users ann info:handle=ann@7@1700000000000000\n",
     RunSet},
    {"setgcpolicy", "Set the garbage-collection policy (age, versions) for a column family",
     "setgcpolicy TABLE FAMILY ((maxage=AGE | maxversions=N)\n"
     "            [(and|or) (maxage=AGE | maxversions=N) ...] | never)\n\n"
     "  AGE has the unit d, h, m, s, ms, us or ns, and is at least 1 ms.\n"
     "  Example: stele --db DIR setgcpolicy events stats maxage=10d or maxversions=1\n",
     RunSetGcPolicy},
    {"setvaluetype", "Update column family's value type.",
     "setvaluetype TABLE FAMILY TYPE\n\n  Always an error: a family's type is fixed when it is "
     "created.\n",
     RunSetValueType},
    {"stats", "Show sizes and counts",
     "stats [TABLE]\n\n  For the database, or for a table by family and tablet.\n", RunStats},
    {"trace", "Show what is in a trace, convert it, or draw one",
     "trace info TRACE [--format text|json] [--skip-bad]\n"
     "  trace cat TRACE [-o FILE.trace|FILE.jsonl|FILE.jsonl.zst] [--skip-bad]\n"
     "  trace synth DESIGN... [--operations 10000] [--rate N|N/s] [--seed 1]\n"
     "              [--distribution D] [--input NAME=PATH]... [--table T]\n"
     "  trace from-records INPUT --query NAME --time FIELD [--design DESIGN]... [--table T]\n"
     "              [--skip-bad]\n"
     "  trace logical TRACE --design DESIGN [--table T] [--input NAME=PATH]... [--skip-bad]\n\n"
     "  info  counts the operations by table and op, and prints the time span, the rate, the rows\n"
     "        with the most gets and writes, and the tags\n"
     "  cat   prints JSON lines, one operation per line; -o writes them, or the binary form\n"
     "  synth draws queries of designs, and records of the inputs that give their fields, as\n"
     "        compare-designs does, and prints a logical trace, which has no row keys\n"
     "  from-records  prints a logical trace: the query NAME for each record of INPUT, a file of\n"
     "        CSV, TSV, JSON lines or DynamoDB, at the time in its FIELD, sorted by time. The\n"
     "        operations have all fields of the record, or those that the query uses in DESIGN\n"
     "  logical  converts TRACE to a logical trace: the row keys become queries of DESIGN and "
     "their\n"
     "        fields. A write becomes the record of the input with its row key\n\n"
     "  TRACE       recorded operations (docs/lab/trace.md), also .gz and .zst\n"
     "  --skip-bad  leaves wrong lines and records out; exit status 3\n\n"
     "  A trace has row keys and the texts of filters, which may be personal data. It has no "
     "values.\n",
     RunTrace, true},
    {"verify", "Read and check every byte",
     "verify\n\n  Lists damage; the exit status is 1 if there is any.\n", RunVerify},
    {"version", "Print the version", "version\n", RunVersion},
};

constexpr std::string_view kHead =
    "Usage: stele [flags] <command> ...\n"
    "  --db DIR         the database; default: the environment variable STELE_DB\n"
    "  --format FORMAT  output format: text, table, json, jsonl or csv; may also come after the "
    "command.\n"
    "                   default: text. Commands of the lab have text and json, bench also csv\n"
    "  -o FILE          write to this file instead of standard output; may also come after the "
    "command.\n"
    "                   An older file stays if the command fails\n"
    "  --on-damage before|around   read a database with a damaged log: as of the last commit "
    "before\n"
    "                   the damage, or everything that is readable; default: an error\n"
    "  --wait SECONDS   wait so long if another process has a database open that the command "
    "needs;\n"
    "                   default: 10; for doctor: 0\n"
    "  --trace FILE     record the operations of the command in a new file; see \"stele help "
    "trace\"\n"
    "  --trace-sample N record one operation in N, chosen at random; default: 1\n"
    "  cbt's -project, -instance, -creds and other server flags are accepted and ignored.\n"
    "  \"--\" ends flags: stele --db DIR lookup -- TABLE --format\n\n";

}  // namespace

std::span<const Command> Commands() { return kCommands; }

ptrdiff_t WordCount(const Command& command) {
  return command.verb.find(' ') == std::string_view::npos ? 1 : 2;
}

const Command* FindCommand(std::span<const std::string> words) {
  if (words.empty()) return nullptr;
  const std::string two = words.size() < 2 ? "" : words[0] + " " + words[1];
  for (const std::string& verb : {two, words[0]}) {
    for (const Command& command : Commands()) {
      if (command.verb == verb) return &command;
    }
  }
  return nullptr;
}

absl::Status WrongUsage(std::string_view verb) {
  for (const Command& command : Commands()) {
    if (command.verb != verb) continue;
    const std::string_view lines = command.usage.substr(0, command.usage.find("\n\n"));
    return UsageError(
        fmt::format("usage: stele {}", lines.substr(0, lines.find_last_not_of('\n') + 1)));
  }
  return UsageError(verb);
}

std::string HelpText() {
  std::string text(kHead);
  for (const Command& command : Commands())
    text += fmt::format("stele {:<16}{}\n", command.verb, command.summary);
  return text + "\nFor details: \"stele help COMMAND\".\n";
}

absl::Status RunHelp(Session& session, const std::vector<std::string>& args) {
  if (args.empty()) {
    session.Print(HelpText());
    return absl::OkStatus();
  }
  if (const Command* const command = FindCommand(args); command != nullptr) {
    session.Print(fmt::format("stele {}", command->usage));
    return absl::OkStatus();
  }
  return UsageError(
      fmt::format("Don't know command \"{}\"; \"stele help\" lists the commands", args[0]));
}

absl::Status RunVersion(Session& session, const std::vector<std::string>& args) {
  if (!args.empty()) return WrongUsage("version");
  session.Print("stele " STELE_VERSION "\n");
  return absl::OkStatus();
}

}  // namespace stele::cli
