//! Simulated networks: senders, queues, pages and traffic.

mod ahead;
mod arithmetic;
mod bbr;
mod browsing;
mod bulk;
mod capture;
mod core;
mod ensembles;
mod http3;
mod losses;
mod page;
mod poisson;
mod processing;
mod queues;
mod site;
mod site_follows;
mod temporal;
mod theory_queues;
mod theory_tcp;
mod ties;
mod traffic;
mod user;
