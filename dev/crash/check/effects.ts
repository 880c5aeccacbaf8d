import { WRITES, type Operation, type OperationKind } from "../journal.ts";
import type { Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";

/** The event that an operation produces; a repetition may produce it again only if that changes nothing. */
const EFFECTS: Partial<Record<OperationKind, { type: string; once: boolean }>> = {
  "thread.delete": { type: "ThreadDeleted", once: true },
  "file.upload": { type: "FileUploaded", once: true },
  "file.delete": { type: "FileDeleted", once: true },
  "agent.enable": { type: "AgentChanged", once: false },
  "agent.disable": { type: "AgentChanged", once: false },
  "key.create": { type: "KeyCreated", once: true },
  "key.change": { type: "KeyChanged", once: false },
  "key.delete": { type: "KeyDeleted", once: true },
  "member.create": { type: "UserRegistered", once: true },
  "member.password": { type: "PasswordSet", once: false },
  "member.delete": { type: "UserRemoved", once: true },
  "project.create": { type: "ProjectCreated", once: true },
  "project.change": { type: "ProjectChanged", once: false },
  "project.delete": { type: "ProjectDeleted", once: true },
  "provider.put": { type: "ProviderConfigured", once: false },
  "provider.delete": { type: "ProviderRemoved", once: false },
  "document.upload": { type: "DocumentUploaded", once: true },
  "document.reprocess": { type: "DocumentReprocessed", once: true },
  "document.delete": { type: "DocumentDeleted", once: true },
  "extraction.request": { type: "ExtractionRequested", once: true },
  "extraction.delete": { type: "ExtractionDeleted", once: true },
  "approval.delegate": { type: "ApprovalDelegated", once: true },
  "retention.set": { type: "RetentionSet", once: false },
  "budget.set": { type: "BudgetSet", once: false },
  login: { type: "SessionStarted", once: false },
  logout: { type: "SessionEnded", once: true },
};

/** Every write except turns, which turns.ts counts. I1: an acknowledged write is in the log once; I3: an unknown one at most once. */
export function checkEffects({ operations, eventsOf }: Evidence): Finding[] {
  return operations.flatMap((operation): Finding[] => {
    const effect = EFFECTS[operation.what];
    if (!effect) return [];
    const events = eventsOf.get(operation.id) ?? [];
    const count = events.filter((event) => event.type === effect.type).length;
    const about = `${operation.what} ${operation.id}`;
    if (operation.outcome === "done" && count === 0) return [lost("I1", about, `${effect.type} is not in the log`)];
    if (effect.once && count > 1) return [doubled("I3", about, `${effect.type} is in the log ${count} times`)];
    return [];
  });
}

/** I2: an operation that was refused at every attempt left nothing behind. */
export function checkRefusals({ operations, attempts, events, eventsOf, turns }: Evidence): Finding[] {
  const refused = new Set(turns.filter((turn) => turn.end === "refused").map((turn) => turn.operation));
  const deleted = new Set(events.filter(({ type }) => type === "ThreadDeleted").map(({ stream }) => stream));
  const alwaysRefused = ({ id }: Operation) =>
    (attempts.get(id) ?? []).every(({ status }) => status !== null && status >= 400 && status < 500);
  return operations
    .filter((operation) => WRITES.has(operation.what) && operation.outcome === "refused" && alwaysRefused(operation))
    .flatMap(({ id, what, status, code }): Finding[] => {
      const left = (eventsOf.get(id) ?? []).filter(({ stream }) => !deleted.has(stream));
      if (left.length === 0 || refused.has(id)) return [];
      const types = left.map(({ type }) => type).join(", ");
      return [different("I2", `${what} ${id}`, `answered ${status} ${code}, but left ${types}`)];
    });
}
