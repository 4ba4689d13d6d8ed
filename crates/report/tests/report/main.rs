//! Reports: their pages, tables, figures and files.

mod any_report;
mod browser;
mod document;
mod figure;
mod files;
mod page;
mod scan;
mod schemes;
mod table;
mod waterfall;
