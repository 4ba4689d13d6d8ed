//! HyStart (Ha & Rhee 2008) as Linux does it.
