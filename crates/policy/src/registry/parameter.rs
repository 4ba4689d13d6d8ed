//! Parameters of policies, and the values that a scheme gives them.

use super::values::{choose, on_off, positive};
use std::fmt;

/// A parameter: a name, the form of its values, and their meaning for the policy.
pub struct Parameter<T: 'static> {
    name: &'static str,
    about: &'static str,
    form: Form<T>,
    unset: Unset<T>,
}

/// Reads a value, or says what it must be.
pub type Read<T> = fn(&str) -> Result<T, String>;

enum Form<T: 'static> {
    Choice(&'static [(&'static str, T)]),
    Text { values: &'static str, read: Read<T> },
}

/// Value of a parameter that was not given.
enum Unset<T> {
    /// The value of this text.
    Text(&'static str),
    Value(T),
}

impl<T: Copy> Parameter<T> {
    /// One of several names; `default` is one of them.
    pub const fn choice(
        name: &'static str,
        choices: &'static [(&'static str, T)],
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, about, form: Form::Choice(choices), unset: Unset::Text(default) }
    }

    /// A text that `read` understands; `values` says to people what it looks like.
    pub const fn text(
        name: &'static str,
        (values, read): (&'static str, Read<T>),
        default: &'static str,
        about: &'static str,
    ) -> Self {
        let form = Form::Text { values, read };
        Self { name, about, form, unset: Unset::Text(default) }
    }

    /// A text that `read` understands; without one it is `unset`, which no text stands for.
    pub const fn or(
        name: &'static str,
        (values, read): (&'static str, Read<T>),
        unset: T,
        about: &'static str,
    ) -> Self {
        let form = Form::Text { values, read };
        Self { name, about, form, unset: Unset::Value(unset) }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// Says what the value must be.
    pub fn read(&self, text: &str) -> Result<T, String> {
        match &self.form {
            Form::Choice(choices) => choose(text, choices),
            Form::Text { read, .. } => read(text),
        }
    }
}

impl Parameter<bool> {
    /// A switch.
    pub const fn switch(name: &'static str, default: &'static str, about: &'static str) -> Self {
        Self::text(name, ("on|off", on_off), default, about)
    }
}

impl Parameter<u32> {
    /// A number of segments, at least one.
    pub const fn segments(name: &'static str, default: &'static str, about: &'static str) -> Self {
        Self::text(name, ("segments", positive), default, about)
    }
}

/// A [`Parameter`], whatever the type of its values.
pub trait AnyParameter: Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Description of its effect.
    fn about(&self) -> &'static str;
    /// Form of its values: `a|b|c`, or the form of a text.
    fn values(&self) -> String;
    /// Value without the parameter, if a text stands for it.
    fn default(&self) -> Option<&'static str>;
    /// Fails, and says why, unless `text` is one of its values.
    ///
    /// # Errors
    /// Says what the value must be.
    fn check(&self, text: &str) -> Result<(), String>;
}

impl<T: Copy + Sync> AnyParameter for Parameter<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn values(&self) -> String {
        match &self.form {
            Form::Choice(choices) => choices.iter().map(|c| c.0).collect::<Vec<_>>().join("|"),
            Form::Text { values, .. } => (*values).to_owned(),
        }
    }

    fn default(&self) -> Option<&'static str> {
        match self.unset {
            Unset::Text(text) => Some(text),
            Unset::Value(_) => None,
        }
    }

    fn check(&self, text: &str) -> Result<(), String> {
        self.read(text).map(|_| ())
    }
}

impl fmt::Debug for dyn AnyParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The values that were given; whatever is missing has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterValues(Vec<(&'static str, String)>);

impl ParameterValues {
    /// Gives a parameter a value; the last one given holds.
    ///
    /// # Errors
    /// If it is none of the parameter's values; says what they must be.
    pub fn set(&mut self, parameter: &dyn AnyParameter, text: &str) -> Result<(), String> {
        parameter.check(text)?;
        self.0.retain(|(name, _)| *name != parameter.name());
        self.0.push((parameter.name(), text.to_owned()));
        Ok(())
    }

    /// The text that a parameter was given, if it was.
    pub fn given(&self, parameter: &dyn AnyParameter) -> Option<&str> {
        let given = self.0.iter().find(|(name, _)| *name == parameter.name());
        given.map(|(_, text)| text.as_str())
    }

    /// Value of a parameter: what was given, or its default.
    ///
    /// # Panics
    /// If its default is none of its values, which `tests/policy/registry.rs` rules out for every
    /// policy.
    pub fn get<T: Copy>(&self, parameter: &Parameter<T>) -> T {
        let given = self.0.iter().find(|(name, _)| *name == parameter.name);
        let text = match (given, &parameter.unset) {
            (Some((_, text)), _) => text.as_str(),
            (None, Unset::Value(value)) => return *value,
            (None, Unset::Text(text)) => text,
        };
        parameter.read(text).expect("given values were checked; defaults are tested")
    }
}
