package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// configBytesMax bounds the configuration file.
const configBytesMax = 64 << 10

// config is what flags, environment and file say, in that order of strength (P42).
type config struct {
	Listen    string     `yaml:"listen"`
	Data      string     `yaml:"data"`
	Workspace string     `yaml:"workspace"`
	Policy    string     `yaml:"policy"` // a document to publish at start
	Verbose   bool       `yaml:"verbose"`
	SMTP      mailConfig `yaml:"smtp"`
	Models    modelFlags `yaml:"models"` // of the file, or of flags
	file      string

	ofEnvironment, ofFile modelFlags // after settle
}

const defaultListen = "127.0.0.1:8321"

// flags declares what every command takes that may carry out a run.
func (c *config) flags(f *flag.FlagSet) {
	c.storeFlags(f)
	c.SMTP.flags(f)
	c.Models.declare(f)
}

// storeFlags declares what every command that needs the store takes.
func (c *config) storeFlags(f *flag.FlagSet) {
	f.StringVar(&c.Data, "data", "", "data directory (SLUICE_DATA; default: the state folder of the user)")
	f.StringVar(&c.Workspace, "workspace", "", "folder of the file and git tools (SLUICE_WORKSPACE; default: DATA/workspace)")
	f.StringVar(&c.file, "config", "", "configuration file, YAML (SLUICE_CONFIG)")
	f.BoolVar(&c.Verbose, "verbose", false, "log more (SLUICE_VERBOSE)")
}

// settle fills what flags left open from the environment, then the file, then
// the defaults.
func (c *config) settle() error {
	file, err := readConfig(first(c.file, os.Getenv("SLUICE_CONFIG")))
	if err != nil {
		return err
	}
	c.Data = first(c.Data, os.Getenv("SLUICE_DATA"), file.Data)
	if c.Data == "" {
		if c.Data, err = stateFolder(); err != nil {
			return err
		}
	}
	if c.Data, err = filepath.Abs(c.Data); err != nil {
		return fmt.Errorf("find data directory: %w", err)
	}
	c.Workspace = first(c.Workspace, os.Getenv("SLUICE_WORKSPACE"), file.Workspace, filepath.Join(c.Data, "workspace"))
	c.Listen = first(c.Listen, os.Getenv("SLUICE_LISTEN"), file.Listen, defaultListen)
	c.Policy = first(c.Policy, os.Getenv("SLUICE_POLICY"), file.Policy)
	c.Verbose = c.Verbose || os.Getenv("SLUICE_VERBOSE") != "" || file.Verbose
	c.ofEnvironment, c.ofFile = modelEnvironment(), file.Models
	for _, s := range c.sources() {
		if err := s.flags.readKeys(); err != nil {
			return err
		}
	}
	return c.SMTP.settle(file.SMTP)
}

// sources are where models are set besides the page, the strongest first.
func (c *config) sources() []source {
	return []source{{"flag", &c.Models}, {"environment", &c.ofEnvironment}, {"file", &c.ofFile}}
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func readConfig(path string) (config, error) {
	var c config
	if path == "" {
		return c, nil
	}
	raw, err := readLimited(path, configBytesMax)
	if err != nil {
		return c, fmt.Errorf("read configuration: %w", err)
	}
	d := yaml.NewDecoder(strings.NewReader(string(raw)))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("read configuration %s: %w: %w", path, err, errUsage)
	}
	return c, nil
}

// stateFolder is the XDG state folder of the user.
func stateFolder() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "sluice"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find data directory: %w; name one with --data", err)
	}
	return filepath.Join(home, ".local", "state", "sluice"), nil
}

// checkListen refuses addresses that other machines reach: there are no
// passwords yet, so nothing but the sign-in link would stand before them (P42).
func checkListen(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("listen on %q: %w: %w", address, err, errUsage)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("listen on %q: only loopback addresses are served, because there are no passwords yet; "+
		"use 127.0.0.1 and a tunnel: %w", address, errUsage)
}

// readLimited reads a file up to a limit.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readUpTo(f, path, limit)
}

// readUpTo reads to the end. What is beyond the limit comes cut, with an error.
func readUpTo(r io.Reader, path string, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, errUsage) // unreadable input (P36)
	}
	if int64(len(raw)) > limit {
		return raw, fmt.Errorf("%s is larger than %d bytes: %w", path, limit, errUsage)
	}
	return raw, nil
}

// parse reads flags wherever they stand among the arguments and gives the
// arguments that are none.
func parse(f *flag.FlagSet, s streams, args []string) (rest []string, done bool, code int) {
	f.SetOutput(s.err)
	if slices.ContainsFunc(args, isHelp) {
		f.SetOutput(s.out) // asked for, so it is the answer and no complaint
	}
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, true, exitYes
			}
			return nil, true, exitUsage
		}
		args = f.Args()
		if len(args) == 0 {
			return rest, false, 0
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}

// newFlags is a flag set whose help says what the command is for.
func newFlags(name, use string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "usage: sluice %s\n\n", use)
		f.PrintDefaults()
	}
	return f
}
