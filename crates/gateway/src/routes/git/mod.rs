//! `/api/gateway/git*`: one file a resource. What git is asked, and what its answers mean, the
//! tools know.

mod lookup;

pub(crate) use lookup::repo_path_route;
