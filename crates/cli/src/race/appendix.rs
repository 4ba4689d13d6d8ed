//! The end of `headstart race --help`: examples, and options with several values.

use super::variants;
use cmdline::Appendix;

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart race",
                "Loads the page `news` over the path `cable`: a page of today, seconds of computing.",
            ),
            (
                "headstart race page.har --path 20mbit,80ms,100p --schemes newreno,linux+iw=32",
                "Loads your page, exported from a browser's network panel, over your path.",
            ),
            (
                "headstart race page.har --path 20mbit,80ms,100p --http 1.1,2,3",
                "Loads it over each version of HTTP. Gains are over the first version named.",
            ),
            (
                "headstart race before.har after.har --budget slower=5%",
                "Compares two recordings of a page, and exits with code 3 if the second is slower by more than 5 %.",
            ),
            (
                "headstart race --path-preset lte --report lte.html",
                "Draws a waterfall, time-sequence plots, windows with the causes of their changes, and queues.",
            ),
            (
                "headstart race 500kB --path trace=drive.csv,40ms,200p,up=10mbit --schemes linux,linux+iw=32",
                "Loads an object over a recorded link, from 25 different times of the recording on.",
            ),
            (
                "headstart race --background 2",
                "Loads it against two downloads. Harm is what the downloads lose compared with linux.",
            ),
            (
                "headstart race --visits 3 --idle 20 --schemes linux,newreno-ssr,newreno-nssr,fs",
                "Loads the page three times, 20 s apart: first and repeated visits.",
            ),
            (
                "headstart race --visits 4 --site 4 --schemes linux,spand",
                "Visits four servers in turn. They share what they learn of the client's network.",
            ),
            (
                "sudo headstart race --on sim,kernel --schemes linux,linux-bbr",
                "Loads the page over the same path in simulation and by the Linux kernel.",
            ),
            (
                "sudo headstart race 200kB --on kernel --visits 2 --idle 1 --reconnect --schemes linux,hs-cubic",
                "Compares the Linux kernel with and without an agent: first and repeated visits.",
            ),
            (
                "sudo headstart race pages/article.har --http 1.1 --tls none --on sim,wire --client chromium --client-model chromium --schemes headstart",
                "Loads a page by a browser, and simulates the same.",
            ),
            (
                "sudo headstart race 30kB --on kernel --client curl --schemes linux,linux-bbr",
                "Loads one object from nginx by curl, both as they are installed.",
            ),
            (
                "headstart race map --http 1.0 --path-preset t1-1998 --json",
                "Loads a page of 1998. `--json-schema` says how to read the output.",
            ),
        ],
        notes: format!(
            "{}\n\nTimes count from the start of the load. Name lookups are part of it only with --dns.",
            variants::variants_help()
        )
        .into(),
        exit: &[
            ("0", "all loads have completed"),
            ("1", "a load has not completed after 600 s"),
            ("2", "the input is wrong, or a privilege is missing"),
            ("3", "results exceed --budget"),
        ],
        see_also: &["headstart-schemes", "headstart-pages", "headstart-paths"],
        more: &["docs/first-race.md", "docs/race.md", "docs/worlds.md"],
        ..Appendix::default()
    }
}
