//! Selection of the measurements by parts of their names.

/// The items whose names contain one of these texts; all items if there is no text. `kind` is the
/// noun for an item in the error.
///
/// # Errors
/// If no item's name contains one of the texts; the error lists all names.
pub fn select<T>(
    mut items: Vec<T>,
    texts: &[String],
    kind: &str,
    name: impl Fn(&T) -> &str,
) -> Result<Vec<T>, String> {
    let has = |item: &T, text: &String| name(item).contains(text.as_str());
    if let Some(text) = texts.iter().find(|text| !items.iter().any(|item| has(item, text))) {
        let names: Vec<&str> = items.iter().map(&name).collect();
        return Err(format!("no {kind} has {text:?} among: {}", names.join("; ")));
    }
    items.retain(|item| texts.is_empty() || texts.iter().any(|text| has(item, text)));
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(texts: &[&str]) -> Result<Vec<String>, String> {
        let all = ["slow server", "slow path", "late file"].map(str::to_owned).to_vec();
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        select(all, &texts, "page", String::as_str)
    }

    #[test]
    fn items_with_one_of_the_texts_are_selected() {
        assert_eq!(selected(&[]).map(|items| items.len()), Ok(3));
        assert_eq!(selected(&["slow"]), Ok(vec!["slow server".into(), "slow path".into()]));
        assert_eq!(selected(&["path", "late"]), Ok(vec!["slow path".into(), "late file".into()]));
    }

    #[test]
    fn a_text_that_no_name_contains_is_an_error() {
        let why = "no page has \"fast\" among: slow server; slow path; late file";
        assert_eq!(selected(&["slow", "fast"]), Err(why.to_owned()));
    }
}
