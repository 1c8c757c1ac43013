// Transfers over quic-go, with its own qlog tracer. `quicgo server PORT` or `quicgo client PORT up|down BYTES`.
package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"

	"inorder/quic/transfer"
)

func main() {
	task := transfer.Arguments()
	settings := &quic.Config{
		Tracer:                     qlog.DefaultConnectionTracer,
		MaxIdleTimeout:             20 * time.Second,
		InitialStreamReceiveWindow: transfer.Window, MaxStreamReceiveWindow: transfer.Window,
		InitialConnectionReceiveWindow: transfer.Window, MaxConnectionReceiveWindow: transfer.Window,
	}
	ctx, stop := context.WithTimeout(context.Background(), transfer.Longest)
	defer stop()
	if task.IsServer {
		serve(ctx, task, settings)
	} else {
		ask(ctx, task, settings)
	}
	// The log is written by a thread of its own.
	time.Sleep(100 * time.Millisecond)
}

func serve(ctx context.Context, task transfer.Task, settings *quic.Config) {
	listener, err := quic.ListenAddr(task.Address, task.TLS(), settings)
	transfer.Check(err)
	fmt.Println("ready")
	conn, err := listener.Accept(ctx)
	transfer.Check(err)
	stream, err := conn.AcceptStream(ctx)
	transfer.Check(err)
	transfer.Check(transfer.Answer(stream))
	// The client closes.
	<-conn.Context().Done()
}

func ask(ctx context.Context, task transfer.Task, settings *quic.Config) {
	at, err := net.ResolveUDPAddr("udp", task.Address)
	transfer.Check(err)
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	transfer.Check(err)
	conn, err := quic.Dial(ctx, socket, at, task.TLS(), settings)
	transfer.Check(err)
	stream, err := conn.OpenStreamSync(ctx)
	transfer.Check(err)
	transfer.Check(transfer.Ask(stream, task))
	time.Sleep(transfer.Linger)
	transfer.Check(conn.CloseWithError(0, ""))
}
