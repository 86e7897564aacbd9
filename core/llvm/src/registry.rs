//! What the module states of its functions and globals, and marker functions that ask for no derivative.
//!
//! See `registry.cpp` and `statements.cpp` of the bridge, which find them.

use enzyme_ir::FuncId;

use crate::ffi::{self, ValueRef};
use crate::import;
use crate::session::Session;

/// What a registration global is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegistrationKind {
    /// A function, its augmented primal and its reverse rule.
    Gradient,
    /// A function and its forward rule.
    Derivative,
    /// A function, its augmented primal and its forward rule with a tape.
    SplitDerivative,
    /// A function through which no derivative flows.
    InactiveFunction,
    /// A global through which no derivative flows.
    InactiveGlobal,
    /// A function and the name of the library function that it is to be taken for.
    Like,
    /// A function that allocates.
    Allocation,
    /// A product of matrices that a library computes, its augmented primal, its reverse and its forward rule, which are ours.
    Product,
}

/// A registration global, or a call of Fortran that stands for one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registration {
    /// What it is about.
    pub kind: RegistrationKind,
    /// Its name, or that of what is called.
    pub name: String,
    /// How many entries it has; none if they are not known when the program is compiled.
    pub entries: usize,
    /// Those of its first four entries that are functions.
    pub functions: [Option<FuncId>; 4],
    /// The function with the call that states it, where it is stated by a call.
    pub stated_in: Option<FuncId>,
    /// The name for [`RegistrationKind::Like`]; of what a call states, why that can't be had.
    pub text: String,
}

impl Session {
    /// Turns what the module states into attributes, and replaces what has its meaning at once. May be done again.
    pub fn mark_statements(&mut self) {
        // SAFETY: the host is alive; nothing was imported yet that is replaced here.
        unsafe {
            ffi::enz_registry_mark(self.host);
            ffi::enz_statements_mark(self.host);
        }
    }

    /// Replaces statements by what they mean to a program; before a link those stay that the link step needs.
    pub fn lower_statements(&mut self, before_link: bool) {
        // SAFETY: the host is alive; the functions that may be erased are not asked for afterwards.
        unsafe { ffi::enz_statements_lower(self.host, u8::from(before_link)) };
    }

    /// Writes functions for the products of matrices that libraries compute in the module; they are listed with what the module states.
    pub fn make_products(&mut self) {
        // SAFETY: the host is alive; functions are only added.
        unsafe { ffi::enz_make_products(self.host) };
    }

    /// The registration globals, in the order of the module.
    pub fn registrations(&mut self) -> Vec<Registration> {
        let host = self.host;
        let raw = import::list(|out, capacity| {
            // SAFETY: the host is alive and `out` has room for `capacity` entries.
            unsafe { ffi::enz_registrations(host, out, capacity) }
        });
        raw.iter().filter_map(|info| self.registration(info)).collect()
    }

    fn registration(&mut self, info: &ffi::RegistrationInfo) -> Option<Registration> {
        let kind = match info.kind {
            0 => RegistrationKind::Gradient,
            1 => RegistrationKind::Derivative,
            2 => RegistrationKind::SplitDerivative,
            3 => RegistrationKind::InactiveFunction,
            4 => RegistrationKind::InactiveGlobal,
            5 => RegistrationKind::Like,
            6 => RegistrationKind::Allocation,
            7 => RegistrationKind::Product,
            _ => return None,
        };
        let mut declare = |f: Option<ValueRef>| f.map(|v| import::declare_function(self, v));
        let functions = info.functions.map(&mut declare);
        let stated_in = declare(info.stated_in);
        let (name, text) = (info.name.to_text(), info.text.to_text());
        Some(Registration { kind, name, entries: info.count as usize, functions, stated_in, text })
    }
}
