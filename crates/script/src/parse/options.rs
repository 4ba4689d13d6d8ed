//! TCP options: `mss 1460,sackOK,TS val 10 ecr 0,nop,wscale 7`.
//!
//! Padding and order carry no meaning for the core, so `nop` and `eol` are read and forgotten and
//! options compare as a set.

use super::lexer::Token;
use super::packet::Way;
use super::{Parsed, Parser, Refusal};
use tcp::{EcnCounters, FastOpenCookie, SackBlocks, TcpOptions, Timestamps};
use units::SeqNum;

/// Bytes that options can take in a TCP header (RFC 9293 §3.1).
const OPTION_SPACE: u32 = 40;

/// The cookie that packetdrill's `run_all.py` defines: of its default addresses, by the key of its
/// `defaults.sh`.
const TFO_COOKIE: &str = "3021b9d889017eeb";

/// The cookie by a key of zeros, as the kernel's `ksft_runner.sh` defines it.
const TFO_COOKIE_ZERO: &str = "b7c12350a90dc8f5";

/// Largest window scale (RFC 7323 §2.3).
const MAX_SHIFT: u64 = 14;

impl<'a> Parser<'a> {
    /// Options up to, not including, the closing mark.
    pub(super) fn option_list(&mut self, way: Way) -> Parsed<TcpOptions> {
        let position = self.position;
        let mut options = TcpOptions::default();
        let mut seen = Vec::new();
        loop {
            if let (Way::Leaves, Token::Word(name)) = (way, self.token) {
                let name = if name == "FOEXP" { "FO" } else { name };
                if !matches!(name, "nop" | "eol") && seen.contains(&name) {
                    return self.unexpected("each option once: no host sends one twice");
                }
                seen.push(name);
            }
            self.option(&mut options, way)?;
            if !self.accept_mark(",")? {
                break;
            }
        }
        if options.wire_bytes() > OPTION_SPACE {
            let message = format!("these options take more than {OPTION_SPACE} bytes");
            return Err((position, message.into()));
        }
        Ok(options)
    }

    fn option(&mut self, options: &mut TcpOptions, way: Way) -> Parsed<()> {
        const KNOWN: &str = "an option: mss, wscale, sackOK, TS, sack, ECN, FO, FOEXP, nop or eol";
        let Token::Word(name) = self.token else {
            return self.unexpected(KNOWN);
        };
        match name {
            "nop" | "eol" => self.advance().map(drop),
            "sackOK" => {
                options.sack_permitted = true;
                self.advance().map(drop)
            }
            "mss" => {
                self.advance()?;
                options.mss = Some(self.number16("the largest segment size")?);
                Ok(())
            }
            "wscale" => {
                self.advance()?;
                options.window_scale = Some(self.parse_number("the shift", MAX_SHIFT)? as u8);
                Ok(())
            }
            "TS" => self.timestamps().map(|ts| options.timestamps = Some(ts)),
            "FO" => self.fast_open(false, way).map(|cookie| options.fast_open = cookie),
            "FOEXP" => self.fast_open(true, way).map(|cookie| options.fast_open = cookie),
            "md5" => {
                Err((self.position, Refusal::not_of_tcp("MD5 signatures are no part of it here")))
            }
            "sack" => self.sack_blocks().map(|blocks| options.sack = blocks),
            "ECN" => self.ecn_counters().map(|counters| options.ecn = Some(counters)),
            _ => self.unexpected(KNOWN),
        }
    }

    /// `FO`, `FO abcd1234` or `FO TFO_COOKIE`; `None` of a wrong length, which hosts take for no
    /// cookie (RFC 7413 §2).
    fn fast_open(&mut self, experimental: bool, way: Way) -> Parsed<Option<FastOpenCookie>> {
        let position = self.position;
        // Digits are read before anybody takes them for a number and a name.
        let mut digits = self.lexer.hexadecimal();
        self.advance()?;
        if digits.is_empty() && self.accept_word("TFO_COOKIE")? {
            digits = TFO_COOKIE;
        } else if digits.is_empty() && self.accept_word("TFO_COOKIE_ZERO")? {
            digits = TFO_COOKIE_ZERO;
        }
        let pairs = digits.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = pairs
            .map(|pair| std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2))
            .map(|pair| u8::from_str_radix(pair?, 16).ok())
            .collect();
        let Some(bytes) = bytes else {
            let message = "expected a cookie in hexadecimal, two digits a byte";
            return Err((position, message.into()));
        };
        let cookie = FastOpenCookie::new(&bytes);
        if cookie.is_none() && way == Way::Leaves {
            let message = "expected an even cookie of 4 to 16 bytes (RFC 7413 §4.1.1)";
            return Err((position, message.into()));
        }
        Ok(cookie.map(|cookie| if experimental { cookie.as_experiment() } else { cookie }))
    }

    fn timestamps(&mut self) -> Parsed<Timestamps> {
        self.advance()?;
        if !self.accept_word("val")? {
            return self.unexpected("val, as in TS val 10 ecr 0");
        }
        let value = self.number32("the timestamp")?;
        if !self.accept_word("ecr")? {
            return self.unexpected("ecr, as in TS val 10 ecr 0");
        }
        let echo = self.number32("the echoed timestamp")?;
        Ok(Timestamps { value, echo })
    }

    /// `ECN e1b 1 ceb 0 e0b 1`: the counters that there are, in one of two orders.
    fn ecn_counters(&mut self) -> Parsed<EcnCounters> {
        const ORDERS: [[&str; 3]; 2] = [["e0b", "ceb", "e1b"], ["e1b", "ceb", "e0b"]];
        const MOST: u64 = 0xFF_FFFF;
        self.advance()?;
        let starts_with_ect1 = self.token == Token::Word("e1b");
        let mut counters = Vec::new();
        for name in ORDERS[usize::from(starts_with_ect1)] {
            if !self.accept_word(name)? {
                break;
            }
            counters.push(self.parse_number("a counter", MOST)? as u32);
        }
        Ok(EcnCounters::new(starts_with_ect1, &counters))
    }

    fn sack_blocks(&mut self) -> Parsed<SackBlocks> {
        self.advance()?;
        let mut blocks = SackBlocks::default();
        loop {
            if blocks.as_slice().len() == SackBlocks::MAX {
                return self.unexpected("at most four SACK blocks");
            }
            let left = self.number32("a SACK block, like 1001:2001")?;
            self.expect_mark(":", "within a SACK block")?;
            let right = self.number32("the end of the SACK block")?;
            blocks.push(SeqNum(left), SeqNum(right));
            if !matches!(self.token, Token::Int(_)) {
                return Ok(blocks);
            }
        }
    }
}
