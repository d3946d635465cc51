//===- Quote.h - Text that is data and never an instruction -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_QUOTE_H
#define CUPILOT_LLM_QUOTE_H

#include "cupilot/LLM/Provider.h"

namespace cupilot {

/// \p Text between two lines that name \p Label and a tag made of the text,
/// which it therefore cannot hold:
///
///   <<<<<<<< kernel.cu 5f0c94b1d27a8e36
///   ...
///   >>>>>>>> kernel.cu 5f0c94b1d27a8e36
///
/// The text stays as it is, but for broken UTF-8.
std::string quoteText(llvm::StringRef Label, llvm::StringRef Text);

/// \p Text on one line, without control characters and without the marks that
/// quotes and templates are made of: for names in the middle of sentences.
std::string quoteLine(llvm::StringRef Text);

/// A whole request as one text, for commands and people: what is earlier in the
/// conversation stands in quotes.
std::string plainText(const ChatRequest &R);

} // namespace cupilot

#endif // CUPILOT_LLM_QUOTE_H
