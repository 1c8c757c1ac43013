// Transfers over golang.org/x/net/quic, with its own qlog handler. `xnet server PORT` or `xnet client PORT up|down BYTES`.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"golang.org/x/net/quic"
	"golang.org/x/net/quic/qlog"

	"inorder/quic/transfer"
)

// What the program calls a stream: closing one ends what it sends.
type stream struct{ *quic.Stream }

func (s stream) Close() error {
	s.CloseWrite()
	return nil
}

func main() {
	task := transfer.Arguments()
	settings := &quic.Config{
		TLSConfig:                task.TLS(),
		MaxStreamReadBufferSize:  transfer.Window,
		MaxStreamWriteBufferSize: 1 << 20,
		MaxConnReadBufferSize:    transfer.Window,
		QLogLogger: slog.New(qlog.NewJSONHandler(qlog.HandlerOptions{
			Dir: os.Getenv("QLOGDIR"), Level: quic.QLogLevelFrame,
		})),
	}
	ctx, stop := context.WithTimeout(context.Background(), transfer.Longest)
	defer stop()
	if task.IsServer {
		endpoint, err := quic.Listen("udp", task.Address, settings)
		transfer.Check(err)
		fmt.Println("ready")
		conn, err := endpoint.Accept(ctx)
		transfer.Check(err)
		answers, err := conn.AcceptStream(ctx)
		transfer.Check(err)
		transfer.Check(transfer.Answer(stream{answers}))
		// The client closes.
		conn.Wait(ctx)
		endpoint.Close(ctx)
		return
	}
	endpoint, err := quic.Listen("udp", "127.0.0.1:0", nil)
	transfer.Check(err)
	conn, err := endpoint.Dial(ctx, "udp", task.Address, settings)
	transfer.Check(err)
	asks, err := conn.NewStream(ctx)
	transfer.Check(err)
	transfer.Check(transfer.Ask(stream{asks}, task))
	time.Sleep(transfer.Linger)
	conn.Close()
	endpoint.Close(ctx)
}
