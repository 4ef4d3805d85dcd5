package observations

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/page"
)

// resource has the functions that read and change one kind of resource.
type resource[T any] struct {
	kind   string
	load   func(tx ReadTx, ctx context.Context, account, id string) (T, error)
	save   func(tx Tx, ctx context.Context, changed T) error
	remove func(tx Tx, ctx context.Context, account, id string) error
	create func(ctx context.Context, tx Tx, caller accounts.Caller, draft *Draft) (T, error) // nil if only reports create it
	over   func(draft *Draft, before T, now time.Time) T                                     // applies a draft to a stored resource
}

func services() resource[ReportingService] {
	over := func(draft *Draft, service ReportingService, now time.Time) ReportingService {
		service.Name, service.UpdatedAt = draft.Name.Or(service.Key), now
		return service
	}
	return resource[ReportingService]{KindService, ReadTx.Service, Tx.UpdateService, Tx.DeleteService, createService, over}
}

func contextTypes() resource[ContextType] {
	save := func(tx Tx, ctx context.Context, changed ContextType) error { return tx.SaveContextTypes(ctx, changed) }
	over := func(draft *Draft, contextType ContextType, now time.Time) ContextType {
		contextType.Name, contextType.UpdatedAt = draft.Name.Or(contextType.Key), now
		contextType.Attributes = draft.Attributes.Or(json.RawMessage(`{}`))
		return contextType
	}
	return resource[ContextType]{KindContextType, ReadTx.ContextType, save, Tx.DeleteContextType, createContextType, over}
}

func contexts() resource[Context] {
	load := func(tx ReadTx, ctx context.Context, account, id string) (Context, error) {
		typeKey, key, ok := SplitContextID(id)
		if !ok {
			return Context{}, fault.Missing("context", id)
		}
		return tx.Context(ctx, account, typeKey, key)
	}
	remove := func(tx Tx, ctx context.Context, account, id string) error {
		typeKey, key, _ := SplitContextID(id) // it was loaded
		return tx.DeleteContext(ctx, account, typeKey, key)
	}
	over := func(draft *Draft, found Context, now time.Time) Context {
		found.Name, found.UpdatedAt = draft.Name.Or(found.Key), now
		return found
	}
	return resource[Context]{KindContext, load, Tx.UpdateContext, remove, nil, over}
}

func (r resource[T]) get(ctx context.Context, s *Service, caller accounts.Caller, id string) (T, error) {
	return accounts.Get(ctx, s.Store, caller, r.load, id)
}

func (r resource[T]) target(ctx context.Context, tx Tx, caller accounts.Caller, id string, match changes.Match[T]) changes.Target[T] {
	return accounts.Target(ctx, caller, r.kind, id, match, func(ctx context.Context, account, id string) (T, error) {
		return r.load(tx, ctx, account, id)
	})
}

func (r resource[T]) write(ctx context.Context, s *Service, caller accounts.Caller, draft Draft,
	write func(context.Context, Tx, accounts.Caller, *Draft) (T, error),
) (T, error) {
	if err := draft.validate(); err != nil {
		return *new(T), err
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (T, error) {
		return write(ctx, tx, caller, &draft)
	})
}

// replace returns a write that replaces a resource.
func (r resource[T]) replace(id string, match changes.Match[T]) func(context.Context, Tx, accounts.Caller, *Draft) (T, error) {
	return func(ctx context.Context, tx Tx, caller accounts.Caller, draft *Draft) (T, error) {
		return changes.Replace(ctx, tx, r.target(ctx, tx, caller, id, match),
			func(before T) (T, error) { return r.over(draft, before, tx.Now()), nil },
			func(_, after T) error { return r.save(tx, ctx, after) })
	}
}

// delete returns a write that deletes a resource.
func (r resource[T]) delete(id string, match changes.Match[T]) func(context.Context, Tx, accounts.Caller) error {
	return func(ctx context.Context, tx Tx, caller accounts.Caller) error {
		return changes.Delete(ctx, tx, r.target(ctx, tx, caller, id, match), func(T) error { return r.remove(tx, ctx, caller.Account, id) })
	}
}

func (r resource[T]) restore(ctx context.Context, s *Service, caller accounts.Caller, revert accounts.Revert, draft Draft) (changes.Change, error) {
	id := revert.Change.Key
	return accounts.Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller accounts.Caller) accounts.Restoration[T] {
		_, err := r.load(tx, ctx, caller.Account, id)
		return accounts.Restoration[T]{Found: err, Check: draft.validate,
			Create:  func() (T, error) { return r.create(ctx, tx, caller, &draft) },
			Replace: func() (T, error) { return r.replace(id, nil)(ctx, tx, caller, &draft) },
			Remove:  func() error { return r.delete(id, nil)(ctx, tx, caller) }}
	})
}

// Services lists the services of the caller's account.
func (s *Service) Services(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[ReportingService], error) {
	return accounts.List(ctx, s.Store, caller, ReadTx.Services, filter, request)
}

// Service returns one service.
func (s *Service) Service(ctx context.Context, caller accounts.Caller, key string) (ReportingService, error) {
	return services().get(ctx, s, caller, key)
}

// CreateService creates a service before it reports itself. It requires MEMBER or higher.
func (s *Service) CreateService(ctx context.Context, caller accounts.Caller, draft Draft) (ReportingService, error) {
	if rule := brokenPathRule(draft.Key.Or(""), maxName); rule != "" {
		draft.Problems.Add(fault.New(fault.Validation, "id %s: it is the service's key.", rule).At(fault.Pointer("/data/id")))
	}
	return services().write(ctx, s, caller, draft, createService)
}

func createService(ctx context.Context, tx Tx, caller accounts.Caller, draft *Draft) (ReportingService, error) {
	key := draft.Key.Or("")
	if err := requireFewServices(ctx, tx, caller.Account); err != nil {
		return ReportingService{}, err
	}
	if err := naming.WarnSimilar(ctx, tx, &draft.Problems, caller.Account, KindService, key); err != nil {
		return ReportingService{}, err
	}
	service := ReportingService{Account: caller.Account, Key: key, Name: draft.Name.Or(key), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	err := tx.InsertServices(ctx, service)
	if fault.Is(err, fault.AlreadyExists) {
		err = fault.New(fault.AlreadyExists, "There is a service %q already.", key).At(fault.Pointer("/data/id"))
	}
	if err != nil {
		return ReportingService{}, err
	}
	return service, changes.Record(ctx, tx, caller.Account, caller.Actor(), KindService, key, nil, &service)
}

// requireFewServices refuses more services than an account may have.
func requireFewServices(ctx context.Context, tx Tx, account string) error {
	count, err := tx.CountServices(ctx, account)
	if err == nil && count >= maxServices {
		err = fault.RowLimit("platform.service_rows", maxServices, "An account may have %d services. Delete some that are not used.", maxServices)
	}
	return err
}

// ReplaceService renames a service; without a name, the key is its name. It requires
// MEMBER or higher.
func (s *Service) ReplaceService(ctx context.Context, caller accounts.Caller, key string, draft Draft, match changes.Match[ReportingService]) (ReportingService, error) {
	return services().write(ctx, s, caller, draft, services().replace(key, match))
}

// DeleteService removes a service until it reports itself again. It requires MEMBER or higher.
func (s *Service) DeleteService(ctx context.Context, caller accounts.Caller, key string, match changes.Match[ReportingService]) error {
	return accounts.Do(ctx, s.Store, caller, services().delete(key, match))
}

// RestoreService reverts a change of a service. The draft is the service before the change.
func (s *Service) RestoreService(ctx context.Context, caller accounts.Caller, revert accounts.Revert, draft Draft) (changes.Change, error) {
	return services().restore(ctx, s, caller, revert, draft)
}

// ContextTypes lists the context types of the caller's account.
func (s *Service) ContextTypes(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[ContextType], error) {
	return accounts.List(ctx, s.Store, caller, ReadTx.ContextTypes, filter, request)
}

// ContextType returns one context type.
func (s *Service) ContextType(ctx context.Context, caller accounts.Caller, key string) (ContextType, error) {
	return contextTypes().get(ctx, s, caller, key)
}

// CreateContextType creates a context type before a context of this type is reported.
// It requires MEMBER or higher.
func (s *Service) CreateContextType(ctx context.Context, caller accounts.Caller, draft Draft) (ContextType, error) {
	if rule := brokenTypeRule(draft.Key.Or("")); rule != "" {
		draft.Problems.Add(fault.New(fault.Validation, "id %s: it is the context type's key.", rule).At(fault.Pointer("/data/id")))
	}
	return contextTypes().write(ctx, s, caller, draft, createContextType)
}

func createContextType(ctx context.Context, tx Tx, caller accounts.Caller, draft *Draft) (ContextType, error) {
	key := draft.Key.Or("")
	if err := newContextType(ctx, tx, caller.Account, key); err != nil {
		return ContextType{}, err
	}
	if err := naming.WarnSimilar(ctx, tx, &draft.Problems, caller.Account, KindContextType, key); err != nil {
		return ContextType{}, err
	}
	created := ContextType{Account: caller.Account, Key: key, Name: draft.Name.Or(key), CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		Attributes: draft.Attributes.Or(json.RawMessage(`{}`))}
	if err := tx.SaveContextTypes(ctx, created); err != nil {
		return ContextType{}, err
	}
	return created, changes.Record(ctx, tx, caller.Account, caller.Actor(), KindContextType, key, nil, &created)
}

// newContextType refuses a key that is in use, and a type above the limit of an
// account.
func newContextType(ctx context.Context, tx Tx, account, key string) error {
	existing, err := tx.ContextTypesByKey(ctx, account, []string{key})
	if err != nil {
		return err
	}
	if len(existing) > 0 {
		return fault.New(fault.AlreadyExists, "There is a context type %q already.", key).At(fault.Pointer("/data/id"))
	}
	count, err := tx.CountContextTypes(ctx, account)
	if err == nil && count >= maxContextTypes {
		err = fault.RowLimit("platform.context_type_rows", maxContextTypes, "An account may have %d context types. Delete some that are not used.", maxContextTypes)
	}
	return err
}

// ReplaceContextType renames a context type and replaces its known attributes. It
// requires MEMBER or higher.
func (s *Service) ReplaceContextType(ctx context.Context, caller accounts.Caller, key string, draft Draft, match changes.Match[ContextType]) (ContextType, error) {
	return contextTypes().write(ctx, s, caller, draft, contextTypes().replace(key, match))
}

// DeleteContextType removes a context type and all its contexts. It requires MEMBER or higher.
func (s *Service) DeleteContextType(ctx context.Context, caller accounts.Caller, key string, match changes.Match[ContextType]) error {
	return accounts.Do(ctx, s.Store, caller, contextTypes().delete(key, match))
}

// RestoreContextType reverts a change of a context type. The draft is the type before the change.
func (s *Service) RestoreContextType(ctx context.Context, caller accounts.Caller, revert accounts.Revert, draft Draft) (changes.Change, error) {
	return contextTypes().restore(ctx, s, caller, revert, draft)
}

// Contexts lists the contexts of the caller's account.
func (s *Service) Contexts(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[Context], error) {
	return accounts.List(ctx, s.Store, caller, ReadTx.Contexts, filter, request)
}

// Context returns one context by its id.
func (s *Service) Context(ctx context.Context, caller accounts.Caller, id string) (Context, error) {
	return contexts().get(ctx, s, caller, id)
}

// RenameContext changes the name of a context; services report the rest. It requires
// MEMBER or higher.
func (s *Service) RenameContext(ctx context.Context, caller accounts.Caller, id string, draft Draft, match changes.Match[Context]) (Context, error) {
	return contexts().write(ctx, s, caller, draft, contexts().replace(id, match))
}

// DeleteContext removes a context until it is reported again. It requires MEMBER or higher.
func (s *Service) DeleteContext(ctx context.Context, caller accounts.Caller, id string, match changes.Match[Context]) error {
	return accounts.Do(ctx, s.Store, caller, contexts().delete(id, match))
}

// RestoreContext reverts a change of a context. The draft is the context before the change.
func (s *Service) RestoreContext(ctx context.Context, caller accounts.Caller, revert accounts.Revert, draft Draft) (changes.Change, error) {
	return contexts().restore(ctx, s, caller, revert, draft)
}
