// Memory that every step of a loop fills before it reads it: see temporaries.h.

#include "temporaries.h"

#include "bounds.h"

#include <map>

using namespace llvm;

namespace enz {

namespace {

// More accesses than this in a step, and all that it writes is state.
constexpr size_t kAccessLimit = 256;
// As many comparisons of reads with the writes before them are made, and of reads through other pointers.
constexpr size_t kComparisonLimit = 512;
constexpr size_t kOtherLimit = 32;
// Numbers of the program are taken to have fewer bits than the first of these with which ranges can be computed.
constexpr unsigned kLeafBits[] = {40, 26, 18};
// How often the writes are gone through, in the order of the program, to join the ranges that they fill: the inside of
// an array may come before its ends.
constexpr int kRounds = 2;

} // namespace

void Temporaries::list() {
  if (listed_)
    return;
  listed_ = true;
  for (BasicBlock *block : loop_.blocks())
    for (Instruction &inst : *block) {
      if (!inst.mayReadOrWriteMemory() || isa<AssumeInst, DbgInfoIntrinsic, NoAliasScopeDeclInst>(inst) ||
          inst.isLifetimeStartOrEnd())
        continue;
      if (auto *load = dyn_cast<LoadInst>(&inst)) {
        accesses_.push_back(
            {&inst, load->getPointerOperand(), layout_.getTypeStoreSize(load->getType()), nullptr, false});
      } else if (auto *store = dyn_cast<StoreInst>(&inst)) {
        const TypeSize size = layout_.getTypeStoreSize(store->getValueOperand()->getType());
        accesses_.push_back({&inst, store->getPointerOperand(), size, nullptr, true});
      } else if (auto *fill = dyn_cast<AnyMemIntrinsic>(&inst)) {
        accesses_.push_back({&inst, fill->getRawDest(), TypeSize::getFixed(0), fill->getLength(), true});
        if (auto *copy = dyn_cast<AnyMemTransferInst>(&inst))
          accesses_.push_back({&inst, copy->getRawSource(), TypeSize::getFixed(0), copy->getLength(), false});
      } else if (const auto *call = dyn_cast<CallBase>(&inst);
                 !call || !(isAllocation(call) || freedBy(*call) || writesNothing(inst))) {
        opaque_.push_back(&inst);
      }
    }
}

// Whether a read through another pointer cannot be of the memory of `base`.
bool Temporaries::isApart(const Access &read, Value *base) {
  BatchAAResults batch(aliases_);
  batch.enableCrossIterationMode();
  return batch.isNoAlias(MemoryLocation::getBeforeOrAfter(read.pointer), MemoryLocation::getBeforeOrAfter(base));
}

// Whether a read is of what the same iteration has written to the same address.
bool Temporaries::isOfSameElement(const Access &read, Value *base) {
  if (read.length)
    return false;
  return any_of(accesses_, [&](const Access &write) {
    const Loop *around = loops_.getLoopFor(write.inst->getParent());
    return write.written && !write.length && write.size == read.size && baseOf(write.pointer) == base &&
           evolution_.getSCEV(write.pointer) == evolution_.getSCEV(read.pointer) && around &&
           around->contains(read.inst) && dominators_.dominates(write.inst, read.inst);
  });
}

// Whether a write that each step does comes before the read. `apart` is the outermost loop with the write that the read
// is not in, which runs to its end in between.
bool Temporaries::comesBefore(const Access &write, const Access &read, const Loop *&apart) {
  BasicBlock *from = write.inst->getParent(), *to = read.inst->getParent();
  const Loop *common = loops_.getLoopFor(from);
  apart = nullptr;
  for (; common && common != &loop_ && !common->contains(to); common = common->getParentLoop())
    apart = common;
  if (from == to)
    return write.inst->comesBefore(read.inst);
  SmallPtrSet<const BasicBlock *, 4> headers;
  for (const Loop *loop = common; loop; loop = loop == &loop_ ? nullptr : loop->getParentLoop())
    headers.insert(loop->getHeader());
  if (headers.contains(from))
    return true;
  return !headers.contains(to) && !behind(to, common).contains(from);
}

// The blocks that are run after `block` in the same iteration of `around`.
const SmallPtrSet<BasicBlock *, 16> &Temporaries::behind(BasicBlock *block, const Loop *around) {
  const auto [known, isNew] = behind_.try_emplace({block, around});
  SmallPtrSet<BasicBlock *, 16> &seen = known->second;
  if (!isNew)
    return seen;
  SmallVector<BasicBlock *, 16> work{block};
  while (!work.empty())
    for (BasicBlock *next : successors(work.pop_back_val()))
      if (next != around->getHeader() && around->contains(next) && seen.insert(next).second)
        work.push_back(next);
  return seen;
}

bool Temporaries::pieceOf(const Access &write, const Access &read, Piece &out) {
  const Loop *apart = nullptr;
  BasicBlock *block = write.inst->getParent();
  if (!comesBefore(write, read, apart) || !conditions(block, /*moves=*/false, out.guards))
    return false;
  const auto turnsOf = [&](const Loop *loop) -> const SCEV * {
    const SCEV *turns = evolution_.getBackedgeTakenCount(loop);
    if (isa<SCEVCouldNotCompute>(turns) || !evolution_.isLoopInvariant(turns, &loop_) ||
        evolution_.getTypeSizeInBits(turns->getType()) > 64)
      return nullptr;
    return evolution_.getNoopOrZeroExtend(turns, Type::getInt64Ty(function_.getContext()));
  };
  const auto runs = [&](const SCEVAddRecExpr *over) {
    return over && over->isAffine() && apart && apart->contains(over->getLoop()) && over->getLoop()->contains(block) &&
           evolution_.isLoopInvariant(over->getStepRecurrence(evolution_), &loop_);
  };
  const SCEV *low = evolution_.removePointerBase(evolution_.getSCEV(write.pointer));
  out.bytes = bytesAt(write.size, write.length);
  if (!out.bytes || evolution_.getTypeSizeInBits(low->getType()) != 64)
    return false;
  // One element after the other.
  if (const auto *over = dyn_cast<SCEVAddRecExpr>(low);
      runs(over) && !write.length && over->getStepRecurrence(evolution_) == out.bytes) {
    const SCEV *turns = turnsOf(over->getLoop());
    if (!turns)
      return false;
    out.bytes = evolution_.getMulExpr(out.bytes, evolution_.getAddExpr(turns, evolution_.getOne(turns->getType())));
    low = over->getStart();
  }
  if (const auto *over = dyn_cast<SCEVAddRecExpr>(low); runs(over)) {
    out.rows = over->getLoop();
    out.stride = over->getStepRecurrence(evolution_);
    out.turns = turnsOf(out.rows);
    if (!out.turns || !isKnown(out.turns) || !isKnown(out.stride))
      return false;
    low = over->getStart();
  }
  out.low = low;
  return evolution_.isLoopInvariant(low, &loop_) && isKnown(low) && isKnown(out.bytes);
}

// Frozen, as what runs under a condition may have no number where that does not hold.
Value *Temporaries::number(const SCEV *what) {
  SCEVExpander expander(evolution_, "enzyme.temporary");
  Instruction *place = loop_.getLoopPreheader()->getTerminator();
  Value *here = expander.expandCodeFor(what, Type::getInt64Ty(function_.getContext()), place);
  IRBuilder<> build(place);
  return build.CreateFreeze(here);
}

// Empty where a condition does not hold.
Temporaries::Span Temporaries::spanOf(const SCEV *low, const SCEV *bytes, const Guards &guards) {
  Value *from = number(low), *length = number(bytes);
  IRBuilder<> build(loop_.getLoopPreheader()->getTerminator());
  Value *runs = build.CreateFreeze(guardOf(build, guards));
  return {from, build.CreateAdd(from, build.CreateSelect(runs, length, build.getInt64(0)))};
}

// How far one gets from `from` without leaving the ranges.
Value *Temporaries::reached(Value *from, ArrayRef<Span> spans) {
  IRBuilder<> build(loop_.getLoopPreheader()->getTerminator());
  Value *reach = from;
  for (int round = 0; round < (spans.size() > 1 ? kRounds : 1); ++round)
    for (const Span &span : spans) {
      Value *goes_on = build.CreateAnd(build.CreateICmpSLE(span.low, reach), build.CreateICmpSGT(span.high, reach));
      reach = build.CreateSelect(goes_on, span.high, reach);
    }
  return reach;
}

// The writes that fill some of `base` before the read.
SmallVector<Temporaries::Piece, 8> Temporaries::piecesFor(const Access &read, Value *base) {
  SmallVector<Piece, 8> pieces;
  for (const Access &write : accesses_) {
    Piece piece;
    piece.write = &write;
    if (write.written && baseOf(write.pointer) == base && pieceOf(write, read, piece))
      pieces.push_back(piece);
  }
  return pieces;
}

// What the pieces fill: those without rows each for itself, rows without gaps as one, from whichever piece begins them.
SmallVector<Temporaries::Span, 8> Temporaries::filledBy(SmallVector<Piece, 8> pieces) {
  SmallVector<Span, 8> filled;
  while (!pieces.empty()) {
    const Piece first = pieces.front();
    SmallVector<Span, 4> row;
    erase_if(pieces, [&](const Piece &piece) {
      const bool same = piece.rows == first.rows && piece.stride == first.stride;
      if (same)
        row.push_back(spanOf(piece.low, piece.bytes, piece.guards));
      return same;
    });
    if (!first.rows) {
      filled.append(row);
      continue;
    }
    Value *stride = number(first.stride), *turns = number(first.turns);
    for (const Span &start : row) {
      Value *end = reached(start.low, row);
      IRBuilder<> build(loop_.getLoopPreheader()->getTerminator());
      Value *whole = build.CreateAnd(build.CreateICmpSGT(stride, build.getInt64(0)),
                                     build.CreateICmpSGE(build.CreateSub(end, start.low), stride));
      Value *all = build.CreateAdd(end, build.CreateMul(stride, turns));
      filled.push_back({start.low, build.CreateSelect(whole, all, start.low)});
    }
  }
  return filled;
}

// Whether steps fill what they read through pointers with this base before they read it. Reads of one block that the
// same writes come before are asked for together, from the lowest to the highest address.
Value *Temporaries::isFilled(Value *base) {
  struct Group {
    SmallVector<Region, 4> ranges;
    SmallVector<Piece, 8> pieces;
  };
  using Key = std::pair<BasicBlock *, SmallVector<const Access *, 8>>;
  std::map<Key, size_t> known;
  SmallVector<Group, 8> groups;
  size_t comparisons = 0;
  for (const Access &read : accesses_) {
    if (read.written || baseOf(read.pointer) != base || isOfSameElement(read, base))
      continue;
    Region range;
    if (!locate(read.pointer, read.size, read.length, range) || moves_)
      return nullptr;
    conditions(read.inst->getParent(), /*moves=*/false, range.guards);
    SmallVector<Piece, 8> pieces = piecesFor(read, base);
    SmallVector<const Access *, 8> writes;
    for (const Piece &piece : pieces)
      writes.push_back(piece.write);
    const auto [at, isNew] = known.try_emplace({read.inst->getParent(), writes}, groups.size());
    if (isNew) {
      comparisons += pieces.size();
      groups.push_back({{}, pieces});
    }
    if (pieces.empty() || comparisons > kComparisonLimit)
      return nullptr;
    groups[at->second].ranges.push_back(range);
  }
  IRBuilder<> build(loop_.getLoopPreheader()->getTerminator());
  Value *all = build.getTrue();
  for (const Group &group : groups) {
    Value *low = nullptr, *high = nullptr;
    for (const Region &range : group.ranges) {
      const Span span = spanOf(range.low, range.bytes, range.guards);
      build.SetInsertPoint(loop_.getLoopPreheader()->getTerminator());
      low = low ? build.CreateBinaryIntrinsic(Intrinsic::smin, low, span.low) : span.low;
      high = high ? build.CreateBinaryIntrinsic(Intrinsic::smax, high, span.high) : span.high;
    }
    Value *reach = reached(low, filledBy(group.pieces));
    build.SetInsertPoint(loop_.getLoopPreheader()->getTerminator());
    all = build.CreateAnd(all, build.CreateICmpSGE(reach, high));
  }
  return all;
}

// Whether a read through another pointer is of other memory than what the loop writes at `base`.
Value *Temporaries::isElsewhere(const Access &read, Value *base) {
  Region range;
  if (!locate(read.pointer, read.size, read.length, range))
    return nullptr;
  conditions(read.inst->getParent(), moves_, range.guards);
  const Span own = spanOf(range.low, range.bytes, range.guards);
  IRBuilder<> build(loop_.getLoopPreheader()->getTerminator());
  Value *other = build.CreatePtrToInt(range.base, build.getInt64Ty());
  Value *from = build.CreateAdd(other, own.low), *to = build.CreateAdd(other, own.high), *all = build.getTrue();
  for (const Region &region : regions_) {
    if (!region.written || (region.base != base && region.object != base))
      continue;
    Value *start = nullptr, *end = nullptr;
    if (region.object) {
      build.SetInsertPoint(loop_.getLoopPreheader()->getTerminator());
      start = build.CreatePtrToInt(base, build.getInt64Ty());
      end = build.CreateAdd(start, bytesOf(build, base));
    } else {
      const Span span = spanOf(region.low, region.bytes, region.guards);
      build.SetInsertPoint(loop_.getLoopPreheader()->getTerminator());
      Value *here = build.CreatePtrToInt(base, build.getInt64Ty());
      start = build.CreateAdd(here, span.low);
      end = build.CreateAdd(here, span.high);
    }
    Value *none = build.CreateOr(build.CreateICmpEQ(from, to), build.CreateICmpEQ(start, end));
    Value *apart = build.CreateOr(build.CreateICmpULE(end, from), build.CreateICmpULE(to, start));
    all = build.CreateAnd(all, build.CreateOr(none, apart));
  }
  return all;
}

Value *Temporaries::isInside() {
  IRBuilder<> build(loop_.getLoopPreheader()->getTerminator());
  Value *all = build.getTrue();
  const auto isSaved = [&](Value *base, Value *low, Value *high) {
    SmallVector<Span, 8> spans;
    bool written = false;
    for (const Region &region : regions_)
      if (region.base && region.base == base && region.turn == 0) {
        spans.push_back(spanOf(region.low, region.bytes, region.guards));
        written |= region.written;
      }
    // What the loop does not write may be kept by the program.
    if (!written || spans.size() > kOtherLimit)
      return false;
    Value *reach = reached(low, spans);
    build.SetInsertPoint(loop_.getLoopPreheader()->getTerminator());
    all = build.CreateAnd(all, build.CreateICmpSGE(reach, high));
    return true;
  };
  if (conditional_.size() + loose_.size() > kOtherLimit)
    return nullptr;
  for (const Region &region : conditional_) {
    const Span span = spanOf(region.low, region.bytes, region.guards);
    if (!isSaved(region.base, span.low, span.high))
      return nullptr;
  }
  for (const Loose &access : loose_) {
    const SCEV *bytes = bytesAt(access.size, access.length);
    if (!bytes || !isKnown(bytes))
      return nullptr;
    Value *length = number(bytes);
    bool found = false;
    for (const unsigned leaf : kLeafBits) {
      build.SetInsertPoint(loop_.getLoopPreheader()->getTerminator());
      Bounds bounds(evolution_, loop_, build, leaf);
      const auto range = bounds.of(evolution_.removePointerBase(evolution_.getSCEV(access.pointer)));
      if (!range)
        continue;
      all = build.CreateAnd(all, build.CreateFreeze(bounds.holds()));
      Value *low = build.CreateFreeze(range->low), *high = build.CreateFreeze(range->high);
      found = isSaved(baseOf(access.pointer), low, build.CreateAdd(high, length));
      break;
    }
    if (!found)
      return nullptr;
  }
  const auto *known = dyn_cast<ConstantInt>(all);
  return known && known->isZero() ? nullptr : all;
}

Value *Temporaries::isTemporary(Value *base) {
  list();
  if (accesses_.size() > kAccessLimit)
    return nullptr;
  const MemoryLocation memory = MemoryLocation::getBeforeOrAfter(base);
  if (any_of(opaque_, [&](Instruction *call) { return isRefSet(aliases_.getModRefInfo(call, memory)); }))
    return nullptr;
  SmallVector<const Access *, 8> others;
  for (const Access &read : accesses_)
    if (!read.written && baseOf(read.pointer) != base && !isApart(read, base))
      others.push_back(&read);
  if (others.size() > kOtherLimit)
    return nullptr;
  Value *all = isFilled(base);
  for (const Access *read : others) {
    Value *holds = all ? isElsewhere(*read, base) : nullptr;
    if (!holds)
      return nullptr;
    IRBuilder<> build(loop_.getLoopPreheader()->getTerminator());
    all = build.CreateAnd(all, holds);
  }
  return all;
}

} // namespace enz
