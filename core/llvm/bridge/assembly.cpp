// Inline assembly whose meaning is known: barriers without instructions become their operands, single arithmetic
// instructions of SSE and AVX between registers become the operations that they stand for. Jumps to routines that move
// some lanes are those of lanes.cpp.
//
// Not handled: operands in memory other than those of a barrier, several instructions. They stay, and are refused if a
// derivative must go through them.

#include "support.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace {

// An operand as the text numbers it.
struct Operand {
  bool output = false, indirect = false;
  std::optional<unsigned> tied; // An input that shares the place of this output.
  Value *value = nullptr;       // What an input is, or where an indirect output lies.
  Type *held = nullptr;         // The type at an indirect operand.
  unsigned result = 0;          // Which result of the call a direct output is.
};

// The number that all alternatives of a constraint name, if they do.
std::optional<unsigned> tiedTo(StringRef constraint) {
  std::optional<unsigned> out;
  for (StringRef choice : split(constraint, '|')) {
    unsigned number = 0;
    if (choice.getAsInteger(10, number) || (out && *out != number))
      return std::nullopt;
    out = number;
  }
  return out;
}

bool operandsOf(const CallInst &call, const InlineAsm &code, SmallVectorImpl<Operand> &out) {
  unsigned arg = 0, results = 0;
  SmallVector<StringRef, 8> constraints;
  code.getConstraintString().split(constraints, ',', -1, /*KeepEmpty=*/false);
  for (StringRef constraint : constraints) {
    if (constraint.starts_with("~"))
      continue;
    if (constraint.starts_with("!"))
      return false;
    Operand operand;
    operand.output = constraint.consume_front("=");
    constraint.consume_front("&");
    operand.indirect = constraint.consume_front("*");
    if (!operand.output)
      operand.tied = tiedTo(constraint);
    if (operand.output && !operand.indirect) {
      operand.result = results++;
    } else {
      if (arg == call.arg_size())
        return false;
      operand.held = call.getParamElementType(arg);
      operand.value = call.getArgOperand(arg++);
    }
    if (operand.tied && (*operand.tied >= out.size() || !out[*operand.tied].output))
      return false;
    out.push_back(operand);
  }
  Type *type = call.getType();
  const auto *record = dyn_cast<StructType>(type);
  return arg == call.arg_size() && results == (type->isVoidTy() ? 0 : record ? record->getNumElements() : 1);
}

bool isComment(const CallInst &call, StringRef text) {
  const bool hash = call.getModule()->getTargetTriple().isX86();
  return all_of(split(text, '\n'), [hash](StringRef line) {
    line = line.trim();
    return line.empty() || (hash && line.starts_with("#"));
  });
}

// Whether arithmetic of the function may be put in another order, which a barrier stops.
bool reorders(const Function &function) {
  return any_of(instructions(function), [](const Instruction &inst) {
    return isa<FPMathOperator>(inst) && cast<FPMathOperator>(inst).hasAllowReassoc();
  });
}

bool barrier(CallInst &call, ArrayRef<Operand> operands) {
  SmallVector<Value *, 4> given(operands.size(), nullptr);
  SmallVector<bool, 4> in_place(operands.size(), false);
  for (const Operand &operand : operands) {
    if (operand.output)
      continue;
    if (operand.tied) {
      given[*operand.tied] = operand.indirect ? nullptr : operand.value;
      continue;
    }
    // Memory that is read and written.
    for (size_t n = 0; operand.indirect && n < operands.size(); ++n)
      if (operands[n].output && operands[n].indirect && operands[n].value == operand.value &&
          operands[n].held == operand.held)
        in_place[n] = true;
  }
  auto *record = dyn_cast<StructType>(call.getType());
  for (size_t n = 0; n < operands.size(); ++n) {
    const Operand &operand = operands[n];
    if (!operand.output)
      continue;
    Type *wanted = operand.indirect ? operand.held : record ? record->getElementType(operand.result) : call.getType();
    if (!in_place[n] && (!given[n] || given[n]->getType() != wanted))
      return false;
  }
  IRBuilder<> builder(&call);
  const bool fence = reorders(*call.getFunction());
  Value *out = record ? PoisonValue::get(record) : nullptr;
  for (size_t n = 0; n < operands.size(); ++n) {
    const Operand &operand = operands[n];
    if (!operand.output || in_place[n])
      continue;
    Value *value = given[n];
    if (fence && value->getType()->isFPOrFPVectorTy())
      value = builder.CreateUnaryIntrinsic(Intrinsic::arithmetic_fence, value);
    if (operand.indirect)
      builder.CreateAlignedStore(value, operand.value, Align(1));
    else
      out = record ? builder.CreateInsertValue(out, value, operand.result) : value;
  }
  if (out)
    call.replaceAllUsesWith(out);
  return true;
}

// Takes from the name of an instruction what it says of the floats that it works on; whether they are of this type.
bool consumeType(StringRef &name, const Type &type) {
  const Type *element = type.getScalarType();
  const bool packed = type.isVectorTy();
  if (packed && !is_contained({128U, 256U, 512U}, type.getPrimitiveSizeInBits().getFixedValue()))
    return false;
  const StringRef suffix = element->isDoubleTy() ? (packed ? "pd" : "sd") : (packed ? "ps" : "ss");
  return (element->isDoubleTy() || element->isFloatTy()) && name.consume_back(suffix);
}

// What the instruction `name` makes of two floats, or of the second alone if the first is null; null if it is not
// known.
Value *arithmetic(IRBuilder<> &builder, StringRef name, Value *first, Value *second) {
  if (!consumeType(name, *second->getType()))
    return nullptr;
  if (name == "sqrt")
    return builder.CreateUnaryIntrinsic(Intrinsic::sqrt, second);
  if (!first)
    return nullptr;
  if (name == "min")
    return builder.CreateSelect(builder.CreateFCmpOLT(first, second), first, second);
  if (name == "max")
    return builder.CreateSelect(builder.CreateFCmpOGT(first, second), first, second);
  if (name == "add")
    return builder.CreateFAdd(first, second);
  if (name == "sub")
    return builder.CreateFSub(first, second);
  if (name == "mul")
    return builder.CreateFMul(first, second);
  if (name == "div")
    return builder.CreateFDiv(first, second);
  return nullptr;
}

// The same of a fused product and sum, which also reads its place: the digits say which of `place`, `second` and
// `third` are multiplied, and which is added.
Value *fused(IRBuilder<> &builder, StringRef name, Value *place, Value *second, Value *third) {
  if (!consumeType(name, *place->getType()) || !name.consume_front("f"))
    return nullptr;
  Value *operands[] = {place, second, third};
  const StringRef digits = name.take_back(3);
  name = name.drop_back(digits.size());
  const bool negated = name.consume_front("n");
  if (!is_contained({"132", "213", "231"}, digits) || !is_contained({"madd", "msub"}, name))
    return nullptr;
  Value *factor = operands[digits[0] - '1'], *other = operands[digits[1] - '1'], *term = operands[digits[2] - '1'];
  if (negated)
    factor = builder.CreateFNeg(factor);
  if (name == "msub")
    term = builder.CreateFNeg(term);
  return builder.CreateIntrinsic(Intrinsic::fma, {place->getType()}, {factor, other, term});
}

// One instruction: `op $source, $place` or `vop $second, $first, $place`.
bool instruction(CallInst &call, StringRef text, ArrayRef<Operand> operands, bool intel) {
  if (!call.getType()->isFPOrFPVectorTy() || any_of(operands, [](const Operand &o) { return o.indirect; }))
    return false;
  text = text.trim();
  const size_t space = text.find_first_of(" \t");
  if (space == StringRef::npos || text.contains('\n') || text.contains(';'))
    return false;
  StringRef name = text.take_front(space);
  SmallVector<StringRef, 3> places;
  text.drop_front(space).split(places, ',');
  SmallVector<unsigned, 3> numbers;
  for (StringRef place : places) {
    place = place.trim();
    unsigned number = 0;
    // `${0:x}`: the register by its name as one of 128 bits.
    const bool plain = place.consume_front("${") ? place.consume_back(":x}") : place.consume_front("$");
    if (!plain || place.getAsInteger(10, number) || number >= operands.size())
      return false;
    numbers.push_back(number);
  }
  // In Intel's syntax the place comes first.
  if (intel)
    std::reverse(numbers.begin(), numbers.end());
  const bool three = name.consume_front("v");
  if (numbers.size() != (three ? 3U : 2U) || !operands[numbers.back()].output)
    return false;
  // What an operand holds before the instruction.
  const auto valueOf = [&](unsigned n) -> Value * {
    if (!operands[n].output)
      return operands[n].value;
    for (const Operand &input : operands)
      if (input.tied == n)
        return input.value;
    return nullptr;
  };
  Value *first = valueOf(numbers[1]), *second = valueOf(numbers[0]), *place = valueOf(numbers.back());
  if (!second || second->getType() != call.getType() || (first && first->getType() != call.getType()))
    return false;
  IRBuilder<> builder(&call);
  Value *out = arithmetic(builder, name, first, second);
  if (!out && three && first && place && place->getType() == call.getType())
    out = fused(builder, name, place, first, second);
  if (!out)
    return false;
  call.replaceAllUsesWith(out);
  return true;
}

} // namespace

bool enz::rewriteAssembly(CallInst &call) {
  const auto *code = dyn_cast<InlineAsm>(call.getCalledOperand());
  SmallVector<Operand, 4> operands;
  if (!code || call.hasOperandBundles())
    return false;
  if (rewriteSomeLanes(call))
    return true;
  if (!operandsOf(call, *code, operands))
    return false;
  const StringRef text = code->getAsmString();
  if (isComment(call, text))
    return barrier(call, operands);
  return call.getModule()->getTargetTriple().isX86() &&
         instruction(call, text, operands, code->getDialect() == InlineAsm::AD_Intel);
}
