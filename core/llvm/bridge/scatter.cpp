// Loops of a derivative that add to shadow memory at several places in each iteration are split: what is added is
// computed into small buffers, strip by strip, and each buffer is added to memory by a loop of its own.
//
// The adjoint of a loop that gathers, as a stencil does, scatters: iteration j adds to s[j - 1], s[j] and s[j + 1], and
// perhaps to the rows above and below. LLVM must keep these in order, so that it vectorises nothing. But they are sums,
// of which the order does not matter (they are marked so): the amounts alone are computed as everything else is, and
// adding them is as simple a loop as there can be.
//
//   for j in 0..n:                          for strip in 0..n by 64:
//     a = f(j)                                for k in 0..64:  f0[k] = a(strip + k);  f1[k] = b(strip + k)
//     s[j] += a;  s[j + 1] += b               for k in 0..64:  s[strip + k] += f0[k]
//                                             for k in 0..64:  s[strip + k + 1] += f1[k]
//
// Which loops are taken: see loopsums.cpp. Where ranges meet at run time, or the loop is short, it runs as it was.
// (Loop distribution and strip mining: Allen, Kennedy, "Optimizing Compilers for Modern Architectures", sections 5.6
// and 6.2.)

#include "loopsums.h"

#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

// Elements of a buffer: a whole number of vectors of any width, and few enough for the nearest cache.
constexpr uint64_t kStrip = 64;

class Split {
public:
  Split(enz::LoopSums &sums, LoopInfo &loops)
      : sums_(sums), loops_(loops), block_(sums.block()), layout_(sums.block().getDataLayout()) {}

  bool run(SmallPtrSetImpl<const BasicBlock *> &done) {
    SCEVExpander expander(sums_.evolution(), "scatter");
    if (!sums_.canExpand(expander, sums_.checks()))
      return false;
    done.insert(&block_);
    formLCSSA(sums_.loop(), sums_.dominators(), &loops_, &sums_.evolution());
    rewrite(expander, done);
    return true;
  }

private:
  void rewrite(SCEVExpander &expander, SmallPtrSetImpl<const BasicBlock *> &done) {
    Function &function = *block_.getParent();
    auto *i64 = Type::getInt64Ty(function.getContext());
    Type *element = sums_.element();
    const auto [before, as_it_was, count, apart, where] = sums_.enter(expander, loops_, sums_.checks());
    Instruction *at = before->getTerminator();
    SmallVector<Value *, 8> starts;
    for (const enz::Target &target : sums_.targets()) {
      const SCEV *start = target.place.address->getStart();
      starts.push_back(expander.expandCodeFor(start, start->getType(), at));
    }
    IRBuilder<> build(at);
    build.SetCurrentDebugLocation(where);
    Value *total = build.CreateAdd(count, build.getInt64(1), "", true);
    auto block = [&, end = as_it_was](const char *name) {
      return BasicBlock::Create(function.getContext(), name, &function, end);
    };
    BasicBlock *outer = block("scatter.strip"), *inner = block("scatter.amounts"), *latch = block("scatter.next");
    ReplaceInstWithInst(before->getTerminator(), BranchInst::Create(outer, as_it_was, apart));
    // Buffers of what is added in both directions, by amount.
    DenseMap<std::pair<Value *, unsigned>, AllocaInst *> buffers;

    // The strip: its first iteration, and how many it has.
    IRBuilder<> strip(outer);
    strip.SetCurrentDebugLocation(where);
    ValueToValueMapTy map;
    SmallVector<std::pair<PHINode *, PHINode *>, 8> carried;
    for (PHINode &phi : block_.phis()) {
      PHINode *over = strip.CreatePHI(phi.getType(), 2, phi.getName());
      over->addIncoming(phi.getIncomingValueForBlock(as_it_was), before);
      carried.emplace_back(&phi, over);
    }
    PHINode *first = strip.CreatePHI(i64, 2);
    first->addIncoming(strip.getInt64(0), before);
    Value *left = strip.CreateSub(total, first, "", true);
    Value *many = strip.CreateBinaryIntrinsic(Intrinsic::umin, left, strip.getInt64(kStrip));
    strip.CreateBr(inner);

    // The loop as it was, which keeps what it would add.
    IRBuilder<> amounts(inner);
    for (auto &[phi, over] : carried) {
      PHINode *within = amounts.CreatePHI(phi->getType(), 2, phi->getName());
      within->addIncoming(over, outer);
      map[phi] = within;
    }
    PHINode *index = amounts.CreatePHI(i64, 2);
    index->addIncoming(amounts.getInt64(0), outer);
    const auto left_out = sums_.partsOfSums();
    for (Instruction &inst : block_) {
      if (isa<PHINode>(inst) || inst.isTerminator() || left_out.contains(&inst))
        continue;
      Instruction *copy = inst.clone();
      amounts.Insert(copy, inst.getName());
      RemapInstruction(copy, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      map[&inst] = copy;
    }
    SmallVector<AllocaInst *, 8> buffer_of;
    for (const enz::Target &target : sums_.targets()) {
      const enz::Sum &sum = target.sum;
      amounts.SetCurrentDebugLocation(sum.store->getDebugLoc());
      Value *amount = enz::LoopSums::amountOf(amounts, sum, map);
      const unsigned down = target.place.step < 0 ? 1 : 0;
      AllocaInst *&buffer = buffers[{amount, down}];
      if (!buffer) {
        buffer = new AllocaInst(ArrayType::get(element, kStrip), layout_.getAllocaAddrSpace(), nullptr, Align(64),
                                "scatter", function.getEntryBlock().begin());
        Value *slot = down ? amounts.CreateSub(amounts.getInt64(kStrip - 1), index, "", true, true) : index;
        amounts.CreateAlignedStore(amount, amounts.CreateInBoundsGEP(element, buffer, slot), sum.store->getAlign());
      }
      buffer_of.push_back(buffer);
    }
    for (auto &[phi, over] : carried) {
      Value *next = phi->getIncomingValueForBlock(&block_);
      if (Value *copy = map.lookup(next))
        next = copy;
      cast<PHINode>(map.lookup(phi))->addIncoming(next, inner);
      over->addIncoming(next, latch);
    }
    amounts.SetCurrentDebugLocation(where);
    Value *following = amounts.CreateAdd(index, amounts.getInt64(1), "", true, true);
    index->addIncoming(following, inner);

    // A loop for each sum.
    BasicBlock *from = inner;
    BranchInst *open = amounts.CreateCondBr(amounts.CreateICmpEQ(following, many), latch, inner);
    for (const auto &[target, start, buffer] : zip(sums_.targets(), starts, buffer_of)) {
      BasicBlock *enter = block("scatter.enter"), *add = block("scatter.add");
      open->setSuccessor(0, enter);
      IRBuilder<> entry(enter);
      entry.SetCurrentDebugLocation(target.sum.store->getDebugLoc());
      Value *lowest = first, *slot = entry.getInt64(0);
      if (target.place.step < 0) {
        lowest = entry.CreateNeg(entry.CreateAdd(first, entry.CreateSub(many, entry.getInt64(1))));
        slot = entry.CreateSub(entry.getInt64(kStrip), many, "", true, true);
      }
      Value *to = entry.CreateGEP(element, start, lowest);
      Value *amount = entry.CreateInBoundsGEP(element, buffer, slot);
      entry.CreateBr(add);
      IRBuilder<> sum(add);
      sum.SetCurrentDebugLocation(target.sum.store->getDebugLoc());
      PHINode *k = sum.CreatePHI(i64, 2);
      k->addIncoming(sum.getInt64(0), enter);
      Value *place = sum.CreateInBoundsGEP(element, to, k);
      auto *present = cast<LoadInst>(sum.Insert(target.sum.load->clone()));
      present->setOperand(0, place);
      Value *more =
          sum.CreateAlignedLoad(element, sum.CreateInBoundsGEP(element, amount, k), target.sum.load->getAlign());
      sum.setFastMathFlags(target.sum.operations.front()->getFastMathFlags());
      Value *after = sum.CreateFAdd(present, more);
      auto *store = cast<StoreInst>(sum.Insert(target.sum.store->clone()));
      store->setOperand(0, after);
      store->setOperand(1, place);
      Value *next = sum.CreateAdd(k, sum.getInt64(1), "", true, true);
      k->addIncoming(next, add);
      open = sum.CreateCondBr(sum.CreateICmpEQ(next, many), latch, add);
      done.insert(add);
      from = add;
    }

    IRBuilder<> end(latch);
    end.SetCurrentDebugLocation(where);
    Value *begun = end.CreateAdd(first, many, "", true);
    first->addIncoming(begun, latch);
    end.CreateCondBr(end.CreateICmpEQ(begun, total), sums_.exit(), outer);
    for (PHINode &phi : sums_.exit()->phis()) {
      Value *value = phi.getIncomingValueForBlock(&block_);
      if (Value *copy = map.lookup(value))
        value = copy;
      phi.addIncoming(value, latch);
    }
    latch->moveAfter(from);
    done.insert(inner);
    sums_.evolution().forgetAllLoops();
  }

  enz::LoopSums &sums_;
  LoopInfo &loops_;
  BasicBlock &block_;
  const DataLayout &layout_;
};

} // namespace

bool enz::splitScatters(EnzOpaqueHost &host, Function &function) {
  const auto rewrite = [](LoopSums &sums, LoopInfo &loops, SmallPtrSetImpl<const BasicBlock *> &done) {
    return Split(sums, loops).run(done);
  };
  return rewriteSums(host, function, rewrite);
}
