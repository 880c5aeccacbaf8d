import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { linter, lintGutter, nextDiagnostic, type Diagnostic } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension, type Text } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useEffectEvent, useRef } from "react";
import type { Completion } from "@codemirror/autocomplete";
import { completeContext } from "./complete.ts";
import { theme } from "./theme.ts";

/** Time after the last keystroke until the source is checked. */
const CHECK_AFTER_MS = 500;

/** A position in a text, from 1. */
export interface Position {
  line: number;
  column?: number | undefined;
}

/** An error at a line and a column from 1; without a position it concerns the whole source. */
export interface Problem {
  message: string;
  line: number | null;
  column: number | null;
  /** After the last character; undefined means the end of the line. */
  end?: { line: number; column: number };
  severity: "error" | "warning";
}

export interface EditorProps {
  label: string;
  /** The initial text. To show another text, change the component's `key`. */
  text: string;
  /** Whether the text is prose instead of code. */
  isProse?: boolean;
  /** Shows the differences from this text, read-only. */
  original?: string;
  /** The position to show first; the editor scrolls to each new one. */
  position?: Position | undefined;
  onChange?: (text: string) => void;
  check?: (text: string) => Promise<Problem[]>;
  members?: () => Promise<Map<string, Completion[]>>;
}

/** The offset of a position. The nearest one if the text no longer has that position. */
function toOffset(doc: Text, { line, column = 1 }: Position): number {
  const at = doc.line(Math.min(doc.lines, Math.max(1, line)));
  return Math.min(at.to, at.from + Math.max(0, column - 1));
}

function toDiagnostic(doc: Text, { message, line, column, end, severity }: Problem): Diagnostic {
  const from = toOffset(doc, { line: line ?? 1, column: column ?? 1 });
  return { from, to: Math.max(from, end ? toOffset(doc, end) : doc.lineAt(from).to), severity, message };
}

/** Replaces a selection itself, because the browser would copy the old text's style in a style attribute, which the page's policy refuses. */
const replaceSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state } = view;
    if (event.inputType !== "insertText" || event.data === null || state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

const editable = ({ check, members, onChange }: EditorProps): Extension[] => [
  history(),
  replaceSelection,
  indentOnInput(),
  highlightActiveLine(),
  // Tab leaves the editor, because the keyboard must not be trapped in it
  keymap.of([{ key: "F8", run: nextDiagnostic }, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
  EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) onChange?.(state.doc.toString());
  }),
  ...(members ? [autocompletion({ override: [completeContext(members)] })] : []),
  ...(check
    ? [
        lintGutter(),
        linter(async ({ state: { doc } }) => (await check(doc.toString())).map((fault) => toDiagnostic(doc, fault)), {
          delay: CHECK_AFTER_MS,
        }),
      ]
    : []),
];

const differences = (original: string): Extension =>
  unifiedMergeView({
    original,
    mergeControls: false,
    // syntax colours have too little contrast on the background of deleted text
    syntaxHighlightDeletions: false,
    collapseUnchanged: { margin: 3 },
  });

/** An unchanged text is shown completely, because its lines would otherwise be folded as unchanged. */
const readOnly = (text: string, original: string): Extension[] => [
  EditorState.readOnly.of(true),
  text === original ? [] : differences(original),
];

/**
 * A code editor in a shadow root. There its style sheets are objects; elsewhere they would be `<style>` elements, which the
 * page's policy refuses.
 */
export default function Editor(props: EditorProps) {
  const { label, text, original, isProse = false } = props;
  const host = useRef<HTMLDivElement>(null);
  const onChange = useEffectEvent((changed: string) => props.onChange?.(changed));
  const check = useEffectEvent(async (source: string) => (await props.check?.(source)) ?? []);
  const shown = useRef<EditorView>(null);
  const goTo = useEffectEvent((view: EditorView | null, position: Position | undefined) => {
    if (!view || !position) return;
    const anchor = toOffset(view.state.doc, position);
    view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    view.focus();
  });
  const { members, position } = props;
  const isChecked = props.check !== undefined;
  useEffect(() => {
    const element = host.current!;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const view = new EditorView({
      root,
      parent: root,
      doc: text,
      extensions: [
        lineNumbers(),
        drawSelection(),
        bracketMatching(),
        EditorView.lineWrapping,
        isProse ? [] : javascript({ typescript: true }),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
        theme,
        original === undefined
          ? editable({ label, text, onChange, ...(isChecked && { check }), ...(members && { members }) })
          : readOnly(text, original),
      ],
    });
    shown.current = view;
    return () => view.destroy();
    // the initial text: the editor owns later changes
  }, [label, text, original, isProse, isChecked, members]);
  useEffect(() => goTo(shown.current, position), [position]);
  return <div ref={host} className="code-editor" />;
}
