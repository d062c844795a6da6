//! The routes that work on local git repositories, with the real git.

mod lookup;
