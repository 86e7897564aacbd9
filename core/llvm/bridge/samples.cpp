// Loops over independent samples, as the loss of a model over its data is: found in a prepared clone, and their bodies
// branched off as functions.
//
//   for (i = 0; i < n; i++)                       s = sample(s, i, ...)   where
//     s += f(x, i);               becomes         double sample(s, i, ...) { return s + f(x, i); }
//   return s / n;
//
// The adjoint of each iteration's share is that of the sum, and known before the loop if nothing after it depends on
// the sum but by additions and constant factors. Then an iteration can be run backward as soon as it has run forward,
// and what it keeps is kept for one iteration at a time: memory does not grow with the number of samples, and what a
// sample reads is still in the nearest cache. The call of a sample is differentiated in this way by the engine
// (core/diff/src/reverse/samples.rs); its derivative is put into the loop afterwards (optimise.cpp).
// (The sum of partially separable functions: Griewank, Walther, "Evaluating Derivatives", 2nd ed., sections 8.1, 12.3;
// fusing a forward and a reverse loop: section 12.2 there, "parallel loops".)
//
// What must hold is looked for in samples.h.

#include "samples.h"

using namespace llvm;

// The body of the loop: the sum so far, counters, and what else it reads; returns the sum with what it adds.
Function *enz::Samples::makeSample(const Twine &name, ArrayRef<Value *> inputs, ArrayRef<PHINode *> counters) {
  LLVMContext &context = function_.getContext();
  SmallVector<Type *, 16> types{sum_->getType()};
  for (PHINode *counter : counters)
    types.push_back(counter->getType());
  for (Value *input : inputs)
    types.push_back(input->getType());
  auto *type = FunctionType::get(sum_->getType(), types, false);
  Function *sample = Function::Create(type, GlobalValue::InternalLinkage, name, function_.getParent());
  enz::takeAttributes(*sample, function_);
  // What its caller may go on to know of the memory: the sample reads, and keeps no address.
  sample->setMemoryEffects(MemoryEffects::readOnly() | MemoryEffects::inaccessibleMemOnly() |
                           MemoryEffects::errnoMemOnly(ModRefInfo::Mod));
  for (Argument &argument : sample->args())
    if (argument.getType()->isPointerTy()) {
      argument.addAttr(Attribute::getWithCaptureInfo(context, CaptureInfo::none()));
      argument.addAttr(Attribute::ReadOnly);
    }
  ValueToValueMapTy map;
  unsigned n = 0;
  const auto give = [&](Value *value) {
    sample->getArg(n)->setName(value->getName());
    map[value] = sample->getArg(n++);
  };
  give(sum_);
  for (PHINode *counter : counters)
    give(counter);
  for (Value *input : inputs)
    give(input);
  BasicBlock *entry = BasicBlock::Create(context, "entry", sample);
  IRBuilder<> build(entry);
  for (const auto &[slot, own] : own_)
    if (own) {
      Instruction *copy = build.Insert(slot->clone(), slot->getName());
      map[slot] = copy;
    }
  const auto repeat = [&](const Instruction *inst) {
    Instruction *copy = build.Insert(inst->clone(), inst->getName());
    RemapInstruction(copy, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    map[inst] = copy;
  };
  for (const Instruction *address : addresses_)
    repeat(address);
  for (const auto &[object, scratch] : scratchObjects_)
    if (scratch) {
      repeat(object);
      for (const Instruction *address : scratch->addresses)
        repeat(address);
    }
  SmallVector<BasicBlock *, 16> blocks(loop_.blocks());
  blocks.append(ends_.begin(), ends_.end());
  for (BasicBlock *block : blocks) {
    auto *copy = BasicBlock::Create(context, block->getName(), sample);
    map[block] = copy;
    for (Instruction &inst : *block) {
      if (isa<PHINode>(inst) && block == loop_.getHeader())
        continue;
      if (inst.isLifetimeStartOrEnd())
        continue;
      Instruction *clone = inst.clone();
      clone->setName(inst.getName());
      clone->insertInto(copy, copy->end());
      map[&inst] = clone;
    }
  }
  for (BasicBlock *block : ends_)
    for (PHINode &phi : cast<BasicBlock>(map[block])->phis())
      phi.removeIncomingValueIf([&](unsigned n) { return !isInSample(phi.getIncomingBlock(n)); },
                                /*DeletePHIIfEmpty=*/false);
  build.CreateBr(cast<BasicBlock>(map[loop_.getHeader()]));
  auto *last = cast<BasicBlock>(map[latch_]);
  last->getTerminator()->eraseFromParent();
  for (BasicBlock *block : blocks)
    for (Instruction &inst : *cast<BasicBlock>(map[block]))
      RemapInstruction(&inst, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  build.SetInsertPoint(last);
  for (const auto &[object, scratch] : scratchObjects_)
    if (scratch && scratch->release)
      repeat(scratch->release);
  build.CreateRet(map[next_]);
  for (Instruction &inst : make_early_inc_range(reverse(*last)))
    if (isInstructionTriviallyDead(&inst))
      inst.eraseFromParent();
  return sample;
}

void enz::Samples::transform(unsigned number) {
  LLVMContext &context = function_.getContext();
  for (auto [inst, place] : early_)
    inst->moveBefore(place->getTerminator()->getIterator());
  SmallVector<PHINode *, 8> counters;
  for (PHINode &phi : loop_.getHeader()->phis())
    if (&phi != sum_)
      counters.push_back(&phi);
  SetVector<Value *> inputs;
  SmallSetVector<const Instruction *, 16> made;
  for (const auto &[object, scratch] : scratchObjects_)
    if (scratch) {
      made.insert(object);
      made.insert(scratch->addresses.begin(), scratch->addresses.end());
    }
  const auto addInput = [&](Value *value) {
    const auto *inst = dyn_cast<Instruction>(value);
    const auto *slot = dyn_cast<AllocaInst>(value);
    if ((slot && own_.lookup(slot)) || (inst && (ends_.contains(inst->getParent()) || addresses_.contains(inst) ||
                                                 loop_.contains(inst) || made.contains(inst))))
      return;
    if (inst || isa<Argument>(value))
      inputs.insert(value);
  };
  for (BasicBlock *block : loop_.blocks())
    for (Instruction &inst : *block) {
      if ((isa<PHINode>(inst) && block == loop_.getHeader()) || inst.isLifetimeStartOrEnd())
        continue;
      for (Value *operand : inst.operands())
        addInput(operand);
    }
  for (const Instruction *address : addresses_)
    for (Value *operand : address->operands())
      addInput(operand);
  for (BasicBlock *block : ends_)
    for (Instruction &inst : *block)
      for (Use &operand : inst.operands())
        if (auto *phi = dyn_cast<PHINode>(&inst); !phi || isInSample(phi->getIncomingBlock(operand)))
          addInput(operand.get());
  for (const Instruction *inst : made)
    for (Value *operand : inst->operands())
      addInput(operand);
  for (const auto &[object, scratch] : scratchObjects_)
    if (scratch && scratch->release)
      for (Value *operand : scratch->release->operands())
        addInput(operand);
  Function *sample =
      makeSample(Twine(enz::kSample) + function_.getName() + "." + Twine(number), inputs.getArrayRef(), counters);

  // The loop that is left: counters, the call, the condition.
  BasicBlock *preheader = loop_.getLoopPreheader();
  BasicBlock *body = BasicBlock::Create(context, "samples", &function_, loop_.getHeader());
  IRBuilder<> build(body);
  ValueToValueMapTy map;
  SmallVector<std::pair<PHINode *, PHINode *>, 8> carried;
  for (PHINode &phi : loop_.getHeader()->phis()) {
    PHINode *copy = build.CreatePHI(phi.getType(), 2, phi.getName());
    copy->addIncoming(phi.getIncomingValueForBlock(preheader), preheader);
    map[&phi] = copy;
    carried.emplace_back(&phi, copy);
  }
  SmallVector<Value *, 16> args{map[sum_]};
  for (PHINode *counter : counters)
    args.push_back(map[counter]);
  args.append(inputs.begin(), inputs.end());
  CallInst *call = build.CreateCall(sample, args);
  if (const DebugLoc at = loop_.getStartLoc())
    call->setDebugLoc(at);
  map[next_] = call;
  LoopBlocksRPO order(&loop_);
  order.perform(&loops_);
  for (BasicBlock *block : order)
    for (Instruction &inst : *block)
      if (skeleton_.contains(&inst)) {
        Instruction *copy = inst.clone();
        build.Insert(copy, inst.getName());
        RemapInstruction(copy, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
        map[&inst] = copy;
      }
  const auto mapped = [&](Value *value) -> Value * {
    const auto it = map.find(value);
    return it == map.end() ? value : static_cast<Value *>(it->second);
  };
  for (auto [phi, copy] : carried)
    copy->addIncoming(mapped(phi->getIncomingValueForBlock(latch_)), body);
  auto *branch = cast<BranchInst>(latch_->getTerminator());
  const bool again = branch->getSuccessor(0) == loop_.getHeader();
  BranchInst *back = build.CreateCondBr(mapped(condition_), again ? body : exit_, again ? exit_ : body);
  back->setMetadata(LLVMContext::MD_loop, branch->getMetadata(LLVMContext::MD_loop));
  for (PHINode &phi : exit_->phis()) {
    Value *value = mapped(phi.getIncomingValueForBlock(latch_));
    phi.addIncoming(value, body);
  }
  preheader->getTerminator()->replaceSuccessorWith(loop_.getHeader(), body);
  SmallVector<BasicBlock *, 16> gone(loop_.blocks());
  // Ends that only this loop came to.
  for (size_t known = 0; known != gone.size();) {
    known = gone.size();
    for (BasicBlock *block : ends_)
      if (!is_contained(gone, block) &&
          all_of(predecessors(block), [&](BasicBlock *from) { return is_contained(gone, from); }))
        gone.push_back(block);
  }
  DeleteDeadBlocks(gone);
}

bool enz::branchOffSamples(EnzOpaqueHost &host, Function &function, const EnzPrepare &options) {
  if (!options.samples || function.getName().contains(enz::kSample))
    return false;
  StringRef name = function.getName();
  name.consume_back(enz::kPrepared);
  auto &loops = host.functions->getResult<LoopAnalysis>(function);
  SmallVector<BasicBlock *, 8> headers;
  for (Loop *loop : loops)
    headers.push_back(loop->getHeader());
  unsigned number = 0;
  for (BasicBlock *header : headers) {
    Loop *loop = host.functions->getResult<LoopAnalysis>(function).getLoopFor(header);
    if (!loop || loop->isInnermost())
      continue;
    const std::string place = enz::placeOf(*loop);
    Samples samples(host, function, *loop, options);
    const char *why = samples.examine();
    const std::string text =
        why ? "iterations of the loop at " + place + " of @" + name.str() + " are not reversed one by one: " + why
            : "iterations of the loop at " + place + " of @" + name.str() + " are reversed one by one";
    if (options.note)
      options.note(options.context, text.data(), text.size());
    if (why)
      continue;
    samples.transform(number++);
    host.functions->invalidate(function, PreservedAnalyses::none());
  }
  return number > 0;
}
