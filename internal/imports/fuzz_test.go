package imports_test

import (
	"testing"

	"github.com/signalbox/signalbox/internal/imports"
)

// FuzzFormats passes incomplete documents of every format. For any file, the result is
// resources or an error.
func FuzzFormats(f *testing.F) {
	for _, document := range []string{
		`{"items":[{"key":"a","variations":[{}],"environments":{"production":{"on":true,"fallthrough":{"variation":3},"offVariation":9}}}]}`,
		`{"items":[{"key":"a","variations":[{"value":1}],"environments":{"e":{"rules":[{"clauses":[{}]},{"rollout":{}}],"targets":[{}],"prerequisites":[{}]}}}]}`,
		`{"version":1,"features":[{"name":"a"}],"featureStrategies":[{}],"featureEnvironments":[{}],"segments":[{}]}`,
		`{"flags":{"a":{"variants":{},"defaultVariant":"x"},"b":{"variants":{"x":null},"targeting":{"if":[]}},"c":{"targeting":{"fractional":[]}}}}`,
		`{"features":{"a":{"defaultValue":"","rules":[{},{"condition":{}},{"variations":[],"weights":[]}]},"b":{}}}`,
		"flags:\n- key: a\n  variants: [{}]\n  rules: [{}, {distributions: [{}]}]\n  rollouts: [{}]\n- {}\nsegments: [{}]\n",
		"* * * * *\n@daily\n0 3 * * * curl\n0 3 * * * curl -H\n= =\n", "logging:\n  level: [1]\n", "logging.level.=\nlogging.level.a=x\n",
	} {
		f.Add(document)
	}
	f.Fuzz(func(_ *testing.T, document string) {
		for _, format := range imports.Formats() {
			_, _ = tryRun(format.Name, document)
		}
	})
}
