import { useState } from "react";
import type { Position } from "../../editor/Editor.tsx";
import { CodeEditor } from "../../parts/CodeEditor.tsx";
import { Problems } from "./Problems.tsx";
import type { useSource } from "./useSource.ts";

interface Props {
  label: string;
  /** The initial text of the editor. */
  text: string;
  /** The position to show first. */
  start?: Position | undefined;
  script: Pick<ReturnType<typeof useSource>, "setSource" | "checked" | "check" | "members">;
}

/** The editor of a script with a list of errors below, each with a link to its position. */
export function SourceEditor({ label, text, start, script: { setSource, checked, check, members } }: Props) {
  const [position, setPosition] = useState(start);
  return (
    <>
      <CodeEditor label={label} text={text} position={position} onChange={setSource} check={check} members={members} />
      <Problems checked={checked} onGo={setPosition} />
    </>
  );
}
