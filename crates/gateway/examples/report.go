// A server that tells its site's gateway what each connection has met. Standard library alone.
//
//	go run report.go 8080 | headstart report --config agent.toml -
//
// It answers every request with 200 KB (HTTP/1.0). At the end of a connection it reads TCP_INFO, as the applications of TCP/SPAND do
// (Zhang, Qiu & Keshav 2000, section 5.1), and writes a line for `headstart report`, which reports only the prefix of the address.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// The kernel fills in as much of struct tcp_info as it knows.
const room = 512

// Bytes of an answer.
const size = 200_000

func tcpInfo(connection *net.TCPConn) ([]byte, error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return nil, err
	}
	info, length := make([]byte, room), uint32(room)
	var failed syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
			uintptr(unsafe.Pointer(&info[0])), uintptr(unsafe.Pointer(&length)), 0)
	})
	if err == nil && failed != 0 {
		err = failed
	}
	return info[:length], err
}

func serve(connection *net.TCPConn) {
	defer connection.Close()
	if _, err := connection.Read(make([]byte, 65536)); err != nil {
		return
	}
	fmt.Fprintf(connection, "HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n", size)
	connection.Write(make([]byte, size))
	connection.CloseWrite()
	// The peer closes when it has all: everything is acknowledged by then.
	io.Copy(io.Discard, connection)
	info, err := tcpInfo(connection)
	if err != nil {
		log.Print(err)
		return
	}
	peer := connection.RemoteAddr().(*net.TCPAddr).IP.String()
	line, _ := json.Marshal(map[string]string{"peer": peer, "tcp_info": hex.EncodeToString(info)})
	fmt.Println(string(line))
}

func main() {
	listener, err := net.Listen("tcp4", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(connection.(*net.TCPConn))
	}
}
