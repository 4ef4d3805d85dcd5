package signalbox

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Link sets a user's password. [UsersAPI.ResetPassword] creates it; only that response has the link's address.
type Link struct {
	Resource
	User string `json:"user"` // the id of the user whose password the link sets
	Role Role   `json:"role"` // the user's role when the link was created
	// CreatedBy is the person, the key or the operator who created the link.
	CreatedBy struct {
		Type string `json:"type"` // "user", "api_key" or "operator"
		ID   string `json:"id"`
	} `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// LinkParams select links and a page of them.
type LinkParams struct {
	Paging
	User string // the id of a user; empty is any
}

func (p LinkParams) query() url.Values { return filtered(p.Paging.query(), "user", p.User) }

// LinksAPI lists and deletes links that set a password. It needs the role ADMIN, or OWNER to delete an OWNER's link.
type LinksAPI struct{ links collection[Link, *Link] }

// Get returns a link without its address. [IsNotFound] reports that it was used, has expired, was deleted or never
// existed. It needs the role ADMIN.
func (a LinksAPI) Get(ctx context.Context, id string) (Link, error) { return a.links.get(ctx, id) }

// List returns one page of the unused links that have not expired, by default the newest first. [Paging.Sort] takes
// created_at and expires_at. It needs the role ADMIN.
func (a LinksAPI) List(ctx context.Context, params LinkParams) (Page[Link], error) {
	return a.links.list(ctx, params)
}

// All iterates over every link that params select, starting at their page. It ends after the first error.
func (a LinksAPI) All(ctx context.Context, params LinkParams) iter.Seq2[Link, error] {
	return a.links.all(ctx, params)
}

// Delete deletes a link, which stops working.
func (a LinksAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.links.delete(ctx, id, options)
}
