package signalbox

import (
	"context"
	"iter"
)

// Service is a program that reports to the account.
type Service struct {
	Resource
	Name string `json:"name"`
	Timestamps
}

// ServiceDraft creates or replaces a service.
type ServiceDraft struct {
	// Name is the id when it is empty.
	Name string `json:"name,omitempty"`
}

// ServiceParams filter services.
type ServiceParams = SearchParams

// ServicesAPI manages the services of the account.
type ServicesAPI struct{ services collection[Service, *Service] }

// Draft returns a draft of the service's current state.
func (s Service) Draft() ServiceDraft { return ServiceDraft{Name: s.Name} }

// Get returns a service. [IsNotFound] reports that the service was neither created nor reported. Any role may read.
func (a ServicesAPI) Get(ctx context.Context, id string) (Service, error) {
	return a.services.get(ctx, id)
}

// List returns one page of services, by default in the order of their names. [Paging.Sort] takes name, key (the id),
// created_at and updated_at. Any role may read.
func (a ServicesAPI) List(ctx context.Context, params ServiceParams) (Page[Service], error) {
	return a.services.list(ctx, params)
}

// All iterates over every service that params select, starting at their page. It ends after the first error.
func (a ServicesAPI) All(ctx context.Context, params ServiceParams) iter.Seq2[Service, error] {
	return a.services.all(ctx, params)
}

// Create creates a service before it reports itself. [IsAlreadyExists] reports that its id is in use. It needs the role
// MEMBER.
func (a ServicesAPI) Create(ctx context.Context, id string, draft ServiceDraft, options ...WriteOption) (Service, error) {
	return a.services.create(ctx, id, draft, options)
}

// Replace renames a service. [IsNotFound] reports that there is none with this id. It needs the role MEMBER.
func (a ServicesAPI) Replace(ctx context.Context, id string, draft ServiceDraft, options ...WriteOption) (Service, error) {
	return a.services.replace(ctx, id, draft, options)
}

// Apply renames a service, or creates it if there is none. It needs the role MEMBER.
func (a ServicesAPI) Apply(ctx context.Context, id string, draft ServiceDraft, options ...WriteOption) (Service, error) {
	return a.services.apply(ctx, id, draft, options)
}

// Delete deletes a service until it reports itself again. It needs the role MEMBER.
func (a ServicesAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.services.delete(ctx, id, options)
}
