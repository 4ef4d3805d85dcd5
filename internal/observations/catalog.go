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
	"github.com/signalbox/signalbox/internal/transaction"
)

// resource is how one of the resources of this package is changed.
type resource[T any] struct {
	kind   string
	load   func(tx ReadTx, ctx context.Context, account, id string) (T, error)
	save   func(tx Tx, ctx context.Context, changed T) error
	remove func(tx Tx, ctx context.Context, account, id string) error
}

func services() resource[ReportingService] {
	return resource[ReportingService]{KindService, ReadTx.Service, Tx.UpdateService, Tx.DeleteService}
}

func contextTypes() resource[ContextType] {
	save := func(tx Tx, ctx context.Context, changed ContextType) error { return tx.SaveContextTypes(ctx, changed) }
	return resource[ContextType]{KindContextType, ReadTx.ContextType, save, Tx.DeleteContextType}
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
	return resource[Context]{KindContext, load, Tx.UpdateContext, remove}
}

func (r resource[T]) get(ctx context.Context, s *Service, caller accounts.Caller, id string) (T, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (T, error) { return r.load(tx, ctx, caller.Account, id) })
}

func (r resource[T]) target(ctx context.Context, tx Tx, caller accounts.Caller, id string, match changes.Match[T]) changes.Target[T] {
	return accounts.Target(ctx, caller, r.kind, id, match, func(ctx context.Context, account, id string) (T, error) {
		return r.load(tx, ctx, account, id)
	})
}

func (r resource[T]) replace(ctx context.Context, s *Service, caller accounts.Caller, id string, draft Draft, match changes.Match[T], change func(T, time.Time) T) (T, error) {
	if err := draft.validate(); err != nil {
		var none T
		return none, err
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (T, error) {
		return changes.Replace(ctx, tx, r.target(ctx, tx, caller, id, match),
			func(before T) (T, error) { return change(before, tx.Now()), nil },
			func(_, after T) error { return r.save(tx, ctx, after) })
	})
}

func (r resource[T]) delete(ctx context.Context, s *Service, caller accounts.Caller, id string, match changes.Match[T]) error {
	return accounts.Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) error {
		return changes.Delete(ctx, tx, r.target(ctx, tx, caller, id, match), func(T) error { return r.remove(tx, ctx, caller.Account, id) })
	})
}

// Services lists the services of the caller's account.
func (s *Service) Services(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[ReportingService], error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (page.List[ReportingService], error) {
		return tx.Services(ctx, caller.Account, filter, request)
	})
}

// Service returns one service.
func (s *Service) Service(ctx context.Context, caller accounts.Caller, key string) (ReportingService, error) {
	return services().get(ctx, s, caller, key)
}

// CreateService creates a service before it reports itself. MEMBER or higher.
func (s *Service) CreateService(ctx context.Context, caller accounts.Caller, draft Draft) (ReportingService, error) {
	key := draft.Key.Or("")
	if rule := brokenPathRule(key, maxName); rule != "" {
		draft.Problems.Add(fault.New(fault.Validation, "id %s: it is the service's key.", rule).At(fault.Pointer("/data/id")))
	}
	if err := draft.validate(); err != nil {
		return ReportingService{}, err
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (ReportingService, error) {
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
	})
}

// requireFewServices refuses more services than an account may have.
func requireFewServices(ctx context.Context, tx Tx, account string) error {
	count, err := tx.CountServices(ctx, account)
	if err == nil && count >= maxServices {
		err = fault.RowLimit("platform.service_rows", maxServices, "An account may have %d services. Delete some that are not used.", maxServices)
	}
	return err
}

// ReplaceService renames a service; without a name it is called by its key.
// MEMBER or higher.
func (s *Service) ReplaceService(ctx context.Context, caller accounts.Caller, key string, draft Draft, match changes.Match[ReportingService]) (ReportingService, error) {
	return services().replace(ctx, s, caller, key, draft, match, func(service ReportingService, now time.Time) ReportingService {
		service.Name, service.UpdatedAt = draft.Name.Or(key), now
		return service
	})
}

// DeleteService removes a service until it reports itself again. MEMBER or higher.
func (s *Service) DeleteService(ctx context.Context, caller accounts.Caller, key string, match changes.Match[ReportingService]) error {
	return services().delete(ctx, s, caller, key, match)
}

// ContextTypes lists the context types of the caller's account.
func (s *Service) ContextTypes(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[ContextType], error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (page.List[ContextType], error) {
		return tx.ContextTypes(ctx, caller.Account, filter, request)
	})
}

// ContextType returns one context type.
func (s *Service) ContextType(ctx context.Context, caller accounts.Caller, key string) (ContextType, error) {
	return contextTypes().get(ctx, s, caller, key)
}

// CreateContextType creates a context type before a context of it is reported.
// MEMBER or higher.
func (s *Service) CreateContextType(ctx context.Context, caller accounts.Caller, draft Draft) (ContextType, error) {
	key := draft.Key.Or("")
	if rule := brokenTypeRule(key); rule != "" {
		draft.Problems.Add(fault.New(fault.Validation, "id %s: it is the context type's key.", rule).At(fault.Pointer("/data/id")))
	}
	if err := draft.validate(); err != nil {
		return ContextType{}, err
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (ContextType, error) {
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
	})
}

// newContextType refuses a key that is in use, and more types than an account may
// have.
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

// ReplaceContextType renames a context type and replaces its known attributes.
// MEMBER or higher.
func (s *Service) ReplaceContextType(ctx context.Context, caller accounts.Caller, key string, draft Draft, match changes.Match[ContextType]) (ContextType, error) {
	return contextTypes().replace(ctx, s, caller, key, draft, match, func(contextType ContextType, now time.Time) ContextType {
		contextType.Name, contextType.UpdatedAt = draft.Name.Or(key), now
		contextType.Attributes = draft.Attributes.Or(json.RawMessage(`{}`))
		return contextType
	})
}

// DeleteContextType removes a context type and all its contexts. MEMBER or higher.
func (s *Service) DeleteContextType(ctx context.Context, caller accounts.Caller, key string, match changes.Match[ContextType]) error {
	return contextTypes().delete(ctx, s, caller, key, match)
}

// Contexts lists the contexts of the caller's account.
func (s *Service) Contexts(ctx context.Context, caller accounts.Caller, filter Filter, request page.Request) (page.List[Context], error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (page.List[Context], error) {
		return tx.Contexts(ctx, caller.Account, filter, request)
	})
}

// Context returns one context by its id.
func (s *Service) Context(ctx context.Context, caller accounts.Caller, id string) (Context, error) {
	return contexts().get(ctx, s, caller, id)
}

// RenameContext changes what a context is called; services report the rest.
// MEMBER or higher.
func (s *Service) RenameContext(ctx context.Context, caller accounts.Caller, id string, draft Draft, match changes.Match[Context]) (Context, error) {
	return contexts().replace(ctx, s, caller, id, draft, match, func(found Context, now time.Time) Context {
		found.Name, found.UpdatedAt = draft.Name.Or(found.Key), now
		return found
	})
}

// DeleteContext removes a context until it is reported again. MEMBER or higher.
func (s *Service) DeleteContext(ctx context.Context, caller accounts.Caller, id string, match changes.Match[Context]) error {
	return contexts().delete(ctx, s, caller, id, match)
}
