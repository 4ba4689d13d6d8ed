//! One line says which fields of a type are state.

/// Implements [`Foldable`](crate::Foldable) for a struct by the fields that are its state; behind `;` come those that are its
/// configuration. A field that is in neither list does not compile.
///
/// # Examples
/// ```
/// struct Counter { most: u32, counted: u64, last: Option<u64> }
/// fold::state!(Counter { counted, last; most });
/// ```
#[macro_export]
macro_rules! state {
    ($type:ty { $($field:ident),* $(; $($config:ident),+)? }) => {
        impl $crate::Foldable for $type {
            fn fold(&mut self, folding: &mut $crate::Folding<'_>) {
                let Self { $($field,)* $($($config: _,)+)? } = self;
                folding$(.each($field))*;
            }
        }
    };
}

/// Implements [`Foldable`](crate::Foldable) for an enum of plain variants. A variant that is not listed does not compile.
///
/// # Examples
/// ```
/// #[derive(Clone, Copy)]
/// enum Light { Red, Green }
/// fold::choices!(Light { Red, Green });
/// ```
#[macro_export]
macro_rules! choices {
    ($type:ty { $($variant:ident),+ }) => {
        impl $crate::Foldable for $type {
            fn fold(&mut self, folding: &mut $crate::Folding<'_>) {
                let mut word = match self { $(Self::$variant => Self::$variant as u64,)+ };
                folding.word(&mut word);
                $(if word == Self::$variant as u64 {
                    *self = Self::$variant;
                })+
            }
        }
    };
}
