//! Errors for a user without rights.

use crate::nobody::Copied;

#[test]
fn without_rights_a_check_says_which_it_needs() {
    let Some(nobodys) = Copied::new("lab-refused") else { return };
    for args in [["check", "worlds", "--quick"], ["check", "fuzz-kernel", "--scripts=1"]] {
        let output = nobodys.run(&args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("CAP_NET_ADMIN") && errors.contains("root"), "{errors}");
        assert!(output.stdout.is_empty() && !errors.contains("panicked"), "{errors}");
    }
}
