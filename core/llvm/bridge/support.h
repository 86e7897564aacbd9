// What the C++ files of the bridge share: conversions between LLVM's objects and the opaque handles of bridge.h, and
// the host, which is a module with the analysis managers that belong to it.
#ifndef ENZYME_SUPPORT_H
#define ENZYME_SUPPORT_H

#include "bridge.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

static_assert(LLVM_VERSION_MAJOR == 22, "the bridge is written against LLVM 22");

namespace enz {

// What inlining copies for one request. Each copy of a function has a derivative of its own, so that those of optimised
// functions may take as much again as the first of each, and `growth` instructions.
struct Copies {
  llvm::SmallPtrSet<const llvm::Function *, 16> copied;
  uint64_t first = 0;
  uint64_t further = 0;
  uint64_t growth = UINT64_MAX / 2;
};

} // namespace enz

struct EnzOpaqueHost {
  llvm::Module *module;
  llvm::ModuleAnalysisManager *modules;
  llvm::FunctionAnalysisManager *functions;
  llvm::PassBuilder *passes;
  llvm::ThinOrFullLTOPhase phase;
  enz::Copies copies = {};
};

namespace enz {

// Whether a function of this name is none of the program's.
inline bool isGenerated(llvm::StringRef name) { return name.starts_with("enzyme.") || name.contains(".enzyme."); }

inline llvm::StringRef text(EnzStr s) { return llvm::StringRef(s.data ? s.data : "", s.data ? s.len : 0); }
inline EnzStr text(llvm::StringRef s) { return EnzStr{s.data(), s.size()}; }

inline llvm::Type *un(EnzType t) { return reinterpret_cast<llvm::Type *>(t); }
inline llvm::Value *un(EnzValue v) { return reinterpret_cast<llvm::Value *>(v); }
inline llvm::BasicBlock *un(EnzBlock b) { return reinterpret_cast<llvm::BasicBlock *>(b); }
inline EnzType in(llvm::Type *t) { return reinterpret_cast<EnzType>(t); }
inline EnzValue in(llvm::Value *v) { return reinterpret_cast<EnzValue>(v); }
inline EnzBlock in(llvm::BasicBlock *b) { return reinterpret_cast<EnzBlock>(b); }
inline EnzLoc in(const llvm::DILocation *l) { return reinterpret_cast<EnzLoc>(const_cast<llvm::DILocation *>(l)); }
inline llvm::DILocation *un(EnzLoc l) { return reinterpret_cast<llvm::DILocation *>(l); }

// Removes a call that may be an invoke, and that nothing uses.
inline void drop(llvm::CallBase &call) {
  if (auto *invoke = llvm::dyn_cast<llvm::InvokeInst>(&call))
    llvm::changeToCall(invoke)->eraseFromParent();
  else
    call.eraseFromParent();
}

template <typename T> T *as(EnzValue v) { return llvm::dyn_cast_or_null<T>(un(v)); }

// A stream that collects text for a sink.
class SinkStream {
public:
  SinkStream(EnzTextSink sink, void *context) : stream_(text_), sink_(sink), context_(context) {}
  ~SinkStream() {
    if (sink_ && !text_.empty())
      sink_(context_, text_.data(), text_.size());
  }
  SinkStream(const SinkStream &) = delete;
  SinkStream &operator=(const SinkStream &) = delete;
  llvm::raw_ostream &operator*() { return stream_; }

private:
  std::string text_;
  llvm::raw_string_ostream stream_;
  EnzTextSink sink_;
  void *context_;
};

// A module of bitcode or text that LLVM's verifier has nothing against; null, with what is amiss in `out`, if there is
// none.
std::unique_ptr<llvm::Module> readModule(llvm::MemoryBufferRef buffer, llvm::LLVMContext &context,
                                         llvm::raw_ostream &out);

// Our numbers of LLVM's enumerations, and back. The second member is false for what we do not know.
uint32_t binaryNumber(unsigned opcode);
unsigned binaryOpcode(uint32_t number);
uint32_t castNumber(unsigned opcode);
unsigned castOpcode(uint32_t number);
constexpr uint32_t kUnknown = ~0u;

const llvm::fltSemantics *semantics(uint32_t float_kind);
uint32_t floatNumber(const llvm::Type *type);

// What a constant is behind casts and aliases that cannot be replaced at link time.
llvm::Value *resolve(llvm::Value *value);

// Whether the engine's tables, which `ask` reads, say that an external function writes no memory of the program (1: if
// it takes no pointer), or that what it writes does not matter (2): frees are put off in a derivative.
bool isHarmless(const llvm::Instruction &inst, void *context, uint8_t (*ask)(void *context, EnzStr name));

// Whether the body of `function` is the one that will run.
bool exactBody(const llvm::Function &function);

// Whether a function is a marker whose name has one of these parts.
bool isMarker(const llvm::Function &function, const EnzStr *substrings, size_t count);

// Blocks with handlers that are entered by a call which returns twice, as invokes and landing pads; and back, in code
// that is to run.
void raiseHandlers(llvm::Module &module);
void lowerHandlers(llvm::Module &module);

// Turns the constant expressions among the operands of a function into instructions.
void lowerConstantExpressions(llvm::Function &function);

// Numbers that are made addresses become places in a variable of other modules, which has no shadow; whether there were
// any.
bool nameAddresses(llvm::Function &function);
// They are numbers again.
void unnameAddresses(llvm::Module &module);

// What inlining into one clone has done so far, so that a function never comes into its own inlined body.
struct InlineHistory {
  // Inlined functions, each with the number of the one into whose inlined body it came, or -1.
  std::vector<std::pair<const llvm::Function *, int>> bodies;
  // Calls that came with an inlined body, and the number of that.
  std::vector<std::pair<llvm::WeakTrackingVH, int>> calls;
  // Instructions that came with functions whose inlining was demanded.
  uint64_t forced = 0;
};

// Inlines what is worth inlining into a prepared clone; returns whether anything was.
bool inlineInto(EnzOpaqueHost &host, llvm::Function &function, const EnzPrepare &options, uint64_t &budget,
                InlineHistory &history);

// Attributes of calls: what was branched off a call through a pointer because it might be meant, and what is left.
constexpr llvm::StringLiteral kGuess = "enzyme-guess";
constexpr llvm::StringLiteral kFallback = "enzyme-fallback";

// Parts of the names of copies of functions: for calls that pass these functions, or these variable arguments.
constexpr llvm::StringLiteral kSpecialised = ".enzyme.with";
constexpr llvm::StringLiteral kVariadic = ".enzyme.variadic";

// Attribute of copies: only run where a loop over bytes reads what it wrote.
constexpr llvm::StringLiteral kOverlapping = "enzyme-overlapping";

// Adds the functions that `pointer` can be to `out`; false if it can be others as well.
bool traceFunctions(llvm::Value *pointer, const llvm::DataLayout &layout,
                    llvm::SmallSetVector<llvm::Function *, 8> &out);

// Makes a call direct that goes through an alias or another prototype, and drops `musttail`.
void straightenCall(llvm::CallBase &call);

// Memory whose addresses the function aligns by hand is aligned where it comes from; returns whether there was any.
bool alignMemory(llvm::Function &function);

// Whether scalars of a function lie on its stack, as in code that is not optimised.
bool hasStackTraffic(const llvm::Function &function);

// The call that takes the place of one that cuts memory from the arena of a derivative, or gives it back, where that
// derivative is differentiated itself (tape.cpp); else `call`.
llvm::CallBase *plainTape(llvm::CallBase &call);

// Whether a call is of a library function that calls back and that code of ours can replace.
bool callsBack(const llvm::CallBase &call);

// Whether there are calls through pointers, or of functions that call back, that were not dealt with.
bool hasPointerCalls(llvm::Function &function);

// Makes calls direct whose pointers can be traced to functions; returns whether there were any.
bool promoteKnownCalls(llvm::Function &function, InlineHistory &history);

// Calls copies of functions to which functions are passed, made for these; returns whether there were any.
bool specialiseCallees(EnzOpaqueHost &host, llvm::Function &function);

// Branches off direct calls of all functions that the remaining pointers may be; returns whether there were any.
bool promoteLikelyCalls(EnzOpaqueHost &host, llvm::Function &function, const EnzPrepare &options);

// Replaces calls of library functions that call back by code of ours; returns whether there were any.
bool replaceCallbacks(EnzOpaqueHost &host, llvm::Function &function);

// Puts calls and idioms that derivatives have no words for in other words; returns whether any was.
bool normalise(llvm::Function &function);

// Vectors of integers that are only copied become one wide integer each, which may hold floats.
void widenCopies(llvm::Function &function);
void widenShuffles(llvm::Function &function);

// Integers go to and from memory one by one instead of in vectors, where that can be; returns whether any do.
bool splitIntegerVectors(llvm::Function &function);

// What is rounded to a whole number: `value` itself if that is no rounding.
llvm::Value *unrounded(llvm::Value *value);

// Vectors of bits that libraries take apart and put together lane by lane, and choices among bits by masks, as
// operations on vectors and choices; returns whether there were any.
bool revealBlends(llvm::Function &function);

// Operations on the bits of floats become operations on floats; returns whether there were any.
bool floatBits(llvm::Function &function);

// Floats are computed as a function says that is not optimised, and runs so: what allows another order is forgotten.
void keepOrder(llvm::Function &function);

// Notes which reads and writes are of floats, for `giveSlopes`.
void noteFloats(llvm::Function &function);

// Tables of one bucket have it outside of themselves; returns whether there were any.
bool giveOwnBuckets(llvm::Function &function);

// Words that are two halves become two values where ways meet; returns whether there were any.
bool separateHalves(llvm::Function &function);

// Fields that are read as one vector are read one by one if there are pointers among them; returns whether any were.
bool separateFields(llvm::Function &function);

// Floats that are made of the bits of floats by arithmetic get slopes; returns whether there were any.
bool giveSlopes(llvm::Function &function);

// Makes ordinary code of what stands for slopes.
void dropSlopes(llvm::Module &module);

// A pointer read or written in one of two fields becomes two accesses, each of its field, with a branch.
bool splitPointerAccesses(llvm::Function &function);

// Whether a symbol is one of those of library.c.
bool hasLibraryBody(llvm::StringRef name);

// An internal function that does what the library function `declared` does, or null.
llvm::Function *libraryBody(llvm::Function &declared);

// Whether a symbol is one of those of blas.c, and what the build made of that.
bool isBlas(llvm::StringRef name);
llvm::StringRef blasBitcode();

// Sends calls of BLAS and LAPACK to the bodies that are known; whether there were any.
bool callBlasBodies(llvm::Function &function);

// Sends calls of flang's run-time library to the bodies that are known; whether there were any.
bool callFlangBodies(llvm::Function &function);

// Calls by which Fortran states rules become registration globals (fortran_rules.cpp); where such a global comes from,
// null for others; why it can't be had, if so; these globals go.
void stateFortranRules(llvm::Module &module);
const llvm::Function *statedIn(const llvm::GlobalVariable &global);
llvm::StringRef refusedRule(const llvm::GlobalVariable &global);
void dropFortranRules(llvm::Module &module);

// Allocation of a polymorphic variable whose type is one of a few is done once for each, as bodies of flang's library
// go by what is known of the type.
void splitAllocations(llvm::Function &function);

// Copies of whole descriptors become copies of their fields; whether there were any.
bool splitDescriptorCopies(llvm::Function &function);

// The type of the description by which an array is passed, as flang's code for the procedure shows; null if it is
// passed otherwise. `kept` becomes false if the description may be written, or handed on to who may write it.
llvm::Type *descriptorOf(const llvm::Argument &arg, bool &kept);

// What is read of the rank and the kind of an array becomes what is always written there; whether anything was.
bool settleDescriptors(llvm::Function &function);

// Inlines these bodies and what they call, the copying of elements only if `copies`; whether there were any.
bool inlineFlangBodies(llvm::Function &function, bool copies);

// Loops of these bodies that are left are not to be unrolled at any price.
void forgetUnrolling(llvm::Function &function);

// Part of `normalise`: whether a call of a vector intrinsic was replaced. It is left for the caller to erase.
bool rewriteVectorCall(llvm::CallInst &call);

// Part of `normalise`: whether inline assembly was replaced. It is left for the caller to erase.
bool rewriteAssembly(llvm::CallInst &call);

// Part of that: whether assembly that jumps to a routine of the crate pulp became an access under a mask.
bool rewriteSomeLanes(llvm::CallInst &call);

// Turns the computed gotos of a clone into switches; `map` leads from the original's blocks to those of the clone.
void lowerComputedGotos(llvm::Function &clone, llvm::Function &original, const llvm::ValueToValueMapTy &map);

// Makes calls of functions with variable arguments calls of copies without; returns whether there were any.
bool fixVariadicCalls(llvm::Function &function);

// Rounds the values that the markers for values kept in a narrower format are given.
void roundValues(llvm::Module &module);

// Makes atomic additions of loops of compare-and-exchange; returns whether there were any.
bool raiseAtomicAdditions(llvm::Function &function);

// Computes anew what comes with whether it overflowed; returns whether there was any.
bool plainResults(llvm::Function &function);

// Makes calls of loops that copy or swap bytes; returns whether there were any.
bool lowerCopyLoops(EnzOpaqueHost &host, llvm::Function &function);

// Makes counters recurrences again where paths know their values; returns whether there were any.
bool revealCounters(EnzOpaqueHost &host, llvm::Function &function);

// Lets nothing count that was remembered before the derivative began; returns whether there was any.
bool distrustMemories(EnzOpaqueHost &host, llvm::Function &function);

// The count of calls of derivatives, for what they remember; null if there is none, unless it is to be made.
llvm::GlobalVariable *epochOf(llvm::Module &module, bool make);

// Gives the function a second body, for arrays that a comparison on entry finds to be apart (disjoint.cpp); whether
// there is one.
bool separateArrays(EnzOpaqueHost &host, llvm::Function &function, const EnzPrepare &options);

// Makes selections of running maxima and minima.
void selectExtremes(llvm::Function &function);

// Whether there are cycles that are no loops, as they have several entries.
bool isIrreducible(llvm::Function &function, const llvm::LoopInfo &loops);

// Brings the control flow of a prepared clone into the shape that can be run backwards.
void shapeControl(EnzOpaqueHost &host, llvm::Function &function);

// Makes innermost loops of two blocks, the second of which only computes, loops of one; returns whether there were any.
bool joinLatches(EnzOpaqueHost &host, llvm::Function &function);

// Moves stores in innermost loops behind what does not touch their memory; returns whether any was moved.
bool sinkStores(EnzOpaqueHost &host, llvm::Function &function);

// Makes sums over the iterations of a loop in registers that were made in memory (sums.cpp); whether anything changed.
bool gatherSums(EnzOpaqueHost &host, llvm::Function &function);

// Has innermost loops whose iterations are independent go up through memory (upward.cpp); whether anything changed.
bool runUpward(EnzOpaqueHost &host, llvm::Function &function);

// Has what is copied through stack slots moved as what was stored there (slots.cpp); whether anything changed.
bool copyAsStored(llvm::Function &function);

// Makes sums begin in a register at zeros that were stored before (begins.cpp); whether anything changed.
bool beginSums(EnzOpaqueHost &host, llvm::Function &function);

// Memory that each iteration of a loop allocates and frees is allocated once (reuse.cpp).
bool reuseMemory(EnzOpaqueHost &host, llvm::Function &function);

// Reads memory that a loop brings back from snapshots there instead (snapshots.cpp); whether anything changed.
bool readSnapshots(EnzOpaqueHost &host, llvm::Function &function);

// Whether vectors of numbers may be computed instead of several calls like this one.
bool runsInVectors(const llvm::CallInst &call, const llvm::TargetLibraryInfo &libraries);

// Has calls in loops find more vector functions of libmvec than LLVM knows, where it may use that library
// (vectormath.cpp).
void useVectorMath(llvm::PassBuilder &passes);

// Gives a marker call a view of nothing where an argument that nobody needs is no address (dense.cpp).
void viewNothing(llvm::CallBase &call);
// Loops that are written as calls with a function for a step (steps.cpp).
void writeStepLoops(llvm::Module &module);
// `value` as a parameter of type `to`, after C's promotions of arguments without a prototype; null if it does not fit.
llvm::Value *converted(llvm::IRBuilder<> &b, llvm::Value *value, llvm::Type *to);
// Puts a call of `by` in the place of a call with a result of the same type.
void replaceCall(llvm::CallBase &call, llvm::Function &by, llvm::ArrayRef<llvm::Value *> args);
// Adds what is to be added in a derivative to the number of each `__enzyme_iter(n, k)`.
void addTerms(llvm::Function &clone);

// Loops of a derivative of which all iterations but one add nothing run that one (latest.cpp). Whether there were any.
bool runLatest(EnzOpaqueHost &host, llvm::Function &function);

// Leaves out stores to tape that holds the same already (again.cpp), in loops of one block if `copy`; whether anything
// changed.
bool storeOnce(EnzOpaqueHost &host, llvm::Function &function, bool copy);
// Hands sums that neighbouring iterations make at one place on from one to the next (relay.cpp); whether anything
// changed.
bool handOnSums(EnzOpaqueHost &host, llvm::Function &function);
// Takes sums in memory out of loops that they keep from being vectorised (scatter.cpp); whether anything changed.
bool splitScatters(EnzOpaqueHost &host, llvm::Function &function);
// Compares ranges on entry of inner loops where the vectoriser would in vain (versions.cpp); whether anything changed.
bool versionLoops(EnzOpaqueHost &host, llvm::Function &function);
// Says of a loop of one block that no iteration depends on another by memory (versions.cpp).
void stateIndependence(llvm::BasicBlock &loop);
// Leaves the lanes of vectors in innermost loops as they lie in memory, where that saves turning them around
// (mirror.cpp); whether anything changed.
bool mirrorVectors(llvm::LoopInfo &loops);
// Whether vectors in memory overlap in part, which LLVM's LoopLoadElimination overlooks (staggered.cpp).
bool hasStaggeredVectors(llvm::Function &function);
// Leaves out zeros that the next iteration of a loop overwrites (zeros.cpp); whether anything changed.
bool leaveZeros(llvm::LoopInfo &loops, llvm::ScalarEvolution &evolution, llvm::AAResults &aliases);
// Has tape that will be filled in one go fetched into the cache while the program computes (prefetch.cpp); whether
// anything changed.
bool prefetchTape(llvm::Function &function, llvm::LoopInfo &loops, llvm::ScalarEvolution &evolution,
                  llvm::DominatorTree &dominators);
// Keeps one of the generated functions that are equal (equal.cpp).
void keepOneOfEqual(llvm::Module &module);
// After the names of prepared clones.
constexpr const char *kPrepared = ".enzyme.prep";
// The named metadata of modules with derivatives.
constexpr const char *kDerivatives = "enzyme.derivatives";
// Whether the operation is one that LLVM's vectoriser takes on any machine (loops.cpp).
bool isVectorised(const llvm::Instruction &inst);

} // namespace enz

#endif
