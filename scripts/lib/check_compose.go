//go:build ignore

// Command check_compose reads a Compose file as docker compose config does, with the variables NAME=VALUE, and prints its services.
// scripts/check-deploy runs it in a module of its own, because it needs Compose's library.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func main() {
	if err := check(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(file string, variables []string) error {
	environment := types.Mapping{}
	for _, each := range variables {
		name, value, _ := strings.Cut(each, "=")
		environment[name] = value
	}
	details := types.ConfigDetails{WorkingDir: filepath.Dir(file), ConfigFiles: []types.ConfigFile{{Filename: file}}, Environment: environment}
	project, err := loader.LoadWithContext(context.Background(), details)
	if err != nil {
		return err
	}
	for _, name := range project.ServiceNames() {
		service := project.Services[name]
		fmt.Printf("%s: image %s, %d volumes, %d ports\n", name, service.Image, len(service.Volumes), len(service.Ports))
		if service.Build == nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(service.Build.Context, service.Build.Dockerfile)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
