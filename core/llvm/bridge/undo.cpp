// Stores that a reverse sweep can take back: it writes what they have overwritten where it was, and loads of that
// memory can then be done again instead of being kept.
//
// A time stepper overwrites its state once in each step, and reads each number of it several times. One number is kept
// for each that is overwritten ("to be recorded"; Hascoet, Naumann, Pascual, "'To be recorded' analysis in reverse-mode
// automatic differentiation", Future Generation Computer Systems 21, 2005), whatever is read of it, and in which order.
//
// A load can be done again where all writes that may reach its memory later are such stores, and where none of them
// comes between the load and what the reverse sweep wants its value for: that comes back to a store before it comes to
// what ran before.
//
// Of stores one after the other, the first is taken back for what was read before it; the later ones need not be, if it
// has overwritten, with the loop around it, all that they can write.
//
// Arithmetic behind a store would want its operands where the store is not taken back yet: so stores wait until their
// block has computed what it computes from what it has read.
//
// What others can see has to be in memory in the end as the function left it. So it must be known, before the outermost
// loop around the store, which elements that writes: an address that is affine in the counters of the loops, each of
// which runs equally often every time. The engine looks at conditions between the loops.
//
// Not handled: stores of other things than floats, or outside of loops; memory that is released before the function
// ends.

#include "undo.h"

#include "carry.h"
#include "linear.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

// Loads that more stores than this may overwrite are kept.
constexpr size_t kMostStores = 16;
// Loads whose value goes further than this are kept.
constexpr size_t kMostUses = 500;
// After this many blocks that were looked at to see what comes between loads and stores, no more loads are.
constexpr size_t kMostBlocks = 1'000'000;
// An element that is written is a function of no more counters than this.
constexpr size_t kMostSteps = 3;

} // namespace

bool enz::delayStores(Function &function, const LoopInfo &loops, function_ref<bool(const CallBase &)> is_pure) {
  const auto computes = [&](const Instruction &inst) {
    const auto *call = dyn_cast<CallBase>(&inst);
    return !inst.isTerminator() && (call ? is_pure(*call) : !inst.mayReadOrWriteMemory());
  };
  bool changed = false;
  for (BasicBlock &block : function) {
    if (!loops.getLoopFor(&block))
      continue;
    for (Instruction &inst : make_early_inc_range(reverse(block))) {
      auto *store = dyn_cast<StoreInst>(&inst);
      if (!store || !store->isSimple() || !store->getValueOperand()->getType()->isFloatingPointTy())
        continue;
      Instruction *next = store->getNextNode();
      while (computes(*next))
        next = next->getNextNode();
      if (next == store->getNextNode())
        continue;
      store->moveBefore(next->getIterator());
      changed = true;
    }
  }
  return changed;
}

enz::Undoing::Undoing(EnzOpaqueHost &host, Function &function, StoresAfter stores_after, IsSteady is_steady,
                      IsPrivate is_private, IsPure is_pure)
    : host_(host), function_(function), loops_(host.functions->getResult<LoopAnalysis>(function)),
      tree_(host.functions->getResult<DominatorTreeAnalysis>(function)), stores_after_(std::move(stores_after)),
      is_steady_(std::move(is_steady)), is_private_(std::move(is_private)), is_pure_(std::move(is_pure)) {}

bool enz::Undoing::isOld(const LoadInst *load) const {
  return any_of(stores_, [&](const auto &each) { return each.second && each.second->old == load; });
}

void enz::Undoing::find(ArrayRef<LoadInst *> loads) {
  for (LoadInst *load : loads)
    findRead(*load);
  for (LoadInst *load : loads)
    if (canRepeat(load))
      findCarried(*load);
  // What a store overwrites is kept.
  reads_.remove_if([&](const auto &each) { return isOld(each.first); });
  SmallPtrSet<const StoreInst *, 8> wanted;
  for (const auto &[load, stores] : reads_)
    wanted.insert(stores.begin(), stores.end());
  stores_.remove_if([&](const auto &each) { return !each.second || !wanted.contains(each.first); });
}

void enz::Undoing::findRead(LoadInst &load) {
  SmallVector<StoreInst *, 4> stores;
  if (load.getType()->isFloatingPointTy() && stores_after_(load, stores) && !stores.empty() &&
      stores.size() <= kMostStores && all_of(stores, [&](StoreInst *store) { return canUndo(*store); }) &&
      readsBefore(load, stores)) {
    dropCovered(load, stores);
    reads_[&load] = stores;
  }
}

// Stores that come to the memory of a load only after others have overwritten all that they can write: taking these
// back is enough.
void enz::Undoing::dropCovered(LoadInst &load, SmallVectorImpl<StoreInst *> &stores) {
  for (size_t n = 0; n < stores.size();) {
    StoreInst *late = stores[n];
    if (any_of(stores, [&](StoreInst *fill) { return fill != late && fillsBefore(load, *fill, *late); }))
      stores.erase(stores.begin() + static_cast<ptrdiff_t>(n));
    else
      ++n;
  }
}

// Whether on each way from `load` to `late` the loop around `fill`, which overwrites the whole of the one object that
// `late` writes to, has overwritten what was read.
bool enz::Undoing::fillsBefore(const LoadInst &load, StoreInst &fill, StoreInst &late) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(late.getPointerOperand(), objects, nullptr, /*MaxLookup=*/0);
  Loop *loop = loops_.getLoopFor(fill.getParent());
  if (objects.size() != 1 || !loop || loop->contains(&late) || !fillsAll(fill, *loop, *objects[0]))
    return false;
  if (loop->contains(&load))
    return readsWhereFilled(load, fill, *loop, *objects[0]);
  if (load.getParent() == late.getParent() && load.comesBefore(&late))
    return false;
  SmallPtrSet<const BasicBlock *, 32> seen;
  SmallVector<const BasicBlock *, 16> work(successors(load.getParent()));
  while (!work.empty()) {
    if (++blocks_seen_ > kMostBlocks)
      return false;
    const BasicBlock *block = work.pop_back_val();
    if (block == loop->getHeader() || !seen.insert(block).second)
      continue;
    if (block == late.getParent())
      return false;
    work.append(succ_begin(block), succ_end(block));
  }
  return true;
}

// Whether `load`, in the loop that fills `object`, reads other memory or the very element that is filled next.
bool enz::Undoing::readsWhereFilled(const LoadInst &load, const StoreInst &fill, const Loop &loop,
                                    const Value &object) {
  auto &evolution = host_.functions->getResult<ScalarEvolutionAnalysis>(function_);
  const auto addressOf = [&](const Value *pointer) {
    return dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(const_cast<Value *>(pointer)));
  };
  const auto *read = addressOf(load.getPointerOperand()), *filled = addressOf(fill.getPointerOperand());
  if (load.getParent() != fill.getParent() || !load.comesBefore(&fill) ||
      load.getType() != fill.getValueOperand()->getType() || !read || !filled || read->getLoop() != &loop ||
      !read->isAffine() || read->getStepRecurrence(evolution) != filled->getStepRecurrence(evolution))
    return false;
  const auto *start = dyn_cast<SCEVUnknown>(read->getStart());
  SmallPtrSet<const Value *, 8> seen;
  SmallVector<const Value *, 8> work;
  if (start)
    work.push_back(start->getValue());
  while (!work.empty()) {
    const Value *value = work.pop_back_val();
    if (value == &object || !seen.insert(value).second)
      continue;
    if (const auto *phi = dyn_cast<PHINode>(value)) {
      work.append(phi->op_begin(), phi->op_end());
      continue;
    }
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(value, objects, nullptr, /*MaxLookup=*/0);
    if (is_contained(objects, &object))
      return false;
  }
  return start != nullptr;
}

// Whether `store` writes all of `object`, memory that the function has once, each time that `loop` has run.
bool enz::Undoing::fillsAll(StoreInst &store, Loop &loop, const Value &object) {
  auto &evolution = host_.functions->getResult<ScalarEvolutionAnalysis>(function_);
  const auto *place = dyn_cast<Instruction>(&object);
  const auto *address = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(store.getPointerOperand()));
  const SCEV *count = evolution.getBackedgeTakenCount(&loop);
  const DataLayout &layout = function_.getDataLayout();
  const TypeSize bytes = layout.getTypeStoreSize(store.getValueOperand()->getType());
  if (!place || loops_.getLoopFor(place->getParent()) || !address || address->getLoop() != &loop ||
      !address->isAffine() || address->getStart() != evolution.getSCEV(const_cast<Value *>(&object)) ||
      isa<SCEVCouldNotCompute>(count) || bytes.isScalable() || !loop.getLoopLatch() ||
      loop.getExitingBlock() != loop.getLoopLatch() || !tree_.dominates(store.getParent(), loop.getLoopLatch()))
    return false;
  const SCEV *size = sizeOf(evolution, *place);
  const SCEV *step = address->getStepRecurrence(evolution);
  if (!size || step->getType() != size->getType() || !step->getType()->isIntegerTy(64) ||
      step != evolution.getConstant(step->getType(), bytes.getFixedValue()) ||
      evolution.getTypeSizeInBits(count->getType()) > 64)
    return false;
  const SCEV *one = evolution.getOne(step->getType());
  const SCEV *turns = evolution.getAddExpr(evolution.getNoopOrZeroExtend(count, step->getType()), one);
  const Loop *outermost = &loop;
  while (outermost->getParentLoop())
    outermost = outermost->getParentLoop();
  const auto known = [&](const SCEV *number) { return evolution.applyLoopGuards(number, outermost); };
  return evolution.getMinusSCEV(known(size), known(evolution.getMulExpr(step, turns)))->isZero();
}

// The bytes of a stack slot or of what `malloc` returned; null if they are not known.
const SCEV *enz::Undoing::sizeOf(ScalarEvolution &evolution, const Instruction &object) {
  Type *i64 = Type::getInt64Ty(function_.getContext());
  if (const auto *slot = dyn_cast<AllocaInst>(&object)) {
    const std::optional<TypeSize> bytes = slot->getAllocationSize(function_.getDataLayout());
    return bytes && !bytes->isScalable() ? evolution.getConstant(i64, bytes->getFixedValue()) : nullptr;
  }
  const auto *call = dyn_cast<CallBase>(&object);
  const auto &libraries = host_.functions->getResult<TargetLibraryAnalysis>(function_);
  LibFunc which;
  if (!call || !libraries.getLibFunc(*call, which) || which != LibFunc_malloc || !libraries.has(which))
    return nullptr;
  const SCEV *bytes = evolution.getSCEV(call->getArgOperand(0));
  return bytes->getType() == i64 ? bytes : nullptr;
}

// Phis that carry what `load` reads on to later iterations, as LLVM makes them of loads: loads of their own beside it.
void enz::Undoing::findCarried(LoadInst &load) {
  Loop *loop = loops_.getLoopFor(load.getParent());
  auto &evolution = host_.functions->getResult<ScalarEvolutionAnalysis>(function_);
  const auto *address = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(load.getPointerOperand()));
  if (!loop || !loop->getLoopPreheader() || !loop->getLoopLatch() || !address || address->getLoop() != loop ||
      !address->isAffine() || !is_steady_(load, *loop))
    return;
  const auto *step = dyn_cast<SCEVConstant>(address->getStepRecurrence(evolution));
  if (!step || step->getAPInt().getSignificantBits() > 32)
    return;
  auto &aliases = host_.functions->getResult<AAManager>(function_);
  const Value *next = &load;
  for (int64_t bytes = step->getAPInt().getSExtValue(), back = bytes;; back += bytes) {
    PHINode *carried = nullptr;
    for (PHINode &phi : loop->getHeader()->phis())
      if (phi.getIncomingValueForBlock(loop->getLoopLatch()) == next)
        carried = &phi;
    const auto *first =
        carried ? dyn_cast<LoadInst>(carried->getIncomingValueForBlock(loop->getLoopPreheader())) : nullptr;
    if (!first || !first->isSimple() || first->getType() != load.getType() ||
        !staysUntil(aliases, *first, *loop->getLoopPreheader()))
      return;
    const auto *between = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(
        address->getStart(), evolution.getSCEV(const_cast<Value *>(first->getPointerOperand()))));
    if (!between || between->getAPInt().getSignificantBits() > 62 || between->getAPInt().getSExtValue() != back)
      return;
    IRBuilder<> build(&load);
    auto *same = build.CreateAlignedLoad(
        load.getType(), build.CreatePtrAdd(load.getPointerOperand(), build.getInt64(static_cast<uint64_t>(-back))),
        Align(1), "carried.load");
    same->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
    findRead(*same);
    standsFor(carried, same);
    next = carried;
  }
}

void enz::Undoing::standsFor(PHINode *phi, LoadInst *load) {
  const auto known = reads_.find(load);
  if (known != reads_.end() && readsBefore(*phi, known->second))
    phis_.emplace_back(phi, load);
}

bool enz::Undoing::canUndo(StoreInst &store) {
  if (auto known = stores_.find(&store); known != stores_.end())
    return known->second.has_value();
  std::optional<Store> found;
  const bool is_private = is_private_(store.getPointerOperand());
  if (store.isSimple() && store.getValueOperand()->getType()->isFloatingPointTy() &&
      store.getPointerAddressSpace() == 0 && loops_.getLoopFor(store.getParent())) {
    if (is_private || placeOf(host_.functions->getResult<ScalarEvolutionAnalysis>(function_), store))
      found = Store{oldOf(store), is_private};
  }
  return stores_.insert({&store, found}).first->second.has_value();
}

// The load just before a store of what it overwrites, if the program has one; else it is written when all is known.
LoadInst *enz::Undoing::oldOf(StoreInst &store) {
  const auto keeps = [&](const Instruction &inst) {
    const auto *call = dyn_cast<CallBase>(&inst);
    return !inst.mayWriteToMemory() || (call && is_pure_(*call));
  };
  for (Instruction *inst = store.getPrevNode(); inst && keeps(*inst); inst = inst->getPrevNode())
    if (auto *load = dyn_cast<LoadInst>(inst); load && load->isSimple() &&
                                               load->getPointerOperand() == store.getPointerOperand() &&
                                               load->getType() == store.getValueOperand()->getType())
      return load;
  return nullptr;
}

std::optional<enz::Undoing::Place> enz::Undoing::placeOf(ScalarEvolution &evolution, StoreInst &store) {
  // Memory that is there before and after the function, or as long as that runs.
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(store.getPointerOperand(), objects);
  if (!all_of(objects, [](const Value *object) { return isa<Argument, GlobalVariable, AllocaInst>(object); }))
    return std::nullopt;
  Place out;
  SmallPtrSet<const Loop *, 4> around;
  const BasicBlock *block = store.getParent();
  Loop *innermost = loops_.getLoopFor(block);
  // Once that is entered the store runs, and in each turn: what it is said to write, the program writes.
  SmallVector<BasicBlock *, 4> ends;
  innermost->getExitingBlocks(ends);
  innermost->getLoopLatches(ends);
  if (!all_of(ends, [&](const BasicBlock *end) { return tree_.dominates(block, end); }))
    return std::nullopt;
  for (Loop *loop = innermost; loop; loop = loop->getParentLoop()) {
    around.insert(loop);
    out.outer = loop;
  }
  if (!out.outer->getLoopPreheader())
    return std::nullopt;
  const SCEV *address = evolution.getSCEV(store.getPointerOperand());
  while (const auto *moves = dyn_cast<SCEVAddRecExpr>(address)) {
    Loop *loop = const_cast<Loop *>(moves->getLoop());
    const SCEV *step = moves->isAffine() ? moves->getStepRecurrence(evolution) : nullptr;
    const SCEV *count = evolution.getBackedgeTakenCount(loop);
    if (!step || !around.contains(loop) || loop->getExitingBlock() != loop->getLoopLatch() || !loop->getLoopLatch() ||
        isa<SCEVCouldNotCompute>(count) || out.steps.size() == kMostSteps || !step->getType()->isIntegerTy(64) ||
        !evolution.isLoopInvariant(step, out.outer) || !evolution.isLoopInvariant(count, out.outer))
      return std::nullopt;
    out.steps.emplace_back(loop, step);
    address = moves->getStart();
  }
  if (!evolution.isLoopInvariant(address, out.outer) || isa<SCEVCouldNotCompute>(address) ||
      !address->getType()->isPointerTy())
    return std::nullopt;
  out.start = address;
  return out;
}

// Where the ways on from a branch come together again: what it has decided is asked for there. False if they do so in
// another iteration, or behind the loop around it.
bool enz::Undoing::joinsOf(const BasicBlock &branch, SmallVectorImpl<const Instruction *> &out) {
  const auto &tree = host_.functions->getResult<PostDominatorTreeAnalysis>(function_);
  const auto *node = tree.getNode(const_cast<BasicBlock *>(&branch));
  const BasicBlock *join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  const Loop *loop = loops_.getLoopFor(&branch);
  if (!join || loops_.getLoopFor(join) != loop)
    return false;
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<const BasicBlock *, 16> work(successors(&branch));
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (!seen.insert(block).second)
      continue;
    if (++blocks_seen_ > kMostBlocks || out.size() >= kMostUses || (loop && block == loop->getHeader()))
      return false;
    out.push_back(&*block->getFirstNonPHIOrDbg());
    if (block != join)
      work.append(succ_begin(block), succ_end(block));
  }
  return true;
}

bool enz::Undoing::leavesLoop(const Value &value, const PHINode &phi) const {
  const auto *inst = dyn_cast<Instruction>(&value);
  const Loop *loop = inst ? loops_.getLoopFor(inst->getParent()) : nullptr;
  return loop && !loop->contains(phi.getParent());
}

// What the reverse sweep may want a value for; false if that cannot be told.
bool enz::Undoing::usesOf(Instruction &read, SmallVectorImpl<const Instruction *> &out) {
  SmallPtrSet<const Value *, 16> seen{&read};
  SmallPtrSet<const Instruction *, 16> asked;
  SmallVector<const Value *, 16> work{&read};
  while (!work.empty()) {
    const Value *value = work.pop_back_val();
    for (const User *user : value->users()) {
      const auto *inst = dyn_cast<Instruction>(user);
      if (!inst || out.size() >= kMostUses)
        return false;
      // What a loop carries on, and what comes out of it in the end, is kept in itself.
      if (const auto *phi = dyn_cast<PHINode>(inst);
          phi && (loops_.isLoopHeader(phi->getParent()) || leavesLoop(*value, *phi)))
        continue;
      // The reverse of a store asks for what is there of the adjoint, not for what was stored.
      if (isa<StoreInst>(inst) && cast<StoreInst>(inst)->getValueOperand() == value)
        continue;
      const Type *type = inst->getType();
      const bool is_float = type->isFPOrFPVectorTy();
      // Sums ask for no summand; who asks for a sum that is computed again does.
      if ((!is_float || !isLinearIn(*inst, *value)) && asked.insert(inst).second)
        out.push_back(inst);
      if (!seen.insert(inst).second)
        continue;
      if (is_float || type->isAggregateType() || type->isIntegerTy(1))
        work.push_back(inst);
      else if (isa<BranchInst, SwitchInst>(inst)) {
        if (!joinsOf(*inst->getParent(), out))
          return false;
      } else if (!isa<ReturnInst>(inst) && (inst->isTerminator() || !type->isVoidTy()))
        return false;
    }
  }
  return true;
}

// Whether no store comes between the load and a use of its value.
bool enz::Undoing::readsBefore(Instruction &load, ArrayRef<StoreInst *> stores) {
  SmallVector<const Instruction *, 16> uses;
  if (!usesOf(load, uses))
    return false;
  for (const StoreInst *store : stores) {
    // Where control can come after the store without the load.
    SmallPtrSet<const BasicBlock *, 32> entered;
    SmallVector<const BasicBlock *, 16> work(successors(store->getParent()));
    if (store->getParent() == load.getParent() && store->comesBefore(&load))
      work.clear();
    while (!work.empty()) {
      if (++blocks_seen_ > kMostBlocks)
        return false;
      const BasicBlock *block = work.pop_back_val();
      if (entered.insert(block).second && block != load.getParent())
        work.append(succ_begin(block), succ_end(block));
    }
    for (const Instruction *use : uses) {
      const BasicBlock *block = use->getParent();
      const bool behind = block == store->getParent() && store->comesBefore(use) &&
                          !(block == load.getParent() && store->comesBefore(&load) && load.comesBefore(use));
      const bool reached = entered.contains(block) && !(block == load.getParent() && load.comesBefore(use));
      if (behind || reached)
        return false;
    }
  }
  return true;
}

void enz::Undoing::report(const EnzFactSink &sink) {
  if (reads_.empty())
    return;
  struct Written {
    const Loop *outer = nullptr;
    WeakTrackingVH start;
    SmallVector<std::pair<const Loop *, WeakTrackingVH>, 4> steps;
  };
  DenseMap<const StoreInst *, Written> places;
  auto &evolution = host_.functions->getResult<ScalarEvolutionAnalysis>(function_);
  {
    SCEVExpander expander(evolution, "enzyme.undo");
    for (auto &[store, known] : stores_) {
      if (known->is_private)
        continue;
      const auto found = placeOf(evolution, *store);
      Instruction *place = found ? found->outer->getLoopPreheader()->getTerminator() : nullptr;
      const auto safe = [&](const SCEV *value) { return expander.isSafeToExpandAt(value, place); };
      if (!found || !safe(found->start) || !all_of(found->steps, [&](const auto &s) { return safe(s.second); })) {
        known.reset();
        continue;
      }
      Written written;
      written.outer = found->outer;
      written.start = expander.expandCodeFor(found->start, store->getPointerOperandType(), place);
      for (const auto &[loop, step] : found->steps)
        written.steps.emplace_back(loop, expander.expandCodeFor(step, step->getType(), place));
      places.try_emplace(store, std::move(written));
    }
  }
  stores_.remove_if([](const auto &each) { return !each.second; });
  reads_.remove_if([&](const auto &each) {
    return any_of(each.second, [&](StoreInst *store) { return stores_.find(store) == stores_.end(); });
  });
  for (auto &[store, known] : stores_) {
    if (known->old)
      continue;
    known->old = new LoadInst(store->getValueOperand()->getType(), store->getPointerOperand(), "overwritten", false,
                              store->getAlign(), store->getIterator());
    known->old->setDebugLoc(store->getDebugLoc());
    known->old->setMetadata(LLVMContext::MD_tbaa, store->getMetadata(LLVMContext::MD_tbaa));
    // The function reads now what it only wrote.
    function_.removeFnAttr(Attribute::Memory);
    for (Argument &argument : function_.args()) {
      argument.removeAttr(Attribute::WriteOnly);
      argument.removeAttr(Attribute::ReadNone);
      argument.removeAttr(Attribute::Initializes);
    }
  }
  // What was expanded may use values of loops that come before.
  for (Loop *loop : loops_)
    formLCSSARecursively(*loop, tree_, &loops_, &evolution);
  enz::lowerConstantExpressions(function_);
  for (auto &[store, known] : stores_) {
    EnzUndoneStore fact{
        in(static_cast<Value *>(store)), in(static_cast<Value *>(known->old)), nullptr, nullptr, {}, {}, 0};
    if (const auto place = places.find(store); place != places.end()) {
      const auto isLost = [](Value *value) { return !value || isa<ConstantExpr>(value); };
      const Written &written = place->second;
      if (isLost(written.start) || any_of(written.steps, [&](const auto &step) { return isLost(step.second); }))
        continue;
      fact.header = in(written.outer->getHeader());
      fact.start = in(static_cast<Value *>(written.start));
      for (const auto &[loop, step] : written.steps) {
        fact.headers[fact.steps] = in(loop->getHeader());
        fact.strides[fact.steps] = in(static_cast<Value *>(step));
        ++fact.steps;
      }
    }
    sink.undone_store(sink.context, fact);
  }
  for (const auto &[load, stores] : reads_)
    for (StoreInst *store : stores)
      sink.repeated_load(sink.context, in(static_cast<Value *>(load)), in(static_cast<Value *>(store)));
  for (const auto &[phi, load] : phis_)
    if (reads_.count(load))
      sink.stands_for(sink.context, in(static_cast<Value *>(phi)), in(static_cast<Value *>(load)));
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  host_.functions->invalidate(function_, preserved);
}
