//! placeholder tahoe
