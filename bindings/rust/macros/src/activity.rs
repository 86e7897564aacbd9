//! What stands in the parentheses of an attribute: a name, perhaps a width, activities.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitInt, Result, Token};

/// Which way derivatives flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Tangents.
    Forward,
    /// Adjoints.
    Reverse,
}

/// What a derivative does with an argument or a result. The names are those of `std::autodiff`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// No derivative flows through it.
    Const,
    /// (Reverse) passed by value; its derivative is returned. Of a result: its adjoint is an argument, and it is returned.
    Active,
    /// (Reverse, of a result) as `Active`, and the result itself is not returned.
    ActiveOnly,
    /// (Forward) its tangent stands behind it. Of a result: it is returned with its tangent.
    Dual,
    /// (Forward) as `Dual`, and the primal value afterwards is not wanted.
    DualOnly,
    /// (Forward, with a width) as `Dual`, with all tangents in one slice.
    Dualv,
    /// (Forward, with a width) as `Dualv`, and the primal value afterwards is not wanted.
    DualvOnly,
    /// (Reverse) a reference; a shadow that derivatives are added to stands behind it.
    Duplicated,
    /// (Reverse) as `Duplicated`, and what the primal leaves there is not wanted.
    DuplicatedOnly,
}

impl Activity {
    const NAMES: [(&'static str, Activity); 9] = [
        ("Const", Activity::Const),
        ("Active", Activity::Active),
        ("ActiveOnly", Activity::ActiveOnly),
        ("Dual", Activity::Dual),
        ("DualOnly", Activity::DualOnly),
        ("Dualv", Activity::Dualv),
        ("DualvOnly", Activity::DualvOnly),
        ("Duplicated", Activity::Duplicated),
        ("DuplicatedOnly", Activity::DuplicatedOnly),
    ];

    fn named(word: &Ident) -> Result<Activity> {
        let found = Self::NAMES.iter().find(|(name, _)| word == name);
        found.map(|(_, activity)| *activity).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            Error::new(word.span(), format!("`{word}` is no activity; there are {}", names.join(", ")))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, activity)| *activity == self).map_or("", |(name, _)| name)
    }

    /// Whether the primal value afterwards is not wanted.
    pub fn is_only(self) -> bool {
        matches!(self, Activity::ActiveOnly | Activity::DualOnly | Activity::DualvOnly | Activity::DuplicatedOnly)
    }

    /// Whether it says something in this mode.
    pub fn fits(self, mode: Mode) -> bool {
        match self {
            Activity::Const => true,
            Activity::Active | Activity::ActiveOnly | Activity::Duplicated | Activity::DuplicatedOnly => {
                mode == Mode::Reverse
            }
            Activity::Dual | Activity::DualOnly | Activity::Dualv | Activity::DualvOnly => mode == Mode::Forward,
        }
    }
}

/// An activity and where it was written.
#[derive(Clone, Copy)]
pub struct Given {
    /// The activity.
    pub activity: Activity,
    /// Where it was written.
    pub span: Span,
}

/// All of an attribute.
pub struct Attribute {
    /// The name of the derivative.
    pub name: Ident,
    /// Derivatives at once.
    pub width: u32,
    /// Of the arguments, then of the result.
    pub activities: Vec<Given>,
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.is_empty() {
            return Err(input.error("name the derivative, then give the activities: `(derivative, Duplicated, Active)`"));
        }
        let name: Ident = input.parse()?;
        let (mut width, mut activities) = (1, Vec::new());
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            if input.peek(LitInt) && activities.is_empty() {
                let literal: LitInt = input.parse()?;
                width = literal.base10_parse()?;
                if !(1..=1024).contains(&width) {
                    return Err(Error::new(literal.span(), "the width is a number of derivatives, 1 to 1024"));
                }
                continue;
            }
            let word: Ident = input.parse()?;
            activities.push(Given { activity: Activity::named(&word)?, span: word.span() });
        }
        Ok(Attribute { name, width, activities })
    }
}
