package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"sluice/engine/exec"
	"sluice/engine/tool"
)

// Exit codes (P36).
const (
	exitYes         = 0
	exitNo          = 1 // a negative answer
	exitUsage       = 2 // usage, or unreadable input
	exitUnavailable = 3 // unavailable or locked
	exitDenied      = 4 // not permitted
	exitPartial     = 10
	exitWaiting     = 11
)

// command is one subcommand.
type command struct {
	name, line string
	run        func(ctx context.Context, io streams, args []string) int
}

// streams are the process's three files, so that tests can pass their own.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

func commands() []command {
	return []command{
		{"serve", "start the server and print a sign-in link (the default)", serve},
		{"run", `run a goal or a plan to its end: sluice run "goal" [--intent operate] [--json]`, runGoal},
		{"plan", "check a plan, or propose one: sluice plan check FILE | plan propose \"goal\"", planCommand},
		{"template", "list, show, save and run templates: sluice template run NAME --set slot=value", templateCommand},
		{"gate", "decide calls without making them: sluice gate check FILE|-", gateCommand},
		{"policy", "check a policy document, or try it on recorded calls: sluice policy check FILE | policy dry-run FILE", policyCommand},
		{"audit", "verify or export the log: sluice audit verify | audit export", auditCommand},
		{"erase", "erase a run's content, keeping its place in the chain: sluice erase RUN --reason TEXT", eraseRun},
		{"token", "make an API token: sluice token add --name NAME --ceiling observe", tokenCommand},
		{"models", "say per role what works of the models that are set: sluice models check", modelsCommand},
		{"fakemodel", "serve a scripted model, to try Sluice with one: sluice fakemodel", fakeModel},
		{"version", "print the version", version},
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == tool.ComputeWorker {
		os.Exit(computeWorker(streams{os.Stdin, os.Stdout, os.Stderr}))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(exec.GCPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := dispatch(ctx, streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// dispatch picks the subcommand; flags alone mean serve.
func dispatch(ctx context.Context, s streams, args []string) int {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-version") {
		return version(ctx, s, nil)
	}
	if len(args) == 0 || len(args[0]) > 0 && args[0][0] == '-' && !isHelp(args[0]) {
		return serve(ctx, s, args)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, s, args[1:])
		}
	}
	if isHelp(args[0]) || args[0] == "help" {
		usage(s.out)
		return exitYes
	}
	fmt.Fprintf(s.err, "sluice: there is no command %q\n\n", args[0])
	usage(s.err)
	return exitUsage
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

func usage(w io.Writer) {
	fmt.Fprint(w, "sluice runs agent work as plans behind a gate.\n\nusage: sluice COMMAND [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.line)
	}
	fmt.Fprint(w, "\nEvery command has --help. Exit codes: 0 yes, 1 no, 2 usage, 3 unavailable or locked,\n"+
		"4 not permitted; run also 10 partial success, 11 waiting for a person.\n")
}

func version(_ context.Context, s streams, _ []string) int {
	fmt.Fprintln(s.out, "sluice "+buildVersion())
	return exitYes
}

// errUsage marks an error of the caller's words.
var errUsage = errors.New("usage")

// complaint is an error for people: the mark of a wrong call says nothing to them.
func complaint(err error) string {
	text := err.Error()
	for {
		shorter, found := strings.CutSuffix(text, ": "+errUsage.Error())
		if !found {
			return text
		}
		text = shorter
	}
}

// fail prints an error on its own line and gives its exit code.
func fail(s streams, err error) int {
	fmt.Fprintln(s.err, "sluice: "+complaint(err))
	return exitCode(err)
}
