package main

import (
	"errors"
	"io/fs"
	"runtime/debug"

	"sluice/engine"
	"sluice/engine/exec"
	"sluice/store"
)

// exitCode maps an error to P36.
func exitCode(err error) int {
	var refused *engine.Refusal
	switch {
	case errors.Is(err, errUsage), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, store.ErrInvalid):
		return exitUsage
	case errors.Is(err, store.ErrLocked), errors.Is(err, exec.ErrClosed), errors.Is(err, errUnreachable):
		return exitUnavailable
	case errors.As(err, &refused):
		return refusalCode(refused)
	case errors.Is(err, store.ErrNotFound):
		return exitNo
	}
	return exitUnavailable
}

func refusalCode(r *engine.Refusal) int {
	switch r.Code {
	case "denied":
		return exitDenied
	case "invalid":
		return exitUsage
	case "unavailable", "internal":
		return exitUnavailable
	}
	return exitNo
}

// refusal turns the store's errors into what a client may act on.
func refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return &engine.Refusal{Code: "not_found", Message: "there is nothing with this id", Fix: "check the id, or whether you may see it"}
	case errors.Is(err, store.ErrConflict):
		return &engine.Refusal{Code: "conflict", Message: err.Error(), Fix: "read it again, then decide"}
	case errors.Is(err, store.ErrInvalid):
		return &engine.Refusal{Code: "invalid", Message: err.Error(), Fix: "correct it and send it again"}
	case errors.Is(err, store.ErrDisk):
		return &engine.Refusal{Code: "unavailable", Message: "the log could not be written, so nothing was started or changed",
			Fix: "make room on the disk that holds the data directory, or see the server's log, then try again"}
	case errors.Is(err, exec.ErrClosed), errors.Is(err, exec.ErrBusy), errors.Is(err, store.ErrClosed):
		return &engine.Refusal{Code: "unavailable", Message: err.Error(), Fix: "try again in a moment"}
	}
	return err
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
