package store

import (
	"context"
	"database/sql/driver"
	"strings"
)

const (
	factColumns   = 12
	insertRowsMax = 32 // rows of the widest insert; then 16, 8, 4, 2, 1 (P31a)
)

// hotStatement is a prepared statement of the driver's own: the commit path
// does without the locks and conversions of database/sql.
type hotStatement struct {
	statement driver.Stmt
	execer    driver.StmtExecContext
}

// hotStatements are what a commit of facts needs.
type hotStatements struct {
	begin    *hotStatement
	commit   *hotStatement
	rollback *hotStatement
	inserts  []insertStatement // widest first
	args     []driver.NamedValue
	all      []*hotStatement
}

// insertStatement inserts a fixed number of rows.
type insertStatement struct {
	rows      int
	statement *hotStatement
}

func prepareHot(conn driver.Conn) (*hotStatements, error) {
	h := &hotStatements{args: make([]driver.NamedValue, insertRowsMax*factColumns)}
	for i := range h.args {
		h.args[i].Ordinal = i + 1
	}
	var failure error
	prepare := func(query string) *hotStatement {
		statement, err := conn.Prepare(query)
		if err != nil {
			failure = err
			return nil
		}
		hot := &hotStatement{statement: statement, execer: statement.(driver.StmtExecContext)}
		h.all = append(h.all, hot)
		return hot
	}
	h.begin, h.commit, h.rollback = prepare("BEGIN IMMEDIATE"), prepare("COMMIT"), prepare("ROLLBACK")
	for rows := insertRowsMax; rows >= 1; rows /= 2 {
		h.inserts = append(h.inserts, insertStatement{rows: rows, statement: prepare(insertSQL(rows))})
	}
	if failure != nil {
		_ = h.close()
		return nil, failure
	}
	return h, nil
}

func insertSQL(rows int) string {
	const row = "(?,?,?,?,?,?,?,?,?,?,?,?)"
	return "INSERT INTO facts (id,at,kind,cause,plan_version,node,attempt,actor,data,salt,data_hash,hash) VALUES " +
		row + strings.Repeat(","+row, rows-1)
}

func (h *hotStatements) close() error {
	var failure error
	for _, s := range h.all {
		if err := s.statement.Close(); err != nil {
			failure = err
		}
	}
	return failure
}

func (s *hotStatement) exec(args []driver.NamedValue) error {
	_, err := s.execer.ExecContext(context.Background(), args)
	return err
}
