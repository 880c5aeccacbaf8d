import { statusWord } from "../format/statusWord.ts";
import "./status.css";

const TONES: Record<string, string> = {
  completed: "good",
  approved: "good",
  ready: "good",
  active: "good",
  failed: "bad",
  rejected: "bad",
  lost: "bad",
  refused: "bad",
  running: "busy",
  reading: "busy",
  processing: "busy",
  pending: "warn",
  paused: "warn",
  new: "good",
  changed: "good",
  gone: "warn",
  removed: "warn",
  retry_wait: "warn",
  scheduled: "warn",
  stopped: "warn",
  disabled: "warn",
  "locked out": "warn",
  expired: "warn",
  waiting: "warn",
  "waiting for a person": "warn",
  timed_out: "warn",
  answered: "good",
  fired: "good",
  different: "warn",
};

/** A status as a word; the colour only supports it. */
export const Status = ({ status }: { status: string }) => (
  <span className={`status ${TONES[status] ?? "plain"}`}>{statusWord(status)}</span>
);
