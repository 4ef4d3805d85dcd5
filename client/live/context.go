package live

import (
	"context"
	"sync/atomic"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// Context is a thing that the rules of flags read, such as the user of a request.
type Context struct {
	typ, key string
	value    jsonlogic.Value
}

// Attribute is a named value of a context.
type Attribute struct {
	name  string
	value jsonlogic.Value
}

// User returns the context of type "user" with a key and attributes. Rules read it as user.key and user.plan.
func User(key string, attributes ...Attribute) Context {
	return ContextOf("user", key, attributes...)
}

// ContextOf returns a context of any type, such as "account". Without a key it is not reported.
func ContextOf(typ, key string, attributes ...Attribute) Context {
	members := make([]jsonlogic.Member, 0, len(attributes)+1)
	for _, each := range attributes {
		members = append(members, jsonlogic.Member{Key: each.name, Value: each.value})
	}
	if key != "" {
		members = append(members, jsonlogic.Member{Key: "key", Value: jsonlogic.String(key)}) // it wins over an attribute "key"
	}
	return Context{typ: typ, key: key, value: jsonlogic.Object(members...)}
}

// Attr returns an attribute. A value that encoding/json cannot encode becomes null.
func Attr(name string, value any) Attribute {
	converted, err := jsonlogic.ValueOf(value)
	if err != nil {
		converted = jsonlogic.Null()
	}
	return Attribute{name, converted}
}

// WithContext returns a ctx with which flags are evaluated for the contexts. Contexts of other types in ctx stay. Use it once
// per request: the contexts are prepared once for all flags that are read with the result.
func WithContext(ctx context.Context, contexts ...Context) context.Context {
	next := &prepared{}
	if before := preparedIn(ctx); before != nil {
		next.contexts = append(next.contexts, before.contexts...)
	}
	next.contexts = append(next.contexts, contexts...)
	return context.WithValue(ctx, contextKey{}, next)
}

type contextKey struct{}

// prepared has the contexts of a request. Of contexts with the same type the last counts.
type prepared struct {
	contexts []Context
	bound    atomic.Pointer[boundContext]
}

// boundContext is the data of rules in a box: the contexts and the service.
type boundContext struct {
	box   *Box
	value jsonlogic.Value
}

func preparedIn(ctx context.Context) *prepared {
	if ctx == nil {
		return nil
	}
	found, _ := ctx.Value(contextKey{}).(*prepared)
	return found
}

// evaluated returns the data of rules. The first call for a request prepares it.
func (b *Box) evaluated(ctx context.Context) jsonlogic.Value {
	found := preparedIn(ctx)
	if found == nil {
		return b.noContext
	}
	if bound := found.bound.Load(); bound != nil && bound.box == b {
		return bound.value
	}
	return found.bind(b)
}

func (p *prepared) bind(b *Box) jsonlogic.Value {
	members := make([]jsonlogic.Member, 0, len(p.contexts)+1)
	members = append(members, b.noContext.Members()...)
	for _, each := range p.contexts {
		members = append(members, jsonlogic.Member{Key: each.typ, Value: each.value})
	}
	bound := &boundContext{b, jsonlogic.Object(members...)}
	if p.bound.Swap(bound) == nil {
		b.reports.sawContexts(p.contexts)
	}
	return bound.value
}

// serviceContext returns the data of rules without any other context.
func serviceContext(service string) jsonlogic.Value {
	if service == "" {
		return jsonlogic.Object()
	}
	return jsonlogic.Object(jsonlogic.Member{Key: "service", Value: ContextOf("service", service).value})
}
