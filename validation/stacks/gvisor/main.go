// gVisor's netstack as one end of the path: `gvisor client|server up BYTES | fetch TIMES BYTES [KEY=VALUE...]`.
//
// Packets come and go through the standard input (see ../path/src/end.rs). Keys: congestion=reno|cubic, sack=0|1,
// recovery=rack|none, flows=N (connections at the same time, to ports 5001 and above).
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

const (
	port    = 5001
	request = 100
	// How long the stack still answers after its application has ended.
	linger = 700 * time.Millisecond
)

var addresses = map[string]tcpip.Address{
	"client": tcpip.AddrFrom4([4]byte{192, 0, 2, 1}),
	"server": tcpip.AddrFrom4([4]byte{192, 0, 2, 2}),
}

type work struct {
	up           bool
	times, bytes int
}

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "gvisor client|server up BYTES | fetch TIMES BYTES [KEY=VALUE...]")
		os.Exit(2)
	}
	role, words := os.Args[1], os.Args[2:]
	job := work{up: words[0] == "up", times: 1, bytes: number(words[1])}
	words = words[2:]
	if !job.up {
		job.times, job.bytes = job.bytes, number(words[0])
		words = words[1:]
	}
	keys := map[string]string{"flows": "1"}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		keys[key] = value
	}
	s := newStack(role, keys)
	var group sync.WaitGroup
	ready := &sync.WaitGroup{}
	for i := 0; i < number(keys["flows"]); i++ {
		group.Add(1)
		ready.Add(1)
		go func(port uint16) {
			defer group.Done()
			if role == "client" {
				ready.Done()
				client(s, port, job)
			} else {
				server(s, port, job, ready)
			}
		}(uint16(port + i))
	}
	if role == "server" {
		ready.Wait()
		check(syscallWrite([]byte{'r'}))
	}
	group.Wait()
	time.Sleep(linger)
}

func newStack(role string, keys map[string]string) *stack.Stack {
	s := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
	})
	set := func(option tcpip.SettableTransportProtocolOption) {
		if err := s.SetTransportProtocolOption(tcp.ProtocolNumber, option); err != nil {
			fail(err)
		}
	}
	sack := tcpip.TCPSACKEnabled(keys["sack"] != "0")
	set(&sack)
	if name, given := keys["congestion"]; given {
		congestion := tcpip.CongestionControlOption(name)
		set(&congestion)
	}
	if keys["recovery"] == "none" {
		recovery := tcpip.TCPRecovery(0)
		set(&recovery)
	}
	link := channel.New(4096, 1500, "")
	if err := s.CreateNIC(1, link); err != nil {
		fail(err)
	}
	address := tcpip.ProtocolAddress{
		Protocol:          ipv4.ProtocolNumber,
		AddressWithPrefix: tcpip.AddressWithPrefix{Address: addresses[role], PrefixLen: 24},
	}
	if err := s.AddProtocolAddress(1, address, stack.AddressProperties{}); err != nil {
		fail(err)
	}
	s.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: 1}})
	if role == "client" {
		check(syscallWrite([]byte{'r'}))
	}
	outgoing := make(notify, 1)
	link.AddNotify(outgoing)
	go send(link, outgoing)
	go receive(link)
	return s
}

type notify chan struct{}

func (n notify) WriteNotify() {
	select {
	case n <- struct{}{}:
	default:
	}
}

func send(link *channel.Endpoint, outgoing notify) {
	for range outgoing {
		for packet := link.Read(); packet != nil; packet = link.Read() {
			view := packet.ToView()
			_ = syscallWrite(view.AsSlice())
			packet.DecRef()
		}
	}
}

func receive(link *channel.Endpoint) {
	data := make([]byte, 65536)
	for {
		n, err := syscall.Read(0, data)
		if err == syscall.EINTR || err == syscall.EAGAIN {
			continue
		}
		if n <= 0 {
			os.Exit(0)
		}
		packet := stack.NewPacketBuffer(stack.PacketBufferOptions{
			Payload: buffer.MakeWithData(append([]byte(nil), data[:n]...)),
		})
		link.InjectInbound(ipv4.ProtocolNumber, packet)
		packet.DecRef()
	}
}

func client(s *stack.Stack, port uint16, job work) {
	c, err := gonet.DialTCP(s, tcpip.FullAddress{NIC: 1, Addr: addresses["server"], Port: port}, ipv4.ProtocolNumber)
	check(err)
	if job.up {
		_, err = c.Write(make([]byte, job.bytes))
		check(err)
		check(c.CloseWrite())
		_, _ = io.Copy(io.Discard, c)
		return
	}
	for i := 0; i < job.times; i++ {
		_, err = c.Write(make([]byte, request))
		check(err)
		_, err = io.CopyN(io.Discard, c, int64(job.bytes))
		check(err)
	}
	c.Close()
}

func server(s *stack.Stack, port uint16, job work, ready *sync.WaitGroup) {
	l, err := gonet.ListenTCP(s, tcpip.FullAddress{NIC: 1, Port: port}, ipv4.ProtocolNumber)
	check(err)
	ready.Done()
	c, err := l.Accept()
	check(err)
	defer c.Close()
	for i := 0; !job.up && i < job.times; i++ {
		_, err = io.ReadFull(c, make([]byte, request))
		check(err)
		_, err = c.Write(make([]byte, job.bytes))
		check(err)
	}
	_, _ = io.Copy(io.Discard, c)
}

func syscallWrite(data []byte) error {
	for {
		_, err := syscall.Write(0, data)
		if err != syscall.EINTR && err != syscall.EAGAIN {
			return err
		}
	}
}

func number(word string) int {
	n, err := strconv.Atoi(word)
	check(err)
	return n
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err any) {
	fmt.Fprintln(os.Stderr, "gvisor:", err)
	os.Exit(1)
}
