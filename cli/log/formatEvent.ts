import { styleText } from "node:util";
import type { RecordedEvent } from "#events/envelope.ts";
import { escapeControls } from "../output.ts";

type DisplayedEvent = Pick<RecordedEvent, "position" | "recorded_at" | "stream" | "type" | "personal"> & {
  data: unknown;
};

/** An event as one line: position, time, stream, type, public fields, and personal fields if they were opened. */
export function formatEvent({ position, recorded_at, stream, type, data, personal }: DisplayedEvent): string {
  const dim = (text: string) => styleText("dim", text);
  const fields = escapeControls(JSON.stringify(data));
  const sealed = personal === undefined ? "" : ` ${styleText("yellow", escapeControls(JSON.stringify(personal)))}`;
  const line = [
    String(position).padStart(8),
    dim(recorded_at.toISOString()),
    dim(escapeControls(stream)),
    styleText("cyan", escapeControls(type)),
  ];
  return `${line.join("  ")}  ${fields}${sealed}`;
}
