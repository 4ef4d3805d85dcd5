package admin

import "testing"

func TestOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one line": "one line",
		"start with the ring it was sealed with\ncannot unseal a value":                                 "start with the ring it was sealed with; cannot unseal a value",
		"failed to connect to `x`:\n\t127.0.0.1:1: refused\n\t127.0.0.1:1: refused\n\t[::1]:1: refused": "failed to connect to `x`: 127.0.0.1:1: refused; [::1]:1: refused",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := oneLine(text); got != want {
				t.Errorf("got %q", got)
			}
		})
	}
}
