// Loops whose steps can be done again from states that are kept: found in a prepared clone, and branched off.
//
// Of a loop that qualifies, the body becomes a function of its own, the *step*. What a step passes to the next in
// registers goes through stack slots, so that the state of the loop is memory alone: these slots and all memory that the
// loop may write. A second function, the *loop*, calls the step until it says that the loop is left and where to. The
// clone calls it where `enzyme.checkpoint.wanted` says so, and runs the loop as it was elsewhere; a loop that the program
// marks with `__enzyme_checkpoint(n)` is replaced. The loop function is ordinary code with an ordinary derivative; its
// trailing parameters, which it does not use, say what a schedule (checkpoint.c) needs to know:
//
//   ... parameters of the step ..., bytes for states, states, trip count or -1, and of each region: address, bytes
//
// Its name says whether the regions hold all that the loop reads (`all`, else `some`), and how many of them it may
// write, which come first. The extent of memory comes from the size of the object,
// where that is known before the loop, else from the range that ScalarEvolution gives the address over all iterations of
// the loop and of those in it. Such a range is taken only if an access that runs in each iteration touches all of it:
// memory is never read that the program does not touch. Conditions that are the same throughout the loop are part of the
// region instead.
//
// Not handled, so refused, each with a note: steps that throw, allocate what outlives them, store pointers, call what
// may write memory or do I/O, are volatile or atomic; pointers carried from step to step; memory without known extent.

#include "checkpoint.h"

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
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

// More regions than this, and a loop is left alone.
constexpr size_t kRegionLimit = 256;

std::string placeOf(const Loop &loop) {
  std::string out;
  raw_string_ostream stream(out);
  if (const DebugLoc at = loop.getStartLoc())
    stream << at->getFilename() << ":" << at.getLine();
  else
    stream << "%" << loop.getHeader()->getName();
  return out;
}

struct Range {
  const SCEV *low = nullptr, *high = nullptr;
  explicit operator bool() const { return low && high; }
};

using Guards = SmallVector<std::pair<Value *, bool>, 4>;

// Memory that the loop accesses: an object, or `bytes` from `base + low`.
struct Region {
  Value *object = nullptr;
  Value *base = nullptr;
  const SCEV *low = nullptr, *bytes = nullptr;
  Guards guards;
  bool written = false;
  bool sure = true;
};

class Candidate {
public:
  Candidate(EnzOpaqueHost &host, Function &function, Loop &loop, const EnzPrepare &options)
      : function_(function), loop_(loop), options_(options),
        evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
        after_(host.functions->getResult<PostDominatorTreeAnalysis>(function)),
        loops_(host.functions->getResult<LoopAnalysis>(function)),
        library_(host.functions->getResult<TargetLibraryAnalysis>(function)), layout_(function.getDataLayout()) {}

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
    if (why_.empty() && regions_.size() > kRegionLimit)
      why_ = "it accesses too many regions";
    return why_;
  }

  void transform(uint64_t limit, int64_t states, unsigned number);

private:
  void refuse(const Twine &why) {
    if (why_.empty())
      why_ = why.str();
  }

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
        if (phi.getType()->isPtrOrPtrVectorTy() || phi.getType()->isAggregateType())
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
    if (isAllocationFn(&call, &library_)) {
      if (!isFreedInStep(call))
        refuse("it allocates memory that may outlive a step");
      return;
    }
    if (const Value *freed = getFreedOperand(&call, &library_)) {
      if (!isOfStep(const_cast<Value *>(freed)))
        refuse("it frees memory from before it");
      return;
    }
    const StringRef name = callee->getName();
    const bool pure = options_.harmless && options_.harmless(options_.context, enz::text(name)) == 1;
    if (callee->isDeclaration() && pure) {
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

  // Whether all paths from an allocation to the end of the step free it.
  bool isFreedInStep(const CallBase &call) const {
    for (BasicBlock *block : loop_.blocks())
      for (Instruction &inst : *block) {
        auto *other = dyn_cast<CallBase>(&inst);
        const Value *freed = other ? getFreedOperand(other, &library_) : nullptr;
        if (freed && getUnderlyingObject(freed, 0) == &call && loops_.getLoopFor(block) == loops_.getLoopFor(call.getParent()) &&
            (block == call.getParent() || after_.dominates(block, call.getParent())))
          return true;
      }
    return false;
  }

  // Whether the memory is allocated in the same step.
  bool isOfStep(Value *pointer) const {
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects, nullptr, 0);
    return all_of(objects, [&](const Value *object) {
      return isAllocationFn(object, &library_) && loop_.contains(cast<Instruction>(object));
    });
  }

  // `size` bytes at `pointer`, or `length`; a length that is a pointer stands for any.
  void touch(Instruction &inst, Value *pointer, TypeSize size, Value *length, bool written) {
    if (size.isScalable())
      return refuse("it accesses scalable vectors");
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects, nullptr, 0);
    for (const Value *object : objects) {
      const auto *made = dyn_cast<Instruction>(object);
      if (isa<ConstantPointerNull, UndefValue>(object) ||
          (made && loop_.contains(made) && isAllocationFn(object, &library_)))
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
      if (!written) {
        complete_ = false;
        continue;
      }
      std::string text;
      raw_string_ostream stream(text);
      object->printAsOperand(stream, false);
      return refuse("the extent of what it writes at " + text + " is not known before it");
    }
  }

  bool isSized(const Value *object) const {
    if (const auto *slot = dyn_cast<AllocaInst>(object))
      return !loop_.contains(slot) && !slot->getAllocatedType()->isScalableTy();
    if (const auto *global = dyn_cast<GlobalVariable>(object))
      return !global->isThreadLocal() && global->getValueType()->isSized() &&
             layout_.getTypeAllocSize(global->getValueType()) > 0;
    const auto *call = dyn_cast<CallBase>(object);
    return call && !loop_.contains(call) && dominators_.dominates(call, loop_.getLoopPreheader()->getTerminator()) &&
           isAllocationFn(call, &library_) && sizeArguments(*call);
  }

  static bool sizeArguments(const CallBase &call) {
    const Attribute attribute = call.getFnAttr(Attribute::AllocSize);
    return attribute.isValid();
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
      const Range start = rangeOf(recurrence->getStart(), depth + 1);
      const SCEV *step = recurrence->getStepRecurrence(evolution_);
      const SCEV *count = evolution_.getBackedgeTakenCount(inner);
      if (!start || isa<SCEVCouldNotCompute>(count) || !evolution_.isLoopInvariant(step, &loop_))
        return {};
      const Range counts = rangeOf(count, depth + 1);
      if (!counts)
        return {};
      const SCEV *most = evolution_.getNoopOrZeroExtend(
          evolution_.getTruncateOrNoop(counts.high, evolution_.getWiderType(step->getType(), step->getType())),
          step->getType());
      if (evolution_.getTypeSizeInBits(counts.high->getType()) > evolution_.getTypeSizeInBits(step->getType()))
        return {};
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

  // The conditions under which each step runs `block` to its end; whether these are all.
  bool conditions(const BasicBlock *block, Guards &out) const {
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
      if ((first || dominators_.dominates(no, node->getBlock())) && isKnownBefore(branch->getCondition()))
        out.emplace_back(branch->getCondition(), first);
      else
        all = false;
    }
    return all;
  }

  bool touchRange(Instruction &inst, Value *pointer, TypeSize size, Value *length, bool written) {
    if (length && length->getType()->isPointerTy())
      return false;
    const SCEV *address = evolution_.getSCEV(pointer);
    const auto *base = dyn_cast<SCEVUnknown>(evolution_.getPointerBase(address));
    if (!base || !evolution_.isLoopInvariant(base, &loop_) || base->getType()->getPointerAddressSpace() != 0)
      return false;
    const Range range = rangeOf(evolution_.removePointerBase(address));
    if (!range || evolution_.getTypeSizeInBits(range.low->getType()) != 64)
      return false;
    const SCEV *bytes = evolution_.getConstant(APInt(64, size.getFixedValue()));
    if (length) {
      bytes = evolution_.getSCEV(length);
      if (!evolution_.isLoopInvariant(bytes, &loop_) || evolution_.getTypeSizeInBits(bytes->getType()) > 64)
        return false;
      bytes = evolution_.getNoopOrZeroExtend(bytes, Type::getInt64Ty(function_.getContext()));
    }
    Region region;
    region.base = base->getValue();
    region.low = range.low;
    region.bytes = evolution_.getAddExpr(evolution_.getMinusSCEV(range.high, range.low), bytes);
    const SCEVExpander expander(evolution_, "");
    const Instruction *place = loop_.getLoopPreheader()->getTerminator();
    if (!expander.isSafeToExpandAt(region.low, place) || !expander.isSafeToExpandAt(region.bytes, place))
      return false;
    region.written = written;
    region.sure = conditions(inst.getParent(), region.guards);
    addRegion(region);
    return true;
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
      if (region.object || (known.sure == region.sure && isPart(known.guards, region.guards) &&
                            isPart(region.guards, known.guards))) {
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
      if (region.object || region.sure || any_of(regions_, [&](const Region &other) { return covers(other, region); })) {
        kept.push_back(region);
      } else if (region.written) {
        return refuse("not each step touches all that some may write at %" + region.base->getName());
      } else {
        complete_ = false;
      }
    }
    regions_ = std::move(kept);
  }

  bool covers(const Region &outer, const Region &inner) {
    if (!outer.sure || outer.base != inner.base || !outer.base || !isPart(outer.guards, inner.guards))
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
    auto *call = cast<CallBase>(object);
    const auto [size, count] = call->getFnAttr(Attribute::AllocSize).getAllocSizeArgs();
    Value *bytes = build.CreateZExtOrTrunc(call->getArgOperand(size), build.getInt64Ty());
    if (count)
      bytes = build.CreateMul(bytes, build.CreateZExtOrTrunc(call->getArgOperand(*count), build.getInt64Ty()));
    // An allocation that failed has no bytes.
    return build.CreateSelect(build.CreateIsNull(object), build.getInt64(0), bytes);
  }

  Value *guardOf(IRBuilder<> &build, const Guards &guards) {
    Value *all = build.getTrue();
    for (auto [condition, sense] : guards) {
      Value *here = condition;
      if (auto *compare = dyn_cast<ICmpInst>(condition); compare && loop_.contains(compare))
        here = build.CreateICmp(compare->getPredicate(), compare->getOperand(0), compare->getOperand(1));
      all = build.CreateLogicalAnd(all, sense ? here : build.CreateNot(here));
    }
    return all;
  }

  Function *makeStep(const Twine &name, ArrayRef<Value *> inputs, ArrayRef<AllocaInst *> slots,
                     const DenseMap<PHINode *, AllocaInst *> &slot_of, const SetVector<std::pair<BasicBlock *, BasicBlock *>> &edges);
  Function *makeLoop(const Twine &name, Function &step, ArrayRef<Type *> control);

  Function &function_;
  Loop &loop_;
  const EnzPrepare &options_;
  ScalarEvolution &evolution_;
  DominatorTree &dominators_;
  PostDominatorTree &after_;
  LoopInfo &loops_;
  TargetLibraryInfo &library_;
  const DataLayout &layout_;
  std::string why_;
  SmallVector<Region, 8> regions_;
  // Whether the regions hold all that the loop reads.
  bool complete_ = true;
};

void takeAttributes(Function &to, const Function &from) {
  to.addFnAttrs(AttrBuilder(from.getContext(), from.getAttributes().getFnAttrs()));
  for (Attribute::AttrKind kind : {Attribute::Memory, Attribute::NoReturn, Attribute::AlwaysInline, Attribute::OptimizeNone,
                                   Attribute::InlineHint, Attribute::Cold})
    to.removeFnAttr(kind);
  to.setDoesNotThrow();
  to.addFnAttr(Attribute::NoInline);
  to.setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
}

// The body of the loop: reads what the step before left in the slots, and leaves its own there. Returns 0 to go on, else
// the number of the edge by which the loop is left.
Function *Candidate::makeStep(const Twine &name, ArrayRef<Value *> inputs, ArrayRef<AllocaInst *> slots,
                              const DenseMap<PHINode *, AllocaInst *> &slot_of,
                              const SetVector<std::pair<BasicBlock *, BasicBlock *>> &edges) {
  LLVMContext &context = function_.getContext();
  SmallVector<Type *, 16> types;
  for (AllocaInst *slot : slots)
    types.push_back(slot->getType());
  for (Value *input : inputs)
    types.push_back(input->getType());
  auto *type = FunctionType::get(Type::getInt32Ty(context), types, false);
  Function *step = Function::Create(type, GlobalValue::InternalLinkage, name, function_.getParent());
  takeAttributes(*step, function_);
  DenseMap<AllocaInst *, Argument *> parameter;
  ValueToValueMapTy map;
  unsigned n = 0;
  for (AllocaInst *slot : slots) {
    parameter[slot] = step->getArg(n);
    step->addParamAttr(n, Attribute::NoAlias);
    step->getArg(n++)->setName("state");
  }
  for (Value *input : inputs) {
    step->getArg(n)->setName(input->getName());
    map[input] = step->getArg(n++);
  }
  BasicBlock *entry = BasicBlock::Create(context, "entry", step);
  for (BasicBlock *block : loop_.blocks())
    map[block] = CloneBasicBlock(block, map, "", step);
  IRBuilder<> build(entry);
  for (PHINode &phi : loop_.getHeader()->phis()) {
    Value *copy = map[&phi];
    map[&phi] = build.CreateLoad(phi.getType(), parameter[slot_of.lookup(&phi)], phi.getName());
    cast<Instruction>(copy)->eraseFromParent();
  }
  build.CreateBr(cast<BasicBlock>(map[loop_.getHeader()]));
  for (BasicBlock *block : loop_.blocks())
    for (Instruction &inst : *cast<BasicBlock>(map[block]))
      RemapInstruction(&inst, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  const auto mapped = [&](Value *value) -> Value * {
    const auto it = map.find(value);
    return it == map.end() ? value : static_cast<Value *>(it->second);
  };
  // Where an edge leads out of the step: what its phis take is stored.
  const auto leave = [&](BasicBlock *from, BasicBlock *to, uint32_t code) {
    BasicBlock *out = BasicBlock::Create(context, code ? "left" : "again", step);
    build.SetInsertPoint(out);
    for (PHINode &phi : to->phis())
      if (AllocaInst *slot = slot_of.lookup(&phi))
        build.CreateStore(mapped(phi.getIncomingValueForBlock(from)), parameter[slot]);
    build.CreateRet(build.getInt32(code));
    return out;
  };
  BasicBlock *latch = loop_.getLoopLatch();
  BasicBlock *again = leave(latch, loop_.getHeader(), 0);
  cast<BasicBlock>(map[latch])->getTerminator()->replaceSuccessorWith(cast<BasicBlock>(map[loop_.getHeader()]), again);
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto [from, to] = edges[i];
    cast<BasicBlock>(map[from])->getTerminator()->replaceSuccessorWith(to, leave(from, to, static_cast<uint32_t>(i) + 1));
  }
  return step;
}

Function *Candidate::makeLoop(const Twine &name, Function &step, ArrayRef<Type *> control) {
  LLVMContext &context = function_.getContext();
  SmallVector<Type *, 16> types(step.getFunctionType()->params());
  types.append(control.begin(), control.end());
  auto *type = FunctionType::get(Type::getInt32Ty(context), types, false);
  Function *loop = Function::Create(type, GlobalValue::InternalLinkage, name, function_.getParent());
  takeAttributes(*loop, function_);
  SmallVector<Value *, 16> args;
  for (unsigned i = 0; i < step.arg_size(); ++i) {
    loop->addParamAttrs(i, AttrBuilder(context, step.getAttributes().getParamAttrs(i)));
    args.push_back(loop->getArg(i));
  }
  BasicBlock *entry = BasicBlock::Create(context, "entry", loop);
  BasicBlock *body = BasicBlock::Create(context, "body", loop);
  BasicBlock *left = BasicBlock::Create(context, "left", loop);
  IRBuilder<> build(entry);
  build.CreateBr(body);
  build.SetInsertPoint(body);
  CallInst *code = build.CreateCall(&step, args);
  build.CreateCondBr(build.CreateICmpEQ(code, build.getInt32(0)), body, left);
  build.SetInsertPoint(left);
  build.CreateRet(code);
  return loop;
}

void Candidate::transform(uint64_t limit, int64_t states, unsigned number) {
  LLVMContext &context = function_.getContext();
  BasicBlock *preheader = loop_.getLoopPreheader();
  BasicBlock *header = loop_.getHeader();
  Instruction *place = preheader->getTerminator();
  IRBuilder<> build(place);
  Type *i64 = build.getInt64Ty();
  const bool annotated = states > 0;

  // Slots for what passes from step to step, and for what leaves the loop.
  SetVector<std::pair<BasicBlock *, BasicBlock *>> edges;
  for (BasicBlock *block : loop_.blocks())
    for (BasicBlock *next : successors(block))
      if (!loop_.contains(next))
        edges.insert({block, next});
  IRBuilder<> at_entry(&function_.getEntryBlock(), function_.getEntryBlock().getFirstInsertionPt());
  SmallVector<AllocaInst *, 8> slots;
  DenseMap<PHINode *, AllocaInst *> slot_of;
  const auto addSlot = [&](PHINode &phi, const Twine &name) {
    slots.push_back(at_entry.CreateAlloca(phi.getType(), nullptr, name));
    slot_of[&phi] = slots.back();
  };
  for (PHINode &phi : header->phis())
    addSlot(phi, "enzyme.state");
  SmallPtrSet<BasicBlock *, 4> seen;
  for (auto [from, to] : edges)
    if (seen.insert(to).second)
      for (PHINode &phi : to->phis())
        if (any_of(phi.operands(), [&](const Use &use) {
              const auto *inst = dyn_cast<Instruction>(use.get());
              return inst && loop_.contains(inst);
            }))
          addSlot(phi, "enzyme.left");
  // What the schedule must know, before control flow changes.
  SmallVector<Value *, 16> control, wanted{build.getInt64(limit)};
  SCEVExpander expander(evolution_, "enzyme.checkpoint");
  const auto countOf = [&](const Loop &loop, bool exact) -> Value * {
    const SCEV *count = exact ? evolution_.getBackedgeTakenCount(&loop) : evolution_.getSymbolicMaxBackedgeTakenCount(&loop);
    const Range range = rangeOf(count);
    if (!range || !count->getType()->isIntegerTy() || evolution_.getTypeSizeInBits(count->getType()) > 64)
      return nullptr;
    const SCEV *wide = evolution_.getNoopOrZeroExtend(range.high, i64);
    return expander.isSafeToExpandAt(wide, place) ? expander.expandCodeFor(wide, i64, place) : nullptr;
  };
  Value *trips = countOf(loop_, true);
  build.SetInsertPoint(place);
  control.push_back(build.getInt64(annotated ? -1 : static_cast<int64_t>(limit)));
  control.push_back(build.getInt64(annotated ? states : 0));
  control.push_back(trips ? build.CreateAdd(trips, build.getInt64(1)) : build.getInt64(-1));
  stable_sort(regions_, [](const Region &a, const Region &b) { return a.written > b.written; });
  const size_t written = slots.size() + count_if(regions_, [](const Region &region) { return region.written; });
  for (AllocaInst *slot : slots)
    control.append({slot, build.getInt64(layout_.getTypeAllocSize(slot->getAllocatedType()))});
  for (const Region &region : regions_) {
    build.SetInsertPoint(place);
    Value *start = region.object, *bytes = nullptr;
    if (region.object) {
      bytes = bytesOf(build, region.object);
    } else {
      Value *low = expander.expandCodeFor(region.low, i64, place);
      bytes = expander.expandCodeFor(region.bytes, i64, place);
      build.SetInsertPoint(place);
      start = build.CreatePtrAdd(region.base, low);
      bytes = build.CreateSelect(guardOf(build, region.guards), bytes, build.getInt64(0));
    }
    control.append({start, bytes});
  }
  for (BasicBlock &block : function_)
    if (Loop *inner = loops_.getLoopFor(&block); inner && inner->getHeader() == &block && loop_.contains(inner)) {
      Value *count = countOf(*inner, false);
      wanted.push_back(count ? count : build.getInt64(-1));
    }

  SetVector<Value *> inputs;
  for (BasicBlock *block : loop_.blocks())
    for (Instruction &inst : *block)
      for (Use &use : inst.operands()) {
        const auto *user = dyn_cast<PHINode>(&inst);
        if (user && user->getParent() == header && !loop_.contains(user->getIncomingBlock(use)))
          continue;
        auto *def = dyn_cast<Instruction>(use.get());
        if (isa<Argument>(use.get()) || (def && !loop_.contains(def)))
          inputs.insert(use.get());
      }
  for (auto [from, to] : edges)
    for (PHINode &phi : to->phis())
      if (slot_of.count(&phi))
        if (Value *v = phi.getIncomingValueForBlock(from); isa<Argument>(v) || (isa<Instruction>(v) && !loop_.contains(cast<Instruction>(v))))
          inputs.insert(v);

  const std::string stem = "enzyme.checkpoint.";
  const std::string tail = function_.getName().str() + "." + std::to_string(number);
  Function *step = makeStep(stem + "step." + tail, inputs.getArrayRef(), slots, slot_of, edges);
  SmallVector<Type *, 16> types;
  for (Value *value : control)
    types.push_back(value->getType());
  Function *loop = makeLoop(stem + "loop." + (complete_ ? "all." : "some.") + std::to_string(written) + "." + tail, *step, types);

  // preheader: wanted ? checkpointed : plain.
  BasicBlock *plain = SplitBlock(preheader, place->getIterator());
  plain->setName("plain");
  BasicBlock *checkpointed = BasicBlock::Create(context, "checkpointed", &function_, plain);
  build.SetInsertPoint(preheader->getTerminator());
  if (annotated) {
    build.CreateBr(checkpointed);
  } else {
    SmallVector<Type *, 8> counts(wanted.size(), i64);
    FunctionCallee ask = function_.getParent()->getOrInsertFunction(
        stem + "wanted." + std::to_string(wanted.size()), FunctionType::get(build.getInt1Ty(), counts, false));
    cast<Function>(ask.getCallee())->setDoesNotThrow();
    build.CreateCondBr(build.CreateCall(ask, wanted), checkpointed, plain);
  }
  preheader->getTerminator()->eraseFromParent();
  build.SetInsertPoint(checkpointed);
  for (PHINode &phi : header->phis())
    build.CreateStore(phi.getIncomingValueForBlock(plain), slot_of.lookup(&phi));
  SmallVector<Value *, 32> args(slots.begin(), slots.end());
  args.append(inputs.begin(), inputs.end());
  args.append(control.begin(), control.end());
  CallInst *code = build.CreateCall(loop, args);
  if (const DebugLoc at = loop_.getStartLoc())
    code->setDebugLoc(at);
  SwitchInst *out = nullptr;
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto [from, to] = edges[i];
    BasicBlock *way = BasicBlock::Create(context, "checkpointed.left", &function_, plain);
    IRBuilder<> leave(way);
    for (PHINode &phi : to->phis()) {
      AllocaInst *slot = slot_of.lookup(&phi);
      phi.addIncoming(slot ? leave.CreateLoad(phi.getType(), slot) : phi.getIncomingValueForBlock(from), way);
    }
    leave.CreateBr(to);
    if (edges.size() == 1)
      build.CreateBr(way);
    else if (!out)
      out = build.CreateSwitch(code, way);
    else
      out->addCase(build.getInt32(static_cast<uint32_t>(i) + 1), way);
  }
  if (annotated)
    EliminateUnreachableBlocks(function_);
}

CallInst *markOf(Instruction &inst) {
  auto *call = dyn_cast<CallInst>(&inst);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->isDeclaration() && callee->getName() == enz::kCheckpointMark ? call : nullptr;
}

} // namespace

bool enz::dropCheckpointMarks(Function &function) {
  bool any = false;
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block))
      if (CallInst *call = markOf(inst)) {
        call->eraseFromParent();
        any = true;
      }
  return any;
}

bool enz::checkpointLoops(EnzOpaqueHost &host, Function &function, const EnzPrepare &options) {
  const StringRef name = function.getName();
  const auto say = [&](const Twine &line) {
    const std::string text = line.str();
    if (options.note)
      options.note(options.context, text.data(), text.size());
  };
  // Headers of loops, and the states that may be kept of each: 0 for as many as the limit allows.
  SmallVector<std::pair<BasicBlock *, int64_t>, 8> work;
  bool marked = false;
  {
    auto &loops = host.functions->getResult<LoopAnalysis>(function);
    DenseMap<BasicBlock *, int64_t> states;
    for (BasicBlock &block : function)
      for (Instruction &inst : block)
        if (CallInst *call = markOf(inst)) {
          marked = true;
          Loop *loop = loops.getLoopFor(&block);
          const auto *n = call->arg_empty() ? nullptr : dyn_cast<ConstantInt>(call->getArgOperand(0));
          if (loop)
            states[loop->getHeader()] = n && n->getSExtValue() > 0 ? n->getSExtValue() : 1;
        }
    for (Loop *loop : loops.getLoopsInPreorder()) {
      const int64_t n = states.lookup(loop->getHeader());
      if (n > 0 || (options.max_tape > 0 && loop->isOutermost()))
        work.emplace_back(loop->getHeader(), n);
    }
  }
  if (marked) {
    dropCheckpointMarks(function);
    host.functions->invalidate(function, PreservedAnalyses::none());
  }
  if (!options.checkpoints || name.contains("enzyme.checkpoint.loop."))
    return marked;
  uint64_t sharing = 0;
  const auto examined = [&](BasicBlock *header, int64_t states, bool apply, unsigned number) {
    auto &loops = host.functions->getResult<LoopAnalysis>(function);
    Loop *loop = loops.getLoopFor(header);
    if (!loop || loop->getHeader() != header)
      return false;
    const std::string place = placeOf(*loop);
    Candidate candidate(host, function, *loop, options);
    const std::string why = candidate.examine();
    if (!apply) {
      if (!why.empty())
        say("loop at " + place + " of @" + name + " is not checkpointed: " + why);
      return why.empty();
    }
    if (!why.empty())
      return false;
    candidate.transform(options.max_tape / std::max<uint64_t>(sharing, 1), states, number);
    host.functions->invalidate(function, PreservedAnalyses::none());
    return true;
  };
  erase_if(work, [&](const auto &entry) { return !examined(entry.first, entry.second, false, 0); });
  for (const auto &[header, states] : work)
    sharing += states == 0;
  unsigned number = 0;
  bool any = false;
  SmallPtrSet<BasicBlock *, 8> done;
  for (const auto &[header, states] : work) {
    // Inside of one that was replaced nothing is left.
    if (none_of(function, [&, header = header](const BasicBlock &block) { return &block == header; }))
      continue;
    any |= examined(header, states, true, number++);
  }
  if (any)
    enz::linkSchedule(host);
  return any || marked;
}
