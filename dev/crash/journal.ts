import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** Milliseconds on the harness's own monotonic clock. */
export type Moment = number;

/** One request on the wire; `status` null: the connection broke or no answer arrived. */
export interface Attempt {
  kind: "attempt";
  operation: string;
  port: number;
  start: Moment;
  end: Moment;
  status: number | null;
  code: string | null;
  request_id: string | null;
  /** Whether the answer says when to retry. */
  retry_after: boolean;
}

/**
 * A client's request and its outcome, as the client knows it. `done`: success; `refused`: a 4xx answer, so nothing happened;
 * `failed`: an answer reported the turn's failure; `unknown`: no answer after all retries.
 */
export interface Operation {
  kind: "operation";
  id: string;
  client: number;
  what: OperationKind;
  start: Moment;
  end: Moment;
  outcome: "done" | "refused" | "failed" | "unknown";
  status: number | null;
  code: string | null;
  attempts: number;
  /** Whether it carried an Idempotency-Key, so that it must have taken effect at most once. */
  keyed: boolean;
  asked: Facts;
  got: Facts;
}
export type Facts = Record<string, any>;

export type OperationKind =
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
  | "agent.ask"
  | "agent.enable"
  | "agent.disable"
  | "agent.use"
  | "tool.decide"
  | "run.start"
  | "run.hook"
  | "run.poll"
  | "run.read"
  | "run.follow"
  | "run.approvals"
  | "run.decide"
  | "run.cancel"
  | "run.retry"
  | "run.vote"
  | "approval.delegate"
  | "retention.set"
  | "budget.set"
  | "export.read"
  | "link.create"
  | "link.use"
  | "event.send"
  | "audit.events"
  | "audit.usage"
  | "audit.budget"
  | "audit.trace"
  | "login"
  | "session.use"
  | "logout";

/** Operations that change something. */
export const WRITES: ReadonlySet<OperationKind> = new Set<OperationKind>([
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
  "agent.enable",
  "agent.disable",
  "run.start",
  "run.hook",
  "run.decide",
  "run.cancel",
  "run.retry",
  "run.vote",
  "approval.delegate",
  "retention.set",
  "budget.set",
  "link.create",
  "link.use",
  "event.send",
  "agent.ask",
  "tool.decide",
  "login",
  "logout",
]);

export interface InjectedFault {
  kind: "fault";
  what: string;
  target: string;
  at: Moment;
  /** When it ended; a kill ends at once. */
  until?: Moment;
}

/** What `/readyz` of an http process answered; `status` null: no answer, or the connection broke. */
export interface Readiness extends Pick<Attempt, "port" | "start" | "end" | "status"> {
  kind: "readiness";
  /** `http-1`, or `all-1` of a process with every role. */
  process: string;
}

/** A workflow step's request to the harness's server. */
export interface Effect {
  kind: "effect";
  run_id: string;
  /** Its Idempotency-Key. */
  key: string;
  step: string;
  /** The number of the request within the attempt. */
  part: string;
  attempt: number;
  /** Number of requests for this part so far, over all attempts. */
  nth: number;
  /** Whether it carried the secret. */
  has_secret: boolean;
  start: Moment;
  /** Time of the answer. */
  end: Moment;
}

export interface FeedMessage {
  kind: "feed";
  subject: string;
  text: string;
}

/** The log position at which listening to the feed ended. */
export interface FeedEnd {
  kind: "feed_end";
  until: number;
}

export type Note = Attempt | Operation | InjectedFault | Readiness | Effect | FeedMessage | FeedEnd;

/** A journal of JSON lines; each is in the file before the next operation. */
export function openJournal(path: string) {
  const file = openSync(path, "a");
  const waiters = new Set<(note: Note) => void>();
  return {
    now: (): Moment => performance.now(),
    note(note: Note): void {
      writeSync(file, `${JSON.stringify(note)}\n`);
      for (const onNote of waiters) onNote(note);
    },
    /** Resolves with the next operation that matches. */
    nextOperation: (matches: (operation: Operation) => boolean): Promise<Operation> =>
      new Promise((resolve) => {
        const onNote = (note: Note): void => {
          if (note.kind !== "operation" || !matches(note)) return;
          waiters.delete(onNote);
          resolve(note);
        };
        waiters.add(onNote);
      }),
    close: (): void => closeSync(file),
  };
}
export type Journal = ReturnType<typeof openJournal>;

export const readJournal = (path: string): Note[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Note);
