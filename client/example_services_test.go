package signalbox_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
)

// List the environments that values can be written for, and add one.
func ExampleEnvironmentsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for environment, err := range client.Environments.All(ctx, signalbox.EnvironmentParams{Managed: new(true)}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(environment.ID, environment.Name)
	}
	created, err := client.Environments.Create(ctx, "eu", signalbox.EnvironmentDraft{Name: "Europe", Color: new("#0a7")})
	switch {
	case signalbox.IsLimitReached(err):
		fmt.Println("the plan has no more environments")
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println(created.ID, created.Name)
	}
	// Output:
	// production Production
	// eu Europe
}

// List the services, and name one.
func ExampleServicesAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	page, err := client.Services.List(ctx, signalbox.ServiceParams{Search: "check"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, service := range page.Items {
		fmt.Println(service.ID, service.Name)
	}
	renamed, err := client.Services.Apply(ctx, "checkout", signalbox.ServiceDraft{Name: "Checkout"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(renamed.ID, renamed.Name)
	// Output:
	// checkout checkout
	// checkout Checkout
}

// List the attributes that rules can read, and create a type before a service reports one.
func ExampleContextTypesAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for kind, err := range client.ContextTypes.All(ctx, signalbox.ContextTypeParams{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for attribute := range kind.Attributes {
			fmt.Println(kind.ID + "." + attribute)
		}
	}
	created, err := client.ContextTypes.Create(ctx, "device", signalbox.ContextTypeDraft{Name: "Device"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(created.ID, created.Name)
	// Output:
	// user.plan
	// device Device
}

// List the known users, and report the contexts of a service. The server skips invalid items of a
// report.
func ExampleContextsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for known, err := range client.Contexts.All(ctx, signalbox.ContextParams{Type: "user"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(known.ID, string(known.Attributes["plan"]))
	}
	reported, err := client.Contexts.Report(ctx, []signalbox.ReportedContext{
		{Type: "user", Key: "bob", Attributes: map[string]any{"plan": "silver"}},
		{Type: "user"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reported.Registered, reported.Rejected)
	// Output:
	// user:alice "gold"
	// 1 [{1 The key is empty.}]
}

// Count orders, and read how many there were in each hour.
func ExampleMetricsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	err := client.Metrics.Report(ctx, []signalbox.Metric{{Name: "orders", Value: 5, Dimensions: map[string]string{"shop": "eu"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	series, err := client.Metrics.Series(ctx, "orders", signalbox.MetricSeriesParams{Step: time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, point := range series.Points {
		fmt.Println(point.At.Format(time.TimeOnly), point.Sum)
	}
	// Output:
	// 03:00:00 17
}

// Load the flags of an environment, and later only if they have changed.
func ExampleSnapshotsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	params := signalbox.SnapshotParams{Include: []signalbox.SnapshotPart{signalbox.SnapshotFlags}}
	snapshot, err := client.Snapshots.Get(ctx, "production", params)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(snapshot.Flags), "flag, up to change", snapshot.Seq)
	params.ETag = snapshot.ETag
	if _, err = client.Snapshots.Get(ctx, "production", params); errors.Is(err, signalbox.ErrNotModified) {
		fmt.Println("nothing has changed")
	}
	// Output:
	// 1 flag, up to change 41
	// nothing has changed
}

// List the services that follow changes now.
func ExampleConnectionsAPI() {
	ctx, client := context.Background(), connect() // signalbox.New(url, key)
	for connection, err := range client.Connections.All(ctx, signalbox.ConnectionParams{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if connection.Service != nil { // the client named its service
			fmt.Println(*connection.Service, "with", connection.Client)
		}
	}
	// Output:
	// checkout with signalbox-live/1.0.0
}
