//! The holders that URIs in certificates name, by rules of the operator (SPIFFE's form).

use std::fmt::{self, Display, Formatter};

/// Longest name of a tenant or of a holder, bytes: the limit of a DNS label.
const MAX_NAME_BYTES: usize = 63;
/// Longest trust domain, bytes (SPIFFE-ID §2.1).
const MAX_DOMAIN_BYTES: usize = 255;
const TENANT: &str = "{tenant}";
const NAME: &str = "{name}";

/// The role of a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HolderRole {
    /// Reports and asks: an agent, or an application.
    Agent,
    /// May also make the whole site forget networks.
    Operator,
    /// Reads packets: reports what they show and announces visitors, and may do nothing else.
    Observer,
}

impl HolderRole {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Agent, Self::Operator, Self::Observer];

    /// Returns the word for certificates, the configuration and the JSON API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Operator => "operator",
            Self::Observer => "observer",
        }
    }

    /// Returns the form of the URIs that `headstart gateway certificate` writes.
    const fn own_form(self) -> &'static str {
        match self {
            Self::Agent => "spiffe://headstart/tenant/{tenant}/agent/{name}",
            Self::Operator => "spiffe://headstart/tenant/{tenant}/operator/{name}",
            Self::Observer => "spiffe://headstart/tenant/{tenant}/observer/{name}",
        }
    }
}

impl Display for HolderRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Returns true for the name of a tenant or of a holder: 1 to 63 letters, digits, dots, dashes and
/// underscores. `.` and `..` are no segments of a SPIFFE ID's path (SPIFFE-ID §2.2).
pub fn is_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (1..=MAX_NAME_BYTES).contains(&text.len())
        && text.bytes().all(is_of_name)
        && !matches!(text, "." | "..")
}

/// Returns true for a trust domain: lower-case letters, digits, dots, dashes and underscores.
fn is_trust_domain(text: &str) -> bool {
    let is_of_domain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_');
    (1..=MAX_DOMAIN_BYTES).contains(&text.len()) && text.bytes().all(is_of_domain)
}

/// The holder that a URI names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder<'a> {
    /// The tenant, whose memory it shares.
    pub tenant: &'a str,
    /// Its role.
    pub role: HolderRole,
    /// Its name within the tenant.
    pub name: &'a str,
}

impl Holder<'_> {
    /// Returns the URI by which `headstart gateway certificate` names the holder.
    pub(super) fn uri(&self) -> String {
        self.role.own_form().replace(TENANT, self.tenant).replace(NAME, self.name)
    }
}

/// The form of URIs that name holders of one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HolderRule {
    trust_domain: String,
    path: Vec<Segment>,
    /// Tenant of all these holders, if the path does not have it.
    tenant: Option<String>,
    role: HolderRole,
}

/// A segment of a rule's path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// This text.
    Fixed(String),
    /// The name of a tenant.
    Tenant,
    /// The name of a holder.
    Name,
}

impl HolderRule {
    /// Creates a rule for the URIs of the form `uri`, for example
    /// `spiffe://example.org/site/{tenant}/host/{name}`. Without `{tenant}`, all holders are of
    /// `tenant`.
    ///
    /// # Errors
    /// If no URI can have this form, or if it leaves the tenant or the name open: the key and
    /// the way out.
    pub fn new(uri: &str, tenant: Option<&str>, role: HolderRole) -> Result<Self, String> {
        let refused = |why: &str| Err(format!("uri = {uri:?}: {why}"));
        let form = uri.strip_prefix("spiffe://").and_then(|rest| rest.split_once('/'));
        let Some((trust_domain, path)) = form.filter(|(domain, _)| is_trust_domain(domain)) else {
            return refused("write it as \"spiffe://TRUST-DOMAIN/site/{tenant}/host/{name}\"");
        };
        let path: Vec<Segment> = path.split('/').map(Segment::new).collect();
        let is_valid = |segment: &Segment| match segment {
            Segment::Fixed(text) => is_name(text),
            _ => true,
        };
        if !path.iter().all(is_valid) {
            return refused(
                "a part of the path is {tenant}, {name}, or 1 to 63 letters, digits, dots, dashes and underscores",
            );
        }
        let count = |wanted: &Segment| path.iter().filter(|segment| *segment == wanted).count();
        if count(&Segment::Name) != 1 {
            return refused("write {name} once, for the part that names the host");
        }
        match (count(&Segment::Tenant), tenant) {
            (1, None) => {}
            (0, Some(tenant)) if is_name(tenant) => {}
            (0, Some(tenant)) => {
                return Err(format!(
                    "tenant = {tenant:?}: 1 to 63 letters, digits, dots, dashes and underscores, please"
                ));
            }
            _ => return refused("write {tenant} once, or the key tenant beside it"),
        }
        let (trust_domain, tenant) = (trust_domain.to_owned(), tenant.map(str::to_owned));
        Ok(Self { trust_domain, path, tenant, role })
    }

    /// Returns the holder that `uri` names, if the URI has the rule's form.
    fn holder<'a>(&'a self, uri: &'a str) -> Option<Holder<'a>> {
        let (domain, path) = uri.strip_prefix("spiffe://")?.split_once('/')?;
        let path: Vec<&str> = path.split('/').collect();
        if domain != self.trust_domain || path.len() != self.path.len() {
            return None;
        }
        let (mut tenant, mut name) = (self.tenant.as_deref(), None);
        for (segment, text) in self.path.iter().zip(path) {
            match segment {
                Segment::Fixed(fixed) if fixed != text => return None,
                Segment::Fixed(_) => {}
                _ if !is_name(text) => return None,
                Segment::Tenant => tenant = Some(text),
                Segment::Name => name = Some(text),
            }
        }
        Some(Holder { tenant: tenant?, role: self.role, name: name? })
    }

    /// Returns true if a URI can have the form of both rules.
    fn overlaps(&self, other: &Self) -> bool {
        let is_common = |(one, two): (&Segment, &Segment)| match (one, two) {
            (Segment::Fixed(one), Segment::Fixed(two)) => one == two,
            _ => true,
        };
        self.trust_domain == other.trust_domain
            && self.path.len() == other.path.len()
            && self.path.iter().zip(&other.path).all(is_common)
    }
}

impl Segment {
    fn new(text: &str) -> Self {
        match text {
            TENANT => Self::Tenant,
            NAME => Self::Name,
            other => Self::Fixed(other.to_owned()),
        }
    }
}

/// The URIs that name holders; no URI names two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HolderRules(Vec<HolderRule>);

impl HolderRules {
    /// Creates it from the operator's rules. Without any, the URIs of `headstart gateway
    /// certificate` name holders.
    ///
    /// # Errors
    /// If two rules are for the same URIs: a holder would have two roles.
    pub fn new(rules: Vec<HolderRule>) -> Result<Self, String> {
        for (number, rule) in rules.iter().enumerate() {
            if let Some(same) = rules[..number].iter().position(|other| rule.overlaps(other)) {
                return Err(format!(
                    "[[holder]] {} and {} are for the same URIs; let a part without braces differ",
                    same + 1,
                    number + 1
                ));
            }
        }
        Ok(if rules.is_empty() { Self::default() } else { Self(rules) })
    }

    /// Returns the holder that `uri` names.
    pub(super) fn holder<'a>(&'a self, uri: &'a str) -> Option<Holder<'a>> {
        self.0.iter().find_map(|rule| rule.holder(uri))
    }
}

impl Default for HolderRules {
    /// Returns the rules for the certificates of `headstart gateway certificate`.
    fn default() -> Self {
        let rule = |role: HolderRole| {
            HolderRule::new(role.own_form(), None, role)
                .unwrap_or_else(|why| unreachable!("a form of our own: {why}"))
        };
        Self(HolderRole::ALL.map(rule).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARIS: &str = "spiffe://trust.example/site/{tenant}/host/{name}";

    fn rule(uri: &str) -> HolderRule {
        HolderRule::new(uri, None, HolderRole::Agent).unwrap()
    }

    /// Returns tenant, role and name by the rules.
    fn named<'a>(rules: &'a HolderRules, uri: &'a str) -> Option<(&'a str, HolderRole, &'a str)> {
        rules.holder(uri).map(|holder| (holder.tenant, holder.role, holder.name))
    }

    #[test]
    fn without_rules_only_uris_of_the_own_form_name_a_holder() {
        let rules = HolderRules::new(Vec::new()).unwrap();
        for role in HolderRole::ALL {
            let uri = Holder { tenant: "site", role, name: "web-1.example" }.uri();
            assert_eq!(uri, format!("spiffe://headstart/tenant/site/{role}/web-1.example"));
            assert_eq!(named(&rules, &uri), Some(("site", role, "web-1.example")));
        }
        for other in [
            "spiffe://headstart/tenant/site/gateway/web-1",
            "spiffe://headstart/tenant/site/agent/",
            "spiffe://headstart/tenant/site/agent/a/b",
            "spiffe://headstart/tenant/si te/agent/a",
            "https://headstart/tenant/site/agent/a",
            "spiffe://headstart.example/tenant/site/agent/a",
        ] {
            assert_eq!(named(&rules, other), None, "{other}");
        }
    }

    #[test]
    fn a_name_is_a_segment_of_a_spiffe_id() {
        for good in ["a", "web-1.example", "A_9", "...", &"a".repeat(63)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a b", "a%2fb", "grün", "a?", "a#", "{name}"] {
            assert!(!is_name(bad), "{bad}");
        }
        assert!(!is_name(&"a".repeat(64)));
    }

    /// With rules, URIs of the site's own form name no holder: an authority of others may sign any.
    #[test]
    fn only_uris_of_a_rule_name_a_holder() {
        let rules = HolderRules::new(vec![rule(PARIS)]).unwrap();
        let agent = Some(("paris", HolderRole::Agent, "web1"));
        assert_eq!(named(&rules, "spiffe://trust.example/site/paris/host/web1"), agent);
        for other in [
            "spiffe://headstart/tenant/site/operator/ann",
            "spiffe://other.example/site/paris/host/web1",
            "spiffe://trust.example.evil/site/paris/host/web1",
            "spiffe://evil/trust.example/site/paris/host/web1",
            "spiffe://TRUST.example/site/paris/host/web1",
            "SPIFFE://trust.example/site/paris/host/web1",
            "spiffe://trust.example:443/site/paris/host/web1",
            "spiffe://user@trust.example/site/paris/host/web1",
            "https://trust.example/site/paris/host/web1",
            "spiffe://trust.example/site/paris/pod/web1",
            "spiffe://trust.example/town/paris/host/web1",
            "spiffe://trust.example/site/paris/host/web1/",
            "spiffe://trust.example/site/paris/host/web1/more",
            "spiffe://trust.example/site/paris/host",
            "spiffe://trust.example/site/paris/host/",
            "spiffe://trust.example/site//host/web1",
            "spiffe://trust.example/site/../host/web1",
            "spiffe://trust.example/site/paris/host/..",
            "spiffe://trust.example/site/par%69s/host/web1",
            "spiffe://trust.example/site/paris/host/web1?x",
            "spiffe://trust.example/site/paris/host/web1#x",
            "spiffe://trust.example/site/paris/host/web 1",
            "spiffe://trust.example/site/paris/host/web1\0",
            " spiffe://trust.example/site/paris/host/web1",
            "spiffe://trust.example",
            "",
        ] {
            assert_eq!(named(&rules, other), None, "{other}");
        }
    }

    /// A rule may fix the tenant and come in any order. Two rules of one trust domain have roles of
    /// their own.
    #[test]
    fn a_rule_has_a_tenant_and_a_role() {
        let observers = "spiffe://trust.example/eye/{name}";
        let observers = HolderRule::new(observers, Some("paris"), HolderRole::Observer).unwrap();
        let swapped = rule("spiffe://trust.example/{name}/at/{tenant}");
        let rules = HolderRules::new(vec![rule(PARIS), observers, swapped]).unwrap();
        for (uri, expected) in [
            ("site/berlin/host/web1", ("berlin", HolderRole::Agent, "web1")),
            ("eye/web1", ("paris", HolderRole::Observer, "web1")),
            ("web1/at/rome", ("rome", HolderRole::Agent, "web1")),
        ] {
            let uri = format!("spiffe://trust.example/{uri}");
            assert_eq!(named(&rules, &uri), Some(expected));
        }
    }

    #[test]
    fn a_rule_without_a_clear_holder_is_refused() {
        let refused = |uri: &str, tenant: Option<&str>| {
            HolderRule::new(uri, tenant, HolderRole::Agent).unwrap_err()
        };
        for uri in [
            "https://trust.example/{tenant}/{name}",
            "spiffe://Trust.example/{tenant}/{name}",
            "spiffe://{tenant}/{name}",
            "spiffe:///{tenant}/{name}",
            "spiffe://trust.example:443/{tenant}/{name}",
            "spiffe://trust.example",
            &format!("spiffe://{}/{{tenant}}/{{name}}", "a".repeat(256)),
        ] {
            assert!(refused(uri, None).contains("spiffe://TRUST-DOMAIN/"), "{uri}");
        }
        for path in
            ["{tenant}/{name}/", "{tenant}//{name}", "x{tenant}/{name}", "../{tenant}/{name}"]
        {
            let why = refused(&format!("spiffe://trust.example/{path}"), None);
            assert!(why.contains("a part of the path is"), "{why}");
        }
        for path in ["{tenant}/host", "{tenant}/{name}/{name}", ""] {
            let why = refused(&format!("spiffe://trust.example/a/{path}"), None);
            assert!(why.contains("once") || path.is_empty(), "{why}");
        }
        for (path, tenant) in
            [("{name}", None), ("{tenant}/{tenant}/{name}", None), ("{tenant}/{name}", Some("a"))]
        {
            let why = refused(&format!("spiffe://trust.example/{path}"), tenant);
            assert!(why.contains("{tenant} once, or the key tenant"), "{why}");
        }
        let why = refused("spiffe://trust.example/{name}", Some("my site"));
        assert!(why.starts_with("tenant = \"my site\": 1 to 63"), "{why}");
        let longest = format!("spiffe://{}/{{tenant}}/{{name}}", "a".repeat(255));
        assert!(HolderRule::new(&longest, None, HolderRole::Agent).is_ok());
    }

    /// One URI would name an agent by one rule and an operator by the other.
    #[test]
    fn no_uri_has_two_rules() {
        let both = |one: &str, two: &str| {
            let of = |path| rule(&format!("spiffe://trust.example/{path}"));
            HolderRules::new(vec![of(one), of(two)]).err()
        };
        for two in ["{tenant}/host/{name}", "{name}/host/{tenant}", "paris/{tenant}/{name}"] {
            let why = both("{tenant}/host/{name}", two).unwrap();
            assert!(why.starts_with("[[holder]] 1 and 2 are for the same URIs"), "{two}: {why}");
        }
        for two in ["{tenant}/pod/{name}", "{tenant}/host/{name}/x", "{tenant}/{name}"] {
            assert_eq!(both("{tenant}/host/{name}", two), None, "{two}");
        }
        let elsewhere = rule("spiffe://other.example/site/{tenant}/host/{name}");
        assert!(HolderRules::new(vec![rule(PARIS), elsewhere]).is_ok());
    }
}
