//! From a plan to the mounts of a world: what goes where, and in which order.

use std::fs;
use std::fs::DirBuilder;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::statfs;
use rustix::mount::MountPropagationFlags;
use rustix::mount::mount_change;
use rustix::process::geteuid;

use crate::hands::world::AtStep;
use crate::hands::world::Cover;
use crate::hands::world::WorldFault;
use crate::hands::world::WorldPlan;
use crate::hands::world::WorldStep;
use crate::hands::world::devices;
use crate::hands::world::mounts;
use crate::hands::world::resolver;
use crate::hands::world::table;

/// The kind of file system that an overlay is. Layers cannot lie on one.
const OVERLAY_MAGIC: i64 = 0x794c_7630;

/// Private folders: their name below [`WorldPlan::own`] and their place in the view.
const PRIVATE: [(&str, &str); 3] = [("tmp", "/tmp"), ("vartmp", "/var/tmp"), ("shm", "/dev/shm")];

/// What is put at a place.
enum What {
    Empty,
    Devices(Vec<(&'static str, OwnedFd)>),
    Terminals,
    Overlay { lowers: Vec<OwnedFd>, upper: OwnedFd, work: OwnedFd },
    Tree(OwnedFd),
}

/// Mounts at the same place lie over each other in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Machine,
    Private,
    Cover,
    Hide,
    Pass,
}

struct Entry {
    at: PathBuf,
    rank: Rank,
    step: WorldStep,
    is_folder: bool,
    what: What,
    /// True when what is mounted there may be written; `Below` is for shared trees with mounts of their own.
    writes: Writes,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writes {
    Nothing,
    Here,
    Below,
}

/// Makes the whole view in the mount namespace of this process.
pub(super) fn make(plan: &WorldPlan, is_root: bool) -> Result<(), WorldFault> {
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
        .on(WorldStep::MountNamespace, Path::new("/"))?;
    let mut entries = Vec::new();
    add_machine(&mut entries, is_root)?;
    add_private(&mut entries, plan)?;
    for cover in &plan.covers {
        entries.push(open_cover(cover)?);
    }
    add_passed(&mut entries, plan)?;
    add_hidden(&mut entries, plan)?;
    entries.sort_by_key(|entry| (entry.at.components().count(), entry.rank));
    check(plan, &entries, is_root)?;
    for entry in &entries {
        put(entry)?;
    }
    devices::mount_proc(is_root)?;
    mounts::close_rest(|point| may_write(&entries, point))
}

/// Resolves links, so that places can be compared by their names.
fn real(path: &Path, step: WorldStep) -> Result<PathBuf, WorldFault> {
    if !path.is_absolute() {
        return Err(WorldFault::new(step, format!("{}: the path is not absolute", path.display())));
    }
    path.canonicalize().on(step, path)
}

fn add_machine(entries: &mut Vec<Entry>, is_root: bool) -> Result<(), WorldFault> {
    let machine = |at: PathBuf, step, what, writes| {
        let is_folder = !matches!(what, What::Tree(_));
        Entry { at, rank: Rank::Machine, step, is_folder, what, writes }
    };
    let step = WorldStep::Devices;
    if is_root {
        entries.push(machine("/dev".into(), step, What::Devices(devices::take_nodes()), Writes::Nothing));
    }
    if is_root || Path::new("/dev/pts").is_dir() {
        entries.push(machine("/dev/pts".into(), step, What::Terminals, Writes::Here));
    }
    let mut runs: Vec<PathBuf> =
        ["/run", "/var/run"].iter().filter_map(|path| Path::new(path).canonicalize().ok()).collect();
    runs.dedup();
    for run in runs {
        entries.push(machine(run.clone(), WorldStep::Hide, What::Empty, Writes::Nothing));
        let Some((file, places)) = resolver::files(&run) else { continue };
        for place in places {
            let tree = mounts::clone_tree(&file).on(WorldStep::Show, &file)?;
            entries.push(machine(place, WorldStep::Show, What::Tree(tree), Writes::Nothing));
        }
    }
    Ok(())
}

fn add_private(entries: &mut Vec<Entry>, plan: &WorldPlan) -> Result<(), WorldFault> {
    let step = WorldStep::Temporary;
    let own = real(&plan.own, step)?;
    for (name, place) in PRIVATE {
        let Ok(at) = Path::new(place).canonicalize() else { continue };
        if entries.iter().any(|entry| entry.rank == Rank::Private && entry.at == at) {
            continue;
        }
        let folder = own.join(name);
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made.on(step, &folder)?,
        }
        // As everywhere: all may make files, and remove their own. Outside nobody reaches the folder above it.
        fs::set_permissions(&folder, Permissions::from_mode(0o1777)).on(step, &folder)?;
        // The list of mounts says under which name the folder lies on its disk. Sandboxes of programs inside look for it
        // there too, so it is the same folder under both names.
        for (at, rank) in [(at, Rank::Private), (folder.clone(), Rank::Pass)] {
            let what = What::Tree(mounts::clone_tree(&folder).on(step, &folder)?);
            entries.push(Entry { at, rank, step, is_folder: true, what, writes: Writes::Here });
        }
    }
    Ok(())
}

fn open_cover(cover: &Cover) -> Result<Entry, WorldFault> {
    let step = WorldStep::Overlay;
    let at = real(&cover.at, step)?;
    let shown = fs::metadata(&at).on(step, &at)?;
    // The root of the view has the mode of the upper folder.
    fs::set_permissions(&cover.upper, shown.permissions()).on(step, &cover.upper)?;
    let mut lowers = Vec::new();
    for lower in cover.lowers.iter().chain([&at]) {
        lowers.push(mounts::hold(lower).on(step, lower)?);
    }
    let upper = mounts::hold(&cover.upper).on(step, &cover.upper)?;
    let work = mounts::hold(&cover.work).on(step, &cover.work)?;
    let what = What::Overlay { lowers, upper, work };
    Ok(Entry { at, rank: Rank::Cover, step, is_folder: true, what, writes: Writes::Here })
}

fn add_passed(entries: &mut Vec<Entry>, plan: &WorldPlan) -> Result<(), WorldFault> {
    let shared = plan.share.iter().map(|path| (path, WorldStep::Share, Writes::Below));
    let shown = plan.show.iter().map(|path| (path, WorldStep::Show, Writes::Nothing));
    for (path, step, writes) in shared.chain(shown) {
        let at = real(path, step)?;
        let is_folder = at.is_dir();
        let what = What::Tree(mounts::clone_tree(&at).on(step, &at)?);
        entries.push(Entry { at, rank: Rank::Pass, step, is_folder, what, writes });
    }
    Ok(())
}

fn add_hidden(entries: &mut Vec<Entry>, plan: &WorldPlan) -> Result<(), WorldFault> {
    let step = WorldStep::Hide;
    let layers =
        plan.covers.iter().flat_map(|cover| [&cover.upper, &cover.work].into_iter().chain(&cover.lowers));
    let layers: Vec<PathBuf> =
        layers.chain([&plan.own]).map(|path| real(path, WorldStep::Layers)).collect::<Result<_, _>>()?;
    let mut hidden = Vec::new();
    for path in &plan.hide {
        match path.canonicalize() {
            Ok(at) if path.is_absolute() => hidden.push(at),
            Ok(_) => {
                return Err(WorldFault::new(step, format!("{}: the path is not absolute", path.display())));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).on(step, path),
        }
    }
    // The layers of this world are in no view of it, also where the caller forgot to hide the folder above them.
    for layer in layers {
        let private = |entry: &Entry| entry.rank <= Rank::Private && layer.starts_with(&entry.at);
        if !entries.iter().any(private) && !hidden.iter().any(|path| layer.starts_with(path)) {
            hidden.push(layer);
        }
    }
    for at in hidden {
        let is_folder = at.is_dir();
        let what = if is_folder {
            What::Empty
        } else {
            let nothing = plan.own.join("nothing");
            fs::write(&nothing, "").on(step, &nothing)?;
            What::Tree(mounts::clone_tree(&nothing).on(step, &nothing)?)
        };
        entries.push(Entry { at, rank: Rank::Hide, step, is_folder, what, writes: Writes::Nothing });
    }
    Ok(())
}

/// Refuses what the kernel would accept and then do wrong, or refuse without saying why.
fn check(plan: &WorldPlan, entries: &[Entry], is_root: bool) -> Result<(), WorldFault> {
    let step = WorldStep::Layers;
    let covered: Vec<&Path> =
        entries.iter().filter(|entry| entry.rank == Rank::Cover).map(|entry| entry.at.as_path()).collect();
    // What holds for the root would hold for all that is not named.
    if entries.iter().any(|entry| entry.at == Path::new("/")) {
        return Err(WorldFault::new(
            step,
            "the root of the file system cannot be covered, shared, shown or hidden",
        ));
    }
    let of_cover = |cover: &'_ Cover| [cover.upper.clone(), cover.work.clone()];
    let written: Vec<PathBuf> = plan.covers.iter().flat_map(of_cover).collect();
    let lowers = plan.covers.iter().flat_map(|cover| cover.lowers.iter());
    for layer in written.iter().chain(lowers).chain([&plan.own]) {
        let layer = real(layer, step)?;
        if let Some(at) = covered.iter().find(|at| layer.starts_with(at)) {
            let reason = format!("{} lies inside of {}, which is covered", layer.display(), at.display());
            return Err(WorldFault::new(step, reason));
        }
    }
    for layer in written.iter().chain([&plan.own]) {
        if fs::metadata(layer).on(step, layer)?.uid() != geteuid().as_raw() {
            return Err(WorldFault::new(step, format!("{} belongs to another user", layer.display())));
        }
    }
    for layer in &written {
        if statfs(layer).on(step, layer)?.f_type == OVERLAY_MAGIC {
            let reason = format!("{} lies on an overlay file system itself", layer.display());
            return Err(WorldFault::new(step, reason));
        }
    }
    for mounted in table::read().at(step)? {
        let point = &mounted.point;
        let passed = |entry: &Entry| entry.rank >= Rank::Hide && point.starts_with(&entry.at);
        if is_root && entries.iter().any(passed) {
            continue;
        }
        if let Some(at) = covered.iter().find(|at| point != *at && point.starts_with(at)) {
            let reason = format!("{} is a mount point inside of {}", point.display(), at.display());
            return Err(WorldFault::new(WorldStep::Overlay, reason));
        }
    }
    Ok(())
}

fn put(entry: &Entry) -> Result<(), WorldFault> {
    let place = mounts::mount_point(&entry.at, entry.is_folder).on(entry.step, &entry.at)?;
    match &entry.what {
        What::Empty => mounts::mount_empty(&place).on(entry.step, &entry.at),
        What::Devices(nodes) => devices::mount_small(&entry.at, nodes),
        What::Terminals => devices::mount_terminals(&entry.at),
        What::Overlay { lowers, upper, work } => {
            mounts::mount_overlay(&place, lowers, upper, work).on(entry.step, &entry.at)
        }
        What::Tree(tree) => mounts::attach(tree, &place).on(entry.step, &entry.at),
    }
}

/// The innermost entry decides. Entries are sorted with the innermost last.
fn may_write(entries: &[Entry], point: &Path) -> bool {
    // Parts of `/proc` that must not be written are mounts below it.
    if point == Path::new("/proc") {
        return true;
    }
    match entries.iter().rev().find(|entry| point.starts_with(&entry.at)) {
        Some(entry) => match entry.writes {
            Writes::Nothing => false,
            Writes::Here => point == entry.at,
            Writes::Below => true,
        },
        None => false,
    }
}
