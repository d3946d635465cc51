//===- Journal.cpp - What a search has done so far -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/Journal.h"
#include "JournalJson.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <set>
#include <sqlite3.h>
#include <thread>

using namespace llvm;

namespace cupilot {

namespace {
/// The journal's own format. Whoever changes a table or what a column holds
/// raises it: programs that know less then leave the file alone. 2: who found a
/// rejected candidate wrong is a column of its own. 3: code with open numbers.
/// 4: what code is written in ("": CUDA C++).
constexpr unsigned JournalFormat = 4;

using Clock = std::chrono::steady_clock;
/// How long another process may hold the file.
constexpr std::chrono::milliseconds Patience(10000);

/// A prepared statement with its bindings; finalised with the object.
class Statement {
public:
  Statement(sqlite3 *Db, const char *Sql) {
    if (sqlite3_prepare_v2(Db, Sql, -1, &Stmt, nullptr) != SQLITE_OK)
      Stmt = nullptr;
  }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;
  ~Statement() { sqlite3_finalize(Stmt); }
  Statement &bind(StringRef Text) {
    if (Stmt)
      sqlite3_bind_text(Stmt, ++Index, Text.data(),
                        static_cast<int>(Text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement &bind(double Number) {
    if (Stmt)
      sqlite3_bind_double(Stmt, ++Index, Number);
    return *this;
  }
  Statement &bind(int64_t Number) {
    if (Stmt)
      sqlite3_bind_int64(Stmt, ++Index, Number);
    return *this;
  }
  Statement &bind(unsigned Number) {
    if (Stmt)
      sqlite3_bind_int64(Stmt, ++Index, Number);
    return *this;
  }
  int step() { return Stmt ? sqlite3_step(Stmt) : SQLITE_ERROR; }
  std::string text(int Column) const {
    const unsigned char *Bytes = sqlite3_column_text(Stmt, Column);
    return Bytes ? std::string(reinterpret_cast<const char *>(Bytes),
                               sqlite3_column_bytes(Stmt, Column))
                 : std::string();
  }
  double number(int Column) const {
    return sqlite3_column_double(Stmt, Column);
  }
  unsigned integer(int Column) const {
    return static_cast<unsigned>(sqlite3_column_int64(Stmt, Column));
  }

private:
  sqlite3_stmt *Stmt = nullptr;
  int Index = 0;
};
} // namespace

void Journal::Closer::operator()(sqlite3 *Db) const { sqlite3_close(Db); }

static const char *wayOut(int Code) {
  switch (Code) {
  case SQLITE_FULL:
  case SQLITE_IOERR:
    return "is the disk full? After freeing some space, --resume continues "
           "from here";
  case SQLITE_CANTOPEN:
  case SQLITE_READONLY:
  case SQLITE_PERM:
    return "can its folder be written?";
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return "another program is using it; try again with --resume";
  default:
    return "delete it to start a new search";
  }
}

Error Journal::failure(StringRef What) const {
  return resourceError("the journal '" + Path + "': " + What + ": " +
                           sqlite3_errmsg(Db.get()),
                       wayOut(sqlite3_errcode(Db.get()) & 0xff));
}

Error Journal::execute(const char *Sql) {
  if (sqlite3_exec(Db.get(), Sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure("cannot be written");
  return Error::success();
}

static constexpr const char *MakeTables =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
    "CREATE TABLE IF NOT EXISTS generation("
    "  run TEXT, number INTEGER, module TEXT, PRIMARY KEY(run, number));"
    "CREATE TABLE IF NOT EXISTS candidate("
    "  id INTEGER PRIMARY KEY, run TEXT, genome TEXT, outcome TEXT,"
    "  reason TEXT, device TEXT, ratio REAL, source TEXT, plan TEXT,"
    "  guard TEXT, evidence TEXT, carried TEXT NOT NULL DEFAULT '',"
    "  made TEXT NOT NULL DEFAULT '', finding TEXT NOT NULL DEFAULT '',"
    "  tunable TEXT NOT NULL DEFAULT '', language TEXT NOT NULL DEFAULT '',"
    "  UNIQUE(run, genome));"
    "CREATE TABLE IF NOT EXISTS batch("
    "  run TEXT, step TEXT, id TEXT, results TEXT,"
    "  PRIMARY KEY(run, step));"
    "CREATE TABLE IF NOT EXISTS call("
    "  id INTEGER PRIMARY KEY, run TEXT, step TEXT, note TEXT,"
    "  UNIQUE(run, step));"
    "CREATE TABLE IF NOT EXISTS tool("
    "  id INTEGER PRIMARY KEY, time INTEGER, client TEXT, model TEXT,"
    "  tool TEXT, kernel TEXT, arguments TEXT, handle TEXT, outcome TEXT,"
    "  result TEXT, seconds REAL, gpu REAL, work INTEGER, free INTEGER);";

Expected<Journal> Journal::open(StringRef Path) {
  if (Error E = ensureDirectory(sys::path::parent_path(Path)))
    return std::move(E);
  sqlite3 *Db = nullptr;
  int Status = sqlite3_open(Path.str().c_str(), &Db);
  Journal Result(Db, Path.str());
  if (Status != SQLITE_OK)
    return Result.failure("cannot be opened");
  sqlite3_busy_timeout(Db, static_cast<int>(Patience.count()));
  unsigned Format;
  {
    Statement Version(Db, "PRAGMA user_version");
    if (Version.step() != SQLITE_ROW)
      return Result.failure("cannot be read");
    Format = Version.integer(0);
  }
  if (Format > JournalFormat)
    return usageError(
        "the journal '" + Path + "' was written by a newer cupilot",
        "use that version, or delete the file to start a new search");
  // Of several that change a new file to this mode at once, SQLite tells some
  // that it is busy without asking the handler (it would be a deadlock).
  for (auto End = Clock::now() + Patience;;) {
    Error E = Result.execute(MakeTables);
    if (!E)
      break;
    if ((sqlite3_errcode(Db) & 0xff) != SQLITE_BUSY || Clock::now() > End)
      return std::move(E);
    consumeError(std::move(E));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (Format < JournalFormat)
    if (Error E = Result.upgrade())
      return std::move(E);
  return std::move(Result);
}

/// Adds the columns that earlier formats lack, and says so, in one transaction.
Error Journal::upgrade() {
  if (Error E = execute("BEGIN IMMEDIATE"))
    return E;
  std::set<std::string> There;
  {
    Statement Query(Db.get(),
                    "SELECT name FROM pragma_table_info('candidate')");
    while (Query.step() == SQLITE_ROW)
      There.insert(Query.text(0));
  }
  std::string Sql;
  for (const char *Name : {"carried", "made", "finding", "tunable", "language"})
    if (!There.count(Name))
      Sql += std::string("ALTER TABLE candidate ADD COLUMN ") + Name +
             " TEXT NOT NULL DEFAULT '';";
  Sql += "PRAGMA user_version=" + std::to_string(JournalFormat) + "; COMMIT";
  return execute(Sql.c_str());
}

Error Journal::restart(StringRef Run) {
  for (const char *Sql :
       {"DELETE FROM generation WHERE run=?",
        "DELETE FROM candidate WHERE run=?", "DELETE FROM batch WHERE run=?",
        "DELETE FROM call WHERE run=?"})
    if (Statement(Db.get(), Sql).bind(Run).step() != SQLITE_DONE)
      return failure("cannot be written");
  return Error::success();
}

Expected<std::optional<std::pair<unsigned, std::string>>>
Journal::lastGeneration(StringRef Run) {
  Statement Query(Db.get(), "SELECT number, module FROM generation WHERE run=?"
                            " ORDER BY number DESC LIMIT 1");
  switch (Query.bind(Run).step()) {
  case SQLITE_ROW:
    return std::optional(std::pair(Query.integer(0), Query.text(1)));
  case SQLITE_DONE:
    return std::nullopt;
  default:
    return failure("cannot be read");
  }
}

Error Journal::saveGeneration(StringRef Run, unsigned Generation,
                              StringRef Module) {
  Statement Insert(Db.get(), "INSERT OR REPLACE INTO generation VALUES(?,?,?)");
  if (Insert.bind(Run).bind(Generation).bind(Module).step() != SQLITE_DONE)
    return failure("cannot be written");
  return Error::success();
}

Expected<std::optional<BatchRecord>> Journal::findBatch(StringRef Run,
                                                        StringRef Step) {
  Statement Query(Db.get(),
                  "SELECT id, results FROM batch WHERE run=? AND step=?");
  switch (Query.bind(Run).bind(Step).step()) {
  case SQLITE_ROW:
    return std::optional(BatchRecord{Query.text(0), Query.text(1)});
  case SQLITE_DONE:
    return std::nullopt;
  default:
    return failure("cannot be read");
  }
}

Error Journal::saveBatch(StringRef Run, StringRef Step, const BatchRecord &B) {
  Statement Insert(Db.get(), "INSERT OR REPLACE INTO batch VALUES(?,?,?,?)");
  if (Insert.bind(Run).bind(Step).bind(B.Id).bind(B.Results).step() !=
      SQLITE_DONE)
    return failure("cannot be written");
  return Error::success();
}

static constexpr const char *SelectCandidate =
    "SELECT genome, outcome, reason, device, ratio, source, plan, guard, "
    "evidence, carried, made, finding, tunable, language"
    " FROM candidate WHERE run=?";

static Error broken(StringRef Genome) {
  return resourceError("the journal contains a damaged candidate: " + Genome,
                       "delete it to start a new search");
}

static Expected<CandidateRecord> readCandidate(const Statement &Row) {
  CandidateRecord R;
  R.Genome = Row.text(0);
  std::optional<CandidateOutcome> Outcome = candidateOutcomeOf(Row.text(1));
  const std::string Reason = Row.text(2), Plan = Row.text(6),
                    Guard = Row.text(7), Evidence = Row.text(8),
                    Made = Row.text(10), Finding = Row.text(11),
                    Open = Row.text(12);
  R.DeviceDigest = Row.text(3);
  R.Ratio = Row.number(4);
  R.Carried = Row.text(9);
  if (!Plan.empty())
    R.Code = readCode(Row.text(5), Plan, Guard, Row.text(13));
  if (!Evidence.empty())
    R.Evidence = readEvidence(Evidence);
  if (!Made.empty())
    R.Made = readHistory(Made);
  else if (R.Carried.empty()) // The first journals told neither.
    R.Carried = R.Genome;
  if (!Open.empty())
    R.Open = readOpen(Open);
  if (!Outcome || (!Plan.empty() && !R.Code) ||
      (!Evidence.empty() && !R.Evidence) || (!Made.empty() && !R.Made) ||
      (!Open.empty() && !R.Open))
    return broken(R.Genome);
  R.Outcome = *Outcome;
  R.Reason.Text = Reason;
  if (R.Outcome != CandidateOutcome::Rejected)
    return R;
  if (Finding.empty()) {
    readOldFinding(Reason, R);
    return R;
  }
  std::optional<OutcomeReason> Found = readFinding(Finding);
  if (!Found)
    return broken(R.Genome);
  R.Reason = std::move(*Found);
  return R;
}

Expected<std::optional<CandidateRecord>> Journal::find(StringRef Run,
                                                       StringRef Genome) {
  std::string Sql = std::string(SelectCandidate) + " AND genome=?";
  Statement Query(Db.get(), Sql.c_str());
  switch (Query.bind(Run).bind(Genome).step()) {
  case SQLITE_ROW:
    return readCandidate(Query);
  case SQLITE_DONE:
    return std::nullopt;
  default:
    return failure("cannot be read");
  }
}

Error Journal::save(StringRef Run, const CandidateRecord &C) {
  Statement Insert(Db.get(),
                   "INSERT INTO candidate(run, genome, outcome, reason,"
                   " device, ratio, source, plan, guard, evidence, carried,"
                   " made, finding, tunable, language)"
                   " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
                   " ON CONFLICT(run, genome) DO UPDATE SET"
                   " outcome=excluded.outcome, reason=excluded.reason,"
                   " device=excluded.device, ratio=excluded.ratio,"
                   " source=excluded.source, plan=excluded.plan,"
                   " guard=excluded.guard, evidence=excluded.evidence,"
                   " carried=excluded.carried, made=excluded.made,"
                   " finding=excluded.finding, tunable=excluded.tunable,"
                   " language=excluded.language");
  Insert.bind(Run).bind(C.Genome).bind(wordOf(C.Outcome)).bind(reasonText(C));
  Insert.bind(C.DeviceDigest).bind(C.Ratio);
  Insert.bind(C.Code ? C.Code->Source : "");
  Insert.bind(C.Code ? planText(C.Code->Plan) : "");
  Insert.bind(C.Code ? guardText(C.Code->When) : "");
  Insert.bind(C.Evidence ? evidenceText(*C.Evidence) : "").bind(C.Carried);
  Insert.bind(C.Made ? historyText(*C.Made) : "").bind(findingText(C.Reason));
  Insert.bind(openText(C.Open));
  const bool IsCuda = !C.Code || C.Code->Language == SourceLanguage::Cuda;
  Insert.bind(IsCuda ? "" : wordOf(C.Code->Language));
  if (Insert.step() != SQLITE_DONE)
    return failure("cannot be written");
  return Error::success();
}

/// The first column of all rows; nothing where they cannot be read.
static std::optional<std::vector<std::string>> textsOf(Statement &Query) {
  std::vector<std::string> All;
  int Status;
  while ((Status = Query.step()) == SQLITE_ROW)
    All.push_back(Query.text(0));
  if (Status != SQLITE_DONE)
    return std::nullopt;
  return All;
}

Error Journal::saveCall(StringRef Run, const ModelCall &Call) {
  Statement Insert(Db.get(),
                   "INSERT INTO call(run, step, note) VALUES(?,?,?)"
                   " ON CONFLICT(run, step) DO UPDATE SET note=excluded.note");
  if (Insert.bind(Run).bind(Call.Step).bind(callText(Call)).step() !=
      SQLITE_DONE)
    return failure("cannot be written");
  return Error::success();
}

Expected<std::vector<ModelCall>> Journal::calls(StringRef Run) {
  Statement Query(Db.get(), "SELECT note FROM call WHERE run=? ORDER BY id");
  std::optional<std::vector<std::string>> Texts = textsOf(Query.bind(Run));
  if (!Texts)
    return failure("cannot be read");
  std::vector<ModelCall> All;
  for (const std::string &Text : *Texts)
    if (std::optional<ModelCall> Call = readCall(Text))
      All.push_back(std::move(*Call));
  return All;
}

Error Journal::saveToolCall(const ToolCall &C) {
  Statement Insert(Db.get(),
                   "INSERT INTO tool(time, client, model, tool, kernel,"
                   " arguments, handle, outcome, result, seconds, gpu, work,"
                   " free) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
  Insert.bind(C.Time).bind(C.Client).bind(C.Model).bind(C.Tool).bind(C.Kernel);
  Insert.bind(C.Arguments).bind(C.Handle).bind(C.Outcome).bind(C.Result);
  Insert.bind(C.Seconds).bind(C.GpuSeconds);
  if (Insert.bind(unsigned(C.IsWork)).bind(unsigned(C.IsFree)).step() !=
      SQLITE_DONE)
    return failure("cannot be written");
  return Error::success();
}

Expected<std::vector<ToolCall>> Journal::toolCalls() {
  Statement Query(Db.get(),
                  "SELECT time, client, model, tool, kernel, arguments, handle,"
                  " outcome, result, seconds, gpu, work, free FROM tool"
                  " ORDER BY id");
  std::vector<ToolCall> All;
  int Status;
  while ((Status = Query.step()) == SQLITE_ROW)
    All.push_back({int64_t(Query.number(0)), Query.text(1), Query.text(2),
                   Query.text(3), Query.text(4), Query.text(5), Query.text(6),
                   Query.text(7), Query.text(8), Query.number(9),
                   Query.number(10), Query.integer(11) != 0,
                   Query.integer(12) != 0});
  if (Status != SQLITE_DONE)
    return failure("cannot be read");
  return All;
}

Expected<ToolTotals> Journal::toolTotals() {
  Statement Query(Db.get(), "SELECT COALESCE(SUM(work = 0 AND free = 0), 0),"
                            " COALESCE(SUM(gpu), 0) FROM tool");
  if (Query.step() != SQLITE_ROW)
    return failure("cannot be read");
  return ToolTotals{Query.integer(0), Query.number(1)};
}

Expected<std::vector<std::string>> Journal::acceptedTexts() {
  Statement Query(Db.get(), "SELECT source FROM candidate WHERE outcome=?");
  Query.bind(wordOf(CandidateOutcome::Accepted));
  std::optional<std::vector<std::string>> Texts = textsOf(Query);
  if (!Texts)
    return failure("cannot be read");
  for (std::string &Text : *Texts)
    Text = digest(Text);
  return std::move(*Texts);
}

Expected<std::vector<std::string>> Journal::runs() {
  Statement Query(
      Db.get(), "SELECT run FROM generation GROUP BY run ORDER BY MIN(rowid)");
  if (auto All = textsOf(Query))
    return std::move(*All);
  return failure("cannot be read");
}

Expected<std::vector<CandidateRecord>> Journal::candidates(StringRef Run) {
  std::string Sql = std::string(SelectCandidate) + " ORDER BY id";
  Statement Query(Db.get(), Sql.c_str());
  Query.bind(Run);
  std::vector<CandidateRecord> All;
  int Status;
  while ((Status = Query.step()) == SQLITE_ROW) {
    Expected<CandidateRecord> R = readCandidate(Query);
    if (!R)
      return R.takeError();
    All.push_back(std::move(*R));
  }
  if (Status != SQLITE_DONE)
    return failure("cannot be read");
  return All;
}

} // namespace cupilot
