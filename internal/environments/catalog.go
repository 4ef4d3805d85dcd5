package environments

import (
	"context"
	"encoding/json"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Services lists the services of the caller's account.
func (s *Service) Services(ctx context.Context, caller accounts.Caller, filter ReportedFilter, request page.Request) (page.List[ReportingService], error) {
	return transaction.Read(ctx, s.Store, func(tx ReadTx) (page.List[ReportingService], error) {
		return tx.Services(ctx, caller.Account, filter, request)
	})
}

// Service gives one service.
func (s *Service) Service(ctx context.Context, caller accounts.Caller, key string) (ReportingService, error) {
	return transaction.Read(ctx, s.Store, func(tx ReadTx) (ReportingService, error) { return tx.Service(ctx, caller.Account, key) })
}

// CreateService names a service before it reports itself. MEMBER or higher.
func (s *Service) CreateService(ctx context.Context, caller accounts.Caller, draft NameDraft) (ReportingService, error) {
	key := draft.Key.Or("")
	if wrong := reportedName(key, maxReportedKey); wrong != "" {
		draft.Problems.Add(fault.New(fault.Validation, "id %s: it is the service's key.", wrong).At(fault.Pointer("/data/id")))
	}
	if err := draft.validate(); err != nil {
		return ReportingService{}, err
	}
	return transaction.Write(ctx, s.Store, caller.Account, func(tx Tx) (ReportingService, error) {
		service := ReportingService{Account: caller.Account, Key: key, Name: draft.Name.Or(key), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		err := insertService(ctx, tx, caller, service)
		if fault.Is(err, fault.AlreadyExists) {
			err = fault.New(fault.AlreadyExists, "There is a service %q already.", key).At(fault.Pointer("/data/id"))
		}
		return service, err
	})
}

func insertService(ctx context.Context, tx Tx, caller accounts.Caller, service ReportingService) error {
	if err := tx.InsertServices(ctx, service); err != nil {
		return err
	}
	return changes.Record(ctx, tx, caller.Account, caller.Actor(), KindService, service.Key, nil, &service)
}

// ReplaceService renames a service; without a name it is called by its key.
// MEMBER or higher.
func (s *Service) ReplaceService(ctx context.Context, caller accounts.Caller, key string, draft NameDraft, match changes.Match[ReportingService]) (ReportingService, error) {
	if err := draft.validate(); err != nil {
		return ReportingService{}, err
	}
	return transaction.Write(ctx, s.Store, caller.Account, func(tx Tx) (ReportingService, error) {
		return changes.Replace(ctx, tx, serviceTarget(ctx, tx, caller, key, match), func(service ReportingService) (ReportingService, error) {
			service.Name, service.UpdatedAt = draft.Name.Or(key), tx.Now()
			return service, tx.UpdateService(ctx, service)
		})
	})
}

// DeleteService forgets a service until it reports itself again. MEMBER or higher.
func (s *Service) DeleteService(ctx context.Context, caller accounts.Caller, key string, match changes.Match[ReportingService]) error {
	return s.Store.Write(ctx, caller.Account, func(tx Tx) error {
		return changes.Delete(ctx, tx, serviceTarget(ctx, tx, caller, key, match), func(ReportingService) error {
			return tx.DeleteService(ctx, caller.Account, key)
		})
	})
}

func serviceTarget(ctx context.Context, tx Tx, caller accounts.Caller, key string, match changes.Match[ReportingService]) changes.Target[ReportingService] {
	return changes.Target[ReportingService]{
		Account: caller.Account, Actor: caller.Actor(), Kind: KindService, Key: key, Match: match,
		Load: func() (ReportingService, error) { return tx.Service(ctx, caller.Account, key) },
	}
}

// ContextTypes lists the context types of the caller's account.
func (s *Service) ContextTypes(ctx context.Context, caller accounts.Caller, filter ReportedFilter, request page.Request) (page.List[ContextType], error) {
	return transaction.Read(ctx, s.Store, func(tx ReadTx) (page.List[ContextType], error) {
		return tx.ContextTypes(ctx, caller.Account, filter, request)
	})
}

// ContextType gives one context type.
func (s *Service) ContextType(ctx context.Context, caller accounts.Caller, key string) (ContextType, error) {
	return transaction.Read(ctx, s.Store, func(tx ReadTx) (ContextType, error) { return tx.ContextType(ctx, caller.Account, key) })
}

// ReplaceContextType renames a context type and replaces its known
// attributes. MEMBER or higher.
func (s *Service) ReplaceContextType(ctx context.Context, caller accounts.Caller, key string, draft NameDraft, match changes.Match[ContextType]) (ContextType, error) {
	if err := draft.validate(); err != nil {
		return ContextType{}, err
	}
	return transaction.Write(ctx, s.Store, caller.Account, func(tx Tx) (ContextType, error) {
		return changes.Replace(ctx, tx, contextTypeTarget(ctx, tx, caller, key, match), func(contextType ContextType) (ContextType, error) {
			contextType.Name, contextType.UpdatedAt = draft.Name.Or(key), tx.Now()
			contextType.Attributes = draft.Attributes.Or(json.RawMessage(`{}`))
			return contextType, tx.SaveContextTypes(ctx, contextType)
		})
	})
}

// DeleteContextType forgets a context type and all its contexts. MEMBER or higher.
func (s *Service) DeleteContextType(ctx context.Context, caller accounts.Caller, key string, match changes.Match[ContextType]) error {
	return s.Store.Write(ctx, caller.Account, func(tx Tx) error {
		return changes.Delete(ctx, tx, contextTypeTarget(ctx, tx, caller, key, match), func(ContextType) error {
			return tx.DeleteContextType(ctx, caller.Account, key)
		})
	})
}

func contextTypeTarget(ctx context.Context, tx Tx, caller accounts.Caller, key string, match changes.Match[ContextType]) changes.Target[ContextType] {
	return changes.Target[ContextType]{
		Account: caller.Account, Actor: caller.Actor(), Kind: KindContextType, Key: key, Match: match,
		Load: func() (ContextType, error) { return tx.ContextType(ctx, caller.Account, key) },
	}
}

// Contexts lists the contexts of the caller's account.
func (s *Service) Contexts(ctx context.Context, caller accounts.Caller, filter ReportedFilter, request page.Request) (page.List[Context], error) {
	return transaction.Read(ctx, s.Store, func(tx ReadTx) (page.List[Context], error) {
		return tx.Contexts(ctx, caller.Account, filter, request)
	})
}

// Context gives one context by its id.
func (s *Service) Context(ctx context.Context, caller accounts.Caller, id string) (Context, error) {
	return transaction.Read(ctx, s.Store, func(tx ReadTx) (Context, error) { return contextByID(ctx, tx, caller.Account, id) })
}

// RenameContext changes what a context is called; all else is reported.
// MEMBER or higher.
func (s *Service) RenameContext(ctx context.Context, caller accounts.Caller, id string, draft NameDraft, match changes.Match[Context]) (Context, error) {
	if err := draft.validate(); err != nil {
		return Context{}, err
	}
	return transaction.Write(ctx, s.Store, caller.Account, func(tx Tx) (Context, error) {
		return changes.Replace(ctx, tx, contextTarget(ctx, tx, caller, id, match), func(found Context) (Context, error) {
			found.Name, found.UpdatedAt = draft.Name.Or(found.Key), tx.Now()
			return found, tx.UpdateContext(ctx, found)
		})
	})
}

// DeleteContext forgets a context until it is reported again. MEMBER or higher.
func (s *Service) DeleteContext(ctx context.Context, caller accounts.Caller, id string, match changes.Match[Context]) error {
	return s.Store.Write(ctx, caller.Account, func(tx Tx) error {
		return changes.Delete(ctx, tx, contextTarget(ctx, tx, caller, id, match), func(found Context) error {
			return tx.DeleteContext(ctx, caller.Account, found.Type, found.Key)
		})
	})
}

func contextTarget(ctx context.Context, tx Tx, caller accounts.Caller, id string, match changes.Match[Context]) changes.Target[Context] {
	return changes.Target[Context]{
		Account: caller.Account, Actor: caller.Actor(), Kind: KindContext, Key: id, Match: match,
		Load: func() (Context, error) { return contextByID(ctx, tx, caller.Account, id) },
	}
}

func contextByID(ctx context.Context, tx ReadTx, account, id string) (Context, error) {
	typeKey, key, ok := SplitContextID(id)
	if !ok {
		return Context{}, fault.Missing("context", id)
	}
	return tx.Context(ctx, account, typeKey, key)
}
