package signalbox

import (
	"context"
	"iter"
	"net/url"
	"time"
)

const (
	serviceKind        = "service"
	servicesCollection = "services"
)

// Service is a program that reports to the account.
type Service struct {
	Resource
	// Name is what people call it.
	Name string `json:"name"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ServiceDraft is what a service is to become.
type ServiceDraft struct {
	// Name is what people call it; an empty one becomes the id.
	Name string `json:"name,omitempty"`
}

// ServiceParams choose services.
type ServiceParams struct {
	Paging
	// Search is a part of the id or the name, in any case.
	Search string
}

// ServicesAPI is the services of the account.
type ServicesAPI struct{ transport *transport }

// Draft is the draft that changes nothing.
func (s Service) Draft() ServiceDraft { return ServiceDraft{Name: s.Name} }

func (p ServiceParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "search", p.Search)
	return query
}

// List gives one page of services.
func (a ServicesAPI) List(ctx context.Context, params ServiceParams) (Page[Service], error) {
	return listed[Service](ctx, a.transport, params.query(), servicesCollection)
}

// All gives every service from the page of the params on. It ends after the
// first error.
func (a ServicesAPI) All(ctx context.Context, params ServiceParams) iter.Seq2[Service, error] {
	return every(params.Paging, func(paging Paging) (Page[Service], error) {
		params.Paging = paging
		return a.List(ctx, params)
	})
}

// Get gives one service.
func (a ServicesAPI) Get(ctx context.Context, id string) (Service, error) {
	return one[Service](ctx, a.transport, get(servicesCollection, id))
}

// Create names a service before it reports itself. It needs the role MEMBER.
func (a ServicesAPI) Create(ctx context.Context, id string, draft ServiceDraft) (Service, error) {
	return one[Service](ctx, a.transport, post(enclose(serviceKind, id, draft), servicesCollection))
}

// Replace renames a service. It needs the role MEMBER.
func (a ServicesAPI) Replace(ctx context.Context, id string, draft ServiceDraft, options ...WriteOption) (Service, error) {
	return one[Service](ctx, a.transport, put(enclose(serviceKind, id, draft), servicesCollection, id).with(options))
}

// Delete forgets a service until it reports itself again. It needs the role
// MEMBER.
func (a ServicesAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(servicesCollection, id).with(options), nil)
	return err
}
