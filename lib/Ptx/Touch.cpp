//===- Touch.cpp - Kernels that mark what they touch ------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/Touch.h"
#include "cupilot/Ptx/Print.h"
#include "cupilot/Ptx/Reach.h"
#include <algorithm>

namespace cupilot::ptx {

static_assert(sizeof(TouchHeader) == 32 && sizeof(TouchRange) == 32,
              "the code below has these offsets");

/// The table, and the function that each access calls before it. Addresses are
/// generic; shared and local memory, constants and parameters do not count.
static constexpr const char *TouchFunction =
    R"(.visible .global .align 16 .b8 cupilot_touch_table[8192];
.func cupilot_touch(.param .b64 cupilot_touch_at, .param .b32 cupilot_touch_bytes, .param .b32 cupilot_touch_writes)
{
.reg .pred %p1;
.reg .b32 %n, %w, %bit, %word, %old;
.reg .b64 %a, %e, %t, %i, %count, %stop, %b, %end, %reads, %writes, %g, %last, %map, %at;
ld.param.u64 %a, [cupilot_touch_at];
ld.param.u32 %n, [cupilot_touch_bytes];
ld.param.u32 %w, [cupilot_touch_writes];
setp.eq.u32 %p1, %n, 0;
@%p1 ret;
isspacep.global %p1, %a;
@!%p1 ret;
isspacep.const %p1, %a;
@%p1 ret;
mov.u64 %t, cupilot_touch_table;
ld.volatile.global.u64 %stop, [%t];
setp.ne.u64 %p1, %stop, 0;
@%p1 exit;
cvt.u64.u32 %e, %n;
add.u64 %e, %a, %e;
sub.u64 %e, %e, 1;
ld.global.u64 %count, [%t+8];
mov.u64 %i, 0;
mov.u64 %at, %t;
$cupilot_next:
setp.ge.u64 %p1, %i, %count;
@%p1 bra $cupilot_foreign;
add.u64 %i, %i, 1;
add.u64 %at, %at, 32;
ld.global.v2.u64 {%b, %end}, [%at];
setp.lt.u64 %p1, %a, %b;
@%p1 bra $cupilot_next;
setp.ge.u64 %p1, %e, %end;
@%p1 bra $cupilot_next;
ld.global.v2.u64 {%reads, %writes}, [%at+16];
setp.ne.u32 %p1, %w, 0;
selp.b64 %map, %writes, %reads, %p1;
setp.eq.u64 %p1, %map, 0;
@%p1 ret;
and.b64 %b, %b, -64;
sub.u64 %g, %a, %b;
shr.u64 %g, %g, 6;
sub.u64 %last, %e, %b;
shr.u64 %last, %last, 6;
$cupilot_granule:
cvt.u32.u64 %bit, %g;
and.b32 %bit, %bit, 31;
mov.u32 %word, 1;
shl.b32 %word, %word, %bit;
shr.u64 %at, %g, 5;
shl.b64 %at, %at, 2;
add.u64 %at, %map, %at;
ld.volatile.global.u32 %old, [%at];
and.b32 %old, %old, %word;
setp.ne.u32 %p1, %old, 0;
@%p1 bra $cupilot_marked;
red.global.or.b32 [%at], %word;
$cupilot_marked:
add.u64 %g, %g, 1;
setp.le.u64 %p1, %g, %last;
@%p1 bra $cupilot_granule;
ret;
$cupilot_foreign:
setp.ne.u32 %p1, %w, 0;
@%p1 bra $cupilot_write;
st.volatile.global.u64 [%t+16], %a;
exit;
$cupilot_write:
st.volatile.global.u64 [%t+24], %a;
exit;
}
)";

namespace {
/// One access of global memory: what is called before it.
struct Access {
  std::string Address; ///< A register or number, and what is added: "%rd1, 16".
  std::string Bytes;   ///< A number or a register of 32 bits.
  bool Writes = false, Reads = false;
  bool IsGeneric = false;
};

class Marker {
public:
  Marker(const Module &M, std::string &Why) : M(M), Why(Why) {}
  std::optional<MarkedKernel> run(std::string_view Kernel);

private:
  bool fail(std::string Text) {
    Why = std::move(Text);
    return false;
  }
  bool function(Function &F);
  bool accesses(const Instruction &I, std::vector<Access> &Found);
  bool plain(const Instruction &I, const Operand &At, bool Reads, bool Writes,
             std::vector<Access> &Found);
  bool copy(const Instruction &I, std::vector<Access> &Found);
  bool add(const Operand &At, std::string Bytes, bool IsGeneric, bool Reads,
           bool Writes, std::vector<Access> &Found);
  bool insert(const Access &A, bool Writes, const Instruction &Before,
              std::vector<Statement> &Into);

  const Module &M;
  std::string &Why;
  std::vector<Fragment> Texts; ///< What inserted statements point into.
};
} // namespace

/// The space that an instruction names first; nothing: it is generic.
static std::optional<Space> spaceOf(const Instruction &I) {
  for (std::string_view Each : I.Modifiers)
    if (std::optional<Space> S = spaceOf(Each))
      return S;
  return std::nullopt;
}

static bool oneOf(std::string_view Word,
                  std::initializer_list<std::string_view> Words) {
  return std::ranges::find(Words, Word) != Words.end();
}

/// Without suffixes: "st.async", for messages.
static std::string nameOf(const Instruction &I) {
  std::string Name(I.Opcode);
  for (std::string_view Each : I.Modifiers)
    Name += "." + std::string(Each);
  return Name;
}

bool Marker::add(const Operand &At, std::string Bytes, bool IsGeneric,
                 bool Reads, bool Writes, std::vector<Access> &Found) {
  if (At.Kind != OperandKind::Address || At.Parts.empty())
    return fail("an access has no address");
  const Operand &Base = At.Parts.front();
  if (Base.Kind == OperandKind::Name && M.find(Base.Name))
    return true; // A variable by its name: recorded as a whole.
  Access A;
  if (Base.Kind == OperandKind::Name)
    A.Address = std::string(Base.Name) + ", " +
                std::to_string(static_cast<int64_t>(Base.Value));
  else
    A.Address = std::to_string(Base.Value) + ", 0";
  A.Bytes = std::move(Bytes);
  A.Reads = Reads;
  A.Writes = Writes;
  A.IsGeneric = IsGeneric;
  Found.push_back(std::move(A));
  return true;
}

/// ld, st, atom, red: the type stands last, the vector before it.
bool Marker::plain(const Instruction &I, const Operand &At, bool Reads,
                   bool Writes, std::vector<Access> &Found) {
  std::optional<Space> S = spaceOf(I);
  if (S && *S != Space::Global)
    return true;
  unsigned Vector = 1;
  std::optional<Type> Of;
  for (std::string_view Each : I.Modifiers) {
    if (oneOf(Each, {"v2", "v4", "v8"}))
      Vector = static_cast<unsigned>(Each[1] - '0');
    if (std::optional<Type> T = typeOf(Each))
      Of = T;
  }
  if (!Of || bitsOf(*Of) < 8)
    return fail("'" + nameOf(I) + "' has no type");
  return add(At, std::to_string(bitsOf(*Of) / 8 * Vector), !S, Reads, Writes,
             Found);
}

/// cp.async, cp.async.bulk, cp.reduce.async.bulk: to, from, bytes.
bool Marker::copy(const Instruction &I, std::vector<Access> &Found) {
  if (I.has("tensor"))
    return fail("it copies by tensor maps");
  if (I.has("prefetch") || I.Operands.size() < 3 ||
      I.Operands[0].Kind != OperandKind::Address ||
      I.Operands[1].Kind != OperandKind::Address)
    return true; // Groups and barriers.
  std::vector<Space> Spaces;
  for (std::string_view Each : I.Modifiers)
    if (std::optional<Space> S = spaceOf(Each))
      Spaces.push_back(*S);
  if (Spaces.size() < 2)
    return fail("'" + nameOf(I) + "' does not name its spaces");
  // The last number of cp.async says how much of it is read, if it is there.
  const Operand *Bytes = &I.Operands[2];
  if (!I.has("bulk") && I.Operands.size() > 3) {
    const Operand &Read = I.Operands[3];
    if (I.has("L2::cache_hint") || I.Operands.size() > 4 ||
        (Read.Kind != OperandKind::Integer && Read.Kind != OperandKind::Name))
      Bytes = &I.Operands[2]; // As much as it can be.
    else
      Bytes = &Read;
  }
  if (Bytes->Kind != OperandKind::Integer && Bytes->Kind != OperandKind::Name)
    return fail("'" + nameOf(I) + "' has no size");
  std::string Size = Bytes->Kind == OperandKind::Integer
                         ? std::to_string(Bytes->Value)
                         : std::string(Bytes->Name);
  if (Spaces[0] == Space::Global &&
      !add(I.Operands[0], Size, false, I.has("reduce"), true, Found))
    return false;
  return Spaces[1] != Space::Global ||
         add(I.Operands[1], Size, false, true, false, Found);
}

bool Marker::accesses(const Instruction &I, std::vector<Access> &Found) {
  auto At = std::ranges::find_if(I.Operands, [](const Operand &O) {
    return O.Kind == OperandKind::Address;
  });
  std::optional<Space> S = spaceOf(I);
  if (oneOf(I.Opcode, {"tex", "tld4", "txq", "suld", "sust", "sured", "suq"}))
    return fail("it uses textures or surfaces");
  if (At == I.Operands.end())
    return true;
  if (I.has("async") && I.Opcode != "cp")
    return true; // st.async, red.async: shared memory of a cluster.
  if (oneOf(I.Opcode, {"ld", "ldu"}))
    return plain(I, *At, true, false, Found);
  if (I.Opcode == "st")
    return I.has("bulk") || plain(I, *At, false, true, Found);
  if (oneOf(I.Opcode, {"atom", "red"}))
    return plain(I, *At, true, true, Found);
  if (I.Opcode == "cp")
    return copy(I, Found);
  if (I.Opcode == "discard")
    return add(*At, "128", !S, false, true, Found);
  if (I.Opcode == "wmma" && S && *S != Space::Global)
    return true;
  // Shared memory, or no access at all.
  if (oneOf(I.Opcode, {"ldmatrix", "stmatrix", "mbarrier", "prefetch",
                       "prefetchu", "applypriority", "call"}))
    return true;
  return fail("'" + nameOf(I) + "' is not marked");
}

bool Marker::insert(const Access &A, bool Writes, const Instruction &Before,
                    std::vector<Statement> &Into) {
  std::string Text = "{\n.reg .b64 %cupilot_at;\n.param .b64 cupilot_a0;\n"
                     ".param .b32 cupilot_a1;\n.param .b32 cupilot_a2;\n"
                     "add.s64 %cupilot_at, " +
                     A.Address + ";\n";
  if (!A.IsGeneric)
    Text += "cvta.global.u64 %cupilot_at, %cupilot_at;\n";
  Text += "st.param.b64 [cupilot_a0], %cupilot_at;\n"
          "st.param.b32 [cupilot_a1], " +
          A.Bytes + ";\nst.param.b32 [cupilot_a2], " + (Writes ? "1" : "0") +
          ";\n";
  if (!Before.Guard.empty())
    Text +=
        (Before.GuardNegated ? "@!" : "@") + std::string(Before.Guard) + " ";
  Text += "call cupilot_touch, (cupilot_a0, cupilot_a1, cupilot_a2);\n}\n";
  Diagnostic D;
  std::optional<Fragment> F = readFragment(std::move(Text), D);
  if (!F)
    return fail("its code cannot be marked: " + D.str());
  Into.insert(Into.end(), F->Statements.begin(), F->Statements.end());
  Texts.push_back(std::move(*F));
  return true;
}

bool Marker::function(Function &F) {
  std::vector<Statement> Body;
  for (Statement &S : F.Body) {
    if (const auto *I = S.as<Instruction>()) {
      std::vector<Access> Found;
      if (!accesses(*I, Found))
        return false;
      for (const Access &A : Found)
        if ((A.Reads && !insert(A, false, *I, Body)) ||
            (A.Writes && !insert(A, true, *I, Body)))
          return false;
    }
    Body.push_back(std::move(S));
  }
  F.Body = std::move(Body);
  return true;
}

std::optional<MarkedKernel> Marker::run(std::string_view Kernel) {
  const Function *K = M.function(Kernel);
  if (!K || !K->IsKernel || !K->HasBody) {
    Why = "its PTX has no such kernel";
    return std::nullopt;
  }
  std::vector<std::string_view> Names = reachOf(M, Kernel);
  auto Reached = [&](std::string_view Name) {
    return std::ranges::find(Names, Name) != Names.end();
  };
  PrintOptions Options;
  Options.DebugData = false;
  Options.Rename = [&](std::string_view Name) {
    return Name == Kernel ? std::string(TouchKernelName) : std::string(Name);
  };
  Module Head = M;
  Head.Items.clear();
  std::erase(Head.Target, "debug");
  MarkedKernel Made;
  Made.Text = print(Head, Options) + TouchFunction;
  for (const Item &Original : M.Items) {
    Item I = Original;
    if (auto *F = std::get_if<Function>(&I.Is)) {
      if (!Reached(F->Name))
        continue;
      if (oneOf(F->Name, {"vprintf", "malloc", "free"})) {
        Why = F->Name == "vprintf" ? "it prints" : "it allocates memory";
        return std::nullopt;
      }
      const Function *Defined = M.function(F->Name);
      if (!F->HasBody && !(Defined && Defined->HasBody) &&
          F->Name != "__assertfail") {
        Why = "it calls '" + std::string(F->Name) +
              "', which its unit does not hold";
        return std::nullopt;
      }
      if (!function(*F))
        return std::nullopt;
      if (F->Name == Kernel)
        F->Link = Linkage::Visible;
    } else if (auto *D = std::get_if<Declaration>(&I.Is)) {
      std::erase_if(D->Variables,
                    [&](const Variable &V) { return !Reached(V.Name); });
      if (D->Variables.empty())
        continue;
      for (Variable &V : D->Variables) {
        if (V.In != Space::Global && V.In != Space::Const)
          continue;
        if (V.Link == Linkage::Extern) {
          Why = "it uses the variable '" + std::string(V.Name) +
                "' of another unit";
          return std::nullopt;
        }
        V.Link = Linkage::Visible;
        Made.Variables.emplace_back(V.Name);
      }
    } else if (const auto *A = I.as<Alias>(); !A || !Reached(A->Name)) {
      continue;
    }
    Made.Text += print(I, Options);
  }
  return Made;
}

std::optional<MarkedKernel>
markAccesses(const Module &M, std::string_view Kernel, std::string &Why) {
  return Marker(M, Why).run(Kernel);
}

} // namespace cupilot::ptx
