//===- StoreTransaction.h - Changes of a store, all or none -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In <store>/journal.sqlite.update, which the store's .gitignore leaves out:
//   0, 1, ...   the new files
//   steps       what goes where, written last: from now on the change is made,
//               if need be by the next cuPilot that opens the store
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_STORE_STORETRANSACTION_H
#define CUPILOT_LIB_STORE_STORETRANSACTION_H

#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace cupilot {

/// Files that are written and removed together, in the order in which they were
/// named. Whoever uses one holds the store's lock.
class StoreTransaction {
public:
  explicit StoreTransaction(llvm::StringRef Root) : Root(Root) {}

  /// Writes \p Path, relative to the store; nothing where the file holds
  /// \p Content already. Returns whether it changes.
  bool write(llvm::StringRef Path, std::string Content);
  /// Writes \p Path whatever it holds: its time changes.
  void rewrite(llvm::StringRef Path, std::string Content);
  /// Removes a file if it is there.
  void remove(llvm::StringRef Path);
  /// Makes the change. After an error before the last step was written down
  /// the store is as before; after a later one, recover() goes on.
  llvm::Error commit();

  /// Ends the change that a killed process began in the store \p Root, and
  /// drops one that it had not written down. True when there was one to end.
  static llvm::Expected<bool> recover(llvm::StringRef Root);
  /// Whether the store \p Root holds a change that was not ended.
  static bool isPending(llvm::StringRef Root);

private:
  struct Step {
    bool Remove;
    std::string Path, Content;
  };
  std::string Root;
  std::vector<Step> Steps;
};

} // namespace cupilot

#endif // CUPILOT_LIB_STORE_STORETRANSACTION_H
