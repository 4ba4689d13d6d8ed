//! Explicit congestion notification in headers: the field of IP (RFC 3168 §5), and the field and
//! the option of Accurate ECN in TCP (RFC 9768 §3).

use crate::raw_options::kind::{ACC_ECN_0, ACC_ECN_1};

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable transport, codepoint ECT(1).
    Ect1,
    /// ECN-capable transport, codepoint ECT(0).
    Ect0,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Returns the ACE field with which a host reports that the peer's SYN or SYN-ACK had this
    /// field (RFC 9768 §3.1.2 and §3.2.2.1).
    pub const fn handshake_ace(self) -> u8 {
        match self {
            Self::NotEct => 0b010,
            Self::Ect1 => 0b011,
            Self::Ect0 => 0b100,
            Self::Ce => 0b110,
        }
    }
}

/// The byte counters of an AccECN option, as on the wire: 24 bits each (RFC 9768 §3.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnCounters {
    /// The first counter is of ECT(1), and the third of ECT(0); otherwise it is the reverse.
    starts_with_ect1: bool,
    count: u8,
    fields: [[u8; 3]; Self::MAX_COUNTERS],
}

impl EcnCounters {
    /// Counters of a complete option.
    pub const MAX_COUNTERS: usize = 3;
    /// Bytes of the longest option: kind, length, and three counters.
    pub const LONGEST: usize = 2 + 3 * Self::MAX_COUNTERS;
    /// The counters of a new connection for ECT(1), CE and ECT(0) (RFC 9768 §3.2.1).
    pub const INITIAL: [u32; Self::MAX_COUNTERS] = [1, 0, 1];
    /// The counter of marked packets of a new connection, of which the ACE field has three bits
    /// (RFC 9768 §3.2.1).
    pub const INITIAL_PACKETS: u32 = 5;

    /// Returns the index of the counter of a field in [`EcnCounters::INITIAL`]; Not-ECT has none.
    pub const fn index_of(field: Ecn) -> Option<usize> {
        match field {
            Ecn::NotEct => None,
            Ecn::Ect1 => Some(0),
            Ecn::Ce => Some(1),
            Ecn::Ect0 => Some(2),
        }
    }

    /// The option with these counters, in the order ECT(1), CE, ECT(0) (kind 174), or in the
    /// reverse order (kind 172). Counters behind the third, and bits above the 24th, are left out.
    pub fn new(starts_with_ect1: bool, counters: &[u32]) -> Self {
        let mut fields = [[0; 3]; Self::MAX_COUNTERS];
        for (field, counter) in fields.iter_mut().zip(counters) {
            let [_, bytes @ ..] = counter.to_be_bytes();
            *field = bytes;
        }
        Self { starts_with_ect1, count: counters.len().min(Self::MAX_COUNTERS) as u8, fields }
    }

    /// Reads an option by its kind and its body; `None` if it is of another kind. Bytes behind
    /// whole counters are ignored.
    pub fn parse(kind: u8, body: &[u8]) -> Option<Self> {
        let counters =
            body.as_chunks::<3>().0.iter().map(|[a, b, c]| u32::from_be_bytes([0, *a, *b, *c]));
        let mut values = [0; Self::MAX_COUNTERS];
        let count = values.iter_mut().zip(counters).map(|(value, counter)| *value = counter);
        let count = count.count();
        matches!(kind, ACC_ECN_0 | ACC_ECN_1)
            .then(|| Self::new(kind == ACC_ECN_1, &values[..count]))
    }

    /// Returns the number of counters, 0 to 3.
    pub fn len(&self) -> usize {
        self.count.into()
    }

    /// True if there is no counter.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the counters in the order of the wire, each with the field of IP that it counts.
    pub fn iter(&self) -> impl Iterator<Item = (Ecn, u32)> + '_ {
        let order = match self.starts_with_ect1 {
            true => [Ecn::Ect1, Ecn::Ce, Ecn::Ect0],
            false => [Ecn::Ect0, Ecn::Ce, Ecn::Ect1],
        };
        let value = |[a, b, c]: &[u8; 3]| u32::from_be_bytes([0, *a, *b, *c]);
        order.into_iter().zip(self.fields.iter().map(value)).take(self.len())
    }

    /// Bytes on the wire, without padding.
    pub const fn wire_bytes(&self) -> u32 {
        2 + 3 * self.count as u32
    }

    /// Writes the option, kind and length included, and returns its length.
    pub fn write(&self, out: &mut [u8; Self::LONGEST]) -> usize {
        out[0] = if self.starts_with_ect1 { ACC_ECN_1 } else { ACC_ECN_0 };
        out[1] = self.wire_bytes() as u8;
        out[2..].copy_from_slice(self.fields.as_flattened());
        self.wire_bytes() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9768 §3.2.3, figure 5: kind 172 has EE0B, ECEB, EE1B, and kind 174 the reverse; each
    /// counter has three bytes.
    #[test]
    fn counters_have_three_bytes_each_in_the_order_of_their_kind() {
        let mut out = [0; EcnCounters::LONGEST];
        let full = EcnCounters::new(true, &[0x0102_0304, 5, 6]);
        let len = full.write(&mut out);
        // The first value has more than 24 bits: its highest byte is left out.
        assert_eq!(out[..len], [174, 11, 2, 3, 4, 0, 0, 5, 0, 0, 6]);
        let read: Vec<_> = full.iter().collect();
        assert_eq!(read, [(Ecn::Ect1, 0x02_0304), (Ecn::Ce, 5), (Ecn::Ect0, 6)]);
        // Initial counters are in the order of kind 174, and Not-ECT has none.
        let index = |(field, _)| EcnCounters::index_of(field);
        assert_eq!(full.iter().map(index).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
        assert_eq!(EcnCounters::index_of(Ecn::NotEct), None);
        assert_eq!(EcnCounters::new(true, &[0x02_0304, 5, 6, 7]), full);
        assert_eq!(EcnCounters::parse(174, &out[2..len]), Some(full));
        let reverse = EcnCounters::parse(172, &[0, 0, 9, 0, 1, 0, 7]).unwrap();
        assert_eq!(reverse.iter().collect::<Vec<_>>(), [(Ecn::Ect0, 9), (Ecn::Ce, 256)]);
        assert_eq!((reverse.len(), reverse.wire_bytes()), (2, 8));
        assert_eq!(EcnCounters::parse(173, &[0, 0, 9]), None);
        let empty = EcnCounters::parse(172, &[]).unwrap();
        assert!(empty.is_empty() && empty.wire_bytes() == 2 && !full.is_empty());
    }

    /// RFC 9768 §3.1.2, table 2: the SYN-ACK says 010 for Not-ECT, 011 for ECT(1), 100 for ECT(0)
    /// and 110 for CE, as AE, CWR and ECE.
    #[test]
    fn the_handshake_reflects_the_field_of_ip() {
        let fields = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        assert_eq!(fields.map(Ecn::handshake_ace), [2, 3, 4, 6]);
    }
}
