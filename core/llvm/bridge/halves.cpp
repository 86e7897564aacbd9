// Integers of 64 bits that are two halves of 32, where ways meet: a float beside an index in a structure that a calling
// convention puts into one register.
//
//   w = phi i64 [or (zext a, shl (zext b, 32))], [w']       becomes       low = phi i32 [a], [low']
//   a' = trunc w, b' = trunc (lshr w, 32)                                 high = phi i32 [b], [high']
//
// LLVM takes apart what is put together in one place, but not over a merge, and a float in half of an integer has no
// derivative. Each web of merges (phis, selections, freezes) becomes two, if something that goes in is put together of
// halves, something that comes out takes a half, and one of these is a float. (Scalar replacement of aggregates, for
// registers: Muchnick, "Advanced Compiler Design and Implementation", section 12.2.)
//
// Invariants: values do not change; what uses a whole word gets it of its halves. Clean-up by InstCombine is left to
// the caller. Not handled: other widths, vectors, words in memory.

#include "support.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned kHalf = 32;
constexpr size_t kWebLimit = 200;

bool isMerge(const Value *value) {
  return value->getType()->isIntegerTy(2 * kHalf) && isa<PHINode, SelectInst, FreezeInst>(value);
}

// The operands that a merge hands on.
iterator_range<User::op_iterator> handedOn(Instruction &merge) {
  return {merge.op_begin() + (isa<SelectInst>(merge) ? 1 : 0), merge.op_end()};
}

// Whether a word is put together of halves.
bool isPacked(Value *word) {
  return match(word, m_c_Or(m_ZExt(m_Value()), m_Shl(m_Value(), m_SpecificInt(kHalf)))) ||
         match(word, m_ZExt(m_Value())) || match(word, m_Shl(m_ZExt(m_Value()), m_SpecificInt(kHalf)));
}

// Whether something is taken for a float, or made of one.
bool isFloat(Value *half) {
  const auto isReal = [](const Value *value) { return value->getType()->isFloatTy(); };
  Value *real = nullptr;
  // Constants keep no account of what uses them.
  if (isa<Constant>(half))
    return false;
  return (match(half, m_BitCast(m_Value(real))) && isReal(real)) ||
         any_of(half->users(), [&](User *user) { return isa<BitCastInst>(user) && isReal(user); });
}

bool takesHalf(User *user) {
  if (match(user, m_LShr(m_Value(), m_SpecificInt(kHalf))))
    return true;
  return isa<TruncInst>(user) && user->getType()->isIntegerTy(kHalf);
}

// Whether a half that is taken is a float.
bool takesFloat(User *user) {
  if (match(user, m_LShr(m_Value(), m_SpecificInt(kHalf))))
    return any_of(user->users(), [](User *half) { return isa<TruncInst>(half) && isFloat(half); });
  return isFloat(user);
}

// Whether a half that is put in is a float.
bool givesFloat(Value *word) {
  Value *low = nullptr, *high = nullptr;
  const bool both = match(word, m_c_Or(m_ZExt(m_Value(low)), m_Shl(m_ZExt(m_Value(high)), m_SpecificInt(kHalf))));
  return both && (isFloat(low) || isFloat(high));
}

class Halves {
public:
  explicit Halves(Function &function) : function_(function), half_(Type::getIntNTy(function.getContext(), kHalf)) {}

  bool run() {
    SmallVector<Instruction *, 16> merges;
    for (Instruction &inst : instructions(function_))
      if (isMerge(&inst))
        merges.push_back(&inst);
    bool changed = false;
    SmallPtrSet<const Instruction *, 16> done;
    for (Instruction *first : merges) {
      if (done.contains(first))
        continue;
      const SetVector<Instruction *> web = webOf(*first);
      done.insert_range(web);
      if (web.size() <= kWebLimit && isWorthIt(web)) {
        split(web);
        changed = true;
      }
    }
    return changed;
  }

private:
  static SetVector<Instruction *> webOf(Instruction &first) {
    SetVector<Instruction *> web;
    web.insert(&first);
    for (size_t n = 0; n < web.size() && web.size() <= kWebLimit; ++n) {
      for (Value *operand : handedOn(*web[n]))
        if (isMerge(operand))
          web.insert(cast<Instruction>(operand));
      for (User *user : web[n]->users())
        if (isMerge(user))
          web.insert(cast<Instruction>(user));
    }
    return web;
  }

  static bool isWorthIt(const SetVector<Instruction *> &web) {
    bool packed = false, taken = false, real = false;
    for (Instruction *merge : web) {
      packed |= any_of(handedOn(*merge), [](const Use &operand) { return isPacked(operand.get()); });
      taken |= any_of(merge->users(), takesHalf);
      real |= any_of(merge->users(), takesFloat) ||
              any_of(handedOn(*merge), [](const Use &operand) { return givesFloat(operand.get()); });
    }
    return packed && taken && real && none_of(web, [](const Instruction *merge) {
             const auto *phi = dyn_cast<PHINode>(merge);
             return phi && !hasRoom(*phi);
           });
  }

  // Whether halves can be taken where the ways come from, and put together where they meet.
  static bool hasRoom(const PHINode &phi) {
    const BasicBlock &block = *phi.getParent();
    if (block.isEHPad() || block.getFirstInsertionPt() == block.end())
      return false;
    for (unsigned n = 0, end = phi.getNumIncomingValues(); n < end; ++n) {
      const Instruction *terminator = phi.getIncomingBlock(n)->getTerminator();
      if (phi.getIncomingValue(n) == terminator || isa<CatchSwitchInst>(terminator))
        return false;
    }
    return true;
  }

  struct Pair {
    Value *low, *high;
  };

  // The halves of what goes into the web, taken before `before`, or as they were before they were put together: LLVM
  // moves a part that is taken behind the merge again.
  Pair halvesOf(Value &word, Instruction &before) {
    IRBuilder<> at(&before);
    Value *low = nullptr, *high = nullptr;
    const auto isHalf = [&](const Value *value) { return value->getType() == half_; };
    const auto upper = [&](Value *value) {
      Value *narrow = nullptr;
      return match(value, m_ZExt(m_Value(narrow))) && isHalf(narrow) ? narrow : at.CreateTrunc(value, half_);
    };
    if (match(&word, m_c_Or(m_ZExt(m_Value(low)), m_Shl(m_Value(high), m_SpecificInt(kHalf)))) && isHalf(low))
      return {low, upper(high)};
    if (match(&word, m_ZExt(m_Value(low))) && isHalf(low))
      return {low, ConstantInt::get(half_, 0)};
    if (match(&word, m_Shl(m_Value(high), m_SpecificInt(kHalf))))
      return {ConstantInt::get(half_, 0), upper(high)};
    return {at.CreateTrunc(&word, half_), at.CreateTrunc(at.CreateLShr(&word, kHalf), half_)};
  }

  void split(const SetVector<Instruction *> &web) {
    MapVector<Instruction *, Pair> made;
    for (Instruction *merge : web) {
      IRBuilder<> at(merge);
      const auto build = [&]() -> Value * {
        if (auto *phi = dyn_cast<PHINode>(merge))
          return at.CreatePHI(half_, phi->getNumIncomingValues());
        Value *none = PoisonValue::get(half_);
        if (auto *select = dyn_cast<SelectInst>(merge))
          return SelectInst::Create(select->getCondition(), none, none, "", merge->getIterator());
        return new FreezeInst(none, "", merge->getIterator());
      };
      Value *low = build();
      made.insert({merge, {low, build()}});
    }
    for (auto &[merge, pair] : made) {
      auto *low = cast<Instruction>(pair.low), *high = cast<Instruction>(pair.high);
      const auto found = [&](Value *word, Instruction &before) {
        const auto known = isMerge(word) ? made.find(cast<Instruction>(word)) : made.end();
        return known == made.end() ? halvesOf(*word, before) : known->second;
      };
      if (auto *phi = dyn_cast<PHINode>(merge)) {
        DenseMap<BasicBlock *, Pair> from;
        for (unsigned n = 0, end = phi->getNumIncomingValues(); n < end; ++n) {
          BasicBlock *block = phi->getIncomingBlock(n);
          const auto [at, isNew] = from.try_emplace(block, Pair{nullptr, nullptr});
          if (isNew)
            at->second = found(phi->getIncomingValue(n), *block->getTerminator());
          cast<PHINode>(low)->addIncoming(at->second.low, block);
          cast<PHINode>(high)->addIncoming(at->second.high, block);
        }
        continue;
      }
      for (unsigned n = isa<SelectInst>(merge) ? 1 : 0, end = merge->getNumOperands(); n < end; ++n) {
        const Pair given = found(merge->getOperand(n), *low);
        low->setOperand(n, given.low);
        high->setOperand(n, given.high);
      }
    }
    for (auto &[merge, pair] : made) {
      const auto isOutside = [&](const Use &use) { return !web.contains(cast<Instruction>(use.getUser())); };
      for (User *user : SmallVector<User *, 8>(merge->users()))
        if (takesHalf(user)) {
          const bool isLow = isa<TruncInst>(user);
          IRBuilder<> here(cast<Instruction>(user));
          user->replaceAllUsesWith(isLow ? pair.low : here.CreateZExt(pair.high, merge->getType()));
        }
      if (none_of(merge->uses(), isOutside))
        continue;
      IRBuilder<> at(merge);
      if (isa<PHINode>(merge))
        at.SetInsertPoint(merge->getParent(), merge->getParent()->getFirstInsertionPt());
      Value *high = at.CreateShl(at.CreateZExt(pair.high, merge->getType()), kHalf);
      Value *whole = at.CreateOr(at.CreateZExt(pair.low, merge->getType()), high);
      merge->replaceUsesWithIf(whole, [&](Use &use) { return isOutside(use); });
    }
    for (Instruction *merge : web)
      merge->replaceAllUsesWith(PoisonValue::get(merge->getType()));
    for (Instruction *merge : web)
      merge->eraseFromParent();
  }

  Function &function_;
  Type *half_;
};

} // namespace

bool enz::separateHalves(Function &function) { return Halves(function).run(); }
