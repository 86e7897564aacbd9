//! Marker calls: where a user asks for a derivative.
//!
//! A marker is recognised by a part of the callee's name. Its arguments are looked through as far as compilers at -O0 hide
//! them: casts, phis of the same value, and the stack slot that is stored to once.

use enzyme_ir::{FuncId, LocId, ParamAttrs, TypeId};

use crate::ffi::{self, Str, ValueRef};
use crate::import;
use crate::problem::Problem;
use crate::session::Session;
use crate::text::collect;

/// What an argument of a marker is.
#[derive(Clone, PartialEq, Debug)]
pub enum MarkerValue {
    /// The address of a global variable.
    GlobalRef(String),
    /// A value loaded from a global variable: how annotations arrive.
    LoadOfGlobal(String),
    /// A function, declared in the session's mirror.
    Function(FuncId),
    /// An integer constant of at most 64 bits, zero-extended.
    ConstInt(u64),
    /// Anything known only at run time.
    Other,
}

/// One argument of a marker.
#[derive(Clone, PartialEq, Debug)]
pub struct MarkerArg {
    /// Its type.
    pub ty: TypeId,
    /// What it is.
    pub value: MarkerValue,
    /// Attributes at the call: `sret` and `byval` decide how it is passed.
    pub attrs: ParamAttrs,
    /// It is the address of integers, as far as the object is seen that it is of.
    pub integers: bool,
    /// It may be the address of what describes a Fortran array.
    pub descriptor: bool,
}

/// A call of a marker function.
#[derive(Clone, PartialEq, Debug)]
pub struct MarkerCall {
    /// Index of the call in its session.
    pub handle: usize,
    /// Name of the marker.
    pub callee: String,
    /// The function in which the call stands.
    pub caller: FuncId,
    /// Symbol of that function.
    pub caller_name: String,
    /// Place of the call in the source.
    pub loc: Option<LocId>,
    /// Type of the result.
    pub ret: TypeId,
    /// Arguments in order; a first one with `attrs.sret` is where the result goes.
    pub args: Vec<MarkerArg>,
}

impl MarkerCall {
    /// The type of the structure that the call returns through its first argument.
    pub fn sret(&self) -> Option<TypeId> {
        self.args.first().and_then(|a| a.attrs.sret)
    }
}

/// A call found earlier; taken when it is replaced.
pub(crate) struct Found {
    pub(crate) call: Option<ValueRef>,
}

impl Session {
    /// All calls and invokes of functions whose name contains one of `parts`, in the order of the module. Bodies of
    /// prepared clones and exported functions are included only if they call markers themselves.
    pub fn find_marker_calls(&mut self, parts: &[&str]) -> Vec<MarkerCall> {
        let parts: Vec<Str> = parts.iter().map(|p| Str::of(p)).collect();
        let mut raw: Vec<ffi::MarkerCallInfo> = Vec::new();
        for _ in 0..2 {
            // SAFETY: the host is alive; both arrays are as long as said.
            let n =
                unsafe { ffi::enz_marker_calls(self.host, parts.as_ptr(), parts.len(), raw.as_mut_ptr(), raw.len()) };
            if n <= raw.len() {
                raw.truncate(n);
                break;
            }
            raw.resize_with(n, Default::default);
        }
        raw.iter().filter_map(|info| self.describe(info)).collect()
    }

    /// Makes calls of functions whose name contains one of `parts`, and whose first argument is one of several functions, a call for each of
    /// these, chosen by the address.
    pub fn split_marker_calls(&mut self, parts: &[&str]) {
        let parts: Vec<Str> = parts.iter().map(|p| Str::of(p)).collect();
        // SAFETY: the host is alive, the array as long as said, and nothing was imported yet that is changed here.
        unsafe { ffi::enz_split_markers(self.host, parts.as_ptr(), parts.len()) };
    }

    /// Where the function of a call comes from, if that is not known; nothing if it is no function at all.
    pub fn why_no_function(&self, call: &MarkerCall) -> String {
        let Some(value) = self.found.get(call.handle).and_then(|f| f.call) else { return String::new() };
        // SAFETY: the call is in the module and was not replaced.
        collect(|sink, context| unsafe { ffi::enz_why_no_function(value, sink, context) }).1
    }

    /// Pairs of `calls`: what the function of the first calls or names contains the second, or the second gives the function.
    pub fn marker_needs(&self, calls: &[MarkerCall]) -> Vec<(usize, usize)> {
        let values: Vec<(usize, ValueRef)> = calls
            .iter()
            .enumerate()
            .filter_map(|(n, c)| Some((n, self.found.get(c.handle).and_then(|f| f.call)?)))
            .collect();
        let raw: Vec<ValueRef> = values.iter().map(|v| v.1).collect();
        // SAFETY: all calls are in the module, and `out` has room for `capacity` entries.
        let needs =
            import::list(|out, capacity| unsafe { ffi::enz_marker_needs(raw.as_ptr(), raw.len(), out, capacity) });
        let index = |n: u32| values.get(n as usize).map(|v| v.0);
        needs.iter().filter_map(|n| Some((index(n.call)?, index(n.inner)?))).collect()
    }

    fn describe(&mut self, info: &ffi::MarkerCallInfo) -> Option<MarkerCall> {
        let (call, callee, caller) = (info.call?, info.callee?, info.caller?);
        let args = (0..info.num_args).filter_map(|i| self.describe_arg(call, i)).collect();
        let ret = import::import_type(self, info.ret?);
        let loc = info.loc.map(|l| import::import_loc(self, l));
        let caller = import::declare_function(self, caller);
        let handle = self.found.len();
        self.found.push(Found { call: Some(call) });
        // SAFETY: the callee is a function of the module.
        let name = unsafe { ffi::enz_value_name(callee) }.to_text();
        let caller_name = self.ir.funcs[caller].name.clone();
        Some(MarkerCall { handle, callee: name, caller, caller_name, loc, ret, args })
    }

    /// Whether `call` waits to be replaced. One in code that is never reached goes when its function is optimised.
    pub fn is_there(&self, call: &MarkerCall) -> bool {
        self.found.get(call.handle).is_some_and(|f| f.call.is_some())
    }

    /// `call` with its arguments read again: what another marker gave may be a function by now.
    pub fn read_again(&mut self, call: &MarkerCall) -> MarkerCall {
        let mut out = call.clone();
        if let Some(value) = self.found.get(call.handle).and_then(|f| f.call) {
            for (index, arg) in (0..).zip(&mut out.args) {
                *arg = self.describe_arg(value, index).unwrap_or_else(|| arg.clone());
            }
        }
        out
    }

    fn describe_arg(&mut self, call: ValueRef, index: u32) -> Option<MarkerArg> {
        let mut info = ffi::MarkerArgInfo::default();
        // SAFETY: the call has more than `index` arguments; `info` is valid to write to.
        unsafe { ffi::enz_marker_arg(call, index, &raw mut info) };
        let ty = import::import_type(self, info.ty?);
        // SAFETY: targets are globals or functions of the module.
        let name = |v: ValueRef| unsafe { ffi::enz_value_name(v) }.to_text();
        let value = match (info.kind, info.target) {
            (1, Some(global)) => MarkerValue::GlobalRef(name(global)),
            (2, Some(global)) => MarkerValue::LoadOfGlobal(name(global)),
            (3, Some(function)) => MarkerValue::Function(import::declare_function(self, function)),
            (4, _) => MarkerValue::ConstInt(info.number),
            _ => MarkerValue::Other,
        };
        let attrs = import::param_attrs(self, &info.attrs);
        // SAFETY: the call has more than `index` arguments.
        let (integers, descriptor) =
            unsafe { (ffi::enz_is_integers(call, index) != 0, ffi::enz_is_descriptor(call, index) != 0) };
        Some(MarkerArg { ty, value, attrs, integers, descriptor })
    }

    /// Whether parameter `index` of `function` is used as the address of what describes a Fortran array.
    pub fn wants_descriptor(&self, function: FuncId, index: u32) -> bool {
        // SAFETY: the function belongs to the module.
        self.llvm_function(function).is_some_and(|f| unsafe { ffi::enz_wants_descriptor(f, index) } != 0)
    }

    /// Makes what is read and written through the dense view that `call` gives calls of the functions behind it; the reason if
    /// that can't be.
    pub fn lower_dense(&mut self, call: &MarkerCall) -> Result<(), String> {
        let Some(value) = self.found.get_mut(call.handle).and_then(|f| f.call.take()) else { return Ok(()) };
        // SAFETY: the call is in the module and was not replaced.
        match collect(|sink, context| unsafe { ffi::enz_lower_dense(self.host, value, sink, context) }) {
            (0, why) => Err(why),
            _ => Ok(()),
        }
    }

    /// Makes the call of a marker the address of a clone of `function` whose operations are done in the format of `to` bits, or of so
    /// many bits of exponent and digits, instead of that of `from` bits, and whose memory holds such numbers if `memory` says so.
    /// Where that can't be: what in the function is in the way, or nothing if there are no such formats.
    pub fn truncate(
        &mut self,
        call: &MarkerCall,
        function: FuncId,
        from: u32,
        to: (u32, u32, u32),
        memory: bool,
    ) -> Result<(), String> {
        let slot = self.found.get_mut(call.handle).and_then(|f| f.call.take());
        let (Some(value), Some(target)) = (slot, self.llvm_function(function)) else { return Err(String::new()) };
        // SAFETY: the call is in the module and was not replaced; the function belongs to the module.
        if unsafe { ffi::enz_truncate(self.host, value, target, from, to.0, to.1, to.2) } != 0 {
            return Ok(());
        }
        // SAFETY: as above: nothing was replaced.
        let (done, why) = collect(|sink, context| unsafe {
            ffi::enz_widen(self.host, value, target, from, to.0, to.1, to.2, memory.into(), sink, context)
        });
        if done != 0 {
            return Ok(());
        }
        if let Some(found) = self.found.get_mut(call.handle) {
            found.call = Some(value);
        }
        Err(why)
    }

    /// Rounds all operations of the module from `from` bits to `to` bits, or to so many of exponent and digits; false if there
    /// are no such formats.
    pub fn truncate_all(&mut self, from: u32, to: (u32, u32, u32)) -> bool {
        // SAFETY: the host is alive; nothing was imported yet that is changed here.
        unsafe { ffi::enz_truncate_all(self.host, from, to.0, to.1, to.2) != 0 }
    }

    /// Makes the call of a marker a call of the exported function `wrapper`, whose parameters and result must have
    /// exactly the types of the call's. What only the marker used (loads of annotations) goes.
    pub fn replace_marker(&mut self, call: &MarkerCall, wrapper: FuncId) -> Result<(), Problem> {
        self.redirect_marker(call, wrapper)?;
        if let Some(target) = self.exported.function(wrapper) {
            self.wrapper_used(target);
        }
        Ok(())
    }

    /// The same for a function that is no wrapper: it calls markers of its own, and stays a function.
    pub fn redirect_marker(&mut self, call: &MarkerCall, wrapper: FuncId) -> Result<(), Problem> {
        let problem =
            |message: &str| Problem { message: message.to_owned(), function: call.caller_name.clone(), loc: call.loc };
        let target = self.exported.function(wrapper).ok_or_else(|| problem("the wrapper was not exported"))?;
        let slot = self.found.get_mut(call.handle).and_then(|f| f.call.take());
        let Some(value) = slot else { return Err(problem("the marker call was replaced before")) };
        // SAFETY: the call is in the module and was not replaced; the wrapper is a function of the module.
        let (done, message) =
            collect(|sink, context| unsafe { ffi::enz_marker_replace(self.host, value, target, sink, context) });
        if done.is_none() {
            if let Some(found) = self.found.get_mut(call.handle) {
                found.call = Some(value);
            }
            return Err(problem(&message));
        }
        Ok(())
    }
}
