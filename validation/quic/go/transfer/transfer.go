// Package transfer is what all programs of validation/quic/go do: the words of the command line, the keys and the data.
//
// The client opens a stream and sends a byte, `u` or `d`, and the number of bytes as eight bytes; then these bytes if it is
// `u`. The server answers with a byte, or with as many bytes as asked if it is `d`.
package transfer

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

const (
	// Longest is the time after which a program gives up.
	Longest = 120 * time.Second
	// Linger is how long a connection stays open when all is there: acknowledgements of what came late are to arrive.
	Linger = 400 * time.Millisecond
	// Window is the receive window in bytes: larger than what is sent, so that it limits nothing.
	Window = 64 << 20
)

// Task is what the command line says.
type Task struct {
	IsServer bool
	Address  string
	way      byte
	bytes    uint64
}

// Arguments reads the command line.
func Arguments() Task {
	task := Task{IsServer: os.Args[1] == "server", Address: "127.0.0.1:" + os.Args[2]}
	if !task.IsServer {
		bytes, err := strconv.ParseUint(os.Args[4], 10, 64)
		Check(err)
		task.way, task.bytes = os.Args[3][0], bytes
	}
	return task
}

// TLS is the certificate of the server, and the file of keys.
func (task Task) TLS() *tls.Config {
	keys, err := os.OpenFile(os.Getenv("SSLKEYLOGFILE"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	Check(err)
	config := &tls.Config{
		NextProtos: []string{"inorder"}, MinVersion: tls.VersionTLS13, KeyLogWriter: keys,
		ServerName: "localhost", InsecureSkipVerify: true,
	}
	if task.IsServer {
		certificate, err := tls.LoadX509KeyPair(os.Getenv("CERT"), os.Getenv("KEY"))
		Check(err)
		config.Certificates = []tls.Certificate{certificate}
	}
	return config
}

// Ask sends what the client sends, and reads the answer to its end.
func Ask(stream io.ReadWriteCloser, task Task) error {
	request := binary.BigEndian.AppendUint64([]byte{task.way}, task.bytes)
	if _, err := stream.Write(request); err != nil {
		return err
	}
	if task.way == 'u' {
		if err := send(stream, task.bytes); err != nil {
			return err
		}
	}
	if err := stream.Close(); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, stream)
	return err
}

// Answer reads what a client asks for, and sends it.
func Answer(stream io.ReadWriteCloser) error {
	request := make([]byte, 9)
	if _, err := io.ReadFull(stream, request); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, stream); err != nil {
		return err
	}
	bytes := uint64(1)
	if request[0] == 'd' {
		bytes = binary.BigEndian.Uint64(request[1:])
	}
	if err := send(stream, bytes); err != nil {
		return err
	}
	return stream.Close()
}

func send(stream io.Writer, bytes uint64) error {
	block := make([]byte, 64<<10)
	for bytes > 0 {
		part := min(bytes, uint64(len(block)))
		if _, err := stream.Write(block[:part]); err != nil {
			return err
		}
		bytes -= part
	}
	return nil
}

// Check ends the program with what went wrong.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
