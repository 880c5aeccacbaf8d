import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** Milliseconds on the harness's own monotonic clock. */
export type Moment = number;

/** One request as it went over the wire; `status` null: the connection broke or the answer never came. */
export interface Attempt {
  kind: "attempt";
  operation: string;
  port: number;
  start: Moment;
  end: Moment;
  status: number | null;
  code: string | null;
  request_id: string | null;
}

/**
 * What a client wanted and what it knows of it. `done`: an answer of success; `refused`: an answer of 4xx, so nothing
 * happened; `failed`: the turn's own failure, told in an answer; `unknown`: neither after every retry.
 */
export interface Operation {
  kind: "operation";
  id: string;
  client: number;
  what: What;
  start: Moment;
  end: Moment;
  outcome: "done" | "refused" | "failed" | "unknown";
  status: number | null;
  code: string | null;
  attempts: number;
  /** An Idempotency-Key went with it, so that it must have happened once at most. */
  keyed: boolean;
  asked: Facts;
  got: Facts;
}
export type Facts = Record<string, any>;

export type What =
  | "chat"
  | "thread.read"
  | "thread.delete"
  | "file.upload"
  | "file.read"
  | "file.list"
  | "file.delete"
  | "key.create"
  | "key.use"
  | "key.change"
  | "key.delete"
  | "key.list"
  | "member.create"
  | "member.login"
  | "member.use"
  | "member.read"
  | "member.change"
  | "member.password"
  | "member.delete"
  | "project.create"
  | "project.read"
  | "project.change"
  | "project.delete"
  | "provider.put"
  | "provider.read"
  | "provider.delete"
  | "document.upload"
  | "document.push"
  | "document.read"
  | "document.text"
  | "document.reprocess"
  | "document.delete"
  | "document.search"
  | "extraction.request"
  | "extraction.read"
  | "extraction.delete"
  | "agent.respond"
  | "agent.read"
  | "agent.replay"
  | "run.start"
  | "run.hook"
  | "run.poll"
  | "run.read"
  | "run.follow"
  | "run.approvals"
  | "run.decide"
  | "run.cancel"
  | "audit.events"
  | "audit.usage"
  | "audit.trace"
  | "login"
  | "session.use"
  | "logout";

/** Those that change something. */
export const WRITES: ReadonlySet<What> = new Set<What>([
  "chat",
  "thread.delete",
  "file.upload",
  "file.delete",
  "key.create",
  "key.change",
  "key.delete",
  "member.create",
  "member.login",
  "member.change",
  "member.password",
  "member.delete",
  "project.create",
  "project.change",
  "project.delete",
  "provider.put",
  "provider.delete",
  "document.upload",
  "document.push",
  "document.reprocess",
  "document.delete",
  "extraction.request",
  "extraction.delete",
  "agent.respond",
  "run.start",
  "run.hook",
  "run.decide",
  "run.cancel",
  "login",
  "logout",
]);

export interface Fault {
  kind: "fault";
  what: string;
  target: string;
  at: Moment;
}

/** A request of a workflow's step to the harness's own server. */
export interface Effect {
  kind: "effect";
  run_id: string;
  /** Its Idempotency-Key. */
  key: string;
  step: string;
  /** Which of the requests that an attempt at the step makes. */
  part: string;
  attempt: number;
  /** How often the part was asked for so far, by all attempts. */
  nth: number;
  /** It brought the secret. */
  told: boolean;
  start: Moment;
  /** When it was answered. */
  end: Moment;
}

/** A message of the feed, as it was heard. */
export interface Told {
  kind: "told";
  subject: string;
  text: string;
}

/** The feed was listened to for as long as anything came, when the log ended at a position. */
export interface Listened {
  kind: "listened";
  until: number;
}

export type Note = Attempt | Operation | Fault | Effect | Told | Listened;

/** Notes as JSON lines, each in the file before the next thing happens. */
export function openJournal(path: string) {
  const file = openSync(path, "a");
  return {
    now: (): Moment => performance.now(),
    note: (note: Note): void => void writeSync(file, `${JSON.stringify(note)}\n`),
    close: (): void => closeSync(file),
  };
}
export type Journal = ReturnType<typeof openJournal>;

export const readJournal = (path: string): Note[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Note);
