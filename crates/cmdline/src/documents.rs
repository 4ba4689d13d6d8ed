//! The commands that documents show, for tests that have the programs read them.

/// A command in a code block of a Markdown document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownCommand {
    /// Line of the document, from 1.
    pub line: usize,
    /// Its words, the program's name first.
    pub words: Vec<String>,
}

/// Every command in the code blocks of `markdown` that runs `program`, perhaps behind a prompt and `sudo`. What a shell
/// makes of it (pipes, redirections, comments) is cut off. Commands with variables are left out.
pub fn commands_of(program: &str, markdown: &str) -> Vec<ShownCommand> {
    let mut found = Vec::new();
    let (mut is_code, mut begun) = (false, None::<(usize, String)>);
    for (number, line) in (1..).zip(markdown.lines()) {
        let line = line.trim();
        if line.starts_with("```") {
            (is_code, begun) = (!is_code, None);
            continue;
        }
        if !is_code {
            continue;
        }
        let (number, text) = match begun.take() {
            Some((first, text)) => (first, text + line),
            None => (number, line.to_owned()),
        };
        match text.strip_suffix('\\') {
            Some(part) => begun = Some((number, part.to_owned())),
            None => found
                .extend(command(program, &text).map(|words| ShownCommand { line: number, words })),
        }
    }
    found
}

/// The words of a line that runs `program`.
fn command(program: &str, line: &str) -> Option<Vec<String>> {
    let line = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# ")).unwrap_or(line);
    let words = words(line.strip_prefix("sudo ").unwrap_or(line))?;
    // `headstart agent: …` is what the program says.
    let is_said = words.get(1).is_some_and(|word| word.ends_with(':'));
    (words.first().is_some_and(|word| word == program) && !is_said).then_some(words)
}

/// A line's words up to what a shell would not hand to the program; `None` with a variable among them.
fn words(line: &str) -> Option<Vec<String>> {
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

    /// Text and other programs are no commands; prompts, comments, pipes and broken lines are the shell's.
    #[test]
    fn commands_are_found_in_code_alone() {
        let markdown = "\
`prog text` and\n```\n$ prog a --b=1 # what it does\nsudo prog c 'd e' | less\nprog says: no\nother f\n\
prog --g \\\n  h >file\nprog $VARIABLE\n```\nprog text\n";
        let found = commands_of("prog", markdown);
        let lines: Vec<(usize, String)> =
            found.into_iter().map(|shown| (shown.line, shown.words.join("|"))).collect();
        let expected = [(3, "prog|a|--b=1"), (4, "prog|c|d e"), (7, "prog|--g|h")]
            .map(|(n, s)| (n, s.to_owned()));
        assert_eq!(lines, expected);
    }
}
