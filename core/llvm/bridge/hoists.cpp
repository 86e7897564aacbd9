// What a loop reads and does not change, brought before it: see extents.h. Where a load runs under a condition that is
// known before the loop, something else is read where it does not hold.

#include "extents.h"

namespace enz {

bool Extents::hoistLoads() {
  if (!loop_.getLoopPreheader())
    return false;
  SmallVector<Instruction *, 32> writes;
  SmallVector<LoadInst *, 16> loads;
  for (BasicBlock *block : loop_.blocks())
    for (Instruction &inst : *block) {
      if (inst.mayWriteToMemory() && !isa<AssumeInst, NoAliasScopeDeclInst>(inst) && !writesNothing(inst))
        writes.push_back(&inst);
      auto *load = dyn_cast<LoadInst>(&inst);
      if (load && load->isSimple() && (load->getType()->isPointerTy() || load->getType()->isIntegerTy()))
        loads.push_back(load);
    }
  SmallVector<Early, 8> done;
  for (LoadInst *&load : loads)
    if (hoist(*load, writes, done))
      load = nullptr;
  if (done.empty())
    return false;
  for (LoadInst *load : loads)
    if (load)
      replaceByEarly(*load, writes, done);
  joinPhis();
  return true;
}

Value *Extents::addressBefore(IRBuilder<> &build, Value *value) {
  if (loop_.isLoopInvariant(value))
    return value;
  Instruction *copy = cast<Instruction>(value)->clone();
  for (Use &use : copy->operands())
    use.set(addressBefore(build, use.get()));
  return build.Insert(copy);
}

bool Extents::isOverwritten(LoadInst &load, ArrayRef<Instruction *> writes) {
  MemoryLocation where = MemoryLocation::get(&load);
  where.AATags.Scope = nullptr;
  where.AATags.NoAlias = nullptr;
  BatchAAResults batch(aliases_);
  batch.enableCrossIterationMode();
  return writes.size() > kWriteLimit ||
         any_of(writes, [&](Instruction *write) { return isModSet(batch.getModRefInfo(write, where)); });
}

bool Extents::hoist(LoadInst &load, ArrayRef<Instruction *> writes, SmallVectorImpl<Early> &done) {
  Guards guards;
  if (!isAddressKnown(load.getPointerOperand()) || load.getPointerAddressSpace() != 0 ||
      !conditions(load.getParent(), /*moves=*/false, guards) || isOverwritten(load, writes))
    return false;
  const SCEV *place = evolution_.getSCEV(load.getPointerOperand());
  IRBuilder<> build(loop_.getLoopPreheader()->getTerminator());
  Value *address = addressBefore(build, load.getPointerOperand());
  if (!guards.empty()) {
    // Where no step reads, something else is read.
    IRBuilder<> at_entry(&function_.getEntryBlock(), function_.getEntryBlock().getFirstInsertionPt());
    AllocaInst *spare = at_entry.CreateAlloca(load.getType());
    at_entry.CreateStore(Constant::getNullValue(load.getType()), spare);
    address = build.CreateSelect(guardOf(build, guards), address, spare);
  }
  LoadInst *early = build.CreateAlignedLoad(load.getType(), address, load.getAlign());
  early->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
  load.replaceAllUsesWith(early);
  load.eraseFromParent();
  done.push_back({place, guards, early});
  return true;
}

void Extents::replaceByEarly(LoadInst &load, ArrayRef<Instruction *> writes, ArrayRef<Early> done) {
  const SCEV *place = evolution_.getSCEV(load.getPointerOperand());
  for (const Early &early : done) {
    if (early.address != place || early.load->getType() != load.getType())
      continue;
    Guards guards;
    conditions(load.getParent(), /*moves=*/false, guards);
    if (!isPart(early.guards, guards) || isOverwritten(load, writes))
      continue;
    load.replaceAllUsesWith(early.load);
    load.eraseFromParent();
    return;
  }
}

void Extents::joinPhis() {
  SmallVector<BasicBlock *, 16> blocks(loop_.blocks());
  SmallVector<BasicBlock *, 4> exits;
  loop_.getUniqueExitBlocks(exits);
  blocks.append(exits.begin(), exits.end());
  for (BasicBlock *block : blocks)
    for (PHINode &phi : make_early_inc_range(block->phis())) {
      SmallSetVector<PHINode *, 8> web;
      web.insert(&phi);
      Value *only = nullptr;
      bool one = true;
      for (size_t n = 0; n < web.size() && one; ++n)
        for (Value *value : web[n]->incoming_values()) {
          auto *next = dyn_cast<PHINode>(value);
          if (next && loop_.contains(next))
            web.insert(next);
          else if (!only)
            only = value;
          else
            one &= only == value;
        }
      if (!one || !only || !loop_.isLoopInvariant(only))
        continue;
      phi.replaceAllUsesWith(only);
      phi.eraseFromParent();
    }
}

} // namespace enz
