import { Suspense } from "react";
import { later } from "./later";
import { Loading } from "./states";

/** Problem is a problem of the text and its place. */
export interface JsonProblem {
  message: string;
  /** pointer is the JSON pointer of the member in the document. */
  pointer?: string;
}

export interface JsonEditorProps {
  label: string;
  value: string;
  onChange: (text: string) => void;
  problems?: JsonProblem[];
  readOnly?: boolean;
  /** completions returns suggestions, such as known attributes. */
  completions?: string[];
  minHeight?: number;
}

const CodeMirrorEditor = later(() => import("./CodeMirrorEditor"));

/** JsonEditor edits a JSON document; the editor itself is loaded when it is first shown. */
export function JsonEditor(props: JsonEditorProps) {
  return (
    <Suspense fallback={<Loading rows={3} />}>
      <CodeMirrorEditor {...props} />
    </Suspense>
  );
}
