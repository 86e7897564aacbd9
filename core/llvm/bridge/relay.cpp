// Sums that neighbouring iterations of a derivative's loop make at one place go from one iteration to the next in
// registers, and to memory once.
//
// The adjoint of a stencil adds to s[j - 1], s[j] and s[j + 1] in iteration j. The last of these to come to an element
// stores it; what the others add is handed on until then:
//
//   for j in 0..n:                          x = y = 0
//     s[j - 1] += a(j)                      for j in 0..n:  s[j - 1] += x + a(j);  x = y + b(j);  y = c(j)
//     s[j] += b(j);  s[j + 1] += c(j)       s[n - 1] += x;  s[n] += y
//
// LLVM makes vectors of such loops ("fixed-order recurrences"), and would have found these numbers itself
// (LoopLoadElimination) where it knows that nothing else meets the elements. Arrays that swap places after each step of
// a simulation are addresses that were kept, of which nothing is known: here the ranges are compared before the loop,
// and it is said of the copy that no iteration depends on another by memory.
// (Callahan, Carr, Kennedy, "Improving register allocation for subscripted variables", PLDI 1990: scalar replacement.)
//
// Which loops are taken: see loopsums.cpp; besides, sums into one array must be few elements from each other, or rows
// apart, and what else is written must be touched in that iteration alone.

#include "loopsums.h"

#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

// Iterations for which a sum is handed on.
constexpr int64_t kFarthest = 4;
// Comparisons before a loop, each of two ranges.
constexpr size_t kMostChecks = 24;

// Sums into neighbouring elements.
struct Group {
  // With the iterations that it takes until the element of the last one is reached.
  SmallVector<std::pair<const enz::Target *, int64_t>, 4> members;

  int64_t reach() const {
    int64_t out = 0;
    for (const auto &[target, ahead] : members)
      out = std::max(out, ahead);
    return out;
  }
  const enz::Target &last() const {
    return *find_if(members, [](const auto &member) { return member.second == 0; })->first;
  }
};

class Relay {
public:
  Relay(enz::LoopSums &sums, LoopInfo &loops)
      : sums_(sums), loops_(loops), block_(sums.block()), evolution_(sums.evolution()) {}

  bool run(SmallPtrSetImpl<const BasicBlock *> &done) {
    if (!group() || !findChecks())
      return false;
    SCEVExpander expander(evolution_, "relay");
    if (!sums_.canExpand(expander, checks_))
      return false;
    done.insert(&block_);
    formLCSSA(sums_.loop(), sums_.dominators(), &loops_, &evolution_);
    rewrite(expander, done);
    return true;
  }

private:
  // False if sums are so near to each other that they meet, and too far to be handed on.
  bool group() {
    for (const enz::Target &target : sums_.targets()) {
      Group *at = nullptr;
      for (Group &each : groups_) {
        const enz::Place &first = each.members.front().first->place;
        const auto *distance = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(target.place.whole, first.whole));
        if (!distance || distance->getAPInt().getSignificantBits() > 32)
          continue;
        const int64_t bytes = distance->getAPInt().getSExtValue();
        if (first.step != target.place.step || bytes % first.step != 0 || std::abs(bytes / first.step) > kFarthest)
          continue;
        each.members.emplace_back(&target, bytes / first.step);
        at = &each;
        break;
      }
      if (!at)
        groups_.push_back(Group{{{&target, 0}}});
    }
    for (Group &each : groups_) {
      int64_t least = 0;
      for (const auto &[target, ahead] : each.members)
        least = std::min(least, ahead);
      for (auto &[target, ahead] : each.members)
        ahead -= least;
      if (each.reach() > kFarthest)
        return false;
    }
    return true;
  }

  enz::Bytes rangeOf(const Group &group) {
    const enz::Place &first = group.members.front().first->place;
    enz::Bytes out = sums_.rangeOf(first);
    int64_t low = 0, high = 0;
    for (const auto &[target, ahead] : group.members) {
      const int64_t bytes = (ahead - group.members.front().second) * first.step;
      low = std::min(low, bytes);
      high = std::max(high, bytes);
    }
    const auto moved = [&](const SCEV *from, int64_t bytes) {
      Type *index = evolution_.getEffectiveSCEVType(from->getType());
      return evolution_.getAddExpr(from, evolution_.getConstant(index, static_cast<uint64_t>(bytes), true));
    };
    return {moved(out.from, low), moved(out.to, high)};
  }

  bool areApart(const enz::Bytes &a, const enz::Bytes &b) {
    const auto below = [&](const enz::Bytes &one, const enz::Bytes &other) {
      return evolution_.isKnownNonNegative(evolution_.getMinusSCEV(other.from, one.to));
    };
    return below(a, b) || below(b, a);
  }

  // Whether two places of one array are as far from each other in each iteration of the loop around, by a number that
  // is known at run time: as rows of a grid are.
  bool areRows(const enz::Place &one, const enz::Place &other) {
    const Loop *around = sums_.loop().getParentLoop();
    const SCEV *distance = evolution_.getMinusSCEV(one.whole, other.whole);
    return around && !isa<SCEVConstant, SCEVCouldNotCompute>(distance) && evolution_.isLoopInvariant(distance, around);
  }

  // What must be compared so that no iteration depends on another: sums with other sums as well, and the rest among
  // itself.
  bool findChecks() {
    checks_.assign(sums_.checks().begin(), sums_.checks().end());
    BatchAAResults aliases(sums_.aliases());
    for (size_t i = 0; i < groups_.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const enz::Place &one = groups_[i].last().place, &other = groups_[j].last().place;
        if (aliases.isNoAlias(enz::LoopSums::around(one), enz::LoopSums::around(other)))
          continue;
        const enz::Bytes first = rangeOf(groups_[i]), second = rangeOf(groups_[j]);
        if (evolution_.getPointerBase(one.whole) != evolution_.getPointerBase(other.whole) || areRows(one, other))
          checks_.emplace_back(first, second);
        else if (!areApart(first, second))
          return false;
      }
    return checkOthers(aliases) && checks_.size() <= kMostChecks;
  }

  // What must be compared of all else that the loop writes and touches.
  bool checkOthers(BatchAAResults &aliases) {
    for (const enz::Place &store : sums_.others()) {
      if (!isa<StoreInst>(store.access))
        continue;
      if (!store.address || std::abs(store.step) < static_cast<int64_t>(store.size))
        return false;
      for (const enz::Place &other : sums_.others()) {
        // An element of its own in each iteration.
        if (store.whole == other.whole && store.size == other.size)
          continue;
        if (aliases.isNoAlias(enz::LoopSums::around(store), enz::LoopSums::around(other)))
          continue;
        const enz::Bytes first = sums_.rangeOf(store), second = sums_.rangeOf(other);
        if (evolution_.getPointerBase(store.whole) != evolution_.getPointerBase(other.whole))
          checks_.emplace_back(first, second);
        else if (!areApart(first, second))
          return false;
      }
    }
    return true;
  }

  // What all members of `group` that are `ahead` of the last one add in an iteration; null if there are none.
  Value *amountOf(IRBuilder<> &build, const Group &group, int64_t ahead, ValueToValueMapTy &map) {
    Value *total = nullptr;
    for (const auto &[target, by] : group.members) {
      if (by != ahead)
        continue;
      Value *amount = enz::LoopSums::amountOf(build, target->sum, map);
      build.setFastMathFlags(target->sum.operations.front()->getFastMathFlags());
      total = total ? build.CreateFAdd(total, amount) : amount;
    }
    return total;
  }

  void rewrite(SCEVExpander &expander, SmallPtrSetImpl<const BasicBlock *> &done) {
    Function &function = *block_.getParent();
    const auto [before, as_it_was, count, apart, where] = sums_.enter(expander, loops_, checks_);
    Type *element = sums_.element();
    auto block = [&, end = as_it_was](const char *name) {
      return BasicBlock::Create(function.getContext(), name, &function, end);
    };
    // The first element that each group stores.
    SmallVector<Value *, 8> starts;
    for (const Group &group : groups_) {
      const SCEV *start = group.last().place.address->getStart();
      starts.push_back(expander.expandCodeFor(start, start->getType(), before->getTerminator()));
    }
    BasicBlock *relay = block("relay"), *behind = block("relay.behind");
    ReplaceInstWithInst(before->getTerminator(), BranchInst::Create(relay, as_it_was, apart));

    // The loop without its sums.
    IRBuilder<> build(relay);
    ValueToValueMapTy map;
    SmallVector<std::pair<PHINode *, PHINode *>, 8> phis;
    for (PHINode &phi : block_.phis()) {
      PHINode *copy = build.CreatePHI(phi.getType(), 2, phi.getName());
      copy->addIncoming(phi.getIncomingValueForBlock(as_it_was), before);
      phis.emplace_back(&phi, copy);
      map[&phi] = copy;
    }
    SmallVector<SmallVector<PHINode *, 4>, 8> handed(groups_.size());
    for (auto [group, own] : zip(groups_, handed))
      for (int64_t k = 0; k < group.reach(); ++k) {
        own.push_back(build.CreatePHI(element, 2, "handed"));
        own.back()->addIncoming(ConstantFP::getNegativeZero(element), before);
      }
    const auto left_out = sums_.partsOfSums();
    for (Instruction &inst : block_) {
      if (isa<PHINode>(inst) || inst.isTerminator() || left_out.contains(&inst))
        continue;
      Instruction *copy = inst.clone();
      build.Insert(copy, inst.getName());
      RemapInstruction(copy, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      map[&inst] = copy;
    }

    // What is handed on first, since vectors want new values before the uses of the old ones.
    SmallVector<Value *, 8> last;
    for (auto [group, own] : zip(groups_, handed)) {
      build.SetCurrentDebugLocation(group.last().sum.store->getDebugLoc());
      SmallVector<Value *, 4> amounts;
      for (int64_t ahead = 0; ahead <= group.reach(); ++ahead)
        amounts.push_back(amountOf(build, group, ahead, map));
      build.setFastMathFlags(group.last().sum.operations.front()->getFastMathFlags());
      for (int64_t ahead = group.reach(); ahead > 0; --ahead) {
        const auto k = static_cast<size_t>(ahead);
        Value *next = amounts[k] ? amounts[k] : ConstantFP::getNegativeZero(element);
        if (k < own.size())
          next = amounts[k] ? build.CreateFAdd(own[k], next) : own[k];
        own[k - 1]->addIncoming(next, relay);
      }
      last.push_back(own.empty() ? amounts[0] : build.CreateFAdd(own[0], amounts[0]));
    }
    for (auto [group, amount] : zip(groups_, last)) {
      const enz::Sum &sum = group.last().sum;
      Value *place = map.lookup(sum.store->getPointerOperand());
      place = place ? place : sum.store->getPointerOperand();
      build.SetCurrentDebugLocation(sum.store->getDebugLoc());
      add(build, sum, place, amount);
    }
    build.SetCurrentDebugLocation(where);
    Instruction *turn = block_.getTerminator()->clone();
    build.Insert(turn);
    RemapInstruction(turn, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    turn->setMetadata(LLVMContext::MD_loop, nullptr);
    turn->replaceSuccessorWith(&block_, relay);
    turn->replaceSuccessorWith(sums_.exit(), behind);
    for (auto &[phi, copy] : phis) {
      Value *next = phi->getIncomingValueForBlock(&block_);
      Value *own = map.lookup(next);
      copy->addIncoming(own ? own : next, relay);
    }

    // What has been handed on at the end.
    IRBuilder<> end(behind);
    end.SetCurrentDebugLocation(where);
    for (auto [group, own, start] : zip(groups_, handed, starts))
      for (auto [k, phi] : enumerate(own)) {
        const enz::Target &target = group.last();
        Value *turns = end.CreateAdd(count, end.getInt64(k + 1));
        Value *offset = end.CreateMul(turns, end.getInt64(static_cast<uint64_t>(target.place.step)));
        PHINode *rest = PHINode::Create(element, 1, "handed.rest", behind->begin());
        rest->addIncoming(phi->getIncomingValueForBlock(relay), relay);
        add(end, target.sum, end.CreatePtrAdd(start, offset), rest);
      }
    end.CreateBr(sums_.exit());
    for (PHINode &phi : sums_.exit()->phis()) {
      Value *value = phi.getIncomingValueForBlock(&block_);
      Value *own = map.lookup(value);
      value = own ? own : value;
      if (auto *inst = dyn_cast<Instruction>(value); inst && inst->getParent() == relay) {
        PHINode *rest = PHINode::Create(value->getType(), 1, "", behind->begin());
        rest->addIncoming(value, relay);
        value = rest;
      }
      phi.addIncoming(value, behind);
    }
    enz::stateIndependence(*relay);
    // The other copy is for ranges that meet.
    addStringMetadataToLoop(&sums_.loop(), "llvm.loop.isvectorized", 1);
    done.insert(relay);
    evolution_.forgetAllLoops();
  }

  // Adds `amount` at `place`, as `sum` did.
  static void add(IRBuilder<> &build, const enz::Sum &sum, Value *place, Value *amount) {
    auto *present = cast<LoadInst>(build.Insert(sum.load->clone()));
    present->setOperand(0, place);
    build.setFastMathFlags(sum.operations.front()->getFastMathFlags());
    Value *after = build.CreateFAdd(present, amount);
    auto *store = cast<StoreInst>(build.Insert(sum.store->clone()));
    store->setOperand(0, after);
    store->setOperand(1, place);
  }

  enz::LoopSums &sums_;
  LoopInfo &loops_;
  BasicBlock &block_;
  ScalarEvolution &evolution_;
  SmallVector<Group, 8> groups_;
  SmallVector<std::pair<enz::Bytes, enz::Bytes>, 16> checks_;
};

} // namespace

bool enz::handOnSums(EnzOpaqueHost &host, Function &function) {
  const auto rewrite = [](LoopSums &sums, LoopInfo &loops, SmallPtrSetImpl<const BasicBlock *> &done) {
    return Relay(sums, loops).run(done);
  };
  return rewriteSums(host, function, rewrite);
}
