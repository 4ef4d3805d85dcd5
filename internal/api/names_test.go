package api_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/store"
)

// hidden are characters that no name may have, and how they are named.
var hidden = map[string]string{
	"\x1b": "U+001B", "\n": "U+000A", "\u009b": "U+009B", "\u2028": "U+2028", "\u202a": "U+202A", "\u202e": "U+202E", "\u2066": "U+2066", "\u2069": "U+2069",
}

// TestNames_HiddenCharacters: names with escape sequences or bidirectional overrides are refused in every
// write; the refusal names the member and the character.
func TestNames_HiddenCharacters(t *testing.T) {
	t.Parallel()
	first := newOwner(t, "pro")
	for name, path := range map[string]func(client) string{
		"account": is(accountPath), "API key": aKey, "user": aUser, "environment": anEnvironment, "service": aService, "context type": aContextType,
		"context": aContext, "flag": aFlag, "logger": aLogger, "log group": aGroup, "config": aConfig, "job": aJob,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := first.in(t)
			path := path(owner)
			stored := owner.get(path).want(200).data().Attributes
			members := []string{"name"}
			if slices.Contains([]string{"flag", "config", "job"}, name) {
				members = append(members, "description")
			}
			for _, member := range members {
				t.Run(member, func(t *testing.T) {
					was := stored[member]
					for character, code := range hidden {
						if member == "description" && character == "\n" {
							continue
						}
						stored[member] = "a" + character + "b"
						got := owner.in(t).put(path, envelope("", "", stored))
						if got.refused(400, invalid("/data/attributes/"+member)); !got.contains(member + " must not contain " + code + ",") {
							t.Errorf("%s is not named: %s", code, got.body)
						}
					}
					stored[member] = was
				})
			}
			stored["name"] = "Ünï \u200f\u05d0 👩\u200d🚒"
			if slices.Contains(members, "description") {
				stored["description"] = "a\n\tb\r\nc"
			}
			owner.put(path, envelope("", "", stored)).want(200)
		})
	}
}

// TestNames_HiddenCharactersInParts: parts of resources that people read follow the same rule.
func TestNames_HiddenCharactersInParts(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	bad := "a\u202eb"
	values := []attributes{{"name": bad, "value": "x"}, {"name": "fine", "value": "y"}}
	owner.post(flagsPath, envelope("flag", "f", flag("STRING", "x", attributes{"values": values}))).refused(400, invalid("/data/attributes/values/0/name"))
	rules := []attributes{{"description": bad, "logic": attributes{"==": []any{1, 1}}, "value": true}}
	owner.post(flagsPath, envelope("flag", "f", boolean(false, attributes{"environments": attributes{"production": attributes{"rules": rules}}}))).
		refused(400, invalid("/data/attributes/environments/production/rules/0/description"))
	owner.post(configsPath, envelope("config", "c", attributes{"items": attributes{bad: item("a")}})).refused(400, invalid("/data/attributes/items/"+bad))
	owner.post(servicesPath, envelope("", bad, attributes{})).refused(400, invalid("/data/id"))
	owner.put(loggersPath+"/"+encodeAll(bad), envelope("", "", attributes{})).refused(400, invalid("/data/id"))
	link := owner.invite(unique("invited")+"@example.com", "VIEWER").want(201).text("link")
	owner.redeem(link, attributes{"name": bad}).refused(400, invalid("/name"))
	owner.redeem(link, attributes{"name": "Eve\x1b]52;c;AA==\x07"}).refused(400, invalid("/name"))
	owner.redeem(link, attributes{"name": "Eve"}).want(201)
	owner.invite("eve\u202e@example.com", "VIEWER").refused(400, invalid("/email"))
}

// TestNames_Reports: a report loses the items with such names only.
func TestNames_Reports(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for path, body := range map[string]string{
		loggersPath:  `{"loggers":[{"id":"a\u202eb"},{"id":"fine"},{"id":"a\u001bb"}]}`,
		contextsPath: `{"contexts":[{"type":"user","key":"a\u2066b"},{"type":"user","key":"fine","attributes":{"a\u202eb":"c\u202ed"}},{"type":"user","key":"a\u009bb"}]}`,
		flagsPath:    `{"flags":[{"id":"a\u202eb","type":"BOOLEAN","default":true},{"id":"fine","type":"BOOLEAN","default":true},{"id":"f2","type":"BOOLEAN","default":true,"service":"\u202e"}]}`,
	} {
		t.Run(path, func(t *testing.T) {
			got := owner.in(t).post(path+"/bulk", body, offContract).outcome()
			if got.Registered != 1 || got.Meta == nil || len(got.Meta.Rejected) != 2 || got.Meta.Rejected[0].Index != 0 || got.Meta.Rejected[1].Index != 2 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestNames_Stored: a name that was stored before the rule is returned unchanged, and a write that repeats it is
// refused with the reason.
func TestNames_Stored(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		_, user := owner.plantUser(accounts.Viewer)
		bad := user
		bad.Name = "Eve\x1b]52;c;AA==\x07"
		plant(owner, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateUser(ctx, bad) })
		path := usersPath + "/" + user.ID
		stored := owner.get(path).want(200).data().Attributes
		if stored["name"] != bad.Name {
			t.Errorf("got %q", stored["name"])
		}
		if got := owner.put(path, envelope("", "", stored)); !got.contains("name must not contain U+001B, a control character.") {
			got.refused(400, invalid("/data/attributes/name"))
		}
		stored["name"] = "Eve"
		owner.put(path, envelope("", "", stored)).want(200)
		owner.delete(path).want(204)
	})
}

// TestNames_UserAgents: a browser's User-Agent cannot be corrected by its user, so it is stored without such
// characters.
func TestNames_UserAgents(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		signed := owner.signIn(attributes{"api_key": owner.key}, with("User-Agent", "Browser\u009b31m/\u202e1.0")).want(201)
		if got := signed.text("client"); got != "Browser31m/1.0" {
			t.Errorf("got %q", got)
		}
	})
}

// TestChanges_SettingsOfOthers: personal settings are shown to their user only; the history shows everybody that they were
// changed.
func TestChanges_SettingsOfOthers(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		ada, user := owner.plantUser(accounts.Member)
		for _, note := range []string{"first", "secret plan"} {
			ada.put(ownSettingsPath, envelope("", "", attributes{"note": note})).want(200)
		}
		resource := "user_settings:" + user.ID
		path := ada.lastOf(resource)
		lists := []string{changesPath, changesPath + "?filter[resource]=" + resource, changesPath + "?filter[actor]=nobody&filter[resource]=" + resource}
		for role, reader := range map[string]client{"owner": owner, "admin": owner.withRole("ADMIN"), "viewer": owner.withRole("VIEWER"), "person": owner.join("ADMIN", "Bob").client} {
			t.Run(role, func(t *testing.T) {
				reader := reader.in(t)
				for _, read := range append(lists, path) {
					if got := reader.get(read).want(200); got.contains("secret plan") || got.contains("first") {
						t.Errorf("%s reads %s", role, got.body)
					}
				}
				shown := reader.get(path).want(200).data().Attributes
				if shown["private"] != true || shown["before"] != nil || shown["after"] != nil || len(shown["diff"].([]any)) != 0 ||
					shown["key"] != user.ID || shown["action"] != "updated" || shown["actor"].(map[string]any)["name"] != "theirs" {
					t.Errorf("got %v", shown)
				}
				if role != "viewer" {
					reader.post(path+"/actions/revert", "").refused(403, problem{code: "forbidden"})
					reader.post(path+"/actions/revert?force=true&dry_run=true", "").refused(403, problem{code: "forbidden"})
				}
			})
		}
		for _, read := range append(lists[:2:2], path) {
			if got := ada.get(read).want(200); !got.contains("secret plan") || strings.Contains(string(got.body), `"private"`) {
				t.Errorf("the owner of the settings reads %s", got.body)
			}
		}
		ada.post(path+"/actions/revert", "").want(200)
	})
}
