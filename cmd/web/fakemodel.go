package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice/engine/model/fake"
)

const scriptBytesMax = 4 << 20

// fakeModel serves a scripted model: for trying Sluice with a model without one,
// and for testing what happens when a model fails.
func fakeModel(ctx context.Context, s streams, args []string) int {
	var listen, script string
	var opt fake.Options
	f := newFlags("fakemodel", "fakemodel [--listen 127.0.0.1:0] [--script FILE] [--latency 200ms] [--fault NAME]")
	f.StringVar(&listen, "listen", "127.0.0.1:0", "address to listen on, loopback only")
	f.StringVar(&script, "script", "", "what to answer, JSON; without one it plans the README's example goals")
	f.StringVar(&opt.Script.Model, "model", "demo", "name of the model")
	f.DurationVar(&opt.Latency, "latency", 0, "time before each answer")
	f.Float64Var(&opt.Jitter, "jitter", 0, "share by which the latency differs, 0 to 1")
	f.Uint64Var(&opt.Seed, "seed", 1, "of the differences")
	f.StringVar(&opt.Fault, "fault", "", "shown by every answer: "+strings.Join(fake.Faults(), ", "))
	f.BoolVar(&opt.NoSchema, "no-schema", false, "refuse structured output, as older servers do")
	f.BoolVar(&opt.NoUsage, "no-usage", false, "say nothing of usage")
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	if err := checkFake(&opt, rest); err != nil {
		return fail(s, err)
	}
	if script != "" {
		raw, err := readLimited(script, scriptBytesMax)
		if err != nil {
			return fail(s, err)
		}
		name := opt.Script.Model
		if opt.Script, err = fake.ReadScript(raw); err != nil {
			return fail(s, fmt.Errorf("%w: %w", err, errUsage))
		}
		opt.Script.Model = first(opt.Script.Model, name)
	}
	if err := serveFake(ctx, s, listen, opt); err != nil {
		return fail(s, err)
	}
	return exitYes
}

func checkFake(opt *fake.Options, rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("fakemodel takes no arguments, got %q: %w", rest[0], errUsage)
	case opt.Fault != "" && !slices.Contains(fake.Faults(), opt.Fault):
		return fmt.Errorf("there is no fault %q: %w", opt.Fault, errUsage)
	case opt.Jitter < 0 || opt.Jitter > 1 || opt.Latency < 0:
		return fmt.Errorf("latency is not negative and jitter is from 0 to 1: %w", errUsage)
	}
	return nil
}

func serveFake(ctx context.Context, s streams, listen string, opt fake.Options) error {
	if err := checkListen(listen); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", listen, err)
	}
	said := slog.New(slog.NewTextHandler(s.err, nil))
	opt.Asked = func(role string) { said.Info("asked", "role", role) }
	model := fake.New(opt)
	server := &http.Server{Handler: model, ReadHeaderTimeout: 10 * time.Second}
	url := "http://" + listener.Addr().String() + "/v1"
	fmt.Fprintf(s.out, "Model %s at %s\n", opt.Script.Model, url)
	fmt.Fprintf(s.err, "In another terminal: sluice serve --planner-url %s --planner-model %s\n", url, opt.Script.Model)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	model.Close()
	stop, free := context.WithTimeout(context.Background(), shutdownWait)
	defer free()
	if err := server.Shutdown(stop); err != nil {
		return fmt.Errorf("stop server: %w", err)
	}
	return nil
}
