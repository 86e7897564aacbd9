// Loads and stores of the first or last lanes of a vector, as the Rust crate pulp has them on x86-64: assembly that
// jumps to one of a table of routines, each of which moves some lanes of eight floats and jumps back. A routine's name
// tells the lanes: `libpulp_v0_22_3_ld_b32s_` and sixteen digits, of which the first is of the first lane. In a clone
// such a jump is an access under a mask, and the mask comes from a table of numbers that lies beside that of the
// routines.
//
// Lanes of 32 bits that go in pairs, in all routines that the place in the table leaves possible, are lanes of doubles
// where doubles are made of them. Invariants: lanes that are not loaded are zero; what is not told by the table and the
// names stays, and is refused where a derivative must go through it.
// Not handled: routines that are chosen otherwise than by a place in one constant table; vectors of 512 bits.

#include "support.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace {

constexpr unsigned kLanes = 8;

// The lanes that a routine moves: the last bit is of the first lane.
std::optional<uint64_t> lanesOf(const Constant *routine, bool stores) {
  const auto *function = dyn_cast_or_null<Function>(routine);
  if (!function || !function->isDeclaration())
    return std::nullopt;
  StringRef name = GlobalValue::dropLLVMManglingEscape(function->getName());
  const size_t at = name.find(stores ? "_st_b32s_" : "_ld_b32s_");
  if (!name.starts_with("libpulp_v") || at == StringRef::npos)
    return std::nullopt;
  name = name.drop_front(at + 9);
  uint64_t lanes = 0;
  if (name.size() != 16)
    return std::nullopt;
  for (unsigned n = 0; n < name.size(); ++n) {
    if (name[n] != '0' && name[n] != '1')
      return std::nullopt;
    lanes |= uint64_t(name[n] - '0') << n;
  }
  return lanes & ((1 << kLanes) - 1);
}

bool inPairs(uint64_t lanes) { return ((lanes ^ (lanes >> 1)) & 0x55) == 0; }

// The lanes that are moved, as a number of 64 bits, and whether they surely go in pairs.
struct Moved {
  Value *lanes;
  bool pairs;
};

std::optional<Moved> movedBy(Value *routine, bool stores, IRBuilder<> &builder) {
  if (auto *constant = dyn_cast<Constant>(routine)) {
    const auto lanes = lanesOf(constant, stores);
    return lanes ? std::optional(Moved{builder.getInt64(*lanes), inPairs(*lanes)}) : std::nullopt;
  }
  auto *load = dyn_cast<LoadInst>(routine);
  auto *place = load && load->isSimple() ? dyn_cast<GEPOperator>(load->getPointerOperand()) : nullptr;
  auto *table = place ? dyn_cast<GlobalVariable>(place->getPointerOperand()) : nullptr;
  if (!table || !table->isConstant() || !table->hasDefinitiveInitializer())
    return std::nullopt;
  Module &module = *table->getParent();
  const DataLayout &layout = module.getDataLayout();
  const uint64_t size = layout.getTypeAllocSize(table->getValueType());
  constexpr uint64_t kMost = 1 << 16;
  if (size > kMost || layout.getPointerSizeInBits(0) != 64)
    return std::nullopt;
  // What is known of the address when the table's own is taken for zero.
  SmallMapVector<Value *, APInt, 4> scaled;
  APInt fixed(64, 0);
  if (!place->collectOffset(layout, 64, scaled, fixed))
    return std::nullopt;
  KnownBits offset = KnownBits::makeConstant(fixed);
  for (const auto &[index, scale] : scaled) {
    if (index->getType()->getScalarSizeInBits() != 64)
      return std::nullopt;
    const KnownBits term = KnownBits::mul(computeKnownBits(index, layout), KnownBits::makeConstant(scale));
    offset = KnownBits::add(offset, term);
  }
  SmallVector<uint64_t, 0> numbers;
  bool any = false, pairs = true;
  for (uint64_t at = 0; at + 8 <= size; at += 8) {
    const APInt where(64, at);
    numbers.push_back(0);
    if (where.intersects(offset.Zero) || !offset.One.isSubsetOf(where))
      continue;
    const auto lanes =
        lanesOf(ConstantFoldLoadFromConst(table->getInitializer(), load->getType(), where, layout), stores);
    if (!lanes)
      return std::nullopt;
    numbers.back() = *lanes;
    pairs &= inPairs(*lanes);
    any = true;
  }
  if (!any || (offset.Zero & 7) != 7)
    return std::nullopt;
  Constant *content = ConstantDataArray::get(module.getContext(), numbers);
  const std::string name = ("enzyme.lanes." + table->getName()).str();
  GlobalVariable *beside = module.getGlobalVariable(name, /*AllowInternal=*/true);
  if (!beside || !beside->hasInitializer() || beside->getInitializer() != content) {
    beside = new GlobalVariable(module, content->getType(), true, GlobalValue::PrivateLinkage, content, name);
    beside->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    beside->setAlignment(Align(8));
  }
  Value *bytes = builder.getInt64(fixed.getZExtValue());
  for (const auto &[index, scale] : scaled)
    bytes = builder.CreateAdd(bytes, builder.CreateMul(index, builder.getInt64(scale.getZExtValue())));
  Value *lanes = builder.CreateLoad(builder.getInt64Ty(), builder.CreatePtrAdd(beside, bytes));
  return Moved{lanes, pairs};
}

// Lane by lane, whether it is moved.
Value *maskOf(Value *lanes, unsigned count, IRBuilder<> &builder) {
  SmallVector<uint64_t, kLanes> bits;
  for (unsigned n = 0; n < count; ++n)
    bits.push_back(uint64_t(1) << (n * kLanes / count));
  Value *all = builder.CreateVectorSplat(count, lanes);
  Value *own = builder.CreateAnd(all, ConstantDataVector::get(builder.getContext(), bits));
  return builder.CreateICmpNE(own, Constant::getNullValue(own->getType()));
}

bool jumps(StringRef text, unsigned operand) {
  SmallVector<StringRef, 4> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  return lines.size() == 3 && lines[0].trim() == "lea rcx, [rip + 2f]" &&
         lines[1].trim() == ("jmp ${" + Twine(operand) + ":q}").str() && lines[2].trim() == "2:";
}

bool isDoubles(const Type *type) {
  const auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getNumElements() == kLanes / 2 && vector->getElementType()->isDoubleTy();
}

// Doubles or, where their signs are cleared, their bits.
bool isWide(const Type *type) {
  const auto *vector = dyn_cast<FixedVectorType>(type);
  return isDoubles(type) ||
         (vector && vector->getNumElements() == kLanes / 2 && vector->getElementType()->isIntegerTy(64));
}

void rewriteMasked(CallInst *made) {
  if (enz::rewriteVectorCall(*made))
    made->eraseFromParent();
}

bool load(CallInst &call) {
  IRBuilder<> builder(&call);
  auto *record = dyn_cast<StructType>(call.getType());
  if (!record || call.arg_size() != 2 || record->getNumElements() != 3 ||
      record->getElementType(1) != FixedVectorType::get(builder.getFloatTy(), kLanes))
    return false;
  SmallVector<ExtractValueInst *, 2> results;
  for (User *user : call.users()) {
    auto *part = dyn_cast<ExtractValueInst>(user);
    if (!part || part->getNumIndices() != 1 || part->getIndices()[0] != 1)
      return false;
    results.push_back(part);
  }
  const std::optional<Moved> moved = movedBy(call.getArgOperand(0), false, builder);
  if (!moved)
    return false;
  SmallVector<BitCastInst *, 2> casts;
  for (ExtractValueInst *part : results)
    for (User *user : part->users())
      if (auto *cast = dyn_cast<BitCastInst>(user); cast && isWide(cast->getType()))
        casts.push_back(cast);
  const bool doubles = moved->pairs && !casts.empty();
  const unsigned count = doubles ? kLanes / 2 : kLanes;
  Type *type = FixedVectorType::get(doubles ? builder.getDoubleTy() : builder.getFloatTy(), count);
  CallInst *value = builder.CreateMaskedLoad(type, call.getArgOperand(1), Align(1),
                                             maskOf(moved->lanes, count, builder), Constant::getNullValue(type));
  if (doubles)
    for (BitCastInst *cast : casts) {
      cast->replaceAllUsesWith(builder.CreateBitCast(value, cast->getType()));
      cast->eraseFromParent();
    }
  for (ExtractValueInst *part : results) {
    part->replaceAllUsesWith(part->use_empty() ? PoisonValue::get(part->getType())
                                               : builder.CreateBitCast(value, part->getType()));
    part->eraseFromParent();
  }
  rewriteMasked(value);
  return true;
}

bool store(CallInst &call) {
  IRBuilder<> builder(&call);
  if (!call.use_empty() || call.arg_size() != 3)
    return false;
  const std::optional<Moved> moved = movedBy(call.getArgOperand(0), true, builder);
  if (!moved)
    return false;
  Value *stored = call.getArgOperand(2);
  if (stored->getType() != FixedVectorType::get(builder.getFloatTy(), kLanes))
    return false;
  if (auto *cast = dyn_cast<BitCastInst>(stored); cast && moved->pairs && isDoubles(cast->getOperand(0)->getType()))
    stored = cast->getOperand(0);
  const unsigned count = cast<FixedVectorType>(stored->getType())->getNumElements();
  rewriteMasked(
      builder.CreateMaskedStore(stored, call.getArgOperand(1), Align(1), maskOf(moved->lanes, count, builder)));
  return true;
}

} // namespace

bool enz::rewriteSomeLanes(CallInst &call) {
  const auto &code = *cast<InlineAsm>(call.getCalledOperand());
  if (code.getDialect() != InlineAsm::AD_Intel || call.getModule()->getTargetTriple().getArch() != Triple::x86_64)
    return false;
  StringRef constraints = code.getConstraintString();
  const StringRef clobbers = ",~{dirflag},~{fpsr},~{flags},~{memory}";
  if (!constraints.consume_back(clobbers))
    return false;
  if (constraints == "=&{cx},=&{ymm0},=&{xmm1},r,{ax}")
    return jumps(code.getAsmString(), 3) && load(call);
  return constraints == "=&{cx},=&{ymm0},=&{xmm1},r,{ax},1" && jumps(code.getAsmString(), 3) && store(call);
}
