// SPDX-License-Identifier: MIT OR Apache-2.0

// Sends BYTES to ADDRESS PORT over a connection that is told so beforehand, and prints what the agent knows of the
// path. Works the same, and says so, where no agent runs: go run size.go 192.0.2.1 9000 30000
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// include/headstart.h
const (
	headstartSize   = 0x7e00
	headstartWeight = 0x7e01
)

// struct headstart_path
type path struct {
	Flags, FirstWindow, Remembered, Believed uint32
	SrttUs, MinRttUs, AgeMs, Size, Weight    uint32
}

// False if no agent attends to this process: nothing has changed.
func say(fd uintptr, option, value int) bool {
	err := syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, option, value)
	if err != nil && !errors.Is(err, syscall.ENOPROTOOPT) {
		log.Fatal(err)
	}
	return err == nil
}

// False if no agent attends to this process.
func pathOf(fd uintptr) (p path, ok bool) {
	length := uint32(unsafe.Sizeof(p))
	_, _, err := syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, headstartSize,
		uintptr(unsafe.Pointer(&p)), uintptr(unsafe.Pointer(&length)), 0)
	if err != 0 && err != syscall.ENOPROTOOPT {
		log.Fatal(err)
	}
	return p, err == 0
}

func main() {
	size, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	stream, err := net.Dial("tcp", net.JoinHostPort(os.Args[1], os.Args[2]))
	if err != nil {
		log.Fatal(err)
	}
	connection := stream.(*net.TCPConn)
	raw, err := connection.SyscallConn()
	if err != nil {
		log.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		say(fd, headstartSize, size)
		say(fd, headstartWeight, 3)
	})
	if _, err := connection.Write(bytes.Repeat([]byte("x"), size)); err != nil {
		log.Fatal(err)
	}
	connection.CloseWrite()
	io.Copy(io.Discard, connection) // until the other end has read all and closes
	raw.Control(func(fd uintptr) {
		if p, ok := pathOf(fd); ok {
			fmt.Printf("began with %d, remembered %d, weight %d\n", p.FirstWindow, p.Remembered, p.Weight)
		} else {
			fmt.Println("no agent")
		}
	})
}
