//! The commands that documents and examples show, for tests that have the programs read them.

use crate::man::ManAppendix;
use clap::error::ErrorKind;
use clap::{Command, Parser};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A command in a code block of a Markdown document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownCommand {
    /// Line of the document, from 1.
    pub line: usize,
    /// Its words, the program's name first.
    pub words: Vec<String>,
}

/// Commands that a program read, and those that it refused.
#[derive(Debug, Default)]
pub struct ReadCommands {
    /// Commands that it was given.
    pub count: usize,
    /// Commands that it refused: each with its source and the reason.
    pub refused: Vec<String>,
}

impl ReadCommands {
    /// Reads the commands of the repository's documents. With `subcommand`, `P` is the program that
    /// `headstart SUBCOMMAND` runs, and reads only those.
    ///
    /// # Errors
    /// If a document cannot be read.
    pub fn of_documents<P: Parser>(root: &Path, subcommand: Option<&str>) -> io::Result<Self> {
        let mut read = Self::default();
        for path in markdown_files(root)? {
            for shown in commands_of("headstart", &fs::read_to_string(&path)?) {
                read.add::<P>(&shown, subcommand, &format!("{}:{}", path.display(), shown.line));
            }
        }
        Ok(read)
    }

    /// The examples of all appendices of `P`.
    pub fn of_examples<P: Parser>(
        appendix_of: &dyn Fn(&str) -> ManAppendix,
        subcommand: Option<&str>,
    ) -> Self {
        let mut read = Self::default();
        read.add_examples::<P>(&P::command(), "", subcommand, appendix_of);
        read
    }

    fn add_examples<P: Parser>(
        &mut self,
        command: &Command,
        path: &str,
        subcommand: Option<&str>,
        appendix_of: &dyn Fn(&str) -> ManAppendix,
    ) {
        if let ManAppendix::OnOwnPage(appendix) = appendix_of(path) {
            if appendix.examples.is_empty() {
                self.refused.push(format!("{path}: no examples"));
            }
            for (example, _) in appendix.examples {
                let commands = commands_of("headstart", &format!("```\n{example}\n"));
                if commands.len() != 1 && !example.contains('$') {
                    self.refused.push(format!("{example}: no command"));
                }
                commands.iter().for_each(|shown| self.add::<P>(shown, subcommand, "example"));
            }
        }
        for sub in command.get_subcommands() {
            let path = format!("{path} {}", sub.get_name());
            self.add_examples::<P>(sub, path.trim_start(), subcommand, appendix_of);
        }
    }

    fn add<P: Parser>(&mut self, shown: &ShownCommand, subcommand: Option<&str>, place: &str) {
        let own = match subcommand {
            None => &shown.words[..],
            Some(sub) if shown.words.get(1).is_some_and(|word| word == sub) => &shown.words[1..],
            Some(_) => return,
        };
        self.count += 1;
        let Err(error) = P::try_parse_from(own) else { return };
        let is_shown = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        // A recorded rate is read with the command line; that of an example is the user's.
        let text = error.to_string();
        let is_absent = text.contains("'trace=") && text.contains(": no such file");
        if !is_shown && !is_absent {
            self.refused.push(format!("{place}: {}: {error}", shown.words.join(" ")));
        }
    }
}

/// The Markdown files of the repository at `root`.
fn markdown_files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    folders.extend(["docs", "pages", "plans", "scripts"].map(|folder| root.join(folder)));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() && folder != root {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// Every command in the code blocks of `markdown` that runs `program`, perhaps behind a prompt and
/// `sudo`. Shell syntax (pipes, redirections, comments) is cut off. Commands with variables are
/// left out.
pub fn commands_of(program: &str, markdown: &str) -> Vec<ShownCommand> {
    let mut found = Vec::new();
    let (mut is_code, mut started) = (false, None::<(usize, String)>);
    for (number, line) in (1..).zip(markdown.lines()) {
        let line = line.trim();
        if line.starts_with("```") {
            (is_code, started) = (!is_code, None);
            continue;
        }
        if !is_code {
            continue;
        }
        let (number, text) = match started.take() {
            Some((first, text)) => (first, text + line),
            None => (number, line.to_owned()),
        };
        match text.strip_suffix('\\') {
            Some(part) => started = Some((number, part.to_owned())),
            None => found
                .extend(command(program, &text).map(|words| ShownCommand { line: number, words })),
        }
    }
    found
}

/// The words of a line that runs `program`.
fn command(program: &str, line: &str) -> Option<Vec<String>> {
    let line = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# ")).unwrap_or(line);
    let line = line.strip_prefix("sudo ").unwrap_or(line);
    // `sudo -u USER` runs the command as another user.
    let line = match line.strip_prefix("-u ") {
        Some(with_user) => with_user.split_once(' ').map_or("", |(_, command)| command),
        None => line,
    };
    let words = shell_words(line)?;
    // `headstart agent: …` is what the program says.
    let is_output = words.get(1).is_some_and(|word| word.ends_with(':'));
    (words.first().is_some_and(|word| word == program) && !is_output).then_some(words)
}

/// A line's words up to what a shell would not hand to the program; `None` with a variable among
/// them.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '$') => return None,
            (None, '|' | '>' | ';' | '&' | '(') => break,
            (None, '#') if word.is_none() => break,
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text and other programs are no commands; prompts, comments, pipes and broken lines are the
    /// shell's.
    #[test]
    fn commands_are_found_in_code_alone() {
        let markdown = "\
`prog text` and\n```\n$ prog a --b=1 # what it does\nsudo prog c 'd e' | less\nprog says: no\nother f\n\
prog --g \\\n  h >file\nprog $VARIABLE\nsudo -u user prog i\n```\nprog text\n";
        let found = commands_of("prog", markdown);
        let lines: Vec<(usize, String)> =
            found.into_iter().map(|shown| (shown.line, shown.words.join("|"))).collect();
        let expected = [(3, "prog|a|--b=1"), (4, "prog|c|d e"), (7, "prog|--g|h"), (10, "prog|i")]
            .map(|(n, s)| (n, s.to_owned()));
        assert_eq!(lines, expected);
    }
}
