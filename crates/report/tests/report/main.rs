//! Reports: their pages, tables, figures and files.

mod document;
mod figure;
mod files;
mod page;
mod scan;
mod table;
