import { lazy, Suspense } from "react";
import type { EditorProps } from "../editor/Editor.tsx";
import { Loading } from "./Notices.tsx";
import "./codeEditor.css";
import { importFile } from "./importFile.ts";

/** The editor is larger than a screen, so it is loaded on first use. */
const Editor = lazy(() => importFile(() => import("../editor/Editor.tsx")));

export const CodeEditor = (props: EditorProps) => (
  <Suspense fallback={<Loading what="the editor" />}>
    <Editor {...props} />
  </Suspense>
);
