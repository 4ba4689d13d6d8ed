//! Man pages in roff: names, options and defaults from clap, the rest from appendices.
//!
//! A subcommand that has an appendix has a page of its own, `headstart-race(1)`. One without stands
//! on the page of its parent. One that another program carries out is named there, and that program
//! writes its page.

use crate::appendix::{Appendix, Entry};
use clap::{Arg, Command, Id};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The section of commands that every user may run.
const SECTION: &str = "1";

/// The man page of a subcommand.
#[derive(Debug)]
pub enum ManAppendix {
    /// On a page of its own, with this appendix.
    OnOwnPage(Appendix),
    /// It is described on the page of its parent.
    OnParentsPage,
    /// Another program writes its page.
    ByItsProgram,
}

/// A page as it is stored.
#[derive(Debug)]
pub struct ManPage {
    /// Name of the file: `headstart-race.1`.
    pub file: String,
    /// Its text.
    pub roff: String,
}

/// Arguments of `PROGRAM man`: the folder of the pages, and the date of their last change.
#[derive(Clone, Debug, clap::Args)]
pub struct ManArgs {
    /// Folder for the pages, which is made if there is none
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    folder: PathBuf,
    /// Day of the last change, which the pages show at their foot
    #[arg(long, value_name = "YYYY-MM-DD", default_value = "")]
    date: String,
}

/// Common parts of all pages of a program.
pub struct Manual<'a> {
    /// Day of the last change, `YYYY-MM-DD`, or nothing.
    pub date: &'a str,
    /// The page of the subcommand of this name: `race`, `check ns2`, or nothing for the program.
    pub appendix_of: &'a dyn Fn(&str) -> ManAppendix,
}

impl ManArgs {
    /// Writes the pages of a program.
    ///
    /// # Errors
    /// If the folder cannot be made, or a page cannot be written: which one, and why.
    pub fn write(
        &self,
        program: Command,
        appendix_of: &dyn Fn(&str) -> ManAppendix,
    ) -> Result<(), String> {
        let at = |path: &Path| {
            let shown = path.display().to_string();
            move |error: io::Error| format!("cannot write {shown}: {error}")
        };
        let manual = Manual { date: &self.date, appendix_of };
        fs::create_dir_all(&self.folder).map_err(at(&self.folder))?;
        for page in manual.pages(program).map_err(at(&self.folder))? {
            let path = self.folder.join(&page.file);
            fs::write(&path, page.roff).map_err(at(&path))?;
        }
        Ok(())
    }
}

impl Manual<'_> {
    /// The pages of a program and of its subcommands.
    ///
    /// # Errors
    /// An error of writing to memory, which does not occur.
    pub fn pages(&self, program: Command) -> io::Result<Vec<ManPage>> {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        let mut pages = Vec::new();
        self.add(&program, "", &mut pages)?;
        Ok(pages)
    }

    /// Adds the page of `command`, whose name within the program is `path`, and those below.
    fn add(&self, command: &Command, path: &str, pages: &mut Vec<ManPage>) -> io::Result<()> {
        let ManAppendix::OnOwnPage(appendix) = (self.appendix_of)(path) else { return Ok(()) };
        pages.push(self.render_page(command, path, &appendix)?);
        for sub in visible_subcommands(command) {
            self.add(sub, &subcommand_path(path, sub), pages)?;
        }
        Ok(())
    }

    fn render_page(
        &self,
        command: &Command,
        path: &str,
        appendix: &Appendix,
    ) -> io::Result<ManPage> {
        let title = command_title(command);
        let man = Man::new(in_short(command))
            .title(title.to_uppercase())
            .section(SECTION)
            .date(self.date)
            .source(format!("headstart {}", env!("CARGO_PKG_VERSION")))
            .manual("headstart");
        let mut text = Text::default();
        text.add(|w| man.render_title(w))?;
        // Names of options are not torn apart, and lines not stretched.
        text.push_roff(Roff::new().control("nh", []).control("ad", ["l"]));
        text.add(|w| man.render_name_section(w))?;
        text.add(|w| man.render_synopsis_section(w))?;
        text.add(|w| man.render_description_section(w))?;
        if command.get_arguments().any(|argument| !argument.is_hide_set()) {
            text.add(|w| man.render_options_section(w))?;
        }
        self.commands(command, path, &mut text)?;
        text.push_roff(&appendix_sections(appendix));
        text.push_roff(&see_also(command, path, appendix));
        Ok(ManPage { file: format!("{title}.{SECTION}"), roff: text.finish() })
    }

    /// Subcommands: those with a page of their own by name, the others whole.
    fn commands(&self, command: &Command, path: &str, text: &mut Text) -> io::Result<()> {
        if visible_subcommands(command).next().is_none() {
            return Ok(());
        }
        text.push_roff(Roff::new().control("SH", ["COMMANDS"]));
        for sub in visible_subcommands(command) {
            if !matches!(
                (self.appendix_of)(&subcommand_path(path, sub)),
                ManAppendix::OnParentsPage
            ) {
                let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
                let heading = vec![bold(command_title(sub)), roman(format!("({SECTION})"))];
                text.push_roff(Roff::new().control("TP", []).text(heading).text([roman(about)]));
                continue;
            }
            text.push_roff(Roff::new().control("SS", [sub.get_name()]));
            let man = Man::new(with_short_usage(&without_options_of(command, sub)));
            text.add_without_heading(|w| man.render_synopsis_section(w))?;
            text.push_roff(Roff::new().control("PP", []));
            text.add_without_heading(|w| man.render_description_section(w))?;
            text.add_without_heading(|w| man.render_options_section(w))?;
            let above = options_of_both(command, sub);
            if !above.is_empty() {
                let line = format!("As above: {}", above.join(", "));
                text.push_roff(Roff::new().control("PP", []).text([roman(line)]));
            }
        }
        Ok(())
    }
}

/// Related pages and documents.
fn see_also(command: &Command, path: &str, appendix: &Appendix) -> Roff {
    let title = command_title(command);
    let own = format!("-{}", path.replace(' ', "-"));
    let above = title.strip_suffix(&own);
    let mut pages: Vec<Inline> = Vec::new();
    for page in above.into_iter().chain(appendix.see_also.iter().copied()) {
        if !pages.is_empty() {
            pages.push(roman(", "));
        }
        pages.extend([bold(page), roman(format!("({SECTION})"))]);
    }
    let mut roff = Roff::new();
    if pages.is_empty() && appendix.more.is_empty() {
        return roff;
    }
    roff.control("SH", ["SEE ALSO"]);
    if !pages.is_empty() {
        roff.text(pages.clone());
    }
    if !appendix.more.is_empty() {
        let documents = appendix.more.join(", ");
        if !pages.is_empty() {
            roff.control("PP", []);
        }
        roff.text([roman(format!("Documents in share/doc/headstart: {documents}"))]);
    }
    roff
}

/// The command with a synopsis that does not repeat all options.
fn with_short_usage(command: &Command) -> Command {
    let mut short = command.clone();
    let usage = short.render_usage().to_string();
    short.override_usage(usage.trim_start_matches("Usage: ").to_owned())
}

/// The command with a description that does not repeat the line under its name.
fn in_short(command: &Command) -> Command {
    let short = with_short_usage(command);
    let about = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    match about.split_once("\n\n") {
        Some((_, rest)) => short.long_about(rest.to_owned()),
        None => short,
    }
}

/// Options that a subcommand has and its parent as well, by name, but for those that all have.
fn options_of_both(parent: &Command, sub: &Command) -> Vec<String> {
    let has = |of: &Command, id: &Id| of.get_arguments().any(|argument| argument.get_id() == id);
    let both = sub.get_opts().filter(|option| has(parent, option.get_id()));
    let flags = sub.get_arguments().filter(|flag| !flag.get_action().takes_values());
    let flags = flags.filter(|flag| has(parent, flag.get_id()) && !is_clap_s(flag));
    both.chain(flags).filter_map(|option| Some(format!("--{}", option.get_long()?))).collect()
}

/// `--help` and `--version`, which clap adds.
fn is_clap_s(flag: &Arg) -> bool {
    ["help", "version"].contains(&flag.get_id().as_str())
}

/// The subcommand with these options hidden: they are described above it.
fn without_options_of(parent: &Command, sub: &Command) -> Command {
    let both = options_of_both(parent, sub);
    let is_above = |argument: &Arg| {
        argument.get_long().is_some_and(|long| both.contains(&format!("--{long}")))
    };
    sub.clone()
        .mut_args(|argument| if is_above(&argument) { argument.hide(true) } else { argument })
}

/// Subcommands that users see.
fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set())
}

fn command_title(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn subcommand_path(path: &str, sub: &Command) -> String {
    format!("{path} {}", sub.get_name()).trim_start().to_owned()
}

/// The sections that the appendix has.
fn appendix_sections(appendix: &Appendix) -> Roff {
    let mut roff = Roff::new();
    entries(&mut roff, "EXAMPLES", appendix.examples);
    if !appendix.notes.is_empty() {
        roff.control("SH", ["NOTES"]);
        for (n, paragraph) in appendix.notes.split("\n\n").enumerate() {
            if n > 0 {
                roff.control("PP", []);
            }
            add_paragraph(&mut roff, paragraph);
        }
    }
    entries(&mut roff, "ENVIRONMENT", appendix.environment);
    entries(&mut roff, "FILES", appendix.files);
    entries(&mut roff, "EXIT STATUS", appendix.exit);
    roff
}

fn entries(roff: &mut Roff, title: &str, entries: &[Entry]) {
    if !entries.is_empty() {
        roff.control("SH", [title]);
    }
    for (term, meaning) in entries {
        roff.control("TP", []).text([bold(*term)]).text([roman(*meaning)]);
    }
}

/// Lines that are indented stand as they are; the others are filled.
fn add_paragraph(roff: &mut Roff, paragraph: &str) {
    let mut is_filled = true;
    for line in paragraph.lines() {
        if line.starts_with("  ") == is_filled {
            roff.control(if is_filled { "nf" } else { "fi" }, []);
            is_filled = !is_filled;
        }
        roff.text([roman(line)]);
    }
    if !is_filled {
        roff.control("fi", []);
    }
}

/// A page that grows.
#[derive(Default)]
struct Text(String);

impl Text {
    fn add(&mut self, render: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = Vec::new();
        render(&mut bytes)?;
        self.push(&String::from_utf8_lossy(&bytes));
        Ok(())
    }

    /// A section of clap's at its original position.
    fn add_without_heading(
        &mut self,
        render: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        render(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(".SH ")).collect();
        self.push(&lines.join("\n"));
        Ok(())
    }

    fn push_roff(&mut self, roff: &Roff) {
        self.push(&roff.render());
    }

    /// Adds rendered lines, without lines of the page's head and without empty ones.
    fn push(&mut self, rendered: &str) {
        // The line behind `.TP` is a term, and lines behind `.nf` stand as they are.
        let (mut is_term, mut is_filled) = (false, true);
        for line in rendered.lines().filter(|line| !PREAMBLE.contains(line)) {
            match line.trim_end() {
                // An empty line within an option's help begins a paragraph of it.
                "" => self.0.push_str(".IP\n"),
                line if is_term => {
                    // A list of schemes is longer than a line: it may be broken behind its commas.
                    self.0.push_str(&(line.replace(',', ",\\:") + "\n"));
                }
                line if line.starts_with('.') || !is_filled => {
                    self.0.push_str(&(with_bold(line) + "\n"));
                }
                line => self.push_filled(&with_bold(line)),
            }
            is_term = line == ".TP";
            is_filled = line != ".nf" && (is_filled || line == ".fi");
        }
    }

    /// Adds text, a new line for a new sentence and where a line gets long.
    fn push_filled(&mut self, text: &str) {
        let mut width = 0;
        for word in text.split(' ') {
            if width > 0 {
                let ends = self.0.ends_with(['.', '?', '!']) || width + 1 + word.len() > WIDTH;
                // At the beginning of a line these would be a request.
                let breaks = ends && !word.starts_with(['.', '\'']);
                self.0.push(if breaks { '\n' } else { ' ' });
                width = if breaks { 0 } else { width + 1 };
            }
            self.0.push_str(word);
            width += word.len();
        }
        self.0.push('\n');
    }

    fn finish(self) -> String {
        PREAMBLE.join("\n") + "\n" + &self.0
    }
}

/// Longest line of text, in bytes.
const WIDTH: usize = 72;

/// Definition of an apostrophe at the beginning of a page: as the crate `roff` has it before each
/// section.
const PREAMBLE: [&str; 2] = [r".ie \n(.g .ds Aq \(aq", r".el .ds Aq '"];

/// Text between backticks is bold.
fn with_bold(line: &str) -> String {
    if line.matches('`').count() % 2 == 1 {
        return line.to_owned();
    }
    let part = |(n, part): (usize, &str)| match n % 2 {
        1 => format!(r"\fB{part}\fR"),
        _ => part.to_owned(),
    };
    line.split('`').enumerate().map(part).collect()
}
