package tool

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"

	gopsnet "github.com/shirou/gopsutil/v4/net"
)

func TestNetInfo_FindsAPortAndItsOwner(t *testing.T) {
	stream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	datagram, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer datagram.Close()
	w := newWorld(t, nil)
	var got netReport
	w.want("net_info", `{}`, &got)
	for protocol, address := range map[string]net.Addr{"tcp": stream.Addr(), "udp": datagram.LocalAddr()} {
		found := slices.IndexFunc(got.Ports, func(p netPort) bool {
			return p.Protocol == protocol && net.JoinHostPort(p.Address, strconv.Itoa(int(p.Port))) == address.String()
		})
		if found < 0 {
			t.Errorf("%s %s is not in %+v", protocol, address, got.Ports)
			continue
		}
		if port := got.Ports[found]; port.PID == nil || int(*port.PID) != os.Getpid() || port.Process == nil || *port.Process == "" {
			t.Errorf("%s: got owner %+v, want this process", protocol, port)
		}
	}
	lo := slices.IndexFunc(got.Interfaces, func(i netInterface) bool { return i.Loopback })
	if lo < 0 {
		t.Errorf("got no loopback interface in %+v", got.Interfaces)
	}
}

// A port whose owner the system does not tell is a normal output.
func TestGTraps_AnUnknownOwnerIsANormalOutput(t *testing.T) {
	tcp := gopsnet.ConnectionStat{Family: syscall.AF_INET, Type: syscall.SOCK_STREAM, Status: "LISTEN", Laddr: gopsnet.Addr{IP: "0.0.0.0", Port: 22}}
	connected, closed, udp6 := tcp, tcp, tcp
	connected.Status = "ESTABLISHED"
	closed.Laddr.Port = 0
	udp6.Family, udp6.Type, udp6.Status, udp6.Laddr.IP = syscall.AF_INET6, syscall.SOCK_DGRAM, "NONE", "::"
	gone := tcp
	gone.Laddr.Port, gone.Pid = 23, 1<<30
	ports := listening(context.Background(), []gopsnet.ConnectionStat{udp6, gone, connected, tcp, closed, tcp})
	got, err := json.Marshal(ports)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"protocol":"tcp","address":"0.0.0.0","port":22,"pid":null,"process":null},` +
		`{"protocol":"udp6","address":"::","port":22,"pid":null,"process":null},` +
		`{"protocol":"tcp","address":"0.0.0.0","port":23,"pid":1073741824,"process":null}]`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
