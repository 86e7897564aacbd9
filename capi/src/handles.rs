//! Handles: what C holds of our objects.
//!
//! A handle is a number in the place of an address, never an address: it is looked up, so that one that was freed, or was made up,
//! or is of another kind, is an error and nothing worse. Numbers are not used again. The table is the only thing here that
//! the process shares; it holds no setting, and nobody sees what others have in it.
//!
//! An object is locked while a call uses it, so calls with different objects run side by side, and calls with the same one
//! after each other.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use enzyme_llvm::tools::{Jit, OwnedModule};

use enzyme_core::trees::TypeTree;

use crate::compiler::gradient::Rule;
use crate::compiler::logic::{Augmented, Logic, Types};
use crate::compiler::types::{
    EnzymeOpaqueAugmentedReturn, EnzymeOpaqueGradientUtils, EnzymeOpaqueLogic, EnzymeOpaqueTypeAnalysis, EnzymeTypeTree,
};
use crate::error::Failure;
use crate::types::{EnzymeCode, EnzymeContext, EnzymeError, EnzymeModule};

/// What a handle may stand for.
pub enum Object {
    Context(Arc<Mutex<Settings>>),
    Module(Arc<Mutex<OwnedModule>>),
    Code(Arc<Mutex<Jit>>),
    Error(Arc<Failure>),
    Logic(Arc<Mutex<Logic>>),
    Types(Arc<Types>),
    Augmented(Arc<Augmented>),
    Tree(Arc<Mutex<TypeTree>>),
    Gradient(Rule),
}

/// What is set for a context.
#[derive(Default)]
pub struct Settings {
    pub options: enzyme_llvm::Options,
}

static TABLE: LazyLock<Mutex<HashMap<usize, Object>>> = LazyLock::new(Mutex::default);
static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(FIRST);
/// The first handle. They are odd and small, where no object of a program lies.
const FIRST: usize = 0x101;

/// What a lock guards is whole even if its holder panicked: all changes are single steps.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A kind of handle.
pub trait Handle: Sized {
    /// What it stands for.
    type Held;
    /// What is said of one that is none.
    const WHAT: &'static str;
    fn held(object: &Object) -> Option<Self::Held>;
}

macro_rules! handle {
    ($($name:ident: $variant:ident($held:ty), $what:literal;)+) => {
        $(impl Handle for $name {
            type Held = $held;
            const WHAT: &'static str = $what;
            fn held(object: &Object) -> Option<$held> {
                match object {
                    Object::$variant(held) => Some(held.clone()),
                    _ => None,
                }
            }
        })+
    };
}

handle! {
    EnzymeContext: Context(Arc<Mutex<Settings>>), "context";
    EnzymeModule: Module(Arc<Mutex<OwnedModule>>), "module";
    EnzymeCode: Code(Arc<Mutex<Jit>>), "code";
    EnzymeError: Error(Arc<Failure>), "error";
    EnzymeOpaqueLogic: Logic(Arc<Mutex<Logic>>), "logic";
    EnzymeOpaqueTypeAnalysis: Types(Arc<Types>), "type analysis";
    EnzymeOpaqueAugmentedReturn: Augmented(Arc<Augmented>), "augmented function";
    EnzymeTypeTree: Tree(Arc<Mutex<TypeTree>>), "type tree";
    EnzymeOpaqueGradientUtils: Gradient(Rule), "derivative of a call";
}

/// Puts an object into the table.
pub fn keep<H: Handle>(object: Object) -> *mut H {
    let number = NEXT.fetch_add(2, std::sync::atomic::Ordering::Relaxed);
    lock(&TABLE).insert(number, object);
    std::ptr::without_provenance_mut(number)
}

/// What a handle stands for.
pub fn get<H: Handle>(handle: *const H) -> Result<H::Held, Failure> {
    let found = lock(&TABLE).get(&handle.addr()).and_then(H::held);
    found.ok_or_else(|| match handle.is_null() {
        true => Failure::misuse(format!("the {} is null", H::WHAT)),
        false => Failure::misuse(format!("no {} has this handle: it was freed, or is none", H::WHAT)),
    })
}

/// Forgets an object of this kind; whether there was one.
pub fn free<H: Handle>(handle: *const H) -> bool {
    let mut table = lock(&TABLE);
    let fits = table.get(&handle.addr()).is_some_and(|object| H::held(object).is_some());
    let removed = if fits { table.remove(&handle.addr()) } else { None };
    // What is large goes when others may use the table.
    drop(table);
    removed.is_some()
}
