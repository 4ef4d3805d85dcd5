package store

// dialect names what differs between the two databases. Everything else is
// one SQL text.
type dialect struct {
	name string // also the folder of the migrations
	// lockAccount makes a transaction wait for the others of its account.
	// SQLite has one writer and needs none.
	lockAccount string
	// lockSchema makes migrations and the first start wait for those of other nodes.
	lockSchema string
	// among is a condition on a list of texts, which texts makes one argument
	// of: any number of them is one statement.
	among string
	texts func([]string) (any, error)
	// forUpdate and forShare end a SELECT whose row must not be changed, or not
	// be deleted, by others until the transaction ends.
	forUpdate, forShare string
	// skipLocked ends a SELECT that takes rows which no other transaction has
	// taken.
	skipLocked string
	// notifyRun tells other nodes that a run was cancelled.
	notifyRun string
	// notify tells other nodes, at the commit, that there are changes.
	notify string
}

func sqliteDialect() dialect {
	return dialect{
		name:  "sqlite",
		among: `IN (SELECT value FROM json_each($2))`,
		texts: func(list []string) (any, error) { return encode(list) },
	}
}

func postgresDialect() dialect {
	return dialect{
		name:        "postgres",
		lockAccount: `SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE`,
		lockSchema:  `SELECT 1 FROM schema_lock WHERE id = 1 FOR UPDATE`,
		among:       `= ANY(CAST($2 AS text[]))`,
		texts:       func(list []string) (any, error) { return list, nil },
		forUpdate:   ` FOR UPDATE OF jobs`,
		forShare:    ` FOR SHARE OF jobs`,
		skipLocked:  ` FOR UPDATE SKIP LOCKED`,
		notifyRun:   `SELECT pg_notify('` + runsChannel + `', $1)`,
		notify:      `SELECT pg_notify('` + changesChannel + `', '')`,
	}
}
