package signalbox

import (
	"context"
	"iter"
	"net/url"
)

// UserDraft changes a user. Unlike in other drafts, an empty member keeps the stored value: renaming somebody must not
// change their role.
type UserDraft struct {
	Name string `json:"name"`
	// An empty Email keeps the current address.
	Email string `json:"email,omitempty"`
	// An empty Role keeps the current role.
	Role Role `json:"role,omitempty"`
}

// UserParams select users and a page of them.
type UserParams struct {
	SearchParams
	Role Role
}

func (p UserParams) query() url.Values {
	return filtered(p.SearchParams.query(), "role", string(p.Role))
}

// UsersAPI manages the people of the account. It needs the role ADMIN, or OWNER for OWNERs.
type UsersAPI struct{ users collection[User, *User] }

// Draft returns a draft of the user's current state.
func (u User) Draft() UserDraft { return UserDraft{Name: u.Name, Email: u.Email, Role: u.Role} }

// Get returns a user. [IsNotFound] reports that the account has no user with this id. It needs the role ADMIN;
// [UserAPI.Get] returns the caller, for any role.
func (a UsersAPI) Get(ctx context.Context, id string) (User, error) { return a.users.get(ctx, id) }

// List returns one page of users, by default in the order of their names. [Paging.Sort] takes name, email, role,
// created_at and updated_at. It needs the role ADMIN.
func (a UsersAPI) List(ctx context.Context, params UserParams) (Page[User], error) {
	return a.users.list(ctx, params)
}

// All iterates over every user that params select, starting at their page. It ends after the first error.
func (a UsersAPI) All(ctx context.Context, params UserParams) iter.Seq2[User, error] {
	return a.users.all(ctx, params)
}

// Replace changes a user's name, e-mail address or role. [IsLastOwner] reports that the account would lose its last OWNER.
func (a UsersAPI) Replace(ctx context.Context, id string, draft UserDraft, options ...WriteOption) (User, error) {
	return a.users.replace(ctx, id, draft, options)
}

// Delete deletes a user and ends their sessions. API keys that the user created stay. [IsLastOwner] reports that the
// account would lose its last OWNER.
func (a UsersAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.users.delete(ctx, id, options)
}

// ResetPassword returns the user with a link that sets a new password and works once.
func (a UsersAPI) ResetPassword(ctx context.Context, id string) (User, error) {
	return fetch[User](ctx, a.users.transport, post(nil, a.users.path, id, "actions", "reset_password"))
}
