//! Paths as data: names are bytes, and JSON has only text. A path that is not UTF-8 is written as a list of numbers.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

impl Written {
    fn of(path: &Path) -> Written {
        match path.to_str() {
            Some(text) => Written::Text(text.to_owned()),
            None => Written::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }

    fn path(self) -> PathBuf {
        match self {
            Written::Text(text) => PathBuf::from(text),
            Written::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        }
    }
}

/// One path.
pub(super) mod path {
    use super::*;

    pub(in crate::hands) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        Written::of(path).serialize(to)
    }

    pub(in crate::hands) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Written::deserialize(from).map(Written::path)
    }
}

/// A list of paths.
pub(super) mod paths {
    use super::*;

    pub(in crate::hands) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| Written::of(path)))
    }

    pub(in crate::hands) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let written = Vec::<Written>::deserialize(from)?;
        Ok(written.into_iter().map(Written::path).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
    struct Both {
        #[serde(with = "super::path")]
        one: PathBuf,
        #[serde(with = "super::paths")]
        many: Vec<PathBuf>,
    }

    #[test]
    fn any_bytes_come_back_as_they_were() {
        let odd = PathBuf::from(OsString::from_vec(b"/a\xff\n b".to_vec()));
        let both = Both { one: odd.clone(), many: vec![PathBuf::from("/plain"), odd] };
        let text = serde_json::to_string(&both).unwrap();
        assert!(text.contains("\"/plain\""), "{text}");
        assert_eq!(serde_json::from_str::<Both>(&text).unwrap(), both);
    }
}
