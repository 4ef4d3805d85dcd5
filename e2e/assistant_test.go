package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// assistant starts signalbox mcp with some flags as an assistant does, and prints the names of its tools:
//
//	assistant --allow-writes
//
// With "call TOOL ARGUMENTS" behind the flags it calls a tool and prints the answer.
func assistant(ts *testscript.TestScript, neg bool, args []string) {
	flags, call := args, []string(nil)
	for i, each := range args {
		if each == "call" {
			flags, call = args[:i], args[i+1:]
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, binary, append([]string{"mcp"}, flags...)...)
	command.Dir = ts.Getenv("WORK")
	command.Env = []string{"SIGNALBOX_URL=" + ts.Getenv("SIGNALBOX_URL"), "SIGNALBOX_API_KEY=" + ts.Getenv("SIGNALBOX_API_KEY"),
		"XDG_CONFIG_HOME=" + ts.Getenv("XDG_CONFIG_HOME")}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e"}, nil).Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	ts.Check(err)
	defer session.Close()
	fmt.Fprintf(ts.Stdout(), "%s %s\n", session.InitializeResult().ServerInfo.Name, session.InitializeResult().ServerInfo.Version)
	if call == nil {
		listTools(ctx, ts, session)
		return
	}
	callTool(ctx, ts, session, neg, call)
}

func listTools(ctx context.Context, ts *testscript.TestScript, session *mcp.ClientSession) {
	listed, err := session.ListTools(ctx, nil)
	ts.Check(err)
	for _, tool := range listed.Tools {
		fmt.Fprintln(ts.Stdout(), tool.Name)
	}
}

func callTool(ctx context.Context, ts *testscript.TestScript, session *mcp.ClientSession, neg bool, call []string) {
	if len(call) != 2 {
		ts.Fatalf("usage: assistant FLAG… call TOOL ARGUMENTS")
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: call[0], Arguments: json.RawMessage(call[1])})
	ts.Check(err)
	if result.IsError != neg {
		ts.Fatalf("the tool's answer is an error: %t, %v", result.IsError, result.Content)
	}
	for _, content := range result.Content {
		fmt.Fprintln(ts.Stdout(), content.(*mcp.TextContent).Text)
	}
}
