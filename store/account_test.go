package store_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"

	"sluice/policy"
	"sluice/store"
)

// The session manager finds both forms of its store in Sessions.
var (
	_ scs.Store    = (*store.Sessions)(nil)
	_ scs.CtxStore = (*store.Sessions)(nil)
)

// openTimed gives a store whose clock the test moves, with user 1.
func openTimed(t *testing.T) (*store.Store, *clock) {
	t.Helper()
	c := &clock{at: time.Unix(1_700_000_000, 0)}
	s, err := store.Open(ctx, store.Options{Path: t.TempDir(), Now: c.now, WALBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.EnsureFirstUser(ctx, "owner"); err != nil {
		t.Fatal(err)
	}
	return s, c
}

func TestP35_TheFirstUserHasAllRoles(t *testing.T) {
	s, _ := openTimed(t)
	again, err := s.EnsureFirstUser(ctx, "someone else")
	if err != nil || again.ID != 1 || again.Name != "owner" || !slices.Equal(again.Roles, store.AllRoles()) || len(again.Roles) != 6 {
		t.Errorf("got %+v %v, want user 1 as made first, with six roles", again, err)
	}
	second, err := s.AddUser(ctx, "second", []store.Role{store.RoleApprover})
	if err != nil || second.ID == 1 || !slices.Equal(second.Roles, []store.Role{store.RoleApprover}) {
		t.Errorf("got %+v %v, want another user who approves", second, err)
	}
	if _, err := s.AddUser(ctx, "second", nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("same name: got %v, want a conflict", err)
	}
	if _, err := s.AddUser(ctx, "third", []store.Role{"root"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("unknown role: got %v, want invalid", err)
	}
	if _, err := s.User(ctx, 99); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown user: got %v, want not found", err)
	}
}

func TestP35_ASignInLinkWorksOnce(t *testing.T) {
	s, c := openTimed(t)
	secret, err := s.CreateSignIn(ctx, 1, time.Minute)
	if err != nil || len(secret) < 40 {
		t.Fatalf("got %q %v, want a long secret", secret, err)
	}
	const racers = 8
	results := make([]error, racers)
	var all sync.WaitGroup
	for i := range racers {
		all.Add(1)
		go func() {
			defer all.Done()
			_, results[i] = s.UseSignIn(ctx, secret)
		}()
	}
	all.Wait()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("loser: got %v, want not found", err)
		}
	}
	if won != 1 {
		t.Errorf("the link worked %d times, want once", won)
	}
	late, _ := s.CreateSignIn(ctx, 1, time.Minute)
	c.at = c.at.Add(time.Minute)
	if _, err := s.UseSignIn(ctx, late); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("expired link: got %v, want not found", err)
	}
	if _, err := s.CreateSignIn(ctx, 7, time.Minute); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("link for nobody: got %v, want not found", err)
	}
}

func TestP42a_ATokenIsFoundBySecretUntilRevoked(t *testing.T) {
	s, _ := openTimed(t)
	id, secret, err := s.AddToken(ctx, "ci", policy.Operate, 1)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.TokenBySecret(ctx, secret)
	if err != nil || token.ID != id || token.Name != "ci" || token.Ceiling != policy.Operate || token.User != 1 {
		t.Errorf("got %+v %v, want the token as made", token, err)
	}
	for _, wrong := range []string{"", id, secret + "x", secret[:len(secret)-1]} {
		if _, err := s.TokenBySecret(ctx, wrong); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("secret %q: got %v, want not found", wrong, err)
		}
	}
	if err := s.RevokeToken(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TokenBySecret(ctx, secret); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("revoked: got %v, want not found", err)
	}
	if err := s.RevokeToken(ctx, id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("revoke again: got %v, want not found", err)
	}
	if tokens, err := s.Tokens(ctx); err != nil || len(tokens) != 1 || tokens[0].RevokedAt == 0 {
		t.Errorf("list: got %+v %v, want the revoked token", tokens, err)
	}
	for _, bad := range []struct {
		name    string
		ceiling policy.Rank
		want    error
		user    int64
	}{{"", 0, store.ErrInvalid, 1}, {"x", -1, store.ErrInvalid, 1}, {"x", 201, store.ErrInvalid, 1}, {"x", 0, store.ErrNotFound, 9}} {
		if _, _, err := s.AddToken(ctx, bad.name, bad.ceiling, bad.user); !errors.Is(err, bad.want) {
			t.Errorf("%+v: got %v", bad, err)
		}
	}
}

func TestP33_SessionsExpireAndEnd(t *testing.T) {
	s, c := openTimed(t)
	sessions := s.Sessions()
	expect := func(token, want string) {
		t.Helper()
		data, found, err := sessions.Find(token)
		if err != nil || found != (want != "") || string(data) != want {
			t.Errorf("session %s: got %q %v %v, want %q", token, data, found, err, want)
		}
	}
	for token, data := range map[string]string{"a": "one", "b": "two"} {
		if err := sessions.Commit(token, []byte(data), c.at.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := sessions.Commit("a", []byte("three"), c.at.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	expect("a", "three")
	expect("b", "two")
	expect("c", "")
	c.at = c.at.Add(time.Hour)
	expect("b", "")
	if err := sessions.Delete("a"); err != nil {
		t.Fatal(err)
	}
	expect("a", "")
	if err := sessions.Delete("never"); err != nil {
		t.Errorf("deleting an unknown session: %v", err)
	}
	if err := sessions.Commit("big", make([]byte, 1<<20), c.at.Add(time.Hour)); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("oversized session: got %v, want invalid", err)
	}
}

func TestP33_SecretsAreInNoFile(t *testing.T) {
	s, c := openTimed(t)
	link, _ := s.CreateSignIn(ctx, 1, time.Minute)
	_, token, _ := s.AddToken(ctx, "ci", 0, 1)
	session := strings.Repeat("s3ss10n", 5)
	if err := s.Sessions().Commit(session, []byte("data-of-session"), c.at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	var files []byte
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(s.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, content...)
	}
	if !bytes.Contains(files, []byte("data-of-session")) {
		t.Fatal("the session's data is in no file: the test shows nothing")
	}
	for name, secret := range map[string]string{"link": link, "token": token, "session": session} {
		if bytes.Contains(files, []byte(secret)) {
			t.Errorf("the %s is in the database in the clear", name)
		}
	}
}
