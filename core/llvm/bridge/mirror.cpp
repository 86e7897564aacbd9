// Vector loops that run backward compute with the lanes as they lie in memory.
//
// A reverse sweep runs from the last iteration to the first. LLVM's vectoriser turns each vector that it reads there
// around, so that the first lane is the first iteration, and turns what is stored around again. Where all that is done
// between is done lane by lane, none of this is needed. Here each vector of a loop is given an orientation, as it is or
// mirrored, and a turn stays only where two meet that differ:
//
//   a = turn(load p);  b = turn(load q);          a' = load p;  b' = load q;
//   store turn(a * b)                      ->     store a' * b'
//
// Loads and stores are oriented as they are. A turn is free where what it turns differs in orientation from its result;
// so is any other choice of lanes, as its list of lanes can be another one. The orientations are found by colouring the
// graph of operands and uses from memory on, and by single changes from there while these lower the number of turns (a
// graph is coloured without conflict by one walk if it can be at all; local search for the rest: Papadimitriou,
// Steiglitz, "Combinatorial Optimization", chapter 19).
//
// Nothing is moved, and no lane computes anything else: only its number changes. Not handled: vectors of unknown
// length; operations that are not lane by lane (their operands and results stay as they are).

#include "support.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

// Larger loops are left alone, for the time that the search takes.
constexpr size_t kMostVectors = 1000;
// Rounds of single changes.
constexpr unsigned kMostRounds = 8;

unsigned lanesOf(const Type *type) {
  const auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 0;
}

bool isTurn(const Value *value) {
  const auto *shuffle = dyn_cast<ShuffleVectorInst>(value);
  return shuffle && shuffle->isReverse() && isa<PoisonValue>(shuffle->getOperand(1));
}

// Whether lane i of the result is made of lane i of each operand that is a vector, and of nothing else of them.
bool isLaneByLane(const Instruction &inst) {
  const unsigned lanes = lanesOf(inst.getType());
  if (const auto *call = dyn_cast<IntrinsicInst>(&inst)) {
    if (!isTriviallyVectorizable(call->getIntrinsicID()))
      return false;
  } else if (!isa<UnaryOperator, BinaryOperator, CmpInst, SelectInst, CastInst, FreezeInst, GetElementPtrInst, PHINode>(
                 inst)) {
    return false;
  }
  return all_of(inst.operands(), [&](const Use &operand) {
    const Type *type = operand->getType();
    return type->isVectorTy() ? lanesOf(type) == lanes : !isa<CastInst>(inst);
  });
}

// Whether a choice of lanes takes neighbours from two vectors (1), or takes them backward (-1): both are cheap where
// the vectors and the result are oriented so that it is the former.
int directionOf(const ShuffleVectorInst &shuffle) {
  const ArrayRef<int> lanes = shuffle.getShuffleMask();
  if (lanesOf(shuffle.getOperand(0)->getType()) != lanes.size())
    return 0;
  for (const int step : {1, -1}) {
    bool follows = true;
    for (size_t lane = 1; lane < lanes.size(); ++lane)
      follows &= lanes[lane] >= 0 && lanes[lane - 1] >= 0 && lanes[lane] == lanes[lane - 1] + step;
    if (follows)
      return step;
  }
  return 0;
}

// A choice of lanes: any orientation of its operands and its result is another list of lanes.
const ShuffleVectorInst *asChoice(const Value *value) {
  const auto *shuffle = dyn_cast<ShuffleVectorInst>(value);
  return shuffle && lanesOf(shuffle->getType()) > 1 && lanesOf(shuffle->getOperand(0)->getType()) > 1 ? shuffle
                                                                                                      : nullptr;
}

// Sums and the like over all lanes, in any order.
bool isOrderless(const User &user) {
  const auto *call = dyn_cast<IntrinsicInst>(&user);
  if (!call)
    return false;
  switch (call->getIntrinsicID()) {
  case Intrinsic::vector_reduce_fadd:
  case Intrinsic::vector_reduce_fmul:
    return call->hasAllowReassoc();
  case Intrinsic::vector_reduce_add:
  case Intrinsic::vector_reduce_mul:
  case Intrinsic::vector_reduce_and:
  case Intrinsic::vector_reduce_or:
  case Intrinsic::vector_reduce_xor:
  case Intrinsic::vector_reduce_smax:
  case Intrinsic::vector_reduce_smin:
  case Intrinsic::vector_reduce_umax:
  case Intrinsic::vector_reduce_umin:
  case Intrinsic::vector_reduce_fmax:
  case Intrinsic::vector_reduce_fmin:
  case Intrinsic::vector_reduce_fmaximum:
  case Intrinsic::vector_reduce_fminimum:
    return true;
  default:
    return false;
  }
}

bool isLaneAccess(const User &user, const Value &vector) {
  if (const auto *extract = dyn_cast<ExtractElementInst>(&user))
    return isa<ConstantInt>(extract->getIndexOperand());
  const auto *insert = dyn_cast<InsertElementInst>(&user);
  return insert && insert->getOperand(0) == &vector && isa<ConstantInt>(insert->getOperand(2));
}

class Mirror {
public:
  explicit Mirror(Loop &loop) : loop_(loop) {}

  bool run() {
    if (!loop_.getLoopPreheader() || !collect())
      return false;
    const size_t before = turns();
    if (before == 0)
      return false;
    colour();
    size_t now = improve();
    if (now >= before)
      return false;
    rewrite();
    return true;
  }

private:
  // Two vectors that need a turn between them if their orientations differ (or, with `across`, if they agree).
  struct Edge {
    unsigned from, to;
    bool across;
  };

  bool collect() {
    size_t turned = 0;
    for (BasicBlock *block : loop_.blocks())
      for (Instruction &inst : *block)
        if (lanesOf(inst.getType()) > 1) {
          if (vectors_.size() == kMostVectors || inst.isTerminator())
            return false;
          number_[&inst] = vectors_.size();
          vectors_.push_back(&inst);
          turned += isTurn(&inst);
        }
    if (turned == 0)
      return false;
    fixed_.assign(vectors_.size(), false);
    for (unsigned v = 0; v < vectors_.size(); ++v)
      classify(v);
    near_.resize(vectors_.size());
    for (unsigned e = 0; e < edges_.size(); ++e) {
      near_[edges_[e].from].push_back(e);
      near_[edges_[e].to].push_back(e);
    }
    mirrored_.assign(vectors_.size(), false);
    return true;
  }

  // What binds the orientation of a vector: its own operation, and its uses.
  void classify(unsigned v) {
    Instruction &inst = *vectors_[v];
    const bool insertion = isa<InsertElementInst>(inst) && isa<ConstantInt>(inst.getOperand(2));
    const ShuffleVectorInst *choice = asChoice(&inst);
    const int direction = choice ? directionOf(*choice) : insertion || isLaneByLane(inst);
    if (direction != 0) {
      for (const Use &operand : inst.operands())
        if (const auto found = number_.find(operand.get()); found != number_.end())
          edges_.push_back({found->second, v, direction < 0});
    } else if (!choice) {
      fixed_[v] = true;
    }
    for (const Use &use : inst.uses())
      if (!canFollow(use))
        fixed_[v] = true;
  }

  // Whether the use can be of the mirrored vector, with a turn before it at most.
  bool canFollow(const Use &use) const {
    const auto *user = cast<Instruction>(use.getUser());
    if (loop_.contains(user))
      return number_.contains(user) ? isa<ShuffleVectorInst>(user)   ? asChoice(user) != nullptr
                                      : isa<InsertElementInst>(user) ? isLaneAccess(*user, *use.get())
                                                                     : isLaneByLane(*user)
                                    : isLaneAccess(*user, *use.get()) || isOrderless(*user) || isOfMemory(use);
    // After the loop: a phi there must have one block alone before it.
    const auto *phi = dyn_cast<PHINode>(user);
    return !phi || phi->getNumIncomingValues() == 1;
  }

  // Values that are stored stay as they are, or are turned before.
  static bool isOfMemory(const Use &use) { return isa<StoreInst>(use.getUser()) && use.getOperandNo() == 0; }

  size_t costOf(const Edge &edge) const { return mirrored_[edge.from] ^ mirrored_[edge.to] ^ edge.across; }

  size_t costAt(unsigned v) const {
    size_t cost = mirrored_[v] * storesOf(v);
    for (const unsigned e : near_[v])
      cost += costOf(edges_[e]);
    return cost;
  }

  size_t storesOf(unsigned v) const { return count_if(vectors_[v]->uses(), isOfMemory); }

  size_t turns() const {
    size_t cost = 0;
    for (const Edge &edge : edges_)
      cost += costOf(edge);
    for (unsigned v = 0; v < vectors_.size(); ++v)
      cost += mirrored_[v] * storesOf(v);
    return cost;
  }

  // From what is fixed, and then from what is stored, outward; each vector as the one that it was come to from wants
  // it.
  void colour() {
    std::vector<bool> seen = fixed_;
    SmallVector<unsigned, 64> queue;
    const auto walk = [&] {
      for (size_t next = 0; next < queue.size(); ++next)
        for (const unsigned e : near_[queue[next]]) {
          const Edge &edge = edges_[e];
          const unsigned other = edge.from == queue[next] ? edge.to : edge.from;
          if (seen[other])
            continue;
          seen[other] = true;
          mirrored_[other] = mirrored_[queue[next]] ^ edge.across;
          queue.push_back(other);
        }
      queue.clear();
    };
    for (unsigned v = 0; v < vectors_.size(); ++v)
      if (fixed_[v])
        queue.push_back(v);
    walk();
    for (const bool stored : {true, false})
      for (unsigned v = 0; v < vectors_.size(); ++v)
        if (!seen[v] && (!stored || storesOf(v) > 0)) {
          seen[v] = true;
          queue.push_back(v);
          walk();
        }
  }

  size_t improve() {
    for (unsigned round = 0; round < kMostRounds; ++round) {
      bool changed = false;
      for (unsigned v = 0; v < vectors_.size(); ++v) {
        if (fixed_[v])
          continue;
        const size_t before = costAt(v);
        mirrored_[v].flip();
        if (costAt(v) < before)
          changed = true;
        else
          mirrored_[v].flip();
      }
      if (!changed)
        break;
    }
    return turns();
  }

  bool isMirrored(const Value *value) const {
    const auto found = number_.find(value);
    return found != number_.end() && mirrored_[found->second];
  }

  static Value *turned(Value *vector, Instruction *before) {
    if (isa<PoisonValue, UndefValue>(vector) || getSplatValue(vector))
      return vector;
    IRBuilder<> build(before);
    SmallVector<int, 16> lanes;
    for (unsigned lane = lanesOf(vector->getType()); lane-- > 0;)
      lanes.push_back(static_cast<int>(lane));
    return build.CreateShuffleVector(vector, lanes);
  }

  // The operand in the other orientation.
  Value *other(Value *vector, Instruction *before) {
    auto &found = other_[vector];
    if (found)
      return found;
    auto *inst = dyn_cast<Instruction>(vector);
    if (!inst || !loop_.contains(inst))
      return found = turned(vector, loop_.getLoopPreheader()->getTerminator());
    Instruction *after = isa<PHINode>(inst) ? &*inst->getParent()->getFirstInsertionPt() : inst->getNextNode();
    return found = turned(vector, after ? after : before);
  }

  void rewrite() {
    // Uses after the loop first: a phi there takes what it is given, and is turned.
    for (unsigned v = 0; v < vectors_.size(); ++v)
      if (mirrored_[v])
        turnAfter(*vectors_[v]);
    SmallVector<Instruction *, 32> gone;
    for (unsigned v = 0; v < vectors_.size(); ++v) {
      Instruction &inst = *vectors_[v];
      if (isTurn(&inst)) {
        const bool differ = isMirrored(inst.getOperand(0)) != mirrored_[v];
        if (differ && number_.contains(inst.getOperand(0)))
          gone.push_back(&inst);
        else if (mirrored_[v])
          chooseLanes(cast<ShuffleVectorInst>(inst));
        continue;
      }
      if (asChoice(&inst)) {
        chooseLanes(cast<ShuffleVectorInst>(inst));
        continue;
      }
      if (fixed_[v] && !isLaneByLane(inst) && !isa<InsertElementInst>(inst))
        continue;
      if (auto *insert = dyn_cast<InsertElementInst>(&inst); insert && mirrored_[v])
        insert->setOperand(2, mirroredLane(*insert, 2));
      for (Use &operand : inst.operands())
        if (lanesOf(operand->getType()) == lanesOf(inst.getType()) && isMirrored(operand) != mirrored_[v])
          wanted_.push_back(&operand);
    }
    for (unsigned v = 0; v < vectors_.size(); ++v) {
      if (!mirrored_[v])
        continue;
      for (Use &use : vectors_[v]->uses())
        if (auto *user = cast<Instruction>(use.getUser()); loop_.contains(user) && !number_.contains(user)) {
          if (isa<ExtractElementInst>(user))
            user->setOperand(1, mirroredLane(*user, 1));
          else if (isOfMemory(use))
            wanted_.push_back(&use);
        }
    }
    for (Use *use : wanted_)
      use->set(other(use->get(), cast<Instruction>(use->getUser())));
    for (Instruction *turn : gone) {
      turn->replaceAllUsesWith(turn->getOperand(0));
      turn->eraseFromParent();
    }
  }

  static Value *mirroredLane(const Instruction &inst, unsigned operand) {
    const auto *lane = cast<ConstantInt>(inst.getOperand(operand));
    const unsigned lanes = lanesOf(inst.getOperand(0)->getType());
    return lane->getValue().ult(lanes) ? ConstantInt::get(lane->getType(), lanes - 1 - lane->getZExtValue())
                                       : inst.getOperand(operand);
  }

  void turnAfter(Instruction &vector) {
    SmallVector<Use *, 4> uses;
    for (Use &use : vector.uses())
      if (!loop_.contains(cast<Instruction>(use.getUser())))
        uses.push_back(&use);
    for (Use *use : uses) {
      auto *user = cast<Instruction>(use->getUser());
      auto *phi = dyn_cast<PHINode>(user);
      if (!phi) {
        if (isa<ExtractElementInst>(user) && isLaneAccess(*user, vector))
          user->setOperand(1, mirroredLane(*user, 1));
        else if (!isOrderless(*user))
          use->set(turned(&vector, user));
        continue;
      }
      if (all_of(phi->users(), [](const User *one) { return isOrderless(*one); }))
        continue;
      Value *turn = turned(phi, &*phi->getParent()->getFirstInsertionPt());
      phi->replaceUsesWithIf(turn, [turn](const Use &one) { return one.getUser() != turn; });
    }
  }

  // The same choice, of operands and for a result that are oriented as they now are.
  void chooseLanes(ShuffleVectorInst &shuffle) {
    const int lanes = static_cast<int>(lanesOf(shuffle.getOperand(0)->getType()));
    SmallVector<int, 16> chosen(shuffle.getShuffleMask());
    if (isMirrored(&shuffle))
      std::reverse(chosen.begin(), chosen.end());
    for (int &from : chosen) {
      const bool second = from >= lanes;
      if (from >= 0 && isMirrored(shuffle.getOperand(second)))
        from = second ? 3 * lanes - 1 - from : lanes - 1 - from;
    }
    shuffle.setShuffleMask(chosen);
  }

  Loop &loop_;
  SmallVector<Instruction *, 64> vectors_;
  DenseMap<const Value *, unsigned> number_;
  std::vector<bool> fixed_, mirrored_;
  SmallVector<Edge, 128> edges_;
  std::vector<SmallVector<unsigned, 4>> near_;
  SmallVector<Use *, 32> wanted_;
  DenseMap<Value *, Value *> other_;
};

} // namespace

bool enz::mirrorVectors(LoopInfo &loops) {
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost())
      changed |= Mirror(*loop).run();
  return changed;
}
