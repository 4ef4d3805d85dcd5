package store

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
)

// foldAddresses rewrites the stored folded form of e-mail addresses. The first versions folded all of Unicode, which
// turned "nİk@example.com" into "nik@example.com". Only addresses with letters outside ASCII can differ; they have more
// bytes than characters. An address stays as it is if its new form is taken.
func (tx *Tx) foldAddresses(ctx context.Context) error {
	for _, table := range []struct{ name, taken string }{
		{"users", `SELECT 1 FROM users AS other WHERE other.address = $3`},
		{"invitations", `SELECT 1 FROM invitations AS other WHERE other.address = $3 AND other.account_id = $1`},
	} {
		found, err := all(ctx, tx.conn, scanAddress, `SELECT account_id, id, email, address FROM `+table.name+`
			WHERE address IS NOT NULL AND octet_length(email) <> length(email)`)
		if err != nil {
			return err
		}
		for _, each := range found {
			folded := accounts.AddressOf(each.email)
			if folded == each.address {
				continue
			}
			if err := tx.run(ctx, `UPDATE `+table.name+` SET address = $3 WHERE account_id = $1 AND id = $2 AND NOT EXISTS (`+table.taken+`)`,
				each.account, each.id, folded); err != nil {
				return err
			}
		}
	}
	return nil
}

// storedAddress is an e-mail address and its stored folded form.
type storedAddress struct{ account, id, email, address string }

func scanAddress(r row) (a storedAddress, err error) {
	err = r.Scan(&a.account, &a.id, &a.email, &a.address)
	return a, err
}
