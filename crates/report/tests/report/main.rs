//! Reports: their pages, tables, figures and files.

mod browser;
mod document;
mod figure;
mod files;
mod page;
mod scan;
mod table;
mod waterfall;
