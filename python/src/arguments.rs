//! Keyword arguments of Python as the words of the command line. So names, defaults and refusals
//! are those of the command.

use crate::error::refused;
use clap::{Arg, ArgAction, Command};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyMapping};
use std::ffi::OsString;

/// The words for `given`, by the options of `command`. An argument that is `None` is not given.
///
/// An iterable becomes several values, a mapping values like `KEY=VALUE`, and `True` an option
/// without one.
pub(crate) fn words(command: &Command, given: &Bound<'_, PyDict>) -> PyResult<Vec<OsString>> {
    let (mut options, mut positional) = (Vec::new(), vec![OsString::from("--")]);
    for (name, value) in given {
        let name: String = name.extract()?;
        let mut arguments = command.get_arguments();
        let argument = arguments.find(|one| python_name(one) == name);
        let argument = argument.ok_or_else(|| refused(format!("no option {name:?}")))?;
        if value.is_none() {
            continue;
        }
        match argument.get_long() {
            None => positional.extend(texts(&value)?),
            Some(long) => options.extend(option(argument, long, &value)?),
        }
    }
    options.extend(positional);
    Ok(options)
}

/// The name of an argument as Python spells it: `tls_flight` of `--tls-flight`.
fn python_name(argument: &Arg) -> String {
    argument.get_long().unwrap_or(argument.get_id().as_str()).replace('-', "_")
}

/// Names of the options of a command, for the package's tests of its signatures.
pub(crate) fn names(command: &Command) -> Vec<String> {
    command.get_arguments().map(python_name).collect()
}

/// The words of one option.
fn option(argument: &Arg, long: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<OsString>> {
    if let Ok(flag) = value.cast::<PyBool>() {
        let is_set = flag.is_true();
        return Ok(is_set.then(|| format!("--{long}").into()).into_iter().collect());
    }
    let texts = texts(value)?;
    let is_repeated = matches!(argument.get_action(), ArgAction::Append)
        && argument.get_value_delimiter().is_none();
    let values = match is_repeated {
        true => texts,
        false => vec![texts.join(std::ffi::OsStr::new(","))],
    };
    let word = |value: OsString| {
        let mut word = OsString::from(format!("--{long}="));
        word.push(value);
        word
    };
    Ok(values.into_iter().map(word).collect())
}

/// Each value as the command line has it.
fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<OsString>> {
    // A text has letters to iterate over, too.
    if value.extract::<std::path::PathBuf>().is_ok() {
        return Ok(vec![text(value)?]);
    }
    if let Ok(pairs) = value.cast::<PyMapping>() {
        let pairs = pairs.items()?.into_iter().map(|item| {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let (mut pair, value) = (text(&key)?, text(&value)?);
            pair.push("=");
            pair.push(value);
            Ok(pair)
        });
        return pairs.collect();
    }
    match value.try_iter() {
        Ok(values) => values.map(|one| text(&one?)).collect(),
        Err(_) => Ok(vec![text(value)?]),
    }
}

/// One value: text, a path, or a number.
fn text(value: &Bound<'_, PyAny>) -> PyResult<OsString> {
    if let Ok(path) = value.extract::<std::path::PathBuf>() {
        return Ok(path.into_os_string());
    }
    if value.cast::<PyBytes>().is_ok() {
        return Err(refused(format!("{value} is bytes: use a text")));
    }
    Ok(value.str()?.to_string().into())
}
