//! Writes a capture of generated TCP transfers, headers only. The same options give the same file.
//!
//! `cargo run --release --example generate -- FILE [--packets N] [--connections K]
//! [--displaced PERCENT] [--seed S] [--snaplen BYTES]`
//!
//! A snap length of 0 keeps exactly the headers of every frame.

mod traffic;

use inorder_capture::PcapWriter;
use inorder_wire::{Frame, LinkType};
use std::fs::File;
use std::io::{BufWriter, Write};
use traffic::{Options, Traffic};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("a file name is missing")?;
    let mut options = Options {
        packets: 1_000_000,
        connections: 100,
        displaced: 1.0,
        seed: 1,
        snaplen: 96,
    };
    while let Some(name) = args.next() {
        let value = args.next().ok_or("an option without a value")?;
        match name.as_str() {
            "--packets" => options.packets = value.parse()?,
            "--connections" => options.connections = value.parse()?,
            "--displaced" => options.displaced = value.parse()?,
            "--seed" => options.seed = value.parse()?,
            "--snaplen" => options.snaplen = value.parse()?,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    let snaplen = if options.snaplen == 0 {
        128
    } else {
        options.snaplen
    };
    let mut writer = PcapWriter::new(out, LinkType::ETHERNET, snaplen as u32)?;
    let mut traffic = Traffic::new(options);
    let mut number = 0;
    while let Some(captured) = traffic.next() {
        number += 1;
        writer.write(&Frame {
            ts_ns: captured.ts_ns,
            number,
            link: LinkType::ETHERNET,
            orig_len: captured.orig_len,
            data: captured.data,
        })?;
    }
    writer.into_inner().flush()?;
    println!("{number} frames");
    Ok(())
}
