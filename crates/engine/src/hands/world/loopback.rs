//! Starts the loopback interface of a new network namespace, which begins without a single working one.

use std::io;
use std::io::ErrorKind;

use rustix::io::Errno;
use rustix::net::AddressFamily;
use rustix::net::RecvFlags;
use rustix::net::SendFlags;
use rustix::net::SocketFlags;
use rustix::net::SocketType;
use rustix::net::recv;
use rustix::net::send;
use rustix::net::socket_with;

const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const IFF_UP: u32 = 1;
const LOOPBACK_INDEX: u32 = 1;
const MESSAGE_BYTES: u32 = 32;

/// Asks the kernel by netlink, which needs no `unsafe` where an ioctl would, and reads its acknowledgement.
pub(super) fn start() -> io::Result<()> {
    // NETLINK_ROUTE has the number 0, which is the default protocol.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let mut message = Vec::with_capacity(32);
    // The header: length, kind, flags, sequence, port. Then `ifinfomsg`: family, type, index, flags, change.
    message.extend(MESSAGE_BYTES.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    for word in [1, 0, 0, LOOPBACK_INDEX, IFF_UP, IFF_UP] {
        message.extend(word.to_ne_bytes());
    }
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0u8; 128];
    let (count, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    let code = answer.get(16..20).filter(|_| count >= 20).and_then(|bytes| bytes.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(code) => Err(Errno::from_raw_os_error(-code).into()),
        None => Err(ErrorKind::InvalidData.into()),
    }
}
