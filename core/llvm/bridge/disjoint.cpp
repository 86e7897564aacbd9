// Two bodies for a function: one for memory of which a comparison at run time says that its arrays have nothing in
// common, and one for any memory.
//
// C and C++ pass arrays as pointers that may lead anywhere. What a loop reads through one may then be overwritten
// through another, and the reverse sweep must be given all of it on a tape. Mostly the arrays are apart. Here the
// ranges of addresses through each pointer are computed where the pointers are known, before any loop, by interval
// arithmetic (bounds.cpp), and compared. Where they are apart, one body runs whose accesses have alias scopes that say
// so; else its copy, as before. What is read in the first need not be kept, and its loops run in vectors without
// further comparisons. (Loop versioning, with the whole function for a loop; Byler et al., "Multiple version loops",
// ICPP 1987.)
//
//   for i: y[i] = f(x[i])      becomes      if (x + n <= y || y + n <= x) { for i: y[i] = f(x[i]), apart } else { for
//   i: ... }
//
// The scopes hold for the whole run of the function, which the analyses go by that ask about two iterations (facts.cpp,
// scopes.h). They are of this memory alone: nothing is known of shadows.
//
// There are two bodies only where a value that a derivative may need is overwritten as far as alias analysis knows,
// where stores through other pointers are all that may do it, and where more would be kept than one row for all
// iterations (steady.cpp). Not handled: accesses at addresses without bounds
// (x[index[i]]), pointers that are read within the loops, writes by calls; functions that are large, or have two bodies
// already.

#include "bounds.h"
#include "checkpoint.h"
#include "linear.h"
#include "order.h"
#include "scopes.h"
#include "steady.h"
#include "support.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

// Larger functions have one body, as do those with more accesses, more questions about two accesses, or more pointers.
constexpr unsigned kMostInstructions = 1500;
constexpr size_t kMostAccesses = 300;
constexpr size_t kMostQuestions = 20000;
constexpr size_t kMostPointers = 12;
// How many bits numbers of the program are taken to have, at most: what is tried in turn.
constexpr unsigned kLeafBits[] = {40, 26, 18};
// How far the use of a value is followed.
constexpr size_t kMostUses = 64;

struct Access {
  Instruction *inst;
  Value *base;
  const SCEV *offset;
  uint64_t bytes;
};

// Whether a derivative may need a value for something else than what is linear in it.
bool isNeeded(const Instruction &value) {
  SmallPtrSet<const Instruction *, 16> seen;
  SmallVector<const Instruction *, 16> work{&value};
  while (!work.empty()) {
    const Instruction *at = work.pop_back_val();
    if (!seen.insert(at).second)
      continue;
    if (seen.size() > kMostUses)
      return true;
    for (const User *user : at->users()) {
      const auto *inst = dyn_cast<Instruction>(user);
      if (!inst || isa<StoreInst, ReturnInst>(inst))
        continue;
      if (!enz::isLinearIn(*inst, *at))
        return true;
      work.push_back(inst);
    }
  }
  return false;
}

// Whether a store is an update of what its block reads there: the reverse sweep may take it back (undo.cpp), and so
// read again what it has overwritten.
bool isInPlace(const Instruction *store) {
  const Value *place = getLoadStorePointerOperand(store);
  for (const Instruction *before = store->getPrevNode(); before; before = before->getPrevNode())
    if (const auto *load = dyn_cast<LoadInst>(before); load && load->getPointerOperand() == place)
      return true;
  return false;
}

class Disjoint {
public:
  Disjoint(EnzOpaqueHost &host, Function &function, const EnzPrepare &options)
      : host_(host), function_(function), options_(options), aliases_(host.functions->getResult<AAManager>(function)),
        evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        loops_(host.functions->getResult<LoopAnalysis>(function)),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)), layout_(function.getDataLayout()) {
    aliases_.enableCrossIterationMode();
  }

  bool run() {
    if (enz::isIrreducible(function_, loops_))
      return false;
    enz::clarifySubscripts(evolution_, loops_, function_);
    if (!collect())
      return false;
    findConflicts();
    const auto isCheap = [&](const auto &conflict) {
      return all_of(conflict.second, isInPlace) || isOfRow(*cast<LoadInst>(conflict.first));
    };
    if (all_of(conflicts_, isCheap) || !choosePlace())
      return false;
    size_t most = 0;
    unsigned best = 0;
    for (const unsigned leaf : kLeafBits)
      if (const size_t covered = tryOut(leaf); covered > most) {
        most = covered;
        best = leaf;
      }
    return best != 0 && tryOut(best, /*keep=*/true) > 0;
  }

private:
  // Compares with numbers of so many bits; how many accesses the comparison covers. If it is kept, the function gets
  // its second body.
  size_t tryOut(unsigned leaf, bool keep = false) {
    BasicBlock *aside = BasicBlock::Create(function_.getContext(), "", &function_);
    IRBuilder<> build(aside);
    Value *areApart = compare(build, leaf);
    if (areApart && keep)
      place_->getParent()->splice(place_->getIterator(), aside);
    aside->dropAllReferences();
    aside->eraseFromParent();
    if (areApart && keep)
      split(*areApart);
    return areApart ? scoped_.size() : 0;
  }

  // The accesses whose base is known; false if the function is not to be copied.
  bool collect() {
    for (BasicBlock &block : function_) {
      if (!dominators_.isReachableFromEntry(&block))
        return false;
      for (Instruction &inst : block) {
        if (enz::wasCompared(inst))
          return false;
        if (inst.getType()->isTokenTy() || isa<CallBrInst, IndirectBrInst>(inst))
          return false;
        if (const auto *call = dyn_cast<CallBase>(&inst)) {
          const Function *callee = call->getCalledFunction();
          if (call->cannotDuplicate() || call->isInlineAsm() || call->isConvergent() ||
              (callee && callee->getName() == enz::kCheckpointMark))
            return false;
        }
        if (inst.mayWriteToMemory() && !isa<AssumeInst, NoAliasScopeDeclInst>(inst) &&
            !enz::isHarmless(inst, options_.context, options_.harmless))
          writes_.push_back(&inst);
        if (const Value *pointer = getLoadStorePointerOperand(&inst); pointer && isPlain(inst))
          note(inst, *pointer);
      }
    }
    return !accesses_.empty() && accesses_.size() <= kMostAccesses;
  }

  static bool isPlain(const Instruction &inst) {
    const auto *load = dyn_cast<LoadInst>(&inst);
    return load ? load->isSimple() : cast<StoreInst>(inst).isSimple();
  }

  void note(Instruction &inst, const Value &pointer) {
    const SCEV *address = evolution_.getSCEV(const_cast<Value *>(&pointer));
    const auto *base = dyn_cast<SCEVUnknown>(evolution_.getPointerBase(address));
    const TypeSize size = layout_.getTypeStoreSize(getLoadStoreType(&inst));
    if (!base || size.isScalable() || base->getType()->getPointerAddressSpace() != 0)
      return;
    // Of memory of its own alias analysis knows by itself.
    const auto *made = dyn_cast<Instruction>(base->getValue());
    if (made && (isa<AllocaInst>(made) || isNoAliasCall(made) || loops_.getLoopFor(made->getParent())))
      return;
    const SCEV *offset = evolution_.removePointerBase(address);
    if (evolution_.getTypeSizeInBits(offset->getType()) == 64)
      accesses_.insert({&inst, Access{&inst, base->getValue(), offset, size.getFixedValue()}});
  }

  // Loads that stores through other pointers alone may overwrite.
  void findConflicts() {
    for (auto &[inst, access] : accesses_) {
      auto *load = dyn_cast<LoadInst>(inst);
      if (!load || !isNeeded(*load))
        continue;
      SmallVector<Instruction *, 4> stores;
      if (overwrittenBy(*load, access, stores) && !stores.empty())
        conflicts_.insert({load, std::move(stores)});
    }
  }

  // What a load reads, whichever iteration of a loop it is in.
  static MemoryLocation placeOf(const LoadInst &load) {
    MemoryLocation where = MemoryLocation::get(&load);
    where.AATags.Scope = where.AATags.NoAlias = nullptr;
    return where;
  }

  bool overwrittenBy(LoadInst &load, const Access &access, SmallVectorImpl<Instruction *> &out) {
    const MemoryLocation where = placeOf(load);
    for (Instruction *write : writes_) {
      if (++questions_ > kMostQuestions)
        return false;
      if (!isModSet(aliases_.getModRefInfo(write, where)) ||
          !isPotentiallyReachable(&load, write, nullptr, &dominators_, &loops_))
        continue;
      const auto known = accesses_.find(write);
      auto *store = dyn_cast<StoreInst>(write);
      if (!store || known == accesses_.end())
        return false;
      if (known->second.base != access.base)
        out.push_back(write);
      else if (!enz::neverOverwrites(evolution_, loops_, load, *store, turns_))
        return false;
    }
    return true;
  }

  // Whether a load reads the same in all iterations of its outermost loop, so that no more than a row is kept.
  bool isOfRow(LoadInst &load) {
    const MemoryLocation where = placeOf(load);
    const auto conflicts = [&](const Loop &loop, SmallVectorImpl<StoreInst *> &out) {
      for (Instruction *write : writes_) {
        if (!loop.contains(write))
          continue;
        if (++questions_ > kMostQuestions)
          return false;
        if (!isModSet(aliases_.getModRefInfo(write, where)))
          continue;
        auto *store = dyn_cast<StoreInst>(write);
        if (!store)
          return false;
        out.push_back(store);
      }
      return true;
    };
    const std::optional<enz::Steady> steady = enz::findSteady(evolution_, loops_, load, conflicts);
    return steady && !steady->loop->getParentLoop() && popcount(steady->varies) <= 1 &&
           enz::hasSteadyCondition(host_, function_, *steady);
  }

  // The end of a block outside of all loops that comes before all loads and stores in question.
  bool choosePlace() {
    BasicBlock *block = nullptr;
    const auto cover = [&](const Instruction *inst) {
      auto *own = const_cast<BasicBlock *>(inst->getParent());
      block = block ? dominators_.findNearestCommonDominator(block, own) : own;
    };
    for (const auto &[load, stores] : conflicts_) {
      cover(load);
      for (const Instruction *store : stores)
        cover(store);
    }
    while (const Loop *loop = loops_.getLoopFor(block)) {
      block = loop->getLoopPreheader();
      if (!block)
        return false;
    }
    place_ = block->getTerminator();
    return !place_->isEHPad();
  }

  // The bounds of an access, if it comes after the place.
  std::optional<enz::Bounds::Interval> boundsOf(enz::Bounds &bounds, const Access &access) {
    const auto *base = dyn_cast<Instruction>(access.base);
    if (access.inst->getParent() == place_->getParent() || !dominators_.dominates(place_, access.inst) ||
        (base && !dominators_.dominates(base, place_)))
      return std::nullopt;
    std::optional<enz::Bounds::Interval> of = bounds.of(access.offset);
    return of && of->bits <= 61 ? of : std::nullopt;
  }

  // An i1: whether the memory behind these pointers is apart; null if it cannot be told, or if nothing comes of it.
  Value *compare(IRBuilder<> &build, unsigned leaf) {
    enz::Bounds bounds(evolution_, dominators_, *place_, build, leaf);
    SmallPtrSet<const Value *, 8> concerned;
    for (const auto &[load, stores] : conflicts_) {
      concerned.insert(accesses_.find(load)->second.base);
      for (Instruction *store : stores)
        concerned.insert(accesses_.find(store)->second.base);
    }
    DenseMap<const Instruction *, enz::Bounds::Interval> known;
    for (const auto &[inst, access] : accesses_)
      if (concerned.contains(access.base))
        if (const auto of = boundsOf(bounds, access))
          known.insert({inst, *of});
    pairs_.clear();
    SetVector<Value *> pointers;
    for (const auto &[load, stores] : conflicts_) {
      if (!known.contains(load) || !all_of(stores, [&](Instruction *store) { return known.contains(store); }))
        continue;
      Value *read = accesses_.find(load)->second.base;
      pointers.insert(read);
      for (Instruction *store : stores) {
        Value *written = accesses_.find(store)->second.base;
        pointers.insert(written);
        if (!pairs_.contains({written, read}))
          pairs_.insert({read, written});
      }
    }
    if (pairs_.empty() || pointers.size() > kMostPointers)
      return nullptr;
    struct Range {
      Value *first = nullptr, *end = nullptr;
    };
    SmallMapVector<Value *, Range, 8> ranges;
    scoped_.clear();
    for (const auto &[inst, access] : accesses_) {
      const auto at = known.find(inst);
      if (at == known.end() || !pointers.contains(access.base))
        continue;
      scoped_.insert({inst, access.base});
      Value *end = build.CreateAdd(at->second.high, build.getInt64(access.bytes));
      Range &range = ranges[access.base];
      const auto join = [&](Intrinsic::ID kind, Value *so_far, Value *more) {
        return !so_far || so_far == more ? more : build.CreateBinaryIntrinsic(kind, so_far, more);
      };
      range.first = join(Intrinsic::smin, range.first, at->second.low);
      range.end = join(Intrinsic::smax, range.end, end);
    }
    for (auto &[base, range] : ranges) {
      range.first = build.CreatePtrAdd(base, range.first);
      range.end = build.CreatePtrAdd(base, range.end);
    }
    // A range that goes beyond the ends of the address space is of an access that does not run.
    Value *all = bounds.holds();
    for (const auto &[base, range] : ranges)
      all = build.CreateAnd(all, build.CreateICmpULE(range.first, range.end));
    for (const auto &[one, other] : pairs_) {
      const Range a = ranges[one], b = ranges[other];
      Value *before = build.CreateICmpULE(a.end, b.first), *behind = build.CreateICmpULE(b.end, a.first);
      all = build.CreateAnd(all, build.CreateOr(before, behind));
    }
    return build.CreateFreeze(all, "enzyme.apart");
  }

  void split(Value &areApart) {
    BasicBlock *before = place_->getParent();
    BasicBlock *apart = before->splitBasicBlock(place_, "enzyme.apart");
    const DominatorTree dominators(function_);
    SmallVector<BasicBlock *, 32> blocks, copies;
    dominators.getDescendants(apart, blocks);
    const SmallPtrSet<const BasicBlock *, 32> inside(blocks.begin(), blocks.end());
    SmallVector<MDNode *, 8> promises;
    identifyNoAliasScopesToClone(blocks, promises);
    ValueToValueMapTy map;
    for (BasicBlock *block : blocks) {
      BasicBlock *copy = CloneBasicBlock(block, map, ".together", &function_);
      map[block] = copy;
      copies.push_back(copy);
    }
    remapInstructionsInBlocks(copies, map);
    for (BasicBlock *block : blocks)
      for (BasicBlock *next : SmallSetVector<BasicBlock *, 4>(succ_begin(block), succ_end(block)))
        if (!inside.contains(next))
          for (PHINode &phi : next->phis())
            for (unsigned n = 0, end = phi.getNumIncomingValues(); n < end; ++n)
              if (phi.getIncomingBlock(n) == block) {
                Value *value = phi.getIncomingValue(n), *copied = map.lookup(value);
                phi.addIncoming(copied ? copied : value, cast<BasicBlock>(map[block]));
              }
    cloneAndAdaptNoAliasScopes(promises, copies, function_.getContext(), "together");
    promise(*apart);
    before->getTerminator()->eraseFromParent();
    IRBuilder<>(before).CreateCondBr(&areApart, apart, cast<BasicBlock>(map[apart]));
  }

  // States that the accesses are apart, in the body that `apart` begins.
  void promise(BasicBlock &apart) {
    LLVMContext &context = function_.getContext();
    MDNode *domain = enz::lastingDomain(context);
    MDBuilder metadata(context);
    MapVector<Value *, MDNode *> scopes;
    for (const auto &[one, other] : pairs_)
      for (Value *base : {one, other})
        if (MDNode *&scope = scopes[base]; !scope)
          scope = metadata.createAnonymousAliasScope(domain, base->getName());
    const auto add = [&](Instruction &inst, unsigned kind, ArrayRef<Metadata *> more) {
      inst.setMetadata(kind, MDNode::concatenate(inst.getMetadata(kind), MDNode::get(context, more)));
    };
    for (const auto &[inst, base] : scoped_) {
      SmallVector<Metadata *, 4> others;
      for (const auto &[one, other] : pairs_)
        if (one == base || other == base)
          others.push_back(scopes[one == base ? other : one]);
      add(*inst, LLVMContext::MD_alias_scope, scopes[base]);
      add(*inst, LLVMContext::MD_noalias, others);
    }
    IRBuilder<> build(&apart, apart.getFirstInsertionPt());
    for (const auto &[base, scope] : scopes)
      build.CreateNoAliasScopeDeclaration(MDNode::get(context, {scope}));
  }

  EnzOpaqueHost &host_;
  Function &function_;
  const EnzPrepare &options_;
  BatchAAResults aliases_;
  ScalarEvolution &evolution_;
  LoopInfo &loops_;
  DominatorTree &dominators_;
  const DataLayout &layout_;
  size_t questions_ = 0;
  MapVector<Instruction *, Access> accesses_;
  SmallVector<Instruction *, 32> writes_;
  // Loads, and the stores that may overwrite what each has read.
  MapVector<Instruction *, SmallVector<Instruction *, 4>> conflicts_;
  enz::Turns turns_;
  Instruction *place_ = nullptr;
  // Pointers whose memory is compared, and the accesses through them that the comparison is about.
  SetVector<std::pair<Value *, Value *>> pairs_;
  MapVector<Instruction *, Value *> scoped_;
};

} // namespace

bool enz::separateArrays(EnzOpaqueHost &host, Function &function, const EnzPrepare &options) {
  if (host.functions->getResult<LoopAnalysis>(function).empty() || function.getInstructionCount() > kMostInstructions)
    return false;
  return Disjoint(host, function, options).run();
}
