//go:build ignore

// Command check_resource checks a Kubernetes resource as an API server with strict validation does: against the schema of its
// CustomResourceDefinition, without unknown fields. scripts/check-deploy runs it in a module of its own, because it needs Kubernetes' libraries.
package main

import (
	"fmt"
	"os"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := check(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(definitionFile, resourceFile string) error {
	var definition v1.CustomResourceDefinition
	if err := read(definitionFile, &definition); err != nil {
		return err
	}
	var resource map[string]any
	if err := read(resourceFile, &resource); err != nil {
		return err
	}
	version, err := versionOf(&definition, resource)
	if err != nil {
		return err
	}
	var props apiextensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return err
	}
	validator, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		return err
	}
	if errs := validation.ValidateCustomResource(field.NewPath(""), resource, validator); len(errs) > 0 {
		return errs.ToAggregate()
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		return err
	}
	options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	if unknown := pruning.PruneWithOptions(resource, structural, true, options); len(unknown) > 0 {
		return fmt.Errorf("unknown fields: %v", unknown)
	}
	return nil
}

// versionOf returns the version of a definition that a resource names.
func versionOf(definition *v1.CustomResourceDefinition, resource map[string]any) (*v1.CustomResourceDefinitionVersion, error) {
	i := slices.IndexFunc(definition.Spec.Versions, func(each v1.CustomResourceDefinitionVersion) bool {
		return resource["apiVersion"] == definition.Spec.Group+"/"+each.Name && each.Served
	})
	if i < 0 || resource["kind"] != definition.Spec.Names.Kind {
		return nil, fmt.Errorf("%v %v is not defined", resource["apiVersion"], resource["kind"])
	}
	return &definition.Spec.Versions[i], nil
}

func read(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}
