package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"syscall"

	"github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"

	"sluice/engine/plan"
	"sluice/policy"
)

// netEntriesMax bounds the ports and the interfaces reported, each.
const netEntriesMax = 2000

const netInfoOutput = `{
	"type": "object", "additionalProperties": false, "required": ["ports", "interfaces", "truncated"],
	"properties": {
		"ports": {"type": "array", "description": "Open ports: what this machine listens on.", "items": {
			"type": "object", "additionalProperties": false, "required": ["protocol", "address", "port", "pid", "process"],
			"properties": {
				"protocol": {"enum": ["tcp", "tcp6", "udp", "udp6"], "description": "Protocol."},
				"address": {"type": "string", "description": "Local address; 0.0.0.0 and :: mean all."},
				"port": {"type": "integer", "description": "Local port."},
				"pid": {"type": ["integer", "null"], "description": "Process that owns it; null when the system does not say."},
				"process": {"type": ["string", "null"], "description": "Name of that process; null when unknown."}
			}}},
		"interfaces": {"type": "array", "description": "Network interfaces.", "items": {
			"type": "object", "additionalProperties": false, "required": ["name", "up", "loopback", "mtu", "mac", "addresses"],
			"properties": {
				"name": {"type": "string", "description": "Name, such as eth0."},
				"up": {"type": "boolean", "description": "True when it is on."},
				"loopback": {"type": "boolean", "description": "True when it reaches only this machine."},
				"mtu": {"type": "integer", "description": "Largest packet, bytes."},
				"mac": {"type": "string", "description": "Hardware address; empty without one."},
				"addresses": {"type": "array", "description": "Addresses with prefix length.", "items": {"type": "string"}}
			}}},
		"truncated": {"type": "boolean", "description": "True when there are more entries than given."}
	}}`

func netInfo(*host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "net_info", Effect: policy.Read, Impact: policy.Observe},
			Summary: "List open (listening) network ports with the processes that own them, and interfaces.",
			Input:   json.RawMessage(noInput), Output: json.RawMessage(netInfoOutput),
			Timeout: systemTimeout,
			Bytes:   4 << 20,
		},
		run: readNetwork,
	}
}

type netPort struct {
	Protocol string  `json:"protocol"`
	Address  string  `json:"address"`
	Port     uint32  `json:"port"`
	PID      *int32  `json:"pid"`
	Process  *string `json:"process"`
}

type netInterface struct {
	Name      string   `json:"name"`
	Up        bool     `json:"up"`
	Loopback  bool     `json:"loopback"`
	MTU       int      `json:"mtu"`
	MAC       string   `json:"mac"`
	Addresses []string `json:"addresses"`
}

type netReport struct {
	Ports      []netPort      `json:"ports"`
	Interfaces []netInterface `json:"interfaces"`
	Truncated  bool           `json:"truncated"`
}

func readNetwork(ctx context.Context, r Request) ([]byte, error) {
	if err := decode(r.Params, &struct{}{}); err != nil {
		return nil, err
	}
	connections, err := net.ConnectionsWithoutUidsWithContext(ctx, "inet")
	if err != nil {
		return nil, err
	}
	interfaces, err := net.InterfacesWithContext(ctx)
	if err != nil {
		return nil, err
	}
	report := netReport{Ports: listening(ctx, connections), Interfaces: make([]netInterface, 0, len(interfaces))}
	for _, i := range interfaces {
		report.Interfaces = append(report.Interfaces, newNetInterface(i))
	}
	report.Truncated = len(report.Ports) > netEntriesMax || len(report.Interfaces) > netEntriesMax
	report.Ports = report.Ports[:min(len(report.Ports), netEntriesMax)]
	report.Interfaces = report.Interfaces[:min(len(report.Interfaces), netEntriesMax)]
	return encode(report)
}

// listening picks the sockets that wait for others, sorted and without repeats.
func listening(ctx context.Context, connections []net.ConnectionStat) []netPort {
	ports := []netPort{}
	names := map[int32]*string{}
	for _, c := range connections {
		waiting := c.Type == syscall.SOCK_STREAM && c.Status == "LISTEN" || c.Type == syscall.SOCK_DGRAM && c.Raddr.Port == 0
		if !waiting || c.Laddr.Port == 0 {
			continue
		}
		port := netPort{Protocol: protocol(c), Address: c.Laddr.IP, Port: c.Laddr.Port}
		if c.Pid > 0 { // the owner may be unknown (spec.md part G)
			port.PID, port.Process = &c.Pid, processName(ctx, names, c.Pid)
		}
		ports = append(ports, port)
	}
	slices.SortFunc(ports, func(a, b netPort) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol),
			cmp.Compare(a.Address, b.Address), cmp.Compare(pidOf(a), pidOf(b)))
	})
	return slices.CompactFunc(ports, func(a, b netPort) bool {
		return a.Port == b.Port && a.Protocol == b.Protocol && a.Address == b.Address && pidOf(a) == pidOf(b)
	})
}

func pidOf(p netPort) int32 {
	if p.PID == nil {
		return 0
	}
	return *p.PID
}

func protocol(c net.ConnectionStat) string {
	name := "tcp"
	if c.Type == syscall.SOCK_DGRAM {
		name = "udp"
	}
	if c.Family == syscall.AF_INET6 {
		name += "6"
	}
	return name
}

// processName looks a name up once per call of the tool.
func processName(ctx context.Context, names map[int32]*string, pid int32) *string {
	if name, found := names[pid]; found {
		return name
	}
	names[pid] = nil
	if p, err := process.NewProcessWithContext(ctx, pid); err == nil {
		names[pid] = commandName(ctx, p)
	}
	return names[pid]
}

func newNetInterface(i net.InterfaceStat) netInterface {
	addresses := make([]string, 0, len(i.Addrs))
	for _, address := range i.Addrs {
		addresses = append(addresses, address.Addr)
	}
	return netInterface{
		Name: i.Name, Up: slices.Contains(i.Flags, "up"), Loopback: slices.Contains(i.Flags, "loopback"),
		MTU: i.MTU, MAC: i.HardwareAddr, Addresses: addresses,
	}
}
