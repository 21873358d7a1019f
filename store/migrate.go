package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are the forms of the database in order; form n is reached by
// running the first n of them. They are never changed once released.
func migrations() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	scripts := make([]string, len(names))
	for i, name := range names {
		script, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		scripts[i] = string(script)
	}
	return scripts, nil
}

type queryRower interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

type querier interface {
	queryRower
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func readForm(ctx context.Context, db queryRower) (int, error) {
	var form int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&form); err != nil {
		return 0, fmt.Errorf("read form of database: %w", err)
	}
	return form, nil
}

// migrate runs what is missing, each script in a transaction of its own.
func migrate(ctx context.Context, conn *sql.Conn) error {
	scripts, err := migrations()
	if err != nil {
		return err
	}
	form, err := readForm(ctx, conn)
	if err != nil {
		return err
	}
	for ; form < len(scripts); form++ {
		script := fmt.Sprintf("BEGIN IMMEDIATE;\n%s\nPRAGMA user_version = %d;\nCOMMIT;", scripts[form], form+1)
		if _, err := conn.ExecContext(ctx, script); err != nil {
			_, _ = conn.ExecContext(ctx, "ROLLBACK")
			return fmt.Errorf("migrate to form %d: %w", form+1, err)
		}
	}
	return nil
}

// checkForm refuses a database of another form than this program's: a newer
// one always, an older one where nothing may be migrated.
func checkForm(ctx context.Context, db queryRower) error {
	scripts, err := migrations()
	if err != nil {
		return err
	}
	form, err := readForm(ctx, db)
	if err != nil {
		return err
	}
	if form != len(scripts) {
		return invalid("database has form %d, this program reads %d", form, len(scripts))
	}
	return nil
}
