// Loops that copy or swap bytes, and what is left of those that were unrolled: calls of memmove instead.
//
// A byte of a float says nothing of its derivative, so a loop over bytes that may be floats can't be differentiated;
// the copy as a whole can, whatever it copies. LLVM makes calls of such loops only where the two places can't overlap.
//
//   for i in 0..n: to[i] = from[i]        for at in 0..n by chunk: memmove(to + at, from + at, chunk)
//
// A loop that runs upwards into what it has yet to read repeats what it wrote: so a chunk is as long as the distance
// from `from` up to `to`, if that is less than n, and all n bytes otherwise. Downwards the same from the other end. The
// result is that of the loop for any two places. A swap goes in chunks of the distance either way, through memory of
// its own. What is only reached for less than n bytes has an attribute: what types are there is known of the n bytes,
// not of chunks, and floats are not copied like that.
//
// Taken are innermost loops whose only accesses are one load and one store, or two of each at the same places, of
// integers of 8 or 16 bits or vectors of them, in places that are next to each other, a known number of times. What
// else such a loop does stays where it is. And the same accesses, with no others between, in a row in one block.
//
// Loops that swap a few words, as Rust swaps two structures of any kind, are unrolled: what lies in structures is known
// by its distance from their beginning, which one access to all their words blurs.
//
// What of these bytes was read before as a number is stored in pieces that are shifted out of it. Where all pieces of
// one or more numbers are stored in a row, the numbers are stored instead, if none is stored partly over another.

#include "support.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

// So many numbers are stored side by side, as an exchange does.
constexpr size_t kMostNumbers = 2;

// So many words are swapped one by one.
constexpr uint64_t kFewWords = 32;

// What one loop moves: the store and the load that gives it its value, and, for a swap, another pair the other way.
struct Moves {
  SmallVector<StoreInst *, 2> stores;
  SmallVector<LoadInst *, 2> loads;
};

bool isBytes(const Type *type) {
  const Type *scalar = isa<FixedVectorType>(type) ? type->getScalarType() : type;
  return scalar->isIntegerTy(8) || scalar->isIntegerTy(16);
}

bool isWord(const Instruction &access) {
  return getLoadStoreType(&access)->isIntegerTy(64) && !access.hasMetadata(LLVMContext::MD_tbaa);
}

// The moves of a loop that does nothing else to memory.
std::optional<Moves> movesOf(const Loop &loop) {
  Moves moves;
  SmallVector<LoadInst *, 2> loads;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &inst : *block) {
      if (auto *store = dyn_cast<StoreInst>(&inst)) {
        if (!store->isSimple() || !(isBytes(store->getValueOperand()->getType()) || isWord(*store)) ||
            moves.stores.size() == 2)
          return std::nullopt;
        moves.stores.push_back(store);
      } else if (auto *load = dyn_cast<LoadInst>(&inst)) {
        if (!load->isSimple() || !load->hasOneUse() || loads.size() == 2)
          return std::nullopt;
        loads.push_back(load);
      } else if ((inst.mayReadOrWriteMemory() || inst.mayThrow()) && !isa<AssumeInst, NoAliasScopeDeclInst>(inst)) {
        return std::nullopt;
      }
    }
  if (moves.stores.empty() || moves.stores.size() != loads.size())
    return std::nullopt;
  for (StoreInst *store : moves.stores) {
    auto *load = dyn_cast<LoadInst>(store->getValueOperand());
    if (!load || load->getParent() != store->getParent() || store->getPointerAddressSpace() != 0 ||
        load->getPointerAddressSpace() != 0)
      return std::nullopt;
    moves.loads.push_back(load);
  }
  return moves;
}

class Rewriter {
public:
  Rewriter(EnzOpaqueHost &host, Function &function)
      : evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        tree_(host.functions->getResult<DominatorTreeAnalysis>(function)),
        loops_(host.functions->getResult<LoopAnalysis>(function)), layout_(function.getDataLayout()) {}

  // Puts calls before one loop, which moves nothing any more; returns whether it could.
  bool rewrite(Loop &loop) {
    BasicBlock *before = loop.getLoopPreheader();
    std::optional<Moves> moves = before && loop.isInnermost() ? movesOf(loop) : std::nullopt;
    if (!moves)
      return false;
    const bool swap = moves->stores.size() == 2;
    const SCEV *to = start(loop, moves->stores[0], moves->stores[0]->getPointerOperand());
    const SCEV *from = start(loop, moves->stores[0], moves->loads[0]->getPointerOperand());
    const SCEV *times = timesOf(loop, moves->stores[0]->getParent());
    if (!to || !from || !times || (swap && !isSwap(loop, *moves, to, from)))
      return false;
    const bool down = stepOf(moves->stores[0]->getPointerOperand()) < 0;
    const uint64_t width = layout_.getTypeStoreSize(moves->stores[0]->getValueOperand()->getType());
    Type *word = layout_.getIntPtrType(before->getContext());
    times = evolution_.getTruncateOrZeroExtend(times, word);
    const SCEV *bytes = evolution_.getMulExpr(times, evolution_.getConstant(word, width));
    SCEVExpander expander(evolution_, "copy");
    Instruction *end = before->getTerminator();
    for (const SCEV *needed : {to, from, bytes})
      if (!expander.isSafeToExpandAt(needed, end))
        return false;
    const auto *few = dyn_cast<SCEVConstant>(times);
    const bool words = isWord(*moves->stores[0]);
    if (words && (!swap || down || !few || few->getAPInt().ugt(kFewWords)))
      return false;
    Value *count = expander.expandCodeFor(bytes, word, end->getIterator());
    Value *target = expander.expandCodeFor(to, to->getType(), end->getIterator());
    Value *source = expander.expandCodeFor(from, from->getType(), end->getIterator());
    if (down) {
      IRBuilder<> at(end);
      Value *back = at.CreateSub(ConstantInt::get(word, width), count);
      target = at.CreateGEP(at.getInt8Ty(), target, back);
      source = at.CreateGEP(at.getInt8Ty(), source, back);
    }
    if (words)
      swapWords(end, *moves->stores[0], target, source, few->getAPInt().getZExtValue());
    else
      move(end, *moves->stores[0], target, source, count, down, swap);
    for (StoreInst *store : moves->stores)
      store->eraseFromParent();
    for (LoadInst *load : moves->loads)
      load->eraseFromParent();
    return true;
  }

  // Puts calls for a row of moves in this block; returns whether there was one.
  bool rewriteRow(BasicBlock &block) {
    SmallVector<Instruction *, 64> row;
    for (Instruction &inst : block) {
      auto *load = dyn_cast<LoadInst>(&inst);
      auto *store = dyn_cast<StoreInst>(&inst);
      const bool bytes = load ? load->isSimple() && load->hasOneUse() && isBytes(load->getType())
                              : store && store->isSimple() && isBytes(store->getValueOperand()->getType());
      if (bytes)
        row.push_back(&inst);
      else if (inst.mayReadOrWriteMemory() || inst.mayThrow() || inst.isTerminator()) {
        for (const bool swap : {false, true})
          for (size_t from = 0; from < row.size(); ++from)
            if (rewriteRow(ArrayRef(row).drop_front(from), swap))
              return true;
        row.clear();
      }
    }
    return false;
  }

  // Stores numbers as a whole that this block stores byte by byte; returns whether there were any.
  bool joinPieces(BasicBlock &block) {
    SmallVector<StoreInst *, 32> row;
    for (Instruction &inst : block) {
      auto *store = dyn_cast<StoreInst>(&inst);
      if (store && store->isSimple() && store->getValueOperand()->getType()->isIntegerTy(8) &&
          store->getPointerAddressSpace() == 0)
        row.push_back(store);
      else if (inst.mayReadOrWriteMemory() || inst.mayThrow() || inst.isTerminator()) {
        for (size_t from = 0; from < row.size(); ++from)
          if (joinPieces(ArrayRef(row).drop_front(from)))
            return true;
        row.clear();
      }
    }
    return false;
  }

  // The innermost loops, before any is changed.
  SmallVector<Loop *, 8> innermost() {
    SmallVector<Loop *, 8> found;
    for (Loop *loop : loops_.getLoopsInPreorder())
      if (loop->isInnermost())
        found.push_back(loop);
    return found;
  }

private:
  // An address: a place in what begins at a value.
  std::pair<Value *, int64_t> placeOf(Value *address) {
    APInt offset(layout_.getIndexTypeSizeInBits(address->getType()), 0);
    Value *base = address->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    return {base, offset.getSExtValue()};
  }

  // As many moves as there are from the beginning of `row` on, at least four.
  bool rewriteRow(ArrayRef<Instruction *> row, bool swap) {
    const size_t size = swap ? 4 : 2;
    StoreInst *first = nullptr;
    std::pair<Value *, int64_t> to, from;
    int64_t step = 0;
    size_t count = 0;
    for (; (count + 1) * size <= row.size(); ++count) {
      const ArrayRef<Instruction *> part = row.slice(count * size, size);
      auto *store = dyn_cast<StoreInst>(part[size / 2]);
      auto *load = store ? dyn_cast<LoadInst>(store->getValueOperand()) : nullptr;
      if (!load || !is_contained(part.take_front(size / 2), load) || load->getPointerAddressSpace() != 0 ||
          store->getPointerAddressSpace() != 0 || (first && load->getType() != first->getValueOperand()->getType()))
        break;
      const auto t = placeOf(store->getPointerOperand()), f = placeOf(load->getPointerOperand());
      if (swap) {
        auto *back = dyn_cast<StoreInst>(part[3]);
        auto *other = back ? dyn_cast<LoadInst>(back->getValueOperand()) : nullptr;
        if (!other || other == load || !is_contained(part.take_front(2), other) ||
            placeOf(other->getPointerOperand()) != t || placeOf(back->getPointerOperand()) != f ||
            other->getType() != load->getType())
          break;
      }
      const auto width = static_cast<int64_t>(layout_.getTypeStoreSize(load->getType()));
      if (count == 0) {
        first = store;
        to = t;
        from = f;
      } else {
        if (count == 1)
          step = t.second - to.second;
        if (t.first != to.first || f.first != from.first || std::abs(step) != width ||
            t.second - to.second != step * static_cast<int64_t>(count) ||
            f.second - from.second != step * static_cast<int64_t>(count))
          break;
      }
    }
    if (count < 4)
      return false;
    Instruction *end = row[count * size - 1]->getNextNode();
    IRBuilder<> at(end);
    Type *word = layout_.getIntPtrType(end->getContext());
    const int64_t back = step < 0 ? step * static_cast<int64_t>(count - 1) : 0;
    const auto place = [&](std::pair<Value *, int64_t> where) {
      return at.CreateGEP(at.getInt8Ty(), where.first, ConstantInt::getSigned(word, where.second + back));
    };
    Value *target = place(to);
    Value *source = place(from);
    move(end, *first, target, source, ConstantInt::get(word, std::abs(step) * count), step < 0, swap);
    for (Instruction *inst : reverse(row.take_front(count * size)))
      inst->eraseFromParent();
    return true;
  }

  // A number that is stored byte by byte, and its pieces from the lowest on.
  struct Number {
    Value *value;
    std::pair<Value *, int64_t> place;
    SmallVector<StoreInst *, 8> pieces;
    SmallVector<size_t, 8> order;
  };

  // Whether some access with this alignment says where `address` is.
  bool isAligned(Value *address, const Instruction *at, uint64_t alignment) const {
    return getKnownAlignment(address, layout_, at, nullptr, &tree_).value() >= alignment ||
           any_of(address->users(), [&](User *user) {
             auto *inst = dyn_cast<Instruction>(user);
             return inst && getLoadStorePointerOperand(inst) == address &&
                    getLoadStoreAlignment(inst).value() >= alignment && tree_.dominates(inst, at);
           });
  }

  // The numbers that the row begins with, as many as are complete after the same number of stores.
  bool joinPieces(ArrayRef<StoreInst *> row) {
    SmallVector<Number, 2> numbers;
    size_t open = 0;
    for (size_t n = 0; n < row.size(); ++n) {
      Value *value = row[n]->getValueOperand();
      auto *piece = dyn_cast<TruncInst>(value);
      Value *whole = piece ? piece->getOperand(0) : nullptr;
      uint64_t shift = 0;
      if (auto *shifted = dyn_cast_or_null<BinaryOperator>(whole);
          shifted && shifted->getOpcode() == Instruction::LShr && isa<ConstantInt>(shifted->getOperand(1))) {
        shift = cast<ConstantInt>(shifted->getOperand(1))->getLimitedValue();
        whole = shifted->getOperand(0);
      }
      const unsigned bits = whole ? whole->getType()->getIntegerBitWidth() : 0;
      if (shift % 8 != 0 || (bits != 16 && bits != 32 && bits != 64) || shift >= bits || layout_.isBigEndian())
        return false;
      auto place = placeOf(row[n]->getPointerOperand());
      place.second -= static_cast<int64_t>(shift / 8);
      auto *known = find_if(numbers, [&](const Number &other) { return other.value == whole && other.place == place; });
      if (known == numbers.end()) {
        if (numbers.size() == kMostNumbers)
          return false;
        numbers.push_back(
            Number{whole, place, SmallVector<StoreInst *, 8>(bits / 8, nullptr), SmallVector<size_t, 8>(bits / 8, 0)});
        known = std::prev(numbers.end());
        open += bits / 8;
      }
      if (known->pieces[shift / 8])
        return false;
      known->pieces[shift / 8] = row[n];
      known->order[shift / 8] = n;
      if (--open == 0)
        return join(numbers, row[n]->getNextNode());
    }
    return false;
  }

  bool join(ArrayRef<Number> numbers, Instruction *end) {
    // Over each other they are either not at all, or piece by piece in the same order.
    for (size_t n = 1; n < numbers.size(); ++n) {
      const Number &one = numbers[n - 1], &other = numbers[n];
      const bool ordered = one.order.size() == other.order.size() && all_of(zip(one.order, other.order), [](auto pair) {
                             return std::get<0>(pair) < std::get<1>(pair);
                           });
      if (!ordered || !isAligned(one.pieces[0]->getPointerOperand(), end, one.pieces.size()) ||
          !isAligned(other.pieces[0]->getPointerOperand(), end, other.pieces.size()))
        return false;
    }
    IRBuilder<> at(end);
    for (const Number &number : numbers) {
      at.SetCurrentDebugLocation(number.pieces[0]->getDebugLoc());
      at.CreateAlignedStore(number.value, number.pieces[0]->getPointerOperand(), Align(1));
    }
    for (const Number &number : numbers)
      for (StoreInst *piece : number.pieces)
        piece->eraseFromParent();
    return true;
  }

  int64_t stepOf(Value *address) {
    const auto *run = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(address));
    const auto *step = run ? dyn_cast<SCEVConstant>(run->getStepRecurrence(evolution_)) : nullptr;
    return step && step->getAPInt().getSignificantBits() <= 64 ? step->getAPInt().getSExtValue() : 0;
  }

  // Where an address starts that goes on by what `store` writes, up or down as the others do.
  const SCEV *start(Loop &loop, StoreInst *store, Value *address) {
    const auto *run = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(address));
    const int64_t step = stepOf(address);
    const auto width = static_cast<int64_t>(layout_.getTypeStoreSize(store->getValueOperand()->getType()));
    if (!run || run->getLoop() != &loop || !run->isAffine() || std::abs(step) != width ||
        step != stepOf(store->getPointerOperand()))
      return nullptr;
    return run->getStart();
  }

  // How often a block of the loop runs, if each iteration but the last runs it for sure.
  const SCEV *timesOf(Loop &loop, BasicBlock *block) {
    BasicBlock *exiting = loop.getExitingBlock();
    BasicBlock *latch = loop.getLoopLatch();
    if (!exiting || !latch || !tree_.dominates(block, latch))
      return nullptr;
    const SCEV *turns = evolution_.getExitCount(&loop, exiting);
    if (isa<SCEVCouldNotCompute>(turns) || turns->getType()->getIntegerBitWidth() > 64)
      return nullptr;
    if (!tree_.dominates(block, exiting))
      return turns;
    Type *word = Type::getInt64Ty(block->getContext());
    turns = evolution_.getNoopOrZeroExtend(turns, word);
    return evolution_.getAddExpr(turns, evolution_.getOne(word));
  }

  // Whether the second move is the first one back, after both were read.
  bool isSwap(Loop &loop, const Moves &moves, const SCEV *to, const SCEV *from) {
    const StoreInst &first = *moves.stores[0];
    StoreInst &second = *moves.stores[1];
    return first.getParent() == second.getParent() &&
           first.getValueOperand()->getType() == second.getValueOperand()->getType() &&
           start(loop, &second, second.getPointerOperand()) == from &&
           start(loop, &second, moves.loads[1]->getPointerOperand()) == to &&
           all_of(moves.loads, [&](LoadInst *load) { return load->comesBefore(&first) && load->comesBefore(&second); });
  }

  static void swapWords(Instruction *end, const StoreInst &store, Value *to, Value *from, uint64_t count) {
    IRBuilder<> at(end);
    at.SetCurrentDebugLocation(store.getDebugLoc());
    Type *word = at.getInt64Ty();
    for (uint64_t n = 0; n < count; ++n) {
      Value *one = at.CreateConstGEP1_64(word, to, n), *other = at.CreateConstGEP1_64(word, from, n);
      Value *first = at.CreateAlignedLoad(word, one, Align(1)), *second = at.CreateAlignedLoad(word, other, Align(1));
      at.CreateAlignedStore(second, one, Align(1));
      at.CreateAlignedStore(first, other, Align(1));
    }
  }

  // Moves or swaps `count` bytes before `end`, which ends a block, in the order of a loop that runs up or down.
  void move(Instruction *end, const StoreInst &store, Value *to, Value *from, Value *count, bool down, bool swap) {
    Type *word = count->getType();
    IRBuilder<> at(end);
    at.SetCurrentDebugLocation(store.getDebugLoc());
    Value *one = ConstantInt::get(word, 1);
    Value *ahead = down ? at.CreateSub(at.CreatePtrToInt(from, word), at.CreatePtrToInt(to, word))
                        : at.CreateSub(at.CreatePtrToInt(to, word), at.CreatePtrToInt(from, word));
    if (swap)
      ahead = at.CreateBinaryIntrinsic(Intrinsic::umin, ahead, at.CreateNeg(ahead));
    // From 1 to count - 1; at a distance of zero nothing moves, in whatever chunks.
    Value *near = at.CreateICmpULT(at.CreateSub(ahead, one), at.CreateSub(count, one));
    Value *temporary = swap ? own(at, count) : nullptr;
    BasicBlock *head = end->getParent();
    BasicBlock *after = SplitBlock(head, end, &tree_, &loops_, nullptr, "copied");
    if (temporary && !isa<AllocaInst>(temporary)) {
      IRBuilder<> later(&*after->getFirstInsertionPt());
      Module &module = *after->getModule();
      later.CreateCall(module.getOrInsertFunction("free", at.getVoidTy(), at.getPtrTy()), temporary);
    }
    BasicBlock *whole = BasicBlock::Create(head->getContext(), "copy", head->getParent(), after);
    BasicBlock *chunks = BasicBlock::Create(head->getContext(), "copy.chunks", head->getParent(), after);
    head->getTerminator()->eraseFromParent();
    at.SetInsertPoint(head);
    at.CreateCondBr(near, chunks, whole);
    at.SetInsertPoint(whole);
    moveOnce(at, to, from, count, temporary);
    at.CreateBr(after);
    at.SetInsertPoint(chunks);
    PHINode *done = at.CreatePHI(word, 2, "done");
    Value *length = at.CreateBinaryIntrinsic(Intrinsic::umin, ahead, at.CreateSub(count, done));
    Value *next = at.CreateAdd(done, length);
    Value *place = down ? at.CreateSub(count, next) : done;
    Value *a = at.CreateGEP(at.getInt8Ty(), to, place);
    Value *b = at.CreateGEP(at.getInt8Ty(), from, place);
    for (CallInst *call : moveOnce(at, a, b, length, temporary))
      call->addFnAttr(Attribute::get(call->getContext(), enz::kOverlapping));
    at.CreateCondBr(at.CreateICmpULT(next, count), chunks, after);
    done->addIncoming(ConstantInt::get(word, 0), head);
    done->addIncoming(next, chunks);
  }

  static SmallVector<CallInst *, 3> moveOnce(IRBuilder<> &at, Value *to, Value *from, Value *length, Value *temporary) {
    if (!temporary)
      return {at.CreateMemMove(to, Align(1), from, Align(1), length)};
    return {at.CreateMemCpy(temporary, Align(1), to, Align(1), length),
            at.CreateMemMove(to, Align(1), from, Align(1), length),
            at.CreateMemCpy(from, Align(1), temporary, Align(1), length)};
  }

  // Memory for `count` bytes: in the frame if that is known, as this may be in a loop.
  static Value *own(IRBuilder<> &at, Value *count) {
    if (!isa<Constant>(count)) {
      Module &module = *at.GetInsertBlock()->getModule();
      return at.CreateCall(module.getOrInsertFunction("malloc", at.getPtrTy(), count->getType()), count, "swapped");
    }
    IRBuilder<> entry(&*at.GetInsertBlock()->getParent()->getEntryBlock().getFirstInsertionPt());
    return entry.CreateAlloca(at.getInt8Ty(), count, "swapped");
  }

  ScalarEvolution &evolution_;
  DominatorTree &tree_;
  LoopInfo &loops_;
  const DataLayout &layout_;
};

} // namespace

namespace enz {

bool lowerCopyLoops(EnzOpaqueHost &host, Function &function) {
  bool changed = false;
  // Each change costs the analyses, and few functions have more than one such loop.
  for (bool again = true; again;) {
    Rewriter rewriter(host, function);
    const SmallVector<Loop *, 8> loops = rewriter.innermost();
    again =
        any_of(loops, [&](Loop *loop) { return rewriter.rewrite(*loop); }) ||
        any_of(function, [&](BasicBlock &block) { return rewriter.joinPieces(block) || rewriter.rewriteRow(block); });
    if (again)
      host.functions->invalidate(function, PreservedAnalyses::none());
    changed |= again;
  }
  return changed;
}

} // namespace enz
