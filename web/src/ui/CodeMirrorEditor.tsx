import { autocompletion, completeFromList } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import type { JsonEditorProps, JsonProblem } from "./JsonEditor";
import { locate } from "./pointer";

const appearance = EditorView.theme({
  "&": { fontSize: "12.5px", border: "1px solid var(--line)", borderRadius: "6px", backgroundColor: "var(--surface)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-1px" },
  ".cm-content": { fontFamily: "var(--mantine-font-family-monospace)", caretColor: "var(--mantine-color-text)" },
  ".cm-gutters": { backgroundColor: "transparent", border: "none", color: "var(--muted)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line)" },
});

// The default colors are for a light page only.
const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: "light-dark(#1d5a9c, #a5cdf7)" },
  { tag: tags.string, color: "light-dark(#206a3c, #a0dbb4)" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#80530a, #f0cc8a)" },
]);

/** CodeMirrorEditor is the JSON editor itself. Tab leaves it, as people who use the keyboard expect. */
export default function CodeMirrorEditor({
  label,
  value,
  onChange,
  problems = [],
  readOnly,
  completions = [],
  minHeight = 120,
}: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef({ onChange, problems, value });
  latest.current = { onChange, problems, value };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; the effects below follow its properties
  useEffect(() => {
    const editor = new EditorView({
      parent: host.current as HTMLElement,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          lineNumbers(),
          highlightSpecialChars(),
          foldGutter(),
          history(),
          bracketMatching(),
          json(),
          lintGutter(),
          appearance,
          syntaxHighlighting(colors),
          linter((view) => [...jsonParseLinter()(view), ...diagnostics(view, latest.current.problems)], { delay: 200 }),
          autocompletion({ override: [completeFromList(completions.map((label) => ({ label: JSON.stringify(label) })))] }),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorState.readOnly.of(readOnly ?? false),
          EditorView.contentAttributes.of({ "aria-label": label }),
          EditorView.theme({ ".cm-content": { minHeight: `${minHeight}px` } }),
          EditorView.updateListener.of((update) => update.docChanged && latest.current.onChange(update.state.doc.toString())),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return <div ref={host} />;
}

function diagnostics(view: EditorView, problems: JsonProblem[]): Diagnostic[] {
  const text = view.state.doc.toString();
  return problems.map(({ message, pointer }) => ({ ...locate(text, pointer ?? ""), severity: "error", message }));
}
