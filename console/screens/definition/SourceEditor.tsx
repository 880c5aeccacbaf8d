import { useState } from "react";
import type { Place } from "../../editor/Editor.tsx";
import { CodeEditor } from "../../parts/CodeEditor.tsx";
import { Faults } from "./Faults.tsx";
import type { useSource } from "./useSource.ts";

interface Props {
  label: string;
  /** The initial text of the editor. */
  text: string;
  /** The position to show first. */
  start?: Place | undefined;
  script: Pick<ReturnType<typeof useSource>, "setSource" | "checked" | "check" | "members">;
}

/** The editor of a script with a list of errors below, each with a link to its position. */
export function SourceEditor({ label, text, start, script: { setSource, checked, check, members } }: Props) {
  const [place, setPlace] = useState(start);
  return (
    <>
      <CodeEditor label={label} text={text} place={place} onChange={setSource} check={check} members={members} />
      <Faults checked={checked} onGo={setPlace} />
    </>
  );
}
