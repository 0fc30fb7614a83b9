//! Writing new contents beside their places.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::OFlags;

use super::super::LayerError;
use super::super::node::MERGED_BITS;
use super::super::node::Node;
use super::super::node::digest;
use super::super::writes;
use super::Merge;
use super::plan::Deed;
use super::plan::Work;
use super::root::Entry;
use super::undo::remove;
use crate::hands::files::FileError;
use crate::hands::paths::decode_name;

impl Merge<'_> {
    /// Writes the new content of a deed beside its place, durably and with its mode.
    pub(super) fn stage(&self, index: usize, deed: &Deed) -> Result<(), LayerError> {
        let Work::Put { after, source, .. } = &deed.work else { return Ok(()) };
        let Some(aside) = self.aside(index, deed)? else {
            return Err(FileError::NotFound { path: self.root.shown(&deed.anchor_path()?) }.into());
        };
        remove(&aside)?;
        match after {
            Node::File { .. } => {
                let origin = source.as_deref().and_then(decode_name).map(PathBuf::from).unwrap_or_default();
                self.stage_file(deed, &aside, after, origin)
            }
            Node::Link { target } => {
                let target =
                    decode_name(target).ok_or_else(|| LayerError::BadPath { path: target.clone() })?;
                writes::make_link(&target, aside.spot()).map_err(|errno| aside.error(errno))
            }
            Node::Folder { .. } | Node::Special => Err(LayerError::Special { path: deed.path.clone() }),
        }
    }

    fn stage_file(
        &self,
        deed: &Deed,
        aside: &Entry,
        after: &Node,
        origin: PathBuf,
    ) -> Result<(), LayerError> {
        let of = |error| LayerError::of(aside.shown(), &error);
        let missing = || LayerError::Source { path: deed.path.clone(), origin: origin.clone() };
        for upper in &self.stack.uppers {
            self.access.open_way(upper, &origin).map_err(|_| missing())?;
        }
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
        let mut from = File::options().read(true).custom_flags(flags).open(&origin).map_err(|_| missing())?;
        if !from.metadata().is_ok_and(|found| found.is_file()) {
            return Err(missing());
        }
        let mut file = writes::make_file(aside.spot()).map_err(|errno| aside.error(errno))?;
        let (copied_size, copied_hash) =
            digest(&mut from, |piece| writes::write(&mut file, piece)).map_err(of)?;
        let Node::File { mode, size, hash } = after else { return Err(missing()) };
        if (copied_size, copied_hash) != (*size, *hash) {
            return Err(missing());
        }
        writes::set_mode(&file, mode & MERGED_BITS).map_err(of)?;
        file.sync_all().map_err(of)
    }
}
