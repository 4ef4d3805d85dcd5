package signalbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
)

// Revert the last change of a flag.
func ExampleChangesAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	page, err := client.Changes.List(ctx, signalbox.ChangeParams{Resource: "flag:checkout-v2", Size: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, change := range page.Items {
		fmt.Println(change.Actor.Name, change.Action, change.Key)
		number, err := strconv.ParseInt(change.ID, 10, 64)
		if err != nil {
			fmt.Println(err)
			return
		}
		reverting, err := client.Changes.Revert(ctx, number)
		if signalbox.IsChangedSince(err) || signalbox.IsNotRevertible(err) {
			fmt.Println("not reverted:", err)
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(reverting.ID, "reverts", *reverting.Reverts)
	}
	// Output:
	// Ada updated checkout-v2
	// 42 reverts 41
}

// Wait until somebody changes a flag, for a minute at most.
func ExampleEventsAPI() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := connect() // signalbox.New(url, key)
	for event, err := range client.Events.Follow(ctx, signalbox.EventParams{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if event.Name == signalbox.EventFlagChanged && event.ID == "checkout-v2" {
			fmt.Println("it has changed")
			return
		}
	}
}

// Print every flag as JSON, and see whether new ones could be created.
func ExampleDocumentsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for document, err := range client.Documents.All(ctx, "flag") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(document.ID, string(document.Attributes))
	}
	created := map[string]json.RawMessage{"search-v3": json.RawMessage(`{"type":"BOOLEAN","default":true}`)}
	for id, attributes := range created {
		tried, err := client.Documents.Create(ctx, "flag", id, attributes, signalbox.DryRun())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tried.ID, string(tried.Attributes))
	}
	// Output:
	// checkout-v2 {"type":"BOOLEAN","default":false,"managed":true}
	// search-v3 {"type":"BOOLEAN","default":true}
}
