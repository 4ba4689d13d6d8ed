//! The generated code in the repository matches the protocol's description. A normal build
//! therefore needs no generator. `protox` reads the description, so this test needs no `protoc`.

use std::error::Error;
use std::fs;
use std::path::Path;

const DESCRIPTION: &str = "headstart/gateway/v1.proto";
const HEADER: &str = "\
// Generated from proto/headstart/gateway/v1.proto; do not edit. After a change there, run
// `cargo test -p headstart-gateway-proto --test generated`, which names the command to update this.
";

/// Generates the code in `folder` and returns its text with the header.
fn generate(crate_folder: &Path, folder: &Path) -> Result<String, Box<dyn Error>> {
    let described = protox::compile([DESCRIPTION], [crate_folder.join("proto")])?;
    // No transport in the generated client: a user of the crate chooses the transport.
    tonic_prost_build::configure()
        .build_transport(false)
        .codec_path("crate::codec::MessageCodec")
        .emit_rerun_if_changed(false)
        .out_dir(folder)
        .compile_fds(described)?;
    Ok(HEADER.to_owned() + &fs::read_to_string(folder.join("headstart.gateway.v1.rs"))?)
}

/// If this fails after a change of the description, the message names the command to run.
#[test]
fn generated_code_is_up_to_date() -> Result<(), Box<dyn Error>> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let text = generate(crate_folder, folder)?;
    let (kept, new) = (crate_folder.join("generated/v1.rs"), folder.join("v1.rs"));
    fs::write(&new, &text)?;
    // Git may have changed line ends.
    let is_same = fs::read_to_string(&kept).is_ok_and(|kept| kept.replace("\r\n", "\n") == text);
    assert!(
        is_same,
        "the generated code is out of date, run: cp '{}' '{}'",
        new.display(),
        kept.display()
    );
    Ok(())
}
