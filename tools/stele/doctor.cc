// tools/stele/doctor.cc: the verb doctor. It says in plain words what state a directory is in and
// what to do next. It changes nothing.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "command.h"
#include "copy_plan.h"
#include "io/output_file.h"
#include "listing.h"

namespace stele::cli {
namespace {

struct Diagnosis {
  bool is_healthy = false;
  bool is_examined = true;  // false: it could not be read
  std::string state;
  std::vector<std::string> advice;
};

absl::StatusOr<Database> TryToRead(Session& session, const std::string& directory,
                                   OnDamage on_damage) {
  return session.OpenUnlocked(
      directory, {.create_if_missing = false, .read_only = true, .on_damage = on_damage});
}

constexpr std::string_view kBackup =
    "Copy the directory to another disk before anything else. If there is a checkpoint, restore "
    "it: "
    "it has all rows.";

std::string VerifyAdvice(const std::string& directory) {
  return fmt::format("stele --db {} verify   lists each damaged file with its rows.", directory);
}

std::string SalvageAdvice(const std::string& directory) {
  return fmt::format(
      "stele salvage {} NEW   copies everything that is readable to the new directory NEW.",
      directory);
}

// The database can be opened for reading.
absl::StatusOr<Diagnosis> ExamineReadable(const std::string& directory, const Database& database) {
  STELE_ASSIGN_OR_RETURN(const VerifyReport report, database.Verify());
  if (report.ok()) {
    return Diagnosis{.is_healthy = true,
                     .state = fmt::format("The database is intact: {}, {} bytes read.",
                                          Counted(report.files, "file", "files"), report.bytes),
                     .advice = {"Nothing needs to be done."}};
  }
  const VerifyReport::Damage& first = report.damages.front();
  const std::string place = fmt::format("{} @{}: ", first.file, first.offset);
  std::string_view what = first.what;
  if (what.starts_with(place)) what.remove_prefix(place.size());
  return Diagnosis{
      .state = fmt::format(
          "{}, first {}{}. Reads of the rows there return an error; all other rows "
          "are readable.",
          Counted(report.damages.size(), "place is damaged", "places are damaged"), place, what),
      .advice = {std::string(kBackup), VerifyAdvice(directory), SalvageAdvice(directory)}};
}

// The database cannot be opened because bytes are lost.
absl::StatusOr<Diagnosis> ExamineDamaged(Session& session, const std::string& directory,
                                         const absl::Status& why) {
  const absl::StatusOr<Database> around = TryToRead(session, directory, OnDamage::kReadAround);
  if (!around.ok()) {
    return Diagnosis{
        .state = fmt::format("The database cannot be read: {}. No manifest is readable, and no "
                             "SSTable says to which table it belongs.",
                             internal::ToStd(around.status().message())),
        .advice = {std::string(kBackup),
                   fmt::format("stele dump {}/FILE cells=true   prints the cells of an SSTable.",
                               directory)}};
  }
  Diagnosis diagnosis{
      .state =
          fmt::format("The log, the manifest or CURRENT is damaged: {}. Commits may be lost, and "
                      "the database cannot be opened for writing.",
                      internal::ToStd(why.message())),
      .advice = {std::string(kBackup), VerifyAdvice(directory)}};
  if (TryToRead(session, directory, OnDamage::kReadBefore).ok()) {
    diagnosis.advice.push_back(
        fmt::format("stele --on-damage before copy {} NEW   copies the state before the damage to "
                    "the new directory NEW.",
                    directory));
  }
  diagnosis.advice.push_back(SalvageAdvice(directory) + " Later commits are included.");
  return diagnosis;
}

// Files that every database has are missing.
Diagnosis ExamineIncomplete(Session& session, const std::string& directory,
                            const std::string& why) {
  Diagnosis diagnosis{
      .state = fmt::format("This is not a complete database: {}.", why),
      .advice = {"If it is a copy, copy it again while no process has the database open. "
                 "Otherwise restore a checkpoint."}};
  if (TryToRead(session, directory, OnDamage::kReadAround).ok())
    diagnosis.advice.push_back(SalvageAdvice(directory));
  return diagnosis;
}

absl::StatusOr<Diagnosis> Examine(Session& session, const std::string& directory) {
  const absl::StatusOr<Database> database = TryToRead(session, directory, OnDamage::kRefuse);
  if (database.ok()) return ExamineReadable(directory, *database);
  const absl::Status& why = database.status();
  const std::string text(why.message());
  switch (why.code()) {
    case absl::StatusCode::kDataLoss:
      return ExamineDamaged(session, directory, why);
    case absl::StatusCode::kNotFound:
      return Diagnosis{.state = fmt::format("There is no database here: {}.", text),
                       .advice = {"Check the path. If it is right, restore a checkpoint."}};
    case absl::StatusCode::kFailedPrecondition:
      if (text.find(" is open elsewhere") != std::string::npos) {
        return Diagnosis{.is_examined = false,
                         .state = fmt::format("Another process uses the database: {}.", text),
                         .advice = {"Stop that process, and run this command again."}};
      }
      return ExamineIncomplete(session, directory, text);
    case absl::StatusCode::kUnimplemented:
      return Diagnosis{.state = fmt::format("Another version wrote the database: {}.", text),
                       .advice = {"Use the version of Stele that wrote it, or a newer one."}};
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnavailable:
      return Diagnosis{
          .is_examined = false,
          .state = fmt::format("The system does not give access: {}.", text),
          .advice = {"Remove the cause, and run this command again. Nothing shows that "
                     "the database is damaged."}};
    default:
      return why;
  }
}

}  // namespace

absl::Status RunDoctor(Session& session, const std::vector<std::string>& args) {
  if (args.size() != 1) return WrongUsage("doctor");
  if (!IsDirectory(args[0])) return UsageError("doctor: DIRECTORY is the directory of a database");
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs({session.options().output}, {args[0]}));
  session.WaitOnlyIfAsked();  // a database in use is a diagnosis
  STELE_ASSIGN_OR_RETURN(const Diagnosis diagnosis, Examine(session, args[0]));
  session.Print(fmt::format("State: {}\n", diagnosis.state));
  for (const std::string& advice : diagnosis.advice)
    session.Print(fmt::format("Next:  {}\n", advice));
  if (diagnosis.is_healthy) return absl::OkStatus();
  session.KeepOutput();
  if (!diagnosis.is_examined)
    return internal::FailedPrecondition("{} could not be examined", args[0]);
  return internal::FailedPrecondition("{} is not an intact database", args[0]);
}

}  // namespace stele::cli
