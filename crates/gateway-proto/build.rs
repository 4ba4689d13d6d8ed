//! Makes Rust of the protocol's description. `protox` reads it, so no `protoc` has to be installed.

const DESCRIPTION: &str = "headstart/gateway/v1.proto";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let described = protox::compile([DESCRIPTION], ["proto"])?;
    // Without the client's own way to connect: who uses it chooses the transport.
    tonic_prost_build::configure()
        .build_transport(false)
        .codec_path("crate::codec::MessageCodec")
        .compile_fds(described)?;
    Ok(())
}
