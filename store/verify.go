package store

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite"
)

// VerifyOptions say what to hold the log against besides itself.
type VerifyOptions struct {
	Seal      []byte            // an export or seal lines of one, kept elsewhere; nil for none
	PublicKey ed25519.PublicKey // of the seals; nil = the key of Seal, else of the database's own seals
}

// The closed set of statuses of a stream (P36a).
const (
	StatusOK        = "ok"
	StatusBroken    = "broken"    // something is not as it was written
	StatusErased    = "erased"    // words were taken away, and it is on record
	StatusTruncated = "truncated" // facts at the end are gone
	StatusMissing   = "missing"   // the stream is gone
)

// Names in a report of what is no stream of facts.
const (
	reportSeals    = "seals"
	reportDatabase = "database"
)

// StreamReport is what was found of one stream. Seq is the last fact for ok and
// erased, the last one present for truncated, the first bad one for broken.
type StreamReport struct {
	Stream string `json:"stream"`
	Status string `json:"status"`
	Seq    int64  `json:"seq"`
	Reason string `json:"reason"`
}

// Report is the result of Verify in the shape of P36a.
type Report struct {
	OK      bool           `json:"ok"`
	Streams []StreamReport `json:"streams"`
}

// verification is one run of Verify.
type verification struct {
	db       querier
	options  VerifyOptions
	streams  map[string]*streamCheck
	erasures map[string]int64 // admin's records: run → through
	extra    []StreamReport   // about what is no stream of facts
}

// Verify checks the whole log from one moment: every hash and chain (R81), the
// seals, an export kept elsewhere, and the projections against the facts (P33).
// It needs no trigger to be in place and believes nothing but hashes. The error
// is for a check that could not be made; what was found is in the report. A
// Seal that holds neither seals nor facts is ErrInvalid.
func (s *Store) Verify(ctx context.Context, options VerifyOptions) (Report, error) {
	outside, err := parseEvidence(options.Seal)
	if err != nil {
		return Report{}, fmt.Errorf("read seal: %w", err)
	}
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Report{}, fmt.Errorf("verify log: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	v := &verification{db: tx, options: options, streams: make(map[string]*streamCheck), erasures: make(map[string]int64)}
	for _, check := range []func(context.Context) error{
		v.readStreams,
		func(ctx context.Context) error { return v.readSeals(ctx, outside) },
		v.readFacts,
		v.compareProjections,
	} {
		if err := v.tolerate(check(ctx)); err != nil {
			return Report{}, fmt.Errorf("verify log: %w", err)
		}
	}
	return v.report(), nil
}

// tolerate turns damage of the database file into a finding.
func (v *verification) tolerate(err error) error {
	if err == nil || !isDamage(err) {
		return err
	}
	v.extra = append(v.extra, StreamReport{Stream: reportDatabase, Status: StatusBroken, Reason: err.Error()})
	return nil
}

// IsDamaged says that an error of Open speaks of a damaged database file.
func IsDamaged(err error) bool { return err != nil && isDamage(err) }

// isDamage says that an error speaks of the file's content, not of the attempt
// to read it.
func isDamage(err error) bool {
	const sqliteCorrupt, sqliteNotADatabase, sqliteError = 11, 26, 1
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return errors.Is(err, errDamaged)
	}
	code := failure.Code() & 0xff
	return code == sqliteCorrupt || code == sqliteNotADatabase || code == sqliteError
}

var errDamaged = errors.New("row is damaged")

func (v *verification) report() Report {
	report := Report{OK: true, Streams: []StreamReport{}}
	for _, check := range v.streams {
		report.Streams = append(report.Streams, check.conclude(v.erasures))
	}
	slices.SortFunc(report.Streams, func(a, b StreamReport) int { return cmp.Compare(a.Stream, b.Stream) })
	report.Streams = append(report.Streams, v.extra...)
	for _, s := range report.Streams {
		report.OK = report.OK && (s.Status == StatusOK || s.Status == StatusErased)
	}
	return report
}
