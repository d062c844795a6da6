//! Prints the OpenAPI document of the control plane.

fn main() -> serde_json::Result<()> {
    println!("{}", serde_json::to_string_pretty(&loopgate_control_plane::openapi())?);
    Ok(())
}
