// Calls through pointers in a prepared clone become chains of direct calls, `if (p == @f) f(...) else if ... else
// p(...)`, so that all that follows sees functions with bodies. What is compared is the program's own pointer;
// derivatives need no descriptors beside functions, and shadows of tables and of objects with virtual functions are
// ordinary memory.
//
// Which functions can be meant: where the pointer is a choice among constants, or is read from a table that is never
// written, exactly those, and no other call remains. Else every function whose address is taken and whose type fits,
// if it has its final body here or is one of the C library; of a pointer that is read at an offset behind another that
// was itself read or given (a virtual call, or a table of functions in a structure), functions that occur in virtual
// tables alone (those of C++, those of Rust for a `dyn Trait`, and those of what is bound to Fortran's types) are left
// out unless they stand at that offset from an address point. Of a pointer that is read from a local variable they are
// left out altogether; and so are, where a first attempt was refused, functions that are kept in other members of
// structures than that which is read (members.cpp). Then the call through the pointer remains as the last branch, with
// the attribute `enzyme-fallback`: what only other modules know is called there. So is a call by itself for which no
// function is found and which is made only if the pointer is not null: a report of progress that nobody asked for.
//
// A function that is not inlined and is given a function as argument is called in a copy made for that one, so that
// recursive functions, too, know what they call. An internal procedure of Fortran is passed as the address of code that
// hands it the frame of the procedure around it: the copy is passed the frame itself, and makes such code anew, which
// its calls need no more than those of the caller.
//
// Not handled: more candidates than kCandidateLimit (the call stays as it is), relative virtual tables, and calls with
// a variable number of arguments.

#include "members.h"
#include "rust.h"
#include "support.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/Endian.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include <numeric>

using namespace llvm;

namespace {

constexpr size_t kCandidateLimit = 64;
// How many values a search for the origin of a pointer visits.
constexpr size_t kTraceLimit = 256;
// Copies of functions that are made for what is passed to them, in one module, and the largest function of which any is
// made, in instructions.
constexpr ptrdiff_t kSpecialisedLimit = 64;
constexpr unsigned kSpecialisedSize = 2000;
// Elements of a table that are looked at.
constexpr size_t kTableLimit = 4096;

using Functions = SmallSetVector<Function *, 8>;

bool isVirtualTable(const GlobalVariable &global) {
  return global.hasInitializer() && (global.getName().starts_with("_ZTV") || global.getName().starts_with("_ZTC"));
}

// Whether a constant is a table of Rust for a `dyn Trait`: the destructor or nothing, size and alignment, then methods.
bool isTraitTable(const GlobalVariable &global) {
  if (!global.isConstant() || !global.hasLocalLinkage() || !global.hasInitializer())
    return false;
  const auto *fields = dyn_cast<ConstantStruct>(global.getInitializer());
  if (!fields || fields->getNumOperands() < 2 || !fields->getType()->isPacked())
    return false;
  const bool drops = fields->getOperand(0)->getType()->isPointerTy();
  const auto *layout = dyn_cast<ConstantDataArray>(fields->getOperand(drops ? 1 : 0));
  if (!layout || !layout->isString(8))
    return false;
  StringRef bytes = layout->getRawDataValues();
  if (bytes.size() != (drops ? 16U : 24U) || !(drops || bytes.take_front(8) == StringRef("\0\0\0\0\0\0\0\0", 8)))
    return false;
  const char *end = bytes.take_back(16).data();
  const uint64_t size = support::endian::read64le(end), align = support::endian::read64le(end + 8);
  return isPowerOf2_64(align) && size % align == 0;
}

// Whether a constant is the table of the procedures that are bound to a type of Fortran.
bool isBindingTable(const GlobalVariable &global) {
  const auto *elements = dyn_cast<ArrayType>(global.getValueType());
  const auto *element = elements ? dyn_cast<StructType>(elements->getElementType()) : nullptr;
  return global.hasInitializer() && element && element->hasName() &&
         element->getName().starts_with("_QM__fortran_type_infoTbinding");
}

bool isTableOfMethods(const GlobalVariable &global) {
  return isVirtualTable(global) || isTraitTable(global) || isBindingTable(global);
}

// A function or variable in a constant, or null for another address, with its byte offset.
using Entries = SmallVector<std::pair<int64_t, GlobalObject *>, 16>;

// All of them; false if there are too many elements. Fortran's tables of types hold functions as numbers.
bool entriesIn(Constant *constant, const DataLayout &layout, int64_t at, size_t &budget, Entries &out) {
  if (budget == 0)
    return false;
  --budget;
  if (auto *number = dyn_cast<ConstantExpr>(constant); number && number->getOpcode() == Instruction::PtrToInt)
    constant = number->getOperand(0);
  if (constant->getType()->isPointerTy()) {
    if (!constant->isNullValue())
      out.emplace_back(at, dyn_cast_or_null<GlobalObject>(enz::resolve(constant)));
    return true;
  }
  if (auto *fields = dyn_cast<ConstantStruct>(constant)) {
    const StructLayout *places = layout.getStructLayout(fields->getType());
    for (unsigned i = 0; i < fields->getNumOperands(); ++i)
      if (!entriesIn(fields->getOperand(i), layout, at + static_cast<int64_t>(places->getElementOffset(i)), budget,
                     out))
        return false;
  } else if (auto *elements = dyn_cast<ConstantArray>(constant)) {
    const auto step = static_cast<int64_t>(layout.getTypeAllocSize(elements->getType()->getElementType()));
    for (unsigned i = 0; i < elements->getNumOperands(); ++i)
      if (!entriesIn(elements->getOperand(i), layout, at + step * i, budget, out))
        return false;
  }
  return true;
}

// Whether nothing in the program writes to a global after it was initialised.
bool isNeverWritten(const GlobalVariable &global) {
  if (!global.hasDefinitiveInitializer())
    return false;
  if (global.isConstant())
    return true;
  if (!global.hasLocalLinkage())
    return false;
  SmallVector<const Value *, 16> work{&global};
  for (size_t seen = 0; !work.empty(); ++seen) {
    if (seen > kTraceLimit)
      return false;
    for (const User *user : work.pop_back_val()->users()) {
      if (const auto *load = dyn_cast<LoadInst>(user); load && !load->isVolatile())
        continue;
      if (!isa<GEPOperator>(user))
        return false;
      work.push_back(user);
    }
  }
  return true;
}

// How many tables are read one behind the other.
constexpr unsigned kTables = 3;

// What a pointer read at `address` can be, if that is memory nobody writes: in a table, or in one that another leads
// to.
bool readFrom(Value *address, const DataLayout &layout, SmallSetVector<GlobalObject *, 8> &out, unsigned depth) {
  int64_t offset = 0, stride = 0;
  Value *base = address;
  while (auto *step = dyn_cast<GEPOperator>(base)) {
    SmallMapVector<Value *, APInt, 4> variable;
    APInt constant(layout.getIndexTypeSizeInBits(step->getType()), 0);
    if (!step->collectOffset(layout, constant.getBitWidth(), variable, constant))
      return false;
    offset += constant.getSExtValue();
    for (const auto &part : variable)
      stride = std::gcd(stride, part.second.getSExtValue());
    base = step->getPointerOperand();
  }
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(base, objects, /*LI=*/nullptr, /*MaxLookup=*/0);
  for (const Value *object : objects) {
    SmallSetVector<GlobalObject *, 8> tables;
    if (auto *global = dyn_cast<GlobalVariable>(object))
      tables.insert(const_cast<GlobalVariable *>(global));
    else if (auto *load = dyn_cast<LoadInst>(object);
             !load || load->isVolatile() || depth == 0 ||
             !readFrom(const_cast<Value *>(load->getPointerOperand()), layout, tables, depth - 1))
      return false;
    for (GlobalObject *table : tables) {
      auto *variable = dyn_cast_or_null<GlobalVariable>(table);
      if (!variable || !isNeverWritten(*variable))
        return false;
      Entries entries;
      size_t budget = kTableLimit;
      if (!entriesIn(variable->getInitializer(), layout, 0, budget, entries))
        return false;
      for (auto [place, entry] : entries) {
        const int64_t distance = place - offset;
        if (object != base || (stride == 0 ? distance == 0 : distance % stride == 0))
          out.insert(entry);
      }
    }
  }
  return true;
}

// Types, convention and ways of passing must agree. C's prototypes without parameters, which are variadic in LLVM,
// agree with all parameters.
bool fits(const CallBase &call, const Function &function) {
  const FunctionType *wanted = call.getFunctionType(), *type = function.getFunctionType();
  if (type->isVarArg() || type->getReturnType() != wanted->getReturnType() ||
      call.getCallingConv() != function.getCallingConv() || call.arg_size() != type->getNumParams())
    return false;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    if (call.getArgOperand(i)->getType() != type->getParamType(i))
      return false;
    for (Attribute::AttrKind kind : {Attribute::ByVal, Attribute::StructRet, Attribute::InAlloca})
      if (call.getParamAttr(i, kind) != function.getAttributes().getParamAttr(i, kind))
        return false;
    if (call.paramHasAttr(i, Attribute::InAlloca) || call.paramHasAttr(i, Attribute::Preallocated))
      return false;
  }
  return isLegalToPromote(call, const_cast<Function *>(&function));
}

// Functions of the module that a pointer may hold.
class Targets {
public:
  Targets(EnzOpaqueHost &host, Function &clone, const EnzPrepare &options)
      : module_(*host.module), layout_(host.module->getDataLayout()),
        library_(host.functions->getResult<TargetLibraryAnalysis>(clone)), by_member_(options.by_member) {
    const ArrayRef<EnzStr> avoid(options.avoid, options.num_avoid);
    for (GlobalVariable &global : host.module->globals())
      if (isTableOfMethods(global))
        readTable(global);
    for (Function &function : *host.module) {
      if (function.isIntrinsic() || enz::isGenerated(function.getName()) || !isUsable(function) ||
          function.hasFnAttribute(enz::kOwn))
        continue;
      const bool plain = isTaken(function);
      if ((plain || slots_.count(&function)) && !asksForDerivatives(function))
        found_.emplace_back(&function, plain);
      if (any_of(avoid, [&function](EnzStr name) { return enz::text(name) == function.getName(); }))
        avoided_.insert(&function);
    }
  }

  // Those that may be called; none if all that are meant are to be avoided.
  Functions of(const CallBase &call) const {
    Functions out = meantBy(call);
    out.remove_if([this](const Function *function) { return avoided_.contains(function); });
    return out;
  }

private:
  Functions meantBy(const CallBase &call) const {
    Functions out, bound;
    const Slot slot = slotOf(call);
    for (auto [function, plain] : found_) {
      const bool there = slot.offset && standsAt(function, *slot.offset), is_bound = bound_.contains(function);
      if (!plain && (slot.is_variable || (slot.offset && !there && (is_bound || !slot.is_number))))
        continue;
      if (!fits(call, *function))
        continue;
      out.insert(function);
      if (there && is_bound)
        bound.insert(function);
    }
    if (slot.is_number && !bound.empty())
      return bound;
    if (by_member_ && out.size() > 1 && isa<LoadInst>(call.getCalledOperand())) {
      if (!fields_)
        fields_ = std::make_unique<enz::FunctionFields>(module_);
      Functions there;
      for (Function *function : out)
        if (!fields_->excludes(call, *function))
          there.insert(function);
      if (!there.empty())
        return there;
    }
    return out;
  }

  // Where a function pointer is read behind a pointer that was read as well, or given.
  struct Slot {
    std::optional<int64_t> offset;
    // Read as a number, as procedures bound to Fortran's types are: those that fit are meant, before any other whose
    // address is taken.
    bool is_number = false;
    // Read from a local variable, where nobody puts what stands in virtual tables alone.
    bool is_variable = false;
  };

  Slot slotOf(const CallBase &call) const {
    const Value *pointer = call.getCalledOperand();
    const auto *number = dyn_cast<IntToPtrInst>(pointer);
    const auto *load = dyn_cast<LoadInst>(number ? number->getOperand(0) : pointer);
    if (!load)
      return {};
    const Value *address = load->getPointerOperand();
    APInt offset(layout_.getIndexTypeSizeInBits(address->getType()), 0);
    const Value *base = address->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    if (!isa<LoadInst>(base) && !isa<Argument>(base))
      return {std::nullopt, false, isa<AllocaInst>(base)};
    return {offset.getSExtValue(), number != nullptr && isa<LoadInst>(base)};
  }

  bool standsAt(const Function *function, int64_t offset) const {
    const auto places = slots_.find(function);
    return places != slots_.end() && is_contained(places->second, offset);
  }

  bool isUsable(const Function &function) const {
    LibFunc known;
    return function.isDeclaration() ? library_.getLibFunc(function, known) && library_.has(known)
                                    : enz::exactBody(function);
  }

  // Whether a function contains markers: such a one is above what is differentiated.
  static bool asksForDerivatives(const Function &function) {
    for (const BasicBlock &block : function)
      for (const Instruction &inst : block) {
        const auto *call = dyn_cast<CallBase>(&inst);
        const Function *callee = call ? call->getCalledFunction() : nullptr;
        if (callee && callee->getName().contains("__enzyme_"))
          return true;
      }
    return false;
  }

  void readTable(GlobalVariable &table) {
    Entries entries;
    size_t budget = kTableLimit;
    entriesIn(table.getInitializer(), layout_, 0, budget, entries);
    erase_if(entries, [](const auto &entry) { return !isa_and_nonnull<Function>(entry.second); });
    SmallVector<int64_t, 4> points;
    for (const User *user : table.users()) {
      const auto *step = dyn_cast<GEPOperator>(user);
      APInt offset(layout_.getIndexTypeSizeInBits(table.getType()), 0);
      if (step && step->accumulateConstantOffset(layout_, offset))
        points.push_back(offset.getSExtValue());
    }
    // Each group of a table begins with data; its address point is where the functions begin.
    const auto width = static_cast<int64_t>(layout_.getPointerSize());
    for (size_t i = 0; i < entries.size(); ++i)
      if (i == 0 || entries[i].first != entries[i - 1].first + width)
        points.push_back(entries[i].first);
    if (isTraitTable(table) || isBindingTable(table))
      points = {0};
    for (auto [place, entry] : entries) {
      if (isBindingTable(table))
        bound_.insert(cast<Function>(entry));
      for (int64_t point : points)
        if (place >= point)
          slots_[cast<Function>(entry)].push_back(place - point);
    }
  }

  // Whether a use is the function that a marker asks to differentiate.
  static bool isDifferentiated(const CallBase &call, const Use &use) {
    const Function *callee = call.getCalledFunction();
    return callee && callee->getName().contains("__enzyme_") && call.isArgOperand(&use) &&
           call.getArgOperandNo(&use) == (call.paramHasAttr(0, Attribute::StructRet) ? 1 : 0);
  }

  // Whether the address is taken elsewhere than in virtual tables and lists kept by the compiler.
  static bool isTaken(const Constant &address) {
    for (const Use &use : address.uses()) {
      const User *user = use.getUser();
      if (isa<Function>(user) || isa<BlockAddress>(user))
        continue;
      if (const auto *inst = dyn_cast<Instruction>(user)) {
        if (enz::isGenerated(inst->getFunction()->getName()))
          continue;
        const auto *call = dyn_cast<CallBase>(inst);
        if (call && (call->isCallee(&use) || isDifferentiated(*call, use)))
          continue;
        return true;
      }
      if (const auto *global = dyn_cast<GlobalVariable>(user)) {
        if (!isTableOfMethods(*global) && !global->getName().starts_with("llvm."))
          return true;
        continue;
      }
      const auto *inner = dyn_cast<Constant>(user);
      if (!inner || isTaken(*inner))
        return true;
    }
    return false;
  }

  Module &module_;
  const DataLayout &layout_;
  // Made when it is first asked.
  mutable std::unique_ptr<enz::FunctionFields> fields_;
  const TargetLibraryInfo &library_;
  const bool by_member_;
  DenseMap<const Function *, SmallVector<int64_t, 4>> slots_;
  SmallPtrSet<const Function *, 8> bound_;
  std::vector<std::pair<Function *, bool>> found_;
  SmallPtrSet<const Function *, 8> avoided_;
};

// Branches off a direct call for each target; with `closed` the last one needs no test. Returns those branched off.
SmallVector<CallBase *, 8> promote(CallBase &call, ArrayRef<Function *> targets, bool closed) {
  SmallVector<CallBase *, 8> out;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (closed && i + 1 == targets.size()) {
      promoteCall(call, targets[i]);
      return out;
    }
    out.push_back(&promoteCallWithIfThenElse(call, targets[i]));
  }
  if (!targets.empty())
    call.addFnAttr(Attribute::get(call.getContext(), enz::kFallback));
  return out;
}

bool isPointerCall(const CallBase &call) {
  return isa<CallInst, InvokeInst>(call) && call.isIndirectCall() && !call.hasFnAttr(enz::kFallback);
}

// Whether two values are one pointer: the same, or read at the same place behind the same base.
bool isSamePointer(const Value *a, const Value *b, const DataLayout &layout) {
  if (a == b)
    return true;
  const auto *x = dyn_cast<LoadInst>(a), *y = dyn_cast<LoadInst>(b);
  if (!x || !y)
    return false;
  const unsigned width = layout.getIndexTypeSizeInBits(x->getPointerOperandType());
  APInt at(width, 0), there(width, 0);
  const Value *from = x->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, at, /*AllowNonInbounds=*/true);
  const Value *other =
      y->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, there, /*AllowNonInbounds=*/true);
  return at == there && isSamePointer(from, other, layout);
}

// What a call through a pointer goes by: the pointer, and those to the objects that it is read from, one by way of the
// other.
SmallVector<const Value *, 4> pointersOf(const CallBase &call) {
  SmallVector<const Value *, 4> out{call.getCalledOperand()};
  while (const auto *load = dyn_cast<LoadInst>(out.back())) {
    const Value *object = load->getPointerOperand()->stripInBoundsConstantOffsets();
    if (!isa<LoadInst>(object) || out.size() >= kTraceLimit)
      break;
    out.push_back(object);
  }
  return out;
}

// Whether a call through a pointer is made only if that is not null, or the object that has it is there: `if (progress)
// progress(...)`, `if (projection) projection->step(...)`.
bool isOptional(const CallBase &call, const DominatorTree &dominators) {
  const DataLayout &layout = call.getDataLayout();
  const SmallVector<const Value *, 4> pointers = pointersOf(call);
  const auto *node = dominators.getNode(call.getParent());
  while (node && (node = node->getIDom())) {
    const BasicBlock *block = node->getBlock();
    const auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    const auto *test = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    if (!test || !test->isEquality() || !isa<ConstantPointerNull>(test->getOperand(1)) ||
        none_of(pointers, [&](const Value *p) { return isSamePointer(test->getOperand(0), p, layout); }))
      continue;
    const BasicBlock *given = branch->getSuccessor(test->getPredicate() == CmpInst::ICMP_NE ? 0 : 1);
    if (dominators.dominates(BasicBlockEdge(block, given), call.getParent()))
      return true;
  }
  return false;
}

SmallVector<CallBase *, 8> pointerCalls(Function &function) {
  SmallVector<CallBase *, 8> out;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst); call && isPointerCall(*call))
        out.push_back(call);
  return out;
}

} // namespace

bool enz::traceFunctions(Value *pointer, const DataLayout &layout, SmallSetVector<Function *, 8> &out) {
  SmallVector<Value *, 8> work{pointer};
  SmallPtrSet<Value *, 16> seen;
  while (!work.empty()) {
    Value *value = work.pop_back_val()->stripPointerCasts();
    if (!seen.insert(value).second)
      continue;
    if (seen.size() > kTraceLimit)
      return false;
    if (auto *phi = dyn_cast<PHINode>(value)) {
      work.append(phi->op_begin(), phi->op_end());
    } else if (auto *choice = dyn_cast<SelectInst>(value)) {
      work.push_back(choice->getTrueValue());
      work.push_back(choice->getFalseValue());
    } else if (auto *same = dyn_cast<FreezeInst>(value)) {
      work.push_back(same->getOperand(0));
    } else if (auto *address = dyn_cast<IntToPtrInst>(value)) {
      work.push_back(address->getOperand(0));
    } else if (auto *load = dyn_cast<LoadInst>(value)) {
      SmallSetVector<GlobalObject *, 8> read;
      if (load->isVolatile() || !readFrom(load->getPointerOperand(), layout, read, kTables))
        return false;
      for (GlobalObject *object : read)
        if (auto *function = dyn_cast_or_null<Function>(object))
          out.insert(function);
    } else if (auto *function = dyn_cast_or_null<Function>(resolve(value))) {
      out.insert(function);
    } else if (!isa<ConstantPointerNull, UndefValue>(value)) {
      return false;
    }
  }
  return true;
}

void enz::straightenCall(CallBase &call) {
  if (auto *direct = dyn_cast<CallInst>(&call); direct && direct->isMustTailCall())
    direct->setTailCallKind(CallInst::TCK_Tail);
  if (auto *alias = dyn_cast<GlobalAlias>(call.getCalledOperand()))
    if (auto *function = dyn_cast_or_null<Function>(resolve(alias)))
      call.setCalledOperand(function);
  auto *function = dyn_cast<Function>(call.getCalledOperand());
  if (function && isa<CallInst, InvokeInst>(call) && function->getFunctionType() != call.getFunctionType() &&
      fits(call, *function))
    promoteCall(call, function);
}

bool enz::hasPointerCalls(Function &function) {
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst); call && (isPointerCall(*call) || enz::callsBack(*call)))
        return true;
  return false;
}

bool enz::promoteKnownCalls(Function &function, InlineHistory &history) {
  const DataLayout &layout = function.getDataLayout();
  DenseMap<const Value *, int> bodies;
  for (const auto &[call, body] : history.calls)
    if (call)
      bodies[call] = body;
  bool changed = false;
  for (CallBase *call : pointerCalls(function)) {
    Functions targets;
    if (!traceFunctions(call->getCalledOperand(), layout, targets) || targets.empty() ||
        targets.size() > kCandidateLimit)
      continue;
    SmallVector<Function *, 8> fitting;
    copy_if(targets, std::back_inserter(fitting), [call](Function *target) { return fits(*call, *target); });
    if (fitting.empty())
      continue;
    const auto body = bodies.find(call);
    for (CallBase *direct : promote(*call, fitting, fitting.size() == targets.size()))
      if (body != bodies.end())
        history.calls.emplace_back(direct, body->second);
    changed = true;
  }
  return changed;
}

namespace {

// A function that is passed to another: as such, or by a trampoline, which hands it the frame of the procedure around
// it.
struct Passed {
  Function *function = nullptr;
  const IntrinsicInst *trampoline = nullptr;
};

using Known = SmallDenseMap<unsigned, Passed, 4>;

Passed passedAs(Value *value) {
  if (auto *function = dyn_cast_or_null<Function>(enz::resolve(value)))
    return {function, nullptr};
  const auto *address = dyn_cast<IntrinsicInst>(value);
  const auto *code = address && address->getIntrinsicID() == Intrinsic::adjust_trampoline
                         ? dyn_cast<AllocaInst>(address->getArgOperand(0))
                         : nullptr;
  const IntrinsicInst *made = nullptr;
  if (!code || !code->isStaticAlloca())
    return {};
  for (const User *user : code->users()) {
    const auto *use = dyn_cast<IntrinsicInst>(user);
    if (!use)
      return {};
    if (use->getIntrinsicID() == Intrinsic::init_trampoline && !made)
      made = use;
    else if (use->getIntrinsicID() != Intrinsic::adjust_trampoline && !use->isLifetimeStartOrEnd())
      return {};
  }
  auto *function = made ? dyn_cast<Function>(made->getArgOperand(1)) : nullptr;
  return {function, function ? made : nullptr};
}

// An optional procedure that is passed is there: its address, or that as a number, is not null.
void answerPresence(Value &address) {
  for (User *user : make_early_inc_range(address.users())) {
    auto *compare = dyn_cast<ICmpInst>(user);
    const auto *none = compare && compare->isEquality() ? dyn_cast<Constant>(compare->getOperand(1)) : nullptr;
    if (none && none->isNullValue()) {
      compare->replaceAllUsesWith(
          ConstantInt::getBool(compare->getType(), compare->getPredicate() == ICmpInst::ICMP_NE));
      compare->eraseFromParent();
    } else if (auto *number = dyn_cast<PtrToIntInst>(user)) {
      answerPresence(*number);
    }
  }
}

// A copy of a function for calls that pass these functions to it; null where there are too many already. It is given
// frames where its parameters were trampolines, and makes those anew.
Function *specialised(Function &callee, const Known &known) {
  Module &module = *callee.getParent();
  std::string name = (callee.getName() + enz::kSpecialised).str();
  for (unsigned i = 0; i < callee.arg_size(); ++i)
    if (const Passed passed = known.lookup(i); passed.function)
      name += "." + std::to_string(i) + (passed.trampoline ? ".within." : ".") + passed.function->getName().str();
  if (Function *made = module.getFunction(name))
    return made->getFunctionType() == callee.getFunctionType() ? made : nullptr;
  if (count_if(module, [](const Function &f) { return f.getName().contains(enz::kSpecialised); }) >= kSpecialisedLimit)
    return nullptr;
  enz::keepOrder(callee);
  ValueToValueMapTy map;
  Function *copy = CloneFunction(&callee, map);
  copy->setName(name);
  copy->setLinkage(GlobalValue::InternalLinkage);
  copy->setVisibility(GlobalValue::DefaultVisibility);
  copy->setDLLStorageClass(GlobalValue::DefaultStorageClass);
  copy->setComdat(nullptr);
  // The copy of a recursive function calls that one, and would not be seen to be recursive.
  copy->removeFnAttr(Attribute::OptimizeNone);
  const auto recurs = [&callee](const Instruction &inst) {
    const auto *call = dyn_cast<CallBase>(&inst);
    return call && call->getCalledFunction() == &callee;
  };
  if (any_of(instructions(callee), recurs))
    copy->addFnAttr(Attribute::NoInline);
  else if (callee.hasFnAttribute(Attribute::OptimizeNone))
    copy->removeFnAttr(Attribute::NoInline);
  for (const auto &[index, passed] : known) {
    Argument *argument = copy->getArg(index);
    if (!passed.trampoline) {
      argument->replaceAllUsesWith(passed.function);
      continue;
    }
    copy->removeParamAttrs(index, AttributeMask(copy->getAttributes().getParamAttrs(index)));
    IRBuilder<> build(&*copy->getEntryBlock().getFirstInsertionPt());
    auto *code = build.Insert(cast<AllocaInst>(passed.trampoline->getArgOperand(0))->clone());
    Value *address = build.CreateIntrinsic(Intrinsic::adjust_trampoline, ArrayRef<Type *>(), {code});
    argument->replaceAllUsesWith(address);
    answerPresence(*address);
    build.SetInsertPoint(cast<Instruction>(address));
    build.CreateIntrinsic(Intrinsic::init_trampoline, ArrayRef<Type *>(), {code, passed.function, argument});
  }
  return copy;
}

} // namespace

bool enz::specialiseCallees(EnzOpaqueHost &host, Function &function) {
  bool changed = false;
  for (BasicBlock &block : function)
    for (Instruction &inst : block) {
      auto *call = dyn_cast<CallBase>(&inst);
      Function *callee = call && isa<CallInst, InvokeInst>(call) ? call->getCalledFunction() : nullptr;
      if (!callee || !exactBody(*callee) || callee->isVarArg() || callee->getName().contains(enz::kSpecialised) ||
          enz::isGenerated(callee->getName()) || callee->getInstructionCount() > kSpecialisedSize ||
          callee->hasFnAttribute("enzyme_inactive"))
        continue;
      Known known;
      for (unsigned i = 0; i < call->arg_size(); ++i)
        if (const Passed passed = passedAs(call->getArgOperand(i));
            passed.function && !callee->getArg(i)->use_empty() &&
            (!passed.trampoline || DominatorTree(function).dominates(passed.trampoline, call)))
          known[i] = passed;
      Function *copy = known.empty() ? nullptr : specialised(*callee, known);
      if (!copy)
        continue;
      call->setCalledFunction(copy);
      changed = true;
      for (const auto &[index, passed] : known)
        if (passed.trampoline) {
          Value *address = call->getArgOperand(index);
          call->setArgOperand(index, passed.trampoline->getArgOperand(2));
          call->removeParamAttrs(index, AttributeMask(call->getParamAttributes(index)));
          RecursivelyDeleteTriviallyDeadInstructions(address);
        }
    }
  if (changed)
    host.functions->invalidate(function, PreservedAnalyses::none());
  return changed;
}

bool enz::promoteLikelyCalls(EnzOpaqueHost &host, Function &function, const EnzPrepare &options) {
  SmallVector<CallBase *, 8> calls = pointerCalls(function);
  if (calls.empty())
    return false;
  const Targets targets(host, function, options);
  // What inlines calls keeps no account of the function's shape.
  const DominatorTree dominators(function);
  SmallPtrSet<CallBase *, 8> optional;
  for (CallBase *call : calls)
    if (isOptional(*call, dominators))
      optional.insert(call);
  bool changed = false;
  for (CallBase *call : calls) {
    const Functions likely = targets.of(*call);
    if (likely.empty() && (options.excuse || optional.contains(call))) {
      call->addFnAttr(Attribute::get(call->getContext(), enz::kFallback));
      changed = true;
    }
    if (likely.empty() || likely.size() > kCandidateLimit)
      continue;
    for (CallBase *direct : promote(*call, likely.getArrayRef(), /*closed=*/false))
      direct->addFnAttr(Attribute::get(direct->getContext(), kGuess));
    changed = true;
  }
  return changed;
}
