// Vectors that LLVM reads over several fields of a structure, one of which is a pointer.
//
//   v = load <2 x double>, p              becomes       x = load double, p
//   q = inttoptr (lane 1 of v as i64)                   q = load ptr, p + 8
//
// Where a number that lies beside a pointer goes into a vector, LLVM may read both at once, and has the pointer of the
// bits of that vector: an address out of a float, which has no shadow. So each lane is read by itself again, as what it
// is used as.
//
// Invariants: values do not change. Not handled: lanes that are chosen when the program runs, vectors that are handed
// on as a whole, and lanes that are used both as pointers and as floats; these stay as they are.

#include "support.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace {

constexpr unsigned kWord = 64;

const FixedVectorType *wordsOf(const Value *value) {
  const auto *type = dyn_cast<FixedVectorType>(value->getType());
  const bool words = type && (type->getElementType()->isDoubleTy() || type->getElementType()->isIntegerTy(kWord));
  return words ? type : nullptr;
}

// The vector of words that is read, of which `vector` are the bits.
LoadInst *readWords(Value *vector) {
  if (auto *cast = dyn_cast<BitCastInst>(vector); cast && wordsOf(cast))
    vector = cast->getOperand(0);
  auto *load = dyn_cast<LoadInst>(vector);
  return load && load->isSimple() && wordsOf(load) ? load : nullptr;
}

std::optional<unsigned> laneOf(const ExtractElementInst &part) {
  const auto *index = dyn_cast<ConstantInt>(part.getIndexOperand());
  const auto *vector = cast<VectorType>(part.getVectorOperandType());
  if (!index || index->getValue().uge(vector->getElementCount().getKnownMinValue()))
    return std::nullopt;
  return static_cast<unsigned>(index->getZExtValue());
}

bool isPointer(const ExtractElementInst &part) {
  return any_of(part.users(), [](const User *user) {
    return isa<IntToPtrInst>(user) && user->getType() == PointerType::getUnqual(user->getContext());
  });
}

// What is made of a vector that is read.
struct Read {
  explicit Read(unsigned lanes) : pointers(lanes), rest(lanes) {}

  SmallVector<ExtractElementInst *, 4> parts; // through a cast or not
  SmallBitVector pointers, rest;              // lanes that are made pointers, and that are used otherwise
};

// Notes what `vector` is used as; false if that can't be told lane by lane.
bool look(Value &vector, Read &read) {
  const unsigned lanes = read.rest.size();
  for (User *user : vector.users()) {
    if (auto *part = dyn_cast<ExtractElementInst>(user)) {
      const auto lane = laneOf(*part);
      if (!lane || part->getVectorOperand() != &vector)
        return false;
      read.parts.push_back(part);
      (isPointer(*part) ? read.pointers : read.rest).set(*lane);
    } else if (auto *shuffle = dyn_cast<ShuffleVectorInst>(user)) {
      for (const int from : shuffle->getShuffleMask()) {
        const unsigned side = from < 0 || static_cast<unsigned>(from) < lanes ? 0 : 1;
        if (from >= 0 && shuffle->getOperand(side) == &vector)
          read.rest.set(static_cast<unsigned>(from) - side * lanes);
      }
    } else if (auto *cast = dyn_cast<BitCastInst>(user); cast && isa<LoadInst>(vector) && wordsOf(cast)) {
      if (!look(*cast, read))
        return false;
    } else {
      return false;
    }
  }
  return true;
}

void readApart(LoadInst &load, const Read &read) {
  constexpr uint64_t kBytes = kWord / 8;
  IRBuilder<> at(&load);
  const auto readLane = [&](Type *type, unsigned lane) {
    Value *place = at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), load.getPointerOperand(), lane * kBytes);
    LoadInst *made = at.CreateAlignedLoad(type, place, commonAlignment(load.getAlign(), lane * kBytes));
    made->copyMetadata(load, {LLVMContext::MD_dbg, LLVMContext::MD_noalias, LLVMContext::MD_alias_scope});
    return made;
  };
  SmallVector<Value *, 8> lanes(read.rest.size(), nullptr);
  Value *whole = PoisonValue::get(load.getType());
  for (unsigned n = 0; n < lanes.size(); ++n)
    if (read.pointers[n]) {
      lanes[n] = readLane(at.getPtrTy(), n);
    } else if (read.rest[n]) {
      lanes[n] = readLane(load.getType()->getScalarType(), n);
      whole = at.CreateInsertElement(whole, lanes[n], n);
    }
  for (ExtractElementInst *part : read.parts) {
    Value *lane = lanes[*laneOf(*part)];
    if (lane->getType()->isPointerTy()) {
      for (User *user : make_early_inc_range(part->users()))
        if (isa<IntToPtrInst>(user) && user->getType() == lane->getType()) {
          user->replaceAllUsesWith(lane);
          cast<Instruction>(user)->eraseFromParent();
        }
      lane = part->use_empty() ? nullptr : at.CreatePtrToInt(lane, at.getInt64Ty());
    }
    if (lane)
      part->replaceAllUsesWith(lane->getType() == part->getType() ? lane : at.CreateBitCast(lane, part->getType()));
    part->eraseFromParent();
  }
  for (User *user : make_early_inc_range(load.users()))
    if (isa<BitCastInst>(user) && user->use_empty())
      cast<Instruction>(user)->eraseFromParent();
  load.replaceAllUsesWith(whole);
  load.eraseFromParent();
}

} // namespace

bool enz::separateFields(Function &function) {
  MapVector<LoadInst *, Read> reads;
  for (Instruction &inst : instructions(function)) {
    auto *part = dyn_cast<ExtractElementInst>(&inst);
    LoadInst *load = part && isPointer(*part) ? readWords(part->getVectorOperand()) : nullptr;
    if (load)
      reads.insert({load, Read(wordsOf(load)->getNumElements())});
  }
  bool changed = false;
  for (auto &[load, read] : reads)
    if (look(*load, read) && !read.pointers.anyCommon(read.rest)) {
      readApart(*load, read);
      changed = true;
    }
  return changed;
}
