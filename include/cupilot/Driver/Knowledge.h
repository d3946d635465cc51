//===- Knowledge.h - What an agent can look up -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_KNOWLEDGE_H
#define CUPILOT_DRIVER_KNOWLEDGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace cupilot {

/// A text that comes with cuPilot.
struct KnownText {
  std::string Uri;  ///< "cupilot://docs/Gate.md".
  std::string Name; ///< "Gate.md".
  std::string Title;
  std::string Type; ///< "text/markdown".
  std::string Path;
};

/// A part of a text that fits a question.
struct KnownPassage {
  std::string Uri, Heading, Text;
  double Score = 0;
};

/// docs/, the strategies, the GPUs' figures, and the rules for variants.
class Knowledge {
public:
  /// The texts that are there, sorted by name.
  static Knowledge shipped();
  const std::vector<KnownText> &texts() const { return Texts; }
  /// Of a text of texts(). Another URI is a usage error.
  llvm::Expected<std::string> read(llvm::StringRef Uri) const;
  /// The \p Most passages that hold the words of \p Query best: rare words
  /// count more, and those of headings.
  std::vector<KnownPassage> search(llvm::StringRef Query, size_t Most);
  /// The same, as the tool `knowledge` tells it.
  llvm::json::Array passages(llvm::StringRef Query, size_t Most);

private:
  struct Section {
    KnownPassage Passage;
    std::map<std::string, unsigned> Words;
    size_t Length = 0;
  };
  void addFolder(llvm::StringRef Folder, llvm::StringRef Kind,
                 llvm::StringRef Ending, llvm::StringRef Type);
  void split();

  std::vector<KnownText> Texts;
  std::vector<Section> Sections;           ///< Once they are asked for.
  std::map<std::string, unsigned> Holders; ///< Sections with a word.
};

} // namespace cupilot

#endif // CUPILOT_DRIVER_KNOWLEDGE_H
