import { useState } from "react";
import type { Place } from "../../editor/Editor.tsx";
import { CodeEditor } from "../../parts/CodeEditor.tsx";
import { Faults } from "./Faults.tsx";
import type { useSource } from "./useSource.ts";

interface Props {
  label: string;
  /** What the editor begins with. */
  text: string;
  /** The place that it shows first. */
  start?: Place | undefined;
  script: Pick<ReturnType<typeof useSource>, "setSource" | "checked" | "check" | "members">;
}

/** The editor of a script, and below it what is wrong; each fault leads to its place. */
export function SourceEditor({ label, text, start, script: { setSource, checked, check, members } }: Props) {
  const [place, setPlace] = useState(start);
  return (
    <>
      <CodeEditor label={label} text={text} place={place} onChange={setSource} check={check} members={members} />
      <Faults checked={checked} onGo={setPlace} />
    </>
  );
}
