package signalbox

import (
	"context"
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
type ServicesAPI struct {
	reader[Service, *Service, ServiceParams]
}

// Draft returns a draft of the service's current state.
func (s Service) Draft() ServiceDraft { return ServiceDraft{Name: s.Name} }

// Create creates a service before it reports itself. It needs the role MEMBER.
func (a ServicesAPI) Create(ctx context.Context, id string, draft ServiceDraft, options ...WriteOption) (Service, error) {
	return a.create(ctx, id, draft, options)
}

// Replace renames a service. It needs the role MEMBER.
func (a ServicesAPI) Replace(ctx context.Context, id string, draft ServiceDraft, options ...WriteOption) (Service, error) {
	return a.replace(ctx, id, draft, options)
}

// Apply renames a service, or creates it if there is none. It needs the role MEMBER.
func (a ServicesAPI) Apply(ctx context.Context, id string, draft ServiceDraft, options ...WriteOption) (Service, error) {
	return a.apply(ctx, id, draft, options)
}

// Delete deletes a service until it reports itself again. It needs the role MEMBER.
func (a ServicesAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.delete(ctx, id, options)
}
