// Loops whose steps can be done again from states that are kept: found in a prepared clone, and branched off.
//
// A loop that qualifies becomes a function of its own, the *steps*, which runs the loop for at most as many steps as
// its last parameter says. What such a run passes to the next in registers goes through stack slots, so that the state
// of the loop is memory alone: these slots and all memory that the loop may write. A second function, the *loop*, runs
// as many steps as there are and says where the loop is left to. The clone calls it where `enzyme.checkpoint.wanted`
// says so, and runs the loop as it was elsewhere; a loop that the program marks with `__enzyme_checkpoint(n)` is
// replaced. The loop function is ordinary code with an ordinary derivative; its trailing parameters, which it does not
// use, say what a schedule (checkpoint.c) needs to know:
//
//   ... parameters of the steps but their number ..., bytes that may be taken, states, trip count or -1, bytes that the
//   plain loop would cache in each step (0 if that is not known), and of each region: address, bytes
//
// The bytes are below zero where no step reads what the one before it has left there (temporaries.h). Its name says
// whether the regions hold all that the loop reads (`all`, else `some`), and how many of them it may write, which come
// first. See extents.h for these.
//
// Not handled, so refused, each with a note: steps that throw, allocate what outlives them, store pointers, call what
// may write memory or do I/O, are volatile or atomic; pointers carried from step to step; memory without known extent.

#include "temporaries.h"

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/ModRef.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace {

// Of a pointer that is used more often it is not asked where it goes.
constexpr unsigned kUses = 10000;
// Of longer computations the result is handed over.
constexpr unsigned kDeepest = 16;
// How often loads are looked for that can come before a loop.
constexpr int kHoistRounds = 6;

// What a step is given, and what it computes again from that: addresses and numbers of before the loop. So it has few
// parameters, and what is known of an argument of the function is known of its own.
struct Inputs {
  SetVector<Value *> given;
  SetVector<Instruction *> again;

  void add(Value *value, unsigned depth = 0) {
    if (given.contains(value))
      return;
    auto *inst = dyn_cast<Instruction>(value);
    const bool simple =
        inst && depth < kDeepest && isa<GetElementPtrInst, BinaryOperator, CastInst, ICmpInst, SelectInst>(inst) &&
        inst->getType()->isIntOrPtrTy() && !inst->mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(inst);
    if (!simple) {
      given.insert(value);
      return;
    }
    if (again.contains(inst))
      return;
    for (Value *operand : inst->operands())
      if (isa<Argument, Instruction>(operand))
        add(operand, depth + 1);
    again.insert(inst);
  }
};

// What memory a pointer of before a loop leads into: an argument's, or that of allocations, if nothing else can be.
bool originsOf(const Value *pointer, SmallPtrSetImpl<const Value *> &out) {
  if (const auto *phi = dyn_cast<PHINode>(pointer))
    return all_of(phi->incoming_values(), [&](const Use &use) {
      return isa<ConstantPointerNull>(use.get()) || (!isa<PHINode>(use.get()) && originsOf(use.get(), out));
    });
  out.insert(pointer);
  return isa<Argument, AllocaInst>(pointer) || isNoAliasCall(pointer);
}

// Whether no two pointers of before a loop stand for one object.
bool areApart(ArrayRef<Value *> pointers) {
  SmallPtrSet<const Value *, 8> all;
  return all_of(pointers, [&](Value *pointer) {
    SmallPtrSet<const Value *, 4> own;
    return !pointer->getType()->isPtrOrPtrVectorTy() ||
           (originsOf(pointer, own) && all_of(own, [&](const Value *one) { return all.insert(one).second; }));
  });
}

// Whether the memory that a pointer of before a loop leads into is reached through nothing else than such pointers.
bool isAlone(const Value *pointer) {
  SmallPtrSet<const Value *, 4> own;
  return originsOf(pointer, own) && all_of(own, [](const Value *one) {
           const auto *argument = dyn_cast<Argument>(one);
           return (argument ? argument->hasNoAliasAttr() : isNoAliasCall(one)) &&
                  !PointerMayBeCaptured(one, /*ReturnCaptures=*/true, kUses);
         });
}

class Candidate : public enz::Temporaries {
public:
  using Temporaries::Temporaries;

  // Whether it could be done.
  // `otherwise`: what runs instead, if that is not the loop itself.
  bool transform(uint64_t limit, int64_t states, unsigned number, BasicBlock *otherwise);

private:
  Function *makeSteps(const Twine &name, const Inputs &inputs, ArrayRef<AllocaInst *> slots,
                      const DenseMap<PHINode *, AllocaInst *> &slot_of,
                      const SetVector<std::pair<BasicBlock *, BasicBlock *>> &edges);
  Function *makeLoop(const Twine &name, Function &steps, ArrayRef<Type *> control);
};

// The loop, for at most as many steps as the last parameter says, which is not 0: reads what the run before left in the
// slots, and leaves its own there. Returns 0 where all of them were done and the loop goes on, else the number of the
// edge by which it is left.
Function *Candidate::makeSteps(const Twine &name, const Inputs &inputs, ArrayRef<AllocaInst *> slots,
                               const DenseMap<PHINode *, AllocaInst *> &slot_of,
                               const SetVector<std::pair<BasicBlock *, BasicBlock *>> &edges) {
  LLVMContext &context = function_.getContext();
  SmallVector<Type *, 16> types;
  for (AllocaInst *slot : slots)
    types.push_back(slot->getType());
  for (Value *input : inputs.given)
    types.push_back(input->getType());
  types.push_back(Type::getInt64Ty(context));
  auto *type = FunctionType::get(Type::getInt32Ty(context), types, false);
  Function *step = Function::Create(type, GlobalValue::InternalLinkage, name, function_.getParent());
  enz::takeAttributes(*step, function_);
  DenseMap<AllocaInst *, Argument *> parameter;
  ValueToValueMapTy map;
  unsigned n = 0;
  for (AllocaInst *slot : slots) {
    parameter[slot] = step->getArg(n);
    step->addParamAttr(n, Attribute::NoAlias);
    step->getArg(n++)->setName("state");
  }
  // No two parameters stand for one object, if none is a pointer of unknown origin.
  const bool apart = areApart(inputs.given.getArrayRef());
  for (Value *input : inputs.given) {
    step->getArg(n)->setName(input->getName());
    if (apart && isAlone(input))
      step->addParamAttr(n, Attribute::NoAlias);
    map[input] = step->getArg(n++);
  }
  Argument *most = step->getArg(n);
  most->setName("steps");
  BasicBlock *entry = BasicBlock::Create(context, "entry", step);
  for (BasicBlock *block : loop_.blocks())
    map[block] = CloneBasicBlock(block, map, "", step);
  IRBuilder<> build(entry);
  for (Instruction *inst : inputs.again) {
    Instruction *copy = inst->clone();
    copy->setName(inst->getName());
    RemapInstruction(build.Insert(copy), map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    map[inst] = copy;
  }
  auto *header = cast<BasicBlock>(map[loop_.getHeader()]);
  BasicBlock *latch = loop_.getLoopLatch();
  for (PHINode &phi : loop_.getHeader()->phis()) {
    auto *copy = cast<PHINode>(map[&phi]);
    Value *first = build.CreateLoad(phi.getType(), parameter[slot_of.lookup(&phi)], phi.getName());
    copy->removeIncomingValueIf([&](unsigned n) { return copy->getIncomingBlock(n) != latch; }, false);
    copy->addIncoming(first, entry);
  }
  build.CreateBr(header);
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
  // Behind each step but the last that may be done, the next.
  BasicBlock *again = leave(latch, loop_.getHeader(), 0);
  BasicBlock *next = BasicBlock::Create(context, "next", step, again);
  build.SetInsertPoint(header, header->begin());
  PHINode *left = build.CreatePHI(most->getType(), 2, "steps.left");
  build.SetInsertPoint(next);
  Value *less = build.CreateAdd(left, build.getInt64(-1), "steps.left.next", /*HasNUW=*/false, /*HasNSW=*/false);
  build.CreateCondBr(build.CreateICmpEQ(less, build.getInt64(0)), again, header);
  auto *last = cast<BasicBlock>(map[latch]);
  last->getTerminator()->replaceSuccessorWith(header, next);
  header->replacePhiUsesWith(last, next);
  left->addIncoming(most, entry);
  left->addIncoming(less, next);
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto [from, to] = edges[i];
    cast<BasicBlock>(map[from])->getTerminator()->replaceSuccessorWith(to,
                                                                       leave(from, to, static_cast<uint32_t>(i) + 1));
  }
  return step;
}

// What the step does to memory, so that the rest of the function is as free as without the step: it writes through some
// of its parameters, and there alone.
void stateEffects(Function &step) {
  SmallPtrSet<const Value *, 8> written;
  for (const Instruction &inst : instructions(step)) {
    if (!inst.mayWriteToMemory() || isa<AssumeInst>(inst))
      continue;
    SmallVector<const Value *, 4> objects;
    if (const auto *store = dyn_cast<StoreInst>(&inst)) {
      getUnderlyingObjects(store->getPointerOperand(), objects, nullptr, 0);
    } else if (const auto *call = dyn_cast<CallBase>(&inst)) {
      // What else such calls do was found harmless: to errno, or to what only they see.
      for (const Use &operand : call->args())
        if (operand->getType()->isPointerTy() && !call->onlyReadsMemory(call->getArgOperandNo(&operand)))
          getUnderlyingObjects(operand, objects, nullptr, 0);
    } else {
      return;
    }
    if (!all_of(objects, [](const Value *object) { return isa<Argument, AllocaInst>(object); }))
      return;
    written.insert_range(objects);
  }
  step.setMemoryEffects(MemoryEffects::readOnly() | MemoryEffects::argMemOnly() | MemoryEffects::errnoMemOnly() |
                        MemoryEffects::inaccessibleMemOnly());
  for (Argument &argument : step.args()) {
    if (!argument.getType()->isPointerTy())
      continue;
    if (!written.contains(&argument))
      argument.addAttr(Attribute::ReadOnly);
    if (!PointerMayBeCaptured(&argument, /*ReturnCaptures=*/true))
      argument.addAttr(Attribute::getWithCaptureInfo(step.getContext(), CaptureInfo::none()));
  }
}

Function *Candidate::makeLoop(const Twine &name, Function &steps, ArrayRef<Type *> control) {
  LLVMContext &context = function_.getContext();
  const unsigned inputs = static_cast<unsigned>(steps.arg_size()) - 1;
  SmallVector<Type *, 16> types(steps.getFunctionType()->params().drop_back());
  types.append(control.begin(), control.end());
  auto *type = FunctionType::get(Type::getInt32Ty(context), types, false);
  Function *loop = Function::Create(type, GlobalValue::InternalLinkage, name, function_.getParent());
  enz::takeAttributes(*loop, function_);
  loop->setMemoryEffects(steps.getMemoryEffects());
  SmallVector<Value *, 16> args;
  for (unsigned i = 0; i < inputs; ++i) {
    loop->addParamAttrs(i, AttrBuilder(context, steps.getAttributes().getParamAttrs(i)));
    args.push_back(loop->getArg(i));
  }
  // What the schedule is told does nothing here.
  for (Argument &told : drop_begin(loop->args(), inputs))
    if (told.getType()->isPointerTy()) {
      told.addAttr(Attribute::ReadNone);
      told.addAttr(Attribute::getWithCaptureInfo(context, CaptureInfo::none()));
    }
  IRBuilder<> build(BasicBlock::Create(context, "entry", loop));
  args.push_back(build.getInt64(-1));
  build.CreateRet(build.CreateCall(&steps, args));
  return loop;
}

bool Candidate::transform(uint64_t limit, int64_t states, unsigned number, BasicBlock *otherwise) {
  LLVMContext &context = function_.getContext();
  BasicBlock *preheader = loop_.getLoopPreheader();
  BasicBlock *header = loop_.getHeader();
  Instruction *place = preheader->getTerminator();
  IRBuilder<> build(place);
  Type *i64 = build.getInt64Ty();
  const bool annotated = states > 0;

  // Where not all that is accessed is saved, the loop stays as it is.
  Value *inside = isInside();
  if (!inside && any_of(loose_, [](const enz::Loose &access) { return access.written; }))
    return false;
  complete_ &= inside != nullptr;
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
  SmallVector<Value *, 16> control, wanted{build.getInt64(limit), build.getInt64(0)};
  SCEVExpander expander(evolution_, "enzyme.checkpoint");
  const auto countOf = [&](const Loop &loop, bool exact) -> Value * {
    const SCEV *count =
        exact ? evolution_.getBackedgeTakenCount(&loop) : evolution_.getSymbolicMaxBackedgeTakenCount(&loop);
    const enz::Range range = rangeOf(count);
    if (!range || !count->getType()->isIntegerTy() || evolution_.getTypeSizeInBits(count->getType()) > 64)
      return nullptr;
    const SCEV *wide = evolution_.getNoopOrZeroExtend(range.high, i64);
    return expander.isSafeToExpandAt(wide, place) ? expander.expandCodeFor(wide, i64, place) : nullptr;
  };
  Value *trips = countOf(loop_, true);
  for (BasicBlock &block : function_)
    if (Loop *inner = loops_.getLoopFor(&block); inner && inner->getHeader() == &block && loop_.contains(inner)) {
      Value *count = countOf(*inner, false);
      wanted.push_back(count ? count : build.getInt64(-1));
    }
  build.SetInsertPoint(place);
  const auto ask = [&](const Twine &what, Type *type, ArrayRef<Value *> args) -> Value * {
    SmallVector<Type *, 8> types(args.size(), i64);
    FunctionCallee question = function_.getParent()->getOrInsertFunction(("enzyme.checkpoint." + what).str(),
                                                                         FunctionType::get(type, types, false));
    cast<Function>(question.getCallee())->setDoesNotThrow();
    return build.CreateCall(question, args);
  };
  const std::string asked = std::to_string(wanted.size());
  control.push_back(annotated ? static_cast<Value *>(build.getInt64(-1)) : ask("share", i64, wanted.front()));
  control.push_back(build.getInt64(annotated ? states : 0));
  control.push_back(trips ? build.CreateAdd(trips, build.getInt64(1)) : build.getInt64(-1));
  control.push_back(annotated ? static_cast<Value *>(build.getInt64(0)) : ask("row." + asked, i64, wanted));
  SmallVector<enz::Region, 8> sorted;
  for (const bool of_written : {true, false})
    for (const enz::Region &region : regions_)
      if (region.written == of_written)
        sorted.push_back(region);
  regions_ = std::move(sorted);
  const size_t written = slots.size() + count_if(regions_, [](const enz::Region &region) { return region.written; });
  Value *state = build.getInt64(0);
  // By base: whether no step reads what it finds there.
  DenseMap<Value *, Value *> temporary;
  for (AllocaInst *slot : slots) {
    control.append({slot, build.getInt64(layout_.getTypeAllocSize(slot->getAllocatedType()))});
    state = build.CreateAdd(state, control.back());
  }
  for (const enz::Region &region : regions_) {
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
      // Of steps that are not done nothing is known.
      if (region.turn > 0)
        bytes = build.CreateSelect(build.CreateICmpUGE(trips, build.getInt64(region.turn)), bytes, build.getInt64(0));
    }
    if (region.written) {
      Value *base = region.object ? region.object : region.base;
      const auto [known, isNew] = temporary.try_emplace(base, nullptr);
      if (isNew)
        known->second = isTemporary(base);
      build.SetInsertPoint(place);
      if (Value *unread = known->second) {
        state = build.CreateAdd(state, build.CreateSelect(unread, build.getInt64(0), bytes));
        bytes = build.CreateSelect(unread, build.CreateNeg(bytes), bytes);
      } else {
        state = build.CreateAdd(state, bytes);
      }
    }
    control.append({start, bytes});
  }
  // One state is kept at least, and the last one.
  build.SetInsertPoint(place);
  wanted[1] = build.CreateShl(state, 1);

  Inputs inputs;
  for (BasicBlock *block : loop_.blocks())
    for (Instruction &inst : *block)
      for (Use &use : inst.operands()) {
        const auto *user = dyn_cast<PHINode>(&inst);
        if (user && user->getParent() == header && !loop_.contains(user->getIncomingBlock(use)))
          continue;
        auto *def = dyn_cast<Instruction>(use.get());
        if (isa<Argument>(use.get()) || (def && !loop_.contains(def)))
          inputs.add(use.get());
      }
  for (auto [from, to] : edges)
    for (PHINode &phi : to->phis())
      if (slot_of.count(&phi))
        if (Value *v = phi.getIncomingValueForBlock(from);
            isa<Argument>(v) || (isa<Instruction>(v) && !loop_.contains(cast<Instruction>(v))))
          inputs.add(v);

  const std::string stem = "enzyme.checkpoint.";
  const std::string tail = function_.getName().str() + "." + std::to_string(number);
  Function *steps = makeSteps(stem + "step." + tail, inputs, slots, slot_of, edges);
  SmallVector<Type *, 16> types;
  for (Value *value : control)
    types.push_back(value->getType());
  stateEffects(*steps);
  Function *loop =
      makeLoop(stem + "loop." + (complete_ ? "all." : "some.") + std::to_string(written) + "." + tail, *steps, types);

  // preheader: wanted ? checkpointed : plain.
  BasicBlock *plain = SplitBlock(preheader, place->getIterator());
  plain->setName("plain");
  BasicBlock *checkpointed = BasicBlock::Create(context, "checkpointed", &function_, plain);
  build.SetInsertPoint(preheader->getTerminator());
  const bool always = annotated && (!inside || isa<ConstantInt>(inside));
  if (annotated) {
    if (always)
      build.CreateBr(checkpointed);
    else
      build.CreateCondBr(inside, checkpointed, otherwise ? otherwise : plain);
  } else {
    Value *yes = ask("wanted." + asked, build.getInt1Ty(), wanted);
    build.CreateCondBr(inside ? build.CreateAnd(yes, inside) : yes, checkpointed, otherwise ? otherwise : plain);
  }
  preheader->getTerminator()->eraseFromParent();
  build.SetInsertPoint(checkpointed);
  for (PHINode &phi : header->phis())
    build.CreateStore(phi.getIncomingValueForBlock(plain), slot_of.lookup(&phi));
  SmallVector<Value *, 32> args(slots.begin(), slots.end());
  args.append(inputs.given.begin(), inputs.given.end());
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
  if (always || otherwise)
    EliminateUnreachableBlocks(function_);
  return true;
}

// Says before a loop that it cannot be checkpointed.
void noteRefused(BasicBlock &before, const DebugLoc &at, const Twine &why, uint64_t limit) {
  IRBuilder<> build(before.getTerminator());
  FunctionCallee note = before.getModule()->getOrInsertFunction(
      ("enzyme.checkpoint.refused." + why).str(), FunctionType::get(build.getVoidTy(), {build.getInt64Ty()}, false));
  auto *callee = cast<Function>(note.getCallee());
  callee->setDoesNotThrow();
  callee->setWillReturn();
  callee->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  build.CreateCall(note, {build.getInt64(limit)})->setDebugLoc(at);
}

CallInst *markOf(Instruction &inst) {
  auto *call = dyn_cast<CallInst>(&inst);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->isDeclaration() && callee->getName() == enz::kCheckpointMark ? call : nullptr;
}

} // namespace

std::string enz::placeOf(const Loop &loop) {
  std::string out;
  raw_string_ostream stream(out);
  if (const DebugLoc at = loop.getStartLoc())
    stream << at->getFilename() << ":" << at.getLine();
  else
    stream << "depth " << loop.getLoopDepth();
  return out;
}

void enz::takeAttributes(Function &to, const Function &from) {
  to.addFnAttrs(AttrBuilder(from.getContext(), from.getAttributes().getFnAttrs()));
  for (Attribute::AttrKind kind : {Attribute::Memory, Attribute::NoReturn, Attribute::AlwaysInline,
                                   Attribute::OptimizeNone, Attribute::InlineHint, Attribute::Cold})
    to.removeFnAttr(kind);
  to.setDoesNotThrow();
  to.addFnAttr(Attribute::NoInline);
  to.setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
}

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

bool enz::isSample(const Instruction &inst) {
  const auto *call = dyn_cast<CallInst>(&inst);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with(kSample);
}

static bool runsSamples(const Loop &loop) {
  return any_of(loop.blocks(), [](const BasicBlock *block) { return any_of(*block, enz::isSample); });
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
      // Samples are reversed one by one, and keep nothing.
      if (n > 0 || (options.max_tape > 0 && loop->isOutermost() && !runsSamples(*loop)))
        work.emplace_back(loop->getHeader(), n);
    }
  }
  if (marked) {
    dropCheckpointMarks(function);
    host.functions->invalidate(function, PreservedAnalyses::none());
  }
  if (!options.checkpoints || name.contains("enzyme.checkpoint.loop."))
    return marked;
  const auto find = [&](BasicBlock *header) -> Loop * {
    Loop *loop = host.functions->getResult<LoopAnalysis>(function).getLoopFor(header);
    return loop && loop->getHeader() == header ? loop : nullptr;
  };
  bool hoisted = false;
  for (const auto &[header, states] : work) {
    Loop *loop = find(header);
    if (loop && enz::dropCleanups(*loop, host.functions->getResult<TargetLibraryAnalysis>(function))) {
      host.functions->invalidate(function, PreservedAnalyses::none());
      hoisted = true;
      loop = find(header);
    }
    if (loop && enz::numberRotations(*loop)) {
      host.functions->invalidate(function, PreservedAnalyses::none());
      hoisted = true;
    }
  }
  const auto hoist = [&] {
    for (const auto &[header, states] : work)
      // What one round brings out makes more known to the next.
      for (int round = 0; round < kHoistRounds; ++round) {
        Loop *loop = find(header);
        if (!loop || !Candidate(host, function, *loop, options).hoistLoads())
          break;
        host.functions->invalidate(function, PreservedAnalyses::none());
        hoisted = true;
      }
  };
  hoist();
  // By the header of a clone: where its loop is that runs instead.
  DenseMap<BasicBlock *, BasicBlock *> otherwise;
  for (auto &[header, states] : work)
    if (Loop *loop = find(header)) {
      const enz::Settled settled = enz::settlePointers(*loop, host.functions->getResult<LoopAnalysis>(function),
                                                       host.functions->getResult<DominatorTreeAnalysis>(function));
      if (!settled.header)
        continue;
      header = settled.header;
      otherwise[header] = settled.otherwise;
      hoisted = true;
      host.functions->invalidate(function, PreservedAnalyses::none());
      FunctionPassManager shape;
      shape.addPass(LoopSimplifyPass());
      shape.addPass(LCSSAPass());
      shape.run(function, *host.functions);
      host.functions->invalidate(function, PreservedAnalyses::none());
    }
  if (!otherwise.empty())
    hoist();
  bool refused = false;
  const auto examined = [&](BasicBlock *header, int64_t states, bool apply, unsigned number) {
    Loop *loop = find(header);
    if (!loop)
      return false;
    const std::string place = enz::placeOf(*loop);
    Candidate candidate(host, function, *loop, options);
    const std::string why = candidate.examine();
    const auto refuse = [&](const Twine &why) {
      say("loop at " + place + " of @" + name + " cannot be checkpointed: " + why);
      // The plan says whether it keeps anything at all. What may be part of a step is code that runs.
      if (BasicBlock *before = loop->getLoopPreheader(); before && loop->isOutermost())
        noteRefused(*before, loop->getStartLoc(), why, options.max_tape);
      host.functions->invalidate(function, PreservedAnalyses::none());
      refused = true;
      return false;
    };
    if (!apply)
      return why.empty() || refuse(why);
    if (!why.empty())
      return false;
    if (!candidate.transform(options.max_tape, states, number, otherwise.lookup(header)))
      return refuse("the extent of what it writes is not known before it");
    host.functions->invalidate(function, PreservedAnalyses::none());
    return true;
  };
  erase_if(work, [&](const auto &entry) { return !examined(entry.first, entry.second, false, 0); });
  unsigned number = 0;
  bool any = false;
  for (const auto &[header, states] : work) {
    // Inside of one that was replaced nothing is left.
    if (none_of(function, [&, header = header](const BasicBlock &block) { return &block == header; }))
      continue;
    any |= examined(header, states, true, number++);
  }
  if (any)
    enz::linkSchedule(host);
  return any || marked || hoisted || refused;
}
