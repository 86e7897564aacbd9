// Derivatives of calls that compilers write by callbacks.
//
// For each function of a lent module that a handler is registered for, small functions are made: one that calls it with
// its own parameters, which the callbacks look at as the original, and one for each derivative, into which they write.
// The module then states these as the rules of the function, as a program does, and the engine calls them.
//
// Whether memory behind a parameter has a shadow differs between calls and is known when they run, but a callback asks
// when it writes. So it writes one function for each set of parameters with shadows, and the rule chooses: the shadow
// of memory without is null. What the reverse function needs of the augmented one (its tape, and the result if it is
// asked for) is put into a box, which the reverse rule frees.
//
// Of an allocator a function is made that gives the shadow of its memory, and one that frees it; the module then states
// that (registry.cpp).
//
// Not handled: functions with results that hold addresses, variable arguments, parameters that are structures with
// addresses, or more than four addresses: their handlers are not called, and the engine refuses their calls where
// active data passes through them.

#include "loan.h"
#include "rule.h"

#include "llvm/IR/Verifier.h"

using namespace llvm;

namespace {

constexpr unsigned kMostPointers = 4;

bool holdsPointer(Type *type) {
  if (type->isPtrOrPtrVectorTy())
    return true;
  return any_of(type->subtypes(), holdsPointer);
}

bool holdsFloat(Type *type) {
  if (type->isFPOrFPVectorTy())
    return true;
  return any_of(type->subtypes(), holdsFloat);
}

bool fits(const Function &function) {
  if (function.isVarArg() || function.isIntrinsic() || holdsPointer(function.getReturnType()))
    return false;
  unsigned pointers = 0;
  for (const Argument &param : function.args()) {
    pointers += param.getType()->isPointerTy();
    if (param.hasByValAttr() || param.hasStructRetAttr() ||
        (!param.getType()->isPointerTy() && holdsPointer(param.getType())))
      return false;
  }
  return pointers <= kMostPointers;
}

bool allocates(const Function &function) {
  return !function.isVarArg() && !function.isIntrinsic() && function.getReturnType()->isPointerTy() &&
         function.getReturnType()->getPointerAddressSpace() == 0;
}

StringRef nameOf(const Function &function) {
  const Attribute like = function.getFnAttribute("enzyme_math");
  return like.isValid() && like.isStringAttribute() ? like.getValueAsString() : function.getName();
}

bool isCalled(const Function &function) {
  return any_of(function.users(), [&](const User *user) {
    const auto *call = dyn_cast<CallBase>(user);
    return call && call->getCalledOperand() == &function && call->getFunctionType() == function.getFunctionType();
  });
}

// The types of what a function returns, as one.
Type *together(LLVMContext &context, ArrayRef<Type *> types) {
  if (types.empty())
    return Type::getVoidTy(context);
  return types.size() == 1 ? types[0] : StructType::get(context, types);
}

void giveBack(IRBuilder<> &b, ArrayRef<Value *> values) {
  if (values.empty()) {
    b.CreateRetVoid();
  } else if (values.size() == 1) {
    b.CreateRet(values[0]);
  } else {
    SmallVector<Type *, 4> types;
    for (Value *value : values)
      types.push_back(value->getType());
    Value *out = PoisonValue::get(StructType::get(b.getContext(), types));
    for (unsigned n = 0; n < values.size(); ++n)
      out = b.CreateInsertValue(out, values[n], n);
    b.CreateRet(out);
  }
}

SmallVector<Value *, 4> partsOf(IRBuilder<> &b, Value *value, size_t count) {
  if (count < 2)
    return count == 0 ? SmallVector<Value *, 4>{} : SmallVector<Value *, 4>{value};
  SmallVector<Value *, 4> out;
  for (unsigned n = 0; n < count; ++n)
    out.push_back(b.CreateExtractValue(value, n));
  return out;
}

class Writer {
public:
  Writer(Function &function, const EnzHandler &handler, const EnzHandles &handles, raw_ostream &error)
      : function_(function), module_(*function.getParent()), context_(function.getContext()), handler_(handler),
        handles_(handles), error_(error) {
    for (const Argument &param : function.args())
      if (param.getType()->isPointerTy())
        pointers_.push_back(param.getArgNo());
  }

  // States the function as an allocator of which callbacks make the shadows.
  bool writeAllocator() {
    original();
    SmallVector<Type *, 8> types;
    for (const Argument &param : function_.args())
      types.push_back(param.getType());
    Function *made = create("shadow", result(), types);
    const bool good = shadow(*made);
    dropOriginal();
    if (!good) {
      made->eraseFromParent();
      return false;
    }
    PointerType *ptr = PointerType::get(context_, 0);
    Constant *none = ConstantPointerNull::get(ptr);
    Constant *parts[] = {&function_, made, none, none};
    if (handler_.release) {
      Function *released = create("unshadow", Type::getVoidTy(context_), {result()});
      IRBuilder<> b(BasicBlock::Create(context_, "entry", released));
      handler_.release(wrap(&b), wrap(released->getArg(0)));
      b.CreateRetVoid();
      if (!sound(*released)) {
        released->eraseFromParent();
        made->eraseFromParent();
        return false;
      }
      parts[3] = released;
    }
    auto *type = ArrayType::get(ptr, std::size(parts));
    new GlobalVariable(module_, type, true, GlobalValue::InternalLinkage, ConstantArray::get(type, parts),
                       "__enzyme_allocation_like_handled." + function_.getName());
    return true;
  }

  bool write() {
    original();
    Function *augmented = nullptr, *reverse = nullptr, *forward = nullptr;
    const bool both = handler_.augmented && handler_.reverse;
    const bool good = (!both || split(augmented, reverse)) && (!handler_.forward || (forward = tangent()));
    dropOriginal();
    if (!good)
      return false;
    state("enzyme_augment", augmented);
    state("enzyme_gradient", reverse);
    state("enzyme_derivative", forward);
    return true;
  }

private:
  struct Variant {
    Function *augmented = nullptr, *reverse = nullptr;
    Type *tape = nullptr;
    StructType *box = nullptr; // what the reverse function needs
    bool keeps_result = false;
  };

  Type *result() const { return function_.getReturnType(); }
  bool seeded() const { return holdsFloat(result()); }
  unsigned masks() const { return 1U << pointers_.size(); }

  void state(StringRef kind, Function *rule) {
    if (rule)
      function_.setMetadata(kind, MDNode::get(context_, {ValueAsMetadata::get(rule)}));
  }

  CallInst *callIt(IRBuilder<> &b, ArrayRef<Value *> args) {
    CallInst *call = b.CreateCall(function_.getFunctionType(), &function_, args);
    call->setCallingConv(function_.getCallingConv());
    call->setAttributes(function_.getAttributes());
    return call;
  }

  void original() {
    original_ = Function::Create(function_.getFunctionType(), GlobalValue::InternalLinkage, "enzyme.original", module_);
    IRBuilder<> b(BasicBlock::Create(context_, "", original_));
    SmallVector<Value *, 8> args;
    for (Argument &param : original_->args())
      args.push_back(&param);
    call_ = callIt(b, args);
    if (result()->isVoidTy())
      b.CreateRetVoid();
    else
      b.CreateRet(call_);
  }

  void dropOriginal() {
    original_->deleteBody();
    original_->eraseFromParent();
  }

  // The parameters of a rule: addresses are followed by their shadows, and, going forward, numbers by their tangents.
  SmallVector<Type *, 8> params(bool tangents, ArrayRef<Type *> more) const {
    SmallVector<Type *, 8> out;
    for (const Argument &param : function_.args()) {
      out.push_back(param.getType());
      if (param.getType()->isPointerTy() || (tangents && holdsFloat(param.getType())))
        out.push_back(param.getType());
    }
    out.append(more.begin(), more.end());
    return out;
  }

  Function *create(StringRef kind, Type *ret, ArrayRef<Type *> types) {
    return Function::Create(FunctionType::get(ret, types, false), GlobalValue::InternalLinkage,
                            "enzyme.rule." + kind + "." + function_.getName(), module_);
  }

  // Starts a function that a callback writes; `mask` says which addresses have shadows.
  EnzRule start(EnzRuleMode mode, Function *made, unsigned mask) {
    EnzRule rule;
    rule.mode = mode;
    rule.original = original_;
    rule.call = call_;
    rule.made = made;
    BasicBlock::Create(context_, "entry", made);
    unsigned at = 0, pointer = 0;
    for (Argument &param : original_->args()) {
      rule.primal[&param] = made->getArg(at++);
      if (param.getType()->isPointerTy()) {
        if (mask >> pointer++ & 1)
          rule.shadow[&param] = made->getArg(at);
        ++at;
      } else if (mode == ENZ_RULE_FORWARD && holdsFloat(param.getType())) {
        rule.shadow[&param] = made->getArg(at++);
      }
    }
    return rule;
  }

  template <typename Work> auto told(EnzRule &rule, Work work) {
    void *handle = handles_.enter(handles_.context, &rule);
    auto out = work(handle);
    handles_.leave(handles_.context, handle);
    return out;
  }

  bool complain(const Twine &what) {
    error_ << "the handler for '" << enz::text(handler_.name) << "' " << what;
    return false;
  }

  bool sound(Function &made) {
    std::string why;
    raw_string_ostream out(why);
    // The verifier does not look for values of other functions where these are arguments.
    for (BasicBlock &block : made)
      for (Instruction &inst : block)
        for (Value *operand : inst.operands())
          if (auto *param = dyn_cast<Argument>(operand); param && param->getParent() != &made)
            return complain("uses a value of the original call where one of the derivative is needed");
          else if (auto *other = dyn_cast<Instruction>(operand); other && other->getFunction() != &made)
            return complain("uses a value of the original call where one of the derivative is needed");
    return !verifyFunction(made, &out) || complain("wrote code that is malformed: " + why);
  }

  // Writes what gives the shadow of memory that the function would allocate with the same arguments.
  bool shadow(Function &made) {
    EnzRule rule;
    rule.mode = ENZ_RULE_AUGMENTED;
    rule.original = original_;
    rule.call = call_;
    rule.made = &made;
    SmallVector<LLVMValueRef, 8> args;
    for (Argument &param : original_->args()) {
      rule.primal[&param] = made.getArg(param.getArgNo());
      args.push_back(wrap(rule.primal[&param]));
    }
    IRBuilder<> b(BasicBlock::Create(context_, "entry", &made));
    Value *given = unwrap(told(rule, [&](void *handle) {
      return handler_.allocate(wrap(&b), wrap(call_), args.size(), args.data(), handle);
    }));
    if (!given || given->getType() != result())
      return complain("gave no shadow of the type of the memory's address");
    b.CreateRet(given);
    return sound(made);
  }

  // The call in a function that runs it, and the place where that returns.
  Instruction *primalCall(EnzRule &rule) {
    IRBuilder<> b(&rule.made->getEntryBlock());
    SmallVector<Value *, 8> args;
    for (Argument &param : original_->args())
      args.push_back(rule.primal[&param]);
    rule.result = callIt(b, args);
    return b.CreateUnreachable();
  }

  // The result that a callback left: its own, or that of the call, which goes if it is not needed.
  bool resultOf(EnzRule &rule, LLVMValueRef given, Value *&out) {
    out = unwrap(given);
    if (result()->isVoidTy()) {
      out = nullptr;
      return true;
    }
    if (!out || out->getType() != result())
      return complain("gave no result of the call's type");
    auto *call = dyn_cast_or_null<Instruction>(static_cast<Value *>(rule.result));
    if (call && call != out && call->use_empty())
      call->eraseFromParent();
    return true;
  }

  static LLVMValueRef initial(const EnzRule &rule) {
    Value *value = static_cast<Value *>(rule.result);
    return value && !value->getType()->isVoidTy() ? wrap(value) : nullptr;
  }

  bool augment(unsigned mask, Variant &variant) {
    // What is returned is known when it was written: it is written into a function without result, and moved.
    Function *draft = create("draft", Type::getVoidTy(context_), params(false, {}));
    drafts_.push_back(draft);
    EnzRule rule = start(ENZ_RULE_AUGMENTED, draft, mask);
    Instruction *end = primalCall(rule);
    auto *call = cast<Instruction>(static_cast<Value *>(rule.result));
    LLVMValueRef normal = initial(rule), shadow = nullptr, tape = nullptr;
    // Before the call, so that what it overwrites can be kept.
    IRBuilder<> b(call);
    told(rule,
         [&](void *handle) { return handler_.augmented(wrap(&b), wrap(call_), handle, &normal, &shadow, &tape); });
    Value *value = nullptr;
    if (!resultOf(rule, normal, value))
      return false;
    SmallVector<Value *, 4> parts;
    if (tape)
      parts.push_back(unwrap(tape));
    if (value)
      parts.push_back(value);
    variant.tape = tape ? unwrap(tape)->getType() : nullptr;
    if (variant.tape && !variant.tape->isSized())
      return complain("gave a tape that has no size");
    SmallVector<Type *, 4> types;
    for (Value *part : parts)
      types.push_back(part->getType());
    IRBuilder<> at(end);
    giveBack(at, parts);
    end->eraseFromParent();
    variant.augmented = create("augmented", together(context_, types), params(false, {}));
    variant.augmented->splice(variant.augmented->begin(), draft);
    for (unsigned n = 0; n < draft->arg_size(); ++n)
      draft->getArg(n)->replaceAllUsesWith(variant.augmented->getArg(n));
    drafts_.pop_back();
    draft->eraseFromParent();
    return sound(*variant.augmented);
  }

  SmallVector<Type *, 4> adjointTypes() const {
    SmallVector<Type *, 4> out;
    for (const Argument &param : function_.args())
      if (!param.getType()->isPointerTy() && holdsFloat(param.getType()))
        out.push_back(param.getType());
    return out;
  }

  // What the handler says is used is there, and so is the rest: an answer changes nothing.
  void askUses(EnzRule &rule) {
    if (!handler_.uses)
      return;
    for (Argument &param : original_->args())
      for (uint8_t shadow = 0; shadow < 2; ++shadow) {
        uint8_t otherwise = 1;
        if (!shadow || rule.shadow.count(&param))
          told(rule, [&](void *handle) {
            return handler_.uses(wrap(call_), handle, wrap(&param), shadow, ENZ_RULE_REVERSE, &otherwise);
          });
      }
  }

  // Parameters: those of the function and shadows, the adjoint of the result, the result, the tape.
  bool reverse(unsigned mask, Variant &variant) {
    SmallVector<Type *, 4> more;
    if (seeded())
      more.push_back(result());
    if (!result()->isVoidTy())
      more.push_back(result());
    if (variant.tape)
      more.push_back(variant.tape);
    const SmallVector<Type *, 4> adjoints = adjointTypes();
    Function *made = create("reverse", together(context_, adjoints), params(false, more));
    variant.reverse = made;
    EnzRule rule = start(ENZ_RULE_REVERSE, made, mask);
    unsigned at = made->arg_size() - more.size();
    Argument *seed = seeded() ? made->getArg(at++) : nullptr;
    Argument *value = result()->isVoidTy() ? nullptr : made->getArg(at++);
    Argument *tape = variant.tape ? made->getArg(at) : nullptr;
    rule.result = value;
    IRBuilder<> b(&made->getEntryBlock());
    for (Argument &param : original_->args())
      if (!param.getType()->isPointerTy() && holdsFloat(param.getType())) {
        rule.adjoint[&param] = b.CreateAlloca(param.getType());
        b.CreateStore(Constant::getNullValue(param.getType()), rule.adjoint[&param]);
      }
    if (seed) {
      rule.adjoint[call_] = b.CreateAlloca(result());
      b.CreateStore(seed, rule.adjoint[call_]);
    }
    BasicBlock *body = BasicBlock::Create(context_, "reverse", made);
    b.CreateBr(body);
    b.SetInsertPoint(body);
    askUses(rule);
    told(rule, [&](void *handle) {
      handler_.reverse(wrap(&b), wrap(call_), handle, wrap(tape));
      return 0;
    });
    BasicBlock *last = rule.last ? rule.last : b.GetInsertBlock();
    if (last->getParent() != made || last->getTerminator())
      return complain("leaves the reverse part where it cannot end");
    b.SetInsertPoint(last);
    SmallVector<Value *, 4> parts;
    for (Argument &param : original_->args())
      if (AllocaInst *slot = rule.adjoint.lookup(&param))
        parts.push_back(b.CreateLoad(slot->getAllocatedType(), slot));
    giveBack(b, parts);
    variant.keeps_result = value && !value->use_empty();
    SmallVector<Type *, 2> kept;
    if (variant.tape)
      kept.push_back(variant.tape);
    if (variant.keeps_result)
      kept.push_back(result());
    variant.box = kept.empty() ? nullptr : StructType::get(context_, kept);
    return sound(*made);
  }

  // Branches to a block for each set of parameters that have a shadow; the blocks, in which `b` is to go on.
  SmallVector<BasicBlock *, 16> choose(IRBuilder<> &b, Function *made) {
    Value *mask = b.getInt32(0);
    unsigned at = 0, pointer = 0;
    for (const Argument &param : function_.args()) {
      ++at;
      if (param.getType()->isPointerTy()) {
        Value *there = b.CreateIsNotNull(made->getArg(at++));
        mask = b.CreateOr(mask, b.CreateShl(b.CreateZExt(there, b.getInt32Ty()), pointer++));
      } else if (made == forward_ && holdsFloat(param.getType())) {
        ++at;
      }
    }
    SmallVector<BasicBlock *, 16> blocks;
    for (unsigned n = 0; n < masks(); ++n)
      blocks.push_back(BasicBlock::Create(context_, "", made));
    SwitchInst *choice = b.CreateSwitch(mask, blocks[0], masks());
    for (unsigned n = 1; n < masks(); ++n)
      choice->addCase(b.getInt32(n), blocks[n]);
    return blocks;
  }

  static SmallVector<Value *, 8> firstArgs(Function *made, size_t count) {
    SmallVector<Value *, 8> out;
    for (unsigned n = 0; n < count; ++n)
      out.push_back(made->getArg(n));
    return out;
  }

  uint64_t sizeOf(Type *type) const { return module_.getDataLayout().getTypeAllocSize(type).getFixedValue(); }

  Value *box(IRBuilder<> &b, const Variant &variant, Value *tape, Value *value) {
    Type *ptr = b.getPtrTy();
    Type *size = module_.getDataLayout().getIntPtrType(context_);
    FunctionCallee alloc = module_.getOrInsertFunction("malloc", FunctionType::get(ptr, {size}, false));
    Value *memory = b.CreateCall(alloc, {ConstantInt::get(size, sizeOf(variant.box))});
    Value *content = PoisonValue::get(variant.box);
    unsigned at = 0;
    if (tape)
      content = b.CreateInsertValue(content, tape, at++);
    if (variant.keeps_result)
      content = b.CreateInsertValue(content, value, at);
    // No memory: a write to it ends the program.
    b.CreateStore(content, memory);
    return memory;
  }

  bool split(Function *&augmented, Function *&reversed) {
    SmallVector<Variant, 16> variants(masks());
    for (unsigned mask = 0; mask < masks(); ++mask)
      if (!augment(mask, variants[mask]) || !reverse(mask, variants[mask])) {
        for (Function *draft : drafts_)
          draft->eraseFromParent();
        drafts_.clear();
        for (Variant &variant : variants)
          for (Function *made : {variant.augmented, variant.reverse})
            if (made)
              made->eraseFromParent();
        return false;
      }
    const bool boxed = any_of(variants, [](const Variant &v) { return v.box != nullptr; });
    Type *ptr = PointerType::get(context_, 0);
    SmallVector<Type *, 2> returned;
    if (boxed)
      returned.push_back(ptr);
    if (!result()->isVoidTy())
      returned.push_back(result());
    const SmallVector<Type *, 8> types = params(false, {});
    augmented = create("augmented.any", together(context_, returned), types);
    IRBuilder<> b(BasicBlock::Create(context_, "", augmented));
    SmallVector<BasicBlock *, 16> blocks = choose(b, augmented);
    for (unsigned mask = 0; mask < masks(); ++mask) {
      const Variant &variant = variants[mask];
      b.SetInsertPoint(blocks[mask]);
      Value *out = b.CreateCall(variant.augmented, firstArgs(augmented, types.size()));
      const size_t count = (variant.tape ? 1 : 0) + (result()->isVoidTy() ? 0 : 1);
      SmallVector<Value *, 4> parts = partsOf(b, out, count);
      Value *tape = variant.tape ? parts.front() : nullptr;
      Value *value = result()->isVoidTy() ? nullptr : parts.back();
      SmallVector<Value *, 2> values;
      if (boxed)
        values.push_back(variant.box ? box(b, variant, tape, value) : Constant::getNullValue(ptr));
      if (value)
        values.push_back(value);
      giveBack(b, values);
    }
    SmallVector<Type *, 2> more;
    if (seeded())
      more.push_back(result());
    if (boxed)
      more.push_back(ptr);
    reversed = create("reverse.any", together(context_, adjointTypes()), params(false, more));
    b.SetInsertPoint(BasicBlock::Create(context_, "", reversed));
    blocks = choose(b, reversed);
    FunctionCallee release =
        module_.getOrInsertFunction("free", FunctionType::get(Type::getVoidTy(context_), {ptr}, false));
    for (unsigned mask = 0; mask < masks(); ++mask) {
      const Variant &variant = variants[mask];
      b.SetInsertPoint(blocks[mask]);
      SmallVector<Value *, 8> args = firstArgs(reversed, types.size() + (seeded() ? 1 : 0));
      Value *content = nullptr;
      if (variant.box) {
        Value *memory = reversed->getArg(reversed->arg_size() - 1);
        content = b.CreateLoad(variant.box, memory);
        b.CreateCall(release, {memory});
      }
      if (!result()->isVoidTy())
        args.push_back(variant.keeps_result ? b.CreateExtractValue(content, variant.tape ? 1 : 0)
                                            : PoisonValue::get(result()));
      if (variant.tape)
        args.push_back(b.CreateExtractValue(content, 0));
      Value *out = b.CreateCall(variant.reverse, args);
      giveBack(b, partsOf(b, out, adjointTypes().size()));
    }
    return true;
  }

  // The value and its tangent, for each set of parameters with shadows.
  Function *tangent() {
    const bool empty = result()->isVoidTy();
    const SmallVector<Type *, 8> types = params(true, {});
    Type *ret = empty ? Type::getVoidTy(context_) : StructType::get(context_, {result(), result()});
    SmallVector<Function *, 16> variants;
    for (unsigned mask = 0; mask < masks(); ++mask) {
      Function *made = create("forward", ret, types);
      variants.push_back(made);
      EnzRule rule = start(ENZ_RULE_FORWARD, made, mask);
      Instruction *end = primalCall(rule);
      LLVMValueRef normal = initial(rule), shadow = nullptr;
      IRBuilder<> b(end);
      told(rule, [&](void *handle) { return handler_.forward(wrap(&b), wrap(call_), handle, &normal, &shadow); });
      Value *value = nullptr;
      bool good = resultOf(rule, normal, value);
      Value *tangent = shadow ? unwrap(shadow) : nullptr;
      if (good && !empty && !tangent)
        tangent = Constant::getNullValue(result());
      if (good && tangent && !empty && tangent->getType() != result())
        good = complain("gave a tangent of another type than the result's");
      if (good) {
        IRBuilder<> at(end);
        giveBack(at, empty ? ArrayRef<Value *>() : ArrayRef<Value *>({value, tangent}));
        end->eraseFromParent();
        good = sound(*made);
      }
      if (!good) {
        for (Function *variant : variants)
          variant->eraseFromParent();
        return nullptr;
      }
    }
    forward_ = create("forward.any", ret, types);
    IRBuilder<> b(BasicBlock::Create(context_, "", forward_));
    SmallVector<BasicBlock *, 16> blocks = choose(b, forward_);
    for (unsigned mask = 0; mask < masks(); ++mask) {
      b.SetInsertPoint(blocks[mask]);
      Value *out = b.CreateCall(variants[mask], firstArgs(forward_, types.size()));
      if (empty)
        b.CreateRetVoid();
      else
        b.CreateRet(out);
    }
    return forward_;
  }

  Function &function_;
  Module &module_;
  LLVMContext &context_;
  const EnzHandler &handler_;
  const EnzHandles &handles_;
  raw_ostream &error_;
  SmallVector<unsigned, 4> pointers_;
  SmallVector<Function *, 2> drafts_;
  Function *original_ = nullptr, *forward_ = nullptr;
  CallInst *call_ = nullptr;
};

} // namespace

uint8_t enz_rules_write(EnzLoan *loan, const EnzHandler *handlers, size_t count, const EnzHandles *handles,
                        EnzTextSink error, void *context) {
  enz::SinkStream out(error, context);
  SmallVector<std::pair<Function *, const EnzHandler *>, 4> meant;
  for (Function &function : *loan->copy)
    for (const EnzHandler &handler : ArrayRef(handlers, count))
      if (enz::text(handler.name) == nameOf(function) && isCalled(function) &&
          (handler.allocate ? allocates(function) : fits(function)))
        meant.push_back({&function, &handler});
  for (auto [function, handler] : meant) {
    Writer writer(*function, *handler, *handles, *out);
    if (!(handler->allocate ? writer.writeAllocator() : writer.write()))
      return 0;
  }
  return 1;
}
