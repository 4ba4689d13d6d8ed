//! `headstart pages`: the pages that come with headstart.

use cmdline::{Appendix, EXIT, Failure, stdout};
use workload::{BUILTINS, Page};

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart pages", "Lists the pages by name."),
            ("headstart race news", "Races one of them."),
        ],
        exit: EXIT,
        see_also: &["headstart-race"],
        more: &["docs/pages.md"],
        ..Appendix::default()
    }
}

pub(crate) fn run() -> Result<(), Failure> {
    let mut out = String::new();
    for builtin in BUILTINS {
        let Some(page) = Page::builtin(builtin.name) else { continue };
        let (objects, hosts) = (page.objects().len(), page.hosts().len());
        let default = if builtin.name == BUILTINS[0].name { "  (default)" } else { "" };
        out += &format!(
            "{}  {objects} objects, {hosts} host{}, {} kB{default}\n    {}\n",
            builtin.name,
            if hosts == 1 { "" } else { "s" },
            page.response_bytes() / 1000,
            builtin.description
        );
    }
    out += "\nA size is a page, too: one object, as in `headstart race 30kB`. So is any HAR file: export one from a\n\
        browser's network panel.\n";
    stdout::print(&out)
}
