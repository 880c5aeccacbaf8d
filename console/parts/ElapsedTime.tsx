import { formatDuration } from "../format/index.ts";
import { useNow } from "./useNow.ts";

/** The duration of an activity, or its duration so far. */
export function ElapsedTime({ since, until }: { since: string | null; until: string | null }) {
  const now = useNow();
  if (since === null) return "not begun";
  const ms = Math.max(0, (until === null ? now : Date.parse(until)) - Date.parse(since));
  return until === null ? `${formatDuration(ms)} so far` : formatDuration(ms);
}
