//! Functions of the C++ run-time library that make, throw and catch exceptions. The memory of an exception object is not
//! followed: the engine refuses to differentiate through it.

use super::*;

const fn row(title: &'static str, effects: Effects, names: &'static [Name]) -> KnownFn {
    KnownFn { title, names, what: Known::Inactive, effects, returns: None, floats: false }
}

pub(super) static ROWS: &[KnownFn] = &[
    row(
        "exceptions: making and catching",
        PRINTS,
        names!["__cxa_allocate_exception" "__cxa_begin_catch" "__cxa_get_exception_ptr" "__cxa_current_exception_type"
               "__cxa_init_primary_exception" "_ZSt18uncaught_exceptionv" "_ZSt19uncaught_exceptionsv" "llvm.eh.typeid.for.p0" "llvm.eh.typeid.for"],
    ),
    row(
        // The object goes, which may still be read in the primal before: no read of memory may be moved past this.
        "exceptions: end of the object",
        Effects { writes: Reach::AllArgs, ..PRINTS },
        names!["__cxa_end_catch" "__cxa_free_exception" "_Unwind_DeleteException"],
    ),
    row(
        "exceptions: throwing",
        ENDS,
        names!["__cxa_throw" "__cxa_rethrow" "_Unwind_Resume" "_Unwind_Resume_or_Rethrow" "_Unwind_RaiseException"
               "__cxa_throw_bad_array_new_length" "__cxa_throw_bad_array_length" "__cxa_bad_cast" "__cxa_bad_typeid"
               "__cxa_call_unexpected" "__cxa_call_terminate"],
    ),
    row(
        "exceptions of the C++ library: construction and destruction",
        writes_hidden(&[0]),
        names![starting "_ZNSt9exceptionC" "_ZNSt9exceptionD" "_ZNSt9bad_allocC" "_ZNSt9bad_allocD" "_ZNSt8bad_castC"
               "_ZNSt8bad_castD" "_ZNSt13bad_exceptionC" "_ZNSt13bad_exceptionD" "_ZNSt11logic_errorC"
               "_ZNSt11logic_errorD" "_ZNSt12domain_errorC" "_ZNSt12domain_errorD" "_ZNSt16invalid_argumentC"
               "_ZNSt16invalid_argumentD" "_ZNSt12length_errorC" "_ZNSt12length_errorD" "_ZNSt12out_of_rangeC"
               "_ZNSt12out_of_rangeD" "_ZNSt13runtime_errorC" "_ZNSt13runtime_errorD" "_ZNSt11range_errorC"
               "_ZNSt11range_errorD" "_ZNSt14overflow_errorC" "_ZNSt14overflow_errorD" "_ZNSt15underflow_errorC"
               "_ZNSt15underflow_errorD"],
    ),
    row(
        "exceptions of the C++ library: messages",
        PRINTS,
        names!["_ZNKSt9exception4whatEv" "_ZNKSt9bad_alloc4whatEv" "_ZNKSt11logic_error4whatEv"
               "_ZNKSt13runtime_error4whatEv"],
    ),
];
