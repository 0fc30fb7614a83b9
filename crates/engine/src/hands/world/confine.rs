//! What the first process of a world gives up before it starts the agent, for itself and for all that come after it.

use rustix::process::DumpableBehavior;
use rustix::process::set_dumpable_behavior;
use rustix::thread::CapabilitiesSecureBits;
use rustix::thread::CapabilitySet;
use rustix::thread::CapabilitySets;
use rustix::thread::capabilities;
use rustix::thread::clear_ambient_capability_set;
use rustix::thread::configure_capability_in_ambient_set;
use rustix::thread::remove_capability_from_bounding_set;
use rustix::thread::set_capabilities;
use rustix::thread::set_capabilities_secure_bits;
use rustix::thread::set_no_new_privs;

use crate::hands::world::AtStep;
use crate::hands::world::WorldFault;
use crate::hands::world::WorldStep;

/// Capabilities have numbers below this one. The kernel says by an error where its own list ends.
const CAPABILITIES_MAX: u32 = 64;

/// Passes the capabilities that this process has in its own user namespace on to the program that it starts next. A
/// program of a user other than root would lose them.
pub(super) fn pass_on() -> Result<(), WorldFault> {
    let held = capabilities(None).at(WorldStep::UserNamespace)?;
    let sets = CapabilitySets { inheritable: held.permitted, ..held };
    set_capabilities(None, sets).at(WorldStep::UserNamespace)?;
    for capability in each().filter(|capability| held.permitted.contains(*capability)) {
        configure_capability_in_ambient_set(capability, true).at(WorldStep::UserNamespace)?;
    }
    Ok(())
}

/// Drops every capability, for good: none is left, none can come back by a program of root or one with capabilities
/// of its own, and the switches that say so are locked.
pub(super) fn drop_privileges() -> Result<(), WorldFault> {
    let step = WorldStep::Privileges;
    let locked = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    set_capabilities_secure_bits(locked).at(step)?;
    clear_ambient_capability_set().at(step)?;
    for capability in each() {
        if remove_capability_from_bounding_set(capability).is_err() {
            break;
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .at(step)?;
    set_no_new_privs(true).at(step)?;
    let left = capabilities(None).at(step)?;
    if !(left.effective | left.permitted | left.inheritable).is_empty() {
        return Err(WorldFault::new(step, "the kernel left some capabilities"));
    }
    // Neither memory, descriptors nor root folder of this process can be reached by the agent through `/proc/1`.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at(step)
}

fn each() -> impl Iterator<Item = CapabilitySet> {
    (0..CAPABILITIES_MAX).map(|number| CapabilitySet::from_bits_retain(1 << number))
}
