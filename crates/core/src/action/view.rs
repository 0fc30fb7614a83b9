//! An action as `show` presents it, computed from its facts alone.
