//! The models of rebuilt servers, by the names that a user gives them.

use std::net::IpAddr;
use trace::{SenderModel, SenderModels, SenderProfile};

/// Models of the rebuilt servers.
#[derive(Clone, Debug, Default)]
pub(super) struct RebuiltAs(Option<SenderModels>);

impl RebuiltAs {
    pub(super) fn of(models: &SenderModels) -> Self {
        Self(Some(models.clone()))
    }

    /// Model of a server; empty before it is known.
    pub(super) fn of_server(&self, server: IpAddr) -> String {
        self.0.as_ref().map_or_else(String::new, |models| name_of(models.of(server)))
    }
}

/// The profile's name, or the scheme's where no profile stands for it.
pub(super) fn name_of(model: &SenderModel) -> String {
    let scheme = model.scheme().name();
    let mut profiles = SenderProfile::ALL.into_iter();
    let profile = profiles.find(|profile| profile.scheme() == scheme);
    profile.map_or_else(|| scheme.to_owned(), |profile| profile.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_schemes_have_the_names_that_name_them() {
        for profile in SenderProfile::ALL {
            assert_eq!(name_of(&SenderModel::of(profile)), profile.name());
        }
        assert_eq!(name_of(&SenderModel::of_scheme("sack").unwrap()), "sack");
    }
}
