// Control flow of a prepared clone in the shape that can be run backwards.
//
// Computed gotos become switches. Loops with several entries get one. The normal edge of an invoke gets a block of its
// own, in the loop of the invoke: the derivative treats the call as standing there.
//
// Not handled: loops with several entries one of which is a landing pad; they stay as they are and are refused later.

#include "support.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace {

// Gives loops with several entries one, as follows. A block that chooses where to go comes before the entries of a
// strongly connected region, and all edges to them are led through it; then the same for what is left of the region
// without its entry (Havlak, Nesting of reducible and irreducible loops, 1997). Values that live across blocks are
// in memory meanwhile.
class Entries {
public:
  explicit Entries(Function &function) : function_(function) {}

  void run() {
    SmallVector<PHINode *, 32> phis;
    for (BasicBlock &block : function_)
      for (PHINode &phi : block.phis())
        phis.push_back(&phi);
    for (PHINode *phi : phis)
      slots_.push_back(DemotePHIToStack(phi));
    SmallVector<Instruction *, 64> values;
    for (BasicBlock &block : function_)
      for (Instruction &inst : block)
        if (!inst.getType()->isTokenTy() && !isa<AllocaInst>(inst) && inst.isUsedOutsideOfBlock(&block))
          values.push_back(&inst);
    for (Instruction *value : values)
      slots_.push_back(DemoteRegToStack(*value));
    BlockSet all;
    for (BasicBlock &block : function_)
      all.insert(&block);
    SmallVector<BlockSet, 8> work{std::move(all)};
    while (!work.empty()) {
      const BlockSet blocks = work.pop_back_val();
      for (BlockSet &region : regionsOf(blocks)) {
        SmallVector<BasicBlock *, 4> entries;
        for (BasicBlock *block : region)
          if (any_of(predecessors(block), [&](BasicBlock *from) { return !region.contains(from); }))
            entries.push_back(block);
        if (entries.size() == 1)
          region.remove(entries[0]);
        else if (!join(entries, region))
          continue;
        work.push_back(std::move(region));
      }
    }
    llvm::erase_if(slots_, [](AllocaInst *slot) { return !slot || !isAllocaPromotable(slot); });
    DominatorTree dominators(function_);
    PromoteMemToReg(slots_, dominators);
  }

private:
  using BlockSet = SmallSetVector<BasicBlock *, 16>;

  // The strongly connected regions that have an edge, among `blocks` (Tarjan, 1972).
  static SmallVector<BlockSet, 8> regionsOf(const BlockSet &blocks) {
    struct Frame {
      BasicBlock *block;
      succ_iterator next;
    };
    SmallVector<BlockSet, 8> out;
    DenseMap<BasicBlock *, unsigned> number, low;
    BlockSet open;
    for (BasicBlock *root : blocks) {
      if (number.count(root))
        continue;
      SmallVector<Frame, 32> path;
      const auto enter = [&](BasicBlock *block) {
        const unsigned n = static_cast<unsigned>(number.size());
        number[block] = low[block] = n;
        open.insert(block);
        path.push_back({block, succ_begin(block)});
      };
      enter(root);
      while (!path.empty()) {
        Frame &top = path.back();
        BasicBlock *block = top.block;
        if (top.next != succ_end(block)) {
          BasicBlock *to = *top.next++;
          if (!blocks.contains(to))
            continue;
          if (!number.count(to))
            enter(to);
          else if (open.contains(to))
            low[block] = std::min(low[block], number[to]);
          continue;
        }
        path.pop_back();
        if (!path.empty())
          low[path.back().block] = std::min(low[path.back().block], low[block]);
        if (low[block] != number[block])
          continue;
        BlockSet region;
        while (region.empty() || region.back() != block)
          region.insert(open.pop_back_val());
        if (region.size() > 1 || is_contained(successors(block), block))
          out.push_back(std::move(region));
      }
    }
    return out;
  }

  bool join(ArrayRef<BasicBlock *> entries, const BlockSet &region) {
    if (entries.empty() || any_of(entries, [](BasicBlock *block) { return block->isEHPad(); }))
      return false;
    LLVMContext &context = function_.getContext();
    Type *i32 = Type::getInt32Ty(context);
    auto *slot = new AllocaInst(i32, function_.getDataLayout().getAllocaAddrSpace(), "entry.number",
                                function_.getEntryBlock().begin());
    slots_.push_back(slot);
    BasicBlock *choice = BasicBlock::Create(context, "entry.choice", &function_);
    for (size_t n = 0; n < entries.size(); ++n) {
      // What comes from outside comes through another block than what goes round, lest that be entered from outside.
      BasicBlock *edges[2] = {nullptr, nullptr};
      const SmallVector<BasicBlock *, 8> from(predecessors(entries[n]));
      for (BasicBlock *block : from) {
        BasicBlock *&edge = edges[region.contains(block)];
        if (!edge) {
          edge = BasicBlock::Create(context, "entry.edge", &function_);
          IRBuilder<> builder(edge);
          builder.CreateStore(ConstantInt::get(i32, n), slot);
          builder.CreateBr(choice);
        }
        block->getTerminator()->replaceSuccessorWith(entries[n], edge);
      }
    }
    IRBuilder<> builder(choice);
    SwitchInst *way = builder.CreateSwitch(builder.CreateLoad(i32, slot), entries[0]);
    for (size_t n = 1; n < entries.size(); ++n)
      way->addCase(builder.getInt32(static_cast<uint32_t>(n)), entries[n]);
    return true;
  }

  Function &function_;
  SmallVector<AllocaInst *, 64> slots_;
};

// Gives the normal destination of an invoke to it alone, without phis.
BasicBlock *ownNormalDest(InvokeInst &call) {
  BasicBlock *normal = call.getNormalDest();
  if (!normal->getSinglePredecessor())
    normal = SplitBlockPredecessors(normal, {call.getParent()}, ".normal");
  FoldSingleEntryPHINodes(normal);
  return normal;
}

} // namespace

// Addresses of labels in global tables are those of the original's blocks: all are compared as such, and the place in
// the list of targets that the comparison gives is what is branched on.
void enz::lowerComputedGotos(Function &clone, Function &original, const ValueToValueMapTy &map) {
  SmallVector<IndirectBrInst *, 4> jumps;
  for (BasicBlock &block : clone)
    if (auto *jump = dyn_cast<IndirectBrInst>(block.getTerminator()))
      jumps.push_back(jump);
  if (jumps.empty())
    return;
  DenseMap<BasicBlock *, BlockAddress *> addresses;
  for (BasicBlock &block : original) {
    if (!block.hasAddressTaken())
      continue;
    auto *copy = dyn_cast_or_null<BasicBlock>(map.lookup(&block));
    if (!copy)
      continue;
    auto *address = BlockAddress::get(&original, &block);
    addresses[copy] = address;
    if (copy->hasAddressTaken())
      BlockAddress::get(&clone, copy)->replaceAllUsesWith(address);
  }
  // What is never called may lose its body, and addresses of blocks that are gone are all the same.
  appendToCompilerUsed(*original.getParent(), {&original});
  for (IndirectBrInst *jump : jumps) {
    IRBuilder<> builder(jump);
    Type *i32 = builder.getInt32Ty();
    SmallVector<BasicBlock *, 16> targets;
    SmallPtrSet<BasicBlock *, 16> seen;
    for (BasicBlock *to : successors(jump))
      if (addresses.count(to) && seen.insert(to).second)
        targets.push_back(to);
    Value *place = ConstantInt::get(i32, 0);
    for (size_t n = targets.size(); n-- > 1;) {
      Value *same = builder.CreateICmpEQ(jump->getAddress(), addresses[targets[n]]);
      place = builder.CreateSelect(same, ConstantInt::get(i32, n), place);
    }
    // A phi has an entry for each edge, and the new terminator has one to each target.
    seen.clear();
    for (BasicBlock *to : SmallVector<BasicBlock *, 16>(successors(jump)))
      if (!addresses.count(to) || !seen.insert(to).second)
        to->removePredecessor(jump->getParent(), /*KeepOneInputPHIs=*/true);
    if (targets.empty()) {
      builder.CreateUnreachable();
    } else {
      SwitchInst *choice = builder.CreateSwitch(place, targets[0], static_cast<unsigned>(targets.size()) - 1);
      for (size_t n = 1; n < targets.size(); ++n)
        choice->addCase(ConstantInt::get(builder.getContext(), APInt(32, n)), targets[n]);
    }
    jump->eraseFromParent();
  }
}

bool enz::isIrreducible(Function &function, const LoopInfo &loops) {
  ReversePostOrderTraversal<Function *> order(&function);
  return containsIrreducibleCFG<BasicBlock *>(order, loops);
}

void enz::shapeControl(EnzOpaqueHost &host, Function &function) {
  const auto forget = [&] { host.functions->invalidate(function, PreservedAnalyses::none()); };
  SmallVector<InvokeInst *, 16> calls;
  for (BasicBlock &block : function)
    if (auto *call = dyn_cast<InvokeInst>(block.getTerminator()))
      calls.push_back(call);
  for (InvokeInst *call : calls)
    ownNormalDest(*call);
  forget();
  if (isIrreducible(function, host.functions->getResult<LoopAnalysis>(function))) {
    Entries(function).run();
    forget();
  }
  // A loop that is left by the normal edge alone, as when something is tried until it succeeds: an edge that is never
  // taken keeps the call in the loop.
  bool changed = false;
  for (InvokeInst *call : calls) {
    auto &loops = host.functions->getResult<LoopAnalysis>(function);
    Loop *loop = loops.getLoopFor(call->getParent());
    BasicBlock *normal = call->getNormalDest();
    if (!loop || loop->contains(normal) || loop->getHeader()->isEHPad())
      continue;
    BasicBlock *after = normal->splitBasicBlock(normal->getFirstInsertionPt());
    normal->getTerminator()->eraseFromParent();
    BranchInst::Create(after, loop->getHeader(), ConstantInt::getTrue(function.getContext()), normal);
    for (PHINode &phi : loop->getHeader()->phis())
      phi.addIncoming(PoisonValue::get(phi.getType()), normal);
    forget();
    changed = true;
  }
  if (changed)
    forget();
}
