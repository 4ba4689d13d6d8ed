//! The `--option=value` lines before the first event.

use super::super::model::ScriptSettings;
use super::lexer::Token;
use super::{Parsed, Parser};
use std::net::{IpAddr, Ipv6Addr};
use tcp::{LinuxVersion, Scheme};
use units::Duration;

/// The settings of this player, in the order of messages.
const KNOWN: &str = "--scheme=NAME, --linux=VERSION, --mtu=BYTES, --tolerance_usecs=N, \
                     --tcp_ts_tick_usecs=N, --strict_segments, --ignore_push, \
                     --ip_version=ipv4|ipv6, --local_ip=ADDRESS, --remote_ip=ADDRESS, --seed=N";

/// packetdrill's own that mean nothing without a real network: accepted, with a note.
const IGNORED: [&str; 13] = [
    "bind_port",
    "connect_port",
    "debug",
    "gateway_ip",
    "init_scripts",
    "is_anyip",
    "mss",
    "netmask_ip",
    "send_omit_free",
    "speed",
    "tcp_ts_ecr_scaled",
    "tolerance_percent",
    "verbose",
];

/// Bytes of IPv4 and TCP headers without options: what an MTU is above an MSS.
const HEADERS: u64 = 40;

/// The peer of a script for IPv6 that names none (RFC 3849).
pub(super) const DOCUMENTATION_V6: IpAddr =
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

/// Smallest and largest segment size, bytes.
pub(super) const MSS: (u32, u32) = (64, 65_495);

impl<'a> Parser<'a> {
    /// All settings, and notes about those without effect.
    pub(super) fn settings(&mut self) -> Parsed<(ScriptSettings, Vec<String>)> {
        let mut settings = ScriptSettings::default();
        let mut notes = Vec::new();
        while let Token::Setting(flag, value) = self.token {
            if IGNORED.contains(&flag) {
                notes.push(format!("line {}: --{flag} has no effect here", self.position.line));
            } else {
                self.setting(flag, value, &mut settings)?;
            }
            self.advance()?;
        }
        Ok((settings, notes))
    }

    fn setting(
        &self,
        flag: &str,
        value: Option<&str>,
        settings: &mut ScriptSettings,
    ) -> Parsed<()> {
        match flag {
            "scheme" => settings.scheme = Some(self.parse_scheme(value)?),
            "linux" => {
                let version = value.unwrap_or_default().parse();
                let refuse =
                    |why: String| self.setting_error::<LinuxVersion>(&format!("--linux: {why}"));
                settings.linux = Some(version.or_else(refuse)?);
            }
            "mtu" => {
                let (least, most) = (u64::from(MSS.0) + HEADERS, u64::from(MSS.1) + HEADERS);
                settings.mtu = Some(self.value(flag, value, least, most)? as u32);
            }
            "tolerance_usecs" => {
                let micros = self.value(flag, value, 0, 60_000_000)?;
                settings.tolerance = Duration::from_micros(micros);
            }
            "tcp_ts_tick_usecs" => {
                let micros = self.value(flag, value, 0, 1_000_000)?;
                settings.timestamp_tick = (micros > 0).then_some(Duration::from_micros(micros));
            }
            "seed" => settings.seed = self.value(flag, value, 0, u64::MAX)?,
            "strict_segments" if value.is_none() => settings.strict_segments = true,
            "ignore_push" if value.is_none() => settings.ignore_push = true,
            "ip_version" if value == Some("ipv4") => settings.names_version = true,
            "ip_version" if value == Some("ipv6") => {
                settings.names_version = true;
                if settings.remote.is_ipv4() {
                    settings.remote = DOCUMENTATION_V6;
                }
            }
            "ip_version" => {
                return self.setting_error("expected --ip_version=ipv4 or --ip_version=ipv6");
            }
            "local_ip" => settings.local = self.address(value)?,
            "remote_ip" => {
                settings.names_version = true;
                settings.remote = self.address(value)?;
            }
            "strict_segments" | "ignore_push" => {
                return self.setting_error(&format!("--{flag} takes no value"));
            }
            _ => return self.setting_error(&format!("unknown option --{flag}; known are {KNOWN}")),
        }
        Ok(())
    }

    fn address(&self, value: Option<&str>) -> Parsed<IpAddr> {
        let parsed = value.and_then(|text| text.parse().ok());
        parsed.ok_or_else(|| (self.position, "expected an address, like 192.0.2.1".into()))
    }

    fn setting_error<T>(&self, message: &str) -> Parsed<T> {
        Err((self.position, message.into()))
    }

    fn parse_scheme(&self, value: Option<&str>) -> Parsed<Scheme> {
        let Some(text) = value else {
            return self.setting_error("expected a scheme, like --scheme=newreno");
        };
        Scheme::parse(text).or_else(|error| self.setting_error(&error.to_string()))
    }

    fn value(&self, flag: &str, value: Option<&str>, min: u64, max: u64) -> Parsed<u64> {
        match value.and_then(|digits| digits.parse().ok()) {
            Some(n) if (min..=max).contains(&n) => Ok(n),
            _ => self.setting_error(&format!("expected --{flag}=N with N from {min} to {max}")),
        }
    }
}
