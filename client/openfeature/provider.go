// Package openfeature is Signalbox's provider for the OpenFeature SDK: flags are evaluated in the service, by a [live.Box].
//
//	box, err := live.Start(ctx)
//	…
//	err = of.SetProviderWithContextAndWait(ctx, openfeature.NewProvider(box))
//
// The targeting key is the key of the user. An object in the evaluation context is a context whose type is the member's name;
// other members are attributes of the user, as with the remote evaluation protocol. Contexts of [live.WithContext] in the ctx
// of a call apply too. Evaluating a flag declares it to Signalbox.
package openfeature

import (
	"context"
	"errors"
	"maps"
	"math"
	"sync"
	"time"

	of "github.com/open-feature/go-sdk/openfeature"
	"github.com/open-feature/go-sdk/openfeature/telemetry"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/live"
)

// Name is the provider's name.
const Name = "Signalbox"

const (
	// initTimeout is how long Init waits for the server when its context does not end earlier.
	initTimeout = 10 * time.Second
	// afterReady is how long after Init the provider sends a state that is not Live. The SDK sets the state to ready when Init
	// returns, which would hide an earlier event.
	afterReady = 100 * time.Millisecond
)

// Provider evaluates the flags of a box. The caller owns the box: shutting the provider down does not close it.
type Provider struct {
	box      *live.Box
	hooks    []of.Hook
	metadata of.FlagMetadata
	events   chan of.Event

	mu   sync.Mutex
	stop context.CancelFunc // ends the events; nil before Init
}

// Option configures a provider.
type Option func(*Provider)

// WithEvaluationEvents calls a function with OpenTelemetry's event for every evaluation, to be recorded as a log record or an
// event of a span.
func WithEvaluationEvents(emit func(context.Context, telemetry.EvaluationEvent)) Option {
	return func(p *Provider) { p.hooks = append(p.hooks, evaluationEvents{emit: emit}) }
}

// NewProvider returns a provider for the flags of a box.
func NewProvider(box *live.Box, options ...Option) *Provider {
	p := &Provider{box: box, events: make(chan of.Event, 16), metadata: of.FlagMetadata{"flagSetId": box.Environment()}}
	for _, option := range options {
		option(p)
	}
	return p
}

// Metadata returns the provider's name.
func (p *Provider) Metadata() of.Metadata { return of.Metadata{Name: Name} }

// Hooks returns the hooks that options added.
func (p *Provider) Hooks() []of.Hook { return p.hooks }

// EventChannel returns the events of the provider.
func (p *Provider) EventChannel() <-chan of.Event { return p.events }

// Init waits until the box has the values of the server, for ten seconds at most.
func (p *Provider) Init(evaluationContext of.EvaluationContext) error {
	return p.InitWithContext(context.Background(), evaluationContext)
}

// InitWithContext waits until the box has the values of the server, for ten seconds at most. If the server cannot be reached
// or refuses the key, it succeeds with the last known values if there are any; the provider is then stale or has an error.
func (p *Provider) InitWithContext(ctx context.Context, _ of.EvaluationContext) error {
	ctx, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	err := p.wait(ctx)
	p.follow()
	state := p.box.State() // follow sends later changes as events
	switch {
	case err == nil, serves(state):
		return nil
	case state.Status == live.Refused:
		return &of.ProviderInitError{ErrorCode: of.ProviderFatalCode, Message: state.String()}
	}
	return &of.ProviderInitError{ErrorCode: of.ProviderNotReadyCode, Message: err.Error()}
}

// wait returns when the box has the values of the server, or when the server failed and the last known values must do.
func (p *Provider) wait(ctx context.Context) error {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	check := func(state live.State) {
		if state.Status != live.Starting && serves(state) {
			enough()
		}
	}
	defer p.box.OnState(check)()
	check(p.box.State())
	return p.box.Ready(ctx)
}

// serves reports whether the box has values.
func serves(state live.State) bool { return state.Status == live.Live || state.Seq > 0 }

// follow starts sending events. It sends the state soon unless it is Live, which the SDK assumes.
func (p *Provider) follow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		return
	}
	p.drain()
	ctx, cancel := context.WithCancel(context.Background())
	send := func(kind of.EventType, details of.ProviderEventDetails) {
		select {
		case p.events <- of.Event{ProviderName: Name, EventType: kind, ProviderEventDetails: details}:
		case <-ctx.Done():
		}
	}
	stopStates := p.box.OnState(func(state live.State) { send(stateEvent(state)) })
	stopFlags := p.box.OnFlagChange(func(keys []string) { send(of.ProviderConfigChange, of.ProviderEventDetails{FlagChanges: keys}) })
	soon := time.AfterFunc(afterReady, func() {
		if state := p.box.State(); state.Status != live.Live {
			send(stateEvent(state))
		}
	})
	p.stop = func() {
		stopStates()
		stopFlags()
		soon.Stop()
		cancel()
	}
}

// drain drops events from before a shutdown.
func (p *Provider) drain() {
	for {
		select {
		case <-p.events:
		default:
			return
		}
	}
}

func stateEvent(state live.State) (of.EventType, of.ProviderEventDetails) {
	switch state.Status {
	case live.Live:
		return of.ProviderReady, of.ProviderEventDetails{Message: state.String()}
	case live.Refused: // not fatal: the SDK would no longer ask for the last known values
		return of.ProviderError, of.ProviderEventDetails{Message: state.String(), ErrorCode: of.GeneralCode}
	case live.Starting, live.Stale:
	}
	return of.ProviderStale, of.ProviderEventDetails{Message: state.String()}
}

// Shutdown ends the events. The box stays open.
func (p *Provider) Shutdown() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// ShutdownWithContext ends the events. The box stays open.
func (p *Provider) ShutdownWithContext(context.Context) error {
	p.Shutdown()
	return nil
}

// BooleanEvaluation evaluates a BOOLEAN flag.
func (p *Provider) BooleanEvaluation(ctx context.Context, flag string, fallback bool, flat of.FlattenedContext) of.BoolResolutionDetail {
	return resolve(p, flag, p.box.Bool(flag, fallback).GetDetail(contextOf(ctx, flat)), fallback)
}

// StringEvaluation evaluates a STRING flag.
func (p *Provider) StringEvaluation(ctx context.Context, flag string, fallback string, flat of.FlattenedContext) of.StringResolutionDetail {
	return resolve(p, flag, p.box.String(flag, fallback).GetDetail(contextOf(ctx, flat)), fallback)
}

// FloatEvaluation evaluates a NUMERIC flag.
func (p *Provider) FloatEvaluation(ctx context.Context, flag string, fallback float64, flat of.FlattenedContext) of.FloatResolutionDetail {
	return resolve(p, flag, p.box.Number(flag, fallback).GetDetail(contextOf(ctx, flat)), fallback)
}

// IntEvaluation evaluates a NUMERIC flag. A value that is no integer, or beyond the exact integers of a float64, is a mismatch.
func (p *Provider) IntEvaluation(ctx context.Context, flag string, fallback int64, flat of.FlattenedContext) of.IntResolutionDetail {
	const exact = 1 << 53
	found := p.box.Number(flag, float64(fallback)).GetDetail(contextOf(ctx, flat))
	whole := live.Detail[int64]{Value: int64(found.Value), Reason: found.Reason, Rule: found.Rule, Variant: found.Variant, Code: found.Code}
	if found.Code == flageval.None && (found.Value != math.Trunc(found.Value) || math.Abs(found.Value) > exact) {
		whole.Code = flageval.TypeMismatch
	}
	return resolve(p, flag, whole, fallback)
}

// ObjectEvaluation evaluates a JSON flag. encoding/json decodes its value.
func (p *Provider) ObjectEvaluation(ctx context.Context, flag string, fallback any, flat of.FlattenedContext) of.InterfaceResolutionDetail {
	return resolve(p, flag, live.JSON(p.box, flag, fallback).GetDetail(contextOf(ctx, flat)), fallback)
}

// resolve returns a value in the SDK's form, or the fallback with an error.
func resolve[T any](p *Provider, flag string, found live.Detail[T], fallback T) of.GenericResolutionDetail[T] {
	if found.Code != flageval.None {
		return of.GenericResolutionDetail[T]{Value: fallback, ProviderResolutionDetail: of.ProviderResolutionDetail{
			Reason: of.ErrorReason, ResolutionError: p.resolutionError(flag, found.Code), FlagMetadata: p.metadata}}
	}
	return of.GenericResolutionDetail[T]{Value: found.Value, ProviderResolutionDetail: of.ProviderResolutionDetail{
		Reason: of.Reason(found.Reason.String()), Variant: found.Variant, FlagMetadata: p.metadata}}
}

func (p *Provider) resolutionError(flag string, code flageval.Code) of.ResolutionError {
	switch {
	case code == flageval.TypeMismatch:
		return of.NewTypeMismatchResolutionError("flag " + flag + " has another type")
	case code == flageval.ParseError:
		return of.NewParseErrorResolutionError("flag "+flag+" has no usable default", errors.New(code.String()))
	case p.box.State().Seq == 0 && p.box.State().Status != live.Live:
		return of.NewProviderNotReadyResolutionError("nothing is known yet: " + p.box.State().String())
	}
	return of.NewFlagNotFoundResolutionError("flag " + flag + " not found")
}

// contextOf adds the contexts of an evaluation to ctx. Members of "user" win over the targeting key and plain attributes.
func contextOf(ctx context.Context, flat of.FlattenedContext) context.Context {
	if len(flat) == 0 {
		return ctx
	}
	user := map[string]any{}
	var contexts []live.Context
	for name, value := range flat {
		members, object := value.(map[string]any)
		switch {
		case object && name != "user":
			contexts = append(contexts, contextNamed(name, members))
		case name == of.TargetingKey:
			user["key"] = value
		case !object:
			user[name] = value
		}
	}
	if given, object := flat["user"].(map[string]any); object {
		maps.Copy(user, given)
	}
	if len(user) > 0 {
		contexts = append(contexts, contextNamed("user", user))
	}
	return live.WithContext(ctx, contexts...)
}

// contextNamed returns an object of the evaluation context as a context of a type.
func contextNamed(typ string, members map[string]any) live.Context {
	key, _ := members["key"].(string)
	attributes := make([]live.Attribute, 0, len(members))
	for name, value := range members {
		attributes = append(attributes, live.Attr(name, value))
	}
	return live.ContextOf(typ, key, attributes...)
}

// evaluationEvents is a hook that reports every evaluation.
type evaluationEvents struct {
	of.UnimplementedHook
	emit func(context.Context, telemetry.EvaluationEvent)
}

// Finally reports the evaluation.
func (h evaluationEvents) Finally(ctx context.Context, hookContext of.HookContext, details of.InterfaceEvaluationDetails, _ of.HookHints) {
	h.emit(ctx, telemetry.CreateEvaluationEvent(hookContext, details))
}
