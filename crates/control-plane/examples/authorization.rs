//! Prints the page with the authorization matrix, `docs/authorization.md`.

fn main() {
    print!("{}", loopgate_control_plane::authorization_page());
}
