//! Permissions: the networks that a certificate may report of and ask for, by tenant, narrower for
//! some names.

use super::options::TenantOptions;
use crate::pki::{Identity, is_name};
use ipnet::IpNet;
use std::collections::BTreeMap;

/// The permissions of all tenants.
#[derive(Clone, Debug, Default)]
pub struct Permissions(BTreeMap<String, TenantRules>);

#[derive(Clone, Debug)]
struct TenantRules {
    all: Allowed,
    neighbours: Vec<String>,
    only: BTreeMap<String, Allowed>,
}

/// The permissions of one certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    report: Vec<IpNet>,
    ask: Vec<IpNet>,
}

impl Allowed {
    /// Returns permissions for all networks.
    pub fn everything() -> Self {
        let all = super::options::everywhere();
        Self { report: all.clone(), ask: all }
    }

    /// Returns true if the certificate may report of `network`: all of it is inside the permitted
    /// networks.
    pub fn may_report(&self, network: &IpNet) -> bool {
        self.report.iter().any(|allowed| allowed.contains(network))
    }

    /// Returns true if the certificate may ask for `network`.
    pub fn may_ask(&self, network: &IpNet) -> bool {
        self.ask.iter().any(|allowed| allowed.contains(network))
    }
}

impl TenantRules {
    /// Checks the rules of a tenant. A rule that applies to no certificate, or that overrides
    /// another one, would leave a certificate more than the operator meant.
    fn new(tenant: &TenantOptions) -> Result<Self, String> {
        let mut only = BTreeMap::new();
        for narrower in &tenant.only {
            check_name("only.name", &narrower.name)?;
            let allowed = Allowed { report: narrower.report.clone(), ask: narrower.ask.clone() };
            if only.insert(narrower.name.clone(), allowed).is_some() {
                let name = &narrower.name;
                return Err(format!("two [[tenant.only]] have the name {name:?}; make them one"));
            }
        }
        let all = Allowed { report: tenant.report.clone(), ask: tenant.ask.clone() };
        Ok(Self { all, neighbours: tenant.neighbours.clone(), only })
    }
}

/// Checks that a certificate can have the name in `key`.
fn check_name(key: &str, name: &str) -> Result<(), String> {
    match is_name(name) {
        true => Ok(()),
        false => Err(format!(
            "{key} = {name:?}: 1 to 63 letters, digits, dots, dashes and underscores, please"
        )),
    }
}

impl Permissions {
    /// Creates the permissions of tenants.
    ///
    /// # Errors
    /// If there are none, if no certificate can have one of the names, or if two of one kind have
    /// the same name; with the key.
    pub fn new(tenants: &[TenantOptions]) -> Result<Self, String> {
        let mut all = BTreeMap::new();
        for tenant in tenants {
            check_name("tenant.name", &tenant.name)?;
            let rules = TenantRules::new(tenant)
                .map_err(|why| format!("tenant {:?}: {why}", tenant.name))?;
            if all.insert(tenant.name.clone(), rules).is_some() {
                return Err(format!("two tenants have the name {:?}", tenant.name));
            }
        }
        for (name, rules) in &all {
            let is_other = |named: &&String| *named != name && all.contains_key(*named);
            if let Some(named) = rules.neighbours.iter().find(|named| !is_other(named)) {
                return Err(format!(
                    "tenant {name:?}: neighbours: {named:?} is no other tenant of this gateway; add [[tenant]] with this name, or leave it out"
                ));
            }
        }
        match all.is_empty() {
            true => Err("no tenant: add [[tenant]] with name = \"site\"".to_owned()),
            false => Ok(Self(all)),
        }
    }

    /// Returns the names of tenants, in alphabetical order.
    pub fn tenants(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the names of the tenants that answer for networks that `tenant` does not know.
    pub fn neighbours(&self, tenant: &str) -> &[String] {
        self.0.get(tenant).map_or(&[], |rules| &rules.neighbours)
    }

    /// Returns the permissions of a certificate's holder; `None` if this gateway does not have its
    /// tenant.
    pub fn of(&self, identity: &Identity) -> Option<Allowed> {
        let rules = self.0.get(&identity.tenant)?;
        let Some(only) = rules.only.get(&identity.name) else { return Some(rules.all.clone()) };
        // A rule for a name only narrows the tenant's permissions.
        Some(Allowed {
            report: both(&only.report, &rules.all.report),
            ask: both(&only.ask, &rules.all.ask),
        })
    }
}

/// Returns the intersection of both lists of networks.
fn both(some: &[IpNet], others: &[IpNet]) -> Vec<IpNet> {
    let pairs = some.iter().flat_map(|a| others.iter().map(move |b| (a, b)));
    let common = pairs.filter_map(|(a, b)| match (a.contains(b), b.contains(a)) {
        (true, _) => Some(*b),
        (_, true) => Some(*a),
        _ => None,
    });
    common.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::options::GatewayOptions;
    use crate::pki::{Fingerprint, HolderRole};

    fn who(tenant: &str, name: &str) -> Identity {
        Identity {
            tenant: tenant.to_owned(),
            name: name.to_owned(),
            role: HolderRole::Agent,
            fingerprint: Fingerprint::of_certificate(b""),
            not_after: 0,
        }
    }

    /// Returns the error for two narrower rules with these names.
    fn refused(names: [&str; 2]) -> Option<String> {
        let only = names.map(|name| {
            format!("[[tenant.only]]\nname = {name:?}\nreport = [\"10.1.0.0/16\"]\nask = []\n")
        });
        let text = format!("[[tenant]]\nname = \"site\"\n{}", only.concat());
        let options = GatewayOptions::parse(&text, "f").unwrap();
        Permissions::new(&options.tenant).err()
    }

    #[test]
    fn narrower_rules_that_would_not_be_in_force_are_refused() {
        assert_eq!(refused(["edge", "Edge"]), None);
        let twice = "tenant \"site\": two [[tenant.only]] have the name \"edge\"; make them one";
        assert_eq!(refused(["edge", "edge"]).unwrap(), twice);
        // No certificate can have these names, so the host would keep all permissions of the
        // tenant.
        for name in ["web 1", "", "web/1"] {
            let why = refused(["edge", name]).unwrap();
            assert!(why.starts_with(&format!("tenant \"site\": only.name = {name:?}: ")), "{why}");
        }
    }

    #[test]
    fn a_name_may_less_than_its_tenant_and_never_more() {
        let text = "[[tenant]]\nname = \"site\"\nreport = [\"10.0.0.0/8\"]\n\
            [[tenant.only]]\nname = \"edge\"\nreport = [\"10.1.0.0/16\", \"192.0.2.0/24\"]\nask = []";
        let options = GatewayOptions::parse(text, "f").unwrap();
        let permissions = Permissions::new(&options.tenant).unwrap();
        let net = |text: &str| text.parse::<IpNet>().unwrap();
        let web = permissions.of(&who("site", "web")).unwrap();
        assert!(web.may_report(&net("10.9.0.0/24")) && web.may_ask(&net("2001:db8::/48")));
        // A network wider than a permitted one is not permitted.
        assert!(!web.may_report(&net("0.0.0.0/4")) && !web.may_report(&net("192.0.2.0/24")));
        let edge = permissions.of(&who("site", "edge")).unwrap();
        assert!(edge.may_report(&net("10.1.7.0/24")) && !edge.may_report(&net("10.2.0.0/24")));
        assert!(!edge.may_report(&net("192.0.2.0/24")) && !edge.may_ask(&net("10.1.7.0/24")));
        assert_eq!(permissions.of(&who("other", "web")), None);
    }

    /// `edge` has the permissions that are both in its own rule and in its tenant's, whichever of
    /// the two is wider. Reports and questions have separate rules.
    #[test]
    fn a_rule_and_its_tenant_are_both_in_force() {
        let text = "[[tenant]]\nname = \"site\"\nreport = [\"10.0.0.0/8\"]\n\
            ask = [\"10.0.0.0/8\", \"192.0.2.0/24\"]\n\
            [[tenant.only]]\nname = \"edge\"\nreport = [\"0.0.0.0/0\"]\n\
            ask = [\"10.1.0.0/16\", \"192.0.0.0/16\"]";
        let options = GatewayOptions::parse(text, "f").unwrap();
        let edge = Permissions::new(&options.tenant).unwrap().of(&who("site", "edge")).unwrap();
        // Each row has a network, whether it may be reported, and whether it may be asked for.
        for (network, report, ask) in [
            ("10.1.7.0/24", true, true),
            ("10.2.7.0/24", true, false),
            ("192.0.2.16/28", false, true),
            ("192.0.3.0/24", false, false),
            // A network wider than a permitted one is not permitted.
            ("0.0.0.0/0", false, false),
            ("10.0.0.0/7", false, false),
            ("192.0.0.0/16", false, false),
            ("2001:db8::/48", false, false),
        ] {
            let net = network.parse().unwrap();
            assert_eq!((edge.may_report(&net), edge.may_ask(&net)), (report, ask), "{network}");
        }
    }

    /// Two rules of one name would leave one of them without effect. Without tenants, no
    /// certificate would be accepted.
    #[test]
    fn tenants_have_names_of_their_own() {
        let why = |text: &str| {
            let options = GatewayOptions::parse(text, "f").unwrap();
            Permissions::new(&options.tenant).err()
        };
        let tenant = "[[tenant]]\nname = \"site\"\n";
        assert_eq!(why(tenant), None);
        let twice = why(&tenant.repeat(2)).unwrap();
        assert_eq!(twice, "two tenants have the name \"site\"");
        assert!(why("").unwrap().starts_with("no tenant: "));
        // A neighbour is another tenant.
        let with = |named: &str| {
            why(&format!("{tenant}neighbours = [{named:?}]\n[[tenant]]\nname = \"b\"\n"))
        };
        assert_eq!(with("b"), None);
        for named in ["site", "c"] {
            let why = with(named).unwrap();
            assert!(
                why.starts_with(&format!("tenant \"site\": neighbours: {named:?} is no other")),
                "{why}"
            );
        }
        let why = why("[[tenant]]\nname = \"my site\"\n").unwrap();
        assert!(why.starts_with("tenant.name = \"my site\": "), "{why}");
    }
}
