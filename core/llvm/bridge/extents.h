// What a loop does to memory: whether its steps can be repeated, and which regions, with their extents, are its state.
//
// The extent of memory comes from the size of the object, where that is known before the loop, else from the range that
// ScalarEvolution gives the address over all iterations of the loop and of those in it. Such a range is taken only if
// an access that runs in each step touches all of it: memory is never read that the program does not touch. Conditions
// that are the same throughout the loop are part of the region instead.
#ifndef ENZYME_EXTENTS_H
#define ENZYME_EXTENTS_H

#include "checkpoint.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace enz {

using namespace llvm;

// More regions than this, and a loop is left alone.
constexpr size_t kRegionLimit = 256;
// Of more blocks than this it is not asked when they are run.
constexpr size_t kBlockLimit = 64;
// With more writes than this, loads stay where they are.
constexpr size_t kWriteLimit = 512;

struct Range {
  const SCEV *low = nullptr, *high = nullptr;
  explicit operator bool() const { return low && high; }
};

// Conditions, and blocks that are run.
using Guards = SmallVector<std::pair<Value *, bool>, 4>;

// Memory that the loop accesses: an object, or `bytes` from `base + low`.
struct Region {
  Value *object = nullptr;
  Value *base = nullptr;
  const SCEV *low = nullptr, *bytes = nullptr;
  Guards guards;
  bool written = false;
  bool sure = true;
  // The first step that touches it, where buffers change places.
  unsigned turn = 0;
};

// An access of which no region is known that it touches all of.
struct Loose {
  Value *pointer;
  TypeSize size;
  Value *length;
  bool written;
};

// A loop of which it is asked whether its steps can be repeated.
class Extents {
public:
  Extents(EnzOpaqueHost &host, Function &function, Loop &loop, const EnzPrepare &options)
      : function_(function), loop_(loop), options_(options), aliases_(host.functions->getResult<AAManager>(function)),
        evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
        after_(host.functions->getResult<PostDominatorTreeAnalysis>(function)),
        loops_(host.functions->getResult<LoopAnalysis>(function)),
        library_(host.functions->getResult<TargetLibraryAnalysis>(function)), layout_(function.getDataLayout()) {}

  // Loads in the loop of what is the same throughout it come before it, as far as aliasing, conditions and all, allow:
  // addresses and bounds are then known. Whether there were any; what was known of the function is then to be
  // forgotten.
  bool hoistLoads();

  // Why the loop cannot be checkpointed; empty if it can.
  std::string examine() {
    checkShape();
    for (BasicBlock *block : loop_.blocks())
      for (Instruction &inst : *block) {
        if (!why_.empty())
          return why_;
        access(inst);
      }
    coverConditional();
    coverLoose();
    if (why_.empty() && regions_.size() > kRegionLimit)
      why_ = "it accesses too many regions";
    return why_;
  }

protected:
  void refuse(const Twine &why) {
    if (why_.empty())
      why_ = why.str();
  }

  // Whether `value` follows from what is known before the loop, by address arithmetic alone.
  bool isAddressKnown(Value *value, unsigned depth = 0) const {
    if (loop_.isLoopInvariant(value))
      return true;
    const auto *inst = dyn_cast<Instruction>(value);
    return inst && depth < 8 && (isa<GetElementPtrInst, CastInst>(inst)) &&
           all_of(inst->operands(), [&](const Use &use) { return isAddressKnown(use.get(), depth + 1); });
  }

  Value *addressBefore(IRBuilder<> &build, Value *value);

  // Whether a call writes no memory but errno, or only memory that it allocates.
  bool writesNothing(const Instruction &inst) const {
    const auto *call = dyn_cast<CallBase>(&inst);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->isDeclaration() && (isAllocation(call) || isMath(*callee)) &&
           none_of(call->args(), [](const Use &arg) { return arg->getType()->isPtrOrPtrVectorTy(); });
  }

  // Whether the engine's tables have derivatives for an external function: it then accesses what its arguments point
  // to.
  bool isMath(const Function &callee) const {
    return options_.harmless && options_.harmless(options_.context, enz::text(callee.getName())) == 1;
  }

  // A load that was brought before the loop, valid where the conditions hold.
  struct Early {
    const SCEV *address;
    Guards guards;
    LoadInst *load;
  };

  bool isOverwritten(LoadInst &load, ArrayRef<Instruction *> writes);
  bool hoist(LoadInst &load, ArrayRef<Instruction *> writes, SmallVectorImpl<Early> &done);
  void replaceByEarly(LoadInst &load, ArrayRef<Instruction *> writes, ArrayRef<Early> done);
  // Phis that can only be one value from before the loop are that value.
  void joinPhis();

  void checkShape() {
    if (!loop_.getLoopPreheader() || !loop_.getLoopLatch() || !loop_.hasDedicatedExits())
      return refuse("it is no simple loop");
    if (layout_.getPointerSizeInBits(0) != 64)
      return refuse("pointers do not have 64 bits");
    for (PHINode &phi : loop_.getHeader()->phis())
      if (phi.getType()->isPtrOrPtrVectorTy() || !phi.getType()->isSized() || phi.getType()->isAggregateType())
        return refuse("it carries a pointer from step to step");
    SmallVector<BasicBlock *, 4> exits;
    loop_.getUniqueExitBlocks(exits);
    if (exits.empty())
      return refuse("it has no exit");
    for (BasicBlock *exit : exits)
      for (PHINode &phi : exit->phis())
        if ((phi.getType()->isPtrOrPtrVectorTy() || phi.getType()->isAggregateType()) &&
            !all_of(phi.incoming_values(), [&](const Use &use) { return loop_.isLoopInvariant(use.get()); }))
          return refuse("a pointer leaves it");
  }

  // What an instruction does to memory.
  void access(Instruction &inst) {
    if (isa<AllocaInst>(inst))
      return refuse("it makes stack slots");
    if (inst.isTerminator()) {
      if (!isa<BranchInst, SwitchInst, UnreachableInst>(inst))
        refuse("it has exceptional control flow");
      return;
    }
    if (!inst.mayReadOrWriteMemory() || isa<AssumeInst, DbgInfoIntrinsic, NoAliasScopeDeclInst>(inst) ||
        inst.isLifetimeStartOrEnd())
      return;
    if (inst.isVolatile() || inst.isAtomic())
      return refuse("it has volatile or atomic accesses");
    if (auto *load = dyn_cast<LoadInst>(&inst))
      return touch(inst, load->getPointerOperand(), layout_.getTypeStoreSize(load->getType()), nullptr, false);
    if (auto *store = dyn_cast<StoreInst>(&inst)) {
      Value *pointer = store->getPointerOperand();
      if (store->getValueOperand()->getType()->isPtrOrPtrVectorTy() && !isOfStep(pointer))
        return refuse("it stores pointers");
      return touch(inst, pointer, layout_.getTypeStoreSize(store->getValueOperand()->getType()), nullptr, true);
    }
    if (auto *fill = dyn_cast<AnyMemIntrinsic>(&inst)) {
      touch(inst, fill->getRawDest(), TypeSize::getFixed(0), fill->getLength(), true);
      if (auto *copy = dyn_cast<AnyMemTransferInst>(&inst))
        touch(inst, copy->getRawSource(), TypeSize::getFixed(0), copy->getLength(), false);
      return;
    }
    if (auto *call = dyn_cast<CallBase>(&inst))
      return callOf(*call);
    refuse("it does what is not known to memory");
  }

  void callOf(CallBase &call) {
    const Function *callee = call.getCalledFunction();
    if (!callee)
      return refuse("it calls through a pointer");
    if (isAllocation(&call)) {
      if (!isFreedInStep(call))
        refuse("it allocates memory that may outlive a step");
      return;
    }
    if (const Value *freed = freedBy(call)) {
      if (!isOfStep(const_cast<Value *>(freed)))
        refuse("it frees memory from before it");
      return;
    }
    const StringRef name = callee->getName();
    if (callee->isDeclaration() && isMath(*callee)) {
      // Errno aside, it accesses what its arguments point to.
      for (Value *arg : call.args())
        if (arg->getType()->isPointerTy())
          touch(call, arg, TypeSize::getFixed(0), arg, true);
      return;
    }
    if (!call.onlyReadsMemory())
      return refuse("it calls '" + name + "', which may write memory or do I/O");
    complete_ = false;
  }

  // Whether a call allocates. Declarations that no pass has looked at do not say so: they are known by name.
  bool isAllocation(const Value *value) const {
    const auto *call = dyn_cast<CallBase>(value);
    return isAllocationFn(value, &library_) || (call && isLibrary(*call, {LibFunc_malloc, LibFunc_calloc}));
  }

  bool isLibrary(const CallBase &call, std::initializer_list<LibFunc> among) const {
    const Function *callee = call.getCalledFunction();
    LibFunc which = NotLibFunc;
    return callee && library_.getLibFunc(*callee, which) && is_contained(among, which);
  }

  // What a call frees.
  const Value *freedBy(const CallBase &call) const {
    if (const Value *freed = getFreedOperand(&call, &library_))
      return freed;
    return isLibrary(call, {LibFunc_free}) ? call.getArgOperand(0) : nullptr;
  }

  // Whether all paths from an allocation to the end of the step, or of the iteration of an inner loop, free it.
  bool isFreedInStep(const CallBase &call) const;
  // What an allocation is called where it is freed: itself, or a phi that is nothing else on the ways from there.
  bool isFreeing(const Value *freed, const CallBase &call, const SmallPtrSetImpl<const BasicBlock *> &behind) const;

  // Whether the memory is allocated in the same step, if it is any.
  bool isOfStep(Value *pointer) const {
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects, nullptr, 0);
    return all_of(objects, [&](const Value *object) {
      return isa<ConstantPointerNull>(object) || (isAllocation(object) && loop_.contains(cast<Instruction>(object)));
    });
  }

  // `size` bytes at `pointer`, or `length`; a length that is a pointer stands for any.
  void touch(Instruction &inst, Value *pointer, TypeSize size, Value *length, bool written) {
    if (size.isScalable())
      return refuse("it accesses scalable vectors");
    const SmallSetVector<const Value *, 4> objects = objectsOf(pointer);
    for (const Value *object : objects) {
      const auto *made = dyn_cast<Instruction>(object);
      if (isa<ConstantPointerNull, UndefValue>(object) || (made && loop_.contains(made) && isAllocation(object)))
        continue;
      if (!written && isa<GlobalVariable>(object) && cast<GlobalVariable>(object)->isConstant())
        continue;
      if (isSized(object)) {
        Region region;
        region.object = const_cast<Value *>(object);
        region.written = written;
        addRegion(region);
        continue;
      }
      if (objects.size() == 1 && touchRange(inst, pointer, size, length, written))
        continue;
      if (objects.size() > 1 && touchPlaces(inst, pointer, size, length, written))
        return;
      if (objects.size() == 1 && !(length && length->getType()->isPointerTy())) {
        loose_.push_back({pointer, size, length, written});
        continue;
      }
      if (!written) {
        complete_ = false;
        continue;
      }
      return refuse("the extent of what it writes at " + nameOf(object) + " is not known before it");
    }
  }

  // What `pointer` may lead into; of what comes together before the loop, and has a known size in all cases, the
  // pointer to any of it.
  SmallSetVector<const Value *, 4> objectsOf(const Value *pointer) const {
    SmallSetVector<const Value *, 4> out;
    SmallVector<const Value *, 4> work{pointer}, objects;
    SmallPtrSet<const Value *, 8> seen;
    while (!work.empty()) {
      const Value *object = getUnderlyingObject(work.pop_back_val(), 0);
      if (!seen.insert(object).second)
        continue;
      if (isSized(object)) {
        out.insert(object);
      } else if (const auto *phi = dyn_cast<PHINode>(object); phi && loop_.contains(phi)) {
        work.append(phi->value_op_begin(), phi->value_op_end());
      } else if (const auto *select = dyn_cast<SelectInst>(object); select && loop_.contains(select)) {
        work.push_back(select->getTrueValue());
        work.push_back(select->getFalseValue());
      } else {
        objects.clear();
        getUnderlyingObjects(object, objects, nullptr, 0);
        out.insert_range(objects);
      }
    }
    return out;
  }

  static std::string nameOf(const Value *pointer) {
    if (pointer->hasName())
      return pointer->getName().str();
    if (const auto *argument = dyn_cast<Argument>(pointer))
      return "argument " + std::to_string(argument->getArgNo() + 1);
    return isa<LoadInst>(pointer) ? "a pointer from memory" : "a pointer";
  }

  bool isSized(const Value *object) const {
    if (const auto *slot = dyn_cast<AllocaInst>(object))
      return !loop_.contains(slot) && !slot->getAllocatedType()->isScalableTy();
    if (const auto *global = dyn_cast<GlobalVariable>(object))
      return !global->isThreadLocal() && global->getValueType()->isSized() &&
             layout_.getTypeAllocSize(global->getValueType()) > 0;
    const auto *made = dyn_cast<Instruction>(object);
    return made && !loop_.contains(made) && dominators_.dominates(made, loop_.getLoopPreheader()->getTerminator()) &&
           isSizedAllocation(made, 0);
  }

  // An allocation, or what comes together of some and of null: a container that may be empty. Each is known where its
  // way there ends.
  bool isSizedAllocation(const Value *value, unsigned depth) const {
    if (const auto *phi = dyn_cast<PHINode>(value))
      return depth < 4 && all_of(
                              phi->incoming_values(),
                              [&](const Use &use) {
                                return isa<ConstantPointerNull>(use.get()) ||
                                       (phi->getIncomingBlock(use)->getTerminator() != use.get() &&
                                        isSizedAllocation(use.get(), depth + 1));
                              });
    const auto *call = dyn_cast<CallBase>(value);
    return call && isAllocation(call) && sizeArguments(*call).has_value();
  }

  // Which arguments multiplied are the size of an allocation.
  std::optional<std::pair<unsigned, std::optional<unsigned>>> sizeArguments(const CallBase &call) const {
    if (const Attribute attribute = call.getFnAttr(Attribute::AllocSize); attribute.isValid())
      return attribute.getAllocSizeArgs();
    if (isLibrary(call, {LibFunc_malloc}))
      return std::pair(0u, std::optional<unsigned>());
    if (isLibrary(call, {LibFunc_calloc}))
      return std::pair(0u, std::optional(1u));
    return std::nullopt;
  }

  // The values that the SCEV `what` of an integer takes in all iterations.
  Range rangeOf(const SCEV *what, unsigned depth = 0) {
    if (depth > 12 || isa<SCEVCouldNotCompute>(what))
      return {};
    if (evolution_.isLoopInvariant(what, &loop_))
      return {what, what};
    if (const auto *recurrence = dyn_cast<SCEVAddRecExpr>(what)) {
      const Loop *inner = recurrence->getLoop();
      if (!recurrence->isAffine() || !loop_.contains(inner))
        return {};
      moves_ |= inner == &loop_;
      const Range start = rangeOf(recurrence->getStart(), depth + 1);
      const SCEV *step = recurrence->getStepRecurrence(evolution_);
      const SCEV *count = evolution_.getBackedgeTakenCount(inner);
      if (!start || isa<SCEVCouldNotCompute>(count) || !evolution_.isLoopInvariant(step, &loop_))
        return {};
      const Range counts = rangeOf(count, depth + 1);
      if (!counts)
        return {};
      if (evolution_.getTypeSizeInBits(counts.high->getType()) > evolution_.getTypeSizeInBits(step->getType()))
        return {};
      const SCEV *most = evolution_.getNoopOrZeroExtend(counts.high, step->getType());
      const SCEV *far = evolution_.getMulExpr(step, most);
      if (evolution_.isKnownNonNegative(step))
        return {start.low, evolution_.getAddExpr(start.high, far)};
      if (evolution_.isKnownNonPositive(step))
        return {evolution_.getAddExpr(start.low, far), start.high};
      return {};
    }
    if (const auto *sum = dyn_cast<SCEVAddExpr>(what)) {
      SmallVector<const SCEV *, 4> low, high;
      for (const SCEV *part : sum->operands()) {
        const Range range = rangeOf(part, depth + 1);
        if (!range)
          return {};
        low.push_back(range.low);
        high.push_back(range.high);
      }
      return {evolution_.getAddExpr(low), evolution_.getAddExpr(high)};
    }
    if (const auto *product = dyn_cast<SCEVMulExpr>(what); product && product->getNumOperands() == 2) {
      const SCEV *factor = product->getOperand(0);
      const Range range = rangeOf(product->getOperand(1), depth + 1);
      if (!range || !evolution_.isLoopInvariant(factor, &loop_))
        return {};
      const SCEV *a = evolution_.getMulExpr(factor, range.low), *b = evolution_.getMulExpr(factor, range.high);
      if (evolution_.isKnownNonNegative(factor))
        return {a, b};
      if (evolution_.isKnownNonPositive(factor))
        return {b, a};
      return {};
    }
    return {};
  }

  // A condition that is the same throughout the loop and known before it.
  bool isKnownBefore(Value *condition) const {
    if (loop_.isLoopInvariant(condition))
      return true;
    const auto *compare = dyn_cast<ICmpInst>(condition);
    return compare && loop_.isLoopInvariant(compare->getOperand(0)) && loop_.isLoopInvariant(compare->getOperand(1));
  }

  // A condition in the header that can be computed from what the first step starts with.
  bool isKnownAtFirst(Value *condition, unsigned depth = 0) const {
    const auto *inst = dyn_cast<Instruction>(condition);
    if (!inst || !loop_.contains(inst))
      return true;
    if (inst->getParent() != loop_.getHeader() || depth > 8)
      return false;
    if (isa<PHINode>(inst))
      return true;
    return !inst->mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(inst) &&
           all_of(inst->operands(), [&](const Use &use) { return isKnownAtFirst(use.get(), depth + 1); });
  }

  Value *atFirst(IRBuilder<> &build, Value *value) {
    auto *inst = dyn_cast<Instruction>(value);
    if (!inst || !loop_.contains(inst))
      return value;
    if (auto *phi = dyn_cast<PHINode>(inst))
      return phi->getIncomingValueForBlock(loop_.getLoopPreheader());
    Instruction *copy = inst->clone();
    for (Use &use : copy->operands())
      use.set(atFirst(build, use.get()));
    return build.Insert(copy);
  }

  // The conditions under which each step runs `block` to its end; whether these are all.
  bool conditions(const BasicBlock *block, bool moves, Guards &out) const {
    bool all = true;
    for (const DomTreeNode *node = dominators_.getNode(block); node && node->getBlock() != loop_.getHeader();
         node = node->getIDom()) {
      const BasicBlock *above = node->getIDom()->getBlock();
      if (after_.dominates(node->getBlock(), above))
        continue;
      const auto *branch = dyn_cast<BranchInst>(above->getTerminator());
      if (!branch || !branch->isConditional()) {
        all = false;
        continue;
      }
      const BasicBlockEdge yes(above, branch->getSuccessor(0)), no(above, branch->getSuccessor(1));
      const bool first = dominators_.dominates(yes, node->getBlock());
      // The test at the top that leaves the loop: what is the same in all steps is touched by the first, if there is
      // one.
      const bool at_top = above == loop_.getHeader() && !moves && isKnownAtFirst(branch->getCondition()) &&
                          !loop_.contains(branch->getSuccessor(first ? 1 : 0));
      if ((first || dominators_.dominates(no, node->getBlock())) && (isKnownBefore(branch->getCondition()) || at_top)) {
        out.emplace_back(branch->getCondition(), first);
        continue;
      }
      // Several ways may lead there, as where one condition follows from another.
      DenseMap<const BasicBlock *, bool> seen;
      if (isRunKnown(node->getBlock(), seen)) {
        out.emplace_back(node->getBlock(), true);
        return all;
      }
      all = false;
    }
    return all;
  }

  // The block before the inner loop that a block follows or begins: it is run where that is. Null if the block may come
  // after a part of that loop.
  BasicBlock *beforeInner(const BasicBlock *inside, const BasicBlock *block) const {
    const Loop *inner = loops_.getLoopFor(inside);
    if (!loop_.contains(inner))
      return nullptr;
    while (inner->getParentLoop() != &loop_)
      inner = inner->getParentLoop();
    return inner->getHeader() == block || inner->getUniqueExitBlock() == block ? inner->getLoopPreheader() : nullptr;
  }

  // Whether it is known before the loop if each of its steps runs `block`, which is in no inner loop or begins one.
  // `seen` has what is known already; a block that is in the middle of it leads back to itself.
  bool isRunKnown(const BasicBlock *block, DenseMap<const BasicBlock *, bool> &seen) const {
    if (block == loop_.getHeader())
      return true;
    if (const auto [at, isNew] = seen.try_emplace(block, false); !isNew)
      return at->second;
    const auto isKnownFrom = [&](const BasicBlock *from) {
      if (!loop_.contains(from))
        return false;
      if (loops_.getLoopFor(from) != &loop_) {
        const BasicBlock *before = beforeInner(from, block);
        return before && isRunKnown(before, seen);
      }
      const auto *branch = dyn_cast<BranchInst>(from->getTerminator());
      return branch && (branch->isUnconditional() || isKnownBefore(branch->getCondition())) && isRunKnown(from, seen);
    };
    if (seen.size() > kBlockLimit)
      return false;
    if (loops_.getLoopFor(block) == &loop_) {
      if (!all_of(predecessors(block), isKnownFrom))
        return false;
    } else if (const BasicBlock *before = beforeInner(block, block); !before || !isRunKnown(before, seen)) {
      return false;
    }
    seen[block] = true;
    return true;
  }

  Value *runs(IRBuilder<> &build, const BasicBlock *block, DenseMap<const BasicBlock *, Value *> &known) {
    if (block == loop_.getHeader())
      return build.getTrue();
    if (Value *value = known.lookup(block))
      return value;
    if (loops_.getLoopFor(block) != &loop_)
      return runs(build, beforeInner(block, block), known);
    Value *any = build.getFalse();
    for (const BasicBlock *from : predecessors(block)) {
      if (loops_.getLoopFor(from) != &loop_) {
        any = build.CreateLogicalOr(any, runs(build, beforeInner(from, block), known));
        continue;
      }
      Value *here = runs(build, from, known);
      const auto *branch = cast<BranchInst>(from->getTerminator());
      if (branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1))
        here =
            build.CreateLogicalAnd(here, conditionOf(build, branch->getCondition(), branch->getSuccessor(0) == block));
      any = build.CreateLogicalOr(any, here);
    }
    known[block] = any;
    return any;
  }

  // Where `size` bytes at `pointer`, or `length`, lie in all steps. Sets `moves_`.
  bool locate(Value *pointer, TypeSize size, Value *length, Region &region) {
    return !(length && length->getType()->isPointerTy()) && locate(evolution_.getSCEV(pointer), size, length, region);
  }

  bool locate(const SCEV *address, TypeSize size, Value *length, Region &region) {
    const auto *base = dyn_cast<SCEVUnknown>(evolution_.getPointerBase(address));
    if (!base || !evolution_.isLoopInvariant(base, &loop_) || base->getType()->getPointerAddressSpace() != 0)
      return false;
    moves_ = false;
    const Range range = rangeOf(evolution_.removePointerBase(address));
    if (!range || evolution_.getTypeSizeInBits(range.low->getType()) != 64)
      return false;
    const SCEV *bytes = bytesAt(size, length);
    if (!bytes)
      return false;
    region.base = base->getValue();
    region.low = range.low;
    region.bytes = evolution_.getAddExpr(evolution_.getMinusSCEV(range.high, range.low), bytes);
    return isKnown(region.low) && isKnown(region.bytes);
  }

  // `size`, or `length` if it is the same in all steps.
  const SCEV *bytesAt(TypeSize size, Value *length) {
    if (!length)
      return evolution_.getConstant(APInt(64, size.getFixedValue()));
    const SCEV *bytes = evolution_.getSCEV(length);
    if (!evolution_.isLoopInvariant(bytes, &loop_) || evolution_.getTypeSizeInBits(bytes->getType()) > 64)
      return nullptr;
    return evolution_.getNoopOrZeroExtend(bytes, Type::getInt64Ty(function_.getContext()));
  }

  // Whether a number can be computed before the loop.
  bool isKnown(const SCEV *number) {
    const SCEVExpander expander(evolution_, "");
    return expander.isSafeToExpandAt(number, loop_.getLoopPreheader()->getTerminator());
  }

  bool touchRange(Instruction &inst, Value *pointer, TypeSize size, Value *length, bool written) {
    Region region;
    if (!locate(pointer, size, length, region))
      return false;
    region.written = written;
    region.sure = conditions(inst.getParent(), moves_, region.guards);
    addRegion(region);
    return true;
  }

  // At a pointer to buffers that change places: each of them is touched once the circle has turned so far, if there are
  // as many steps.
  bool touchPlaces(Instruction &inst, Value *pointer, TypeSize size, Value *length, bool written) {
    Value *base = length && length->getType()->isPointerTy() ? nullptr : baseOf(pointer);
    const SmallVector<Value *, 4> places = base ? placesOf(base, loop_) : SmallVector<Value *, 4>();
    const SCEV *turns = evolution_.getBackedgeTakenCount(&loop_);
    const bool counted =
        !isa<SCEVCouldNotCompute>(turns) && isKnown(turns) && evolution_.getTypeSizeInBits(turns->getType()) <= 64;
    const SCEV *offset = evolution_.removePointerBase(evolution_.getSCEV(pointer));
    SmallVector<Region, 4> found;
    for (Value *place : places) {
      Region region;
      if (const Value *object = getUnderlyingObject(place, 0); isSized(object)) {
        region.object = const_cast<Value *>(object);
      } else {
        const SCEV *address = evolution_.getAddExpr(evolution_.getSCEV(place), offset);
        if (!counted || !locate(address, size, length, region) || moves_)
          return false;
        region.turn = static_cast<unsigned>(found.size());
        region.sure = conditions(inst.getParent(), /*moves=*/false, region.guards);
      }
      region.written = written;
      found.push_back(region);
    }
    for (const Region &region : found)
      addRegion(region);
    return !found.empty();
  }

  static bool isPart(const Guards &some, const Guards &all) {
    return llvm::all_of(some, [&](const auto &guard) { return is_contained(all, guard); });
  }

  void addRegion(const Region &region) {
    for (Region &known : regions_) {
      const bool same = known.object == region.object && known.base == region.base && known.low == region.low &&
                        known.bytes == region.bytes;
      if (!same)
        continue;
      if (region.object ||
          (known.sure == region.sure && isPart(known.guards, region.guards) && isPart(region.guards, known.guards))) {
        known.turn = std::min(known.turn, region.turn);
        known.written |= region.written;
        return;
      }
    }
    regions_.push_back(region);
  }

  // A range that not each step touches must lie in one that each step does.
  void coverConditional() {
    SmallVector<Region, 8> kept;
    for (const Region &region : regions_) {
      if (region.object || region.sure ||
          any_of(regions_, [&](const Region &other) { return covers(other, region); })) {
        kept.push_back(region);
      } else if (region.written) {
        return refuse("not each step touches all that some may write at " + nameOf(region.base));
      } else {
        conditional_.push_back(region);
      }
    }
    regions_ = std::move(kept);
  }

  // Of what is written nobody knows where, all that is known of the same memory may be written.
  void coverLoose() {
    for (const Loose &access : loose_) {
      if (!access.written)
        continue;
      Value *base = baseOf(access.pointer);
      bool known = false;
      for (Region &region : regions_)
        if (base && region.base == base && region.sure && region.turn == 0)
          known = region.written = true;
      if (!known)
        return refuse("the extent of what it writes at " + nameOf(getUnderlyingObject(access.pointer, 0)) +
                      " is not known before it");
    }
  }

  Value *baseOf(Value *pointer) {
    const auto *base = dyn_cast<SCEVUnknown>(evolution_.getPointerBase(evolution_.getSCEV(pointer)));
    return base ? base->getValue() : nullptr;
  }

  bool covers(const Region &outer, const Region &inner) {
    if (!outer.sure || outer.base != inner.base || !outer.base || outer.turn > inner.turn ||
        !isPart(outer.guards, inner.guards))
      return false;
    const auto end = [&](const Region &r) { return evolution_.getAddExpr(r.low, r.bytes); };
    return evolution_.isKnownPredicate(CmpInst::ICMP_SLE, outer.low, inner.low) &&
           evolution_.isKnownPredicate(CmpInst::ICMP_SGE, end(outer), end(inner));
  }

  Value *bytesOf(IRBuilder<> &build, Value *object) {
    if (auto *slot = dyn_cast<AllocaInst>(object)) {
      Value *one = build.getInt64(layout_.getTypeAllocSize(slot->getAllocatedType()));
      Value *count = build.CreateZExtOrTrunc(slot->getArraySize(), build.getInt64Ty());
      return build.CreateMul(one, count);
    }
    if (auto *global = dyn_cast<GlobalVariable>(object))
      return build.getInt64(layout_.getTypeAllocSize(global->getValueType()));
    if (isa<ConstantPointerNull>(object))
      return build.getInt64(0);
    if (auto *phi = dyn_cast<PHINode>(object)) {
      IRBuilder<> here(phi);
      PHINode *bytes = here.CreatePHI(here.getInt64Ty(), phi->getNumIncomingValues());
      for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n) {
        IRBuilder<> there(phi->getIncomingBlock(n)->getTerminator());
        const int known = bytes->getBasicBlockIndex(phi->getIncomingBlock(n));
        bytes->addIncoming(known < 0 ? bytesOf(there, phi->getIncomingValue(n)) : bytes->getIncomingValue(known),
                           phi->getIncomingBlock(n));
      }
      return bytes;
    }
    auto *call = cast<CallBase>(object);
    const auto [size, count] = *sizeArguments(*call);
    Value *bytes = build.CreateZExtOrTrunc(call->getArgOperand(size), build.getInt64Ty());
    if (count)
      bytes = build.CreateMul(bytes, build.CreateZExtOrTrunc(call->getArgOperand(*count), build.getInt64Ty()));
    // An allocation that failed has no bytes.
    return build.CreateSelect(build.CreateIsNull(object), build.getInt64(0), bytes);
  }

  Value *guardOf(IRBuilder<> &build, const Guards &guards) {
    Value *all = build.getTrue();
    DenseMap<const BasicBlock *, Value *> known;
    for (auto [condition, sense] : guards) {
      const auto *block = dyn_cast<BasicBlock>(condition);
      Value *holds = block ? runs(build, block, known) : conditionOf(build, condition, sense);
      all = build.CreateLogicalAnd(all, holds);
    }
    return all;
  }

  Value *conditionOf(IRBuilder<> &build, Value *condition, bool sense) {
    // Outside of the header it depends on nothing in the loop.
    Value *here = condition;
    if (auto *compare = dyn_cast<ICmpInst>(condition); compare && loop_.contains(compare) && isKnownBefore(compare))
      here = build.CreateICmp(compare->getPredicate(), compare->getOperand(0), compare->getOperand(1));
    else
      here = atFirst(build, condition);
    return sense ? here : build.CreateNot(here);
  }

  Function &function_;
  Loop &loop_;
  const EnzPrepare &options_;
  AAResults &aliases_;
  ScalarEvolution &evolution_;
  DominatorTree &dominators_;
  PostDominatorTree &after_;
  LoopInfo &loops_;
  TargetLibraryInfo &library_;
  const DataLayout &layout_;
  std::string why_;
  SmallVector<Region, 8> regions_;
  // Whether the regions hold all that the loop reads, if they hold these ranges and what is read there.
  bool complete_ = true;
  SmallVector<Region, 4> conditional_;
  SmallVector<Loose, 4> loose_;
  // Whether the range at hand is other in each step.
  bool moves_ = false;
};

} // namespace enz

#endif
