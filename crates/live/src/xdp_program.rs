//! The program that an interface runs for each received frame: TCP goes to the AF_XDP socket of its queue, everything
//! else to the kernel as before. If there is no socket, TCP goes to the kernel, too.
//!
//! It is assembled here, instruction by instruction (RFC 9669), so that no compiler for it is needed.

/// An instruction: operation, registers (source in the upper half), offset, immediate number.
pub type Instruction = [u8; 8];

const LOAD_8: u8 = 0x71;
const LOAD_16: u8 = 0x69;
const LOAD_32: u8 = 0x61;
const MOVE: u8 = 0xbf;
const MOVE_NUMBER: u8 = 0xb7;
const ADD_NUMBER: u8 = 0x07;
const JUMP: u8 = 0x05;
const JUMP_IF_GREATER: u8 = 0x2d;
const JUMP_IF_NUMBER: u8 = 0x15;
const JUMP_UNLESS_NUMBER: u8 = 0x55;
const LOAD_MAP: u8 = 0x18;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// The kernel's function `bpf_redirect_map`.
const REDIRECT_MAP: i32 = 51;
/// Verdict that hands the frame to the kernel.
const XDP_PASS: i32 = 2;
const TCP: i32 = 6;

fn instruction(
    operation: u8,
    destination: u8,
    source: u8,
    offset: i16,
    number: i32,
) -> Instruction {
    let [a, b] = offset.to_ne_bytes();
    let [c, d, e, f] = number.to_ne_bytes();
    let registers = match cfg!(target_endian = "little") {
        true => source << 4 | destination,
        false => destination << 4 | source,
    };
    [operation, registers, a, b, c, d, e, f]
}

/// The program for the map of sockets with this file descriptor.
pub fn program(map_fd: i32) -> Vec<Instruction> {
    let i = instruction;
    let ipv4 = i32::from(0x0800u16.to_be());
    let ipv6 = i32::from(0x86ddu16.to_be());
    vec![
        i(MOVE, 6, 1, 0, 0),
        // r2 and r3: begin and end of the frame.
        i(LOAD_32, 2, 1, 0, 0),
        i(LOAD_32, 3, 1, 4, 0),
        // Ethernet with IPv4 and TCP, or with IPv6, takes 54 bytes; anything shorter passes.
        i(MOVE, 4, 2, 0, 0),
        i(ADD_NUMBER, 4, 0, 0, 54),
        i(JUMP_IF_GREATER, 4, 3, 15, 0),
        i(LOAD_16, 5, 2, 12, 0),
        i(JUMP_IF_NUMBER, 5, 0, 5, ipv4),
        i(JUMP_UNLESS_NUMBER, 5, 0, 12, ipv6),
        // Link-local addresses, fe80::/10, belong to this interface alone.
        i(LOAD_8, 5, 2, 38, 0),
        i(JUMP_IF_NUMBER, 5, 0, 10, 0xfe),
        i(LOAD_8, 5, 2, 20, 0),
        i(JUMP, 0, 0, 1, 0),
        i(LOAD_8, 5, 2, 23, 0),
        i(JUMP_UNLESS_NUMBER, 5, 0, 6, TCP),
        // r2: the queue, the key of the map. The lower bits of r3 are the verdict if the map has no socket for it.
        i(LOAD_32, 2, 6, 16, 0),
        i(LOAD_MAP, 1, 1, 0, map_fd),
        i(0, 0, 0, 0, 0),
        i(MOVE_NUMBER, 3, 0, 0, XDP_PASS),
        i(CALL, 0, 0, 0, REDIRECT_MAP),
        i(EXIT, 0, 0, 0, 0),
        i(MOVE_NUMBER, 0, 0, 0, XDP_PASS),
        i(EXIT, 0, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program does with a frame, computed by interpreting its instructions: true if it is redirected.
    fn redirects(frame: &[u8]) -> bool {
        let program = program(3);
        let mut registers = [0i64; 11];
        let mut at = 0;
        for _ in 0..100 {
            let [operation, both, a, b, c, d, e, f] = program[at];
            let (to, from) = (usize::from(both & 15), usize::from(both >> 4));
            let offset = isize::from(i16::from_ne_bytes([a, b]));
            let number = i64::from(i32::from_ne_bytes([c, d, e, f]));
            at += 1;
            let byte = |index: isize| i64::from(frame[index as usize]);
            let jumps = match operation {
                LOAD_32 => {
                    // The context: begin and end of the frame as positions.
                    registers[to] = if offset == 4 { frame.len() as i64 } else { 0 };
                    false
                }
                LOAD_16 => {
                    registers[to] = i64::from(u16::from_ne_bytes([
                        byte(offset) as u8,
                        byte(offset + 1) as u8,
                    ]));
                    false
                }
                LOAD_8 => {
                    registers[to] = byte(offset);
                    false
                }
                MOVE => {
                    registers[to] = registers[from];
                    false
                }
                ADD_NUMBER => {
                    registers[to] += number;
                    false
                }
                JUMP => true,
                JUMP_IF_GREATER => registers[to] > registers[from],
                JUMP_IF_NUMBER => registers[to] == number,
                JUMP_UNLESS_NUMBER => registers[to] != number,
                CALL => return true,
                EXIT => return false,
                _ => false,
            };
            if jumps {
                at = at.checked_add_signed(offset).unwrap();
            }
        }
        panic!("the program does not end");
    }

    fn frame(kind: u16, changes: &[(usize, u8)]) -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[12..14].copy_from_slice(&kind.to_be_bytes());
        for (at, byte) in changes {
            frame[*at] = *byte;
        }
        frame
    }

    #[test]
    fn only_tcp_is_redirected() {
        assert!(redirects(&frame(0x0800, &[(23, 6)])));
        assert!(!redirects(&frame(0x0800, &[(23, 17)])));
        assert!(redirects(&frame(0x86dd, &[(20, 6), (38, 0x20)])));
        assert!(!redirects(&frame(0x86dd, &[(20, 58), (38, 0x20)])));
        assert!(!redirects(&frame(0x86dd, &[(20, 6), (38, 0xfe)])));
        assert!(!redirects(&frame(0x0806, &[(23, 6), (20, 6)])));
        assert!(!redirects(&frame(0x0800, &[(23, 6)])[..53]));
    }
}
