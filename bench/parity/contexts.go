package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// attributes are the attributes of a user. "key" is the user's key. An object is another context, such as a company, or
// an attribute with members.
type attributes map[string]any

// contexts returns 200 contexts, always the same, in which each attribute may be missing or of a type that rules do not expect.
func contexts(texts bool) []attributes {
	random := rand.New(rand.NewPCG(29, 50)) //nolint:gosec // every run must make the same contexts
	const count = 200
	list := make([]attributes, count)
	for i := range list {
		list[i] = attributes{"key": fmt.Sprint("user-", i)}
		for _, name := range slices.Sorted(maps.Keys(pools(texts))) {
			pool := pools(texts)[name]
			if value := pool[random.IntN(len(pool))]; value != nil {
				list[i][name] = value
			}
		}
	}
	return list
}

// pools returns the values of attributes; nil means that the attribute is missing.
func pools(texts bool) map[string][]any {
	made := map[string][]any{
		"plan":      {"free", "pro", "enterprise", "", nil},
		"country":   {"US", "DE", "NO", "IT", nil},
		"email":     {"ada@example.com", "bob@example.com", "cem@example.com.evil.test", "dan@other.test", nil},
		"age":       {0, 7, 17, 18, 20, 30, 42, 99, -1, nil, nil},
		"beta":      {true, false, nil},
		"version":   {"1.9.0", "2.0.0", "2.0.1", "2.1.0-beta.1", "10.0.0", "2.0.0+5", "v2.1.0", "2.1", "nonsense", nil},
		"sessionId": {"s-1", "s-2", nil},
		"org":       {"initech", "globex", nil},
	}
	if texts {
		return made
	}
	made["age"] = append(made["age"], 17.5, "30", "0", "unknown", true)
	made["beta"] = append(made["beta"], "true", "yes", 1, 0, "")
	made["groups"] = []any{[]any{"staff"}, []any{"beta", "staff"}, []any{"sales"}, []any{}, "staff", "sales", nil}
	made["version"] = append(made["version"], 2)
	made["address"] = []any{attributes{"city": "Oslo"}, attributes{"city": "Rome"}, attributes{}, nil}
	made["company"] = []any{attributes{"key": "acme", "seats": 80, "address": attributes{"city": "Oslo"}}, attributes{"key": "initech", "seats": 20},
		attributes{"key": "globex", "seats": "100"}, nil, nil}
	return made
}

// alike returns contexts with the attributes of a, which differ only in the key that is hashed.
func (a attributes) alike() []attributes {
	const many = 60
	list := make([]attributes, many)
	for i := range list {
		list[i] = maps.Clone(a)
		list[i]["key"] = fmt.Sprint("other-", i)
		if _, has := a["org"]; has {
			list[i]["org"] = fmt.Sprint("org-", i)
		}
		if company, is := a["company"].(attributes); is {
			company = maps.Clone(company)
			company["key"] = fmt.Sprint("company-", i)
			list[i]["company"] = company
		}
	}
	return list
}

// texts returns the attributes with every value converted to text, as the product's client does.
func (a attributes) texts() attributes {
	made := attributes{}
	for name, value := range a {
		made[name] = fmt.Sprint(value)
	}
	return made
}

// plain returns a value that has only the types of encoding/json.
func plain(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // attributes are JSON
	}
	var made any
	if err := json.Unmarshal(text, &made); err != nil {
		panic(err)
	}
	return made
}
