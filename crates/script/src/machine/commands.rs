//! The shell commands of scripts, read and never run.

use super::{ExpectedCounter, MachineSetting, SYSCTLS, ScriptDefaults, route};
use crate::error::{Refusal, RefusalKind};

/// Error of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandError {
    /// Line within the backquotes, from 0.
    pub(crate) line: u32,
    pub(crate) refusal: Refusal,
}

const KNOWN: &str = "defaults.sh, set_sysctls.py, sysctl, sysctl_restore_….sh, ip tcp_metrics flush, ip route change, \
                     tc qdisc, ip link set mtu, ethtool -K, nstat, echo VALUE > /sys/module/tcp_cubic/parameters/NAME";

/// Reads the settings of the commands in `text`.
pub(crate) fn read(text: &str) -> Result<Vec<MachineSetting>, CommandError> {
    let mut settings = Vec::new();
    for (line, words) in commands(text) {
        command(&words, &mut settings).map_err(|refusal| CommandError { line, refusal })?;
    }
    Ok(settings)
}

/// Commands as words, with the line on which each begins. Redirections are dropped, except for one
/// into `/sys`.
fn commands(text: &str) -> Vec<(u32, Vec<String>)> {
    let mut all: Vec<(u32, Vec<String>)> = Vec::new();
    let (mut line, mut words, mut word) = (0, Vec::new(), String::new());
    let (mut first_line, mut quoted, mut started) = (0, false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_word = !quoted && (c.is_whitespace() || matches!(c, ';' | '|'));
        match c {
            '\\' if chars.peek() == Some(&'\n') => {
                chars.next();
                line += 1;
                end_word(&mut word, &mut started, &mut words);
                continue;
            }
            '"' => (quoted, started) = (!quoted, true),
            '#' if !quoted && word.is_empty() => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            _ if ends_word => {}
            _ => {
                if words.is_empty() && word.is_empty() {
                    first_line = line;
                }
                word.push(c);
            }
        }
        if ends_word {
            end_word(&mut word, &mut started, &mut words);
        }
        if !quoted && matches!(c, '\n' | ';' | '|') {
            // The alternative of `a || b` counts, too: either does what the script is after.
            let piped = c == '|' && chars.peek() != Some(&'|');
            if piped {
                words.push("|".to_owned());
            } else if !words.is_empty() {
                all.push((first_line, std::mem::take(&mut words)));
            }
            if c == '|' && !piped {
                chars.next();
            }
        }
        line += u32::from(c == '\n');
    }
    end_word(&mut word, &mut started, &mut words);
    if !words.is_empty() {
        all.push((first_line, words));
    }
    all
}

fn end_word(word: &mut String, started: &mut bool, words: &mut Vec<String>) {
    if !word.is_empty() || std::mem::take(started) {
        words.push(std::mem::take(word));
    }
    *started = false;
}

/// Without `> /dev/null`, `2>&1` and their like.
fn without_redirections<'a>(words: &'a [String]) -> Vec<&'a str> {
    let mut kept: Vec<&'a str> = Vec::new();
    let mut skip = false;
    for word in words {
        let word = word.as_str();
        if std::mem::take(&mut skip) {
            continue;
        }
        if matches!(word, ">" | "2>" | "&>") {
            skip = true;
        } else if !word.contains(">&") && !word.starts_with("2>") && !word.starts_with("&>") {
            kept.push(word);
        }
    }
    kept
}

fn command(words: &[String], settings: &mut Vec<MachineSetting>) -> Result<(), Refusal> {
    if words.first().is_some_and(|word| word == "echo") {
        return Ok(module_parameter(words)?);
    }
    let words = without_redirections(words);
    let program = words.first().map_or("", |path| path.rsplit('/').next().unwrap_or(path));
    match (program, words.get(1..).unwrap_or_default()) {
        ("defaults.sh", []) => settings.push(MachineSetting::Defaults(match words[0] {
            "./defaults.sh" => ScriptDefaults::Selftests,
            _ => ScriptDefaults::Packetdrill,
        })),
        ("set_sysctls.py" | "sysctl", arguments) => return sysctls(arguments, settings),
        (restore, []) if restore.starts_with("sysctl_restore_") => {
            settings.push(MachineSetting::Restore)
        }
        ("ip", ["tcp_metrics", "flush", ..]) => settings.push(MachineSetting::ForgetPeers),
        ("ip", ["route", "change", rest @ ..] | ["-6", "route", "change", rest @ ..]) => {
            settings.push(MachineSetting::Route(route::read(rest)?));
        }
        ("tc", ["qdisc", rest @ ..]) => return Ok(qdisc(rest, settings)?),
        ("ethtool", ["-K", _, rest @ ..]) => {
            offload(rest).map(|()| settings.push(MachineSetting::Offload))?
        }
        ("ip", ["link", "set", "dev", _, "mtu", mtu]) => settings.push(link_mtu(mtu)?),
        ("nstat", [] | ["-n"]) => settings.push(MachineSetting::Counters),
        ("nstat", ["|", rest @ ..] | ["-s", "|", rest @ ..]) => {
            settings.push(MachineSetting::Counted(counter(rest)?));
        }
        ("rm" | "dd", _) => {
            return Err(Refusal::not_of_tcp(format!(
                "{:?} prepares a file, as for sendfile",
                words.join(" ")
            )));
        }
        ("", _) => {}
        _ => {
            let words = words.join(" ");
            return Err(format!("unknown command {words:?}; known are {KNOWN}").into());
        }
    }
    Ok(())
}

/// `net.ipv4.NAME=VALUE` or `/proc/sys/net/ipv4/NAME=VALUE`, several of them, after options.
fn sysctls(arguments: &[&str], settings: &mut Vec<MachineSetting>) -> Result<(), Refusal> {
    for argument in arguments.iter().filter(|argument| !argument.starts_with('-')) {
        let Some((path, value)) = argument.split_once('=') else {
            return Err(format!("expected NAME=VALUE, found {argument:?}").into());
        };
        let path = path.replace('/', ".");
        let path = path.strip_prefix(".proc.sys.").unwrap_or(&path);
        let name = path.strip_prefix("net.ipv4.").unwrap_or(path);
        let Some(index) = SYSCTLS.iter().position(|known| known.name == name) else {
            let why = format!("unknown sysctl {path}; scripts/README.md lists the known ones");
            return Err(why.into());
        };
        let value = value.trim();
        let value = &computed(value)?;
        (SYSCTLS[index].set)(&mut super::ScriptMachine::default(), value).map_err(
            |Refusal { kind, message }| {
                let message = match kind {
                    RefusalKind::Wrong => format!("sysctl {path}={value}: {message}"),
                    RefusalKind::NotOfTcp | RefusalKind::NotModelled | RefusalKind::OtherSystem => {
                        format!("{message}: sysctl {path}={value}")
                    }
                };
                Refusal { kind, message }
            },
        )?;
        if name == "tcp_fastopen_cookies" && value == "0" {
            settings.push(MachineSetting::ForgetPeers);
        }
        settings.push(MachineSetting::Sysctl(index, value.to_owned()));
    }
    Ok(())
}

/// A value with each `$((32*1024*1024))` in it worked out: products of whole numbers.
fn computed(value: &str) -> Result<String, String> {
    let Some((before, rest)) = value.split_once("$((") else { return Ok(value.to_owned()) };
    let wrong = || format!("expected a product like $((32*1024*1024)), found {value:?}");
    let (inside, after) = rest.split_once("))").ok_or_else(wrong)?;
    let factors = inside.split('*').map(|factor| factor.trim().parse::<u64>().ok());
    let product = factors.reduce(|product, factor| product?.checked_mul(factor?));
    let product = product.flatten().ok_or_else(wrong)?;
    Ok(format!("{before}{product}{}", computed(after)?))
}

/// `grep TcpExtNAME`, and maybe `| grep -q " 3 "`: so often.
fn counter(words: &[&str]) -> Result<ExpectedCounter, String> {
    let (name, times) = match words {
        ["grep", name] => (name, None),
        ["grep", name, "|", "grep", "-q", times] => {
            let times = times.trim().parse();
            (name, Some(times.map_err(|_| "nstat: expected grep -q and a number".to_owned())?))
        }
        _ => return Err(format!("nstat: expected | grep NAME, found {:?}", words.join(" "))),
    };
    Ok(ExpectedCounter { name: name.strip_prefix("TcpExt").unwrap_or(name).to_owned(), times })
}

/// `ip link set dev … mtu …`
fn link_mtu(mtu: &str) -> Result<MachineSetting, String> {
    let mtu = mtu.parse().ok().filter(|mtu| (1280..=65_535).contains(mtu));
    mtu.map(MachineSetting::LinkMtu)
        .ok_or_else(|| "ip link: expected an MTU from 1280 to 65535".to_owned())
}

/// `echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect`: the value that is in force.
fn module_parameter(words: &[String]) -> Result<(), String> {
    match words {
        [_, value, _, path] if path.ends_with("/tcp_cubic/parameters/hystart_detect") => {
            match value.as_str() {
                "3" => Ok(()),
                _ => Err(format!("hystart_detect={value}: only 3 is possible here")),
            }
        }
        _ => Err(format!("unknown command {:?}; known are {KNOWN}", words.join(" "))),
    }
}

fn qdisc(words: &[&str], settings: &mut Vec<MachineSetting>) -> Result<(), String> {
    match words {
        // The queue that is there without one takes all.
        ["delete" | "del", ..] => {
            settings.push(MachineSetting::Paced(false));
            settings.push(MachineSetting::Drops(false));
        }
        ["add" | "replace" | "change", "dev", _, "root", kind @ ("fq" | "pfifo"), rest @ ..]
            if matches!(rest, [] | ["limit", "0"]) =>
        {
            settings.push(MachineSetting::Paced(*kind == "fq"));
            settings.push(MachineSetting::Drops(!rest.is_empty()));
        }
        _ => {
            return Err(format!(
                "unknown queue {:?}; known are fq and pfifo, and of limits 0 alone",
                words.join(" ")
            ));
        }
    }
    Ok(())
}

fn offload(words: &[&str]) -> Result<(), String> {
    let switches: Vec<_> = words.chunks(2).collect();
    match switches.iter().all(|pair| matches!(pair, ["tso" | "gso", "off"])) {
        true => Ok(()),
        false => Err(format!("ethtool -K: {:?}; known are tso off and gso off", words.join(" "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_end_with_lines_and_go_on_behind_backslashes() {
        let text = "../common/defaults.sh\nset_sysctls.py /proc/sys/net/ipv4/tcp_sack=0 \\\n \
                    /proc/sys/net/ipv4/tcp_rmem=\"4096 8192 16384\" # why\nip tcp_metrics flush all &> /dev/null";
        let at = |name| SYSCTLS.iter().position(|known| known.name == name).unwrap();
        assert_eq!(
            read(text),
            Ok(vec![
                MachineSetting::Defaults(ScriptDefaults::Packetdrill),
                MachineSetting::Sysctl(at("tcp_sack"), "0".to_owned()),
                MachineSetting::Sysctl(at("tcp_rmem"), "4096 8192 16384".to_owned()),
                MachineSetting::ForgetPeers,
            ])
        );
    }

    /// The kernel's `defaults.sh` stands beside its scripts; 32 times 1024 times 1024 bytes are
    /// 33,554,432.
    #[test]
    fn what_the_kernels_selftests_do_otherwise() {
        let at = |name| SYSCTLS.iter().position(|known| known.name == name).unwrap();
        let text = "./defaults.sh\nsysctl -q net.ipv4.tcp_rmem=\"4096 131072 $((32*1024*1024))\"\nnstat -n\n\
                    nstat -s | grep TcpExtBeyondWindow | grep -q \" 3 \"\nip link set dev tun0 mtu 9000";
        let expected = ExpectedCounter { name: "BeyondWindow".to_owned(), times: Some(3) };
        assert_eq!(
            read(text),
            Ok(vec![
                MachineSetting::Defaults(ScriptDefaults::Selftests),
                MachineSetting::Sysctl(at("tcp_rmem"), "4096 131072 33554432".to_owned()),
                MachineSetting::Counters,
                MachineSetting::Counted(expected),
                MachineSetting::LinkMtu(9000),
            ])
        );
        let error = read("sysctl -q net.ipv4.tcp_shrink_window=1").unwrap_err();
        assert_eq!(error.refusal.kind, RefusalKind::NotModelled);
        assert!(error.refusal.message.starts_with("windows that are taken back"), "{error:?}");
        assert!(read("sysctl -q net.ipv4.tcp_rmem=\"1 2 $((3+4))\"").is_err());
    }

    #[test]
    fn unknown_names_and_values_are_refused_by_name() {
        let wrong = |text: &str| read(text).unwrap_err();
        assert!(
            wrong("sysctl -q net.ipv4.tcp_magic=1").refusal.message.contains("net.ipv4.tcp_magic")
        );
        assert!(wrong("sysctl -q net.ipv4.tcp_recovery=0").refusal.message.contains("only 1"));
        let error = wrong("../common/defaults.sh\nrm -rf x");
        assert!(error.refusal.message.contains("rm -rf x") && error.line == 1, "{error:?}");
    }
}
