//! The documents of roadmaps.
