// Buffers that change places from step to step: the pointers to them that a loop carries become a number.
//
//   for (...) { next from now; swap(now, next); }
//
// Where the header's phis pass pointers on in a circle, each is one of the pointers of before the loop, by how often
// the circle has turned. So the loop carries that count, modulo the length of the circle, and no pointer:
//
//   turn = phi [0], [turn + 1 mod 2];  now = turn == 0 ? a : b;  next = turn == 0 ? b : a
//
// All choices of a circle hang on the same conditions, by which LLVM sees that no two of its pointers are the same one.
// What the loop leaves behind of them is chosen behind it, by a number too.
//
// Not handled: circles that turn under a condition, and pointers that come together with others where the loop is left.

#include "checkpoint.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

#include <map>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// Longer circles are left alone.
constexpr unsigned kLongest = 8;

// How often circles of one length have turned, and whether that is 0, 1, ...
struct Turn {
  PHINode *count = nullptr;
  SmallVector<Instruction *, 4> is;
};

struct Circle {
  Loop &loop;
  // The phis, each of which the one before it takes its next value from.
  SmallVector<PHINode *, 4> phis;
  SmallVector<Value *, 4> first;
  SmallSetVector<PHINode *, 4> exits;

  // From `phi` on; false if it is part of none.
  bool follow(PHINode &phi);
  // `turns`: the counts that the loop has already, by their modulus.
  void number(std::map<unsigned, Turn> &turns);

private:
  std::optional<unsigned> placeOf(const Value *value) const {
    const auto *at = find(phis, value);
    return at == phis.end() ? std::nullopt : std::optional(static_cast<unsigned>(at - phis.begin()));
  }
  bool findExits();
};

bool Circle::follow(PHINode &phi) {
  BasicBlock *latch = loop.getLoopLatch(), *before = loop.getLoopPreheader();
  for (PHINode *at = &phi;;) {
    if (at->getParent() != loop.getHeader() || phis.size() == kLongest || is_contained(phis, at))
      return false;
    phis.push_back(at);
    first.push_back(at->getIncomingValueForBlock(before));
    at = dyn_cast<PHINode>(at->getIncomingValueForBlock(latch));
    if (at == &phi)
      return phis.size() > 1 && findExits();
    if (!at)
      return false;
  }
}

// Behind the loop they are used through phis alone, each of which is one of them on every way.
bool Circle::findExits() {
  for (PHINode *phi : phis)
    for (User *user : phi->users()) {
      auto *inst = cast<Instruction>(user);
      if (loop.contains(inst))
        continue;
      auto *exit = dyn_cast<PHINode>(inst);
      if (!exit || !all_of(exit->incoming_values(), [&](const Use &use) { return placeOf(use.get()).has_value(); }))
        return false;
      exits.insert(exit);
    }
  return true;
}

void Circle::number(std::map<unsigned, Turn> &turns) {
  const auto count = static_cast<unsigned>(phis.size());
  BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
  IRBuilder<> build(header, header->begin());
  const auto modulo = [&](Value *sum) {
    return build.CreateSelect(build.CreateICmpUGE(sum, build.getInt32(count)),
                              build.CreateSub(sum, build.getInt32(count)), sum);
  };
  auto &[turn, is] = turns[count];
  if (!turn) {
    turn = build.CreatePHI(build.getInt32Ty(), 2, "enzyme.turn");
    build.SetInsertPoint(latch->getTerminator());
    Value *next =
        count == 2 ? build.CreateXor(turn, build.getInt32(1)) : modulo(build.CreateAdd(turn, build.getInt32(1)));
    turn->addIncoming(build.getInt32(0), loop.getLoopPreheader());
    turn->addIncoming(next, latch);
    build.SetInsertPoint(header, header->getFirstInsertionPt());
    for (unsigned n = 0; n + 1 < count; ++n)
      is.push_back(cast<Instruction>(build.CreateICmpEQ(turn, build.getInt32(n))));
  }
  build.SetInsertPoint(is.back()->getParent(), std::next(is.back()->getIterator()));
  SmallVector<Value *, 4> chosen, places;
  for (unsigned place = 0; place < count; ++place) {
    Value *value = first[(place + count - 1) % count];
    for (unsigned n = count - 1; n-- > 0;)
      value = build.CreateSelect(is[n], first[(place + n) % count], value, phis[place]->getName());
    chosen.push_back(value);
    places.push_back(place ? modulo(build.CreateAdd(turn, build.getInt32(place))) : turn);
  }
  for (PHINode *exit : exits) {
    build.SetInsertPoint(exit);
    PHINode *which = build.CreatePHI(build.getInt32Ty(), exit->getNumIncomingValues(), "enzyme.turn");
    for (unsigned n = 0; n < exit->getNumIncomingValues(); ++n)
      which->addIncoming(places[*placeOf(exit->getIncomingValue(n))], exit->getIncomingBlock(n));
    build.SetInsertPoint(exit->getParent(), exit->getParent()->getFirstInsertionPt());
    Value *value = first[count - 1];
    for (unsigned n = count - 1; n-- > 0;)
      value = build.CreateSelect(build.CreateICmpEQ(which, build.getInt32(n)), first[n], value);
    exit->replaceAllUsesWith(value);
  }
  for (PHINode *exit : exits)
    exit->eraseFromParent();
  for (unsigned place = 0; place < count; ++place)
    phis[place]->replaceAllUsesWith(chosen[place]);
  for (PHINode *phi : phis)
    phi->eraseFromParent();
}

} // namespace

bool enz::numberRotations(Loop &loop) {
  if (!loop.getLoopPreheader() || !loop.getLoopLatch() || !loop.hasDedicatedExits())
    return false;
  std::map<unsigned, Turn> turns;
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    for (PHINode &phi : loop.getHeader()->phis()) {
      if (!phi.getType()->isPointerTy())
        continue;
      Circle circle{loop, {}, {}, {}};
      if (!circle.follow(phi))
        continue;
      circle.number(turns);
      any = again = true;
      break;
    }
  }
  return any;
}

SmallVector<Value *, 4> enz::placesOf(Value *pointer, const Loop &loop) {
  SmallVector<Value *, 4> out;
  PHINode *turn = nullptr;
  while (auto *select = dyn_cast<SelectInst>(pointer)) {
    const auto *is = dyn_cast<ICmpInst>(select->getCondition());
    auto *phi = is ? dyn_cast<PHINode>(is->getOperand(0)) : nullptr;
    if (!phi || (turn && phi != turn) || is->getPredicate() != ICmpInst::ICMP_EQ ||
        !match(is->getOperand(1), m_SpecificInt(out.size())))
      return {};
    turn = phi;
    out.push_back(select->getTrueValue());
    pointer = select->getFalseValue();
  }
  out.push_back(pointer);
  // It counts from 0, at least as far as there are places.
  if (!turn || turn->getParent() != loop.getHeader() ||
      !match(turn->getIncomingValueForBlock(loop.getLoopPreheader()), m_Zero()))
    return {};
  Value *next = turn->getIncomingValueForBlock(loop.getLoopLatch());
  const auto one_more = m_c_Add(m_Specific(turn), m_One());
  const bool counts = (out.size() == 2 && match(next, m_c_Xor(m_Specific(turn), m_One()))) || match(next, one_more) ||
                      match(next, m_Select(m_SpecificICmp(ICmpInst::ICMP_UGE, one_more, m_SpecificInt(out.size())),
                                           m_Value(), one_more));
  return counts ? out : SmallVector<Value *, 4>();
}
